/* SPDX-License-Identifier: MPL-2.0
 * cachetxn.c --
 *
 *      Transactions of script caches.
 *
 *      A stack of tables, innermost first, holds what the thread has stored.
 *      The caches know nothing of it.
 */

#include "tcl/cachetxn.h"

#include "ns.h"
#include "base/cache.h"

#include <stdatomic.h>

typedef struct Transaction {
    struct Transaction *outerPtr;
    Tcl_HashTable       values; /* By address of the cache, and key. */
} Transaction;

/*
 * A value that waits for its commit.
 */
typedef struct Pending {
    NsTclCache      *cachePtr;
    const char      *key; /* In the table's key. */
    NsTclCacheValue *valuePtr;
    bool             hasExpires;
    Ns_Time          expires;
    int              cost;
    bool             isComputed; /* From data as they were before ... */
    uint64_t         nFlushes;   /* ... this flush of the cache. */
} Pending;

#define MAX_DEPTH 16

static _Thread_local Transaction *innermostPtr;
static atomic_uint_fast64_t       nBegun; /* Any thread. */

static int         EndOne(bool isCommit);
static bool        GiveUp(const Pending *pendingPtr);
static bool        StoreInCache(const Pending *pendingPtr);
static bool        IsOutdated(const Pending *pendingPtr);
static void        StoreInOuter(Transaction *outerPtr, const char *tableKey,
                                Pending *pendingPtr);
static const char *TableKey(Ns_DString *dsPtr, const NsTclCache *cachePtr,
                            const char *key);
static void        FreePending(Pending *pendingPtr);
static bool IsWanted(const Pending *pendingPtr, const NsTclCache *cachePtr,
                     const char *pattern, bool isGlob);
static bool IsShadowed(const Transaction *transactionPtr, const char *tableKey);

bool
NsCacheTxnIsActive(void)
{
    return innermostPtr != NULL;
}

uint64_t
NsCacheTxnBegin(void)
{
    Transaction *transactionPtr;
    int          depth = 0;

    for (transactionPtr = innermostPtr; transactionPtr != NULL;
         transactionPtr = transactionPtr->outerPtr) {
        depth++;
    }
    if (depth == MAX_DEPTH) {
        return 0;
    }
    transactionPtr = ns_calloc(1, sizeof(*transactionPtr));
    Tcl_InitHashTable(&transactionPtr->values, TCL_STRING_KEYS);
    transactionPtr->outerPtr = innermostPtr;
    innermostPtr = transactionPtr;
    return atomic_fetch_add_explicit(&nBegun, 1, memory_order_relaxed) + 1;
}

int
NsCacheTxnCommit(bool isAll)
{
    int n = EndOne(true);

    while (isAll && innermostPtr != NULL) {
        /* Values of inner transactions are among these. */
        n = EndOne(true);
    }
    return n;
}

int
NsCacheTxnRollback(bool isAll)
{
    int n = EndOne(false);

    while (isAll && innermostPtr != NULL) {
        n += EndOne(false);
    }
    return n;
}

void
NsCacheTxnAbandon(void)
{
    if (innermostPtr != NULL) {
        Ns_Log(Warning,
               "cache: a transaction was left open: values discarded:"
               " %d",
               NsCacheTxnRollback(true));
    }
}

/*
 * End the innermost transaction; the number of values stored or discarded.
 */
static int
EndOne(bool isCommit)
{
    Transaction   *transactionPtr = innermostPtr;
    Transaction   *outerPtr = transactionPtr->outerPtr;
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;
    int            n = 0;

    innermostPtr = outerPtr;
    for (hPtr = Tcl_FirstHashEntry(&transactionPtr->values, &search);
         hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        Pending *pendingPtr = Tcl_GetHashValue(hPtr);

        if (isCommit && outerPtr != NULL) {
            StoreInOuter(outerPtr,
                         Tcl_GetHashKey(&transactionPtr->values, hPtr),
                         pendingPtr);
            n++;
        } else {
            n += isCommit ? StoreInCache(pendingPtr) : GiveUp(pendingPtr);
            FreePending(pendingPtr);
        }
    }
    Tcl_DeleteHashTable(&transactionPtr->values);
    ns_free(transactionPtr);
    return n;
}

static bool
GiveUp(const Pending *pendingPtr)
{
    Ns_Cache *cache = pendingPtr->cachePtr->cache;

    Ns_CacheLock(cache);
    NsCacheCountTransaction(cache, false);
    Ns_CacheUnlock(cache);
    return true;
}

/*
 * Another thread may be computing the same key; false when it does not finish
 * in the cache's time, or when it is this one.  It is also false when the value
 * was computed before a flush of the cache: whatever that was of, the value may
 * be out of date, and the next to ask for it computes it.
 */
static bool
StoreInCache(const Pending *pendingPtr)
{
    NsTclCache      *cachePtr = pendingPtr->cachePtr;
    NsTclCacheValue *valuePtr = pendingPtr->valuePtr;
    Ns_Time          timeout;
    Ns_Entry        *entry;
    int              isNew;
    size_t           limit = 0;

    if (NsTclCacheWorkHas(cachePtr, pendingPtr->key)) {
        return false;
    }
    Ns_CacheLock(cachePtr->cache);
    if (IsOutdated(pendingPtr)) {
        Ns_CacheUnlock(cachePtr->cache);
        return false;
    }
    timeout = cachePtr->settings.timeout;
    entry = Ns_CacheWaitCreateEntry(cachePtr->cache, pendingPtr->key, &isNew,
                                    timeout.sec != 0 || timeout.usec != 0
                                        ? &timeout
                                        : NULL);
    if (entry != NULL && IsOutdated(pendingPtr)) {
        if (isNew) {
            Ns_CacheDeleteEntry(entry);
        }
        entry = NULL;
    }
    if (entry != NULL) {
        limit = NsTclCacheStore(cachePtr, entry, valuePtr->text,
                                valuePtr->length,
                                pendingPtr->hasExpires ? &pendingPtr->expires
                                                       : NULL,
                                pendingPtr->cost);
        NsCacheCountTransaction(cachePtr->cache, true);
    }
    Ns_CacheUnlock(cachePtr->cache);
    NsTclCacheNoteTooLong(cachePtr, pendingPtr->key, valuePtr->length, limit);
    return entry != NULL;
}

/*
 * With the cache locked.
 */
static bool
IsOutdated(const Pending *pendingPtr)
{
    return pendingPtr->isComputed
        && pendingPtr->nFlushes != pendingPtr->cachePtr->nFlushes;
}

static void
StoreInOuter(Transaction *outerPtr, const char *tableKey, Pending *pendingPtr)
{
    Tcl_HashEntry *hPtr;
    int            isNew;

    hPtr = Tcl_CreateHashEntry(&outerPtr->values, tableKey, &isNew);
    if (!isNew) {
        FreePending(Tcl_GetHashValue(hPtr));
    }
    pendingPtr->key = strchr(Tcl_GetHashKey(&outerPtr->values, hPtr), ':') + 1;
    Tcl_SetHashValue(hPtr, pendingPtr);
}

const NsTclCacheValue *
NsCacheTxnFind(const NsTclCache *cachePtr, const char *key)
{
    Tcl_HashEntry *hPtr = NULL;
    Ns_DString     ds;

    if (innermostPtr == NULL) {
        return NULL;
    }
    Ns_DStringInit(&ds);
    (void) TableKey(&ds, cachePtr, key);
    for (Transaction *transactionPtr = innermostPtr;
         transactionPtr != NULL && hPtr == NULL;
         transactionPtr = transactionPtr->outerPtr) {
        hPtr = Tcl_FindHashEntry(&transactionPtr->values, Ns_DStringValue(&ds));
    }
    Ns_DStringFree(&ds);
    return hPtr == NULL ? NULL : ((Pending *) Tcl_GetHashValue(hPtr))->valuePtr;
}

void
NsCacheTxnStore(NsTclCache *cachePtr, const char *key, const char *text,
                size_t length, const Ns_Time *expiresPtr, int cost,
                const uint64_t *nFlushesPtr)
{
    Pending   *pendingPtr = ns_calloc(1, sizeof(*pendingPtr));
    Ns_DString ds;

    pendingPtr->cachePtr = cachePtr;
    pendingPtr->valuePtr = NsTclCacheValueCreate(text, length);
    pendingPtr->cost = cost;
    if (expiresPtr != NULL) {
        pendingPtr->hasExpires = true;
        pendingPtr->expires = *expiresPtr;
    }
    if (nFlushesPtr != NULL) {
        pendingPtr->isComputed = true;
        pendingPtr->nFlushes = *nFlushesPtr;
    }
    Ns_DStringInit(&ds);
    StoreInOuter(innermostPtr, TableKey(&ds, cachePtr, key), pendingPtr);
    Ns_DStringFree(&ds);
}

static const char *
TableKey(Ns_DString *dsPtr, const NsTclCache *cachePtr, const char *key)
{
    Ns_DStringPrintf(dsPtr, "%p:", (const void *) cachePtr);
    return Ns_DStringAppend(dsPtr, key);
}

static void
FreePending(Pending *pendingPtr)
{
    ns_free(pendingPtr->valuePtr);
    ns_free(pendingPtr);
}

int
NsCacheTxnFlush(const NsTclCache *cachePtr, const char *pattern, bool isGlob)
{
    int n = 0;

    for (Transaction *transactionPtr = innermostPtr; transactionPtr != NULL;
         transactionPtr = transactionPtr->outerPtr) {
        Tcl_HashSearch search;
        Tcl_HashEntry *hPtr;

        for (hPtr = Tcl_FirstHashEntry(&transactionPtr->values, &search);
             hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
            Pending *pendingPtr = Tcl_GetHashValue(hPtr);

            if (IsWanted(pendingPtr, cachePtr, pattern, isGlob)) {
                FreePending(pendingPtr);
                Tcl_DeleteHashEntry(hPtr);
                n++;
            }
        }
    }
    return n;
}

void
NsCacheTxnKeys(const NsTclCache *cachePtr, const char *pattern, bool isGlob,
               Ns_DString *dsPtr)
{
    for (Transaction *transactionPtr = innermostPtr; transactionPtr != NULL;
         transactionPtr = transactionPtr->outerPtr) {
        Tcl_HashSearch search;
        Tcl_HashEntry *hPtr;

        for (hPtr = Tcl_FirstHashEntry(&transactionPtr->values, &search);
             hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
            const Pending *pendingPtr = Tcl_GetHashValue(hPtr);

            if (IsWanted(pendingPtr, cachePtr, pattern, isGlob)
                && !IsShadowed(transactionPtr,
                               Tcl_GetHashKey(&transactionPtr->values, hPtr))) {
                Ns_DStringAppendElement(dsPtr, pendingPtr->key);
            }
        }
    }
}

static bool
IsWanted(const Pending *pendingPtr, const NsTclCache *cachePtr,
         const char *pattern, bool isGlob)
{
    return pendingPtr->cachePtr == cachePtr
        && (pattern == NULL
            || (isGlob ? Tcl_StringMatch(pendingPtr->key, pattern)
                       : STREQ(pendingPtr->key, pattern)));
}

/*
 * Whether a transaction inside of this one has the same key.
 */
static bool
IsShadowed(const Transaction *transactionPtr, const char *tableKey)
{
    for (Transaction *innerPtr = innermostPtr; innerPtr != transactionPtr;
         innerPtr = innerPtr->outerPtr) {
        if (Tcl_FindHashEntry(&innerPtr->values, tableKey) != NULL) {
            return true;
        }
    }
    return false;
}

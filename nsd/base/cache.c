/* SPDX-License-Identifier: MPL-2.0
 * cache.c --
 *
 *      Size- and time-limited stores of key and value.
 *
 *      An entry without a value is being filled by the thread that found it
 *      new.  Such entries are in the table, so that others can wait for them,
 *      but not in the list from which the oldest are pruned.
 *
 *          (none) --Create--> filling --SetValue--> valid --Delete--> (none)
 *                                ^                    |
 *                                +--UnsetValue--------+
 *                                +--Create if expired-+
 *
 *      One that is filled may be disowned meanwhile: then its value is out of
 *      date before it is there, and its filler deletes it instead.
 */

#include "base/cache.h"
#include "base/assert.h"
#include "base/lock.h"
#include "nsstring.h"

typedef struct Cache Cache;

/*
 * The value that a transaction has for an entry.
 */
typedef struct Pending {
    uintptr_t epoch;
    void     *value;
    size_t    size;
    Ns_Time   expires;
    bool      hasExpiry;
    int       cost;
} Pending;

typedef struct Entry {
    Cache         *cachePtr; /* These are constant after creation. */
    Tcl_HashEntry *hPtr;

    void    *value; /* NULL while being filled. */
    size_t   size;
    Ns_Time  expires;    /* 0: never. */
    int      cost;       /* Microseconds it took to make the value. */
    int      nUses;      /* Since the value was set. */
    Pending *pendingPtr; /* NULL: no transaction has a value. */
    bool     isDisowned; /* While being filled: not to be kept. */

    struct Entry *newerPtr; /* By last use. */
    struct Entry *olderPtr;
} Entry;

typedef struct CacheStats {
    uint64_t nHits;
    uint64_t nMissed;
    uint64_t nExpired;
    uint64_t nFlushed;
    uint64_t nPruned;
    uint64_t nCommitted; /* Values of transactions. */
    uint64_t nRolledBack;
} CacheStats;

struct Cache {
    Ns_Callback *freeProc; /* These are constant after creation. */
    time_t       ttl;      /* Seconds; 0: values stay. */
    int          keys;

    Ns_Mutex      lock;    /* Guards the rest, and all entries. */
    Ns_Cond       changed; /* A value was set, or an entry deleted. */
    int           nWaiting;
    Tcl_HashTable entries;
    Entry        *newestPtr; /* Entries with a value. */
    Entry        *oldestPtr;
    int           nValid;
    size_t        size;
    size_t        maxSize; /* 0: no limit. */
    CacheStats    stats;
};

typedef struct Search {
    Cache         *cachePtr;
    Ns_Time        now;
    Tcl_HashSearch hashSearch;
} Search;

_Static_assert(sizeof(Search) <= sizeof(Ns_CacheSearch),
               "the caller's search structure is too small");

static Cache        *CacheOf(Ns_Cache *cache);
static Entry        *EntryOf(Ns_Entry *entry);
static Entry        *FindLocked(Cache *cachePtr, const char *key,
                                const Ns_CacheTransactionStack *stackPtr);
static bool          IsSeen(const Entry                    *entryPtr,
                            const Ns_CacheTransactionStack *stackPtr);
static void          DropPendingLocked(Entry *entryPtr);
static void          RemoveLocked(Entry *entryPtr);
static unsigned long EndLocked(Cache *cachePtr, uintptr_t epoch, bool isCommit);
static Entry *EnterLocked(Cache *cachePtr, const char *key, bool *isNewPtr);
static void   CountLocked(Entry *entryPtr, bool isNew);
static bool   IsExpired(const Entry *entryPtr, const Ns_Time *nowPtr);
static bool   DropIfExpiredLocked(Entry *entryPtr);
static void   DisownLocked(Entry *entryPtr);
static void   DeleteLocked(Entry *entryPtr);
static void   UnsetLocked(Entry *entryPtr);
static void   PruneLocked(Cache *cachePtr, const Entry *keepPtr);
static void   LinkNewestLocked(Entry *entryPtr);
static void   UnlinkLocked(Entry *entryPtr);
static void   AnnounceLocked(Cache *cachePtr);
static Entry *NextSeenLocked(Search *searchPtr, Tcl_HashEntry *hPtr,
                             const Ns_CacheTransactionStack *stackPtr);

Ns_Cache *
Ns_CacheCreate(const char *name, int keys, time_t ttl, Ns_Callback *freeProc)
{
    return Ns_CacheCreateEx(name, keys, ttl, 0, freeProc);
}

Ns_Cache *
Ns_CacheCreateSz(const char *name, int keys, size_t maxSize,
                 Ns_Callback *freeProc)
{
    return Ns_CacheCreateEx(name, keys, 0, maxSize, freeProc);
}

Ns_Cache *
Ns_CacheCreateEx(const char *name, int keys, time_t ttl, size_t maxSize,
                 Ns_Callback *freeProc)
{
    Cache *cachePtr = ns_calloc(1, sizeof(Cache));

    cachePtr->freeProc = freeProc;
    cachePtr->ttl = MAX(ttl, 0);
    cachePtr->maxSize = maxSize;
    cachePtr->keys = keys;
    NsMutexSetup(&cachePtr->lock, NS_RANK_CACHE, "ns:cache", name);
    Ns_CondInit(&cachePtr->changed);
    Tcl_InitHashTable(&cachePtr->entries, keys);
    return (Ns_Cache *) cachePtr;
}

void
Ns_CacheDestroy(Ns_Cache *cache)
{
    Cache         *cachePtr = CacheOf(cache);
    Tcl_HashEntry *hPtr;
    Tcl_HashSearch search;

    Ns_MutexLock(&cachePtr->lock);
    while ((hPtr = Tcl_FirstHashEntry(&cachePtr->entries, &search)) != NULL) {
        DeleteLocked(Tcl_GetHashValue(hPtr));
    }
    Ns_MutexUnlock(&cachePtr->lock);

    Tcl_DeleteHashTable(&cachePtr->entries);
    Ns_CondDestroy(&cachePtr->changed);
    Ns_MutexDestroy(&cachePtr->lock);
    ns_free(cachePtr);
}

Ns_Entry *
Ns_CacheFindEntry(Ns_Cache *cache, const char *key)
{
    return Ns_CacheFindEntryT(cache, key, NULL);
}

Ns_Entry *
Ns_CacheFindEntryT(Ns_Cache *cache, const char *key,
                   const Ns_CacheTransactionStack *stackPtr)
{
    Cache *cachePtr = CacheOf(cache);
    Entry *entryPtr = FindLocked(cachePtr, key, stackPtr);

    if (entryPtr == NULL) {
        cachePtr->stats.nMissed++;
    } else {
        CountLocked(entryPtr, false);
    }
    return (Ns_Entry *) entryPtr;
}

static Entry *
FindLocked(Cache *cachePtr, const char *key,
           const Ns_CacheTransactionStack *stackPtr)
{
    Tcl_HashEntry *hPtr;
    Entry         *entryPtr;

    NsAssertLocked(&cachePtr->lock);

    hPtr = Tcl_FindHashEntry(&cachePtr->entries, key);
    if (hPtr == NULL) {
        return NULL;
    }
    entryPtr = Tcl_GetHashValue(hPtr);
    return IsSeen(entryPtr, stackPtr)
            || (entryPtr->value != NULL && !DropIfExpiredLocked(entryPtr))
        ? entryPtr
        : NULL;
}

/*
 * Whether a transaction of the stack has a value for the entry.
 */
static bool
IsSeen(const Entry *entryPtr, const Ns_CacheTransactionStack *stackPtr)
{
    if (entryPtr->pendingPtr == NULL || stackPtr == NULL) {
        return false;
    }
    NsAssert(stackPtr->depth <= NS_CACHE_MAX_TRANSACTION_DEPTH);
    for (unsigned int i = 0; i < stackPtr->depth; i++) {
        if (stackPtr->stack[i] == entryPtr->pendingPtr->epoch) {
            return true;
        }
    }
    return false;
}

Ns_Entry *
Ns_CacheCreateEntry(Ns_Cache *cache, const char *key, int *isNewPtr)
{
    return Ns_CacheCreateEntryT(cache, key, isNewPtr, NULL);
}

Ns_Entry *
Ns_CacheCreateEntryT(Ns_Cache *cache, const char *key, int *isNewPtr,
                     const Ns_CacheTransactionStack *stackPtr)
{
    bool   isNew;
    Entry *entryPtr = EnterLocked(CacheOf(cache), key, &isNew);

    isNew = isNew && !IsSeen(entryPtr, stackPtr);
    CountLocked(entryPtr, isNew);
    *isNewPtr = isNew;
    return (Ns_Entry *) entryPtr;
}

Ns_Entry *
NsCacheEnterAgain(Ns_Cache *cache, const char *key, int *isNewPtr)
{
    bool   isNew;
    Entry *entryPtr = EnterLocked(CacheOf(cache), key, &isNew);

    *isNewPtr = isNew;
    return (Ns_Entry *) entryPtr;
}

Ns_Entry *
Ns_CacheWaitCreateEntry(Ns_Cache *cache, const char *key, int *isNewPtr,
                        Ns_Time *timeoutPtr)
{
    return Ns_CacheWaitCreateEntryT(cache, key, isNewPtr, timeoutPtr, NULL);
}

Ns_Entry *
Ns_CacheWaitCreateEntryT(Ns_Cache *cache, const char *key, int *isNewPtr,
                         const Ns_Time                  *timeoutPtr,
                         const Ns_CacheTransactionStack *stackPtr)
{
    Cache  *cachePtr = CacheOf(cache);
    Ns_Time until, *untilPtr = Ns_AbsoluteTime(&until, (Ns_Time *) timeoutPtr);
    int     status = NS_OK;
    bool    isNew, hasValue;
    Entry  *entryPtr;

    /*
     * The entry may be gone or replaced whenever the lock was released, and the
     * thread that was to fill it may have failed: then this one does.
     */
    cachePtr->nWaiting++;
    while (entryPtr = EnterLocked(cachePtr, key, &isNew),
           hasValue = entryPtr->value != NULL || IsSeen(entryPtr, stackPtr),
           !hasValue && !isNew && status == NS_OK) {
        status = NsCondWaitEndable(&cachePtr->changed, &cachePtr->lock,
                                   untilPtr);
    }
    cachePtr->nWaiting--;

    isNew = isNew && !hasValue;
    if (!hasValue && !isNew) {
        cachePtr->stats.nMissed++;
        *isNewPtr = 0;
        return NULL;
    }
    CountLocked(entryPtr, isNew);
    *isNewPtr = isNew;
    return (Ns_Entry *) entryPtr;
}

char *
Ns_CacheKey(Ns_Entry *entry)
{
    Entry *entryPtr = EntryOf(entry);

    return Tcl_GetHashKey(&entryPtr->cachePtr->entries, entryPtr->hPtr);
}

void *
Ns_CacheGetValue(Ns_Entry *entry)
{
    return EntryOf(entry)->value;
}

void *
Ns_CacheGetValueT(Ns_Entry *entry, const Ns_CacheTransactionStack *stackPtr)
{
    const Entry *entryPtr = EntryOf(entry);

    return IsSeen(entryPtr, stackPtr)
        ? entryPtr->pendingPtr->value
        : entryPtr->value;
}

size_t
Ns_CacheGetSize(Ns_Entry *entry)
{
    return EntryOf(entry)->size;
}

Ns_Time *
Ns_CacheGetExpirey(Ns_Entry *entry)
{
    return &EntryOf(entry)->expires;
}

int
NsCacheGetUses(Ns_Entry *entry)
{
    return EntryOf(entry)->nUses;
}

void
Ns_CacheSetValue(Ns_Entry *entry, void *value)
{
    Ns_CacheSetValueSz(entry, value, 0);
}

void
Ns_CacheSetValueSz(Ns_Entry *entry, void *value, size_t size)
{
    Ns_CacheSetValueExpires(entry, value, size, NULL, 0);
}

void
Ns_CacheSetValueExpires(Ns_Entry *entry, void *value, size_t size,
                        Ns_Time *expiresPtr, int cost)
{
    Entry  *entryPtr = EntryOf(entry);
    Cache  *cachePtr = entryPtr->cachePtr;
    Ns_Time expires;

    NsAssertLocked(&cachePtr->lock);

    if (expiresPtr == NULL && cachePtr->ttl > 0) {
        Ns_GetTime(&expires);
        Ns_IncrTime(&expires, cachePtr->ttl, 0);
        expiresPtr = &expires;
    } else {
        expiresPtr = Ns_AbsoluteTime(&expires, expiresPtr);
    }

    if (value != NULL && entryPtr->value == value) {
        entryPtr->value = NULL; /* Stored again: not to be freed. */
        UnlinkLocked(entryPtr);
    } else {
        UnsetLocked(entryPtr);
    }
    entryPtr->value = value;
    entryPtr->size = size;
    entryPtr->expires = expiresPtr != NULL ? *expiresPtr : (Ns_Time){0, 0};
    entryPtr->cost = cost;
    entryPtr->nUses = 0;
    entryPtr->isDisowned = false;
    if (value != NULL) {
        LinkNewestLocked(entryPtr);
        PruneLocked(cachePtr, entryPtr);
    }
    AnnounceLocked(cachePtr);
}

void
Ns_CacheSetValueExpires_33(Ns_Entry *entry, void *value, size_t size,
                           const Ns_Time *expiresPtr, int cost, size_t maxSize,
                           uintptr_t transactionEpoch)
{
    Entry   *entryPtr = EntryOf(entry);
    Cache   *cachePtr = entryPtr->cachePtr;
    Pending *pendingPtr;
    Ns_Time  expires, *untilPtr;

    NsAssertLocked(&cachePtr->lock);

    if (maxSize != 0) {
        cachePtr->maxSize = maxSize;
    }
    if (transactionEpoch == 0 || value == NULL) {
        Ns_CacheSetValueExpires(entry, value, size, (Ns_Time *) expiresPtr,
                                cost);
        return;
    }
    pendingPtr = entryPtr->pendingPtr;
    if (pendingPtr != NULL && pendingPtr->value == value) {
        pendingPtr->value = NULL; /* Stored again: not to be freed. */
    }
    DropPendingLocked(entryPtr);
    untilPtr = Ns_AbsoluteTime(&expires, (Ns_Time *) expiresPtr);
    pendingPtr = ns_calloc(1, sizeof(Pending));
    *pendingPtr = (Pending){
        .epoch = transactionEpoch,
        .value = value,
        .size = size,
        .hasExpiry = untilPtr != NULL,
        .cost = cost};
    if (untilPtr != NULL) {
        pendingPtr->expires = *untilPtr;
    }
    entryPtr->pendingPtr = pendingPtr;
    AnnounceLocked(cachePtr);
}

unsigned long
Ns_CacheCommitEntries(Ns_Cache *cache, uintptr_t epoch)
{
    return EndLocked(CacheOf(cache), epoch, true);
}

unsigned long
Ns_CacheRollbackEntries(Ns_Cache *cache, uintptr_t epoch)
{
    return EndLocked(CacheOf(cache), epoch, false);
}

/*
 * Storing a value may prune the entry that comes next: then the search begins
 * anew.
 */
static unsigned long
EndLocked(Cache *cachePtr, uintptr_t epoch, bool isCommit)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;
    unsigned long  n = 0;

    NsAssertLocked(&cachePtr->lock);

    hPtr = Tcl_FirstHashEntry(&cachePtr->entries, &search);
    while (hPtr != NULL) {
        Entry   *entryPtr = Tcl_GetHashValue(hPtr);
        Pending *pendingPtr = entryPtr->pendingPtr;
        uint64_t nPruned = cachePtr->stats.nPruned;

        if (pendingPtr == NULL || pendingPtr->epoch != epoch) {
            hPtr = Tcl_NextHashEntry(&search);
            continue;
        }
        n++;
        if (isCommit) {
            Pending pending = *pendingPtr;

            pendingPtr->value = NULL; /* Not to be freed. */
            DropPendingLocked(entryPtr);
            Ns_CacheSetValueExpires((Ns_Entry *) entryPtr, pending.value,
                                    pending.size,
                                    pending.hasExpiry ? &pending.expires : NULL,
                                    pending.cost);
        } else {
            DropPendingLocked(entryPtr);
            if (entryPtr->value == NULL) {
                DeleteLocked(entryPtr);
            }
        }
        NsCacheCountTransaction((Ns_Cache *) cachePtr, isCommit);
        hPtr = cachePtr->stats.nPruned == nPruned
            ? Tcl_NextHashEntry(&search)
            : Tcl_FirstHashEntry(&cachePtr->entries, &search);
    }
    return n;
}

unsigned long
Ns_CacheGetNrUncommittedEntries(Ns_Cache *cache)
{
    Cache         *cachePtr = CacheOf(cache);
    Tcl_HashSearch search;
    unsigned long  n = 0;

    NsAssertLocked(&cachePtr->lock);

    for (Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(&cachePtr->entries, &search);
         hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        n += ((const Entry *) Tcl_GetHashValue(hPtr))->pendingPtr != NULL;
    }
    return n;
}

static void
DropPendingLocked(Entry *entryPtr)
{
    Pending     *pendingPtr = entryPtr->pendingPtr;
    Ns_Callback *freeProc = entryPtr->cachePtr->freeProc;

    NsAssertLocked(&entryPtr->cachePtr->lock);

    entryPtr->pendingPtr = NULL;
    if (pendingPtr != NULL && pendingPtr->value != NULL && freeProc != NULL) {
        freeProc(pendingPtr->value);
    }
    ns_free(pendingPtr);
}

void
Ns_CacheUnsetValue(Ns_Entry *entry)
{
    UnsetLocked(EntryOf(entry));
}

void
Ns_CacheDeleteEntry(Ns_Entry *entry)
{
    DeleteLocked(EntryOf(entry));
}

void
Ns_CacheFlushEntry(Ns_Entry *entry)
{
    EntryOf(entry)->cachePtr->stats.nFlushed++;
    DeleteLocked(EntryOf(entry));
}

int
Ns_CacheFlush(Ns_Cache *cache)
{
    Ns_CacheSearch search;
    Ns_Entry      *entry;
    int            nFlushed = 0;

    for (entry = Ns_CacheFirstEntry(cache, &search); entry != NULL;
         entry = Ns_CacheNextEntry(&search)) {
        Ns_CacheFlushEntry(entry);
        nFlushed++;
    }
    return nFlushed;
}

void
NsCacheDisown(Ns_Cache *cache, const char *pattern, bool isGlob)
{
    Cache         *cachePtr = CacheOf(cache);
    Tcl_HashEntry *hPtr;
    Tcl_HashSearch search;

    NsAssertLocked(&cachePtr->lock);

    if (pattern != NULL && !isGlob) {
        hPtr = Tcl_FindHashEntry(&cachePtr->entries, pattern);
        if (hPtr != NULL) {
            DisownLocked(Tcl_GetHashValue(hPtr));
        }
        return;
    }
    for (hPtr = Tcl_FirstHashEntry(&cachePtr->entries, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        if (pattern == NULL
            || Tcl_StringMatch(Tcl_GetHashKey(&cachePtr->entries, hPtr),
                               pattern)) {
            DisownLocked(Tcl_GetHashValue(hPtr));
        }
    }
}

bool
NsCacheIsDisowned(Ns_Entry *entry)
{
    NsAssertLocked(&EntryOf(entry)->cachePtr->lock);

    return EntryOf(entry)->isDisowned;
}

Ns_Entry *
Ns_CacheFirstEntry(Ns_Cache *cache, Ns_CacheSearch *callersPtr)
{
    return Ns_CacheFirstEntryT(cache, callersPtr, NULL);
}

Ns_Entry *
Ns_CacheFirstEntryT(Ns_Cache *cache, Ns_CacheSearch *callersPtr,
                    const Ns_CacheTransactionStack *stackPtr)
{
    Search *searchPtr = (Search *) callersPtr;
    Cache  *cachePtr = CacheOf(cache);

    NsAssertLocked(&cachePtr->lock);

    searchPtr->cachePtr = cachePtr;
    Ns_GetTime(&searchPtr->now);
    return (Ns_Entry *)
        NextSeenLocked(searchPtr,
                       Tcl_FirstHashEntry(&cachePtr->entries,
                                          &searchPtr->hashSearch),
                       stackPtr);
}

Ns_Entry *
Ns_CacheNextEntry(Ns_CacheSearch *callersPtr)
{
    return Ns_CacheNextEntryT(callersPtr, NULL);
}

Ns_Entry *
Ns_CacheNextEntryT(Ns_CacheSearch                 *callersPtr,
                   const Ns_CacheTransactionStack *stackPtr)
{
    Search *searchPtr = (Search *) callersPtr;

    return (Ns_Entry *)
        NextSeenLocked(searchPtr, Tcl_NextHashEntry(&searchPtr->hashSearch),
                       stackPtr);
}

void
Ns_CacheLock(Ns_Cache *cache)
{
    Ns_MutexLock(&CacheOf(cache)->lock);
}

int
Ns_CacheTryLock(Ns_Cache *cache)
{
    return Ns_MutexTryLock(&CacheOf(cache)->lock);
}

void
Ns_CacheUnlock(Ns_Cache *cache)
{
    Ns_MutexUnlock(&CacheOf(cache)->lock);
}

void
Ns_CacheWait(Ns_Cache *cache)
{
    (void) Ns_CacheTimedWait(cache, NULL);
}

int
Ns_CacheTimedWait(Ns_Cache *cache, Ns_Time *timePtr)
{
    Cache *cachePtr = CacheOf(cache);
    int    status;

    cachePtr->nWaiting++;
    status = Ns_CondTimedWait(&cachePtr->changed, &cachePtr->lock, timePtr);
    cachePtr->nWaiting--;
    return status;
}

void
Ns_CacheSignal(Ns_Cache *cache)
{
    Ns_CondSignal(&CacheOf(cache)->changed);
}

void
Ns_CacheBroadcast(Ns_Cache *cache)
{
    Ns_CondBroadcast(&CacheOf(cache)->changed);
}

char *
Ns_CacheStats(Ns_Cache *cache, Ns_DString *dsPtr)
{
    Cache            *cachePtr = CacheOf(cache);
    const CacheStats *statsPtr = &cachePtr->stats;
    uint64_t          nSought = statsPtr->nHits + statsPtr->nMissed;
    double            saved = 0;

    NsAssertLocked(&cachePtr->lock);

    for (const Entry *entryPtr = cachePtr->newestPtr; entryPtr != NULL;
         entryPtr = entryPtr->olderPtr) {
        saved += (double) entryPtr->nUses * entryPtr->cost / 1e6;
    }
    Ns_DStringPrintf(dsPtr,
                     "maxsize %zu size %zu entries %d"
                     " flushed %" PRIu64 " hits %" PRIu64 " missed %" PRIu64
                     " hitrate %.2f expired %" PRIu64 " pruned %" PRIu64,
                     cachePtr->maxSize, cachePtr->size, cachePtr->nValid,
                     statsPtr->nFlushed, statsPtr->nHits, statsPtr->nMissed,
                     nSought > 0
                         ? (double) statsPtr->nHits * 100 / (double) nSought
                         : 0,
                     statsPtr->nExpired, statsPtr->nPruned);
    if (statsPtr->nCommitted > 0 || statsPtr->nRolledBack > 0) {
        Ns_DStringPrintf(dsPtr, " commit %" PRIu64 " rollback %" PRIu64,
                         statsPtr->nCommitted, statsPtr->nRolledBack);
    }
    return Ns_DStringPrintf(dsPtr, " saved %.6f", saved);
}

void
NsCacheCountTransaction(Ns_Cache *cache, bool isCommit)
{
    Cache *cachePtr = CacheOf(cache);

    NsAssertLocked(&cachePtr->lock);

    if (isCommit) {
        cachePtr->stats.nCommitted++;
    } else {
        cachePtr->stats.nRolledBack++;
    }
}

void
Ns_CacheResetStats(Ns_Cache *cache)
{
    Cache *cachePtr = CacheOf(cache);

    NsAssertLocked(&cachePtr->lock);

    cachePtr->stats = (CacheStats){0};
    for (Entry *entryPtr = cachePtr->newestPtr; entryPtr != NULL;
         entryPtr = entryPtr->olderPtr) {
        entryPtr->nUses = 0;
    }
}

size_t
NsCacheGetMaxSize(Ns_Cache *cache)
{
    return CacheOf(cache)->maxSize;
}

size_t
NsCacheGetSize(Ns_Cache *cache)
{
    return CacheOf(cache)->size;
}

void
NsCacheSetMaxSize(Ns_Cache *cache, size_t maxSize)
{
    Cache *cachePtr = CacheOf(cache);

    NsAssertLocked(&cachePtr->lock);

    cachePtr->maxSize = maxSize;
    PruneLocked(cachePtr, NULL);
}

static Cache *
CacheOf(Ns_Cache *cache)
{
    return (Cache *) cache;
}

static Entry *
EntryOf(Ns_Entry *entry)
{
    return (Entry *) entry;
}

/*
 * Find the entry or make one; an expired one becomes empty and counts as new.
 */
static Entry *
EnterLocked(Cache *cachePtr, const char *key, bool *isNewPtr)
{
    int            isNew;
    Tcl_HashEntry *hPtr;
    Entry         *entryPtr;
    Ns_Time        now;

    NsAssertLocked(&cachePtr->lock);

    hPtr = Tcl_CreateHashEntry(&cachePtr->entries, key, &isNew);
    if (isNew) {
        entryPtr = ns_calloc(1, sizeof(Entry));
        entryPtr->cachePtr = cachePtr;
        entryPtr->hPtr = hPtr;
        Tcl_SetHashValue(hPtr, entryPtr);
    } else {
        entryPtr = Tcl_GetHashValue(hPtr);
        Ns_GetTime(&now);
        if (IsExpired(entryPtr, &now)) {
            cachePtr->stats.nExpired++;
            UnsetLocked(entryPtr);
            isNew = 1;
        }
    }
    *isNewPtr = isNew != 0;
    return entryPtr;
}

/*
 * The entry is handed to a caller: as a miss, or as a hit if it has a value.
 */
static void
CountLocked(Entry *entryPtr, bool isNew)
{
    NsAssertLocked(&entryPtr->cachePtr->lock);

    if (isNew) {
        entryPtr->cachePtr->stats.nMissed++;
    } else if (entryPtr->value != NULL) {
        entryPtr->cachePtr->stats.nHits++;
        if (entryPtr->nUses < INT_MAX) {
            entryPtr->nUses++;
        }
        UnlinkLocked(entryPtr);
        LinkNewestLocked(entryPtr);
    }
}

static bool
IsExpired(const Entry *entryPtr, const Ns_Time *nowPtr)
{
    const Ns_Time *expiresPtr = &entryPtr->expires;

    return entryPtr->value != NULL
        && (expiresPtr->sec != 0 || expiresPtr->usec != 0)
        && (expiresPtr->sec < nowPtr->sec
            || (expiresPtr->sec == nowPtr->sec
                && expiresPtr->usec <= nowPtr->usec));
}

static bool
DropIfExpiredLocked(Entry *entryPtr)
{
    Ns_Time now;

    NsAssertLocked(&entryPtr->cachePtr->lock);

    Ns_GetTime(&now);
    if (!IsExpired(entryPtr, &now)) {
        return false;
    }
    entryPtr->cachePtr->stats.nExpired++;
    RemoveLocked(entryPtr);
    return true;
}

/*
 * What a transaction holds stays.
 */
static void
RemoveLocked(Entry *entryPtr)
{
    NsAssertLocked(&entryPtr->cachePtr->lock);

    if (entryPtr->pendingPtr == NULL) {
        DeleteLocked(entryPtr);
    } else {
        UnsetLocked(entryPtr);
        AnnounceLocked(entryPtr->cachePtr);
    }
}

static void
DisownLocked(Entry *entryPtr)
{
    NsAssertLocked(&entryPtr->cachePtr->lock);

    entryPtr->isDisowned = entryPtr->value == NULL;
}

static void
DeleteLocked(Entry *entryPtr)
{
    Cache *cachePtr = entryPtr->cachePtr;

    NsAssertLocked(&cachePtr->lock);

    UnsetLocked(entryPtr);
    DropPendingLocked(entryPtr);
    Tcl_DeleteHashEntry(entryPtr->hPtr);
    ns_free(entryPtr);
    AnnounceLocked(cachePtr);
}

static void
UnsetLocked(Entry *entryPtr)
{
    Cache *cachePtr = entryPtr->cachePtr;
    void  *value = entryPtr->value;

    NsAssertLocked(&cachePtr->lock);

    if (value != NULL) {
        UnlinkLocked(entryPtr);
        entryPtr->value = NULL;
        entryPtr->size = 0;
        entryPtr->nUses = 0;
        entryPtr->cost = 0;
        entryPtr->expires = (Ns_Time){0, 0};
        if (cachePtr->freeProc != NULL) {
            cachePtr->freeProc(value);
        }
    }
}

/*
 * Delete the least recently used entries until the rest fits, but not keepPtr.
 */
static void
PruneLocked(Cache *cachePtr, const Entry *keepPtr)
{
    NsAssertLocked(&cachePtr->lock);

    while (cachePtr->maxSize > 0 && cachePtr->size > cachePtr->maxSize
           && cachePtr->oldestPtr != NULL && cachePtr->oldestPtr != keepPtr) {
        cachePtr->stats.nPruned++;
        RemoveLocked(cachePtr->oldestPtr);
    }
}

static void
LinkNewestLocked(Entry *entryPtr)
{
    Cache *cachePtr = entryPtr->cachePtr;

    NsAssertLocked(&cachePtr->lock);
    NsAssert((cachePtr->newestPtr == NULL) == (cachePtr->oldestPtr == NULL));

    entryPtr->newerPtr = NULL;
    entryPtr->olderPtr = cachePtr->newestPtr;
    if (cachePtr->newestPtr != NULL) {
        cachePtr->newestPtr->newerPtr = entryPtr;
    } else {
        cachePtr->oldestPtr = entryPtr;
    }
    cachePtr->newestPtr = entryPtr;
    cachePtr->size += entryPtr->size;
    cachePtr->nValid++;
}

static void
UnlinkLocked(Entry *entryPtr)
{
    Cache *cachePtr = entryPtr->cachePtr;

    NsAssertLocked(&cachePtr->lock);

    if (entryPtr->newerPtr != NULL) {
        entryPtr->newerPtr->olderPtr = entryPtr->olderPtr;
    } else {
        cachePtr->newestPtr = entryPtr->olderPtr;
    }
    if (entryPtr->olderPtr != NULL) {
        entryPtr->olderPtr->newerPtr = entryPtr->newerPtr;
    } else {
        cachePtr->oldestPtr = entryPtr->newerPtr;
    }
    cachePtr->size -= entryPtr->size;
    cachePtr->nValid--;
}

static void
AnnounceLocked(Cache *cachePtr)
{
    NsAssertLocked(&cachePtr->lock);

    if (cachePtr->nWaiting > 0) {
        Ns_CondBroadcast(&cachePtr->changed);
    }
}

/*
 * The entry at hPtr or the first after it that has a value; expired ones are
 * dropped on the way.
 */
static Entry *
NextSeenLocked(Search *searchPtr, Tcl_HashEntry *hPtr,
               const Ns_CacheTransactionStack *stackPtr)
{
    NsAssertLocked(&searchPtr->cachePtr->lock);

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&searchPtr->hashSearch)) {
        Entry *entryPtr = Tcl_GetHashValue(hPtr);

        if (IsSeen(entryPtr, stackPtr)) {
            return entryPtr;
        }
        if (IsExpired(entryPtr, &searchPtr->now)) {
            searchPtr->cachePtr->stats.nExpired++;
            RemoveLocked(entryPtr);
        } else if (entryPtr->value != NULL) {
            return entryPtr;
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: MPL-2.0
 * tclcache.c --
 *
 *      The caches of scripts.
 */

#include "tcl/tclcache.h"

#include "ns.h"
#include "base/assert.h"
#include "base/lock.h"
#include "process/parameters.h"
#include "tcl/perserver.h"

#define MEMOIZE "ns:memoize"

typedef struct Table {
    Ns_Mutex      lock;   /* Guards caches; they are never removed. */
    Tcl_HashTable caches; /* By name. */
} Table;

static const NsParameter rows[] = {
    NS_SIZE(NsTclCacheSettings, maxSize, "memoizecache", "10485760", 0,
            NS_PARAM_NO_LIMIT, "Size of the cache ns:memoize."),
    NS_PARAM_END};

/*
 * Of all servers.
 */
typedef struct Shared {
    int mode; /* Index of the word. */
} Shared;

static Shared shared; /* Constant after start. */

static const NsParameter sharedRows[] = {
    NS_CHOICE(Shared, mode, "cachingmode", "full", "full none",
              "With none, caches of scripts keep nothing; useful when several "
              "servers share the same data."),
    NS_PARAM_END};

static NsPerServer tables;

static _Thread_local const NsTclCacheWork *innermostWorkPtr;

static NsPerServerProc CreateTable;
static NsTclCache     *Enter(Table *tablePtr, const char *name,
                             const NsTclCacheSettings *settingsPtr);

void
NsTclCacheInit(void)
{
    NsParametersRegister("ns/server/*/tcl", rows, sizeof(NsTclCacheSettings));
    NsParametersRegister("ns/parameters", sharedRows, sizeof(Shared));
}

void
NsTclCacheConfigure(void)
{
    NsParametersFill(sharedRows, "ns/parameters", &shared);
}

bool
NsTclCacheIsOff(void)
{
    return shared.mode != 0;
}

static void *
CreateTable(NsServer *serverPtr)
{
    Table             *tablePtr = ns_calloc(1, sizeof(*tablePtr));
    NsTclCacheSettings settings = {0};
    Ns_DString         ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, serverPtr->path, "/tcl", NULL);
    NsParametersFill(rows, Ns_DStringValue(&ds), &settings);
    Ns_DStringFree(&ds);

    NsMutexSetup(&tablePtr->lock, NS_RANK_TCL_CACHES, "ns:tclcaches",
                 serverPtr->name);
    Tcl_InitHashTable(&tablePtr->caches, TCL_STRING_KEYS);
    (void) Enter(tablePtr, MEMOIZE, &settings);
    return tablePtr;
}

NsTclCache *
NsTclCacheCreate(NsServer *serverPtr, const char *name,
                 const NsTclCacheSettings *settingsPtr)
{
    Table      *tablePtr = NsPerServerGet(&tables, serverPtr, CreateTable);
    NsTclCache *cachePtr;

    Ns_MutexLock(&tablePtr->lock);
    cachePtr = Enter(tablePtr, name, settingsPtr);
    Ns_MutexUnlock(&tablePtr->lock);
    return cachePtr;
}

/*
 * Called with the table's lock held, or while nobody else can see the table.
 */
static NsTclCache *
Enter(Table *tablePtr, const char *name, const NsTclCacheSettings *settingsPtr)
{
    Tcl_HashEntry *hPtr;
    NsTclCache    *cachePtr;
    int            isNew;

    hPtr = Tcl_CreateHashEntry(&tablePtr->caches, name, &isNew);
    if (!isNew) {
        return NULL;
    }
    cachePtr = ns_calloc(1, sizeof(*cachePtr));
    cachePtr->name = Tcl_GetHashKey(&tablePtr->caches, hPtr);
    cachePtr->cache = Ns_CacheCreateSz(name, TCL_STRING_KEYS,
                                       settingsPtr->maxSize, ns_free);
    cachePtr->settings = *settingsPtr;
    Tcl_SetHashValue(hPtr, cachePtr);
    return cachePtr;
}

NsTclCache *
NsTclCacheFind(NsServer *serverPtr, const char *name)
{
    Table         *tablePtr = NsPerServerGet(&tables, serverPtr, CreateTable);
    Tcl_HashEntry *hPtr;

    Ns_MutexLock(&tablePtr->lock);
    hPtr = Tcl_FindHashEntry(&tablePtr->caches, name);
    Ns_MutexUnlock(&tablePtr->lock);
    return hPtr != NULL ? Tcl_GetHashValue(hPtr) : NULL;
}

NsTclCache *
NsTclCacheLookup(NsServer *serverPtr, Tcl_Interp *interp, Tcl_Obj *nameObj)
{
    const char *name = Tcl_GetString(nameObj);
    NsTclCache *cachePtr = NsTclCacheFind(serverPtr, name);

    if (cachePtr == NULL) {
        Ns_TclPrintfResult(interp, "no such cache: %s", name);
        Tcl_SetErrorCode(interp, "NS_CACHE", "LOOKUP", name, NULL);
    }
    return cachePtr;
}

NsTclCache *
NsTclCacheMemoize(NsServer *serverPtr)
{
    return NsTclCacheFind(serverPtr, MEMOIZE);
}

void
NsTclCacheNames(NsServer *serverPtr, Ns_DString *dsPtr)
{
    Table         *tablePtr = NsPerServerGet(&tables, serverPtr, CreateTable);
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    Ns_MutexLock(&tablePtr->lock);
    for (hPtr = Tcl_FirstHashEntry(&tablePtr->caches, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        Ns_DStringAppendElement(dsPtr, Tcl_GetHashKey(&tablePtr->caches, hPtr));
    }
    Ns_MutexUnlock(&tablePtr->lock);
}

size_t
NsTclCacheStore(NsTclCache *cachePtr, Ns_Entry *entry, const char *text,
                size_t length, const Ns_Time *expiresPtr, int cost)
{
    const NsTclCacheSettings *settingsPtr = &cachePtr->settings;
    size_t                    limit = settingsPtr->maxEntry;
    NsTclCacheValue          *valuePtr;
    Ns_Time                   expires;

    if (limit == 0
        || (settingsPtr->maxSize > 0 && settingsPtr->maxSize < limit)) {
        limit = settingsPtr->maxSize;
    }
    if (limit > 0 && length > limit) {
        Ns_CacheDeleteEntry(entry);
        return limit;
    }
    expires = expiresPtr != NULL ? *expiresPtr : cachePtr->settings.expires;
    valuePtr = NsTclCacheValueCreate(text, length);
    valuePtr->number = ++cachePtr->nValues;
    Ns_CacheSetValueExpires(entry, valuePtr, length,
                            expires.sec != 0 || expires.usec != 0 ? &expires
                                                                  : NULL,
                            cost);
    return 0;
}

void
NsTclCacheNoteTooLong(const NsTclCache *cachePtr, const char *key,
                      size_t length, size_t limit)
{
    if (limit > 0) {
        Ns_Log(Notice,
               "ns_cache %s key '%s': entry size %zu is larger than the "
               "configured maxentry %zu value (entry is not cached)",
               cachePtr->name, key, length, limit);
    }
}

NsTclCacheValue *
NsTclCacheValueCreate(const char *text, size_t length)
{
    NsTclCacheValue *valuePtr = ns_malloc(sizeof(*valuePtr) + length + 1);

    valuePtr->number = 0;
    valuePtr->length = length;
    memcpy(valuePtr->text, text, length);
    valuePtr->text[length] = '\0';
    return valuePtr;
}

Tcl_Obj *
NsTclCacheValueObj(const NsTclCacheValue *valuePtr)
{
    return Tcl_NewStringObj(valuePtr->text, (int) valuePtr->length);
}

void
NsTclCacheWorkBegin(NsTclCacheWork *workPtr, const NsTclCache *cachePtr,
                    const char *key)
{
    *workPtr = (NsTclCacheWork){
        .outerPtr = innermostWorkPtr, .cachePtr = cachePtr, .key = key};
    innermostWorkPtr = workPtr;
}

void
NsTclCacheWorkEnd(const NsTclCacheWork *workPtr)
{
    NsAssert(innermostWorkPtr == workPtr);
    innermostWorkPtr = workPtr->outerPtr;
}

bool
NsTclCacheWorkHas(const NsTclCache *cachePtr, const char *key)
{
    const NsTclCacheWork *workPtr = innermostWorkPtr;

    while (workPtr != NULL
           && (workPtr->cachePtr != cachePtr || !STREQ(workPtr->key, key))) {
        workPtr = workPtr->outerPtr;
    }
    return workPtr != NULL;
}

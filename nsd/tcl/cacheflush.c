/* SPDX-License-Identifier: MPL-2.0
 * cacheflush.c --
 *
 *      Flushing caches of scripts, here and on other machines.
 */

#include "tcl/cacheflush.h"

#include "ns.h"
#include "base/assert.h"
#include "base/cache.h"
#include "base/lock.h"
#include "tcl/cachetxn.h"

static NsBroadcastProc FlushForOthers;
static int FlushKeys(NsTclCache *cachePtr, const NsBroadcastKeys *keysPtr);
static int FlushValues(NsTclCache *cachePtr, const char *pattern, bool isGlob);

void
NsCacheFlushInit(void)
{
    NsBroadcastSetProc(NS_BROADCAST_CACHE, FlushForOthers);
}

int
NsCacheFlush(NsServer *serverPtr, NsTclCache *cachePtr,
             const NsBroadcastKeys *keysPtr)
{
    const char *channel;
    int         nFlushed;

    Ns_CacheLock(cachePtr->cache);
    nFlushed = FlushKeys(cachePtr, keysPtr);
    channel = cachePtr->settings.channel;
    Ns_CacheUnlock(cachePtr->cache);
    NsBroadcastTell(serverPtr, channel, NS_BROADCAST_CACHE, cachePtr->name,
                    keysPtr);
    return nFlushed;
}

static void
FlushForOthers(NsServer *serverPtr, const char *name,
               const NsBroadcastKeys *keysPtr)
{
    NsTclCache *cachePtr = NsTclCacheFind(serverPtr, name);

    NsAssert(cachePtr != NULL);
    Ns_CacheLock(cachePtr->cache);
    (void) FlushKeys(cachePtr, keysPtr);
    Ns_CacheUnlock(cachePtr->cache);
}

static int
FlushKeys(NsTclCache *cachePtr, const NsBroadcastKeys *keysPtr)
{
    int nFlushed = 0;

    if (keysPtr->n == 0) {
        return NsCacheTxnFlush(cachePtr, NULL, false)
            + FlushValues(cachePtr, NULL, false);
    }
    for (TCL_SIZE_T i = 0; i < keysPtr->n; i++) {
        const char *key = keysPtr->keys[i];

        nFlushed += NsCacheTxnFlush(cachePtr, key, keysPtr->isGlob)
            + FlushValues(cachePtr, key, keysPtr->isGlob);
    }
    return nFlushed;
}

/*
 * With the cache locked: remove the value of a key, those that match a pattern,
 * or all.  Those that are in the making then will not be kept.
 */
static int
FlushValues(NsTclCache *cachePtr, const char *pattern, bool isGlob)
{
    Ns_CacheSearch search;
    Ns_Entry      *entry;
    int            nFlushed = 0;

    cachePtr->nFlushes++;
    NsCacheDisown(cachePtr->cache, pattern, isGlob);
    if (pattern == NULL) {
        return Ns_CacheFlush(cachePtr->cache);
    }
    if (!isGlob) {
        entry = Ns_CacheFindEntry(cachePtr->cache, pattern);
        if (entry == NULL) {
            return 0;
        }
        Ns_CacheFlushEntry(entry);
        return 1;
    }
    for (entry = Ns_CacheFirstEntry(cachePtr->cache, &search); entry != NULL;
         entry = Ns_CacheNextEntry(&search)) {
        if (Tcl_StringMatch(Ns_CacheKey(entry), pattern)) {
            Ns_CacheFlushEntry(entry);
            nFlushed++;
        }
    }
    return nFlushed;
}

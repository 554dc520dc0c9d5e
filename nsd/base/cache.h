/* SPDX-License-Identifier: MPL-2.0
 * cache.h --
 *
 *      What the server needs of caches beyond nscache.h.
 */

#ifndef NSD_BASE_CACHE_H
#define NSD_BASE_CACHE_H

#include "nscache.h"

/*
 * The caller holds the cache's lock.
 */

/*
 * How often the entry's value was found since it was set.
 */
int NsCacheGetUses(Ns_Entry *entry);

/*
 * As Ns_CacheCreateEntry, without counting: for a caller that was counted when
 * it found the entry first.
 */
Ns_Entry *NsCacheEnterAgain(Ns_Cache *cache, const char *key, int *isNewPtr);

/*
 * What entries are being filled with is out of date: those with the key, or
 * that match the glob, or all for NULL.  Whoever fills one asks when the value
 * is there, and deletes the entry instead of setting it; then those who wait
 * for it make a value anew.
 */
void NsCacheDisown(Ns_Cache *cache, const char *pattern, bool isGlob);
bool NsCacheIsDisowned(Ns_Entry *entry);

/*
 * Count a value that a transaction has put into the cache, or discarded.  The
 * statistics speak of transactions when there were any.
 */
void NsCacheCountTransaction(Ns_Cache *cache, bool isCommit);

/*
 * The sum of sizes at which old entries go, 0 for no limit, and the sum now.  A
 * smaller limit prunes at once.
 */
size_t NsCacheGetMaxSize(Ns_Cache *cache);
size_t NsCacheGetSize(Ns_Cache *cache);
void   NsCacheSetMaxSize(Ns_Cache *cache, size_t maxSize);

#endif

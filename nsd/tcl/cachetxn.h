/* SPDX-License-Identifier: MPL-2.0
 * cachetxn.h --
 *
 *      Transactions of script caches.
 *
 *      Between begin and commit, what a thread stores is its own: others see
 *      the caches as they were.  Transactions nest; what an inner one commits
 *      belongs to the outer one, and the outermost puts it into the caches.
 *      Each thread has its own transactions; all functions are about those of
 *      the calling thread.
 */

#ifndef NSD_TCL_CACHETXN_H
#define NSD_TCL_CACHETXN_H

#include "tcl/tclcache.h"

bool NsCacheTxnIsActive(void);

/*
 * Its number, which rises with each of the process; 0: there are too many
 * inside of each other.
 */
uint64_t NsCacheTxnBegin(void);

/*
 * End the innermost transaction, or all.  The number of values that went to
 * the caches or to the outer transaction; that were discarded.
 */
int NsCacheTxnCommit(bool isAll);
int NsCacheTxnRollback(bool isAll);

/*
 * An interpreter has done its work: roll back, with a Warning, what it left.
 */
void NsCacheTxnAbandon(void);

/*
 * The value that a transaction holds for a key, valid until the thread's next
 * call; NULL if there is none.
 */
const NsTclCacheValue *NsCacheTxnFind(const NsTclCache *cachePtr,
                                      const char       *key);

/*
 * Hold a copy of the text in the innermost transaction.  Times and cost are
 * those of NsTclCacheStore, which is called at the commit.  With nFlushesPtr,
 * the number of flushes of the cache before the value was computed, it is
 * stored only if there was none since.
 */
void NsCacheTxnStore(NsTclCache *cachePtr, const char *key, const char *text,
                     size_t length, const Ns_Time *expiresPtr, int cost,
                     const uint64_t *nFlushesPtr);

/*
 * Forget the values whose key matches the glob, or is the key, or all (NULL);
 * how many there were.
 */
int NsCacheTxnFlush(const NsTclCache *cachePtr, const char *pattern,
                    bool isGlob);

/*
 * Append the keys that match, each once, as list elements.
 */
void NsCacheTxnKeys(const NsTclCache *cachePtr, const char *pattern,
                    bool isGlob, Ns_DString *dsPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * nscache.h --
 *
 *      Size- and time-limited stores of key and value.
 *
 *      All functions from Ns_CacheFindEntry on need the cache to be locked by
 *      the caller.  Entries are borrowed: valid until the lock is released or
 *      they are deleted; but an entry that its creator has not yet given a
 *      value stays the creator's, across unlocking, until it sets one or
 *      deletes the entry.
 */

#ifndef NSCACHE_H
#define NSCACHE_H

#include "nstypes.h"

/*
 * keys is TCL_STRING_KEYS, TCL_ONE_WORD_KEYS, or a number of ints.  Values live
 * ttl seconds unless set with a time of their own; when the sum of their sizes
 * exceeds maxSize, the least recently used are dropped.  0 is no limit.
 * freeProc (may be NULL) gets the dropped values, with the cache locked.
 */
NS_EXTERN Ns_Cache *Ns_CacheCreate(const char *name, int keys, time_t ttl,
                                   Ns_Callback *freeProc);
NS_EXTERN Ns_Cache *Ns_CacheCreateSz(const char *name, int keys, size_t maxSize,
                                     Ns_Callback *freeProc);
NS_EXTERN Ns_Cache *Ns_CacheCreateEx(const char *name, int keys, time_t ttl,
                                     size_t maxSize, Ns_Callback *freeProc);

/*
 * Free the cache and all values.  No thread may use it afterwards.
 */
NS_EXTERN void Ns_CacheDestroy(Ns_Cache *cache);

/*
 * The lock of the cache.  TryLock does not wait: NS_TIMEOUT if another thread
 * has it.
 */
NS_EXTERN void Ns_CacheLock(Ns_Cache *cache);
NS_EXTERN int  Ns_CacheTryLock(Ns_Cache *cache);
NS_EXTERN void Ns_CacheUnlock(Ns_Cache *cache);

/*
 * An entry with a value that has not expired, now the most recently used; or
 * NULL.
 */
NS_EXTERN Ns_Entry *Ns_CacheFindEntry(Ns_Cache *cache, const char *key);

/*
 * Find or create.  *isNewPtr 1: the entry has no value, because there was none
 * or it had expired; the caller sets one or deletes the entry.  0: the entry is
 * another's, and its value NULL as long as that other has not set it.
 */
NS_EXTERN Ns_Entry *Ns_CacheCreateEntry(Ns_Cache *cache, const char *key,
                                        int *isNewPtr);

/*
 * The same, but wait for the value that another thread is about to set; if that
 * deletes the entry instead, it becomes the caller's task.  NULL when the time
 * has passed; no time is no limit.
 */
NS_EXTERN Ns_Entry *Ns_CacheWaitCreateEntry(Ns_Cache *cache, const char *key,
                                            int *isNewPtr, Ns_Time *timeoutPtr);

/*
 * The content of an entry; the time of its expiry is {0, 0} for never.
 */
NS_EXTERN char    *Ns_CacheKey(Ns_Entry *entry);
NS_EXTERN void    *Ns_CacheGetValue(Ns_Entry *entry);
NS_EXTERN size_t   Ns_CacheGetSize(Ns_Entry *entry);
NS_EXTERN Ns_Time *Ns_CacheGetExpirey(Ns_Entry *entry);

/*
 * Give the entry a value, which is the cache's from then on; the old one is
 * freed.  Wakes those who wait for it, and prunes old entries, but never this
 * one.  cost is the microseconds that making the value took.
 */
NS_EXTERN void Ns_CacheSetValue(Ns_Entry *entry, void *value);
NS_EXTERN void Ns_CacheSetValueSz(Ns_Entry *entry, void *value, size_t size);
NS_EXTERN void Ns_CacheSetValueExpires(Ns_Entry *entry, void *value,
                                       size_t size, Ns_Time *expiresPtr,
                                       int cost);

/*
 * Free the value and keep the entry, which is the caller's to fill again.
 */
NS_EXTERN void Ns_CacheUnsetValue(Ns_Entry *entry);

/*
 * Remove the entry; Flush counts it as flushed.
 */
NS_EXTERN void Ns_CacheDeleteEntry(Ns_Entry *entry);
NS_EXTERN void Ns_CacheFlushEntry(Ns_Entry *entry);

/*
 * Remove all entries that have a value: how many had not expired.
 */
NS_EXTERN int Ns_CacheFlush(Ns_Cache *cache);

/*
 * Visit the entries that have a value, in no particular order.  The current
 * one may be deleted; none may be created in the meantime.
 */
NS_EXTERN Ns_Entry *Ns_CacheFirstEntry(Ns_Cache       *cache,
                                       Ns_CacheSearch *searchPtr);
NS_EXTERN Ns_Entry *Ns_CacheNextEntry(Ns_CacheSearch *searchPtr);

/*
 * The cache's condition, which is also signalled when an entry changes.
 */
NS_EXTERN void Ns_CacheWait(Ns_Cache *cache);
NS_EXTERN int  Ns_CacheTimedWait(Ns_Cache *cache, Ns_Time *timePtr);
NS_EXTERN void Ns_CacheSignal(Ns_Cache *cache);
NS_EXTERN void Ns_CacheBroadcast(Ns_Cache *cache);

/*
 * Append the statistics as a list of names and numbers; set them to 0.
 */
NS_EXTERN char *Ns_CacheStats(Ns_Cache *cache, Ns_DString *dsPtr);
NS_EXTERN void  Ns_CacheResetStats(Ns_Cache *cache);

/*
 * ------------------------------------------------------------ Transactions
 *
 * A value stored with a number other than 0, the epoch of a transaction, is
 * seen only by those whose stack has that number, until the entries of the
 * epoch are committed or rolled back; the others see what was there before, and
 * who waits for an entry waits for that.  The caller gives the numbers, each
 * once, and knows which transactions are inside which.  Deleting or flushing an
 * entry discards what transactions hold for it.
 */
#define NS_CACHE_MAX_TRANSACTION_DEPTH 16

typedef struct Ns_CacheTransactionStack {
    uintptr_t    stack[NS_CACHE_MAX_TRANSACTION_DEPTH]; /* Outermost first. */
    unsigned int depth;                                 /* How many count. */
} Ns_CacheTransactionStack;

/*
 * As the functions of these names without T; stackPtr may be NULL.
 */
NS_EXTERN Ns_Entry *Ns_CacheFindEntryT(
    Ns_Cache *cache, const char *key, const Ns_CacheTransactionStack *stackPtr);
NS_EXTERN Ns_Entry *Ns_CacheCreateEntryT(
    Ns_Cache *cache, const char *key, int *isNewPtr,
    const Ns_CacheTransactionStack *stackPtr);
NS_EXTERN Ns_Entry *Ns_CacheWaitCreateEntryT(
    Ns_Cache *cache, const char *key, int *isNewPtr, const Ns_Time *timeoutPtr,
    const Ns_CacheTransactionStack *stackPtr);
NS_EXTERN void     *Ns_CacheGetValueT(Ns_Entry                       *entry,
                                      const Ns_CacheTransactionStack *stackPtr);
NS_EXTERN Ns_Entry *Ns_CacheFirstEntryT(
    Ns_Cache *cache, Ns_CacheSearch *searchPtr,
    const Ns_CacheTransactionStack *stackPtr);
NS_EXTERN Ns_Entry *Ns_CacheNextEntryT(
    Ns_CacheSearch *searchPtr, const Ns_CacheTransactionStack *stackPtr);

/*
 * The later form of Ns_CacheSetValueExpires: a maxSize other than 0 is the
 * limit of the cache from then on; the value belongs to the transaction, 0 for
 * none, and replaces what one holds for the entry.
 */
NS_EXTERN void Ns_CacheSetValueExpires_33(Ns_Entry *entry, void *value,
                                          size_t         size,
                                          const Ns_Time *expiresPtr, int cost,
                                          size_t    maxSize,
                                          uintptr_t transactionEpoch);
#if NS_API_LEVEL >= 49933
#define Ns_CacheSetValueExpires Ns_CacheSetValueExpires_33
#endif

/*
 * Make the values of an epoch those of their entries, or discard them: their
 * number.  How many entries have a value of any transaction.
 */
NS_EXTERN unsigned long Ns_CacheCommitEntries(Ns_Cache *cache, uintptr_t epoch);
NS_EXTERN unsigned long Ns_CacheRollbackEntries(Ns_Cache *cache,
                                                uintptr_t epoch);
NS_EXTERN unsigned long Ns_CacheGetNrUncommittedEntries(Ns_Cache *cache);

#endif

/*
 * nscache.h --
 *
 *      Size- and time-limited stores of key and value.
 */

#ifndef NSCACHE_H
#define NSCACHE_H

#include "nstypes.h"


/*
 * Time-limited (ttl seconds) / size-limited (LRU) / both; free function
 * for values.
 */
NS_EXTERN Ns_Cache *Ns_CacheCreate(const char *, int, time_t, Ns_Callback *);
NS_EXTERN Ns_Cache *Ns_CacheCreateSz(const char *, int, size_t, Ns_Callback *);
NS_EXTERN Ns_Cache *Ns_CacheCreateEx(const char *, int, time_t, size_t, Ns_Callback *);

/*
 * Flush and free.
 */
NS_EXTERN void Ns_CacheDestroy(Ns_Cache *);

/*
 * Valid entry or NULL; moves to front.
 */
NS_EXTERN Ns_Entry *Ns_CacheFindEntry(Ns_Cache *, const char *);

/*
 * Find or create; new flag; expired counts as new.
 */
NS_EXTERN Ns_Entry *Ns_CacheCreateEntry(Ns_Cache *, const char *, int *);

/*
 * Same, but wait (absolute limit) while another thread fills it; NULL on
 * timeout.
 */
NS_EXTERN Ns_Entry *Ns_CacheWaitCreateEntry(Ns_Cache *, const char *, int *, Ns_Time *);

/*
 * Entry fields.
 */
NS_EXTERN char *Ns_CacheKey(Ns_Entry *);
NS_EXTERN void *Ns_CacheGetValue(Ns_Entry *);
NS_EXTERN size_t Ns_CacheGetSize(Ns_Entry *);
NS_EXTERN Ns_Time *Ns_CacheGetExpirey(Ns_Entry *);

/*
 * Replace value (size, absolute expiry, cost); prunes old entries.
 */
NS_EXTERN void Ns_CacheSetValue(Ns_Entry *, void *);
NS_EXTERN void Ns_CacheSetValueSz(Ns_Entry *, void *, size_t);
NS_EXTERN void Ns_CacheSetValueExpires(Ns_Entry *, void *, size_t, Ns_Time *, int);

/*
 * Free value, keep entry.
 */
NS_EXTERN void Ns_CacheUnsetValue(Ns_Entry *);

/*
 * Remove (second counts as flush).
 */
NS_EXTERN void Ns_CacheDeleteEntry(Ns_Entry *);
NS_EXTERN void Ns_CacheFlushEntry(Ns_Entry *);

/*
 * Remove all; count.
 */
NS_EXTERN int Ns_CacheFlush(Ns_Cache *);

/*
 * Iterate valid entries.
 */
NS_EXTERN Ns_Entry *Ns_CacheFirstEntry(Ns_Cache *, Ns_CacheSearch *);
NS_EXTERN Ns_Entry *Ns_CacheNextEntry(Ns_CacheSearch *);

/*
 * Cache mutex.
 */
NS_EXTERN void Ns_CacheLock(Ns_Cache *);
NS_EXTERN int Ns_CacheTryLock(Ns_Cache *);
NS_EXTERN void Ns_CacheUnlock(Ns_Cache *);

/*
 * Cache condition.
 */
NS_EXTERN void Ns_CacheWait(Ns_Cache *);
NS_EXTERN int Ns_CacheTimedWait(Ns_Cache *, Ns_Time *);
NS_EXTERN void Ns_CacheSignal(Ns_Cache *);
NS_EXTERN void Ns_CacheBroadcast(Ns_Cache *);

/*
 * Append / zero statistics.
 */
NS_EXTERN char *Ns_CacheStats(Ns_Cache *, Ns_DString *);
NS_EXTERN void Ns_CacheResetStats(Ns_Cache *);

#endif

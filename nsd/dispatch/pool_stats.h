/* SPDX-License-Identifier: MPL-2.0
 * pool_stats.h --
 *
 *      Figures and lists of pools.
 */

#ifndef NSD_DISPATCH_POOL_STATS_H
#define NSD_DISPATCH_POOL_STATS_H

#include "dispatch/pool.h"

/*
 * A request that a driver thread answers itself: gets poolPtr, id, queueStamp
 * and dequeueStamp, and counts as accepted without waiting.  Its spans are
 * counted by NsPoolCountSpans as those of others.
 */
void NsPoolCountDirect(NsPool *poolPtr, NsWork *workPtr);

/*
 * Add the spans of workPtr, whose endStamp is set, to sums and histograms; once
 * per request, later calls do nothing.  The trace time is added when traceStamp
 * is set.
 */
void NsPoolCountSpans(NsWork *workPtr);
void NsPoolCountTrace(NsWork *workPtr);

/*
 * Number work that no pool takes; NsPoolSubmit and NsPoolCountDirect number
 * what they take.
 */
void NsPoolNumber(NsServer *serverPtr, NsWork *workPtr);

/*
 * A request of the pool was answered with that status; 0: its connection was
 * closed without an answer.  Once for each request, also for one that the pool
 * has refused.
 */
void NsPoolCountStatus(NsPool *poolPtr, int status);

/*
 * A reply of this pool was handed to a writer thread; a reply of so many bytes
 * was sent; a request with a body of so many has come.
 */
void NsPoolCountSpool(NsPool *poolPtr);
void NsPoolCountSent(NsPool *poolPtr, int64_t bytes);
void NsPoolCountBody(NsPool *poolPtr, int64_t bytes);

/*
 * Flags for NsPoolList.
 */
#define NS_POOL_LIST_RUNNING   0x01u
#define NS_POOL_LIST_WAITING   0x02u
#define NS_POOL_LIST_FORWARDED 0x04u /* Clients as proxies name them. */
#define NS_POOL_LIST_LONG      0x08u /* A dict of each. */

/*
 * Facts, appended as Tcl lists.  NsPoolList: what runs, then what waits.
 * NsPoolStats: the eight keys, or the long form.  NsPoolHistogram: one dict per
 * span, of the pool, or of all pools of the server when poolPtr is NULL.
 * NsPoolBuckets: likewise, but the count and sum of each span, and for each of
 * some fixed bounds how many did not exceed it (to 3 %).  NsPoolStatuses:
 * likewise, a dict of the statuses that occurred and how often.  NsPoolSizes: a
 * dict of bodies and replies, in the form of NsPoolBuckets.  NsPoolRefused: how
 * many requests were not run, by reason.  NsPoolCancelled: how many were told
 * to end, by cause.  NsPoolAborted: how many replies broke off, by reason.
 */
void NsPoolAborted(Ns_DString *dsPtr, NsPool *poolPtr);
void NsPoolCancelled(Ns_DString *dsPtr, NsPool *poolPtr);
void NsPoolSizes(Ns_DString *dsPtr, NsPool *poolPtr);
void NsPoolRefused(Ns_DString *dsPtr, NsPool *poolPtr);
void NsPoolStatuses(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr);
void NsPoolNames(Ns_DString *dsPtr, NsServer *serverPtr);
void NsPoolList(Ns_DString *dsPtr, NsPool *poolPtr, unsigned flags);
void NsPoolStats(Ns_DString *dsPtr, NsPool *poolPtr, bool isLong);
void NsPoolThreads(Ns_DString *dsPtr, NsPool *poolPtr);
void NsPoolHistogram(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr);
void NsPoolBuckets(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr);

/*
 * Requests of all pools of all servers, now.
 */
typedef struct NsPoolLoad {
    int nRunning;
    int nWaiting;
} NsPoolLoad;

void NsPoolsGetLoad(NsPoolLoad *loadPtr);

/*
 * Requests accepted so far; length of the wait queue (held requests are not in
 * it).
 */
uint64_t NsPoolRequests(const NsPool *poolPtr);
int      NsPoolWaiting(const NsPool *poolPtr);

#endif

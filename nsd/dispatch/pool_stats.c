/*
 * pool_stats.c --
 *
 *      What a pool counts, and what it tells.
 *
 *      Counters are relaxed atomics: each is exact, and several read one after
 *      the other need not fit together to the last request.
 */

#include "ns.h"
#include "dispatch/pool_int.h"

static const char *const spanNames[NS_SPAN_COUNT] = {
    [NS_SPAN_ACCEPT] = "accept",
    [NS_SPAN_QUEUE]  = "queue",
    [NS_SPAN_FILTER] = "filter",
    [NS_SPAN_RUN]    = "run",
    [NS_SPAN_TRACE]  = "trace"
};

static void AddSpan(NsPool *poolPtr, NsSpan span, NsStamp from, NsStamp to);
static int  PinWaiting(NsPool *poolPtr, NsWork **workPtrs, int max);
static int  PinRunning(NsPool *poolPtr, NsWork **workPtrs, int max);
static void AppendWork(Ns_DString *dsPtr, NsPool *poolPtr, NsWork **workPtrs,
                       int nWorks, const char *state);
static void AppendSum(Ns_DString *dsPtr, NsPool *poolPtr, NsSpan span);
static void AppendDuration(Ns_DString *dsPtr, const char *key,
                           NsStamp duration);
static void AppendHistogram(Ns_DString *dsPtr, const NsHistogram *histogramPtr);

void
NsPoolCountDirect(NsPool *poolPtr, NsWork *workPtr)
{
    workPtr->poolPtr = poolPtr;
    workPtr->id = atomic_fetch_add(&poolPtr->serverPtr->poolsPtr->nextId, 1);
    workPtr->queueStamp = workPtr->dequeueStamp = NsClockNow();
    atomic_fetch_add_explicit(&poolPtr->nRequests, 1, memory_order_relaxed);
}

void
NsPoolCountSpans(NsWork *workPtr)
{
    NsPool  *poolPtr = workPtr->poolPtr;
    NsStamp  filterStamp = workPtr->filterStamp;

    if (workPtr->isCounted) {
        return;
    }
    workPtr->isCounted = true;
    if (filterStamp == 0) {
        filterStamp = workPtr->dequeueStamp;    /* Ended before the filters. */
    }
    AddSpan(poolPtr, NS_SPAN_ACCEPT, workPtr->acceptStamp, workPtr->queueStamp);
    AddSpan(poolPtr, NS_SPAN_QUEUE, workPtr->queueStamp, workPtr->dequeueStamp);
    AddSpan(poolPtr, NS_SPAN_FILTER, workPtr->dequeueStamp, filterStamp);
    AddSpan(poolPtr, NS_SPAN_RUN, filterStamp, workPtr->endStamp);
}

void
NsPoolCountTrace(NsWork *workPtr)
{
    AddSpan(workPtr->poolPtr, NS_SPAN_TRACE, workPtr->endStamp,
            workPtr->traceStamp);
}

static void
AddSpan(NsPool *poolPtr, NsSpan span, NsStamp from, NsStamp to)
{
    NsStamp duration = MAX(to - from, 0);

    atomic_fetch_add_explicit(&poolPtr->sums[span], duration,
                              memory_order_relaxed);
    NsHistogramRecord(poolPtr->histograms[span], duration);
}

void
NsPoolCountSpool(NsPool *poolPtr)
{
    atomic_fetch_add_explicit(&poolPtr->nSpools, 1, memory_order_relaxed);
}

void
NsPoolCountSent(NsPool *poolPtr, int64_t bytes)
{
    atomic_fetch_add_explicit(&poolPtr->nBytesSent, bytes,
                              memory_order_relaxed);
}

uint64_t
NsPoolRequests(const NsPool *poolPtr)
{
    return atomic_load_explicit(&poolPtr->nRequests, memory_order_relaxed);
}

int
NsPoolWaiting(const NsPool *poolPtr)
{
    return atomic_load_explicit(&poolPtr->nWaiting, memory_order_relaxed);
}

void
NsPoolNames(Ns_DString *dsPtr, NsServer *serverPtr)
{
    for (int i = serverPtr->poolsPtr->nPools - 1; i >= 0; i--) {
        Ns_DStringAppendElement(dsPtr, serverPtr->poolsPtr->pools[i]->name);
    }
}

/*
 * Works are pinned under the lock that keeps them in their place, and described
 * when it is released.
 */
void
NsPoolList(Ns_DString *dsPtr, NsPool *poolPtr, bool isRunning, bool isWaiting)
{
    NsWork **workPtrs;
    int      nRunning = 0, nWaiting = 0;

    /* No more than this are in the pool at a time. */
    workPtrs = ns_malloc((size_t) poolPtr->maxConnections * 2
                         * sizeof(*workPtrs));
    /* Waiting ones first: one that moves meanwhile is seen, not missed. */
    if (isWaiting) {
        nWaiting = PinWaiting(poolPtr, workPtrs, poolPtr->maxConnections);
    }
    if (isRunning) {
        nRunning = PinRunning(poolPtr, workPtrs + nWaiting,
                              poolPtr->maxConnections);
    }
    AppendWork(dsPtr, poolPtr, workPtrs + nWaiting, nRunning, "running");
    AppendWork(dsPtr, poolPtr, workPtrs, nWaiting, "queued");
    ns_free(workPtrs);
}

static int
PinWaiting(NsPool *poolPtr, NsWork **workPtrs, int max)
{
    int n = 0;

    Ns_MutexLock(&poolPtr->wqueue);
    for (NsWork *workPtr = poolPtr->waiting.firstPtr;
         workPtr != NULL && n < max; workPtr = workPtr->nextPtr) {
        atomic_fetch_add(&workPtr->nPins, 1);
        workPtrs[n++] = workPtr;
    }
    Ns_MutexUnlock(&poolPtr->wqueue);
    return n;
}

static int
PinRunning(NsPool *poolPtr, NsWork **workPtrs, int max)
{
    NsConnThread *threadPtr;
    int           n = 0;

    Ns_MutexLock(&poolPtr->threads);
    threadPtr = poolPtr->firstSlotPtr;
    Ns_MutexUnlock(&poolPtr->threads);

    for (; threadPtr != NULL && n < max; threadPtr = threadPtr->nextSlotPtr) {
        NsWork *workPtr = NsConnThreadPin(threadPtr);

        if (workPtr != NULL) {
            workPtrs[n++] = workPtr;
        }
    }
    return n;
}

static void
AppendWork(Ns_DString *dsPtr, NsPool *poolPtr, NsWork **workPtrs, int nWorks,
           const char *state)
{
    for (int i = 0; i < nWorks; i++) {
        nsPoolProcs.describeProc(dsPtr, workPtrs[i], state);
        NsPoolUnpin(poolPtr, workPtrs[i]);
    }
}

/*
 * The work may be gone when this returns, its pool never.
 */
void
NsPoolUnpin(NsPool *poolPtr, NsWork *workPtr)
{
    Ns_MutexLock(&poolPtr->threads);
    if (atomic_fetch_sub(&workPtr->nPins, 1) == 1) {
        Ns_CondBroadcast(&poolPtr->changed);
    }
    Ns_MutexUnlock(&poolPtr->threads);
}

void
NsPoolStats(Ns_DString *dsPtr, NsPool *poolPtr, bool isLong)
{
    Ns_DStringPrintf(dsPtr, "requests %" PRIu64 " spools %" PRIu64
                     " queued %" PRIu64,
                     NsPoolRequests(poolPtr), atomic_load(&poolPtr->nSpools),
                     atomic_load(&poolPtr->nQueued));
    if (isLong) {
        Ns_DStringPrintf(dsPtr, " dropped %" PRIu64 " sent %" PRId64,
                         atomic_load(&poolPtr->nDropped),
                         atomic_load(&poolPtr->nBytesSent));
    }
    Ns_DStringPrintf(dsPtr, " connthreads %" PRIu64,
                     atomic_load(&poolPtr->nThreadsMade));
    AppendSum(dsPtr, poolPtr, NS_SPAN_ACCEPT);
    AppendSum(dsPtr, poolPtr, NS_SPAN_QUEUE);
    AppendSum(dsPtr, poolPtr, NS_SPAN_FILTER);
    AppendSum(dsPtr, poolPtr, NS_SPAN_RUN);
    if (isLong) {
        AppendSum(dsPtr, poolPtr, NS_SPAN_TRACE);
    }
}

static void
AppendSum(Ns_DString *dsPtr, NsPool *poolPtr, NsSpan span)
{
    char key[16];

    snprintf(key, sizeof(key), "%stime", spanNames[span]);
    AppendDuration(dsPtr, key, atomic_load(&poolPtr->sums[span]));
}

static void
AppendDuration(Ns_DString *dsPtr, const char *key, NsStamp duration)
{
    Ns_DStringPrintf(dsPtr, " %s %" PRId64 ".%06" PRId64, key,
                     duration / NS_STAMP_SECOND,
                     duration % NS_STAMP_SECOND / 1000);
}

void
NsPoolThreads(Ns_DString *dsPtr, NsPool *poolPtr)
{
    int minThreads, maxThreads, nCurrent, nIdle;

    Ns_MutexLock(&poolPtr->tqueue);
    minThreads = poolPtr->minThreads;
    maxThreads = poolPtr->maxThreads;
    nCurrent = poolPtr->nCurrent;
    nIdle = poolPtr->nIdle;
    Ns_MutexUnlock(&poolPtr->tqueue);

    Ns_DStringPrintf(dsPtr, "min %d max %d current %d idle %d stopping 0",
                     minThreads, maxThreads, nCurrent, nIdle);
}

void
NsPoolHistogram(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr)
{
    for (int span = 0; span < NS_SPAN_COUNT; span++) {
        NsHistogram *sumPtr = NsHistogramCreate();
        NsPool      *eachPtr;

        for (int i = 0; (eachPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
            if (poolPtr == NULL || poolPtr == eachPtr) {
                NsHistogramAdd(sumPtr, eachPtr->histograms[span]);
            }
        }
        Ns_DStringAppendElement(dsPtr, spanNames[span]);
        Tcl_DStringStartSublist(dsPtr);
        AppendHistogram(dsPtr, sumPtr);
        Tcl_DStringEndSublist(dsPtr);
        NsHistogramDestroy(&sumPtr);
    }
}

static void
AppendHistogram(Ns_DString *dsPtr, const NsHistogram *histogramPtr)
{
    static const struct {
        const char *key;
        double      percent;
    } points[] = {
        {"p50", 50.0}, {"p90", 90.0}, {"p99", 99.0}, {"p999", 99.9}
    };

    Ns_DStringPrintf(dsPtr, "count %" PRIu64, NsHistogramCount(histogramPtr));
    AppendDuration(dsPtr, "mean", NsHistogramMean(histogramPtr));
    for (int i = 0; i < Ns_NrElements(points); i++) {
        AppendDuration(dsPtr, points[i].key,
                       NsHistogramPercentile(histogramPtr, points[i].percent));
    }
    AppendDuration(dsPtr, "max", NsHistogramMax(histogramPtr));
}

/* SPDX-License-Identifier: MPL-2.0
 * pool_stats.c --
 *
 *      The counters of a pool, and its lists.
 *
 *      Counters are relaxed atomics: each is exact, and several read one after
 *      the other need not fit together to the last request.
 */

#include "dispatch/pool_stats.h"
#include "ns.h"
#include "base/assert.h"
#include "dispatch/connthread_int.h"
#include "dispatch/pool_config.h"

static const char *const spanNames[NS_SPAN_COUNT] = {
    [NS_SPAN_ACCEPT] = "accept",
    [NS_SPAN_QUEUE] = "queue",
    [NS_SPAN_FILTER] = "filter",
    [NS_SPAN_RUN] = "run",
    [NS_SPAN_TRACE] = "trace"};

/*
 * Bounds for those who cannot ask for percentiles.
 */
static const struct {
    const char *text; /* Seconds. */
    NsStamp     stamp;
} bounds[] = {
    {"0.00001", 10000},
    {"0.000025", 25000},
    {"0.00005", 50000},
    {"0.0001", 100000},
    {"0.00025", 250000},
    {"0.0005", 500000},
    {"0.001", 1000000},
    {"0.0025", 2500000},
    {"0.005", 5000000},
    {"0.01", 10000000},
    {"0.025", 25000000},
    {"0.05", 50000000},
    {"0.1", 100000000},
    {"0.25", 250000000},
    {"0.5", 500000000},
    {"1", NS_STAMP_SECOND},
    {"2.5", 5 * NS_STAMP_SECOND / 2},
    {"5", 5 * NS_STAMP_SECOND},
    {"10", 10 * NS_STAMP_SECOND},
    {"30", 30 * NS_STAMP_SECOND},
    {"60", 60 * NS_STAMP_SECOND}};

#define FIRST_SIZE_BITS 6 /* The first bucket of sizes is below 64. */

#define N_BOUNDS ((int) (sizeof(bounds) / sizeof(bounds[0])))

/*
 * How many durations lie between each bound and the one before it; the last
 * number is of those beyond all bounds.
 */
typedef struct Buckets {
    uint64_t counts[N_BOUNDS + 1];
} Buckets;

/*
 * The list that describes works, and its form.
 */
typedef struct WorkList {
    Ns_DString *dsPtr;
    NsPool     *poolPtr;
    unsigned    flags; /* NS_POOL_LIST_... */
} WorkList;

static void CountSize(NsSizes *sizesPtr, int64_t bytes);
static void AppendSizes(Ns_DString *dsPtr, const char *key,
                        const NsSizes *sizesPtr);
static void AddSpan(NsPool *poolPtr, NsSpan span, NsStamp from, NsStamp to);
static int  PinWaiting(NsPool *poolPtr, NsWork **workPtrs, int max);
static int  CountRunning(NsPool *poolPtr);
static int  PinRunning(NsPool *poolPtr, NsWork **workPtrs, int max);
static void AppendWork(const WorkList *listPtr, NsWork **workPtrs, int nWorks,
                       const char *state);
static void AppendSum(Ns_DString *dsPtr, NsPool *poolPtr, NsSpan span);
static void AppendDuration(Ns_DString *dsPtr, const char *key,
                           NsStamp duration);
static void AppendSpans(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr,
                        void (*appendProc)(Ns_DString *, const NsHistogram *));
static void AppendHistogram(Ns_DString *dsPtr, const NsHistogram *histogramPtr);
static void AppendBuckets(Ns_DString *dsPtr, const NsHistogram *histogramPtr);
static NsHistogramVisitProc AddToBucket;

void
NsPoolCountDirect(NsPool *poolPtr, NsWork *workPtr)
{
    workPtr->poolPtr = poolPtr;
    NsPoolNumber(poolPtr->serverPtr, workPtr);
    workPtr->queueStamp = workPtr->dequeueStamp = NsClockNow();
    atomic_fetch_add_explicit(&poolPtr->nRequests, 1, memory_order_relaxed);
}

void
NsPoolNumber(NsServer *serverPtr, NsWork *workPtr)
{
    workPtr->id = atomic_fetch_add(&serverPtr->poolsPtr->nextId, 1);
}

void
NsPoolCountSpans(NsWork *workPtr)
{
    NsPool *poolPtr = workPtr->poolPtr;
    NsStamp filterStamp = workPtr->filterStamp;

    NsAssert(poolPtr != NULL && workPtr->endStamp != 0);
    if (workPtr->isCounted) {
        return;
    }
    workPtr->isCounted = true;
    if (filterStamp == 0) {
        filterStamp = workPtr->dequeueStamp; /* Ended before the filters. */
    }
    AddSpan(poolPtr, NS_SPAN_ACCEPT, workPtr->acceptStamp, workPtr->queueStamp);
    AddSpan(poolPtr, NS_SPAN_QUEUE, workPtr->queueStamp, workPtr->dequeueStamp);
    AddSpan(poolPtr, NS_SPAN_FILTER, workPtr->dequeueStamp, filterStamp);
    AddSpan(poolPtr, NS_SPAN_RUN, filterStamp, workPtr->endStamp);
}

void
NsPoolCountTrace(NsWork *workPtr)
{
    NsAssert(workPtr->isCounted && workPtr->traceStamp != 0);
    AddSpan(workPtr->poolPtr, NS_SPAN_TRACE, workPtr->endStamp,
            workPtr->traceStamp);
}

void
NsPoolCountStatus(NsPool *poolPtr, int status)
{
    int slot = status - NS_STATUS_FIRST + 1;

    NsAssert(poolPtr != NULL);
    if (slot < 0 || slot >= NS_STATUS_SLOTS) {
        slot = 0;
    }
    atomic_fetch_add_explicit(&poolPtr->statuses[slot], 1,
                              memory_order_relaxed);
}

void
NsPoolStatuses(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr)
{
    for (int slot = 0; slot < NS_STATUS_SLOTS; slot++) {
        uint64_t n = 0;
        NsPool  *eachPtr;

        for (int i = 0; (eachPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
            if (poolPtr == NULL || poolPtr == eachPtr) {
                n += atomic_load_explicit(&eachPtr->statuses[slot],
                                          memory_order_relaxed);
            }
        }
        if (n > 0) {
            Ns_DStringPrintf(dsPtr, "%s%d %" PRIu64,
                             Ns_DStringLength(dsPtr) > 0 ? " " : "",
                             slot == 0 ? 0 : slot - 1 + NS_STATUS_FIRST, n);
        }
    }
}

static void
AddSpan(NsPool *poolPtr, NsSpan span, NsStamp from, NsStamp to)
{
    NsCheck(from <= to);
    NsHistogramRecord(poolPtr->histograms[span], to - from);
}

void
NsPoolCountSpool(NsPool *poolPtr)
{
    atomic_fetch_add_explicit(&poolPtr->nSpools, 1, memory_order_relaxed);
}

void
NsPoolCountSent(NsPool *poolPtr, int64_t bytes)
{
    CountSize(&poolPtr->replies, bytes);
}

void
NsPoolCountBody(NsPool *poolPtr, int64_t bytes)
{
    CountSize(&poolPtr->bodies, bytes);
}

/*
 * A number of n bits is below 2^n.
 */
static void
CountSize(NsSizes *sizesPtr, int64_t bytes)
{
    int bits = 64 - __builtin_clzll((uint64_t) bytes | 1u);
    int i = bits <= FIRST_SIZE_BITS ? 0 : (bits - FIRST_SIZE_BITS + 1) / 2;

    NsAssert(bytes >= 0);
    atomic_fetch_add_explicit(&sizesPtr->buckets[MIN(i, NS_SIZE_BUCKETS - 1)],
                              1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sizesPtr->sum, bytes, memory_order_relaxed);
}

void
NsPoolSizes(Ns_DString *dsPtr, NsPool *poolPtr)
{
    AppendSizes(dsPtr, "body", &poolPtr->bodies);
    AppendSizes(dsPtr, "reply", &poolPtr->replies);
}

/*
 * What does not exceed a bound is less than the number behind it.
 */
static void
AppendSizes(Ns_DString *dsPtr, const char *key, const NsSizes *sizesPtr)
{
    uint64_t total = 0;
    int64_t  sum = atomic_load_explicit(&sizesPtr->sum, memory_order_relaxed);

    Ns_DStringAppendElement(dsPtr, key);
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringAppend(dsPtr, "buckets {");
    for (int i = 0; i < NS_SIZE_BUCKETS; i++) {
        total += atomic_load_explicit(&sizesPtr->buckets[i],
                                      memory_order_relaxed);
        if (i < NS_SIZE_BUCKETS - 1) {
            Ns_DStringPrintf(dsPtr, "%s%" PRId64 " %" PRIu64, i > 0 ? " " : "",
                             (INT64_C(1) << (FIRST_SIZE_BITS + 2 * i)) - 1,
                             total);
        }
    }
    Ns_DStringPrintf(dsPtr, "} count %" PRIu64 " sum %" PRId64, total, sum);
    Tcl_DStringEndSublist(dsPtr);
}

uint64_t
NsPoolRequests(const NsPool *poolPtr)
{
    return atomic_load_explicit(&poolPtr->nRequests, memory_order_relaxed);
}

void
NsPoolsGetLoad(NsPoolLoad *loadPtr)
{
    *loadPtr = (NsPoolLoad){0, 0};
    for (int i = 0; i < NsServerCount(); i++) {
        const struct NsPoolServer *poolsPtr = NsServerAt(i)->poolsPtr;

        NsAssert(poolsPtr != NULL && poolsPtr->nPools > 0);
        for (int j = 0; j < poolsPtr->nPools; j++) {
            loadPtr->nRunning += CountRunning(poolsPtr->pools[j]);
            loadPtr->nWaiting += NsPoolWaiting(poolsPtr->pools[j]);
        }
    }
}

/*
 * A slot without a thread runs nothing.
 */
static int
CountRunning(NsPool *poolPtr)
{
    const NsConnThread *threadPtr;
    int                 n = 0;

    for (threadPtr = NsConnThreadFirst(poolPtr); threadPtr != NULL;
         threadPtr = threadPtr->nextSlotPtr) {
        NsAssert(threadPtr->poolPtr == poolPtr);
        n += atomic_load(&threadPtr->runningPtr) != NULL;
    }
    return n;
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
NsPoolList(Ns_DString *dsPtr, NsPool *poolPtr, unsigned flags)
{
    WorkList list = {dsPtr, poolPtr, flags};
    NsWork **workPtrs;
    int      limit, nRunning = 0, nWaiting = 0;

    /* No more than this are in the pool at a time. */
    Ns_MutexLock(&poolPtr->tqueue);
    limit = poolPtr->placeLimit;
    Ns_MutexUnlock(&poolPtr->tqueue);
    workPtrs = ns_malloc((size_t) limit * 2 * sizeof(*workPtrs));
    /* Waiting ones first: one that moves meanwhile is seen, not missed. */
    if ((flags & NS_POOL_LIST_WAITING) != 0) {
        nWaiting = PinWaiting(poolPtr, workPtrs, limit);
    }
    if ((flags & NS_POOL_LIST_RUNNING) != 0) {
        nRunning = PinRunning(poolPtr, workPtrs + nWaiting, limit);
    }
    NsAssert(nWaiting <= limit && nRunning <= limit);
    AppendWork(&list, workPtrs + nWaiting, nRunning, "running");
    AppendWork(&list, workPtrs, nWaiting, "queued");
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

    for (threadPtr = NsConnThreadFirst(poolPtr); threadPtr != NULL && n < max;
         threadPtr = threadPtr->nextSlotPtr) {
        NsWork *workPtr = NsConnThreadPin(threadPtr);

        if (workPtr != NULL) {
            workPtrs[n++] = workPtr;
        }
    }
    return n;
}

static void
AppendWork(const WorkList *listPtr, NsWork **workPtrs, int nWorks,
           const char *state)
{
    for (int i = 0; i < nWorks; i++) {
        NsAssert(workPtrs[i]->nPins > 0);
        nsPoolProcs.describeProc(listPtr->dsPtr, workPtrs[i], state,
                                 listPtr->flags);
        NsPoolUnpin(listPtr->poolPtr, workPtrs[i]);
    }
}

void
NsPoolStats(Ns_DString *dsPtr, NsPool *poolPtr, bool isLong)
{
    Ns_DStringPrintf(dsPtr,
                     "requests %" PRIu64 " spools %" PRIu64 " queued %" PRIu64,
                     NsPoolRequests(poolPtr), atomic_load(&poolPtr->nSpools),
                     atomic_load(&poolPtr->nQueued));
    if (isLong) {
        Ns_DStringPrintf(dsPtr, " dropped %" PRIu64 " sent %" PRId64,
                         atomic_load(&poolPtr->nDropped),
                         atomic_load(&poolPtr->replies.sum));
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
    AppendDuration(dsPtr, key, NsHistogramSum(poolPtr->histograms[span]));
}

static void
AppendDuration(Ns_DString *dsPtr, const char *key, NsStamp duration)
{
    Ns_DStringPrintf(dsPtr, " %s %" PRId64 ".%06" PRId64, key,
                     duration / NS_STAMP_SECOND,
                     duration % NS_STAMP_SECOND / 1000);
}

void
NsPoolRefused(Ns_DString *dsPtr, NsPool *poolPtr)
{
    Ns_DStringPrintf(dsPtr,
                     "timeout %" PRIu64 " abandoned %" PRIu64
                     " unfair %" PRIu64,
                     atomic_load(&poolPtr->nTimeouts),
                     atomic_load(&poolPtr->nAbandoned),
                     atomic_load(&poolPtr->nUnfair));
}

void
NsPoolCancelled(Ns_DString *dsPtr, NsPool *poolPtr)
{
    Ns_DStringPrintf(dsPtr,
                     "command %" PRIu64 " maxruntime %" PRIu64
                     " client %" PRIu64,
                     atomic_load(&poolPtr->nCancelled[NS_CANCEL_COMMAND]),
                     atomic_load(&poolPtr->nCancelled[NS_CANCEL_TIME]),
                     atomic_load(&poolPtr->nCancelled[NS_CANCEL_CLIENT]));
}

void
NsPoolAborted(Ns_DString *dsPtr, NsPool *poolPtr)
{
    NsAbortsAppend(dsPtr, poolPtr->replyGroup.nAborted);
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
    AppendSpans(dsPtr, serverPtr, poolPtr, AppendHistogram);
}

void
NsPoolBuckets(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr)
{
    AppendSpans(dsPtr, serverPtr, poolPtr, AppendBuckets);
}

static void
AppendSpans(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr,
            void (*appendProc)(Ns_DString *, const NsHistogram *))
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
        appendProc(dsPtr, sumPtr);
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
    } points[] = {{"p50", 50.0}, {"p90", 90.0}, {"p99", 99.0}, {"p999", 99.9}};

    Ns_DStringPrintf(dsPtr, "count %" PRIu64, NsHistogramCount(histogramPtr));
    AppendDuration(dsPtr, "mean", NsHistogramMean(histogramPtr));
    for (int i = 0; i < Ns_NrElements(points); i++) {
        AppendDuration(dsPtr, points[i].key,
                       NsHistogramPercentile(histogramPtr, points[i].percent));
    }
    AppendDuration(dsPtr, "max", NsHistogramMax(histogramPtr));
}

/*
 * The count is that of the buckets, so that they fit together while requests
 * are being counted.
 */
static void
AppendBuckets(Ns_DString *dsPtr, const NsHistogram *histogramPtr)
{
    Buckets  buckets = {.counts = {0}};
    uint64_t total = 0;

    NsHistogramVisit(histogramPtr, AddToBucket, &buckets);
    for (int i = 0; i <= N_BOUNDS; i++) {
        total += buckets.counts[i];
    }
    Ns_DStringPrintf(dsPtr, "count %" PRIu64, total);
    AppendDuration(dsPtr, "sum", NsHistogramSum(histogramPtr));
    Ns_DStringAppend(dsPtr, " buckets {");
    total = 0;
    for (int i = 0; i < N_BOUNDS; i++) {
        total += buckets.counts[i];
        Ns_DStringPrintf(dsPtr, "%s%s %" PRIu64, i > 0 ? " " : "",
                         bounds[i].text, total);
    }
    Ns_DStringAppend(dsPtr, "}");
}

/*
 * A bucket that reaches beyond a bound belongs to the next one.
 */
static void
AddToBucket(NsStamp upper, uint64_t count, void *arg)
{
    Buckets *bucketsPtr = arg;
    int      i = 0;

    NsAssert(upper >= 0);
    while (i < N_BOUNDS && upper > bounds[i].stamp) {
        i++;
    }
    bucketsPtr->counts[i] += count;
}

/* SPDX-License-Identifier: MPL-2.0
 * routes.c --
 *
 *      Figures of each route of a server.
 *
 *      Counters are relaxed atomics, as those of pools: each is exact, and
 *      several read one after the other need not fit together to the last
 *      request.
 */

#include "request/routes.h"

#include "base/assert.h"
#include "base/chars.h"
#include "base/lock.h"
#include "nsstring.h"
#include "nsthread.h"
#include "request/reqserver.h"

#define N_CLASSES 6 /* No reply, then by the first digit of the status. */
#define N_BUCKETS 22
#define FIRST_BIT 14 /* The first bucket is of less than 16.4 us. */
#define N_CHAINS  256u

/*
 * Bucket i is of run times below 2 to the power of FIRST_BIT + i nanoseconds,
 * the last one of all that are longer.
 */
struct NsRoute {
    NsRoute         *nextPtr; /* Made before it.  Constant, as the next. */
    NsRoute         *chainPtr;
    uint32_t         hash;
    _Atomic uint64_t classes[N_CLASSES];
    _Atomic uint64_t buckets[N_BUCKETS];
    _Atomic int64_t  bytesSent;
    _Atomic NsStamp  runSum;
    _Atomic NsStamp  longest;
    char             name[];
};

typedef struct NsRoutes {
    NsRoute *filesPtr; /* These three are constant. */
    NsRoute *nonePtr;
    NsRoute *otherPtr;

    Ns_Mutex lock; /* Guards the rest. */
    NsRoute *lastPtr;
    NsRoute *chains[N_CHAINS]; /* By hash. */
    int      n;                /* But for these three. */
} NsRoutes;

static NsRoute *AddLocked(NsRoutes *routesPtr, const char *name);
static void     Append(Ns_DString *dsPtr, const NsRoute *routePtr);
static void     AppendTime(Ns_DString *dsPtr, const char *key, NsStamp time);
static NsStamp  Percentile(const uint64_t *buckets, uint64_t n, int percent);

void
NsRoutesServerInit(NsServer *serverPtr)
{
    NsRoutes *routesPtr = ns_calloc(1, sizeof(*routesPtr));

    NsMutexSetup(&routesPtr->lock, NS_RANK_ROUTES, "nsd:routes",
                 serverPtr->name);
    Ns_MutexLock(&routesPtr->lock);
    routesPtr->filesPtr = AddLocked(routesPtr, "static");
    routesPtr->nonePtr = AddLocked(routesPtr, "none");
    routesPtr->otherPtr = AddLocked(routesPtr, "other");
    routesPtr->n = 0;
    Ns_MutexUnlock(&routesPtr->lock);
    serverPtr->requestPtr->routesPtr = routesPtr;
}

NsRoute *
NsRouteFind(const NsServer *serverPtr, const char *name)
{
    NsRoutes *routesPtr = serverPtr->requestPtr->routesPtr;
    uint32_t  hash = NsHash(name);
    NsRoute  *routePtr;

    Ns_MutexLock(&routesPtr->lock);
    routePtr = routesPtr->chains[hash % N_CHAINS];
    while (routePtr != NULL
           && (routePtr->hash != hash || !STREQ(routePtr->name, name))) {
        routePtr = routePtr->chainPtr;
    }
    if (routePtr == NULL) {
        routePtr = routesPtr->n < serverPtr->requestPtr->maxRoutes
            ? AddLocked(routesPtr, name)
            : routesPtr->otherPtr;
    }
    Ns_MutexUnlock(&routesPtr->lock);
    return routePtr;
}

static NsRoute *
AddLocked(NsRoutes *routesPtr, const char *name)
{
    size_t    length = strlen(name) + 1;
    uint32_t  hash = NsHash(name);
    NsRoute  *routePtr = ns_calloc(1, sizeof(*routePtr) + length);
    NsRoute **chainPtrPtr = &routesPtr->chains[hash % N_CHAINS];

    NsAssertLocked(&routesPtr->lock);
    memcpy(routePtr->name, name, length);
    routePtr->hash = hash;
    routePtr->chainPtr = *chainPtrPtr;
    *chainPtrPtr = routePtr;
    routePtr->nextPtr = routesPtr->lastPtr;
    routesPtr->lastPtr = routePtr;
    routesPtr->n++;
    return routePtr;
}

NsRoute *
NsRouteOfFiles(const NsServer *serverPtr)
{
    return serverPtr->requestPtr->routesPtr->filesPtr;
}

/*
 * A time of n bits is below 2 to the power of n.
 */
void
NsRouteCount(const NsServer *serverPtr, NsRoute *routePtr,
             const NsRouteRequest *requestPtr)
{
    NsStamp runTime = requestPtr->runTime;
    unsigned class = (unsigned) requestPtr->status / 100u;
    int bits = 64 - __builtin_clzll((uint64_t) runTime | 1u);

    NsAssert(runTime >= 0 && requestPtr->bytesSent >= 0);
    if (unlikely(routePtr == NULL)) {
        routePtr = serverPtr->requestPtr->routesPtr->nonePtr;
    }
    if (unlikely(class >= N_CLASSES)) {
        class = 0;
    }
    bits = MAX(0, MIN(bits - FIRST_BIT, N_BUCKETS - 1));
    atomic_fetch_add_explicit(&routePtr->classes[class], 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&routePtr->buckets[bits], 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&routePtr->bytesSent, requestPtr->bytesSent,
                              memory_order_relaxed);
    if (runTime > 0) { /* That of files is 0. */
        NsStamp longest = atomic_load_explicit(&routePtr->longest,
                                               memory_order_relaxed);

        atomic_fetch_add_explicit(&routePtr->runSum, runTime,
                                  memory_order_relaxed);
        while (unlikely(runTime > longest)
               && !atomic_compare_exchange_weak_explicit(
                   &routePtr->longest, &longest, runTime, memory_order_relaxed,
                   memory_order_relaxed)) {
        }
    }
}

/*
 * The list only grows at its head, so what is behind that stays as it is.
 */
void
NsRoutesList(Ns_DString *dsPtr, const NsServer *serverPtr)
{
    NsRoutes      *routesPtr = serverPtr->requestPtr->routesPtr;
    const NsRoute *routePtr;

    Ns_MutexLock(&routesPtr->lock);
    routePtr = routesPtr->lastPtr;
    Ns_MutexUnlock(&routesPtr->lock);
    for (; routePtr != NULL; routePtr = routePtr->nextPtr) {
        Append(dsPtr, routePtr);
    }
}

static void
Append(Ns_DString *dsPtr, const NsRoute *routePtr)
{
    static const char *const names[N_CLASSES] = {
        "none", "1xx", "2xx", "3xx", "4xx", "5xx"};
    uint64_t classes[N_CLASSES], buckets[N_BUCKETS], nRequests = 0, nTimes = 0;

    for (int i = 0; i < N_CLASSES; i++) {
        classes[i] = atomic_load_explicit(&routePtr->classes[i],
                                          memory_order_relaxed);
        nRequests += classes[i];
    }
    for (int i = 0; i < N_BUCKETS; i++) {
        buckets[i] = atomic_load_explicit(&routePtr->buckets[i],
                                          memory_order_relaxed);
        nTimes += buckets[i];
    }
    if (nRequests == 0) {
        return;
    }
    Tcl_DStringAppendElement(dsPtr, routePtr->name);
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringPrintf(dsPtr, "requests %" PRIu64, nRequests);
    for (int i = 0; i < N_CLASSES; i++) {
        Ns_DStringPrintf(dsPtr, " %s %" PRIu64, names[i], classes[i]);
    }
    Ns_DStringPrintf(dsPtr, " bytes %" PRId64,
                     atomic_load_explicit(&routePtr->bytesSent,
                                          memory_order_relaxed));
    AppendTime(dsPtr, "run",
               atomic_load_explicit(&routePtr->runSum, memory_order_relaxed));
    AppendTime(dsPtr, "p50", Percentile(buckets, nTimes, 50));
    AppendTime(dsPtr, "p99", Percentile(buckets, nTimes, 99));
    AppendTime(dsPtr, "max",
               atomic_load_explicit(&routePtr->longest, memory_order_relaxed));
    Tcl_DStringEndSublist(dsPtr);
}

static void
AppendTime(Ns_DString *dsPtr, const char *key, NsStamp time)
{
    Ns_DStringPrintf(dsPtr, " %s %" PRId64 ".%06" PRId64, key,
                     time / NS_STAMP_SECOND, time % NS_STAMP_SECOND / 1000);
}

/*
 * The middle of the bucket that it is in: three quarters of its upper bound.
 */
static NsStamp
Percentile(const uint64_t *buckets, uint64_t n, int percent)
{
    uint64_t before = 0;
    int      i = 0;

    while (i < N_BUCKETS - 1
           && (before + buckets[i]) * 100u < n * (uint64_t) percent) {
        before += buckets[i++];
    }
    return n == 0 ? 0 : (INT64_C(3) << (FIRST_BIT + i)) / 4;
}

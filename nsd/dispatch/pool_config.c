/* SPDX-License-Identifier: MPL-2.0
 * pool_config.c --
 *
 *      Pools as the configuration describes them, and what can be changed
 *      later.
 */

#include "dispatch/pool_config.h"
#include "ns.h"
#include "dispatch/grow.h"
#include "dispatch/pool_check.h"
#include "dispatch/share.h"
#include "process/parameter_judge.h"
#include "process/setting.h"

static void AddPool(NsServer *serverPtr, const char *name, const char *section);
static NsParameterAdjustProc AdjustMaxThreads, AdjustMinThreads;
static NsParameterAdjustProc AdjustConnsPerThread;
static void                  ComputeWater(NsPool *poolPtr);
static void                  SetRates(NsPool *poolPtr);
static int                   Water(const NsPool *poolPtr, int percent);
static void                  SetupLocks(NsPool *poolPtr);
static NsSettingListProc     ListSections;
static NsSettingProc         AccessPool;

#define POOLS "ns/server/*/pool/*"
#define ANY   NS_PARAM_NO_LIMIT
#define LIVE  .settingProc = AccessPool

static const NsParameter rows[] = {
    NS_INT(NsPool, maxConnections, "maxconnections", "100", 1, ANY,
           "Requests that the pool holds, running and waiting.", LIVE),
    NS_INT(NsPool, maxThreads, "maxthreads", "10", 1, ANY,
           "Maximum number of connection threads; at most maxconnections.",
           .adjustProc = AdjustMaxThreads, LIVE),
    NS_INT(NsPool, minThreads, "minthreads", "1", 1, ANY,
           "Minimum number of connection threads; at most maxthreads.",
           .adjustProc = AdjustMinThreads, LIVE),
    NS_INT(
        NsPool, connsPerThread, "connsperthread", "10000", 0, ANY,
        "Requests after which a thread ends; 0 = never. Other pools default to "
        "the value in the server's section.",
        .adjustProc = AdjustConnsPerThread, LIVE),
    NS_TIME(
        NsPool, threadTimeout, "threadtimeout", "120", 0, ANY,
        "A thread beyond minthreads ends when it has been idle for this long.",
        LIVE),
    NS_INT(NsPool, lowPercent, "lowwatermark", "10", 0, 100,
           "No thread is created while the queue is below this percentage.",
           LIVE),
    NS_INT(NsPool, highPercent, "highwatermark", "80", 0, 100,
           "Above this percentage several are created at the same time.", LIVE),
    NS_TIME(NsPool, patience, "queuepatience", "0.1s", 0, ANY,
            "A request that has waited this long gets a new thread; 0 = off.",
            LIVE),
    NS_TIME(NsPool, queueTimeout, "queuetimeout", "0", 0, ANY,
            "A request that has waited this long for a thread gets 503; 0 = "
            "off.",
            LIVE),
    NS_TIME(NsPool, skipAbandoned, "skipabandoned", "2s", 0, ANY,
            "A request that has waited longer for a thread is not run if its "
            "client has left; 0 = off.",
            LIVE),
    NS_BOOL(NsPool, cancelAbandoned, "cancelabandoned", "false",
            "A running request is cancelled when its client has left.", LIVE),
    NS_TIME(NsPool, maxRuntime, "maxruntime", "0", 0, ANY,
            "A request that has run this long is cancelled and gets 503; 0 = "
            "off.",
            LIVE),
    NS_INT(
        NsPool, maxStuck, "maxstuck", "4", 0, ANY,
        "Up to this many requests that still hang 5 s later are not counted: "
        "the pool may start other threads for them.",
        LIVE),
    NS_BOOL(NsPool, rejectOverrun, "rejectoverrun", "false",
            "A full pool answers 503 instead of letting requests wait.", LIVE),
    NS_TIME(NsPool, retryAfter, "retryafter", "5s", 0, ANY,
            "Retry-After of that answer.", LIVE),
    NS_INT(NsPool, rateKb, "poolratelimit", "0", 0, ANY,
           "Limit in kB/s for all replies of the pool that writers send; 0 = "
           "none.",
           LIVE),
    NS_INT(NsPool, connectionRateKb, "connectionratelimit", "0", 0, ANY,
           "Limit in kB/s for each of these replies; 0 = none.", LIVE),
    NS_INT(NsPool, maxRunPerPeer, "maxrunperpeer", "0", 0, ANY,
           "Requests of one client in the pool at a time; further ones wait "
           "without holding up others; 0 = no limit.",
           LIVE),
    NS_INT(NsPool, maxWaitPerPeer, "maxwaitperpeer", "0", 0, ANY,
           "Requests of one client that wait for a thread; further ones get "
           "429; 0 = no limit.",
           LIVE),
    NS_IGNORED("spread", "Obsolete, ignored."),
    NS_PARAM_END};

void
NsDispatchInit(void)
{
    NsParametersRegister("ns/server/*", rows, sizeof(NsPool));
    NsParametersRegister(POOLS, rows, sizeof(NsPool));
    NsSettingAddSections(ListSections);
    NsPoolInit();
}

void
NsPoolsInit(NsServer *serverPtr)
{
    Ns_DString ds;
    Ns_Set    *poolsPtr;

    NsAssert(serverPtr->poolsPtr == NULL);
    serverPtr->poolsPtr = ns_calloc(1, sizeof(*serverPtr->poolsPtr));
    AddPool(serverPtr, "", serverPtr->path);

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s/pools", serverPtr->path);
    poolsPtr = Ns_ConfigGetSection(ds.string);
    for (int i = 0; poolsPtr != NULL && i < Ns_SetSize(poolsPtr); i++) {
        const char *name = Ns_SetKey(poolsPtr, i);

        if (NsPoolFind(serverPtr, name) == NULL) {
            Ns_DStringSetLength(&ds, 0);
            Ns_DStringPrintf(&ds, "%s/pool/%s", serverPtr->path, name);
            AddPool(serverPtr, name, ds.string);
        }
    }
    Ns_DStringFree(&ds);
}

static void
AddPool(NsServer *serverPtr, const char *name, const char *section)
{
    struct NsPoolServer *poolsPtr = serverPtr->poolsPtr;
    NsPool              *poolPtr = ns_calloc(1, sizeof(*poolPtr));
    size_t               bytes;

    poolPtr->name = ns_strdup(name);
    poolPtr->section = ns_strdup(section);
    poolPtr->serverPtr = serverPtr;
    SetupLocks(poolPtr);
    NsParametersFill(rows, section, poolPtr);
    poolPtr->placeLimit = poolPtr->maxConnections;
    SetRates(poolPtr);
    ComputeWater(poolPtr);
    for (int i = 0; i < NS_SPAN_COUNT; i++) {
        poolPtr->histograms[i] = NsHistogramCreate();
    }
    Ns_Log(Notice, "%s%s%s: queueLength %d low water %d high water %d",
           serverPtr->name, *name != '\0' ? " pool " : "", name,
           poolPtr->maxConnections - poolPtr->maxThreads,
           Water(poolPtr, poolPtr->lowPercent),
           Water(poolPtr, poolPtr->highPercent));

    bytes = (size_t) (poolsPtr->nPools + 1) * sizeof(NsPool *);
    poolsPtr->pools = ns_realloc(poolsPtr->pools, bytes);
    poolsPtr->pools[poolsPtr->nPools++] = poolPtr;
    NsGrowAddPool(poolPtr);
}

static void
AdjustMaxThreads(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsPool *poolPtr = valuesPtr;

    limitsPtr->max = poolPtr->maxConnections;
    limitsPtr->maxName = "maxconnections";
}

static void
AdjustMinThreads(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsPool *poolPtr = valuesPtr;

    limitsPtr->max = poolPtr->maxThreads;
    limitsPtr->maxName = "maxthreads";
}

/*
 * The other pools take it from the default one.
 */
static void
AdjustConnsPerThread(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsServer *serverPtr = ((const NsPool *) valuesPtr)->serverPtr;

    if (serverPtr != NULL && serverPtr->poolsPtr->nPools > 0) {
        NsParameterDefault(limitsPtr,
                           serverPtr->poolsPtr->pools[0]->connsPerThread);
    }
}

/*
 * From percents of the queue's length to numbers of requests.  100 turns a rule
 * off: with threads still to be made, the queue can be longer than its length.
 */
static void
ComputeWater(NsPool *poolPtr)
{
    poolPtr->lowWater = poolPtr->lowPercent == 100
        ? INT_MAX
        : Water(poolPtr, poolPtr->lowPercent);
    poolPtr->highWater = poolPtr->highPercent == 100
        ? INT_MAX
        : Water(poolPtr, poolPtr->highPercent);
}

static int
Water(const NsPool *poolPtr, int percent)
{
    int64_t queueLength = poolPtr->maxConnections - poolPtr->maxThreads;

    NsAssert(queueLength >= 0 && percent >= 0 && percent <= 100);
    return (int) (queueLength * percent / 100);
}

/*
 * They are called `nsd:POOL:NAME`.
 */
static void
SetupLocks(NsPool *poolPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, "nsd:",
                        *poolPtr->name != '\0' ? poolPtr->name : "default",
                        NULL);
    poolPtr->lockArea = Ns_DStringExport(&ds);
    NsMutexSetup(&poolPtr->wqueue, NS_RANK_POOL_WQUEUE, poolPtr->lockArea,
                 "wqueue");
    NsMutexSetup(&poolPtr->tqueue, NS_RANK_POOL_TQUEUE, poolPtr->lockArea,
                 "tqueue");
    NsMutexSetup(&poolPtr->threads, NS_RANK_POOL_THREADS, poolPtr->lockArea,
                 "threads");
    Ns_CondInit(&poolPtr->changed);
    NsShareInit(poolPtr);
}

NsPool *
NsPoolFind(NsServer *serverPtr, const char *name)
{
    struct NsPoolServer *poolsPtr = serverPtr->poolsPtr;

    for (int i = 0; i < poolsPtr->nPools; i++) {
        if (strcmp(poolsPtr->pools[i]->name, name) == 0) {
            return poolsPtr->pools[i];
        }
    }
    return NULL;
}

NsPool *
NsPoolAt(NsServer *serverPtr, int i)
{
    struct NsPoolServer *poolsPtr = serverPtr->poolsPtr;

    NsAssert(i >= 0);
    return i < poolsPtr->nPools ? poolsPtr->pools[i] : NULL;
}

const char *
NsPoolName(const NsPool *poolPtr)
{
    return poolPtr->name;
}

int
NsPoolRetryAfter(const NsPool *poolPtr)
{
    /* The header field has whole seconds. */
    return (int) MIN((poolPtr->retryAfter + NS_STAMP_SECOND - 1)
                         / NS_STAMP_SECOND,
                     INT_MAX);
}

NsReplyGroup *
NsPoolReplyGroup(NsPool *poolPtr)
{
    return &poolPtr->replyGroup;
}

int64_t
NsPoolConnectionRate(const NsPool *poolPtr)
{
    return atomic_load_explicit(&poolPtr->connectionRate, memory_order_relaxed);
}

/*
 * With tqueue locked, or while nobody else sees the pool.
 */
static void
SetRates(NsPool *poolPtr)
{
    atomic_store_explicit(&poolPtr->replyGroup.rate.bytesPerSecond,
                          poolPtr->rateKb * (int64_t) 1024,
                          memory_order_relaxed);
    atomic_store_explicit(&poolPtr->connectionRate,
                          poolPtr->connectionRateKb * (int64_t) 1024,
                          memory_order_relaxed);
}

/*
 * A new maxthreads leaves the watermarks as they are, in requests.
 */
static Ns_ReturnCode
AccessPool(const char *section, NsSettingAccess *accessPtr)
{
    NsPool       *poolPtr = NsPoolFindBySection(section);
    Ns_ReturnCode result;

    NsAssert(poolPtr != NULL);
    Ns_MutexLock(&poolPtr->wqueue);
    Ns_MutexLock(&poolPtr->tqueue);
    result = NsSettingAccessStruct(accessPtr, poolPtr);
    if (result == NS_OK && accessPtr->nChanges > 0 && !accessPtr->isTrial) {
        if (NsSettingHasChanged(accessPtr, "lowwatermark")
            || NsSettingHasChanged(accessPtr, "highwatermark")
            || NsSettingHasChanged(accessPtr, "maxconnections")) {
            ComputeWater(poolPtr);
        }
        SetRates(poolPtr);
        NsPoolFillPlaces(poolPtr);
    }
    Ns_MutexUnlock(&poolPtr->tqueue);
    Ns_MutexUnlock(&poolPtr->wqueue);

    if (result == NS_OK && accessPtr->nChanges > 0 && !accessPtr->isTrial) {
        NsGrowCheckSize(poolPtr);
        NsGrowLook();
        NsPoolFillShares(poolPtr);
    }
    return result;
}

NsPool *
NsPoolFindBySection(const char *section)
{
    NsPool *poolPtr;

    NsAssert(section != NULL);
    for (int i = 0; i < NsServerCount(); i++) {
        NsServer *serverPtr = NsServerAt(i);

        for (int j = 0; (poolPtr = NsPoolAt(serverPtr, j)) != NULL; j++) {
            if (STRIEQ(poolPtr->section, section)) {
                return poolPtr;
            }
        }
    }
    return NULL;
}

static void
ListSections(NsSettingSectionProc *proc, void *arg)
{
    NsPool *poolPtr;

    for (int i = 0; i < NsServerCount(); i++) {
        NsServer *serverPtr = NsServerAt(i);

        for (int j = 0; (poolPtr = NsPoolAt(serverPtr, j)) != NULL; j++) {
            proc(poolPtr->section, j == 0 ? "ns/server/*" : POOLS, arg);
        }
    }
}

const char *
NsPoolSection(const NsPool *poolPtr)
{
    return poolPtr->section;
}

NsServer *
NsPoolServerOf(const NsPool *poolPtr)
{
    return poolPtr->serverPtr;
}

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
#include "process/parameter_judge.h"

static void AddPool(NsServer *serverPtr, const char *name, const char *section);
static NsParameterAdjustProc AdjustMaxThreads, AdjustMinThreads;
static NsParameterAdjustProc AdjustConnsPerThread;
static void                  ComputeWater(NsPool *poolPtr);
static void                  SetRates(NsPool *poolPtr);
static int                   Water(const NsPool *poolPtr, int percent);
static void                  SetupLocks(NsPool *poolPtr);
static bool IsInRange(const NsPool *poolPtr, NsPoolSetting setting, int value);
static int *SettingLocked(NsPool *poolPtr, NsPoolSetting setting);
static const NsParameter *FindRow(NsPoolSetting setting);

#define ANY NS_PARAM_NO_LIMIT

static const NsParameter rows[] = {
    NS_INT(NsPool, maxConnections, "maxconnections", "100", 1, ANY,
           "Requests that the pool holds, running and waiting."),
    NS_INT(NsPool, maxThreads, "maxthreads", "10", 1, ANY,
           "Maximum of connection threads; at most maxconnections.",
           .adjustProc = AdjustMaxThreads),
    NS_INT(NsPool, minThreads, "minthreads", "1", 1, ANY,
           "Minimum of connection threads; at most maxthreads.",
           .adjustProc = AdjustMinThreads),
    NS_INT(NsPool, connsPerThread, "connsperthread", "10000", 0, ANY,
           "Requests after which a thread ends; 0 = never. The default of "
           "other pools is what the server's section says.",
           .adjustProc = AdjustConnsPerThread),
    NS_TIME(NsPool, threadTimeout, "threadtimeout", "120", 0, ANY,
            "A thread above minthreads ends when it was idle for this long."),
    NS_INT(NsPool, lowPercent, "lowwatermark", "10", 0, 100,
           "No thread is created while the queue is below this percentage."),
    NS_INT(NsPool, highPercent, "highwatermark", "80", 0, 100,
           "Above this percentage several are created at the same time."),
    NS_TIME(NsPool, patience, "queuepatience", "0.1s", 0, ANY,
            "A request that has waited this long gets a new thread; 0 = off."),
    NS_BOOL(NsPool, rejectOverrun, "rejectoverrun", "false",
            "A full pool answers 503 instead of letting requests wait."),
    NS_TIME(NsPool, retryAfter, "retryafter", "5s", 0, ANY,
            "Retry-After of that answer."),
    NS_INT(NsPool, rateKb, "poolratelimit", "0", 0, ANY,
           "Limit in kB/s for all replies of the pool that writers send; 0 = "
           "none."),
    NS_INT(NsPool, connectionRateKb, "connectionratelimit", "0", 0, ANY,
           "Limit in kB/s for each of these replies; 0 = none."),
    NS_IGNORED("spread", "Obsolete, ignored."),
    NS_PARAM_END};

void
NsDispatchInit(void)
{
    NsParametersRegister("ns/server/*", rows, sizeof(NsPool));
    NsParametersRegister("ns/server/*/pool/*", rows, sizeof(NsPool));
    NsPoolInit();
    NsGrowInit();
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
    poolPtr->serverPtr = serverPtr;
    SetupLocks(poolPtr);
    NsParametersFill(rows, section, poolPtr);
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

NsRate *
NsPoolRate(NsPool *poolPtr)
{
    return &poolPtr->rate;
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
    atomic_store_explicit(&poolPtr->rate.bytesPerSecond,
                          poolPtr->rateKb * (int64_t) 1024,
                          memory_order_relaxed);
    atomic_store_explicit(&poolPtr->connectionRate,
                          poolPtr->connectionRateKb * (int64_t) 1024,
                          memory_order_relaxed);
}

int
NsPoolGet(NsPool *poolPtr, NsPoolSetting setting)
{
    int value;

    Ns_MutexLock(&poolPtr->tqueue);
    value = *SettingLocked(poolPtr, setting);
    Ns_MutexUnlock(&poolPtr->tqueue);
    return value;
}

/*
 * A new maxthreads leaves the watermarks as they are, in requests.
 */
Ns_ReturnCode
NsPoolSet(NsPool *poolPtr, NsPoolSetting setting, int value)
{
    bool isInRange;

    Ns_MutexLock(&poolPtr->tqueue);
    isInRange = IsInRange(poolPtr, setting, value);
    if (isInRange) {
        *SettingLocked(poolPtr, setting) = value;
        if (setting == NS_POOL_LOWWATERMARK
            || setting == NS_POOL_HIGHWATERMARK) {
            ComputeWater(poolPtr);
        }
        SetRates(poolPtr);
    }
    NsPoolCheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->tqueue);

    if (!isInRange) {
        return NS_ERROR;
    }
    NsGrowCheckSize(poolPtr);
    NsGrowWatch(poolPtr, 0);
    return NS_OK;
}

/*
 * As in the configuration; and minthreads stays possible.
 */
static bool
IsInRange(const NsPool *poolPtr, NsPoolSetting setting, int value)
{
    NsParameterLimits limits;

    NsParameterLimitsOf(FindRow(setting), poolPtr, &limits);
    return value >= limits.min && value <= limits.max
        && (setting != NS_POOL_MAXTHREADS || value >= poolPtr->minThreads);
}

static int *
SettingLocked(NsPool *poolPtr, NsPoolSetting setting)
{
    NsAssertLocked(&poolPtr->tqueue);

    return (int *) ((char *) poolPtr + FindRow(setting)->offset);
}

static const NsParameter *
FindRow(NsPoolSetting setting)
{
    static const char *const keys[] = {
        [NS_POOL_MINTHREADS] = "minthreads",
        [NS_POOL_MAXTHREADS] = "maxthreads",
        [NS_POOL_LOWWATERMARK] = "lowwatermark",
        [NS_POOL_HIGHWATERMARK] = "highwatermark",
        [NS_POOL_RATELIMIT] = "poolratelimit",
        [NS_POOL_CONNECTIONRATELIMIT] = "connectionratelimit"};
    const NsParameter *rowPtr = rows;

    while (!STREQ(rowPtr->key, keys[setting])) {
        rowPtr++;
    }
    NsAssert(rowPtr->member == NS_MEMBER_INT);
    return rowPtr;
}

/*
 * pool_config.c --
 *
 *      Pools as the configuration describes them, and what can be changed
 *      later.
 */

#include "ns.h"
#include "dispatch/init.h"
#include "dispatch/pool_int.h"
#include "process/parameter_value.h"

NsPoolProcs nsPoolProcs;        /* Constant once a pool has started. */

static void AddPool(NsServer *serverPtr, const char *name, const char *section);
static void ReadLimits(NsPool *poolPtr, const char *section);
static int NoMoreThan(const char *section, const char *key, int value,
                      const char *maxKey, int max);
static void ComputeWater(NsPool *poolPtr);
static void SetRates(NsPool *poolPtr);
static int  Water(const NsPool *poolPtr, int percent);
static void SetupLocks(NsPool *poolPtr);
static bool IsInRange(const NsPool *poolPtr, NsPoolSetting setting, int value);
static int *SettingLocked(NsPool *poolPtr, NsPoolSetting setting);

void
NsDispatchInit(void)
{
    NsConnThreadInit();
    NsPatienceInit();
}

void
NsPoolSetProcs(const NsPoolProcs *procsPtr)
{
    nsPoolProcs = *procsPtr;
}

void
NsPoolsInit(NsServer *serverPtr)
{
    Ns_DString  ds;
    Ns_Set     *poolsPtr;

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
    ReadLimits(poolPtr, section);
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
    NsPatienceAdd(poolPtr);
}

/*
 * The named pools have all parameters in sections of their own, but take
 * connsperthread from the server's section where they do not say otherwise.
 */
static void
ReadLimits(NsPool *poolPtr, const char *section)
{
    NsParameters from = {
        *poolPtr->name == '\0' ? "ns/server/*" : "ns/server/*/pool/*", section
    };
    NsParameters server = {"ns/server/*", poolPtr->serverPtr->path};
    int          perServer = NsParameterInt(server, "connsperthread");
    NsStamp      retryAfter = NsParameterSpan(from, "retryafter");

    poolPtr->maxConnections = NsParameterInt(from, "maxconnections");
    poolPtr->maxThreads = NoMoreThan(section, "maxthreads",
        NsParameterIntOr(from, "maxthreads", MIN(10, poolPtr->maxConnections)),
        "maxconnections", poolPtr->maxConnections);
    poolPtr->minThreads = NoMoreThan(section, "minthreads",
        NsParameterInt(from, "minthreads"), "maxthreads", poolPtr->maxThreads);
    poolPtr->connsPerThread = NsParameterIntOr(from, "connsperthread",
                                               perServer);
    poolPtr->lowPercent = NsParameterInt(from, "lowwatermark");
    poolPtr->highPercent = NsParameterInt(from, "highwatermark");
    poolPtr->rateKb = NsParameterInt(from, "poolratelimit");
    poolPtr->connectionRateKb = NsParameterInt(from, "connectionratelimit");
    SetRates(poolPtr);
    poolPtr->rejectOverrun = NsParameterBool(from, "rejectoverrun");
    poolPtr->threadTimeout = NsParameterSpan(from, "threadtimeout");
    poolPtr->patience = NsParameterSpan(from, "queuepatience");
    /* The header field knows whole seconds. */
    poolPtr->retryAfter = (int) MIN((retryAfter + NS_STAMP_SECOND - 1)
                                    / NS_STAMP_SECOND, INT_MAX);
}

static int
NoMoreThan(const char *section, const char *key, int value,
           const char *maxKey, int max)
{
    if (value > max) {
        Ns_Log(Warning, "config: %s:%s value=%d, rounded down to %s, %d",
               section, key, value, maxKey, max);
        return max;
    }
    return value;
}

/*
 * From percents of the queue's length to numbers of requests.  100 turns a rule
 * off: with threads still to be made, the queue can be longer than its length.
 */
static void
ComputeWater(NsPool *poolPtr)
{
    poolPtr->lowWater = poolPtr->lowPercent == 100
        ? INT_MAX : Water(poolPtr, poolPtr->lowPercent);
    poolPtr->highWater = poolPtr->highPercent == 100
        ? INT_MAX : Water(poolPtr, poolPtr->highPercent);
}

static int
Water(const NsPool *poolPtr, int percent)
{
    int64_t queueLength = poolPtr->maxConnections - poolPtr->maxThreads;

    return (int) (queueLength * percent / 100);
}

static void
SetupLocks(NsPool *poolPtr)
{
    NsPoolLockSetup(poolPtr, &poolPtr->wqueue, NS_RANK_POOL_WQUEUE, "wqueue");
    NsPoolLockSetup(poolPtr, &poolPtr->tqueue, NS_RANK_POOL_TQUEUE, "tqueue");
    NsPoolLockSetup(poolPtr, &poolPtr->threads, NS_RANK_POOL_THREADS,
                    "threads");
    Ns_CondInit(&poolPtr->changed);
}

/*
 * Name a lock `nsd:POOL:NAME`.
 */
void
NsPoolLockSetup(const NsPool *poolPtr, Ns_Mutex *lockPtr, NsLockRank rank,
                const char *name)
{
    char prefix[NS_THREAD_NAMESIZE];

    snprintf(prefix, sizeof(prefix), "nsd:%s",
             *poolPtr->name != '\0' ? poolPtr->name : "default");
    Ns_MutexInit(lockPtr);
    NsMutexSetup(lockPtr, rank, prefix, name);
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

    return i < poolsPtr->nPools ? poolsPtr->pools[i] : NULL;
}

const char *
NsPoolName(const NsPool *poolPtr)
{
    return poolPtr->name;
}

NsServer *
NsPoolGetServer(const NsPool *poolPtr)
{
    return poolPtr->serverPtr;
}

int
NsPoolRetryAfter(const NsPool *poolPtr)
{
    return poolPtr->retryAfter;
}

NsRate *
NsPoolRate(NsPool *poolPtr)
{
    return &poolPtr->rate;
}

int64_t
NsPoolConnectionRate(const NsPool *poolPtr)
{
    return atomic_load_explicit(&poolPtr->connectionRate,
                                memory_order_relaxed);
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
    Ns_MutexUnlock(&poolPtr->tqueue);

    if (!isInRange) {
        return NS_ERROR;
    }
    (void) NsPoolCheckSize(poolPtr, 0);
    NsPatienceWatch(poolPtr, 0);
    return NS_OK;
}

static bool
IsInRange(const NsPool *poolPtr, NsPoolSetting setting, int value)
{
    switch (setting) {
    case NS_POOL_MINTHREADS:
        return value >= 1 && value <= poolPtr->maxThreads;
    case NS_POOL_MAXTHREADS:
        return value >= poolPtr->minThreads && value <= poolPtr->maxConnections;
    case NS_POOL_LOWWATERMARK:
    case NS_POOL_HIGHWATERMARK:
        return value >= 0 && value <= 100;
    case NS_POOL_RATELIMIT:
    case NS_POOL_CONNECTIONRATELIMIT:
        break;
    }
    return value >= 0;
}

static int *
SettingLocked(NsPool *poolPtr, NsPoolSetting setting)
{
    NsAssertLocked(&poolPtr->tqueue);

    switch (setting) {
    case NS_POOL_MINTHREADS:
        return &poolPtr->minThreads;
    case NS_POOL_MAXTHREADS:
        return &poolPtr->maxThreads;
    case NS_POOL_LOWWATERMARK:
        return &poolPtr->lowPercent;
    case NS_POOL_HIGHWATERMARK:
        return &poolPtr->highPercent;
    case NS_POOL_RATELIMIT:
        return &poolPtr->rateKb;
    case NS_POOL_CONNECTIONRATELIMIT:
        break;
    }
    return &poolPtr->connectionRateKb;
}

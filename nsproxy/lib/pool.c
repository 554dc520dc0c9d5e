/* SPDX-License-Identifier: MPL-2.0
 * pool.c --
 *
 *      Pools of handles.
 *
 *      One thread at a time collects the handles that it wants.  So no thread
 *      starves, and no two threads wait for each other's handles.
 */

#include "proxy_int.h"

static struct {
    Ns_Mutex      lock; /* Guards the rest. */
    Pool         *firstPtr;
    Tcl_HashTable defaults; /* Settings by server. */
    bool          hasDefaults;
} pools;

static void    ReadSettings(Settings *settingsPtr, const char *section);
static int     WaitLocked(Pool *poolPtr, const Ns_Time *deadlinePtr,
                          bool *isNotedPtr);
static Proxy  *MakeProxyLocked(Pool *poolPtr);
static void    FreeProxy(Proxy *proxyPtr);
static void    DetachLocked(Proxy **firstPtrPtr, Proxy *proxyPtr);
static Worker *TakeWorkerLocked(Proxy *proxyPtr);
static void    EndWorkers(Pool *poolPtr, Worker **workers, int n);
static int     Collect(Pool *poolPtr, int n, const Ns_Time *timeoutPtr,
                       Proxy **proxies, ProxyError *errorPtr);

void
Ns_ProxySetDefaults(const char *server, const char *section)
{
    Settings      *settingsPtr = ns_calloc(1u, sizeof(*settingsPtr));
    Tcl_HashEntry *hPtr;
    int            isNew;

    ReadSettings(settingsPtr, section);
    Ns_MutexLock(&pools.lock);
    if (!pools.hasDefaults) {
        Tcl_InitHashTable(&pools.defaults, TCL_STRING_KEYS);
        pools.hasDefaults = true;
    }
    hPtr = Tcl_CreateHashEntry(&pools.defaults, server != NULL ? server : "",
                               &isNew);
    Tcl_SetHashValue(hPtr, settingsPtr);
    Ns_MutexUnlock(&pools.lock);
}

Pool *
ProxyPoolGet(Tcl_Interp *interp, const char *name)
{
    const char    *server = Ns_TclInterpServer(interp);
    Tcl_HashEntry *hPtr = NULL;
    Pool          *poolPtr;

    Ns_MutexLock(&pools.lock);
    poolPtr = pools.firstPtr;
    while (poolPtr != NULL && !STREQ(poolPtr->name, name)) {
        poolPtr = poolPtr->nextPtr;
    }
    if (poolPtr == NULL) {
        if (pools.hasDefaults) {
            hPtr = Tcl_FindHashEntry(&pools.defaults,
                                     server != NULL ? server : "");
            if (hPtr == NULL) {
                hPtr = Tcl_FindHashEntry(&pools.defaults, "");
            }
        }
        poolPtr = ns_calloc(1u, sizeof(*poolPtr));
        poolPtr->name = ns_strdup(name);
        Ns_MutexInit(&poolPtr->lock);
        Ns_MutexSetName2(&poolPtr->lock, "nsproxy", name);
        if (hPtr != NULL) {
            SettingsCopy(&poolPtr->settings, Tcl_GetHashValue(hPtr));
        } else {
            ReadSettings(&poolPtr->settings, "ns/module/nsproxy");
        }
        poolPtr->defaultExec = ns_strdup(poolPtr->settings.exec);
        poolPtr->nextPtr = pools.firstPtr;
        pools.firstPtr = poolPtr;
    }
    Ns_MutexUnlock(&pools.lock);
    return poolPtr;
}

Pool *
ProxyPoolFirst(void)
{
    Pool *poolPtr;

    Ns_MutexLock(&pools.lock);
    poolPtr = pools.firstPtr;
    Ns_MutexUnlock(&pools.lock);
    return poolPtr;
}

static void
ReadSettings(Settings *s, const char *section)
{
    static const char defaultExec[] = "bin/nsproxy-helper";
    const char       *exec;
    Ns_DString        ds;
    int               n;

    Ns_DStringInit(&ds);
    exec = Ns_ConfigString(section, "exec", defaultExec);
    if (*exec == '\0') {
        exec = defaultExec;
    }
    if (!Ns_PathIsAbsolute(exec)) {
        exec = Ns_HomePath(&ds, exec, NULL);
    }
    s->exec = ns_strdup(exec);
    Ns_DStringFree(&ds);
    n = Ns_ConfigIntRange(section, "maxslaves", 8, 0, 10000);
    n = Ns_ConfigIntRange(section, "maxworker", n, 0, 10000);
    s->maxWorkers = Ns_ConfigIntRange(section, "maxworkers", n, 0, 10000);
    Ns_ConfigTimeUnitRange(section, "gettimeout", "0", 0, 0, INT_MAX, 0,
                           &s->getTimeout);
    Ns_ConfigTimeUnitRange(section, "evaltimeout", "0", 0, 0, INT_MAX, 0,
                           &s->evalTimeout);
    Ns_ConfigTimeUnitRange(section, "sendtimeout", "5s", 0, 0, INT_MAX, 0,
                           &s->sendTimeout);
    Ns_ConfigTimeUnitRange(section, "recvtimeout", "5s", 0, 0, INT_MAX, 0,
                           &s->recvTimeout);
    Ns_ConfigTimeUnitRange(section, "waittimeout", "1s", 0, 0, INT_MAX, 0,
                           &s->waitTimeout);
    Ns_ConfigTimeUnitRange(section, "idletimeout", "5m", 10, 0, INT_MAX, 0,
                           &s->idleTimeout);
    Ns_ConfigTimeUnitRange(section, "logminduration", "1s", 0, 0, INT_MAX, 0,
                           &s->logMinDuration);
}

void
SettingsCopy(Settings *toPtr, const Settings *fromPtr)
{
    *toPtr = *fromPtr;
    toPtr->env = Ns_SetCopy(fromPtr->env);
    toPtr->exec = ns_strdup(fromPtr->exec);
    toPtr->init = ns_strdup(fromPtr->init);
    toPtr->reinit = ns_strdup(fromPtr->reinit);
}

void
SettingsFree(Settings *settingsPtr)
{
    Ns_SetFree(settingsPtr->env);
    ns_free(settingsPtr->exec);
    ns_free(settingsPtr->init);
    ns_free(settingsPtr->reinit);
    memset(settingsPtr, 0, sizeof(*settingsPtr));
}

ProxyError
ProxyTake(Pool *poolPtr, int n, const Ns_Time *timeoutPtr, Proxy **proxies)
{
    ProxyError error = PROXY_OK;
    int        nGot = Collect(poolPtr, n, timeoutPtr, proxies, &error);

    if (error != PROXY_OK) {
        for (int i = 0; i < nGot; i++) {
            ProxyGive(proxies[i]);
        }
    }
    return error;
}

/*
 * timeoutPtr NULL: the configured time, where 0 means no limit.  Otherwise 0
 * means not to wait.
 */
static int
Collect(Pool *poolPtr, int n, const Ns_Time *timeoutPtr, Proxy **proxies,
        ProxyError *errorPtr)
{
    Ns_Time deadline;
    bool    hasLimit, isNoted = false;
    int     status = NS_OK, nGot = 0;

    Ns_MutexLock(&poolPtr->lock);
    hasLimit = timeoutPtr != NULL || poolPtr->settings.getTimeout.sec != 0
        || poolPtr->settings.getTimeout.usec != 0;
    timeoutPtr = timeoutPtr == NULL
        ? &poolPtr->settings.getTimeout
        : timeoutPtr;
    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, timeoutPtr->sec, timeoutPtr->usec);
    if (n < 1 || n > poolPtr->settings.maxWorkers) {
        *errorPtr = PROXY_ERANGE;
        Ns_MutexUnlock(&poolPtr->lock);
        return 0;
    }
    while (poolPtr->isCollecting && status == NS_OK) {
        status = WaitLocked(poolPtr, hasLimit ? &deadline : NULL, &isNoted);
    }
    if (!poolPtr->isCollecting) {
        status = NS_OK;
        poolPtr->isCollecting = true;
        while (nGot < n && status == NS_OK) {
            Proxy *proxyPtr = poolPtr->firstFreePtr;

            if (proxyPtr == NULL
                && poolPtr->nUsed < poolPtr->settings.maxWorkers) {
                proxyPtr = MakeProxyLocked(poolPtr);
            }
            if (proxyPtr != NULL) {
                DetachLocked(&poolPtr->firstFreePtr, proxyPtr);
                poolPtr->nFree--;
                poolPtr->nUsed++;
                proxyPtr->nextPtr = poolPtr->firstUsedPtr;
                poolPtr->firstUsedPtr = proxyPtr;
                SettingsFree(&proxyPtr->settings);
                SettingsCopy(&proxyPtr->settings, &poolPtr->settings);
                proxies[nGot++] = proxyPtr;
                poolPtr->nTaken++;
            } else {
                status = WaitLocked(poolPtr, hasLimit ? &deadline : NULL,
                                    &isNoted);
            }
        }
        poolPtr->isCollecting = false;
        Ns_CondBroadcast(&poolPtr->changed);
    }
    if (nGot < n) {
        *errorPtr = status == NS_ERROR ? PROXY_ESTOPPING : PROXY_EGETTIMEOUT;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    if (isNoted) {
        Ns_TclWaitEnd();
    }
    return nGot;
}

/*
 * The first time, only note the wait, without the lock.  The caller then looks
 * again: others may have given back meanwhile what it waits for.
 */
static int
WaitLocked(Pool *poolPtr, const Ns_Time *deadlinePtr, bool *isNotedPtr)
{
    if (!*isNotedPtr) {
        char what[200];

        *isNotedPtr = true;
        Ns_MutexUnlock(&poolPtr->lock);
        snprintf(what, sizeof(what), "nsproxy: waits for a handle of pool %s",
                 poolPtr->name);
        Ns_TclWaitBegin(what);
        Ns_MutexLock(&poolPtr->lock);
        return NS_OK;
    }
    return Ns_ShutdownCondWait(&poolPtr->changed, &poolPtr->lock, deadlinePtr,
                               &poolPtr->nTaken);
}

/*
 * Make a handle and put it on the list of free ones.
 */
static Proxy *
MakeProxyLocked(Pool *poolPtr)
{
    Proxy     *proxyPtr = ns_calloc(1u, sizeof(*proxyPtr));
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s-%d", poolPtr->name, poolPtr->nMade++);
    proxyPtr->id = Ns_DStringExport(&ds);
    proxyPtr->poolPtr = poolPtr;
    Tcl_DStringInit(&proxyPtr->script);
    proxyPtr->nextPtr = poolPtr->firstFreePtr;
    poolPtr->firstFreePtr = proxyPtr;
    poolPtr->nFree++;
    return proxyPtr;
}

static void
FreeProxy(Proxy *proxyPtr)
{
    assert(proxyPtr->workerPtr == NULL);
    SettingsFree(&proxyPtr->settings);
    Tcl_DStringFree(&proxyPtr->script);
    ns_free(proxyPtr->id);
    ns_free(proxyPtr);
}

static void
DetachLocked(Proxy **linkPtr, Proxy *proxyPtr)
{
    while (*linkPtr != proxyPtr) {
        assert(*linkPtr != NULL);
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = proxyPtr->nextPtr;
}

/*
 * Release a handle from its owner.  A busy handle loses its worker.
 */
void
ProxyGive(Proxy *proxyPtr)
{
    Pool *poolPtr = proxyPtr->poolPtr;
    bool  isSurplus;

    if (proxyPtr->state != PROXY_IDLE) {
        Ns_Log(Notice, "releasing busy proxy %s", proxyPtr->id);
        ProxyEndWorker(proxyPtr);
    } else if (ProxyIsSpent(proxyPtr)) {
        ProxyEndWorker(proxyPtr);
    }
    Ns_MutexLock(&poolPtr->lock);
    proxyPtr->state = PROXY_IDLE;
    proxyPtr->interp = NULL;
    Tcl_DStringSetLength(&proxyPtr->script, 0);
    DetachLocked(&poolPtr->firstUsedPtr, proxyPtr);
    poolPtr->nUsed--;
    proxyPtr->nextPtr = poolPtr->firstFreePtr;
    poolPtr->firstFreePtr = proxyPtr;
    poolPtr->nFree++;
    if (proxyPtr->workerPtr != NULL) {
        proxyPtr->workerPtr->expireMs =
            ProxyDeadline(&poolPtr->settings.idleTimeout);
    }
    isSurplus = poolPtr->nFree + poolPtr->nUsed > poolPtr->settings.maxWorkers;
    Ns_CondBroadcast(&poolPtr->changed);
    Ns_MutexUnlock(&poolPtr->lock);
    if (isSurplus) {
        ProxyPoolResize(poolPtr);
    }
    ProxyReaperWake();
}

/*
 * Adjust the number of handles to the settings, as far as handles are free.
 */
void
ProxyPoolResize(Pool *poolPtr)
{
    Proxy *surplusPtr = NULL, *proxyPtr;

    Ns_MutexLock(&poolPtr->lock);
    while (poolPtr->nFree + poolPtr->nUsed < poolPtr->settings.maxWorkers) {
        (void) MakeProxyLocked(poolPtr);
    }
    while (poolPtr->nFree > 0
           && poolPtr->nFree + poolPtr->nUsed > poolPtr->settings.maxWorkers) {
        proxyPtr = poolPtr->firstFreePtr;
        DetachLocked(&poolPtr->firstFreePtr, proxyPtr);
        poolPtr->nFree--;
        proxyPtr->nextPtr = surplusPtr;
        surplusPtr = proxyPtr;
    }
    Ns_CondBroadcast(&poolPtr->changed);
    Ns_MutexUnlock(&poolPtr->lock);
    while ((proxyPtr = surplusPtr) != NULL) {
        surplusPtr = proxyPtr->nextPtr;
        ProxyEndWorker(proxyPtr);
        FreeProxy(proxyPtr);
    }
}

static Worker *
TakeWorkerLocked(Proxy *proxyPtr)
{
    Worker *workerPtr = proxyPtr->workerPtr;

    proxyPtr->workerPtr = NULL;
    return workerPtr;
}

/*
 * End workers that no other thread knows.
 */
static void
EndWorkers(Pool *poolPtr, Worker **workers, int n)
{
    Ns_Time step;

    Ns_MutexLock(&poolPtr->lock);
    step = poolPtr->settings.waitTimeout;
    Ns_MutexUnlock(&poolPtr->lock);
    for (int i = 0; i < n; i++) {
        ns_close(workers[i]->sock);
        if (workers[i]->pid != 0) {
            ProxyReap(poolPtr->name, workers[i]->pid, &step);
        }
        ns_free(workers[i]);
    }
    ns_free(workers);
}

void
ProxyPoolClear(Pool *poolPtr, const char *id)
{
    Worker **workers;
    int      n = 0;

    Ns_MutexLock(&poolPtr->lock);
    workers = ns_calloc((size_t) poolPtr->nFree + 1, sizeof(*workers));
    for (Proxy *p = poolPtr->firstFreePtr; p != NULL; p = p->nextPtr) {
        if (p->workerPtr != NULL && (id == NULL || STREQ(p->id, id))) {
            workers[n++] = TakeWorkerLocked(p);
        }
    }
    Ns_MutexUnlock(&poolPtr->lock);
    EndWorkers(poolPtr, workers, n);
}

/*
 * The owner may be waiting on the socket at this moment: shut it down, but do
 * not close it.
 */
void
ProxyPoolStop(Pool *poolPtr, const char *id)
{
    Ns_MutexLock(&poolPtr->lock);
    for (Proxy *p = poolPtr->firstUsedPtr; p != NULL; p = p->nextPtr) {
        Worker *workerPtr = p->workerPtr;

        if (workerPtr != NULL && !workerPtr->isStopped
            && (id == NULL || STREQ(p->id, id))) {
            workerPtr->isStopped = true;
            (void) shutdown(workerPtr->sock, SHUT_RDWR);
            ProxyReap(poolPtr->name, workerPtr->pid,
                      &poolPtr->settings.waitTimeout);
            workerPtr->pid = 0;
        }
    }
    Ns_MutexUnlock(&poolPtr->lock);
}

int64_t
ProxyPoolExpire(void)
{
    int64_t nowMs = ProxyNowMs(), dueMs = INT64_MAX;

    for (Pool *poolPtr = ProxyPoolFirst(); poolPtr != NULL;
         poolPtr = poolPtr->nextPtr) {
        Worker **workers;
        int      n = 0;

        Ns_MutexLock(&poolPtr->lock);
        workers = ns_calloc((size_t) poolPtr->nFree + 1, sizeof(*workers));
        for (Proxy *p = poolPtr->firstFreePtr; p != NULL; p = p->nextPtr) {
            if (p->workerPtr == NULL || p->workerPtr->expireMs < 0) {
                continue;
            }
            if (p->workerPtr->expireMs <= nowMs) {
                workers[n++] = TakeWorkerLocked(p);
            } else {
                dueMs = MIN(dueMs, p->workerPtr->expireMs);
            }
        }
        Ns_MutexUnlock(&poolPtr->lock);
        EndWorkers(poolPtr, workers, n);
    }
    return dueMs;
}

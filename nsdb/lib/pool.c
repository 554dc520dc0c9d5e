/* SPDX-License-Identifier: MPL-2.0
 * pool.c --
 *
 *      Pools of handles.
 *
 *      A handle is free or owned by a thread, and it is connected or not.  The
 *      thread that gets a handle opens its connection.  The thread that puts it
 *      back may close it, and so may the checker, which takes the handle out of
 *      the free ones meanwhile.  No lock is held during this.
 *
 *      Waiting threads form a queue.  Only the first one takes handles, all
 *      that it wants at once, so two threads that want several cannot each hold
 *      a part.
 */

#include <assert.h>

#include "dbint.h"

#define POOLS "ns/db/pools"

/*
 * A waiting thread; on its stack.
 */
typedef struct Waiter {
    struct Waiter *nextPtr;
    int            nWanted;
    Ns_Cond        cond;
} Waiter;

struct DbPool {
    /* Constant after creation. */
    DbPool     *nextPtr;
    const char *name;
    const char *description;
    const char *driver;
    const char *datasource;
    const char *user;
    const char *password;
    DbDriver   *driverPtr;
    int         maxHandles;
    int64_t     maxIdle; /* Microseconds; 0: no limit. */
    int64_t     maxOpen;
    bool        logsErrors;

    /* Atomic, and independent of other memory. */
    _Atomic int64_t minMicros;
    atomic_uint     generation; /* Incremented to close what is open. */

    Ns_Time minDuration; /* minMicros for C callers; written in two steps. */

    Ns_Mutex   lock;    /* Guards the rest. */
    DbHandle **handles; /* Those made so far. */
    int        nHandles;
    DbHandle  *firstFreePtr;
    DbHandle  *lastFreePtr;
    int        nFree;
    Waiter    *firstWaiterPtr;
    Waiter    *lastWaiterPtr;
    int        nConnected;
    int64_t    nTaken; /* Times that somebody got handles. */
    int64_t    nGets;
    int64_t    waitMicros;
    int64_t    nStatements;
    int64_t    sqlMicros;
};

static DbPool         *firstPtr; /* Constant once all are made. */
static Ns_Tls          tls;      /* The token of a thread. */
static _Atomic int64_t session;

static Ns_TlsCleanup EndThread;
static Ns_SchedProc  CheckPool;
static Ns_ArgProc    DescribeCheck;

static DbPool *CreatePool(const char *name, const char *description);
static void    StartPool(DbPool *poolPtr, const char *section);
static int64_t ReadTime(const char *section, const char *key, const char *text,
                        long minSec);
static const void *Token(void);
static int         CountOwned(DbPool *poolPtr, const void *owner);
static int         Take(DbPool *poolPtr, DbHandle **takenPtrs, int n,
                        const Ns_Time *wait, const void *owner);
static int         WaitLocked(DbPool *poolPtr, int n, const Ns_Time *wait);
static void        NoteWait(const DbPool *poolPtr, int n);
static void        UnlinkLocked(DbPool *poolPtr, Waiter *waiterPtr);
static void        WakeLocked(DbPool *poolPtr);
static int         AvailableLocked(const DbPool *poolPtr);
static DbHandle   *TakeOneLocked(DbPool *poolPtr);
static DbHandle   *MakeLocked(DbPool *poolPtr);
static void        FreeLocked(DbPool *poolPtr, DbHandle *handlePtr);
static void        CountLocked(DbPool *poolPtr, DbHandle *handlePtr);
static bool        Connect(DbHandle *handlePtr);
static const char *StaleReason(const DbHandle *handlePtr, int64_t now);
static void        CloseFor(DbHandle *handlePtr, const char *reason);
static void        CloseStale(DbPool *poolPtr);
static void        CheckLocked(const DbPool *poolPtr);

void
DbPoolsInit(void)
{
    static bool isDone; /* Main thread. */
    Ns_Set     *pools = Ns_ConfigGetSection(POOLS);
    DbPool    **linkPtr = &firstPtr;

    if (isDone) {
        return;
    }
    isDone = true;
    Ns_TlsAlloc(&tls, EndThread);
    Ns_LogSqlDebug = Ns_CreateLogSeverity("Debug(sql)");
    Ns_RegisterProcInfo((void *) CheckPool, "nsdb:check", DescribeCheck);
    for (int i = 0; pools != NULL && i < Ns_SetSize(pools); i++) {
        const char *name = Ns_SetKey(pools, i);

        if (DbPoolFind(name) != NULL) {
            Ns_Log(Error, "dbinit: duplicate pool: %s", name);
            continue;
        }
        *linkPtr = CreatePool(name, Ns_SetValue(pools, i));
        if (*linkPtr != NULL) {
            linkPtr = &(*linkPtr)->nextPtr;
        }
    }
}

static DbPool *
CreatePool(const char *name, const char *description)
{
    DbPool     *poolPtr = NULL;
    DbDriver   *driverPtr;
    Ns_DString  section;
    const char *driver, *source;

    Ns_DStringInit(&section);
    Ns_DStringVarAppend(&section, "ns/db/pool/", name, NULL);
    driver = Ns_ConfigGetValue(section.string, "driver");
    source = Ns_ConfigGetValue(section.string, "datasource");
    driverPtr = driver == NULL ? NULL : DbDriverGet(driver);
    if (driver == NULL) {
        Ns_Log(Error, "dbinit: no driver for pool '%s'", name);
    } else if (driverPtr != NULL && source == NULL) {
        Ns_Log(Error, "dbinit: missing datasource for pool '%s'", name);
    } else if (driverPtr != NULL) {
        poolPtr = ns_calloc(1u, sizeof(*poolPtr));
        poolPtr->name = ns_strdup(name);
        poolPtr->description = description;
        poolPtr->driver = driver;
        poolPtr->driverPtr = driverPtr;
        poolPtr->datasource = source;
        StartPool(poolPtr, section.string);
    }
    Ns_DStringFree(&section);
    return poolPtr;
}

/*
 * Read its settings, and check it from time to time.
 */
static void
StartPool(DbPool *poolPtr, const char *section)
{
    int64_t    minMicros = ReadTime(section, "logminduration", "0ms", 0);
    int64_t    interval = ReadTime(section, "checkinterval", "5m", 1);
    Ns_DString ds;

    poolPtr->user = Ns_ConfigGetValue(section, "user");
    poolPtr->password = Ns_ConfigGetValue(section, "password");
    poolPtr->maxHandles = Ns_ConfigIntRange(section, "connections", 2, 0,
                                            INT_MAX);
    poolPtr->maxIdle = ReadTime(section, "maxidle", "5m", 0);
    poolPtr->maxOpen = ReadTime(section, "maxopen", "60m", 0);
    poolPtr->logsErrors = Ns_ConfigBool(section, "logsqlerrors", NS_FALSE);
    poolPtr->minDuration = (Ns_Time){minMicros / 1000000, minMicros % 1000000};
    atomic_init(&poolPtr->minMicros, minMicros);
    if (minMicros > 0) {
        Ns_DStringInit(&ds);
        DbAppendMicros(&ds, minMicros);
        Ns_Log(Notice, "dbinit: set LogMinDuration for pool %s to %s",
               poolPtr->name, ds.string);
        Ns_DStringFree(&ds);
    }
    if (Ns_ConfigBool(section, "verbose", NS_FALSE)) {
        (void) Ns_LogSeveritySetEnabled(Ns_LogSqlDebug, NS_TRUE);
    }
    Ns_MutexInit(&poolPtr->lock);
    Ns_MutexSetName2(&poolPtr->lock, "nsdb", poolPtr->name);
    (void) Ns_ScheduleProcEx(CheckPool, poolPtr, NS_SCHED_THREAD,
                             (int) MIN((interval + 999999) / 1000000, INT_MAX),
                             NULL);
}

static int64_t
ReadTime(const char *section, const char *key, const char *text, long minSec)
{
    Ns_Time time;

    Ns_ConfigTimeUnitRange(section, key, text, minSec, 0,
                           (long) (INT64_MAX / 1000000) - 1, 0, &time);
    return (int64_t) time.sec * 1000000 + time.usec;
}

DbPool *
DbPoolFind(const char *name)
{
    DbPool *poolPtr = firstPtr;

    while (poolPtr != NULL && !STREQ(poolPtr->name, name)) {
        poolPtr = poolPtr->nextPtr;
    }
    return poolPtr;
}

DbPool *
DbPoolNext(const DbPool *poolPtr)
{
    return poolPtr == NULL ? firstPtr : poolPtr->nextPtr;
}

const char *
DbPoolName(const DbPool *poolPtr)
{
    return poolPtr->name;
}

DbDriver *
DbPoolDriver(const DbPool *poolPtr)
{
    return poolPtr->driverPtr;
}

int64_t
DbPoolMinMicros(const DbPool *poolPtr)
{
    return atomic_load_explicit(&poolPtr->minMicros, memory_order_relaxed);
}

bool
DbPoolLogsErrors(const DbPool *poolPtr)
{
    return poolPtr->logsErrors;
}

const char *
Ns_DbPoolDescription(const char *pool)
{
    const DbPool *poolPtr = DbPoolFind(pool);

    return poolPtr == NULL ? NULL : poolPtr->description;
}

/* ---- Getting ---- */

Ns_DbHandle *
Ns_DbPoolGetHandle(const char *pool)
{
    return Ns_DbPoolTimedGetHandle(pool, NULL);
}

Ns_DbHandle *
Ns_DbPoolTimedGetHandle(const char *pool, const Ns_Time *wait)
{
    Ns_DbHandle *handle;

    return Ns_DbPoolTimedGetMultipleHandles(&handle, pool, 1, wait) == NS_OK
        ? handle
        : NULL;
}

int
Ns_DbPoolGetMultipleHandles(Ns_DbHandle **handles, const char *pool,
                            int nHandles)
{
    return Ns_DbPoolTimedGetMultipleHandles(handles, pool, nHandles, NULL);
}

int
Ns_DbPoolTimedGetMultipleHandles(Ns_DbHandle **handles, const char *pool,
                                 int nHandles, const Ns_Time *wait)
{
    Ns_DString ds;
    int        result;

    Ns_DStringInit(&ds);
    result = DbPoolGet(handles, pool, nHandles, wait, &ds);
    Ns_DStringFree(&ds);
    return result;
}

int
DbPoolGet(Ns_DbHandle **handles, const char *pool, int nHandles,
          const Ns_Time *wait, Ns_DString *reasonPtr)
{
    DbPool     *poolPtr = DbPoolFind(pool);
    const void *token = Token();
    int64_t     start = DbNow();
    int         nOwned, result;

    if (poolPtr == NULL) {
        Ns_DStringPrintf(reasonPtr, "no such pool '%s'", pool);
    } else if (nHandles > poolPtr->maxHandles) {
        Ns_DStringPrintf(reasonPtr,
                         "failed to get %d handles from a db pool of only %d "
                         "handles: '%s'",
                         nHandles, poolPtr->maxHandles, pool);
    } else if ((nOwned = CountOwned(poolPtr, token)) > 0) {
        Ns_DStringPrintf(reasonPtr,
                         "db handle limit exceeded: thread already owns %d "
                         "%s from pool '%s'",
                         nOwned, nOwned == 1 ? "handle" : "handles", pool);
    }
    if (reasonPtr->length > 0) {
        Ns_Log(Error, "dbinit: %s", reasonPtr->string);
        return NS_ERROR;
    }
    result = Take(poolPtr, (DbHandle **) handles, nHandles, wait, token);
    if (result == NS_ERROR) {
        Ns_DStringAppend(reasonPtr, "the server stops, and none is put back");
    }
    for (int i = 0; result == NS_OK && i < nHandles; i++) {
        if (!Connect(DbHandleOf(handles[i]))) {
            Ns_DStringAppend(reasonPtr, "failed to open database '");
            DbAppendSource(reasonPtr, handles[i]);
            Ns_DStringAppend(reasonPtr, "'");
            for (int j = 0; j < nHandles; j++) {
                Ns_DbPoolPutHandle(handles[j]);
            }
            result = NS_ERROR;
        }
    }
    Ns_MutexLock(&poolPtr->lock);
    poolPtr->nGets++;
    poolPtr->waitMicros += DbNow() - start;
    Ns_MutexUnlock(&poolPtr->lock);
    return result;
}

/*
 * A token for the thread as an owner.  When the thread ends, its handles are
 * put back.
 */
static const void *
Token(void)
{
    void *token = Ns_TlsGet(&tls);

    if (token == NULL) {
        token = ns_malloc(1u);
        Ns_TlsSet(&tls, token);
    }
    return token;
}

static void
EndThread(void *token)
{
    for (DbPool *poolPtr = firstPtr; poolPtr != NULL;
         poolPtr = poolPtr->nextPtr) {
        DbHandle *handlePtr;

        do {
            handlePtr = NULL;
            Ns_MutexLock(&poolPtr->lock);
            for (int i = 0; i < poolPtr->nHandles; i++) {
                if (poolPtr->handles[i]->owner == token) {
                    handlePtr = poolPtr->handles[i];
                }
            }
            Ns_MutexUnlock(&poolPtr->lock);
            if (handlePtr != NULL) {
                Ns_DbPoolPutHandle(&handlePtr->public);
            }
        } while (handlePtr != NULL);
    }
    ns_free(token);
}

static int
CountOwned(DbPool *poolPtr, const void *owner)
{
    int nOwned = 0;

    Ns_MutexLock(&poolPtr->lock);
    for (int i = 0; i < poolPtr->nHandles; i++) {
        nOwned += poolPtr->handles[i]->owner == owner;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    return nOwned;
}

static int
Take(DbPool *poolPtr, DbHandle **takenPtrs, int n, const Ns_Time *wait,
     const void *owner)
{
    int status;

    Ns_MutexLock(&poolPtr->lock);
    status = WaitLocked(poolPtr, n, wait);
    for (int i = 0; status == NS_OK && i < n; i++) {
        takenPtrs[i] = TakeOneLocked(poolPtr);
        takenPtrs[i]->owner = owner;
    }
    poolPtr->nTaken += status == NS_OK;
    WakeLocked(poolPtr);
    CheckLocked(poolPtr);
    Ns_MutexUnlock(&poolPtr->lock);
    return status;
}

/*
 * Wait for our turn and for n handles.  NS_OK: they are available.  NS_TIMEOUT:
 * the time is up.  NS_ERROR: the server stops, and nobody puts any back.
 */
static int
WaitLocked(DbPool *poolPtr, int n, const Ns_Time *wait)
{
    Waiter  self = {.nWanted = n};
    Ns_Time until;
    int     status = NS_OK;

    if (poolPtr->firstWaiterPtr == NULL && AvailableLocked(poolPtr) >= n) {
        return NS_OK;
    }
    if (wait != NULL
        && (wait->sec < 0 || (wait->sec == 0 && wait->usec <= 0))) {
        return NS_TIMEOUT;
    }
    if (wait != NULL) {
        Ns_GetTime(&until);
        Ns_IncrTime(&until, wait->sec, wait->usec);
    }
    Ns_CondInit(&self.cond);
    if (poolPtr->firstWaiterPtr == NULL) {
        poolPtr->firstWaiterPtr = &self;
    } else {
        poolPtr->lastWaiterPtr->nextPtr = &self;
    }
    poolPtr->lastWaiterPtr = &self;
    /* In line already: it is noted without the lock. */
    Ns_MutexUnlock(&poolPtr->lock);
    NoteWait(poolPtr, n);
    Ns_MutexLock(&poolPtr->lock);
    for (;;) {
        if (poolPtr->firstWaiterPtr == &self && AvailableLocked(poolPtr) >= n) {
            status = NS_OK;
            break;
        }
        if (status != NS_OK) {
            break;
        }
        status = Ns_ShutdownCondWait(&self.cond, &poolPtr->lock,
                                     wait == NULL ? NULL : &until,
                                     &poolPtr->nTaken);
    }
    UnlinkLocked(poolPtr, &self);
    Ns_CondDestroy(&self.cond);
    Ns_TclWaitEnd();
    return status;
}

static void
NoteWait(const DbPool *poolPtr, int n)
{
    char what[200];

    snprintf(what, sizeof(what), "nsdb: waits for %d handle%s of pool %s", n,
             n == 1 ? "" : "s", poolPtr->name);
    Ns_TclWaitBegin(what);
}

static void
UnlinkLocked(DbPool *poolPtr, Waiter *waiterPtr)
{
    Waiter **linkPtr = &poolPtr->firstWaiterPtr;
    Waiter  *beforePtr = NULL;

    while (*linkPtr != waiterPtr) {
        beforePtr = *linkPtr;
        linkPtr = &beforePtr->nextPtr;
    }
    *linkPtr = waiterPtr->nextPtr;
    if (poolPtr->lastWaiterPtr == waiterPtr) {
        poolPtr->lastWaiterPtr = beforePtr;
    }
}

/*
 * Wake the first waiting thread if it can have what it wants.
 */
static void
WakeLocked(DbPool *poolPtr)
{
    Waiter *waiterPtr = poolPtr->firstWaiterPtr;

    if (waiterPtr != NULL && AvailableLocked(poolPtr) >= waiterPtr->nWanted) {
        Ns_CondSignal(&waiterPtr->cond);
    }
}

/*
 * Includes handles that are not made yet: they are made on demand.
 */
static int
AvailableLocked(const DbPool *poolPtr)
{
    return poolPtr->nFree + (poolPtr->maxHandles - poolPtr->nHandles);
}

static DbHandle *
TakeOneLocked(DbPool *poolPtr)
{
    DbHandle *handlePtr = poolPtr->firstFreePtr;

    if (handlePtr == NULL) {
        return MakeLocked(poolPtr);
    }
    poolPtr->firstFreePtr = handlePtr->nextFreePtr;
    if (poolPtr->firstFreePtr == NULL) {
        poolPtr->lastFreePtr = NULL;
    }
    handlePtr->nextFreePtr = NULL;
    poolPtr->nFree--;
    return handlePtr;
}

static DbHandle *
MakeLocked(DbPool *poolPtr)
{
    DbHandle    *handlePtr = ns_calloc(1u, sizeof(*handlePtr));
    Ns_DbHandle *handle = &handlePtr->public;

    handle->driver = poolPtr->driver;
    handle->datasource = poolPtr->datasource;
    handle->user = poolPtr->user;
    handle->password = poolPtr->password;
    handle->poolname = poolPtr->name;
    handle->verbose = poolPtr->logsErrors;
    handle->row = Ns_SetCreate(NULL);
    Ns_DStringInit(&handle->dsExceptionMsg);
    handlePtr->poolPtr = poolPtr;
    handlePtr->driverPtr = poolPtr->driverPtr;
    poolPtr->handles = ns_realloc(poolPtr->handles,
                                  (size_t) (poolPtr->nHandles + 1)
                                      * sizeof(handlePtr));
    poolPtr->handles[poolPtr->nHandles++] = handlePtr;
    return handlePtr;
}

/*
 * Connected handles go to the front and are taken first, so that the others,
 * and connections in excess, stay unused.
 */
static void
FreeLocked(DbPool *poolPtr, DbHandle *handlePtr)
{
    handlePtr->owner = NULL;
    if (handlePtr->public.connected || poolPtr->firstFreePtr == NULL) {
        handlePtr->nextFreePtr = poolPtr->firstFreePtr;
        poolPtr->firstFreePtr = handlePtr;
    } else {
        poolPtr->lastFreePtr->nextFreePtr = handlePtr;
    }
    if (handlePtr->nextFreePtr == NULL) {
        poolPtr->lastFreePtr = handlePtr;
    }
    poolPtr->nFree++;
    CountLocked(poolPtr, handlePtr);
    WakeLocked(poolPtr);
    CheckLocked(poolPtr);
}

void
DbPoolCount(DbHandle *handlePtr)
{
    Ns_MutexLock(&handlePtr->poolPtr->lock);
    CountLocked(handlePtr->poolPtr, handlePtr);
    Ns_MutexUnlock(&handlePtr->poolPtr->lock);
}

static void
CountLocked(DbPool *poolPtr, DbHandle *handlePtr)
{
    bool isConnected = handlePtr->public.connected;

    if (isConnected != handlePtr->isCounted) {
        handlePtr->isCounted = isConnected;
        poolPtr->nConnected += isConnected ? 1 : -1;
    }
}

/*
 * The generation is read before opening, so that a bounce meanwhile counts.
 */
static bool
Connect(DbHandle *handlePtr)
{
    DbPool *poolPtr = handlePtr->poolPtr;

    if (handlePtr->public.connected) {
        return true;
    }
    handlePtr->generation = atomic_load(&poolPtr->generation);
    if (!DbOpen(handlePtr)) {
        return false;
    }
    handlePtr->session = (uint64_t) atomic_fetch_add(&session, 1) + 1;
    handlePtr->openedAt = handlePtr->usedAt = DbNow();
    DbPoolCount(handlePtr);
    return true;
}

/* ---- Putting back and closing ---- */

void
Ns_DbPoolPutHandle(Ns_DbHandle *handle)
{
    DbHandle   *handlePtr = DbHandleOf(handle);
    DbPool     *poolPtr = handlePtr->poolPtr;
    const char *reason;

    DbInterpForget(handlePtr);
    if (handle->connected && !DbReset(handlePtr)) {
        DbClose(handlePtr);
    }
    handlePtr->isActive = false;
    handle->cExceptionCode[0] = '\0';
    Ns_DStringTrunc(&handle->dsExceptionMsg, 0);
    handlePtr->usedAt = DbNow();
    reason = StaleReason(handlePtr, handlePtr->usedAt);
    if (reason != NULL) {
        CloseFor(handlePtr, reason);
    }

    Ns_MutexLock(&poolPtr->lock);
#ifdef NS_DEBUG
    assert(handlePtr->owner == Ns_TlsGet(&tls) || Ns_TlsGet(&tls) == NULL);
#endif
    poolPtr->nStatements += handlePtr->nStatements;
    poolPtr->sqlMicros += handlePtr->sqlMicros;
    handlePtr->nStatements = 0;
    handlePtr->sqlMicros = 0;
    FreeLocked(poolPtr, handlePtr);
    Ns_MutexUnlock(&poolPtr->lock);
}

/*
 * Why the connection should be closed.  NULL: it should not, or there is none.
 */
static const char *
StaleReason(const DbHandle *handlePtr, int64_t now)
{
    const DbPool *poolPtr = handlePtr->poolPtr;

    if (!handlePtr->public.connected) {
        return NULL;
    }
    if (handlePtr->generation != atomic_load(&poolPtr->generation)) {
        return "stale";
    }
    if (poolPtr->maxIdle > 0 && now - handlePtr->usedAt > poolPtr->maxIdle) {
        return "idle";
    }
    return poolPtr->maxOpen > 0 && now - handlePtr->openedAt > poolPtr->maxOpen
        ? "old"
        : NULL;
}

static void
CloseFor(DbHandle *handlePtr, const char *reason)
{
    Ns_Log(Notice, "nsdb: closing %s handle in pool '%s'", reason,
           handlePtr->poolPtr->name);
    DbClose(handlePtr);
}

int
Ns_DbBouncePool(const char *pool)
{
    DbPool *poolPtr = DbPoolFind(pool);

    if (poolPtr == NULL) {
        return NS_ERROR;
    }
    (void) atomic_fetch_add(&poolPtr->generation, 1);
    CloseStale(poolPtr);
    return NS_OK;
}

static void
CheckPool(void *arg, int id)
{
    CloseStale(arg);
}

static void
DescribeCheck(Ns_DString *dsPtr, void *arg)
{
    const DbPool *poolPtr = arg;

    Ns_DStringAppendElement(dsPtr, poolPtr->name);
}

/*
 * Take out one stale handle at a time; the others stay available.
 */
static void
CloseStale(DbPool *poolPtr)
{
    int64_t   now = DbNow();
    DbHandle *stalePtr;

    do {
        DbHandle **linkPtr = &poolPtr->firstFreePtr, *beforePtr = NULL;

        Ns_MutexLock(&poolPtr->lock);
        while (*linkPtr != NULL && StaleReason(*linkPtr, now) == NULL) {
            beforePtr = *linkPtr;
            linkPtr = &beforePtr->nextFreePtr;
        }
        stalePtr = *linkPtr;
        if (stalePtr != NULL) {
            *linkPtr = stalePtr->nextFreePtr;
            stalePtr->nextFreePtr = NULL;
            if (poolPtr->lastFreePtr == stalePtr) {
                poolPtr->lastFreePtr = beforePtr;
            }
            poolPtr->nFree--;
            stalePtr->owner = &tls;
        }
        Ns_MutexUnlock(&poolPtr->lock);
        if (stalePtr != NULL) {
            CloseFor(stalePtr, StaleReason(stalePtr, now));
            Ns_MutexLock(&poolPtr->lock);
            FreeLocked(poolPtr, stalePtr);
            Ns_MutexUnlock(&poolPtr->lock);
        }
    } while (stalePtr != NULL);
}

static void
CheckLocked(const DbPool *poolPtr)
{
    assert(poolPtr->nFree >= 0 && poolPtr->nFree <= poolPtr->nHandles);
    assert(poolPtr->nHandles <= poolPtr->maxHandles);
    assert((poolPtr->firstFreePtr == NULL) == (poolPtr->nFree == 0));
    assert((poolPtr->firstFreePtr == NULL) == (poolPtr->lastFreePtr == NULL));
    assert(poolPtr->nConnected >= 0
           && poolPtr->nConnected <= poolPtr->nHandles);
}

/* ---- Figures ---- */

int
Ns_DbPoolStats(Tcl_Interp *interp)
{
    Tcl_Obj *resultObj = Tcl_NewListObj(0, NULL);

    for (DbPool *poolPtr = firstPtr; poolPtr != NULL;
         poolPtr = poolPtr->nextPtr) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        Ns_MutexLock(&poolPtr->lock);
        Ns_DStringPrintf(&ds,
                         "statements %" PRId64 " gethandles %" PRId64
                         " handles %d connected %d used %d waittime ",
                         poolPtr->nStatements, poolPtr->nGets,
                         poolPtr->maxHandles, poolPtr->nConnected,
                         poolPtr->nHandles);
        DbAppendMicros(&ds, poolPtr->waitMicros);
        Ns_DStringAppend(&ds, " sqltime ");
        DbAppendMicros(&ds, poolPtr->sqlMicros);
        Ns_MutexUnlock(&poolPtr->lock);
        Tcl_ListObjAppendElement(NULL, resultObj,
                                 Tcl_NewStringObj(poolPtr->name, -1));
        Tcl_ListObjAppendElement(NULL, resultObj,
                                 Tcl_NewStringObj(ds.string, ds.length));
        Ns_DStringFree(&ds);
    }
    Tcl_SetObjResult(interp, resultObj);
    return TCL_OK;
}

Tcl_Obj *
Ns_DbListMinDurations(Tcl_Interp *interp, const char *server)
{
    Tcl_Obj *resultObj = Tcl_NewListObj(0, NULL);

    for (const DbPool *poolPtr = firstPtr; poolPtr != NULL;
         poolPtr = poolPtr->nextPtr) {
        Ns_DString ds;

        if (!Ns_DbPoolAllowable(server, poolPtr->name)) {
            continue;
        }
        Ns_DStringInit(&ds);
        DbAppendMicros(&ds, DbPoolMinMicros(poolPtr));
        Tcl_ListObjAppendElement(NULL, resultObj,
                                 Tcl_NewStringObj(poolPtr->name, -1));
        Tcl_ListObjAppendElement(NULL, resultObj,
                                 Tcl_NewStringObj(ds.string, ds.length));
        Ns_DStringFree(&ds);
    }
    return resultObj;
}

int
Ns_DbGetMinDuration(Tcl_Interp *interp, const char *pool, Ns_Time **timePtrPtr)
{
    DbPool *poolPtr = DbPoolFind(pool);

    if (poolPtr == NULL) {
        Ns_TclPrintfResult(interp, "Invalid pool '%s'", pool);
        return TCL_ERROR;
    }
    *timePtrPtr = &poolPtr->minDuration;
    return TCL_OK;
}

int
Ns_DbSetMinDuration(Tcl_Interp *interp, const char *pool,
                    const Ns_Time *timePtr)
{
    DbPool *poolPtr = DbPoolFind(pool);

    if (poolPtr == NULL) {
        Ns_TclPrintfResult(interp, "Invalid pool '%s'", pool);
        return TCL_ERROR;
    }
    __atomic_store_n(&poolPtr->minDuration.sec, timePtr->sec, __ATOMIC_RELAXED);
    __atomic_store_n(&poolPtr->minDuration.usec, timePtr->usec,
                     __ATOMIC_RELAXED);
    atomic_store_explicit(&poolPtr->minMicros,
                          (int64_t) timePtr->sec * 1000000 + timePtr->usec,
                          memory_order_relaxed);
    return TCL_OK;
}

/* SPDX-License-Identifier: MPL-2.0
 * handle.c --
 *
 *      What the owner of a handle does with it.
 *
 *      idle --ProxySend--> busy --ProxyAwait--> done --ProxyRecv--> idle
 *
 *      Other threads only look at a worker or shut its socket down, which the
 *      owner notices.  Only the owner frees the worker.
 */

#include "proxy_int.h"

#define AT_ONCE_MS 2 /* A longer wait is worth the note of its stack. */

/*
 * What a request waits for.
 */
static const char starting[] = "the start of a worker";
static const char working[] = "a worker";

static ProxyError Start(Tcl_Interp *interp, Proxy *proxyPtr);
static Worker    *Spawn(Proxy *proxyPtr, ProxyError *errorPtr);
static bool       Attach(Proxy *proxyPtr, Worker *workerPtr);
static bool       IsAlive(Proxy *proxyPtr);
static ProxyError Ping(Proxy *proxyPtr, const char *what);
static bool       AwaitWorker(const Proxy *proxyPtr, int64_t deadlineMs,
                              const char *what);
static void       BeginWait(const Proxy *proxyPtr, const char *what);
static void       SetState(Proxy *proxyPtr, ProxyState state);
static ProxyError SendText(Proxy *proxyPtr, const char *text, int length);
static ProxyError Import(Tcl_Interp *interp, const Tcl_DString *answerPtr,
                         int *codePtr);
static bool       TakeText(const Tcl_DString *answerPtr, int *atPtr,
                           Tcl_Obj **objPtr);
static void       LogDuration(Proxy *proxyPtr, const Ns_Time *spanPtr);

/*
 * Ensure that the handle has a worker that answers.
 */
ProxyError
ProxyCheck(Tcl_Interp *interp, Proxy *proxyPtr)
{
    if (proxyPtr->workerPtr != NULL
        && (!IsAlive(proxyPtr) || ProxyPing(NULL, proxyPtr) != PROXY_OK)) {
        ProxyEndWorker(proxyPtr);
    }
    return proxyPtr->workerPtr != NULL ? PROXY_OK : Start(interp, proxyPtr);
}

static ProxyError
Start(Tcl_Interp *interp, Proxy *proxyPtr)
{
    Pool      *poolPtr = proxyPtr->poolPtr;
    ProxyError error = PROXY_OK;
    Worker    *workerPtr = Spawn(proxyPtr, &error);
    int        code;

    if (workerPtr == NULL) {
        return error;
    }
    if (!Attach(proxyPtr, workerPtr)) {
        error = PROXY_EDEAD;
    } else if (proxyPtr->settings.init != NULL
               && *proxyPtr->settings.init != '\0') {
        Tcl_Obj *scriptPtr = Tcl_NewStringObj(proxyPtr->settings.init, -1);

        Tcl_IncrRefCount(scriptPtr);
        error = ProxyEvaluate(interp, proxyPtr, scriptPtr, NULL, &code);
        Tcl_DecrRefCount(scriptPtr);
        if (error == PROXY_OK && code == TCL_ERROR) {
            error = PROXY_SCRIPT;
        }
        Ns_MutexLock(&poolPtr->lock);
        if (proxyPtr->workerPtr != NULL) {
            proxyPtr->workerPtr->nRuns = 0;
        }
        Ns_MutexUnlock(&poolPtr->lock);
    } else if (Ping(proxyPtr, starting) != PROXY_OK) {
        /* The program runs, but is not a worker. */
        error = PROXY_EINIT;
    }
    if (error != PROXY_OK) {
        ProxyEndWorker(proxyPtr);
    }
    return error;
}

static Worker *
Spawn(Proxy *proxyPtr, ProxyError *errorPtr)
{
    const Settings *settingsPtr = &proxyPtr->settings;
    char   *argv[] = {settingsPtr->exec, proxyPtr->poolPtr->name, proxyPtr->id,
                      NULL};
    int     socks[2], pid, reason;
    Worker *workerPtr;

    *errorPtr = PROXY_EEXEC;
    if (ns_sockpair(socks) != 0) {
        Ns_Log(Error, "nsproxy: no socket for a worker: %s", strerror(errno));
        return NULL;
    }
    BeginWait(proxyPtr, starting);
    pid = Ns_ExecArgv(settingsPtr->exec, NULL, socks[1], socks[1], argv,
                      settingsPtr->env);
    reason = errno;
    Ns_TclWaitEnd();
    ns_close(socks[1]);
    if (pid <= 0) {
        ns_close(socks[0]);
        Ns_Log(Error, "exec %s: execve() failed: %s", settingsPtr->exec,
               strerror(reason));
        errno = reason;
        return NULL;
    }
    *errorPtr = PROXY_OK;
    workerPtr = ns_calloc(1u, sizeof(*workerPtr));
    workerPtr->sock = socks[0];
    workerPtr->pid = pid;
    Ns_GetTime(&workerPtr->created);
    return workerPtr;
}

/*
 * The shutdown first sets the mark and then looks at the handles: either it
 * finds the worker, or we see the mark here.
 */
static bool
Attach(Proxy *proxyPtr, Worker *workerPtr)
{
    Pool *poolPtr = proxyPtr->poolPtr;
    bool  isClosed;

    Ns_MutexLock(&poolPtr->lock);
    proxyPtr->workerPtr = workerPtr;
    isClosed = ProxyIsClosed();
    Ns_MutexUnlock(&poolPtr->lock);
    return !isClosed;
}

static bool
IsAlive(Proxy *proxyPtr)
{
    struct pollfd pfd = {.fd = proxyPtr->workerPtr->sock, .events = POLLIN};

    /* An idle worker must not send anything. */
    return ns_poll(&pfd, 1, 0) == 0;
}

/*
 * The worker is taken off the handle before its socket is closed, so no other
 * thread knows it then.
 */
void
ProxyEndWorker(Proxy *proxyPtr)
{
    Pool   *poolPtr = proxyPtr->poolPtr;
    Worker *workerPtr;
    pid_t   pid = 0;

    Ns_MutexLock(&poolPtr->lock);
    workerPtr = proxyPtr->workerPtr;
    proxyPtr->workerPtr = NULL;
    if (workerPtr != NULL) {
        pid = workerPtr->pid;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    if (workerPtr != NULL) {
        ns_close(workerPtr->sock);
        ns_free(workerPtr);
        if (pid != 0) {
            ProxyReap(poolPtr->name, pid, &proxyPtr->settings.waitTimeout);
        }
    }
}

bool
ProxyIsSpent(Proxy *proxyPtr)
{
    Pool *poolPtr = proxyPtr->poolPtr;
    int   maxRuns = proxyPtr->settings.maxRuns;
    bool  isWorn = false, isStopped = false;
    pid_t pid = 0;

    Ns_MutexLock(&poolPtr->lock);
    if (proxyPtr->workerPtr != NULL) {
        isStopped = proxyPtr->workerPtr->isStopped;
        isWorn = maxRuns > 0 && proxyPtr->workerPtr->nRuns >= maxRuns;
        pid = proxyPtr->workerPtr->pid;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    if (isWorn) {
        Ns_Log(Notice, "proxy maxrun reached pool %s worker %d", poolPtr->name,
               (int) pid);
    }
    return isWorn || isStopped;
}

static void
SetState(Proxy *proxyPtr, ProxyState state)
{
    Ns_MutexLock(&proxyPtr->poolPtr->lock);
    proxyPtr->state = state;
    Ns_MutexUnlock(&proxyPtr->poolPtr->lock);
}

ProxyError
ProxySend(Tcl_Interp *interp, Proxy *proxyPtr, Tcl_Obj *scriptPtr)
{
    Pool       *poolPtr = proxyPtr->poolPtr;
    int         length;
    const char *script = Tcl_GetStringFromObj(scriptPtr, &length);
    ProxyError  error;

    if (proxyPtr->state != PROXY_IDLE) {
        return PROXY_EBUSY;
    }
    if (proxyPtr->workerPtr == NULL) {
        return PROXY_EDEAD;
    }
    if (!IsAlive(proxyPtr)) {
        ProxyEndWorker(proxyPtr);
        return PROXY_EDEAD;
    }
    if (ProxyIsSpent(proxyPtr)) {
        ProxyEndWorker(proxyPtr);
        error = Start(interp, proxyPtr);
        if (error != PROXY_OK) {
            return error;
        }
    }
    if (!IsAlive(proxyPtr)) {
        ProxyEndWorker(proxyPtr);
        return PROXY_EDEAD;
    }
    Ns_MutexLock(&poolPtr->lock);
    Tcl_DStringSetLength(&proxyPtr->script, 0);
    Tcl_DStringAppend(&proxyPtr->script, script, length);
    Ns_GetTime(&proxyPtr->start);
    proxyPtr->state = PROXY_BUSY;
    poolPtr->nRequests++;
    proxyPtr->workerPtr->nRuns++;
    Ns_MutexUnlock(&poolPtr->lock);

    error = SendText(proxyPtr, script, length);
    if (error != PROXY_OK) {
        SetState(proxyPtr, PROXY_IDLE);
        ProxyEndWorker(proxyPtr);
    }
    return error;
}

static ProxyError
SendText(Proxy *proxyPtr, const char *text, int length)
{
    Tcl_DString request, bytes;
    ProxyError  error;

    Tcl_DStringInit(&request);
    ProxyPutNumber(&request, PROXY_MAJOR);
    ProxyPutNumber(&request, PROXY_MINOR);
    (void) Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), text,
                                    length, &bytes);
    Tcl_DStringAppend(&request, bytes.string, bytes.length);
    Tcl_DStringFree(&bytes);
    error = ProxySendFrame(proxyPtr->workerPtr->sock, &request,
                           ProxyDeadline(&proxyPtr->settings.sendTimeout));
    Tcl_DStringFree(&request);
    return error;
}

ProxyError
ProxyAwait(Proxy *proxyPtr, const Ns_Time *timeoutPtr)
{
    if (proxyPtr->state == PROXY_IDLE) {
        return PROXY_EIDLE;
    }
    if (timeoutPtr == NULL || (timeoutPtr->sec == 0 && timeoutPtr->usec == 0)) {
        timeoutPtr = &proxyPtr->settings.evalTimeout;
    }
    if (proxyPtr->state == PROXY_BUSY) {
        if (!AwaitWorker(proxyPtr, ProxyDeadline(timeoutPtr), working)) {
            return PROXY_EEVALTIMEOUT;
        }
        SetState(proxyPtr, PROXY_DONE);
    }
    return PROXY_OK;
}

/*
 * False: it has not said anything in time.
 */
static bool
AwaitWorker(const Proxy *proxyPtr, int64_t deadlineMs, const char *what)
{
    int  sock = proxyPtr->workerPtr->sock;
    bool isDone = ProxyWait(sock, POLLIN, ProxyNowMs() + AT_ONCE_MS);

    if (!isDone) {
        BeginWait(proxyPtr, what);
        isDone = ProxyWait(sock, POLLIN, deadlineMs);
        Ns_TclWaitEnd();
    }
    return isDone;
}

static void
BeginWait(const Proxy *proxyPtr, const char *what)
{
    char text[200];

    snprintf(text, sizeof(text), "nsproxy: waits for %s of pool %s", what,
             proxyPtr->poolPtr->name);
    Ns_TclWaitBegin(text);
}

ProxyError
ProxyRecv(Tcl_Interp *interp, Proxy *proxyPtr, int *codePtr)
{
    Pool       *poolPtr = proxyPtr->poolPtr;
    Tcl_DString answer;
    ProxyError  error;
    Ns_Time     now, span;

    if (proxyPtr->state != PROXY_DONE) {
        return proxyPtr->state == PROXY_IDLE ? PROXY_EIDLE : PROXY_ENOWAIT;
    }
    Tcl_DStringInit(&answer);
    error = ProxyRecvFrame(proxyPtr->workerPtr->sock, &answer,
                           ProxyDeadline(&proxyPtr->settings.recvTimeout));
    if (error == PROXY_OK) {
        error = Import(interp, &answer, codePtr);
    }
    Tcl_DStringFree(&answer);

    Ns_GetTime(&now);
    (void) Ns_DiffTime(&now, &proxyPtr->start, &span);
    LogDuration(proxyPtr, &span);
    Ns_MutexLock(&poolPtr->lock);
    Ns_IncrTime(&poolPtr->runTime, span.sec, span.usec);
    proxyPtr->state = PROXY_IDLE;
    Tcl_DStringSetLength(&proxyPtr->script, 0);
    Ns_MutexUnlock(&poolPtr->lock);
    if (error != PROXY_OK) {
        ProxyEndWorker(proxyPtr);
    }
    return error;
}

static void
LogDuration(Proxy *proxyPtr, const Ns_Time *spanPtr)
{
    const Ns_Time *minPtr = &proxyPtr->settings.logMinDuration;

    if (spanPtr->sec > minPtr->sec
        || (spanPtr->sec == minPtr->sec && spanPtr->usec >= minPtr->usec)) {
        Ns_Log(Notice, "nsproxy %s duration " NS_TIME_FMT " secs: '%s'",
               proxyPtr->poolPtr->name, spanPtr->sec, spanPtr->usec,
               proxyPtr->script.string);
    }
}

/*
 * Code, return options, result.  The answer is invalid unless all lengths fit
 * into the frame.
 */
static ProxyError
Import(Tcl_Interp *interp, const Tcl_DString *answerPtr, int *codePtr)
{
    Tcl_Obj   *optionsPtr = NULL, *resultPtr = NULL;
    ProxyError error = PROXY_EIMPORT;
    uint32_t   code;
    int        at = 0, n;

    if (ProxyGetNumber(answerPtr, &at, &code)
        && TakeText(answerPtr, &at, &optionsPtr)
        && TakeText(answerPtr, &at, &resultPtr) && at == answerPtr->length
        && Tcl_DictObjSize(NULL, optionsPtr, &n) == TCL_OK) {
        error = PROXY_OK;
        *codePtr = (int) code;
        if (interp != NULL) {
            Tcl_SetObjResult(interp, resultPtr);
            if (code != TCL_OK) {
                *codePtr = Tcl_SetReturnOptions(interp, optionsPtr);
            }
        }
    }
    if (optionsPtr != NULL) {
        Tcl_DecrRefCount(optionsPtr);
    }
    if (resultPtr != NULL) {
        Tcl_DecrRefCount(resultPtr);
    }
    return error;
}

static bool
TakeText(const Tcl_DString *answerPtr, int *atPtr, Tcl_Obj **objPtr)
{
    uint32_t    length;
    Tcl_DString text;

    if (!ProxyGetNumber(answerPtr, atPtr, &length)
        || length > (uint32_t) (answerPtr->length - *atPtr)) {
        return false;
    }
    (void) Tcl_ExternalToUtfDString(Ns_GetCharsetEncoding("utf-8"),
                                    answerPtr->string + *atPtr, (int) length,
                                    &text);
    *objPtr = Tcl_NewStringObj(text.string, text.length);
    Tcl_IncrRefCount(*objPtr);
    Tcl_DStringFree(&text);
    *atPtr += (int) length;
    return true;
}

ProxyError
ProxyEvaluate(Tcl_Interp *interp, Proxy *proxyPtr, Tcl_Obj *scriptPtr,
              const Ns_Time *timeoutPtr, int *codePtr)
{
    ProxyError error = ProxySend(interp, proxyPtr, scriptPtr);

    if (error == PROXY_OK) {
        error = ProxyAwait(proxyPtr, timeoutPtr);
    }
    return error != PROXY_OK ? error : ProxyRecv(interp, proxyPtr, codePtr);
}

/*
 * Takes no longer than sending and receiving, and runs no script.
 */
ProxyError
ProxyPing(Tcl_Interp *interp, Proxy *proxyPtr)
{
    return Ping(proxyPtr, working);
}

static ProxyError
Ping(Proxy *proxyPtr, const char *what)
{
    int64_t     deadlineMs;
    Tcl_DString answer;
    ProxyError  error;
    int         code;

    if (proxyPtr->state != PROXY_IDLE) {
        return PROXY_EBUSY;
    }
    if (proxyPtr->workerPtr == NULL) {
        return PROXY_EDEAD;
    }
    error = SendText(proxyPtr, "", 0);
    if (error == PROXY_OK) {
        Tcl_DStringInit(&answer);
        deadlineMs = ProxyDeadline(&proxyPtr->settings.recvTimeout);
        (void) AwaitWorker(proxyPtr, deadlineMs, what);
        error = ProxyRecvFrame(proxyPtr->workerPtr->sock, &answer, deadlineMs);
        if (error == PROXY_OK) {
            error = Import(NULL, &answer, &code);
        }
        Tcl_DStringFree(&answer);
    }
    if (error != PROXY_OK) {
        ProxyEndWorker(proxyPtr);
    }
    return error;
}

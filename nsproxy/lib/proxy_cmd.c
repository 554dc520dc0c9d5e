/* SPDX-License-Identifier: MPL-2.0
 * proxy_cmd.c --
 *
 *      ns_proxy, the commands for handles, and the C interface.
 */

#include "proxy_int.h"

#define HANDLES "nsproxy:handles"

static const struct {
    const char *code;
    const char *text;
} errors[] = {
    [PROXY_EBUSY] = {"EBusy", "currently evaluating a script"},
    [PROXY_EDEAD] = {"EDead", "child process died"},
    [PROXY_EDEADLOCK] = {"EDeadlock", "allocation deadlock"},
    [PROXY_EEXEC] = {"EExec", "could not create child process"},
    [PROXY_EGETTIMEOUT] = {"EGetTimeout", "timeout waiting for handle"},
    [PROXY_EIDLE] = {"EIdle", "no script evaluating"},
    [PROXY_EIMPORT] = {"EImport", "invalid response"},
    [PROXY_EINIT] = {"EInit", "init script failed"},
    [PROXY_ERANGE] = {"ERange", "insufficient handles"},
    [PROXY_ERECV] = {"ERecv", "result recv failed"},
    [PROXY_ESEND] = {"ESend", "script send failed"},
    [PROXY_ESTOPPING] = {"EGetTimeout",
                         "the server stops, and no handle is put back"},
    [PROXY_ENOWAIT] = {"ENoWait", "no wait for script result"},
    [PROXY_EEVALTIMEOUT] = {"EEvalTimeout", "timeout waiting for evaluation"}};

/*
 * A call of a subcommand.  The pool or handle is that of its first word.
 */
typedef struct Call {
    Tcl_Interp       *interp;
    int               objc;
    Tcl_Obj *const   *objv;
    const struct Sub *subPtr;
    Pool             *poolPtr;
    Proxy            *proxyPtr;
} Call;

typedef int SubProc(const Call *callPtr);

/*
 * What a list says of a handle; NULL: the list leaves it out.
 */
typedef Tcl_Obj *ItemProc(const Call *callPtr, const Proxy *proxyPtr,
                          bool isUsed);

static SubProc Active, Cleanup, Clear, Configure, Eval, Free, GetHandles,
    Handles, Pids, Ping, Pools, Put, Recv, Send, Stats, Stop, Wait, Workers;
static ItemProc ActiveItem, FreeItem, PidItem, WorkerItem;

static Tcl_ObjCmdProc       ProxyCmd, HandleCmd;
static Tcl_CmdDeleteProc    DeleteHandle;
static Tcl_InterpDeleteProc DeleteTable;
static Tcl_HashTable       *TableOf(Tcl_Interp *interp);
static Proxy               *FindProxy(Tcl_Interp *interp, Tcl_Obj *idPtr);
static int                  SetError(Tcl_Interp *interp, ProxyError error);
static int  Finish(Tcl_Interp *interp, ProxyError error, const char *what,
                   const Proxy *proxyPtr, Tcl_Obj *scriptPtr);
static int  Get(Tcl_Interp *interp, Pool *poolPtr, int n,
                const Ns_Time *timeoutPtr, Proxy **proxies);
static int  CheckAll(Tcl_Interp *interp, Pool *poolPtr, int n, Proxy **proxies);
static int  Release(Tcl_Interp *interp, Proxy *proxyPtr);
static void ReleaseAll(Tcl_Interp *interp);
static int  Evaluate(Tcl_Interp *interp, Proxy *proxyPtr, Tcl_Obj *scriptPtr,
                     const Ns_Time *timeoutPtr);
static bool HasTime(const Call *callPtr, int i, Ns_Time *timePtr,
                    const Ns_Time **timePtrPtr);
static int  WrongWords(const Call *callPtr);
static int  ReturnItems(const Call *callPtr, ItemProc *itemProc);
static const char *IdWord(const Call *callPtr);
static void        AppendText(Tcl_Obj *listPtr, const char *text);

typedef enum { OF_NONE, OF_POOL, OF_HANDLE } Subject;

static const struct Sub {
    const char *name;
    SubProc    *proc;
    Subject     subject; /* Its first word. */
    int         minArgs;
    int         maxArgs;
    const char *usage;
} subs[] = {
    {"active", Active, OF_POOL, 1, 2, "pool ?handle?"},
    {"cleanup", Cleanup, OF_NONE, 0, 0, NULL},
    {"clear", Clear, OF_POOL, 1, 2, "pool ?handle?"},
    {"configure", Configure, OF_NONE, 1, INT_MAX,
     "pool ?opt? ?val? ?opt val?..."},
    {"eval", Eval, OF_HANDLE, 2, 3, "handle script"},
    {"free", Free, OF_POOL, 1, 1, "pool"},
    {"get", GetHandles, OF_NONE, 1, INT_MAX, "pool ?-opt val -opt val ...?"},
    {"handles", Handles, OF_NONE, 0, 1, "?pool?"},
    {"pids", Pids, OF_NONE, 1, 2, "?-details? pool"},
    {"ping", Ping, OF_HANDLE, 1, 1, "handle"},
    {"pools", Pools, OF_NONE, 0, 0, NULL},
    {"put", Put, OF_HANDLE, 1, 1, "handle"},
    {"recv", Recv, OF_HANDLE, 1, 1, "handle"},
    {"release", Put, OF_HANDLE, 1, 1, "handle"},
    {"send", Send, OF_HANDLE, 2, 2, "handle script"},
    {"stats", Stats, OF_POOL, 1, 1, "pool"},
    {"stop", Stop, OF_POOL, 1, 2, "pool ?handle?"},
    {"wait", Wait, OF_HANDLE, 1, 2, "handle ?timeout?"},
    {"workers", Workers, OF_POOL, 1, 1, "pool"},
    {NULL, NULL, OF_NONE, 0, 0, NULL}};

int
Ns_ProxyTclInit(Tcl_Interp *interp)
{
    (void) Tcl_CreateObjCommand(interp, "ns_proxy", ProxyCmd, NULL, NULL);
    return TCL_OK;
}

int
Nsproxy_Init(Tcl_Interp *interp)
{
    Nsd_LibInit();
    return Ns_ProxyTclInit(interp) == TCL_OK
        ? Tcl_PkgProvide(interp, "nsproxy", "1.0")
        : TCL_ERROR;
}

int
Ns_ProxyCleanup(Tcl_Interp *interp, void *arg)
{
    if (Tcl_GetAssocData(interp, HANDLES, NULL) != NULL) {
        ReleaseAll(interp);
    }
    return TCL_OK;
}

int
Ns_ProxyGet(Tcl_Interp *interp, const char *pool, PROXY *proxyPtr,
            const Ns_Time *timeoutPtr)
{
    return Get(interp, ProxyPoolGet(interp, pool), 1, timeoutPtr,
               (Proxy **) proxyPtr);
}

int
Ns_ProxyEval(Tcl_Interp *interp, PROXY proxy, const char *script,
             const Ns_Time *timeoutPtr)
{
    Tcl_Obj *scriptPtr = Tcl_NewStringObj(script, -1);
    int      status;

    Tcl_IncrRefCount(scriptPtr);
    status = Evaluate(interp, (Proxy *) proxy, scriptPtr, timeoutPtr);
    Tcl_DecrRefCount(scriptPtr);
    return status;
}

void
Ns_ProxyPut(PROXY proxy)
{
    Proxy *proxyPtr = (Proxy *) proxy;

    (void) Release(proxyPtr->interp, proxyPtr);
}

static int
ProxyCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Call call = {.interp = interp, .objc = objc, .objv = objv};
    int  index;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?args?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], subs, sizeof(subs[0]),
                                  "option", 0, &index)
        != TCL_OK) {
        return TCL_ERROR;
    }
    call.subPtr = &subs[index];
    if (objc - 2 < call.subPtr->minArgs || objc - 2 > call.subPtr->maxArgs) {
        return WrongWords(&call);
    }
    if (call.subPtr->subject == OF_POOL) {
        call.poolPtr = ProxyPoolGet(interp, Tcl_GetString(objv[2]));
    } else if (call.subPtr->subject == OF_HANDLE) {
        call.proxyPtr = FindProxy(interp, objv[2]);
        if (call.proxyPtr == NULL) {
            return TCL_ERROR;
        }
    }
    return call.subPtr->proc(&call);
}

static int
WrongWords(const Call *callPtr)
{
    Tcl_WrongNumArgs(callPtr->interp, 2, callPtr->objv, callPtr->subPtr->usage);
    return TCL_ERROR;
}

/*
 * The handles of an interpreter, by id.
 */
static Tcl_HashTable *
TableOf(Tcl_Interp *interp)
{
    Tcl_HashTable *tablePtr = Tcl_GetAssocData(interp, HANDLES, NULL);

    if (tablePtr == NULL) {
        tablePtr = ns_malloc(sizeof(*tablePtr));
        Tcl_InitHashTable(tablePtr, TCL_STRING_KEYS);
        Tcl_SetAssocData(interp, HANDLES, DeleteTable, tablePtr);
    }
    return tablePtr;
}

static void
DeleteTable(ClientData clientData, Tcl_Interp *interp)
{
    Tcl_HashTable *tablePtr = clientData;
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(tablePtr, &search);

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        ProxyGive(Tcl_GetHashValue(hPtr));
    }
    Tcl_DeleteHashTable(tablePtr);
    ns_free(tablePtr);
}

static Proxy *
FindProxy(Tcl_Interp *interp, Tcl_Obj *idPtr)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(TableOf(interp),
                                            Tcl_GetString(idPtr));

    if (hPtr == NULL) {
        Ns_TclPrintfResult(interp, "no such handle: %s", Tcl_GetString(idPtr));
        return NULL;
    }
    return Tcl_GetHashValue(hPtr);
}

static int
SetError(Tcl_Interp *interp, ProxyError error)
{
    Tcl_SetErrorCode(interp, "NSPROXY", errors[error].code, errors[error].text,
                     NULL);
    return TCL_ERROR;
}

/*
 * The result of a step; TCL_OK if it did not fail.
 */
static int
Finish(Tcl_Interp *interp, ProxyError error, const char *what,
       const Proxy *proxyPtr, Tcl_Obj *scriptPtr)
{
    if (error == PROXY_OK || error == PROXY_SCRIPT) {
        return error == PROXY_OK ? TCL_OK : TCL_ERROR;
    }
    Tcl_ResetResult(interp);
    if (scriptPtr != NULL) {
        Tcl_AppendResult(interp, "could not send script \"",
                         Tcl_GetString(scriptPtr), "\" to", NULL);
    } else {
        Tcl_AppendResult(interp, "could not ", what, NULL);
    }
    Tcl_AppendResult(interp, " proxy \"", proxyPtr->id,
                     "\": ", errors[error].text, NULL);
    return SetError(interp, error);
}

/*
 * Get all handles at once: an interpreter that has some and waits for others
 * could wait for ever.
 */
static int
Get(Tcl_Interp *interp, Pool *poolPtr, int n, const Ns_Time *timeoutPtr,
    Proxy **proxies)
{
    Tcl_HashTable *tablePtr = TableOf(interp);
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(tablePtr, &search);
    ProxyError     error = PROXY_OK;
    int            isNew;

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        if (((Proxy *) Tcl_GetHashValue(hPtr))->poolPtr == poolPtr) {
            error = PROXY_EDEADLOCK;
        }
    }
    if (error == PROXY_OK) {
        error = ProxyTake(poolPtr, n, timeoutPtr, proxies);
    }
    if (error != PROXY_OK) {
        Ns_TclPrintfResult(interp, "could not allocate from pool \"%s\": %s",
                           poolPtr->name, errors[error].text);
        return SetError(interp, error);
    }
    if (CheckAll(interp, poolPtr, n, proxies) != TCL_OK) {
        return TCL_ERROR;
    }
    for (int i = 0; i < n; i++) {
        proxies[i]->interp = interp;
        hPtr = Tcl_CreateHashEntry(tablePtr, proxies[i]->id, &isNew);
        Tcl_SetHashValue(hPtr, proxies[i]);
        proxies[i]->command = Tcl_CreateObjCommand(interp, proxies[i]->id,
                                                   HandleCmd, proxies[i],
                                                   DeleteHandle);
    }
    return TCL_OK;
}

/*
 * Each handle has a worker that answers.  TCL_ERROR, with a message: one has
 * none, and all are given back.
 */
static int
CheckAll(Tcl_Interp *interp, Pool *poolPtr, int n, Proxy **proxies)
{
    ProxyError error = PROXY_OK;

    for (int i = 0; i < n && error == PROXY_OK; i++) {
        error = ProxyCheck(interp, proxies[i]);
    }
    if (error == PROXY_OK) {
        return TCL_OK;
    }
    if (error == PROXY_EEXEC) {
        Ns_TclPrintfResult(interp, "exec failed: %s", strerror(errno));
    } else if (error != PROXY_SCRIPT) {
        Ns_TclPrintfResult(interp, "could not allocate from pool \"%s\": %s",
                           poolPtr->name, errors[error].text);
    }
    for (int i = 0; i < n; i++) {
        ProxyGive(proxies[i]);
    }
    return error == PROXY_SCRIPT ? TCL_ERROR : SetError(interp, error);
}

/*
 * Release a handle.  If the script for released handles fails, its error is the
 * result, but the handle is released anyway.
 */
static int
Release(Tcl_Interp *interp, Proxy *proxyPtr)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(TableOf(interp), proxyPtr->id);
    int            status = TCL_OK;

    if (hPtr == NULL) {
        return TCL_OK;
    }
    if (proxyPtr->state == PROXY_IDLE && proxyPtr->workerPtr != NULL
        && proxyPtr->settings.reinit != NULL
        && *proxyPtr->settings.reinit != '\0') {
        Tcl_Obj *scriptPtr = Tcl_NewStringObj(proxyPtr->settings.reinit, -1);

        Tcl_IncrRefCount(scriptPtr);
        status = Evaluate(interp, proxyPtr, scriptPtr, NULL);
        Tcl_DecrRefCount(scriptPtr);
        if (status != TCL_ERROR) {
            Tcl_ResetResult(interp);
            status = TCL_OK;
        }
    }
    Tcl_DeleteHashEntry(hPtr);
    (void) Tcl_DeleteCommandFromToken(interp, proxyPtr->command);
    ProxyGive(proxyPtr);
    return status;
}

static void
ReleaseAll(Tcl_Interp *interp)
{
    Tcl_HashTable *tablePtr = TableOf(interp);
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    while ((hPtr = Tcl_FirstHashEntry(tablePtr, &search)) != NULL) {
        (void) Release(interp, Tcl_GetHashValue(hPtr));
    }
}

/*
 * Called when the script deletes the command, or by Release, which has removed
 * the table entry.
 */
static void
DeleteHandle(ClientData clientData)
{
    Proxy         *proxyPtr = clientData;
    Tcl_HashTable *tablePtr = Tcl_GetAssocData(proxyPtr->interp, HANDLES, NULL);
    Tcl_HashEntry *hPtr = tablePtr == NULL
        ? NULL
        : Tcl_FindHashEntry(tablePtr, proxyPtr->id);

    if (hPtr != NULL) {
        Tcl_DeleteHashEntry(hPtr);
        ProxyGive(proxyPtr);
    }
}

static int
Evaluate(Tcl_Interp *interp, Proxy *proxyPtr, Tcl_Obj *scriptPtr,
         const Ns_Time *timeoutPtr)
{
    ProxyError error;
    int        code = TCL_OK;

    error = ProxySend(interp, proxyPtr, scriptPtr);
    if (error != PROXY_OK) {
        return Finish(interp, error, NULL, proxyPtr, scriptPtr);
    }
    error = ProxyAwait(proxyPtr, timeoutPtr);
    if (error != PROXY_OK) {
        return Finish(interp, error, "wait for", proxyPtr, NULL);
    }
    error = ProxyRecv(interp, proxyPtr, &code);
    return error == PROXY_OK
        ? code
        : Finish(interp, error, "receive from", proxyPtr, NULL);
}

static int
HandleCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_Time timeout;

    if (objc != 2 && objc != 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "script ?timeout?");
        return TCL_ERROR;
    }
    if (objc == 3 && ProxyReadTime(interp, objv[2], &timeout) != TCL_OK) {
        return TCL_ERROR;
    }
    return Evaluate(interp, clientData, objv[1], objc == 3 ? &timeout : NULL);
}

/*
 * ----------------------------------------------------------------- Handles
 */

static int
Eval(const Call *callPtr)
{
    Ns_Time        time;
    const Ns_Time *timePtr;

    return HasTime(callPtr, 4, &time, &timePtr)
        ? Evaluate(callPtr->interp, callPtr->proxyPtr, callPtr->objv[3],
                   timePtr)
        : TCL_ERROR;
}

/*
 * Whether word i, if it is there, is a time: *timePtrPtr is NULL if not.
 */
static bool
HasTime(const Call *callPtr, int i, Ns_Time *timePtr,
        const Ns_Time **timePtrPtr)
{
    *timePtrPtr = i < callPtr->objc ? timePtr : NULL;
    return i >= callPtr->objc
        || ProxyReadTime(callPtr->interp, callPtr->objv[i], timePtr) == TCL_OK;
}

static int
Send(const Call *callPtr)
{
    Tcl_Obj *scriptPtr = callPtr->objv[3];

    return Finish(callPtr->interp,
                  ProxySend(callPtr->interp, callPtr->proxyPtr, scriptPtr),
                  NULL, callPtr->proxyPtr, scriptPtr);
}

static int
Wait(const Call *callPtr)
{
    Ns_Time        time;
    const Ns_Time *timePtr;

    return HasTime(callPtr, 3, &time, &timePtr)
        ? Finish(callPtr->interp, ProxyAwait(callPtr->proxyPtr, timePtr),
                 "wait for", callPtr->proxyPtr, NULL)
        : TCL_ERROR;
}

static int
Recv(const Call *callPtr)
{
    int        code = TCL_OK;
    ProxyError error = ProxyRecv(callPtr->interp, callPtr->proxyPtr, &code);

    return error == PROXY_OK
        ? code
        : Finish(callPtr->interp, error, "receive from", callPtr->proxyPtr,
                 NULL);
}

static int
Ping(const Call *callPtr)
{
    return Finish(callPtr->interp,
                  ProxyPing(callPtr->interp, callPtr->proxyPtr), "ping",
                  callPtr->proxyPtr, NULL);
}

static int
Put(const Call *callPtr)
{
    return Release(callPtr->interp, callPtr->proxyPtr);
}

static int
Cleanup(const Call *callPtr)
{
    ReleaseAll(callPtr->interp);
    Tcl_ResetResult(callPtr->interp);
    return TCL_OK;
}

/*
 * ns_proxy get pool ?-handles n? ?-timeout t?
 */
static int
GetHandles(const Call *callPtr)
{
    static const char *const options[] = {"-handles", "-timeout", NULL};
    Tcl_Interp              *interp = callPtr->interp;
    Ns_Time                  timeout, *timeoutPtr = NULL;
    Pool                    *poolPtr;
    Proxy                  **proxies;
    int                      n = 1, index, status;

    if (callPtr->objc % 2 == 0) {
        return WrongWords(callPtr);
    }
    for (int i = 3; i < callPtr->objc; i += 2) {
        Tcl_Obj *const *words = &callPtr->objv[i];

        if (Tcl_GetIndexFromObj(interp, words[0], options, "option", 0, &index)
                != TCL_OK
            || (index == 0 && Tcl_GetIntFromObj(interp, words[1], &n) != TCL_OK)
            || (index == 1
                && ProxyReadTime(interp, words[1], &timeout) != TCL_OK)) {
            return TCL_ERROR;
        }
        timeoutPtr = index == 1 ? &timeout : timeoutPtr;
    }
    poolPtr = ProxyPoolGet(interp, Tcl_GetString(callPtr->objv[2]));
    proxies = ns_calloc((size_t) MIN(MAX(n, 1), 10000), sizeof(Proxy *));
    status = Get(interp, poolPtr, MIN(n, 10001), timeoutPtr, proxies);
    if (status == TCL_OK) {
        Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

        for (int i = 0; i < n; i++) {
            AppendText(listPtr, proxies[i]->id);
        }
        Tcl_SetObjResult(interp, listPtr);
    }
    ns_free(proxies);
    return status;
}

static int
Handles(const Call *callPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(TableOf(callPtr->interp), &search);
    Tcl_Obj       *listPtr = Tcl_NewListObj(0, NULL);
    const Pool    *poolPtr = callPtr->objc == 3
           ? ProxyPoolGet(callPtr->interp, Tcl_GetString(callPtr->objv[2]))
           : NULL;

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        const Proxy *proxyPtr = Tcl_GetHashValue(hPtr);

        if (poolPtr == NULL || proxyPtr->poolPtr == poolPtr) {
            AppendText(listPtr, proxyPtr->id);
        }
    }
    Tcl_SetObjResult(callPtr->interp, listPtr);
    return TCL_OK;
}

/*
 * ------------------------------------------------------------------- Pools
 */

static int
Configure(const Call *callPtr)
{
    if (callPtr->objc > 4 && callPtr->objc % 2 == 0) {
        return WrongWords(callPtr);
    }
    return ProxyConfigure(callPtr->interp,
                          ProxyPoolGet(callPtr->interp,
                                       Tcl_GetString(callPtr->objv[2])),
                          callPtr->objc - 3, callPtr->objv + 3);
}

static int
Clear(const Call *callPtr)
{
    ProxyPoolClear(callPtr->poolPtr, IdWord(callPtr));
    return TCL_OK;
}

/*
 * The id behind the pool; NULL: none.
 */
static const char *
IdWord(const Call *callPtr)
{
    return callPtr->objc == 4 ? Tcl_GetString(callPtr->objv[3]) : NULL;
}

static int
Stop(const Call *callPtr)
{
    ProxyPoolStop(callPtr->poolPtr, IdWord(callPtr));
    return TCL_OK;
}

static int
Pools(const Call *callPtr)
{
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    for (Pool *p = ProxyPoolFirst(); p != NULL; p = p->nextPtr) {
        AppendText(listPtr, p->name);
    }
    Tcl_SetObjResult(callPtr->interp, listPtr);
    return TCL_OK;
}

static int
Stats(const Call *callPtr)
{
    Pool    *poolPtr = callPtr->poolPtr;
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);
    int      nProcesses = 0;

    Ns_MutexLock(&poolPtr->lock);
    for (Proxy *p = poolPtr->firstFreePtr; p != NULL; p = p->nextPtr) {
        nProcesses += p->workerPtr != NULL;
    }
    ProxyAppendPair(listPtr, "proxies", Tcl_NewIntObj(poolPtr->nMade));
    ProxyAppendPair(listPtr, "waiting", Tcl_NewIntObj(poolPtr->isCollecting));
    ProxyAppendPair(listPtr, "maxworkers",
                    Tcl_NewIntObj(poolPtr->settings.maxWorkers));
    ProxyAppendPair(listPtr, "free", Tcl_NewIntObj(poolPtr->nFree));
    ProxyAppendPair(listPtr, "used", Tcl_NewIntObj(poolPtr->nUsed));
    ProxyAppendPair(listPtr, "requests", Tcl_NewWideIntObj(poolPtr->nRequests));
    ProxyAppendPair(listPtr, "processes", Tcl_NewIntObj(nProcesses));
    ProxyAppendPair(listPtr, "runtime", ProxyTimeObj(&poolPtr->runTime, false));
    Ns_MutexUnlock(&poolPtr->lock);
    Tcl_SetObjResult(callPtr->interp, listPtr);
    return TCL_OK;
}

static int
Pids(const Call *callPtr)
{
    Call call = *callPtr;

    if (call.objc == 4 && !STREQ(Tcl_GetString(call.objv[2]), "-details")) {
        return WrongWords(callPtr);
    }
    call.poolPtr = ProxyPoolGet(call.interp,
                                Tcl_GetString(call.objv[call.objc - 1]));
    return ReturnItems(&call, PidItem);
}

static int
Active(const Call *callPtr)
{
    return ReturnItems(callPtr, ActiveItem);
}

static int
Free(const Call *callPtr)
{
    return ReturnItems(callPtr, FreeItem);
}

static int
Workers(const Call *callPtr)
{
    return ReturnItems(callPtr, WorkerItem);
}

/*
 * A list with what is to be said of the pool's handles, used ones first.
 */
static int
ReturnItems(const Call *callPtr, ItemProc *itemProc)
{
    Pool    *poolPtr = callPtr->poolPtr;
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    Ns_MutexLock(&poolPtr->lock);
    for (int isUsed = 1; isUsed >= 0; isUsed--) {
        const Proxy *proxyPtr = isUsed ? poolPtr->firstUsedPtr
                                       : poolPtr->firstFreePtr;

        for (; proxyPtr != NULL; proxyPtr = proxyPtr->nextPtr) {
            Tcl_Obj *itemPtr = itemProc(callPtr, proxyPtr, isUsed);

            if (itemPtr != NULL) {
                (void) Tcl_ListObjAppendElement(NULL, listPtr, itemPtr);
            }
        }
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Tcl_SetObjResult(callPtr->interp, listPtr);
    return TCL_OK;
}

static Tcl_Obj *
ActiveItem(const Call *callPtr, const Proxy *proxyPtr, bool isUsed)
{
    const char *id = IdWord(callPtr);
    Tcl_Obj    *itemPtr;
    int         pid;

    if (!isUsed || proxyPtr->state == PROXY_IDLE
        || (id != NULL && !STREQ(proxyPtr->id, id))) {
        return NULL;
    }
    pid = proxyPtr->workerPtr == NULL ? 0 : (int) proxyPtr->workerPtr->pid;
    itemPtr = Tcl_NewListObj(0, NULL);
    ProxyAppendPair(itemPtr, "handle", Tcl_NewStringObj(proxyPtr->id, -1));
    ProxyAppendPair(itemPtr, "slave", Tcl_NewIntObj(pid));
    ProxyAppendPair(itemPtr, "start", ProxyTimeObj(&proxyPtr->start, false));
    ProxyAppendPair(itemPtr, "script",
                    Tcl_NewStringObj(proxyPtr->script.string,
                                     proxyPtr->script.length));
    return itemPtr;
}

static Tcl_Obj *
FreeItem(const Call *callPtr, const Proxy *proxyPtr, bool isUsed)
{
    return isUsed ? NULL : Tcl_NewStringObj(proxyPtr->id, -1);
}

/*
 * With -details, more than the number.
 */
static Tcl_Obj *
PidItem(const Call *callPtr, const Proxy *proxyPtr, bool isUsed)
{
    const Worker *workerPtr = proxyPtr->workerPtr;
    Tcl_Obj      *pidPtr, *itemPtr;

    if (workerPtr == NULL || workerPtr->pid == 0) {
        return NULL;
    }
    pidPtr = Tcl_NewIntObj((int) workerPtr->pid);
    if (callPtr->objc == 3) {
        return pidPtr;
    }
    itemPtr = Tcl_NewListObj(0, NULL);
    ProxyAppendPair(itemPtr, "pid", pidPtr);
    ProxyAppendPair(itemPtr, "id", Tcl_NewStringObj(proxyPtr->id, -1));
    ProxyAppendPair(itemPtr, "runs", Tcl_NewIntObj(workerPtr->nRuns));
    return itemPtr;
}

static Tcl_Obj *
WorkerItem(const Call *callPtr, const Proxy *proxyPtr, bool isUsed)
{
    static const char *const states[] = {"idle", "busy", "done"};
    const Worker            *workerPtr = proxyPtr->workerPtr;
    Tcl_Obj                 *itemPtr;

    if (workerPtr == NULL) {
        return NULL;
    }
    itemPtr = Tcl_NewListObj(0, NULL);
    ProxyAppendPair(itemPtr, "id", Tcl_NewStringObj(proxyPtr->id, -1));
    ProxyAppendPair(itemPtr, "pid", Tcl_NewIntObj((int) workerPtr->pid));
    ProxyAppendPair(itemPtr, "created",
                    ProxyTimeObj(&workerPtr->created, false));
    ProxyAppendPair(itemPtr, "runs", Tcl_NewIntObj(workerPtr->nRuns));
    ProxyAppendPair(itemPtr, "state",
                    Tcl_NewStringObj(states[proxyPtr->state], -1));
    return itemPtr;
}

static void
AppendText(Tcl_Obj *listPtr, const char *text)
{
    (void) Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewStringObj(text, -1));
}

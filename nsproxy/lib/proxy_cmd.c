/*
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
    [PROXY_ENOWAIT] = {"ENoWait", "no wait for script result"},
    [PROXY_EEVALTIMEOUT] = {"EEvalTimeout", "timeout waiting for evaluation"}};

typedef int SubProc(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv);

static SubProc ActiveCmd, CleanupCmd, ClearCmd, ConfigureCmd, EvalCmd, FreeCmd,
    GetCmd, HandlesCmd, PidsCmd, PingCmd, PoolsCmd, PutCmd, RecvCmd, SendCmd,
    StatsCmd, StopCmd, WaitCmd, WorkersCmd;
static Tcl_ObjCmdProc       ProxyCmd, HandleCmd;
static Tcl_CmdDeleteProc    DeleteHandle;
static Tcl_InterpDeleteProc DeleteTable;
static Tcl_HashTable       *TableOf(Tcl_Interp *interp);
static Proxy               *FindProxy(Tcl_Interp *interp, Tcl_Obj *idPtr);
static int                  SetError(Tcl_Interp *interp, ProxyError error);
static int  Fail(Tcl_Interp *interp, ProxyError error, const char *what,
                 const Proxy *proxyPtr, Tcl_Obj *scriptPtr);
static int  Get(Tcl_Interp *interp, Pool *poolPtr, int n,
                const Ns_Time *timeoutPtr, Proxy **proxies);
static int  Release(Tcl_Interp *interp, Proxy *proxyPtr);
static void ReleaseAll(Tcl_Interp *interp);
static int  Evaluate(Tcl_Interp *interp, Proxy *proxyPtr, Tcl_Obj *scriptPtr,
                     const Ns_Time *timeoutPtr);
static int  ReadTime(Tcl_Interp *interp, Tcl_Obj *objPtr, Ns_Time *timePtr);
static void AppendPair(Tcl_Obj *listPtr, const char *key, Tcl_Obj *valuePtr);
static Tcl_Obj *TimeObj(const Ns_Time *timePtr, bool isShort);

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
    static const struct {
        const char *name;
        SubProc    *proc;
    } subcommands[] = {
        {"active", ActiveCmd},   {"cleanup", CleanupCmd},
        {"clear", ClearCmd},     {"configure", ConfigureCmd},
        {"eval", EvalCmd},       {"free", FreeCmd},
        {"get", GetCmd},         {"handles", HandlesCmd},
        {"pids", PidsCmd},       {"ping", PingCmd},
        {"pools", PoolsCmd},     {"put", PutCmd},
        {"recv", RecvCmd},       {"release", PutCmd},
        {"send", SendCmd},       {"stats", StatsCmd},
        {"stop", StopCmd},       {"wait", WaitCmd},
        {"workers", WorkersCmd}, {NULL, NULL}};
    int index;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?args?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], subcommands,
                                  sizeof(subcommands[0]), "option", 0, &index)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return subcommands[index].proc(interp, objc, objv);
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

static int
Fail(Tcl_Interp *interp, ProxyError error, const char *what,
     const Proxy *proxyPtr, Tcl_Obj *scriptPtr)
{
    if (error == PROXY_SCRIPT) {
        return TCL_ERROR;
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
    for (int i = 0; i < n && error == PROXY_OK; i++) {
        error = ProxyCheck(interp, proxies[i]);
    }
    if (error != PROXY_OK) {
        if (error == PROXY_EEXEC) {
            Ns_TclPrintfResult(interp, "exec failed: %s", strerror(errno));
        } else if (error != PROXY_SCRIPT) {
            Ns_TclPrintfResult(interp,
                               "could not allocate from pool \"%s\": %s",
                               poolPtr->name, errors[error].text);
        }
        for (int i = 0; i < n; i++) {
            ProxyGive(proxies[i]);
        }
        return error == PROXY_SCRIPT ? TCL_ERROR : SetError(interp, error);
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
        return Fail(interp, error, NULL, proxyPtr, scriptPtr);
    }
    error = ProxyAwait(proxyPtr, timeoutPtr);
    if (error != PROXY_OK) {
        return Fail(interp, error, "wait for", proxyPtr, NULL);
    }
    error = ProxyRecv(interp, proxyPtr, &code);
    return error != PROXY_OK
        ? Fail(interp, error, "receive from", proxyPtr, NULL)
        : code;
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
    if (objc == 3 && ReadTime(interp, objv[2], &timeout) != TCL_OK) {
        return TCL_ERROR;
    }
    return Evaluate(interp, clientData, objv[1], objc == 3 ? &timeout : NULL);
}

static int
EvalCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Proxy  *proxyPtr;
    Ns_Time timeout;

    if (objc != 4 && objc != 5) {
        Tcl_WrongNumArgs(interp, 2, objv, "handle script");
        return TCL_ERROR;
    }
    proxyPtr = FindProxy(interp, objv[2]);
    if (proxyPtr == NULL
        || (objc == 5 && ReadTime(interp, objv[4], &timeout) != TCL_OK)) {
        return TCL_ERROR;
    }
    return Evaluate(interp, proxyPtr, objv[3], objc == 5 ? &timeout : NULL);
}

static int
SendCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Proxy     *proxyPtr;
    ProxyError error;

    if (objc != 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "handle script");
        return TCL_ERROR;
    }
    proxyPtr = FindProxy(interp, objv[2]);
    if (proxyPtr == NULL) {
        return TCL_ERROR;
    }
    error = ProxySend(interp, proxyPtr, objv[3]);
    return error == PROXY_OK ? TCL_OK
                             : Fail(interp, error, NULL, proxyPtr, objv[3]);
}

static int
WaitCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Proxy     *proxyPtr;
    Ns_Time    timeout;
    ProxyError error;

    if (objc != 3 && objc != 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "handle ?timeout?");
        return TCL_ERROR;
    }
    proxyPtr = FindProxy(interp, objv[2]);
    if (proxyPtr == NULL
        || (objc == 4 && ReadTime(interp, objv[3], &timeout) != TCL_OK)) {
        return TCL_ERROR;
    }
    error = ProxyAwait(proxyPtr, objc == 4 ? &timeout : NULL);
    return error == PROXY_OK ? TCL_OK
                             : Fail(interp, error, "wait for", proxyPtr, NULL);
}

static int
RecvCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Proxy     *proxyPtr;
    ProxyError error;
    int        code = TCL_OK;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "handle");
        return TCL_ERROR;
    }
    proxyPtr = FindProxy(interp, objv[2]);
    if (proxyPtr == NULL) {
        return TCL_ERROR;
    }
    error = ProxyRecv(interp, proxyPtr, &code);
    return error == PROXY_OK
        ? code
        : Fail(interp, error, "receive from", proxyPtr, NULL);
}

static int
PingCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Proxy     *proxyPtr;
    ProxyError error;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "handle");
        return TCL_ERROR;
    }
    proxyPtr = FindProxy(interp, objv[2]);
    if (proxyPtr == NULL) {
        return TCL_ERROR;
    }
    error = ProxyPing(interp, proxyPtr);
    return error == PROXY_OK ? TCL_OK
                             : Fail(interp, error, "ping", proxyPtr, NULL);
}

static int
PutCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Proxy *proxyPtr;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "handle");
        return TCL_ERROR;
    }
    proxyPtr = FindProxy(interp, objv[2]);
    return proxyPtr == NULL ? TCL_ERROR : Release(interp, proxyPtr);
}

static int
CleanupCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 2, objv, NULL);
        return TCL_ERROR;
    }
    ReleaseAll(interp);
    Tcl_ResetResult(interp);
    return TCL_OK;
}

/*
 * ns_proxy get pool ?-handles n? ?-timeout t?
 */
static int
GetCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    static const char *const options[] = {"-handles", "-timeout", NULL};
    Ns_Time                  timeout, *timeoutPtr = NULL;
    Pool                    *poolPtr;
    Proxy                  **proxies;
    Tcl_Obj                 *listPtr;
    int                      n = 1, index, status;

    if (objc < 3 || objc % 2 == 0) {
        Tcl_WrongNumArgs(interp, 2, objv, "pool ?-opt val -opt val ...?");
        return TCL_ERROR;
    }
    for (int i = 3; i < objc; i += 2) {
        if (Tcl_GetIndexFromObj(interp, objv[i], options, "option", 0, &index)
                != TCL_OK
            || (index == 0
                && Tcl_GetIntFromObj(interp, objv[i + 1], &n) != TCL_OK)
            || (index == 1
                && ReadTime(interp, objv[i + 1], &timeout) != TCL_OK)) {
            return TCL_ERROR;
        }
        timeoutPtr = index == 1 ? &timeout : timeoutPtr;
    }
    poolPtr = ProxyPoolGet(interp, Tcl_GetString(objv[2]));
    proxies = ns_calloc((size_t) MIN(MAX(n, 1), 10000), sizeof(Proxy *));
    status = Get(interp, poolPtr, MIN(n, 10001), timeoutPtr, proxies);
    if (status == TCL_OK) {
        listPtr = Tcl_NewListObj(0, NULL);
        for (int i = 0; i < n; i++) {
            (void) Tcl_ListObjAppendElement(NULL, listPtr,
                                            Tcl_NewStringObj(proxies[i]->id,
                                                             -1));
        }
        Tcl_SetObjResult(interp, listPtr);
    }
    ns_free(proxies);
    return status;
}

/*
 * The pool of a command that takes `pool ?handle?`.
 */
static Pool *
PoolArgument(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
             const char **idPtr)
{
    if (objc != 3 && (objc != 4 || idPtr == NULL)) {
        Tcl_WrongNumArgs(interp, 2, objv,
                         idPtr == NULL ? "pool" : "pool ?handle?");
        return NULL;
    }
    if (idPtr != NULL) {
        *idPtr = objc == 4 ? Tcl_GetString(objv[3]) : NULL;
    }
    return ProxyPoolGet(interp, Tcl_GetString(objv[2]));
}

static int
ClearCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char *id;
    Pool       *poolPtr = PoolArgument(interp, objc, objv, &id);

    if (poolPtr == NULL) {
        return TCL_ERROR;
    }
    ProxyPoolClear(poolPtr, id);
    return TCL_OK;
}

static int
StopCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char *id;
    Pool       *poolPtr = PoolArgument(interp, objc, objv, &id);

    if (poolPtr == NULL) {
        return TCL_ERROR;
    }
    ProxyPoolStop(poolPtr, id);
    return TCL_OK;
}

static int
FreeCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Pool    *poolPtr = PoolArgument(interp, objc, objv, NULL);
    Tcl_Obj *listPtr;

    if (poolPtr == NULL) {
        return TCL_ERROR;
    }
    listPtr = Tcl_NewListObj(0, NULL);
    Ns_MutexLock(&poolPtr->lock);
    for (Proxy *p = poolPtr->firstFreePtr; p != NULL; p = p->nextPtr) {
        (void) Tcl_ListObjAppendElement(NULL, listPtr,
                                        Tcl_NewStringObj(p->id, -1));
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

static int
PoolsCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 2, objv, NULL);
        return TCL_ERROR;
    }
    listPtr = Tcl_NewListObj(0, NULL);
    for (Pool *p = ProxyPoolFirst(); p != NULL; p = p->nextPtr) {
        (void) Tcl_ListObjAppendElement(NULL, listPtr,
                                        Tcl_NewStringObj(p->name, -1));
    }
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

static int
HandlesCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_HashTable *tablePtr = TableOf(interp);
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(tablePtr, &search);
    Tcl_Obj       *listPtr;
    const Pool    *poolPtr = NULL;

    if (objc > 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "?pool?");
        return TCL_ERROR;
    }
    if (objc == 3) {
        poolPtr = ProxyPoolGet(interp, Tcl_GetString(objv[2]));
    }
    listPtr = Tcl_NewListObj(0, NULL);
    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        const Proxy *proxyPtr = Tcl_GetHashValue(hPtr);

        if (poolPtr == NULL || proxyPtr->poolPtr == poolPtr) {
            (void) Tcl_ListObjAppendElement(NULL, listPtr,
                                            Tcl_NewStringObj(proxyPtr->id, -1));
        }
    }
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

static int
ActiveCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char *id;
    Pool       *poolPtr = PoolArgument(interp, objc, objv, &id);
    Tcl_Obj    *listPtr;

    if (poolPtr == NULL) {
        return TCL_ERROR;
    }
    listPtr = Tcl_NewListObj(0, NULL);
    Ns_MutexLock(&poolPtr->lock);
    for (Proxy *p = poolPtr->firstUsedPtr; p != NULL; p = p->nextPtr) {
        Tcl_Obj *itemPtr;

        if (p->state == PROXY_IDLE || (id != NULL && !STREQ(p->id, id))) {
            continue;
        }
        itemPtr = Tcl_NewListObj(0, NULL);
        AppendPair(itemPtr, "handle", Tcl_NewStringObj(p->id, -1));
        AppendPair(itemPtr, "slave",
                   Tcl_NewIntObj(p->workerPtr == NULL
                                     ? 0
                                     : (int) p->workerPtr->pid));
        AppendPair(itemPtr, "start", TimeObj(&p->start, false));
        AppendPair(itemPtr, "script",
                   Tcl_NewStringObj(p->script.string, p->script.length));
        (void) Tcl_ListObjAppendElement(NULL, listPtr, itemPtr);
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

static int
StatsCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Pool    *poolPtr = PoolArgument(interp, objc, objv, NULL);
    Tcl_Obj *listPtr;
    int      nProcesses = 0;

    if (poolPtr == NULL) {
        return TCL_ERROR;
    }
    listPtr = Tcl_NewListObj(0, NULL);
    Ns_MutexLock(&poolPtr->lock);
    for (Proxy *p = poolPtr->firstFreePtr; p != NULL; p = p->nextPtr) {
        nProcesses += p->workerPtr != NULL;
    }
    AppendPair(listPtr, "proxies", Tcl_NewIntObj(poolPtr->nMade));
    AppendPair(listPtr, "waiting", Tcl_NewIntObj(poolPtr->isCollecting));
    AppendPair(listPtr, "maxworkers",
               Tcl_NewIntObj(poolPtr->settings.maxWorkers));
    AppendPair(listPtr, "free", Tcl_NewIntObj(poolPtr->nFree));
    AppendPair(listPtr, "used", Tcl_NewIntObj(poolPtr->nUsed));
    AppendPair(listPtr, "requests", Tcl_NewWideIntObj(poolPtr->nRequests));
    AppendPair(listPtr, "processes", Tcl_NewIntObj(nProcesses));
    AppendPair(listPtr, "runtime", TimeObj(&poolPtr->runTime, false));
    Ns_MutexUnlock(&poolPtr->lock);
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

/*
 * Iterate over both lists of a pool.
 */
static Proxy *
NextOf(const Pool *poolPtr, Proxy *proxyPtr, bool *isUsedPtr)
{
    proxyPtr = proxyPtr == NULL ? poolPtr->firstUsedPtr : proxyPtr->nextPtr;
    if (proxyPtr == NULL && *isUsedPtr) {
        *isUsedPtr = false;
        proxyPtr = poolPtr->firstFreePtr;
    }
    return proxyPtr;
}

static int
PidsCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    bool  isDetailed = objc == 4 && STREQ(Tcl_GetString(objv[2]), "-details");
    Pool *poolPtr;
    Tcl_Obj *listPtr;
    bool     isUsed = true;

    if (objc != 3 && !isDetailed) {
        Tcl_WrongNumArgs(interp, 2, objv, "?-details? pool");
        return TCL_ERROR;
    }
    poolPtr = ProxyPoolGet(interp, Tcl_GetString(objv[objc - 1]));
    listPtr = Tcl_NewListObj(0, NULL);
    Ns_MutexLock(&poolPtr->lock);
    for (Proxy *p = NULL; (p = NextOf(poolPtr, p, &isUsed)) != NULL;) {
        Tcl_Obj *pidPtr, *itemPtr;

        if (p->workerPtr == NULL || p->workerPtr->pid == 0) {
            continue;
        }
        pidPtr = Tcl_NewIntObj((int) p->workerPtr->pid);
        itemPtr = pidPtr;
        if (isDetailed) {
            itemPtr = Tcl_NewListObj(0, NULL);
            AppendPair(itemPtr, "pid", pidPtr);
            AppendPair(itemPtr, "id", Tcl_NewStringObj(p->id, -1));
            AppendPair(itemPtr, "runs", Tcl_NewIntObj(p->workerPtr->nRuns));
        }
        (void) Tcl_ListObjAppendElement(NULL, listPtr, itemPtr);
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

static int
WorkersCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    static const char *const states[] = {"idle", "busy", "done"};
    Pool                    *poolPtr = PoolArgument(interp, objc, objv, NULL);
    Tcl_Obj                 *listPtr;
    bool                     isUsed = true;

    if (poolPtr == NULL) {
        return TCL_ERROR;
    }
    listPtr = Tcl_NewListObj(0, NULL);
    Ns_MutexLock(&poolPtr->lock);
    for (Proxy *p = NULL; (p = NextOf(poolPtr, p, &isUsed)) != NULL;) {
        Tcl_Obj *itemPtr;

        if (p->workerPtr == NULL) {
            continue;
        }
        itemPtr = Tcl_NewListObj(0, NULL);
        AppendPair(itemPtr, "id", Tcl_NewStringObj(p->id, -1));
        AppendPair(itemPtr, "pid", Tcl_NewIntObj((int) p->workerPtr->pid));
        AppendPair(itemPtr, "created", TimeObj(&p->workerPtr->created, false));
        AppendPair(itemPtr, "runs", Tcl_NewIntObj(p->workerPtr->nRuns));
        AppendPair(itemPtr, "state", Tcl_NewStringObj(states[p->state], -1));
        (void) Tcl_ListObjAppendElement(NULL, listPtr, itemPtr);
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

/*
 * The options of configure and their members.
 */
typedef enum { ENV_OPTION, TEXT_OPTION, COUNT_OPTION, TIME_OPTION } OptionKind;

#define MEMBER(name) offsetof(Settings, name)
static const struct Option {
    const char *name;
    OptionKind  kind;
    size_t      offset;
} settingOptions[] = {
    {"-env", ENV_OPTION, MEMBER(env)},
    {"-exec", TEXT_OPTION, MEMBER(exec)},
    {"-init", TEXT_OPTION, MEMBER(init)},
    {"-reinit", TEXT_OPTION, MEMBER(reinit)},
    {"-maxslaves", COUNT_OPTION, MEMBER(maxWorkers)},
    {"-maxworkers", COUNT_OPTION, MEMBER(maxWorkers)},
    {"-maxruns", COUNT_OPTION, MEMBER(maxRuns)},
    {"-gettimeout", TIME_OPTION, MEMBER(getTimeout)},
    {"-evaltimeout", TIME_OPTION, MEMBER(evalTimeout)},
    {"-sendtimeout", TIME_OPTION, MEMBER(sendTimeout)},
    {"-recvtimeout", TIME_OPTION, MEMBER(recvTimeout)},
    {"-waittimeout", TIME_OPTION, MEMBER(waitTimeout)},
    {"-idletimeout", TIME_OPTION, MEMBER(idleTimeout)},
    {"-logminduration", TIME_OPTION, MEMBER(logMinDuration)},
    {NULL, ENV_OPTION, 0}};

static Tcl_Obj *
GetSetting(Tcl_Interp *interp, Pool *poolPtr, const struct Option *optionPtr)
{
    Tcl_Obj *objPtr = NULL;
    Ns_Set  *env = NULL;
    char    *memberPtr = (char *) &poolPtr->settings + optionPtr->offset;

    Ns_MutexLock(&poolPtr->lock);
    switch (optionPtr->kind) {
    case ENV_OPTION:
        env = Ns_SetCopy(*(Ns_Set **) (void *) memberPtr);
        break;
    case TEXT_OPTION:
        objPtr = Tcl_NewStringObj(*(char **) (void *) memberPtr != NULL
                                      ? *(char **) (void *) memberPtr
                                      : "",
                                  -1);
        break;
    case COUNT_OPTION:
        objPtr = Tcl_NewIntObj(*(int *) (void *) memberPtr);
        break;
    case TIME_OPTION:
        objPtr = TimeObj((Ns_Time *) (void *) memberPtr, true);
        break;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    if (env != NULL) {
        Tcl_ResetResult(interp);
        (void) Ns_TclEnterSet(interp, env, NS_TCL_SET_DYNAMIC);
        objPtr = Tcl_DuplicateObj(Tcl_GetObjResult(interp));
        Tcl_ResetResult(interp);
    }
    return objPtr != NULL ? objPtr : Tcl_NewObj();
}

static int
PutSetting(Tcl_Interp *interp, Pool *poolPtr, const struct Option *optionPtr,
           Tcl_Obj *valuePtr)
{
    char      *memberPtr = (char *) &poolPtr->settings + optionPtr->offset;
    char      *text = NULL, *oldText = NULL;
    Ns_Set    *env = NULL, *oldEnv = NULL;
    Ns_Time    time = {0, 0};
    Ns_DString ds;
    int        count = 0;

    switch (optionPtr->kind) {
    case ENV_OPTION:
        if (*Tcl_GetString(valuePtr) != '\0') {
            env = Ns_TclGetSet(interp, Tcl_GetString(valuePtr));
            if (env == NULL) {
                Ns_TclPrintfResult(interp, "no such set: %s",
                                   Tcl_GetString(valuePtr));
                return TCL_ERROR;
            }
            env = Ns_SetCopy(env);
        }
        break;
    case TEXT_OPTION:
        text = ns_strdup(Tcl_GetString(valuePtr));
        if (STREQ(optionPtr->name, "-exec") && !Ns_PathIsAbsolute(text)) {
            Ns_DStringInit(&ds);
            (void) Ns_HomePath(&ds, *text != '\0' ? text : "bin/nsproxy-helper",
                               NULL);
            ns_free(text);
            text = Ns_DStringExport(&ds);
        }
        break;
    case COUNT_OPTION:
        if (Tcl_GetIntFromObj(interp, valuePtr, &count) != TCL_OK) {
            return TCL_ERROR;
        }
        if (count < 0 || count > 10000000
            || (optionPtr->offset == MEMBER(maxWorkers) && count > 10000)) {
            Ns_TclPrintfResult(interp, "invalid %s: %d", optionPtr->name,
                               count);
            return TCL_ERROR;
        }
        break;
    case TIME_OPTION:
        if (ReadTime(interp, valuePtr, &time) != TCL_OK) {
            return TCL_ERROR;
        }
        if (time.sec < 0 || time.usec < 0) {
            Ns_TclPrintfResult(interp, "invalid %s: %s", optionPtr->name,
                               Tcl_GetString(valuePtr));
            return TCL_ERROR;
        }
        if (STREQ(optionPtr->name, "-idletimeout") && time.sec < 10) {
            time = (Ns_Time){10, 0};
        }
        break;
    }
    Ns_MutexLock(&poolPtr->lock);
    switch (optionPtr->kind) {
    case ENV_OPTION:
        oldEnv = poolPtr->settings.env;
        poolPtr->settings.env = env;
        break;
    case TEXT_OPTION:
        oldText = *(char **) (void *) memberPtr;
        *(char **) (void *) memberPtr = text;
        break;
    case COUNT_OPTION:
        *(int *) (void *) memberPtr = count;
        break;
    case TIME_OPTION:
        *(Ns_Time *) (void *) memberPtr = time;
        break;
    }
    Ns_MutexUnlock(&poolPtr->lock);
    Ns_SetFree(oldEnv);
    ns_free(oldText);
    if (optionPtr->offset == MEMBER(maxWorkers)) {
        ProxyPoolResize(poolPtr);
    }
    return TCL_OK;
}

/*
 * ns_proxy configure pool ?opt? ?val? ?opt val ...?
 */
static int
ConfigureCmd(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Pool    *poolPtr;
    Tcl_Obj *listPtr;
    int      index = 0;

    if (objc < 3 || (objc > 4 && objc % 2 == 0)) {
        Tcl_WrongNumArgs(interp, 2, objv, "pool ?opt? ?val? ?opt val?...");
        return TCL_ERROR;
    }
    poolPtr = ProxyPoolGet(interp, Tcl_GetString(objv[2]));
    if (objc == 3) {
        listPtr = Tcl_NewListObj(0, NULL);
        for (int i = 0; settingOptions[i].name != NULL; i++) {
            if (!STREQ(settingOptions[i].name, "-maxslaves")) {
                AppendPair(listPtr, settingOptions[i].name,
                           GetSetting(interp, poolPtr, &settingOptions[i]));
            }
        }
        Tcl_SetObjResult(interp, listPtr);
        return TCL_OK;
    }
    for (int i = 3; i < objc; i += 2) {
        if (Tcl_GetIndexFromObjStruct(interp, objv[i], settingOptions,
                                      sizeof(settingOptions[0]), "flags", 0,
                                      &index)
                != TCL_OK
            || (i + 1 < objc
                && PutSetting(interp, poolPtr, &settingOptions[index],
                              objv[i + 1])
                    != TCL_OK)) {
            return TCL_ERROR;
        }
    }
    if (objc <= 5) {
        Tcl_SetObjResult(interp,
                         GetSetting(interp, poolPtr, &settingOptions[index]));
    }
    return TCL_OK;
}

static int
ReadTime(Tcl_Interp *interp, Tcl_Obj *objPtr, Ns_Time *timePtr)
{
    Ns_Time    *foundPtr = NULL;
    Ns_ObjvSpec args[] = {{"time", Ns_ObjvTime, &foundPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(NULL, args, interp, 0, 1, &objPtr) != NS_OK) {
        return TCL_ERROR;
    }
    *timePtr = *foundPtr;
    return TCL_OK;
}

static void
AppendPair(Tcl_Obj *listPtr, const char *key, Tcl_Obj *valuePtr)
{
    (void) Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewStringObj(key, -1));
    (void) Tcl_ListObjAppendElement(NULL, listPtr, valuePtr);
}

/*
 * A time in seconds; isShort: without trailing zeros.
 */
static Tcl_Obj *
TimeObj(const Ns_Time *timePtr, bool isShort)
{
    char text[48];
    int  length = snprintf(text, sizeof(text), NS_TIME_FMT, timePtr->sec,
                           timePtr->usec);

    while (isShort && strchr("0.", text[length - 1]) != NULL) {
        bool isPoint = text[--length] == '.';

        text[length] = '\0';
        if (isPoint) {
            break;
        }
    }
    return Tcl_NewStringObj(text, -1);
}

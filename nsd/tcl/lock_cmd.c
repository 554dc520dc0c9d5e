/*
 * lock_cmd.c --
 *
 *      ns_mutex, ns_critsec, ns_sema, ns_cond (ns_event), ns_rwlock.
 *
 *      Objects are known by name, and any subcommand makes what does not exist.
 *      The result is the name, unless said otherwise.
 */

#include "ns.h"
#include "tcl/commands.h"
#include "tcl/interp.h"
#include "tcl/lockobj.h"

static Tcl_ObjCmdProc MutexObjCmd;
static Tcl_ObjCmdProc CritsecObjCmd;
static Tcl_ObjCmdProc SemaObjCmd;
static Tcl_ObjCmdProc CondObjCmd;
static Tcl_ObjCmdProc RwlockObjCmd;

static int GetSubcmd(Tcl_Interp *interp, const char *const *names, int objc,
                     Tcl_Obj *const *objv, int *indexPtr);
static NsLockObj *UseObject(NsServer *serverPtr, NsLockKind kind, int objc,
                            Tcl_Obj *const *objv);
static int Create(Tcl_Interp *interp, NsServer *serverPtr, NsLockKind kind,
                  int objc, Tcl_Obj *const *objv);
static int Destroy(Tcl_Interp *interp, NsServer *serverPtr, NsLockKind kind,
                   int objc, Tcl_Obj *const *objv);
static int Acquire(Tcl_Interp *interp, NsLockObj *objPtr, bool isWrite);
static int GiveUp(Tcl_Interp *interp, NsLockObj *objPtr);
static int Eval(Tcl_Interp *interp, NsServer *serverPtr, NsLockKind kind,
                bool isWrite, int objc, Tcl_Obj *const *objv);
static int CondWait(Tcl_Interp *interp, NsServer *serverPtr, bool isAbsolute,
                    int objc, Tcl_Obj *const *objv);

static const NsTclCommand commands[] = {
    {"ns_mutex",   MutexObjCmd, false},
    {"ns_critsec", CritsecObjCmd, false},
    {"ns_sema",    SemaObjCmd, false},
    {"ns_cond",    CondObjCmd, false},
    {"ns_event",   CondObjCmd, false},
    {"ns_rwlock",  RwlockObjCmd, false},
    {NULL, NULL, false}
};


void
NsLockCmdInit(void)
{
    NsTclAddCommands(commands);
}

/*
 * ns_mutex cmd ?arg ...?
 */
static int
MutexObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "create", "destroy", "eval", "lock", "trylock", "unlock", NULL
    };
    enum {CREATE, DESTROY, EVAL, LOCK, TRYLOCK, UNLOCK} subcmd;
    NsServer  *serverPtr = ((NsInterp *) clientData)->serverPtr;
    NsLockObj *objPtr;
    int        index, result = TCL_OK;

    if (GetSubcmd(interp, names, objc, objv, &index) != TCL_OK) {
        return TCL_ERROR;
    }
    subcmd = index;
    switch (subcmd) {
    case CREATE:
        return Create(interp, serverPtr, NS_LOCK_MUTEX, objc, objv);
    case DESTROY:
        return Destroy(interp, serverPtr, NS_LOCK_MUTEX, objc, objv);
    case EVAL:
        return Eval(interp, serverPtr, NS_LOCK_MUTEX, true, objc, objv);
    default:
        break;
    }
    objPtr = UseObject(serverPtr, NS_LOCK_MUTEX, objc, objv);
    if (subcmd == LOCK) {
        result = Acquire(interp, objPtr, true);
    } else if (subcmd == UNLOCK) {
        result = GiveUp(interp, objPtr);
    } else {
        Tcl_SetObjResult(interp, Tcl_NewIntObj(NsLockObjTry(objPtr)));
    }
    NsLockObjRelease(objPtr);
    return result;
}

/*
 * ns_critsec cmd ?arg ...?
 */
static int
CritsecObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "create", "destroy", "enter", "eval", "leave", NULL
    };
    enum {CREATE, DESTROY, ENTER, EVAL, LEAVE} subcmd;
    NsServer  *serverPtr = ((NsInterp *) clientData)->serverPtr;
    NsLockObj *objPtr;
    int        index, result;

    if (GetSubcmd(interp, names, objc, objv, &index) != TCL_OK) {
        return TCL_ERROR;
    }
    subcmd = index;
    switch (subcmd) {
    case CREATE:
        return Create(interp, serverPtr, NS_LOCK_CRITSEC, objc, objv);
    case DESTROY:
        return Destroy(interp, serverPtr, NS_LOCK_CRITSEC, objc, objv);
    case EVAL:
        return Eval(interp, serverPtr, NS_LOCK_CRITSEC, true, objc, objv);
    default:
        break;
    }
    objPtr = UseObject(serverPtr, NS_LOCK_CRITSEC, objc, objv);
    result = subcmd == ENTER ? Acquire(interp, objPtr, true)
        : GiveUp(interp, objPtr);
    NsLockObjRelease(objPtr);
    return result;
}

/*
 * ns_rwlock cmd ?arg ...?
 */
static int
RwlockObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "create", "destroy", "readlock", "readunlock", "readeval", "writelock",
        "writeunlock", "writeeval", "unlock", NULL
    };
    enum {
        CREATE, DESTROY, READLOCK, READUNLOCK, READEVAL, WRITELOCK,
        WRITEUNLOCK, WRITEEVAL, UNLOCK
    } subcmd;
    NsServer  *serverPtr = ((NsInterp *) clientData)->serverPtr;
    NsLockObj *objPtr;
    int        index, result;

    if (GetSubcmd(interp, names, objc, objv, &index) != TCL_OK) {
        return TCL_ERROR;
    }
    subcmd = index;
    switch (subcmd) {
    case CREATE:
        return Create(interp, serverPtr, NS_LOCK_RWLOCK, objc, objv);
    case DESTROY:
        return Destroy(interp, serverPtr, NS_LOCK_RWLOCK, objc, objv);
    case READEVAL:
    case WRITEEVAL:
        return Eval(interp, serverPtr, NS_LOCK_RWLOCK, subcmd == WRITEEVAL,
                    objc, objv);
    default:
        break;
    }
    objPtr = UseObject(serverPtr, NS_LOCK_RWLOCK, objc, objv);
    if (subcmd == READLOCK || subcmd == WRITELOCK) {
        result = Acquire(interp, objPtr, subcmd == WRITELOCK);
    } else {
        result = GiveUp(interp, objPtr);
    }
    NsLockObjRelease(objPtr);
    return result;
}

/*
 * ns_sema cmd ?arg ...?
 */
static int
SemaObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "create", "destroy", "release", "wait", NULL
    };
    enum {CREATE, DESTROY, RELEASE, WAIT} subcmd;
    NsServer  *serverPtr = ((NsInterp *) clientData)->serverPtr;
    NsLockObj *objPtr;
    int        index, iCount, count;

    if (GetSubcmd(interp, names, objc, objv, &index) != TCL_OK) {
        return TCL_ERROR;
    }
    subcmd = index;
    if (subcmd == DESTROY) {
        return Destroy(interp, serverPtr, NS_LOCK_SEMA, objc, objv);
    }
    iCount = subcmd == CREATE ? 2 : 3;
    count = subcmd == CREATE ? 0 : 1;
    if (subcmd != WAIT && objc > iCount
            && Tcl_GetIntFromObj(interp, objv[iCount], &count) != TCL_OK) {
        return TCL_ERROR;
    }
    objPtr = UseObject(serverPtr, NS_LOCK_SEMA, subcmd == CREATE ? 2 : objc,
                       objv);
    if (subcmd == WAIT) {
        NsLockObjTakeOne(objPtr);
    } else {
        NsLockObjPost(objPtr, count);
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(NsLockObjName(objPtr), -1));
    NsLockObjRelease(objPtr);
    return TCL_OK;
}

/*
 * ns_cond cmd ?arg ...?, ns_event cmd ?arg ...?
 */
static int
CondObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "abswait", "broadcast", "create", "destroy", "set", "signal", "wait",
        NULL
    };
    enum {ABSWAIT, BROADCAST, CREATE, DESTROY, SET, SIGNAL, WAIT} subcmd;
    NsServer  *serverPtr = ((NsInterp *) clientData)->serverPtr;
    NsLockObj *objPtr;
    int        index;

    if (GetSubcmd(interp, names, objc, objv, &index) != TCL_OK) {
        return TCL_ERROR;
    }
    subcmd = index;
    switch (subcmd) {
    case CREATE:
        return Create(interp, serverPtr, NS_LOCK_COND, objc, objv);
    case DESTROY:
        return Destroy(interp, serverPtr, NS_LOCK_COND, objc, objv);
    case WAIT:
    case ABSWAIT:
        return CondWait(interp, serverPtr, subcmd == ABSWAIT, objc, objv);
    default:
        break;
    }
    objPtr = UseObject(serverPtr, NS_LOCK_COND, objc, objv);
    NsLockObjSignal(objPtr, subcmd == BROADCAST);
    Tcl_SetObjResult(interp, Tcl_NewStringObj(NsLockObjName(objPtr), -1));
    NsLockObjRelease(objPtr);
    return TCL_OK;
}

/*
 * wait|abswait condId mutexId ?timeout?: 1 if signalled, 0 after the timeout.
 */
static int
CondWait(Tcl_Interp *interp, NsServer *serverPtr, bool isAbsolute, int objc,
         Tcl_Obj *const *objv)
{
    NsLockObj     *condPtr, *mutexPtr;
    Ns_Time        deadline, *deadlinePtr = NULL;
    Ns_ReturnCode  status;

    if (objc != 4 && objc != 5) {
        Tcl_WrongNumArgs(interp, 2, objv, "condId mutexId ?timeout?");
        return TCL_ERROR;
    }
    if (objc == 5) {
        if (Ns_TclGetTimeFromObj(interp, objv[4], &deadline) != TCL_OK) {
            return TCL_ERROR;
        }
        if (deadline.sec != 0 || deadline.usec != 0) {
            deadlinePtr = &deadline;
            if (!isAbsolute) {
                Ns_Time span = deadline;

                Ns_GetTime(&deadline);
                Ns_IncrTime(&deadline, span.sec, span.usec);
            }
        }
    }
    condPtr = NsLockObjUse(serverPtr, NS_LOCK_COND, Tcl_GetString(objv[2]));
    mutexPtr = NsLockObjUse(serverPtr, NS_LOCK_MUTEX, Tcl_GetString(objv[3]));
    status = NsLockObjWait(condPtr, mutexPtr, deadlinePtr);
    NsLockObjRelease(mutexPtr);
    NsLockObjRelease(condPtr);

    if (status == NS_ERROR) {
        Ns_TclPrintfResult(interp, "%s is not locked by this thread",
                           Tcl_GetString(objv[3]));
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(status == NS_OK));
    return TCL_OK;
}

static int
GetSubcmd(Tcl_Interp *interp, const char *const *names, int objc,
          Tcl_Obj *const *objv, int *indexPtr)
{
    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "cmd ?arg ...?");
        return TCL_ERROR;
    }
    return Tcl_GetIndexFromObj(interp, objv[1], names, "cmd", TCL_EXACT,
                               indexPtr);
}

/*
 * The object named by the third word; a new one without that word.
 */
static NsLockObj *
UseObject(NsServer *serverPtr, NsLockKind kind, int objc, Tcl_Obj *const *objv)
{
    return NsLockObjUse(serverPtr, kind,
                        objc > 2 ? Tcl_GetString(objv[2]) : NULL);
}

static int
Create(Tcl_Interp *interp, NsServer *serverPtr, NsLockKind kind, int objc,
       Tcl_Obj *const *objv)
{
    NsLockObj *objPtr = UseObject(serverPtr, kind, objc, objv);

    Tcl_SetObjResult(interp, Tcl_NewStringObj(NsLockObjName(objPtr), -1));
    NsLockObjRelease(objPtr);
    return TCL_OK;
}

static int
Destroy(Tcl_Interp *interp, NsServer *serverPtr, NsLockKind kind, int objc,
        Tcl_Obj *const *objv)
{
    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "id");
        return TCL_ERROR;
    }
    NsLockObjDestroy(serverPtr, kind, Tcl_GetString(objv[2]));
    Tcl_SetObjResult(interp, objv[2]);
    return TCL_OK;
}

static int
Acquire(Tcl_Interp *interp, NsLockObj *objPtr, bool isWrite)
{
    if (NsLockObjAcquire(objPtr, isWrite) != NS_OK) {
        Ns_TclPrintfResult(interp, "%s is already locked by this thread",
                           NsLockObjName(objPtr));
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(NsLockObjName(objPtr), -1));
    return TCL_OK;
}

static int
GiveUp(Tcl_Interp *interp, NsLockObj *objPtr)
{
    if (NsLockObjGiveUp(objPtr) != NS_OK) {
        Ns_TclPrintfResult(interp, "%s is not locked by this thread",
                           NsLockObjName(objPtr));
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(NsLockObjName(objPtr), -1));
    return TCL_OK;
}

/*
 * Run a script in the caller's scope, holding the object.
 */
static int
Eval(Tcl_Interp *interp, NsServer *serverPtr, NsLockKind kind, bool isWrite,
     int objc, Tcl_Obj *const *objv)
{
    NsLockObj *objPtr;
    int        result;

    if (objc != 4) {
        Tcl_WrongNumArgs(interp, MIN(objc, 3), objv,
                         objc < 3 ? "id script" : "script");
        return TCL_ERROR;
    }
    objPtr = UseObject(serverPtr, kind, objc, objv);
    result = Acquire(interp, objPtr, isWrite);
    if (result == TCL_OK) {
        result = Tcl_EvalObjEx(interp, objv[3], 0);
        (void) NsLockObjGiveUp(objPtr);
    }
    NsLockObjRelease(objPtr);
    return result;
}

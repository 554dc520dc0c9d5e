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

/*
 * One call of a command; objv[1] is the subcommand.
 */
typedef struct Call {
    Tcl_Interp     *interp;
    NsServer       *serverPtr;
    NsLockKind      kind;
    int             objc;
    Tcl_Obj *const *objv;
} Call;

/*
 * flag: to write, of all waiters, at an absolute time.
 */
typedef int (SubcmdProc) (const Call *callPtr, bool flag);

static SubcmdProc Create, CreateSema, Destroy, Acquire, TryAcquire, GiveUp,
                  Eval, Release, TakeOne, Signal, Wait;

typedef struct Subcmd {
    const char *name;
    SubcmdProc *proc;
    bool        flag;
} Subcmd;

static const Subcmd mutexSubcmds[] = {
    {"create", Create, false}, {"destroy", Destroy, false},
    {"eval", Eval, true}, {"lock", Acquire, true},
    {"trylock", TryAcquire, true}, {"unlock", GiveUp, false},
    {NULL, NULL, false}
};

static const Subcmd critsecSubcmds[] = {
    {"create", Create, false}, {"destroy", Destroy, false},
    {"enter", Acquire, true}, {"eval", Eval, true}, {"leave", GiveUp, false},
    {NULL, NULL, false}
};

static const Subcmd semaSubcmds[] = {
    {"create", CreateSema, false}, {"destroy", Destroy, false},
    {"release", Release, false}, {"wait", TakeOne, false},
    {NULL, NULL, false}
};

static const Subcmd condSubcmds[] = {
    {"abswait", Wait, true}, {"broadcast", Signal, true},
    {"create", Create, false}, {"destroy", Destroy, false},
    {"set", Signal, false}, {"signal", Signal, false}, {"wait", Wait, false},
    {NULL, NULL, false}
};

static const Subcmd rwlockSubcmds[] = {
    {"create", Create, false}, {"destroy", Destroy, false},
    {"readlock", Acquire, false}, {"readunlock", GiveUp, false},
    {"readeval", Eval, false}, {"writelock", Acquire, true},
    {"writeunlock", GiveUp, false}, {"writeeval", Eval, true},
    {"unlock", GiveUp, false}, {NULL, NULL, false}
};

static Tcl_ObjCmdProc MutexObjCmd;
static Tcl_ObjCmdProc CritsecObjCmd;
static Tcl_ObjCmdProc SemaObjCmd;
static Tcl_ObjCmdProc CondObjCmd;
static Tcl_ObjCmdProc RwlockObjCmd;

static int Run(const Subcmd *subcmds, const Call *callPtr);
static NsLockObj *UseObject(const Call *callPtr);
static int ReturnName(const Call *callPtr, NsLockObj *objPtr);
static int GetCount(const Call *callPtr, int i, int *countPtr);
static int Lock(const Call *callPtr, NsLockObj *objPtr, bool isWrite);
static int NotLocked(Tcl_Interp *interp, const char *name);

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

#define CALL(theKind) \
    &(Call) {interp, ((NsInterp *) clientData)->serverPtr, theKind, objc, objv}

static int
MutexObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return Run(mutexSubcmds, CALL(NS_LOCK_MUTEX));
}

static int
CritsecObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return Run(critsecSubcmds, CALL(NS_LOCK_CRITSEC));
}

static int
SemaObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    return Run(semaSubcmds, CALL(NS_LOCK_SEMA));
}

static int
CondObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    return Run(condSubcmds, CALL(NS_LOCK_COND));
}

static int
RwlockObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return Run(rwlockSubcmds, CALL(NS_LOCK_RWLOCK));
}

static int
Run(const Subcmd *subcmds, const Call *callPtr)
{
    int index;

    if (callPtr->objc < 2) {
        Tcl_WrongNumArgs(callPtr->interp, 1, callPtr->objv, "cmd ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(callPtr->interp, callPtr->objv[1], subcmds,
                                  sizeof(subcmds[0]), "cmd", TCL_EXACT, &index)
            != TCL_OK) {
        return TCL_ERROR;
    }
    return subcmds[index].proc(callPtr, subcmds[index].flag);
}

/*
 * The object named by the third word; a new one without that word.
 */
static NsLockObj *
UseObject(const Call *callPtr)
{
    return NsLockObjUse(callPtr->serverPtr, callPtr->kind, callPtr->objc > 2
                        ? Tcl_GetString(callPtr->objv[2]) : NULL);
}

/*
 * The usual result; gives the object back.
 */
static int
ReturnName(const Call *callPtr, NsLockObj *objPtr)
{
    Tcl_SetObjResult(callPtr->interp,
                     Tcl_NewStringObj(NsLockObjName(objPtr), -1));
    NsLockObjRelease(objPtr);
    return TCL_OK;
}

/*
 * create ?name?
 */
static int
Create(const Call *callPtr, bool flag)
{
    return ReturnName(callPtr, UseObject(callPtr));
}

/*
 * destroy id
 */
static int
Destroy(const Call *callPtr, bool flag)
{
    if (callPtr->objc != 3) {
        Tcl_WrongNumArgs(callPtr->interp, 2, callPtr->objv, "id");
        return TCL_ERROR;
    }
    NsLockObjDestroy(callPtr->serverPtr, callPtr->kind,
                     Tcl_GetString(callPtr->objv[2]));
    Tcl_SetObjResult(callPtr->interp, callPtr->objv[2]);
    return TCL_OK;
}

/*
 * Mutexes, critical sections, read-write locks: lock, enter, ...
 */
static int
Acquire(const Call *callPtr, bool isWrite)
{
    NsLockObj *objPtr = UseObject(callPtr);

    if (Lock(callPtr, objPtr, isWrite) != TCL_OK) {
        NsLockObjRelease(objPtr);
        return TCL_ERROR;
    }
    return ReturnName(callPtr, objPtr);
}

static int
Lock(const Call *callPtr, NsLockObj *objPtr, bool isWrite)
{
    if (NsLockObjAcquire(objPtr, isWrite) != NS_OK) {
        Ns_TclPrintfResult(callPtr->interp,
                           "%s is already locked by this thread",
                           NsLockObjName(objPtr));
        return TCL_ERROR;
    }
    return TCL_OK;
}

/*
 * trylock id: 0 if acquired, -2 if busy.
 */
static int
TryAcquire(const Call *callPtr, bool flag)
{
    NsLockObj *objPtr = UseObject(callPtr);

    Tcl_SetObjResult(callPtr->interp, Tcl_NewIntObj(NsLockObjTry(objPtr)));
    NsLockObjRelease(objPtr);
    return TCL_OK;
}

static int
GiveUp(const Call *callPtr, bool flag)
{
    NsLockObj *objPtr = UseObject(callPtr);
    int        result;

    if (NsLockObjGiveUp(objPtr) == NS_OK) {
        return ReturnName(callPtr, objPtr);
    }
    result = NotLocked(callPtr->interp, NsLockObjName(objPtr));
    NsLockObjRelease(objPtr);
    return result;
}

static int
NotLocked(Tcl_Interp *interp, const char *name)
{
    Ns_TclPrintfResult(interp, "%s is not locked by this thread", name);
    return TCL_ERROR;
}

/*
 * eval id script: run it in the caller's scope, holding the object.
 */
static int
Eval(const Call *callPtr, bool isWrite)
{
    NsLockObj *objPtr;
    int        result;

    if (callPtr->objc != 4) {
        Tcl_WrongNumArgs(callPtr->interp, MIN(callPtr->objc, 3), callPtr->objv,
                         callPtr->objc < 3 ? "id script" : "script");
        return TCL_ERROR;
    }
    objPtr = UseObject(callPtr);
    result = Lock(callPtr, objPtr, isWrite);
    if (result == TCL_OK) {
        result = Tcl_EvalObjEx(callPtr->interp, callPtr->objv[3], 0);
        (void) NsLockObjGiveUp(objPtr);
    }
    NsLockObjRelease(objPtr);
    return result;
}

/*
 * Semaphores: create ?count?, with a new name.
 */
static int
CreateSema(const Call *callPtr, bool flag)
{
    NsLockObj *objPtr;
    int        count = 0;

    if (GetCount(callPtr, 2, &count) != TCL_OK) {
        return TCL_ERROR;
    }
    objPtr = NsLockObjUse(callPtr->serverPtr, callPtr->kind, NULL);
    NsLockObjPost(objPtr, count);
    return ReturnName(callPtr, objPtr);
}

/*
 * release id ?count?
 */
static int
Release(const Call *callPtr, bool flag)
{
    NsLockObj *objPtr;
    int        count = 1;

    if (GetCount(callPtr, 3, &count) != TCL_OK) {
        return TCL_ERROR;
    }
    objPtr = UseObject(callPtr);
    NsLockObjPost(objPtr, count);
    return ReturnName(callPtr, objPtr);
}

/*
 * The count is left alone without the word at i.
 */
static int
GetCount(const Call *callPtr, int i, int *countPtr)
{
    return callPtr->objc <= i ? TCL_OK
        : Tcl_GetIntFromObj(callPtr->interp, callPtr->objv[i], countPtr);
}

/*
 * wait id
 */
static int
TakeOne(const Call *callPtr, bool flag)
{
    NsLockObj *objPtr = UseObject(callPtr);

    NsLockObjTakeOne(objPtr);
    return ReturnName(callPtr, objPtr);
}

/*
 * Conditions: signal, set, broadcast.
 */
static int
Signal(const Call *callPtr, bool isBroadcast)
{
    NsLockObj *objPtr = UseObject(callPtr);

    NsLockObjSignal(objPtr, isBroadcast);
    return ReturnName(callPtr, objPtr);
}

/*
 * wait|abswait condId mutexId ?timeout?: 1 if signalled, 0 after the timeout.
 */
static int
Wait(const Call *callPtr, bool isAbsolute)
{
    Tcl_Obj *const *objv = callPtr->objv;
    NsLockObj     *condPtr, *mutexPtr;
    Ns_Time        deadline, *deadlinePtr = NULL;
    Ns_ReturnCode  status;

    if (callPtr->objc != 4 && callPtr->objc != 5) {
        Tcl_WrongNumArgs(callPtr->interp, 2, objv, "condId mutexId ?timeout?");
        return TCL_ERROR;
    }
    if (callPtr->objc == 5) {
        if (Ns_TclGetTimeFromObj(callPtr->interp, objv[4], &deadline)
                != TCL_OK) {
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
    condPtr = UseObject(callPtr);
    mutexPtr = NsLockObjUse(callPtr->serverPtr, NS_LOCK_MUTEX,
                            Tcl_GetString(objv[3]));
    status = NsLockObjWait(condPtr, mutexPtr, deadlinePtr);
    NsLockObjRelease(mutexPtr);
    NsLockObjRelease(condPtr);

    if (status == NS_ERROR) {
        return NotLocked(callPtr->interp, Tcl_GetString(objv[3]));
    }
    Tcl_SetObjResult(callPtr->interp, Tcl_NewBooleanObj(status == NS_OK));
    return TCL_OK;
}

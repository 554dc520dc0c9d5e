/* SPDX-License-Identifier: MPL-2.0
 * lock_cmd.c --
 *
 *      ns_mutex, ns_critsec, ns_sema, ns_cond (ns_event), ns_rwlock.
 *
 *      Objects are known by name, and any subcommand makes what does not exist.
 *      The result is the name, unless said otherwise.
 */

#include "ns.h"
#include "request/conn_int.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/lockobj.h"
#include "tcl/result.h"

/*
 * The flags of a row: the kind of object, and to write, of all waiters, at an
 * absolute time.
 */
#define KIND(flags) ((NsLockKind) ((flags) &0xFu))
#define IS_WRITE    0x10u
#define IS_ALL      0x20u
#define IS_ABSOLUTE 0x40u

static Tcl_ObjCmdProc Create, CreateSema, Destroy, Acquire, TryAcquire, GiveUp,
    Eval, Release, TakeOne, Signal, Wait;

static NsLockObj *UseObject(const NsInterp *itPtr, int objc,
                            Tcl_Obj *const *objv);
static NsLockObj *UseNamed(const NsInterp *itPtr, NsLockKind kind,
                           const char *name);
static int        ReturnName(Tcl_Interp *interp, NsLockObj *objPtr);
static int GetCount(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, int i,
                    int *countPtr);
static int Lock(const NsInterp *itPtr, NsLockObj *objPtr, bool isWrite);
static NsCleanupProc     ReportHeld;
static NsLockObjHeldProc LogHeld;
static int               FailNotHeld(Tcl_Interp *interp, const char *name);

#define ROW(name, proc, flags)                 \
    {                                          \
        name, proc, 0, NS_TCL_ANY, NULL, flags \
    }
#define DESTROY(kind)                        \
    {                                        \
        "destroy", Destroy, 1, 1, "id", kind \
    }

static const NsTclCommand mutexSubcmds[] = {
    ROW("create", Create, NS_LOCK_MUTEX),
    DESTROY(NS_LOCK_MUTEX),
    ROW("eval", Eval, NS_LOCK_MUTEX | IS_WRITE),
    ROW("lock", Acquire, NS_LOCK_MUTEX | IS_WRITE),
    ROW("trylock", TryAcquire, NS_LOCK_MUTEX),
    ROW("unlock", GiveUp, NS_LOCK_MUTEX),
    NS_TCL_END,
    NS_TCL_END};

static const NsTclCommand critsecSubcmds[] = {
    ROW("create", Create, NS_LOCK_CRITSEC),
    DESTROY(NS_LOCK_CRITSEC),
    ROW("enter", Acquire, NS_LOCK_CRITSEC | IS_WRITE),
    ROW("eval", Eval, NS_LOCK_CRITSEC | IS_WRITE),
    ROW("leave", GiveUp, NS_LOCK_CRITSEC),
    NS_TCL_END,
    NS_TCL_END};

static const NsTclCommand semaSubcmds[] = {
    ROW("create", CreateSema, NS_LOCK_SEMA),
    DESTROY(NS_LOCK_SEMA),
    ROW("release", Release, NS_LOCK_SEMA),
    ROW("wait", TakeOne, NS_LOCK_SEMA),
    NS_TCL_END,
    NS_TCL_END};

static const NsTclCommand condSubcmds[] = {
    {"abswait", Wait, 2, 3, "condId mutexId ?timeout?",
     NS_LOCK_COND | IS_ABSOLUTE},
    ROW("broadcast", Signal, NS_LOCK_COND | IS_ALL),
    ROW("create", Create, NS_LOCK_COND),
    DESTROY(NS_LOCK_COND),
    ROW("set", Signal, NS_LOCK_COND),
    ROW("signal", Signal, NS_LOCK_COND),
    {"wait", Wait, 2, 3, "condId mutexId ?timeout?", NS_LOCK_COND},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclCommand rwlockSubcmds[] = {
    ROW("create", Create, NS_LOCK_RWLOCK),
    DESTROY(NS_LOCK_RWLOCK),
    ROW("readlock", Acquire, NS_LOCK_RWLOCK),
    ROW("readunlock", GiveUp, NS_LOCK_RWLOCK),
    ROW("readeval", Eval, NS_LOCK_RWLOCK),
    ROW("writelock", Acquire, NS_LOCK_RWLOCK | IS_WRITE),
    ROW("writeunlock", GiveUp, NS_LOCK_RWLOCK),
    ROW("writeeval", Eval, NS_LOCK_RWLOCK | IS_WRITE),
    ROW("unlock", GiveUp, NS_LOCK_RWLOCK),
    NS_TCL_END,
    NS_TCL_END};

#define ENSEMBLE(name, rows)                             \
    {                                                    \
        name, "cmd ?arg ...?", "cmd", NS_TCL_EXACT, rows \
    }

static const NsTclEnsemble ensembles[] = {
    ENSEMBLE("ns_mutex", mutexSubcmds), ENSEMBLE("ns_critsec", critsecSubcmds),
    ENSEMBLE("ns_sema", semaSubcmds),   ENSEMBLE("ns_cond", condSubcmds),
    ENSEMBLE("ns_event", condSubcmds),  ENSEMBLE("ns_rwlock", rwlockSubcmds)};

void
NsLockCmdInit(void)
{
    for (int i = 0; i < Ns_NrElements(ensembles); i++) {
        NsTclAddEnsemble(&ensembles[i]);
    }
    NsLockObjInit();
    NsInterpAddCleanup(NS_CLEANUP_END, ReportHeld);
    NsInterpAddCleanup(NS_CLEANUP_RELEASE, ReportHeld);
}

/*
 * What scripts have left locked stays so, since nobody knows what it guards;
 * who waits for it waits in vain.
 */
static void
ReportHeld(NsInterp *itPtr)
{
    NsLockObjReportHeld(itPtr, LogHeld);
}

static void
LogHeld(const char *kind, const char *name, const void *owner)
{
    const NsInterp *itPtr = owner;
    const NsConn   *connPtr = itPtr->connPtr;

    Ns_Log(
        Warning,
        "tcl[%s]: %s%s%s left %s '%s' locked: others wait for it; use 'eval' "
        "to lock it, which also unlocks it",
        itPtr->serverPtr == NULL ? "" : itPtr->serverPtr->name,
        connPtr == NULL ? "a script" : connPtr->firstMethod,
        connPtr == NULL ? "" : " ", connPtr == NULL ? "" : connPtr->firstUrl,
        kind, name);
}

/*
 * The object named by the third word; a new one without that word.  NULL: the
 * interpreter has the reason.
 */
static NsLockObj *
UseObject(const NsInterp *itPtr, int objc, Tcl_Obj *const *objv)
{
    return UseNamed(itPtr, KIND(itPtr->rowPtr->flags),
                    objc > 2 ? Tcl_GetString(objv[2]) : NULL);
}

/*
 * Under a name that was made up for a mutex, a semaphore would be a new one,
 * and the wait for it without end.
 */
static NsLockObj *
UseNamed(const NsInterp *itPtr, NsLockKind kind, const char *name)
{
    if (name != NULL && NsLockObjIsForeign(kind, name)) {
        (void) NsTclFail(itPtr->interp, "%s is an object of another kind",
                         name);
        return NULL;
    }
    return NsLockObjUse(itPtr->serverPtr, kind, name);
}

/*
 * The usual result; gives the object back.
 */
static int
ReturnName(Tcl_Interp *interp, NsLockObj *objPtr)
{
    (void) NsTclReturnString(interp, NsLockObjName(objPtr));
    NsLockObjRelease(objPtr);
    return TCL_OK;
}

/*
 * create ?name?
 */
static int
Create(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsLockObj *objPtr = UseObject(clientData, objc, objv);

    return objPtr == NULL ? TCL_ERROR : ReturnName(interp, objPtr);
}

/*
 * destroy id
 */
static int
Destroy(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;

    NsLockObjDestroy(itPtr->serverPtr, KIND(itPtr->rowPtr->flags),
                     Tcl_GetString(objv[2]));
    return NsTclReturn(interp, objv[2]);
}

/*
 * Mutexes, critical sections, read-write locks: lock, enter, ...
 */
static int
Acquire(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    bool       isWrite = (NsTclRow(clientData)->flags & IS_WRITE) != 0;
    NsLockObj *objPtr = UseObject(clientData, objc, objv);

    if (objPtr == NULL) {
        return TCL_ERROR;
    }
    if (Lock(clientData, objPtr, isWrite) != TCL_OK) {
        NsLockObjRelease(objPtr);
        return TCL_ERROR;
    }
    return ReturnName(interp, objPtr);
}

static int
Lock(const NsInterp *itPtr, NsLockObj *objPtr, bool isWrite)
{
    const char *name = NsLockObjName(objPtr);

    if (NsLockObjAcquire(objPtr, isWrite, itPtr) == NS_OK) {
        return TCL_OK;
    }
    return NsLockObjIsRead(objPtr)
        ? NsTclFail(itPtr->interp,
                    "%s is already locked by this thread, for reading: unlock "
                    "it before it is locked for writing",
                    name)
        : NsTclFail(itPtr->interp, "%s is already locked by this thread", name);
}

/*
 * trylock id: 0 if acquired, -2 if busy.
 */
static int
TryAcquire(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsLockObj *objPtr = UseObject(clientData, objc, objv);

    if (objPtr == NULL) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewIntObj(NsLockObjTry(objPtr, clientData)));
    NsLockObjRelease(objPtr);
    return TCL_OK;
}

static int
GiveUp(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsLockObj *objPtr = UseObject(clientData, objc, objv);
    int        result;

    if (objPtr == NULL) {
        return TCL_ERROR;
    }
    if (NsLockObjGiveUp(objPtr) == NS_OK) {
        return ReturnName(interp, objPtr);
    }
    result = FailNotHeld(interp, NsLockObjName(objPtr));
    NsLockObjRelease(objPtr);
    return result;
}

static int
FailNotHeld(Tcl_Interp *interp, const char *name)
{
    return NsTclFail(interp, "%s is not locked by this thread", name);
}

/*
 * eval id script: run it in the caller's scope, holding the object.
 */
static int
Eval(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    bool       isWrite = (NsTclRow(clientData)->flags & IS_WRITE) != 0;
    NsLockObj *objPtr;
    int        result;

    if (objc != 4) {
        Tcl_WrongNumArgs(interp, MIN(objc, 3), objv,
                         objc < 3 ? "id script" : "script");
        return TCL_ERROR;
    }
    objPtr = UseObject(clientData, objc, objv);
    if (objPtr == NULL) {
        return TCL_ERROR;
    }
    result = Lock(clientData, objPtr, isWrite);
    if (result == TCL_OK) {
        result = Tcl_EvalObjEx(interp, objv[3], 0);
        (void) NsLockObjGiveUp(objPtr);
    }
    NsLockObjRelease(objPtr);
    return result;
}

/*
 * Semaphores: create ?count?, with a new name.
 */
static int
CreateSema(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsLockObj *objPtr;
    int        count = 0;

    if (GetCount(interp, objc, objv, 2, &count) != TCL_OK) {
        return TCL_ERROR;
    }
    objPtr = UseObject(clientData, 0, NULL);
    NsLockObjPost(objPtr, count);
    return ReturnName(interp, objPtr);
}

/*
 * release id ?count?
 */
static int
Release(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsLockObj *objPtr;
    int        count = 1;

    if (GetCount(interp, objc, objv, 3, &count) != TCL_OK) {
        return TCL_ERROR;
    }
    objPtr = UseObject(clientData, objc, objv);
    if (objPtr == NULL) {
        return TCL_ERROR;
    }
    NsLockObjPost(objPtr, count);
    return ReturnName(interp, objPtr);
}

/*
 * The count is left alone without the word at i.
 */
static int
GetCount(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, int i,
         int *countPtr)
{
    if (objc <= i) {
        return TCL_OK;
    }
    if (Tcl_GetIntFromObj(interp, objv[i], countPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (*countPtr < 0) {
        return NsTclFail(interp,
                         "expected integer in range [0,%d] for 'count', but "
                         "got %d",
                         INT_MAX, *countPtr);
    }
    return TCL_OK;
}

/*
 * wait id
 */
static int
TakeOne(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsLockObj *objPtr = UseObject(clientData, objc, objv);

    if (objPtr == NULL) {
        return TCL_ERROR;
    }
    if (NsLockObjTakeOne(objPtr) != NS_OK) {
        NsLockObjRelease(objPtr);
        return NsTclFail(interp, "the wait was ended");
    }
    return ReturnName(interp, objPtr);
}

/*
 * Conditions: signal, set, broadcast.
 */
static int
Signal(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    bool       isBroadcast = (NsTclRow(clientData)->flags & IS_ALL) != 0;
    NsLockObj *objPtr = UseObject(clientData, objc, objv);

    if (objPtr == NULL) {
        return TCL_ERROR;
    }
    NsLockObjSignal(objPtr, isBroadcast);
    return ReturnName(interp, objPtr);
}

/*
 * wait|abswait condId mutexId ?timeout?: 1 if signalled, 0 after the timeout.
 */
static int
Wait(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    unsigned      flags = NsTclRow(clientData)->flags;
    NsLockObj    *condPtr, *mutexPtr;
    Ns_Time       deadline, *deadlinePtr = NULL;
    Ns_ReturnCode status;

    if (objc == 5) {
        if (Ns_TclGetTimeFromObj(interp, objv[4], &deadline) != TCL_OK) {
            return TCL_ERROR;
        }
        if (deadline.sec != 0 || deadline.usec != 0) {
            deadlinePtr = &deadline;
            if ((flags & IS_ABSOLUTE) == 0) {
                Ns_Time span = deadline;

                Ns_GetTime(&deadline);
                Ns_IncrTime(&deadline, span.sec, span.usec);
            }
        }
    }
    mutexPtr = UseNamed(clientData, NS_LOCK_MUTEX, Tcl_GetString(objv[3]));
    if (mutexPtr == NULL) {
        return TCL_ERROR;
    }
    condPtr = UseObject(clientData, objc, objv);
    if (condPtr == NULL) {
        NsLockObjRelease(mutexPtr);
        return TCL_ERROR;
    }
    status = NsLockObjWait(condPtr, mutexPtr, deadlinePtr);
    NsLockObjRelease(mutexPtr);
    NsLockObjRelease(condPtr);

    if (status == NS_ERROR) {
        return FailNotHeld(interp, Tcl_GetString(objv[3]));
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(status == NS_OK));
}

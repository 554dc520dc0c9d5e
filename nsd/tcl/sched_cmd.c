/* SPDX-License-Identifier: MPL-2.0
 * sched_cmd.c --
 *
 *      Scripts that run at some time: ns_schedule_proc, ns_schedule_daily,
 *      ns_schedule_weekly, ns_after, ns_unschedule_proc, ns_cancel, ns_pause,
 *      ns_resume.
 */

#include "process/sched.h"
#include "process/units.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc ScheduleProcCmd, ScheduleDailyCmd, ScheduleWeeklyCmd,
    AfterCmd, IdCmd;

static int ScheduleClock(Tcl_Interp *interp, int period, int objc,
                         Tcl_Obj *const *objv);
static int Schedule(Tcl_Interp *interp, int flags, const Ns_Time *intervalPtr,
                    Tcl_Obj *scriptPtr, int nArgs, Tcl_Obj *const *args);
static int GetInterval(Tcl_Interp *interp, Tcl_Obj *objPtr,
                       const char *negative, Ns_Time *timePtr);
static int CheckRange(Tcl_Interp *interp, const char *name, int value, int max);
static Ns_SchedProc RunScript, FreeScript;

enum { CANCEL, PAUSE, RESUME };

static const NsTclCommand commands[] = {
    {"ns_schedule_proc", ScheduleProcCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_schedule_daily", ScheduleDailyCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_schedule_weekly", ScheduleWeeklyCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_after", AfterCmd, 2, NS_TCL_ANY, "seconds script ?args?", 0},
    {"ns_unschedule_proc", IdCmd, 1, 1, "id", NS_TCL_DATA(CANCEL)},
    {"ns_cancel", IdCmd, 1, 1, "id", NS_TCL_DATA(CANCEL)},
    {"ns_pause", IdCmd, 1, 1, "id", NS_TCL_DATA(PAUSE)},
    {"ns_resume", IdCmd, 1, 1, "id", NS_TCL_DATA(RESUME)},
    NS_TCL_END};

void
NsSchedCmdInit(void)
{
    NsTclAddCommands(commands);
    Ns_RegisterProcInfo((void *) RunScript, "ns:tclschedproc",
                        Ns_TclCallbackArgProc);
}

/*
 * ns_schedule_proc ?-once? ?-thread? ?--? interval script ?args?
 */
static int
ScheduleProcCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    int         isOnce = 0, isThread = 0, nArgs = 0, flags;
    Tcl_Obj    *intervalPtr, *scriptPtr;
    Ns_Time     interval;
    Ns_ObjvSpec options[] = {
        {"-once", Ns_ObjvBool, &isOnce, INT2PTR(NS_SCHED_ONCE)},
        {"-thread", Ns_ObjvBool, &isThread, INT2PTR(NS_SCHED_THREAD)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"interval", Ns_ObjvObj, &intervalPtr, NULL},
                          {"script", Ns_ObjvObj, &scriptPtr, NULL},
                          {"?args", Ns_ObjvArgs, &nArgs, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || GetInterval(interp, intervalPtr, "interval should be >= 0",
                       &interval)
            != TCL_OK) {
        return TCL_ERROR;
    }
    flags = isOnce | isThread;
    return Schedule(interp, flags, &interval, scriptPtr, nArgs,
                    objv + objc - nArgs);
}

/*
 * ns_schedule_daily ?-once? ?-thread? ?--? hour minute script ?args?
 */
static int
ScheduleDailyCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    return ScheduleClock(interp, NS_SCHED_DAILY, objc, objv);
}

/*
 * ns_schedule_weekly ?-once? ?-thread? ?--? day hour minute script ?args?
 */
static int
ScheduleWeeklyCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    return ScheduleClock(interp, NS_SCHED_WEEKLY, objc, objv);
}

static int
ScheduleClock(Tcl_Interp *interp, int period, int objc, Tcl_Obj *const *objv)
{
    int         isOnce = 0, isThread = 0, nArgs = 0, day = 0, hour, minute;
    Tcl_Obj    *scriptPtr;
    Ns_Time     interval = {0, 0};
    Ns_ObjvSpec options[] = {
        {"-once", Ns_ObjvBool, &isOnce, INT2PTR(NS_SCHED_ONCE)},
        {"-thread", Ns_ObjvBool, &isThread, INT2PTR(NS_SCHED_THREAD)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec words[] = {
        {"day", Ns_ObjvInt, &day, NULL},
        {"hour", Ns_ObjvInt, &hour, NULL},
        {"minute", Ns_ObjvInt, &minute, NULL},
        {"script", Ns_ObjvObj, &scriptPtr, NULL},
        {"?args", Ns_ObjvArgs, &nArgs, NULL},
        {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, period == NS_SCHED_WEEKLY ? words : words + 1,
                     interp, 1, objc, objv)
            != NS_OK
        || CheckRange(interp, "day", day, 6) != TCL_OK
        || CheckRange(interp, "hour", hour, 23) != TCL_OK
        || CheckRange(interp, "minute", minute, 59) != TCL_OK) {
        return TCL_ERROR;
    }
    interval.sec = (day * 24 + hour) * 3600 + minute * 60;
    return Schedule(interp, isOnce | isThread | period, &interval, scriptPtr,
                    nArgs, objv + objc - nArgs);
}

/*
 * ns_after seconds script ?args?
 */
static int
AfterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_Time interval;

    if (NsTclGetSpan(interp, objv[1], "timespec", &interval) != TCL_OK) {
        return TCL_ERROR;
    }
    return Schedule(interp, NS_SCHED_ONCE, &interval, objv[2], objc - 3,
                    objv + 3);
}

static int
Schedule(Tcl_Interp *interp, int flags, const Ns_Time *intervalPtr,
         Tcl_Obj *scriptPtr, int nArgs, Tcl_Obj *const *args)
{
    Ns_TclCallback *callbackPtr;
    int             id;

    callbackPtr = Ns_TclNewCallback(interp, Ns_TclCallbackProc, scriptPtr,
                                    nArgs, args);
    id = NsSchedAdd(&(NsSchedSpec){
        .proc = RunScript,
        .cleanupProc = FreeScript,
        .arg = callbackPtr,
        .flags = flags,
        .interval = *intervalPtr});
    if (id < 0) {
        Ns_TclFreeCallback(callbackPtr);
        return NsTclFail(interp, "could not schedule procedure");
    }
    return NsTclReturn(interp, Tcl_NewIntObj(id));
}

/*
 * Seconds, with fraction or unit.
 */
static int
GetInterval(Tcl_Interp *interp, Tcl_Obj *objPtr, const char *negative,
            Ns_Time *timePtr)
{
    double number;

    if (NsUnitsTime(Tcl_GetString(objPtr), timePtr)) {
        return TCL_OK;
    }
    if (Tcl_GetDoubleFromObj(NULL, objPtr, &number) == TCL_OK && number < 0) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(negative, -1));
    } else {
        (void) NsTclFailValue(interp, "TIME", "expected integer but got \"%s\"",
                              Tcl_GetString(objPtr));
    }
    return TCL_ERROR;
}

static int
CheckRange(Tcl_Interp *interp, const char *name, int value, int max)
{
    if (value < 0 || value > max) {
        return NsTclFail(interp, "%s should be >= 0 and <= %d", name, max);
    }
    return TCL_OK;
}

static int
IdCmd(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    static int (*const procs[])(int id) = {
        [CANCEL] = Ns_Cancel, [PAUSE] = Ns_Pause, [RESUME] = Ns_Resume};
    int what = NsTclData(clientData), id;

    if (Tcl_GetIntFromObj(interp, objv[1], &id) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewIntObj(procs[what](id)));
}

static void
RunScript(void *arg, int id)
{
    Ns_TclCallback *callbackPtr = arg;
    Tcl_Interp     *interp = Ns_TclAllocateInterp(callbackPtr->server);

    if (interp == NULL) {
        NsSchedNoteError(id, "no interpreter can be made");
        return;
    }
    if (Ns_TclEvalCallback(interp, callbackPtr, NULL, (char *) NULL)
        != TCL_OK) {
        NsSchedNoteError(id, Tcl_GetStringResult(interp));
        (void) Ns_TclLogErrorInfo(interp, NULL);
    }
    Ns_TclDeAllocateInterp(interp);
}

static void
FreeScript(void *arg, int id)
{
    Ns_TclFreeCallback(arg);
}

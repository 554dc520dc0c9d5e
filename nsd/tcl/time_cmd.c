/* SPDX-License-Identifier: MPL-2.0
 * time_cmd.c --
 *
 *      Times: ns_time, ns_httptime, ns_parsehttptime, ns_gmtime, ns_localtime,
 *      ns_fmttime, ns_sleep, ns_baseunit.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "base/chars.h"
#include "base/interrupt.h"
#include "process/units.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc TimeCmd, HttpTimeCmd, ParseHttpTimeCmd, FmtTimeCmd,
    SleepCmd, BrokenDownTimeCmd, BaseUnitCmd;

static Tcl_ObjCmdProc AdjustCmd, DiffCmd, FormatCmd, GetCmd, IncrCmd, MakeCmd,
    SecondsCmd, MicrosecondsCmd;

static int    SetTime(Tcl_Interp *interp, Ns_Time *timePtr);
static size_t FormatTime(char *text, size_t room, Ns_Time time);
static int    ReturnSeconds(Tcl_Interp *interp, const Ns_Time *timePtr);
static int    OneTime(Tcl_Interp *interp, Tcl_Obj *obj, Ns_Time *timePtr);

#define IS_LOCAL 1

static const NsTclCommand commands[] = {
    {"ns_time", TimeCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_httptime", HttpTimeCmd, 1, 1, "time", NS_TCL_BASIC},
    {"ns_parsehttptime", ParseHttpTimeCmd, 1, 1, "httptime", NS_TCL_BASIC},
    {"ns_gmtime", BrokenDownTimeCmd, 0, 0, "", NS_TCL_BASIC},
    {"ns_localtime", BrokenDownTimeCmd, 0, 0, "",
     NS_TCL_DATA(IS_LOCAL) | NS_TCL_BASIC},
    {"ns_fmttime", FmtTimeCmd, 1, 2, "time ?fmt?", NS_TCL_BASIC},
    {"ns_sleep", SleepCmd, 1, 1, "timespec", NS_TCL_BASIC},
    {"ns_baseunit", BaseUnitCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    NS_TCL_END};

static const NsTclCommand subcmds[] = {
    {"adjust", AdjustCmd, 1, 1, "time", 0},
    {"diff", DiffCmd, 2, 2, "time1 time2", 0},
    {"format", FormatCmd, 1, 1, "time", 0},
    {"get", GetCmd, 0, NS_TCL_ANY, NULL, 0},
    {"incr", IncrCmd, 2, 3, "time sec ?usec?", 0},
    {"make", MakeCmd, 1, 2, "sec ?usec?", 0},
    {"seconds", SecondsCmd, 1, 1, "time", 0},
    {"microseconds", MicrosecondsCmd, 1, 1, "time", 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {"ns_time", NULL, "option", 0, subcmds};

NS_TCL_FAMILY(Time, commands)

/*
 * ns_time ?subcommand ?arg ...??
 */
static int
TimeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return objc > 1 ? NsTclRunEnsemble(&ensemble, clientData, objc, objv)
                    : NsTclReturn(interp, Tcl_NewWideIntObj(time(NULL)));
}

static int
AdjustCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_Time time;

    return OneTime(interp, objv[2], &time) == TCL_OK
        ? SetTime(interp, &time)
        : TCL_ERROR;
}

static int
DiffCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Ns_Time time1, time2, diff;

    if (Ns_TclGetTimeFromObj(interp, objv[2], &time1) != TCL_OK
        || Ns_TclGetTimeFromObj(interp, objv[3], &time2) != TCL_OK) {
        return TCL_ERROR;
    }
    diff.sec = time1.sec - time2.sec;
    diff.usec = time1.usec - time2.usec;
    return SetTime(interp, &diff);
}

static int
FormatCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_Time time;
    char    text[64];

    if (OneTime(interp, objv[2], &time) != TCL_OK) {
        return TCL_ERROR;
    }
    (void) FormatTime(text, sizeof(text), time);
    return NsTclReturnString(interp, text);
}

/*
 * SECONDS.UUUUUU; the sign of a negative time is that of the whole.
 */
static size_t
FormatTime(char *text, size_t room, Ns_Time time)
{
    const char *sign = "";

    if (time.sec < 0) {
        sign = "-";
        time.sec = -time.sec;
        if (time.usec > 0) {
            time.sec--;
            time.usec = 1000000 - time.usec;
        }
    }
    return (size_t) snprintf(text, room, "%s%ld.%06ld", sign, time.sec,
                             time.usec);
}

static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Ns_Time now;

    Ns_GetTime(&now);
    return SetTime(interp, &now);
}

static int
IncrCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Ns_Time time;
    long    sec, usec = 0;

    if (Ns_TclGetTimeFromObj(interp, objv[2], &time) != TCL_OK
        || Tcl_GetLongFromObj(interp, objv[3], &sec) != TCL_OK
        || (objc == 5
            && Tcl_GetLongFromObj(interp, objv[4], &usec) != TCL_OK)) {
        return TCL_ERROR;
    }
    Ns_IncrTime(&time, sec, usec);
    return SetTime(interp, &time);
}

static int
MakeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Ns_Time time = {0, 0};

    if (Tcl_GetLongFromObj(interp, objv[2], &time.sec) != TCL_OK
        || (objc == 4
            && Tcl_GetLongFromObj(interp, objv[3], &time.usec) != TCL_OK)) {
        return TCL_ERROR;
    }
    return SetTime(interp, &time);
}

static int
SecondsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Ns_Time time;

    if (OneTime(interp, objv[2], &time) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewLongObj(time.sec));
}

static int
MicrosecondsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    Ns_Time time;

    if (OneTime(interp, objv[2], &time) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewLongObj(time.usec));
}

static int
SetTime(Tcl_Interp *interp, Ns_Time *timePtr)
{
    Ns_AdjTime(timePtr);
    return NsTclReturn(interp, Ns_TclNewTimeObj(timePtr));
}

/*
 * The only argument of a subcommand.
 */
static int
OneTime(Tcl_Interp *interp, Tcl_Obj *obj, Ns_Time *timePtr)
{
    if (Ns_TclGetTimeFromObj(interp, obj, timePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_AdjTime(timePtr);
    return TCL_OK;
}

static int
HttpTimeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Ns_Time    time;
    Ns_DString ds;
    time_t     when;

    if (Ns_TclGetTimeFromObj(interp, objv[1], &time) != TCL_OK) {
        return TCL_ERROR;
    }
    when = (time_t) time.sec;
    Ns_DStringInit(&ds);
    (void) Ns_HttpTime(&ds, &when);
    return NsTclReturnText(interp, &ds);
}

static int
ParseHttpTimeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    time_t when;

    when = Ns_ParseHttpTime(Tcl_GetString(objv[1]));
    if (when == 0) {
        return NsTclFail(interp, "invalid time: %s", Tcl_GetString(objv[1]));
    }
    return NsTclReturn(interp, Tcl_NewWideIntObj(when));
}

static int
BrokenDownTimeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    time_t           now = time(NULL);
    const struct tm *tmPtr = NsTclData(clientData) == IS_LOCAL
        ? ns_localtime(&now)
        : ns_gmtime(&now);

    Ns_TclPrintfResult(interp, "%d %d %d %d %d %d %d %d %d", tmPtr->tm_sec,
                       tmPtr->tm_min, tmPtr->tm_hour, tmPtr->tm_mday,
                       tmPtr->tm_mon, tmPtr->tm_year, tmPtr->tm_wday,
                       tmPtr->tm_yday, tmPtr->tm_isdst);
    return TCL_OK;
}

static int
FmtTimeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const char *format = "%c";
    char        text[200];
    Ns_Time     time;
    time_t      when;
    struct tm  *tmPtr;
    size_t      length = 0;

    if (Ns_TclGetTimeFromObj(interp, objv[1], &time) != TCL_OK) {
        return TCL_ERROR;
    }
    if (objc == 3) {
        format = Tcl_GetString(objv[2]);
    }
    when = (time_t) time.sec;
    tmPtr = ns_localtime(&when);
    if (tmPtr != NULL) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        length = strftime(text, sizeof(text), format, tmPtr);
#pragma GCC diagnostic pop
    }
    if (length == 0) {
        return NsTclFail(interp, "invalid time: %s", Tcl_GetString(objv[1]));
    }
    return NsTclReturn(interp, Tcl_NewStringObj(text, (int) length));
}

static int
SleepCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_Time time;

    if (NsTclGetSpan(interp, objv[1], "timespec", &time) != TCL_OK) {
        return TCL_ERROR;
    }
    if (NsSleepEndable(&time) != NS_OK) {
        return NsTclFail(interp, "the sleep was ended");
    }
    return TCL_OK;
}

/*
 * ns_baseunit -size size | -time time: as bytes, or as seconds.
 */
static int
BaseUnitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Tcl_Obj    *sizeObj = NULL;
    Tcl_WideInt bytes;
    Ns_Time    *timePtr = NULL;
    Ns_ObjvSpec opts[] = {{"-size", Ns_ObjvObj, &sizeObj, NULL},
                          {"-time", Ns_ObjvTime, &timePtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, NULL, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if ((sizeObj == NULL) == (timePtr == NULL)) {
        return NsTclFail(interp, "either -size or -time must be specified");
    }
    if (sizeObj == NULL) {
        return ReturnSeconds(interp, timePtr);
    }
    return Ns_TclGetMemUnitFromObj(interp, sizeObj, &bytes) == TCL_OK
        ? NsTclReturn(interp, Tcl_NewWideIntObj(bytes))
        : TCL_ERROR;
}

static int
ReturnSeconds(Tcl_Interp *interp, const Ns_Time *timePtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringAppendTime(&ds, timePtr);
    return NsTclReturnText(interp, &ds);
}

/* SPDX-License-Identifier: MPL-2.0
 * frame_cmd.c --
 *
 *      Asking for and controlling the running page: ns_adp_argc, ns_adp_argv,
 *      ns_adp_bind_args, ns_adp_dir, ns_adp_info, ns_adp_exception,
 *      ns_adp_stats, ns_adp_return, ns_adp_break, ns_adp_abort, ns_adp_ctl,
 *      ns_adp_debug.
 */

#include "nsstring.h"
#include "adp/buffer.h"
#include "adp/commands.h"
#include "adp/debug.h"
#include "adp/interp.h"
#include "adp/page.h"
#include "adp/run.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc ArgcCmd, ArgvCmd, BindArgsCmd, DirCmd, InfoCmd,
    ExceptionCmd, StatsCmd, DebugCmd, SetBufferSize, SetChannel, SetFlag,
    RaiseCmd;

static const NsAdpFrame *ActiveFrame(Tcl_Interp *interp);

static const NsTclCommand commands[] = {
    {"ns_adp_argc", ArgcCmd, 0, 0, NULL, 0},
    {"ns_adp_argv", ArgvCmd, 0, 2, "?index? ?default?", 0},
    {"ns_adp_bind_args", BindArgsCmd, 1, NS_TCL_ANY, "varName ?varName ...?",
     0},
    {"ns_adp_dir", DirCmd, 0, 0, NULL, 0},
    {"ns_adp_info", InfoCmd, 0, 0, NULL, 0},
    {"ns_adp_exception", ExceptionCmd, 0, 1, "?varName?", 0},
    {"ns_adp_stats", StatsCmd, 0, 0, NULL, 0},
    {"ns_adp_return", RaiseCmd, 0, 1, "?retval?", NS_TCL_DATA(NS_ADP_RETURN)},
    {"ns_adp_break", RaiseCmd, 0, 1, "?retval?", NS_TCL_DATA(NS_ADP_BREAK)},
    {"ns_adp_abort", RaiseCmd, 0, 1, "?retval?", NS_TCL_DATA(NS_ADP_ABORT)},
    {"ns_adp_debug", DebugCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

static const NsTclCommand ctlSubcmds[] = {
    {"bufsize", SetBufferSize, 0, 1, "?size?", 0},
    {"channel", SetChannel, 1, 1, "channel", 0},
    {"autoabort", SetFlag, 0, 1, "?bool?", NS_ADP_AUTOABORT},
    {"cache", SetFlag, 0, 1, "?bool?", NS_ADP_CACHE},
    {"detailerror", SetFlag, 0, 1, "?bool?", NS_ADP_DETAIL},
    {"displayerror", SetFlag, 0, 1, "?bool?", NS_ADP_DISPLAY},
    {"expire", SetFlag, 0, 1, "?bool?", NS_ADP_EXPIRE},
    {"safe", SetFlag, 0, 1, "?bool?", NS_ADP_SAFE},
    {"singlescript", SetFlag, 0, 1, "?bool?", NS_ADP_SINGLE},
    {"stream", SetFlag, 0, 1, "?bool?", NS_ADP_STREAM},
    {"stricterror", SetFlag, 0, 1, "?bool?", NS_ADP_STRICT},
    {"trace", SetFlag, 0, 1, "?bool?", NS_ADP_TRACE},
    {"trimspace", SetFlag, 0, 1, "?bool?", NS_ADP_TRIM},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ctl = {
    "ns_adp_ctl", "option ?arg ...?", "option", NS_TCL_EXACT, ctlSubcmds};

void
NsAdpFrameCmdInit(void)
{
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&ctl);
}

static const NsAdpFrame *
ActiveFrame(Tcl_Interp *interp)
{
    const NsAdpInterp *adpPtr = NsAdpGet(interp);

    if (adpPtr == NULL || adpPtr->framePtr == NULL) {
        Ns_TclPrintfResult(interp, "no active adp");
        return NULL;
    }
    return adpPtr->framePtr;
}

static int
ArgcCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const NsAdpFrame *framePtr;

    if ((framePtr = ActiveFrame(interp)) == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewIntObj(framePtr->nArgs));
}

static int
ArgvCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const NsAdpFrame *framePtr;
    int               i;

    framePtr = ActiveFrame(interp);
    if (framePtr == NULL) {
        return TCL_ERROR;
    }
    if (objc == 1) {
        return NsTclReturn(interp,
                           Tcl_NewListObj(framePtr->nArgs, framePtr->args));
    }
    if (Tcl_GetIntFromObj(interp, objv[1], &i) != TCL_OK) {
        return TCL_ERROR;
    }
    if (i >= 0 && i < framePtr->nArgs) {
        Tcl_SetObjResult(interp, framePtr->args[i]);
    } else if (objc == 3) {
        Tcl_SetObjResult(interp, objv[2]);
    }
    return TCL_OK;
}

/*
 * An included page may bind all its arguments; otherwise the first one is left
 * out.
 */
static int
BindArgsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const NsAdpFrame *framePtr;
    int               first;

    framePtr = ActiveFrame(interp);
    if (framePtr == NULL) {
        return TCL_ERROR;
    }
    first = framePtr->nArgs - (objc - 1);
    if (first != 1 && !(first == 0 && framePtr->isInclude)) {
        return NsTclFail(interp, "invalid #variables");
    }
    for (int i = 1; i < objc; i++) {
        if (Tcl_ObjSetVar2(interp, objv[i], NULL, framePtr->args[first + i - 1],
                           TCL_LEAVE_ERR_MSG)
            == NULL) {
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

static int
DirCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Ns_DString dir;

    Ns_DStringInit(&dir);
    NsAdpDir(NsAdpGet(interp), &dir);
    return NsTclReturnText(interp, &dir);
}

static int
InfoCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const NsAdpFrame *framePtr;
    const char       *file;
    Tcl_Obj          *items[3];

    if ((framePtr = ActiveFrame(interp)) == NULL) {
        return TCL_ERROR;
    }
    file = framePtr->file;
    items[0] = Tcl_NewStringObj(file != NULL ? file : "", -1);
    items[1] = Tcl_NewWideIntObj(framePtr->bytes);
    items[2] = Tcl_NewWideIntObj(framePtr->mtime);
    return NsTclReturn(interp, Tcl_NewListObj(3, items));
}

static int
ExceptionCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        [NS_ADP_OK] = "ok",
        [NS_ADP_BREAK] = "break",
        [NS_ADP_ABORT] = "abort",
        [NS_ADP_RETURN] = "return",
        [NS_ADP_TIMEOUT] = "timeout"};
    NsAdpException exception = NsAdpGet(interp)->exception;

    if (objc == 2
        && Tcl_ObjSetVar2(interp, objv[1], NULL,
                          Tcl_NewStringObj(names[exception], -1),
                          TCL_LEAVE_ERR_MSG)
            == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(exception != NS_ADP_OK));
}

static int
StatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Ns_DString stats;

    Ns_DStringInit(&stats);
    NsAdpStats(NsAdpGet(interp)->adpServerPtr, &stats);
    return NsTclReturnText(interp, &stats);
}

/*
 * The error unwinds the block, the exception ends the page.
 */
static int
RaiseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsAdpGet(interp)->exception = (NsAdpException) NsTclData(clientData);
    if (objc == 2) {
        Tcl_SetObjResult(interp, objv[1]);
    }
    return TCL_ERROR;
}

static int
SetBufferSize(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    size_t       before = adpPtr->bufferBytes;
    int          bytes;

    if (objc == 3) {
        if (Tcl_GetIntFromObj(interp, objv[2], &bytes) != TCL_OK) {
            return TCL_ERROR;
        }
        adpPtr->bufferBytes = (size_t) MAX(0, bytes);
    }
    return NsTclReturn(interp, Tcl_NewWideIntObj((Tcl_WideInt) before));
}

static int
SetChannel(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    Tcl_Channel  channel;
    const char  *name;

    name = Tcl_GetString(objv[2]);
    if (*name != '\0') {
        if (Ns_TclGetOpenChannel(interp, name, 1, 1, &channel) != TCL_OK) {
            return TCL_ERROR;
        }
        NsAdpSetChannel(adpPtr, channel);
        return TCL_OK;
    }
    if (adpPtr->channel != NULL) {
        if (NsAdpFlush(adpPtr, false) != TCL_OK) {
            return TCL_ERROR;
        }
        NsAdpSetChannel(adpPtr, NULL);
        adpPtr->hasFlushed = false;
    }
    return TCL_OK;
}

static int
SetFlag(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    int          flag = (int) NsTclRow(clientData)->flags;
    int          before = adpPtr->flags, isOn;

    if (objc == 3) {
        if (Tcl_GetBooleanFromObj(interp, objv[2], &isOn) != TCL_OK) {
            return TCL_ERROR;
        }
        adpPtr->flags = isOn ? before | flag : before & ~flag;
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj((before & flag) != 0));
}

static int
DebugCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    char        *host = NULL, *port = NULL, *procs = NULL;
    Ns_ObjvSpec  opts[] = {{"-host", Ns_ObjvString, &host, NULL},
                           {"-port", Ns_ObjvString, &port, NULL},
                           {"-procs", Ns_ObjvString, &procs, NULL},
                           {"--", Ns_ObjvBreak, NULL, NULL},
                           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec  args[] = {{"?host", Ns_ObjvString, &host, NULL},
                           {"?port", Ns_ObjvString, &port, NULL},
                           {"?procs", Ns_ObjvString, &procs, NULL},
                           {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK
        || NsAdpDebug(adpPtr, host, port, procs) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewIntObj(adpPtr->debugLevel));
}

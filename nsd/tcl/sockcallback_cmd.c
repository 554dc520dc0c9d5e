/* SPDX-License-Identifier: MPL-2.0
 * sockcallback_cmd.c --
 *
 *      Scripts in the thread -socks-: ns_sockcallback, ns_socklistencallback.
 */

#include "nslog.h"
#include "nsprocess.h"
#include "nssocket.h"
#include "nsstring.h"
#include "nsthread.h"
#include "net/sockcallback.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/sock_cmd.h"

static Tcl_ObjCmdProc CallbackCmd, ListenCallbackCmd;

static const NsTclCommand commands[] = {
    {"ns_sockcallback", CallbackCmd, 3, 4, "sockId script when ?timeout?", 0},
    {"ns_socklistencallback", ListenCallbackCmd, 3, 3, "address port script",
     0},
    NS_TCL_END};

/*
 * Owned by the thread -socks- once registered.
 */
typedef struct ScriptCallback {
    const char *server;  /* Constant. */
    Tcl_Channel channel; /* On our duplicate; NULL before a call. */
    int         when;    /* The conditions that the script asked for. */
    char        script[];
} ScriptCallback;

typedef struct ListenCallback {
    const char *server;
    char        script[];
} ListenCallback;

static int  ParseWhen(Tcl_Interp *interp, const char *text, int *whenPtr);
static bool RunScript(ScriptCallback *callbackPtr, NS_SOCKET sock, int why);
static Tcl_Channel MakeChannel(NS_SOCKET sock);
static void        FreeScript(ScriptCallback *callbackPtr, NS_SOCKET sock);
static Ns_SockProc ScriptProc, AcceptProc;
static Ns_ArgProc  DescribeScript, DescribeListen;

void
NsSockCallbackCmdInit(void)
{
    NsTclAddCommands(commands);
    Ns_RegisterProcInfo((void *) ScriptProc, "ns:tclsockcallback",
                        DescribeScript);
    Ns_RegisterProcInfo((void *) AcceptProc, "ns:tclsocklistencallback",
                        DescribeListen);
}

/*
 * ns_sockcallback sockId script when ?timeout?
 */
static int
CallbackCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsInterp       *interpPtr = clientData;
    ScriptCallback *callbackPtr;
    int             when, length;
    Ns_Time         timeout = {0, 0};
    const char     *script;
    NS_SOCKET       sock;

    if (ParseWhen(interp, Tcl_GetString(objv[3]), &when) != TCL_OK
        || (objc == 5
            && Ns_TclGetTimeFromObj(interp, objv[4], &timeout) != TCL_OK)
        || Ns_TclGetOpenFd(interp, Tcl_GetString(objv[1]),
                           (when & NS_SOCK_WRITE) != 0, &sock)
            != TCL_OK) {
        return TCL_ERROR;
    }
    sock = fcntl(sock, F_DUPFD_CLOEXEC, 0);
    if (sock == NS_INVALID_SOCKET) {
        return NsTclFail(interp, "dup failed: %s", Tcl_PosixError(interp));
    }
    script = Tcl_GetStringFromObj(objv[2], &length);
    callbackPtr = ns_calloc(1, sizeof(ScriptCallback) + (size_t) length + 1);
    callbackPtr->server = interpPtr->serverPtr->name;
    callbackPtr->when = when;
    memcpy(callbackPtr->script, script, (size_t) length + 1);

    /* Always called at the end, to release what is ours. */
    if (NsSockCallback(sock, ScriptProc, callbackPtr, when | NS_SOCK_EXIT,
                       NsClockFromTime(&timeout))
        != NS_OK) {
        close(sock);
        ns_free(callbackPtr);
        return NsTclFail(interp, "could not register callback");
    }
    return TCL_OK;
}

/*
 * ns_socklistencallback address port script
 */
static int
ListenCallbackCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    NsInterp       *interpPtr = clientData;
    ListenCallback *callbackPtr;
    const char     *address, *script;
    int             port, length;

    if (Tcl_GetIntFromObj(interp, objv[2], &port) != TCL_OK) {
        return TCL_ERROR;
    }
    address = Tcl_GetString(objv[1]);
    script = Tcl_GetStringFromObj(objv[3], &length);
    callbackPtr = ns_calloc(1, sizeof(ListenCallback) + (size_t) length + 1);
    callbackPtr->server = interpPtr->serverPtr->name;
    memcpy(callbackPtr->script, script, (size_t) length + 1);
    if (Ns_SockListenCallback(STREQ(address, "*") ? NULL : address, port,
                              AcceptProc, callbackPtr)
        != NS_OK) {
        ns_free(callbackPtr);
        return NsTclFail(interp, "could not register callback");
    }
    return TCL_OK;
}

static int
ParseWhen(Tcl_Interp *interp, const char *text, int *whenPtr)
{
    int when = 0;

    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case 'r':
            when |= NS_SOCK_READ;
            break;
        case 'w':
            when |= NS_SOCK_WRITE;
            break;
        case 'e':
            when |= NS_SOCK_EXCEPTION;
            break;
        case 'x':
            when |= NS_SOCK_EXIT;
            break;
        default:
            when = 0;
            goto done;
        }
    }
done:
    if (when == 0) {
        return NsTclFail(interp,
                         "invalid when specification"
                         " \"%s\": should be one/more of r, w, e, or x",
                         text);
    }
    *whenPtr = when;
    return TCL_OK;
}

/*
 * Something happened on the socket.
 */
static int
ScriptProc(NS_SOCKET sock, void *arg, int why)
{
    ScriptCallback *callbackPtr = arg;
    bool            goesOn = false;

    if (why != NS_SOCK_EXIT || (callbackPtr->when & NS_SOCK_EXIT) != 0) {
        int nBuffered = 0, nBefore;

        /* The socket does not report data that the channel has read ahead; as
         * long as the script takes some of it, there is more to do. */
        do {
            nBefore = nBuffered;
            goesOn = RunScript(callbackPtr, sock, why);
            nBuffered = callbackPtr->channel == NULL
                ? 0
                : Tcl_InputBuffered(callbackPtr->channel);
        } while (goesOn && why == NS_SOCK_READ && nBuffered > 0
                 && nBuffered != nBefore);
    }
    if (!goesOn || why == NS_SOCK_EXIT || why == NS_SOCK_TIMEOUT) {
        FreeScript(callbackPtr, sock);
        return false;
    }
    return true;
}

/*
 * Call `script CHANNEL REASON`; true when the result is.
 */
static bool
RunScript(ScriptCallback *callbackPtr, NS_SOCKET sock, int why)
{
    Tcl_Interp *interp = Ns_TclAllocateInterp(callbackPtr->server);
    const char *reason = why == NS_SOCK_READ ? "r"
        : why == NS_SOCK_WRITE               ? "w"
        : why == NS_SOCK_EXCEPTION           ? "e"
        : why == NS_SOCK_TIMEOUT             ? "t"
                                             : "x";
    Ns_DString  script;
    int         isTrue = 0;

    if (interp == NULL) {
        return false;
    }
    if (callbackPtr->channel == NULL) {
        callbackPtr->channel = MakeChannel(sock);
    }
    Tcl_RegisterChannel(interp, callbackPtr->channel);
    Ns_DStringInit(&script);
    Ns_DStringAppend(&script, callbackPtr->script);
    Ns_DStringAppendElement(&script, Tcl_GetChannelName(callbackPtr->channel));
    Ns_DStringAppendElement(&script, reason);
    if (Tcl_EvalEx(interp, Ns_DStringValue(&script), Ns_DStringLength(&script),
                   TCL_EVAL_GLOBAL)
        != TCL_OK) {
        (void) Ns_TclLogErrorInfo(interp, "\n(context: sock callback)");
    } else if (Tcl_GetBooleanFromObj(NULL, Tcl_GetObjResult(interp), &isTrue)
               != TCL_OK) {
        isTrue = 0;
    }
    Ns_DStringFree(&script);

    /* Unless the script has closed it; our own reference stays. */
    Tcl_UnregisterChannel(interp, callbackPtr->channel);
    Ns_TclDeAllocateInterp(interp);
    return isTrue != 0;
}

/*
 * A channel that no interpreter owns.
 */
static Tcl_Channel
MakeChannel(NS_SOCKET sock)
{
    Tcl_Channel channel;

    (void) Ns_SockSetBlocking(sock);
    channel = Tcl_MakeTcpClientChannel(INT2PTR(sock));
    Tcl_SetChannelOption(NULL, channel, "-translation", "binary");
    Tcl_RegisterChannel(NULL, channel);
    return channel;
}

static void
FreeScript(ScriptCallback *callbackPtr, NS_SOCKET sock)
{
    if (callbackPtr->channel != NULL) {
        Tcl_UnregisterChannel(NULL, callbackPtr->channel);
    } else {
        close(sock);
    }
    ns_free(callbackPtr);
}

/*
 * A connection was accepted: call `script READCHAN WRITECHAN`.
 */
static int
AcceptProc(NS_SOCKET sock, void *arg, int why)
{
    ListenCallback *callbackPtr = arg;
    Tcl_Interp     *interp;
    Ns_DString      script;
    Tcl_Obj        *listPtr;

    if (why == NS_SOCK_EXIT) {
        ns_free(callbackPtr);
        return false;
    }
    interp = Ns_TclAllocateInterp(callbackPtr->server);
    if (interp == NULL) {
        close(sock);
        return true;
    }
    if (NsTclEnterSockPair(interp, sock, false, &listPtr) == TCL_OK) {
        Tcl_IncrRefCount(listPtr);
        Ns_DStringInit(&script);
        Ns_DStringAppend(&script, callbackPtr->script);
        Ns_DStringNAppend(&script, " ", 1);
        Ns_DStringAppend(&script, Tcl_GetString(listPtr));
        if (Tcl_EvalEx(interp, Ns_DStringValue(&script),
                       Ns_DStringLength(&script), TCL_EVAL_GLOBAL)
            != TCL_OK) {
            (void) Ns_TclLogErrorInfo(interp, "\n(context: listen callback)");
        }
        Ns_DStringFree(&script);
        Tcl_DecrRefCount(listPtr);
    }
    Ns_TclDeAllocateInterp(interp);
    return true;
}

static void
DescribeScript(Ns_DString *dsPtr, void *arg)
{
    Ns_DStringAppendElement(dsPtr, ((const ScriptCallback *) arg)->script);
}

static void
DescribeListen(Ns_DString *dsPtr, void *arg)
{
    Ns_DStringAppendElement(dsPtr, ((const ListenCallback *) arg)->script);
}

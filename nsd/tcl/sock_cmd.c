/* SPDX-License-Identifier: MPL-2.0
 * sock_cmd.c --
 *
 *      Sockets in scripts: ns_sockopen, ns_socklisten, ns_sockaccept,
 *      ns_socketpair, ns_sockselect, ns_socknread, ns_sockcheck,
 *      ns_sockblocking, ns_socknonblocking; name lookup: ns_addrbyhost,
 *      ns_hostbyaddr.  Callbacks are in sockcallback_cmd.c.
 */

#include "tcl/sock_cmd.h"
#include "nssocket.h"
#include "nsstring.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc OpenCmd, ListenCmd, AcceptCmd, PairCmd, SelectCmd,
    NreadCmd, CheckCmd, AddrByHostCmd, HostByAddrCmd, SetBlockingCmd;

#define IS_NONBLOCKING 1

static const NsTclCommand commands[] = {
    {"ns_sockopen", OpenCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_socklisten", ListenCmd, 2, 2, "address port", NS_TCL_BASIC},
    {"ns_sockaccept", AcceptCmd, 1, 1, "sockId", NS_TCL_BASIC},
    {"ns_socketpair", PairCmd, 0, 0, NULL, NS_TCL_BASIC},
    {"ns_sockselect", SelectCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_socknread", NreadCmd, 1, 1, "sockId", NS_TCL_BASIC},
    {"ns_sockcheck", CheckCmd, 1, 1, "sockId", NS_TCL_BASIC},
    {"ns_sockblocking", SetBlockingCmd, 1, 1, "sockId", NS_TCL_BASIC},
    {"ns_socknonblocking", SetBlockingCmd, 1, 1, "sockId",
     NS_TCL_DATA(IS_NONBLOCKING) | NS_TCL_BASIC},
    {"ns_addrbyhost", AddrByHostCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_hostbyaddr", HostByAddrCmd, 1, 1, "address", NS_TCL_BASIC},
    NS_TCL_END};

typedef struct OpenSpec {
    bool        isAsync;
    bool        hasTimeout;
    Ns_Time     timeout;
    const char *localHost;
    int         localPort;
    const char *host;
    int         port;
} OpenSpec;

/*
 * One of the three lists of ns_sockselect.
 */
typedef struct SelectList {
    Tcl_Obj **objv;
    int       objc;
    short     events;
    int       firstFd; /* Index of its first poll structure. */
} SelectList;

static int  EnterSock(Tcl_Interp *interp, NS_SOCKET sock,
                      Tcl_Channel *channelPtr);
static int  ParseOpen(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                      OpenSpec *specPtr);
static int  ParseOpenOptions(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                             OpenSpec *specPtr);
static bool IsOpenOption(const char *word);
static int FillPoll(Tcl_Interp *interp, SelectList *listPtr, struct pollfd *fds,
                    bool *isBufferedPtr);
static Tcl_Obj *ReadyList(Tcl_Interp *interp, const SelectList *listPtr,
                          const struct pollfd *fds);
static int      CheckPort(Tcl_Interp *interp, int port);
static int      PollUntil(struct pollfd *fds, int n, const Ns_Time *timeoutPtr);
static int      LookupResult(Tcl_Interp *interp, const char *key,
                             int (*proc)(Ns_DString *, const char *));

NS_TCL_FAMILY(Sock, commands)

/*
 * Register a socket as a blocking, binary channel.  TCL_ERROR: the socket is
 * closed, the message in the interpreter.
 */
static int
EnterSock(Tcl_Interp *interp, NS_SOCKET sock, Tcl_Channel *channelPtr)
{
    Tcl_Channel channel;

    (void) Ns_SockSetBlocking(sock);
    channel = Tcl_MakeTcpClientChannel(INT2PTR(sock));
    if (channel == NULL) {
        close(sock);
        return NsTclFail(interp, "could not open socket");
    }
    Tcl_SetChannelOption(NULL, channel, "-translation", "binary");
    Tcl_RegisterChannel(interp, channel);
    if (channelPtr != NULL) {
        *channelPtr = channel;
    }
    return TCL_OK;
}

int
NsTclEnterSockPair(Tcl_Interp *interp, NS_SOCKET sock, bool isNonBlocking,
                   Tcl_Obj **listPtrPtr)
{
    Tcl_Channel channels[2];
    NS_SOCKET   dup = fcntl(sock, F_DUPFD_CLOEXEC, 0);

    if (dup == NS_INVALID_SOCKET) {
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("could not duplicate socket: %s",
                                       Tcl_PosixError(interp)));
        close(sock);
        return TCL_ERROR;
    }
    if (EnterSock(interp, sock, &channels[0]) != TCL_OK) {
        close(dup);
        return TCL_ERROR;
    }
    if (EnterSock(interp, dup, &channels[1]) != TCL_OK) {
        Tcl_UnregisterChannel(interp, channels[0]);
        return TCL_ERROR;
    }
    *listPtrPtr = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < 2; i++) {
        if (isNonBlocking) {
            Tcl_SetChannelOption(NULL, channels[i], "-blocking", "0");
        }
        Tcl_ListObjAppendElement(
            NULL, *listPtrPtr,
            Tcl_NewStringObj(Tcl_GetChannelName(channels[i]), -1));
    }
    return TCL_OK;
}

/*
 * ns_sockopen ?(-nonblock | -async) | -timeout timeout? ?-localhost host?
 *             ?-localport port? host port
 */
static int
OpenCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    OpenSpec  spec = {0};
    NS_SOCKET sock;
    Tcl_Obj  *listPtr;

    if (ParseOpen(interp, objc, objv, &spec) != TCL_OK) {
        return TCL_ERROR;
    }
    errno = 0;
    if (spec.isAsync) {
        sock = Ns_SockAsyncConnect2(spec.host, spec.port, spec.localHost,
                                    spec.localPort);
    } else if (spec.hasTimeout) {
        sock = Ns_SockTimedConnect2(spec.host, spec.port, spec.localHost,
                                    spec.localPort, &spec.timeout);
    } else {
        sock = Ns_SockConnect2(spec.host, spec.port, spec.localHost,
                               spec.localPort);
    }
    if (sock == NS_INVALID_SOCKET) {
        int reason = errno;

        Tcl_SetErrno(reason);
        return NsTclFail(interp, "can't connect to \"%s:%d\"; %s", spec.host,
                         spec.port,
                         reason == 0 ? "reason unknown"
                                     : Tcl_PosixError(interp));
    }
    if (NsTclEnterSockPair(interp, sock, spec.isAsync, &listPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, listPtr);
}

static int
ParseOpen(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, OpenSpec *specPtr)
{
    int i = ParseOpenOptions(interp, objc, objv, specPtr);

    if (i < 0) {
        return TCL_ERROR;
    }
    if (objc - i != 2 || (specPtr->isAsync && specPtr->hasTimeout)) {
        Tcl_WrongNumArgs(
            interp, 1, objv,
            "?(-nonblock | -async) | -timeout"
            " timeout? ?-localhost host? ?-localport port? host port");
        return TCL_ERROR;
    }
    specPtr->host = Tcl_GetString(objv[i]);
    if (*specPtr->host == '\0') {
        return NsTclFail(interp, "invalid hostname: must not be empty");
    }
    if (Tcl_GetIntFromObj(interp, objv[i + 1], &specPtr->port) != TCL_OK) {
        return TCL_ERROR;
    }
    if (CheckPort(interp, specPtr->port) != TCL_OK) {
        return TCL_ERROR;
    }
    return CheckPort(interp, specPtr->localPort);
}

static int
CheckPort(Tcl_Interp *interp, int port)
{
    if (port < 0 || port > 65535) {
        return NsTclFail(interp, "invalid port: %d; must be %s", port,
                         port < 0 ? "> 0" : "<= 65535");
    }
    return TCL_OK;
}

/*
 * The index of the word behind the options, the host; -1: the message is left.
 * A host that begins with a dash counts as an option that there is not.
 */
static int
ParseOpenOptions(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                 OpenSpec *specPtr)
{
    int i = 1;

    while (i < objc && *Tcl_GetString(objv[i]) == '-') {
        const char *option = Tcl_GetString(objv[i]);

        if (i == objc - 2 || STREQ(option, "--")) {
            /* A host that begins with a dash is none; say so below. */
            i += STREQ(option, "--");
            break;
        }
        if (STREQ(option, "-nonblock") || STREQ(option, "-async")) {
            specPtr->isAsync = true;
            i++;
            continue;
        }
        if (i + 1 == objc) {
            break;
        }
        if (STREQ(option, "-timeout")) {
            specPtr->hasTimeout = true;
            if (Ns_TclGetTimeFromObj(interp, objv[i + 1], &specPtr->timeout)
                != TCL_OK) {
                return -1;
            }
        } else if (STREQ(option, "-localhost")) {
            specPtr->localHost = Tcl_GetString(objv[i + 1]);
        } else if (STREQ(option, "-localport")) {
            if (Tcl_GetIntFromObj(interp, objv[i + 1], &specPtr->localPort)
                != TCL_OK) {
                return -1;
            }
        } else {
            Tcl_SetObjResult(interp,
                             Tcl_ObjPrintf("invalid option: \"%s\"", option));
            return -1;
        }
        i += 2;
    }
    if (i < objc && *Tcl_GetString(objv[i]) == '-'
        && !IsOpenOption(Tcl_GetString(objv[i]))) {
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("invalid option: \"%s\"",
                                       Tcl_GetString(objv[i])));
        return -1;
    }
    return i;
}

static bool
IsOpenOption(const char *word)
{
    static const char *const options[] = {
        "-nonblock", "-async", "-timeout", "-localhost", "-localport"};

    for (int i = 0; i < Ns_NrElements(options); i++) {
        if (STREQ(word, options[i])) {
            return true;
        }
    }
    return false;
}

/*
 * ns_socklisten address port
 */
static int
ListenCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const char *address;
    Tcl_Channel channel;
    NS_SOCKET   sock;
    int         port;

    if (Tcl_GetIntFromObj(interp, objv[2], &port) != TCL_OK) {
        return TCL_ERROR;
    }
    address = Tcl_GetString(objv[1]);
    sock = Ns_SockListen(STREQ(address, "*") ? NULL : address, port);
    if (sock == NS_INVALID_SOCKET) {
        return NsTclFail(interp, "could not listen on \"%s:%d\"", address,
                         port);
    }
    if (EnterSock(interp, sock, &channel) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturnString(interp, Tcl_GetChannelName(channel));
}

/*
 * ns_sockaccept sockId
 */
static int
AcceptCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NS_SOCKET listenSock, sock;
    Tcl_Obj  *listPtr;

    if (Ns_TclGetOpenFd(interp, Tcl_GetString(objv[1]), 0, &listenSock)
        != TCL_OK) {
        return TCL_ERROR;
    }
    sock = Ns_SockAccept(listenSock, NULL, NULL);
    if (sock == NS_INVALID_SOCKET) {
        return NsTclFail(interp, "accept failed: %s", Tcl_PosixError(interp));
    }
    if (NsTclEnterSockPair(interp, sock, false, &listPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, listPtr);
}

/*
 * ns_socketpair
 */
static int
PairCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NS_SOCKET   socks[2];
    Tcl_Channel channels[2];
    Tcl_Obj    *names[2];

    if (ns_sockpair(socks) != 0) {
        return NsTclFail(interp, "ns_sockpair failed: %s",
                         Tcl_PosixError(interp));
    }
    if (EnterSock(interp, socks[0], &channels[0]) != TCL_OK) {
        close(socks[1]);
        return TCL_ERROR;
    }
    if (EnterSock(interp, socks[1], &channels[1]) != TCL_OK) {
        Tcl_UnregisterChannel(interp, channels[0]);
        return TCL_ERROR;
    }
    for (int i = 0; i < 2; i++) {
        names[i] = Tcl_NewStringObj(Tcl_GetChannelName(channels[i]), -1);
    }
    return NsTclReturn(interp, Tcl_NewListObj(2, names));
}

/*
 * ns_sockselect ?-timeout timeout? rfds wfds efds
 */
static int
SelectCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    SelectList lists[3] = {
        {.events = POLLIN}, {.events = POLLOUT}, {.events = POLLPRI}};
    Ns_Time       *timeoutPtr = NULL;
    struct pollfd *fds;
    bool           hasBuffered = false;
    int            total = 0, first, status = TCL_ERROR;
    Ns_ObjvSpec    options[] = {
           {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"rfds", Ns_ObjvObj, &(Tcl_Obj *){NULL}, NULL},
                          {"wfds", Ns_ObjvObj, &(Tcl_Obj *){NULL}, NULL},
                          {"efds", Ns_ObjvObj, &(Tcl_Obj *){NULL}, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    first = objc - 3;
    for (int i = 0; i < 3; i++) {
        if (Tcl_ListObjGetElements(interp, objv[first + i], &lists[i].objc,
                                   &lists[i].objv)
            != TCL_OK) {
            return TCL_ERROR;
        }
        lists[i].firstFd = total;
        total += lists[i].objc;
    }
    if (total == 0 && timeoutPtr == NULL) {
        return TCL_OK;
    }
    fds = (struct pollfd *) Tcl_Alloc((unsigned) (total + 1)
                                      * sizeof(struct pollfd));
    for (int i = 0; i < 3; i++) {
        if (FillPoll(interp, &lists[i], fds, &hasBuffered) != TCL_OK) {
            goto done;
        }
    }
    if (PollUntil(fds, total, hasBuffered ? &(Ns_Time){0, 0} : timeoutPtr)
        < 0) {
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("select failed: %s",
                                       Tcl_PosixError(interp)));
    } else {
        Tcl_Obj *results[3];

        for (int i = 0; i < 3; i++) {
            results[i] = ReadyList(interp, &lists[i], fds);
        }
        Tcl_SetObjResult(interp, Tcl_NewListObj(3, results));
        status = TCL_OK;
    }
done:
    Tcl_Free((char *) fds);
    return status;
}

/*
 * One poll structure per channel.
 */
static int
FillPoll(Tcl_Interp *interp, SelectList *listPtr, struct pollfd *fds,
         bool *isBufferedPtr)
{
    bool isWrite = listPtr->events == POLLOUT;

    for (int i = 0; i < listPtr->objc; i++) {
        const char *name = Tcl_GetString(listPtr->objv[i]);
        Tcl_Channel channel;
        int         fd;

        if (Ns_TclGetOpenChannel(interp, name, isWrite, 1, &channel) != TCL_OK
            || Ns_TclGetOpenFd(interp, name, isWrite, &fd) != TCL_OK) {
            return TCL_ERROR;
        }
        fds[listPtr->firstFd + i] = (struct pollfd){
            .fd = fd, .events = listPtr->events};
        if (listPtr->events == POLLIN && Tcl_InputBuffered(channel) > 0) {
            *isBufferedPtr = true;
        }
    }
    return TCL_OK;
}

static Tcl_Obj *
ReadyList(Tcl_Interp *interp, const SelectList *listPtr,
          const struct pollfd *fds)
{
    Tcl_Obj *resultPtr = Tcl_NewListObj(0, NULL);

    for (int i = 0; i < listPtr->objc; i++) {
        int  got = fds[listPtr->firstFd + i].revents;
        bool isReady = (got & listPtr->events) != 0
            || (listPtr->events != POLLPRI && (got & (POLLHUP | POLLERR)) != 0);

        if (!isReady && listPtr->events == POLLIN) {
            Tcl_Channel channel =
                Tcl_GetChannel(interp, Tcl_GetString(listPtr->objv[i]), NULL);

            isReady = channel != NULL && Tcl_InputBuffered(channel) > 0;
        }
        if (isReady) {
            Tcl_ListObjAppendElement(NULL, resultPtr, listPtr->objv[i]);
        }
    }
    return resultPtr;
}

/*
 * poll, without limit when timeoutPtr is NULL; signals do not end it.
 */
static int
PollUntil(struct pollfd *fds, int n, const Ns_Time *timeoutPtr)
{
    NsStamp end = timeoutPtr == NULL
        ? 0
        : NsClockNow() + NsClockFromTime(timeoutPtr);
    int     result, ms = -1;

    do {
        if (timeoutPtr != NULL) {
            NsStamp left = end - NsClockNow();

            ms = left <= 0 ? 0 : (int) MIN((left + 999999) / 1000000, INT_MAX);
        }
        result = NsPollEndable(fds, (nfds_t) n, ms);
    } while (result < 0 && errno == EINTR);
    return result;
}

/*
 * ns_socknread sockId
 */
static int
NreadCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    const char *name;
    Tcl_Channel channel;
    int         fd, n;

    name = Tcl_GetString(objv[1]);
    if (Ns_TclGetOpenChannel(interp, name, 0, 0, &channel) != TCL_OK
        || Ns_TclGetOpenFd(interp, name, 0, &fd) != TCL_OK) {
        return TCL_ERROR;
    }
    if (ioctl(fd, FIONREAD, &n) != 0) {
        return NsTclFail(interp, "ns_sockioctl failed: %s",
                         Tcl_PosixError(interp));
    }
    return NsTclReturn(interp, Tcl_NewIntObj(n + Tcl_InputBuffered(channel)));
}

/*
 * ns_sockcheck sockId
 */
static int
CheckCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    struct pollfd pollFd = {.events = POLLIN | POLLOUT};
    bool          isAlive;
    char          byte;

    if (Ns_TclGetOpenFd(interp, Tcl_GetString(objv[1]), 1, &pollFd.fd)
        != TCL_OK) {
        return TCL_ERROR;
    }
    isAlive = poll(&pollFd, 1, 0) >= 0
        && (pollFd.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0
        && ((pollFd.revents & POLLIN) == 0
            || recv(pollFd.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0);
    return NsTclReturn(interp, Tcl_NewIntObj(isAlive));
}

/*
 * ns_sockblocking sockId, ns_socknonblocking sockId
 */
static int
SetBlockingCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    bool        isBlocking = NsTclData(clientData) != IS_NONBLOCKING;
    Tcl_Channel channel;

    if (Ns_TclGetOpenChannel(interp, Tcl_GetString(objv[1]), 0, 0, &channel)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return Tcl_SetChannelOption(interp, channel, "-blocking",
                                isBlocking ? "1" : "0");
}

/*
 * ns_addrbyhost ?-all? ?--? host
 */
static int
AddrByHostCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    int         isAll = 0;
    char       *host;
    Ns_ObjvSpec options[] = {{"-all", Ns_ObjvBool, &isAll, INT2PTR(NS_TRUE)},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"host", Ns_ObjvString, &host, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    return LookupResult(interp, host,
                        isAll ? Ns_GetAllAddrByHost : Ns_GetAddrByHost);
}

/*
 * ns_hostbyaddr address
 */
static int
HostByAddrCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return LookupResult(interp, Tcl_GetString(objv[1]), Ns_GetHostByAddr);
}

static int
LookupResult(Tcl_Interp *interp, const char *key,
             int (*proc)(Ns_DString *, const char *))
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    if (!proc(&ds, key)) {
        Tcl_SetObjResult(interp, Tcl_ObjPrintf("could not lookup %s", key));
        Ns_DStringFree(&ds);
        return TCL_ERROR;
    }
    return NsTclReturnText(interp, &ds);
}

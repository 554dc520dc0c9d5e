/* SPDX-License-Identifier: MPL-2.0
 * nscp.c --
 *
 *      The control port: a Tcl shell inside the running server, for telnet or
 *      nc.
 *
 *      One thread of the port accepts clients; each client gets its own thread.
 */

#include "nscp.h"

#include <stdatomic.h>

#define MAX_LOGGING_IN 10
/*
 * How long a client may accept no data, and how long accepting pauses when
 * there are no descriptors.
 */
#define SEND_SECONDS 30
#define PAUSE_MS     1000

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

static const char     *DefaultServer(void);
static void            ReadSettings(Port *portPtr, const char *section);
static bool            Listen(Port *portPtr);
static bool            IsLoopback(const struct sockaddr *addressPtr);
static Ns_Callback     StartListener;
static void            RunListener(void *arg);
static void            AcceptOne(Port *portPtr);
static void            AddSession(Port *portPtr, NS_SOCKET sock,
                                  const struct sockaddr *saPtr, socklen_t n);
static bool            EnterLocked(Port *portPtr, Session *sessionPtr);
static Ns_ShutdownProc Stop;
static Ns_TclTraceProc AddCommand;
static Tcl_ObjCmdProc  NscpCmd;
static void            EndThread(Port *portPtr);

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    const char *section = Ns_ConfigGetPath(server, module, NULL);
    Port       *portPtr = ns_calloc(1u, sizeof(*portPtr));

    portPtr->server = server != NULL ? server : DefaultServer();
    portPtr->isShared = server == NULL;
    if (portPtr->server == NULL) {
        Ns_Log(Error,
               "nscp: there is no server whose commands it could run: "
               "name one in ns/servers");
        return NS_ERROR;
    }
    Ns_MutexInit(&portPtr->lock);
    Ns_MutexSetName2(&portPtr->lock, "nscp", portPtr->server);
    ReadSettings(portPtr, section);
    portPtr->users = NscpUsersRead(portPtr->server,
                                   Ns_ConfigGetPath(server, module, "users",
                                                    NULL));
    if (Ns_SetSize(portPtr->users) == 0 && !portPtr->isEmptyUserAllowed
        && !portPtr->isAuthAsked) {
        Ns_Log(Warning, "nscp[%s]: no authorized users", portPtr->server);
    }
    if (!Listen(portPtr)) {
        return NS_ERROR;
    }
    (void) Ns_RegisterAtStartup(StartListener, portPtr);
    (void) Ns_RegisterAtShutdown(Stop, portPtr);
    return Ns_TclRegisterTrace(server, AddCommand, portPtr,
                               NS_TCL_TRACE_CREATE);
}

/*
 * For a module that is loaded for all servers: the last server.
 */
static const char *
DefaultServer(void)
{
    const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");

    return servers == NULL || Ns_SetSize(servers) == 0
        ? NULL
        : Ns_SetKey(servers, Ns_SetLast(servers));
}

static void
ReadSettings(Port *portPtr, const char *section)
{
    portPtr->address = ns_strdup(Ns_ConfigString(section, "address",
                                                 "127.0.0.1"));
    portPtr->number = Ns_ConfigIntRange(section, "port", 2080, 1, 65535);
    portPtr->isPasswordShown = Ns_ConfigBool(section, "echopasswd", NS_FALSE);
    portPtr->isLoggingCommands = Ns_ConfigBool(section, "cpcmdlogging",
                                               NS_FALSE);
    portPtr->isEmptyUserAllowed =
        Ns_ConfigBool(section, "allowloopbackemptyuser", NS_FALSE);
    portPtr->isAuthAsked = Ns_ConfigBool(section, "authorizeusers", NS_FALSE);
    Ns_ConfigTimeUnitRange(section, "logintimeout", "30s", 0, 1000, 3600, 0,
                           &portPtr->loginTime);
}

static bool
Listen(Port *portPtr)
{
    struct sockaddr_storage address;
    socklen_t               length = sizeof(address);

    portPtr->sock = Ns_SockListen(portPtr->address, portPtr->number);
    if (portPtr->sock == NS_INVALID_SOCKET || ns_pipe(portPtr->wakeFds) != 0) {
        Ns_Log(Error, "nscp[%s]: could not listen on [%s]:%d: %s",
               portPtr->server, portPtr->address, portPtr->number,
               strerror(errno));
        return false;
    }
    (void) Ns_SockSetNonBlocking(portPtr->sock);
    Ns_Log(Notice, "nscp[%s]: listening on [%s]:%d", portPtr->server,
           portPtr->address, portPtr->number);
    if (getsockname(portPtr->sock, (struct sockaddr *) &address, &length) != 0
        || !IsLoopback((struct sockaddr *) &address)) {
        Ns_Log(Warning,
               "nscp[%s]: [%s]:%d can be reached from other machines, and its "
               "traffic is not encrypted: use address 127.0.0.1 and ssh",
               portPtr->server, portPtr->address, portPtr->number);
    }
    return true;
}

static bool
IsLoopback(const struct sockaddr *addressPtr)
{
    uint32_t ipv4;

    if (addressPtr->sa_family == AF_INET) {
        ipv4 = ((const struct sockaddr_in *) addressPtr)->sin_addr.s_addr;
    } else if (addressPtr->sa_family == AF_INET6) {
        const struct in6_addr *ipv6Ptr =
            &((const struct sockaddr_in6 *) addressPtr)->sin6_addr;

        if (!IN6_IS_ADDR_V4MAPPED(ipv6Ptr)) {
            return IN6_IS_ADDR_LOOPBACK(ipv6Ptr);
        }
        memcpy(&ipv4, &ipv6Ptr->s6_addr[12], sizeof(ipv4));
    } else {
        return false;
    }
    return (ntohl(ipv4) >> 24) == 127;
}

/*
 * Called when the servers can run commands.
 */
static void
StartListener(void *arg)
{
    Port *portPtr = arg;

    portPtr->nThreads = 1;
    Ns_ThreadCreate(RunListener, portPtr, 0, NULL);
}

static void
RunListener(void *arg)
{
    Port         *portPtr = arg;
    struct pollfd pfds[] = {{.fd = portPtr->wakeFds[0], .events = POLLIN},
                            {.fd = portPtr->sock, .events = POLLIN}};

    Ns_ThreadSetName("-nscp-");
    while (pfds[0].revents == 0) {
        if (ns_poll(pfds, Ns_NrElements(pfds), -1) > 0
            && pfds[1].revents != 0) {
            AcceptOne(portPtr);
        }
    }
    ns_sockclose(portPtr->sock);
    ns_close(portPtr->wakeFds[0]);
    Ns_Log(Notice, "nscp: shutdown");
    EndThread(portPtr);
}

static void
AcceptOne(Port *portPtr)
{
    struct sockaddr_storage address;
    socklen_t               length = sizeof(address);
    NS_SOCKET               sock;

    sock = accept4(portPtr->sock, (struct sockaddr *) &address, &length,
                   SOCK_CLOEXEC);
    if (sock != NS_INVALID_SOCKET) {
        AddSession(portPtr, sock, (struct sockaddr *) &address, length);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS
               || errno == ENOMEM) {
        struct pollfd stop = {.fd = portPtr->wakeFds[0], .events = POLLIN};

        /* The client waits in the listen backlog. */
        Ns_Log(Warning, "nscp[%s]: could not accept a client, trying again: %s",
               portPtr->server, strerror(errno));
        (void) ns_poll(&stop, 1, PAUSE_MS);
    }
}

static void
AddSession(Port *portPtr, NS_SOCKET sock, const struct sockaddr *addressPtr,
           socklen_t length)
{
    static atomic_uint lastId;
    struct timeval     limit = {.tv_sec = SEND_SECONDS};
    Session           *sessionPtr = ns_calloc(1u, sizeof(*sessionPtr));
    bool               isIn;

    sessionPtr->portPtr = portPtr;
    sessionPtr->sock = sessionPtr->input.sock = sock;
    sessionPtr->id = atomic_fetch_add(&lastId, 1u);
    sessionPtr->isLocal = IsLoopback(addressPtr);
    if (getnameinfo(addressPtr, length, sessionPtr->peer,
                    sizeof(sessionPtr->peer), NULL, 0, NI_NUMERICHOST)
        != 0) {
        strcpy(sessionPtr->peer, "?");
    }
    (void) setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));

    Ns_MutexLock(&portPtr->lock);
    isIn = EnterLocked(portPtr, sessionPtr);
    Ns_MutexUnlock(&portPtr->lock);
    if (isIn) {
        Ns_ThreadCreate(NscpSessionRun, sessionPtr, 0, NULL);
    } else {
        ns_sockclose(sock);
        ns_free(sessionPtr);
    }
}

static bool
EnterLocked(Port *portPtr, Session *sessionPtr)
{
    if (portPtr->isStopping) {
        return false;
    }
    if (portPtr->nLoggingIn == MAX_LOGGING_IN) {
        if (!portPtr->isRefusing) {
            Ns_Log(Warning,
                   "nscp[%s]: %d clients are logging in: refused %s and those "
                   "that follow",
                   portPtr->server, MAX_LOGGING_IN, sessionPtr->peer);
        }
        portPtr->isRefusing = true;
        return false;
    }
    portPtr->isRefusing = false;
    portPtr->nLoggingIn++;
    portPtr->nThreads++;
    sessionPtr->nextPtr = portPtr->firstPtr;
    if (portPtr->firstPtr != NULL) {
        portPtr->firstPtr->prevPtr = sessionPtr;
    }
    portPtr->firstPtr = sessionPtr;
    return true;
}

void
NscpPortLoggedIn(Session *sessionPtr)
{
    Port *portPtr = sessionPtr->portPtr;

    Ns_MutexLock(&portPtr->lock);
    assert(portPtr->nLoggingIn > 0);
    portPtr->nLoggingIn--;
    Ns_MutexUnlock(&portPtr->lock);
}

void
NscpPortRemove(Session *sessionPtr, bool isLoggingIn)
{
    Port *portPtr = sessionPtr->portPtr;

    Ns_MutexLock(&portPtr->lock);
    if (isLoggingIn) {
        assert(portPtr->nLoggingIn > 0);
        portPtr->nLoggingIn--;
    }
    if (sessionPtr->prevPtr != NULL) {
        sessionPtr->prevPtr->nextPtr = sessionPtr->nextPtr;
    } else {
        portPtr->firstPtr = sessionPtr->nextPtr;
    }
    if (sessionPtr->nextPtr != NULL) {
        sessionPtr->nextPtr->prevPtr = sessionPtr->prevPtr;
    }
    Ns_MutexUnlock(&portPtr->lock);

    ns_sockclose(sessionPtr->sock);
    ns_free(sessionPtr);
    EndThread(portPtr);
}

static void
EndThread(Port *portPtr)
{
    Ns_MutexLock(&portPtr->lock);
    assert(portPtr->nThreads > 0);
    portPtr->nThreads--;
    Ns_CondBroadcast(&portPtr->ended);
    Ns_MutexUnlock(&portPtr->lock);
}

/*
 * First call: wake all threads.  Second call: wait for them.
 */
static void
Stop(NS_API_CONST Ns_Time *toPtr, void *arg)
{
    Port *portPtr = arg;
    int   status = NS_OK;

    Ns_MutexLock(&portPtr->lock);
    if (!portPtr->isStopping) {
        portPtr->isStopping = true;
        ns_close(portPtr->wakeFds[1]);
        for (Session *sessionPtr = portPtr->firstPtr; sessionPtr != NULL;
             sessionPtr = sessionPtr->nextPtr) {
            (void) shutdown(sessionPtr->sock, SHUT_RDWR);
        }
    }
    if (toPtr != NULL) {
        while (portPtr->nThreads > 0 && status == NS_OK) {
            status = Ns_CondTimedWait(&portPtr->ended, &portPtr->lock,
                                      (Ns_Time *) toPtr);
        }
        if (portPtr->nThreads > 0) {
            Ns_Log(Warning, "nscp[%s]: %d sessions did not end in time",
                   portPtr->server, portPtr->nThreads);
        }
    }
    Ns_MutexUnlock(&portPtr->lock);
}

/*
 * A server's own port takes precedence over that of the process.
 */
static int
AddCommand(Tcl_Interp *interp, void *arg)
{
    const Port *portPtr = arg;
    Tcl_CmdInfo info;

    if (!portPtr->isShared || !Tcl_GetCommandInfo(interp, "nscp", &info)) {
        (void) Tcl_CreateObjCommand(interp, "nscp", NscpCmd, arg, NULL);
    }
    return TCL_OK;
}

/*
 * nscp users
 */
static int
NscpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    static const char *const subcommands[] = {"users", NULL};
    const Port              *portPtr = clientData;
    Tcl_Obj                 *listPtr;
    int                      index;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "command ?args?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], subcommands, "command", 0, &index)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (objc > 2) {
        Tcl_WrongNumArgs(interp, 2, objv, NULL);
        return TCL_ERROR;
    }
    listPtr = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < Ns_SetSize(portPtr->users); i++) {
        (void) Tcl_ListObjAppendElement(
            interp, listPtr,
            Tcl_NewStringObj(Ns_SetKey(portPtr->users, i), -1));
    }
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

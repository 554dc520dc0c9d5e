/* SPDX-License-Identifier: MPL-2.0
 * driver_listen.c --
 *
 *      The listening sockets of drivers: bound when the process starts, before
 *      it touches what a running server may share with it, and listening when
 *      it is ready.
 */

#include "net/driver_listen.h"
#include "net/driver_int.h"
#include "net/listen.h"
#include "nslog.h"
#include "nsparam.h"
#include "nssocket.h"
#include "nsstring.h"
#include "process/module.h"

#include <netinet/tcp.h>

/*
 * False, with errno: the address cannot be had.
 */
typedef bool AddressProc(void *arg, const char *address, int port);

typedef struct Failure {
    char address[NI_MAXHOST];
    int  reason;
} Failure;

/*
 * One that is bound, until all are.
 */
typedef struct Reserved {
    struct Reserved *nextPtr;
    char             address[NI_MAXHOST];
    int              port;
    int              fd;
} Reserved;

typedef struct Reservation {
    const char *module;
    NsBindMode  mode;
    Reserved  **linkPtr; /* The place of the next one. */
} Reservation;

static Ns_ReturnCode      EachAddress(const char *module, const char *address,
                                      int port, AddressProc *proc, void *arg,
                                      Failure *failurePtr);
static AddressProc        ListenOn;
static void               SetNoDelay(int fd, int isOn);
static bool               IsDatagram(int fd);
static NsModuleSymbolProc ReserveModule;
static void               ReservePort(const char *addresses, int port,
                                      Reservation *reservationPtr);
static AddressProc        Reserve;
static Ns_ReturnCode Fail(Failure *failurePtr, const char *address, int reason);
static void          Explain(Ns_DString *dsPtr, const char *module,
                             const Failure *failurePtr, int port);
static const char   *ShownAddress(const char *address);

/*
 * Every address, every port.
 */
Ns_ReturnCode
NsDriverListen(NsDriverThread *threadPtr)
{
    NsDriver *drvPtr = threadPtr->drvPtr;
    int       nAddresses = MAX(drvPtr->nAddresses, 1);
    bool      isShared = drvPtr->params.reusePort
        || drvPtr->params.nDriverThreads > 1;
    Ns_ReturnCode result = NS_OK;
    Failure       failure;

    NsListenMode(isShared ? NS_BIND_SHARED : NS_BIND_USUAL);
    for (int i = 0; i < nAddresses && result == NS_OK; i++) {
        const char *address = drvPtr->nAddresses == 0
            ? NULL
            : drvPtr->addresses[i];

        for (int j = 0; j < drvPtr->nPorts && result == NS_OK; j++) {
            result = EachAddress(drvPtr->procs.name, address, drvPtr->ports[j],
                                 ListenOn, threadPtr, &failure);
            if (result != NS_OK) {
                Ns_DString ds;

                Ns_DStringInit(&ds);
                Explain(&ds, drvPtr->procs.name, &failure, drvPtr->ports[j]);
                Ns_Log(Error, "%s", Ns_DStringValue(&ds));
                Ns_DStringFree(&ds);
            }
        }
    }
    NsListenMode(NS_BIND_USUAL);
    return result;
}

/*
 * On every address of a name.  The machine need not have all of them, as ::1
 * where there is no IPv6, but one.
 */
static Ns_ReturnCode
EachAddress(const char *module, const char *address, int port,
            AddressProc *proc, void *arg, Failure *failurePtr)
{
    NsSockAddr *addrs;
    int         n, nDone = 0, reason = EADDRNOTAVAIL;

    if (!NsSockAddrIsName(address)) {
        return proc(arg, address, port)
            ? NS_OK
            : Fail(failurePtr, address, errno);
    }
    n = NsSockAddrResolveAll(address, port, &addrs);
    for (int i = 0; i < n; i++) {
        char text[NI_MAXHOST];

        /* The first one by its name: it may have been bound by that. */
        NsSockAddrText(&addrs[i], text, sizeof(text));
        if (proc(arg, i == 0 ? address : text, port)) {
            nDone++;
        } else {
            reason = errno;
            if (reason != EADDRNOTAVAIL && reason != EAFNOSUPPORT) {
                ns_free(addrs);
                return Fail(failurePtr, text, reason);
            }
            Ns_Log(Notice, "%s: not listening on %s, an address of %s: %s",
                   module, text, address, strerror(reason));
        }
    }
    ns_free(addrs);
    return nDone > 0 ? NS_OK : Fail(failurePtr, address, reason);
}

static bool
ListenOn(void *arg, const char *address, int port)
{
    NsDriverThread *threadPtr = arg;
    NsDriver       *drvPtr = threadPtr->drvPtr;
    int             fd = drvPtr->procs.listenProc(&drvPtr->pub, address, port,
                                                  drvPtr->params.backlog);

    if (fd < 0) {
        return false;
    }
    threadPtr->listeners = ns_realloc(threadPtr->listeners,
                                      (size_t) (threadPtr->nListeners + 1)
                                          * sizeof(NsListener));
    threadPtr->listeners[threadPtr->nListeners++] = (NsListener){
        .fd = fd, .port = port, .isShared = IsDatagram(fd)};
    if (drvPtr->params.noDelay) {
        SetNoDelay(fd, 1);
    }
    if (drvPtr->params.deferAccept) {
        Ns_SockSetDeferAccept(fd, drvPtr->pub.recvwait);
    }
    if (threadPtr->index == 0) {
        Ns_Log(Notice, "%s: listening on %s:%d", drvPtr->procs.name,
               ShownAddress(address), port);
    }
    return true;
}

void
NsDriverSetNoDelay(const NsDriver *drvPtr)
{
    /* A thread that stops may close its listeners meanwhile; where another
     * socket gets the number, the option costs nothing. */
    for (int i = 0;
         NsDriverHasStarted(drvPtr) && i < drvPtr->params.nDriverThreads; i++) {
        const NsDriverThread *threadPtr = drvPtr->threads[i];

        for (int j = 0; j < threadPtr->nListeners; j++) {
            SetNoDelay(threadPtr->listeners[j].fd, drvPtr->params.noDelay);
        }
    }
}

/*
 * Accepted sockets inherit it.
 */
static void
SetNoDelay(int fd, int isOn)
{
    (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &isOn, sizeof(isOn));
}

static bool
IsDatagram(int fd)
{
    int       type = 0;
    socklen_t length = sizeof(type);

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0
        && type == SOCK_DGRAM;
}

/*
 * They go to the table together, at the end: two drivers do not get the same
 * one.
 */
void
NsDriversReserve(const char *only)
{
    Reserved   *firstPtr = NULL;
    Reservation reservation = {.linkPtr = &firstPtr};

    NsModulesAsk(only, "Ns_ModuleListenPort", ReserveModule, &reservation);
    while (firstPtr != NULL) {
        Reserved *reservedPtr = firstPtr;

        firstPtr = reservedPtr->nextPtr;
        NsPrebindKeep(ShownAddress(reservedPtr->address), reservedPtr->port,
                      reservedPtr->fd);
        ns_free(reservedPtr);
    }
}

static void
ReserveModule(const char *server, const char *module, void *symbol, void *arg)
{
    Reservation *reservationPtr = arg;
    const char  *path = Ns_ConfigGetPath(server, module, NULL);
    const char  *addresses = NULL, **ports;
    char         usual[TCL_INTEGER_SPACE];
    int          n, port;

    snprintf(usual, sizeof(usual), "%d", *(const int *) symbol);
    reservationPtr->module = module;
    reservationPtr->mode = NS_BIND_ALONE;
    if (path != NULL) {
        addresses = Ns_ConfigGetValue(path, "address");
        if (Ns_ConfigBool(path, "reuseport", NS_FALSE)) {
            reservationPtr->mode = NS_BIND_SHARED;
        }
    }
    if (Tcl_SplitList(NULL,
                      path == NULL ? usual
                                   : Ns_ConfigString(path, "port", usual),
                      &n, &ports)
        != TCL_OK) {
        return;
    }
    for (int i = 0; i < n; i++) {
        /* 0 is any that is free. */
        if (Ns_StrToInt(ports[i], &port) == NS_OK && port > 0) {
            ReservePort(addresses, port, reservationPtr);
        }
    }
    Tcl_Free((char *) ports);
}

/*
 * The driver reports what is not for this machine or cannot be resolved.
 */
static void
ReservePort(const char *addresses, int port, Reservation *reservationPtr)
{
    const char **words = NULL;
    int          n = 0;

    if (addresses != NULL
        && Tcl_SplitList(NULL, addresses, &n, &words) != TCL_OK) {
        return;
    }
    for (int i = 0; i < MAX(n, 1); i++) {
        Failure failure;

        if (EachAddress(reservationPtr->module, n == 0 ? NULL : words[i], port,
                        Reserve, reservationPtr, &failure)
                != NS_OK
            && failure.reason != EADDRNOTAVAIL
            && failure.reason != EAFNOSUPPORT) {
            Ns_DString ds;

            Ns_DStringInit(&ds);
            Explain(&ds, reservationPtr->module, &failure, port);
            Ns_Fatal("%s", Ns_DStringValue(&ds));
        }
    }
    if (words != NULL) {
        Tcl_Free((char *) words);
    }
}

static bool
Reserve(void *arg, const char *address, int port)
{
    Reservation *reservationPtr = arg;
    Reserved    *reservedPtr;
    int          fd = NsSockReserve(address, port, reservationPtr->mode);

    if (fd < 0) {
        return false;
    }
    reservedPtr = ns_calloc(1u, sizeof(Reserved));
    snprintf(reservedPtr->address, sizeof(reservedPtr->address), "%s",
             ShownAddress(address));
    reservedPtr->port = port;
    reservedPtr->fd = fd;
    *reservationPtr->linkPtr = reservedPtr;
    reservationPtr->linkPtr = &reservedPtr->nextPtr;
    return true;
}

static Ns_ReturnCode
Fail(Failure *failurePtr, const char *address, int reason)
{
    snprintf(failurePtr->address, sizeof(failurePtr->address), "%s",
             ShownAddress(address));
    failurePtr->reason = reason;
    return NS_ERROR;
}

static void
Explain(Ns_DString *dsPtr, const char *module, const Failure *failurePtr,
        int port)
{
    Ns_DStringPrintf(dsPtr, "%s: failed to listen on %s:%d: %s", module,
                     failurePtr->address, port, strerror(failurePtr->reason));
    if (failurePtr->reason == EACCES || failurePtr->reason == EPERM) {
        /* Not setcap: a program with rights of its own finds no library that
         * is beside it. */
        Ns_DStringAppend(dsPtr,
                         "; start as root, with -u USER, or give the process"
                         " the capability net_bind_service, as"
                         " AmbientCapabilities= of systemd or setpriv"
                         " --ambient-caps does, or choose a port of 1024 or"
                         " more");
    }
}

static const char *
ShownAddress(const char *address)
{
    return address == NULL || *address == '\0' || STREQ(address, "*")
        ? "0.0.0.0"
        : address;
}

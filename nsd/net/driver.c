/* SPDX-License-Identifier: MPL-2.0
 * driver.c --
 *
 *      Registration of drivers, start and stop.
 */

#include "net/driver.h"
#include "net/driver_later.h"
#include "net/dns.h"
#include "net/driver_listen.h"
#include "net/driver_params.h"
#include "net/driver_thread.h"
#include "net/handover.h"
#include "net/hostmap.h"
#include "net/listen.h"
#include "net/readthread.h"
#include "net/spooler.h"
#include "net/writer.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nssocket.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"

NsDriver *NsFirstDriver;

static atomic_bool isStopping;

static int  Register(const char *server, const char *module,
                     const Ns_DriverInitData *initPtr,
                     const NsDriverLater     *laterPtr);
static bool CheckVersion(const char *module, int version, bool isValid);
static bool CheckInit(const char *module, const Ns_DriverInitData *initPtr);
static void TakeProcs(NsDriver *drvPtr, const Ns_DriverInitData *initPtr);
static void TakeProtocol(NsDriver *drvPtr, const NsDriverLater *laterPtr);
static Ns_DriverRecvProc Refuse;
static Ns_ReturnCode     StartDriver(NsDriver *drvPtr);
static void              StartHelpers(NsDriver *drvPtr);
static void              JoinThreads(NsDriver *drvPtr, NsStamp deadline,
                                     const Ns_Time *deadlinePtr);

bool
NsDriversStopping(void)
{
    return atomic_load_explicit(&isStopping, memory_order_relaxed);
}

int
Ns_DriverInit(const char *server, const char *module,
              const Ns_DriverInitData *initPtr)
{
    int version = initPtr->version;

    return CheckVersion(module, version,
                        version == NS_DRIVER_VERSION_2
                            || version == NS_DRIVER_VERSION_OWN)
        ? Register(server, module, initPtr, NULL)
        : NS_ERROR;
}

/*
 * A module that announces an older version has not filled in what came later.
 */
int
Ns_DriverInit_33(const char *server, const char *module,
                 const Ns_DriverInitData_33 *initPtr, int apiLevel)
{
    NsDriverLater       *laterPtr;
    Ns_DriverInitData_05 procs;
    size_t               bytes = sizeof(Ns_DriverInitData_33);

    if (!CheckVersion(module, initPtr->version,
                      initPtr->version >= NS_DRIVER_VERSION_2
                          && initPtr->version <= NS_DRIVER_VERSION_6)) {
        return NS_ERROR;
    }
    if (initPtr->version < NS_DRIVER_VERSION_4) {
        bytes = offsetof(Ns_DriverInitData_33, protocol);
    } else if (initPtr->version < NS_DRIVER_VERSION_5) {
        bytes = offsetof(Ns_DriverInitData_33, connInfoProc);
    } else if (initPtr->version < NS_DRIVER_VERSION_6) {
        bytes = offsetof(Ns_DriverInitData_33, driverThreadProc);
    }
    laterPtr = ns_calloc(1u, sizeof(NsDriverLater));
    memcpy(&laterPtr->procs, initPtr, bytes);
    laterPtr->isUntimed = apiLevel >= 50000;
    NsDriverLaterAdapt(laterPtr, &procs);
    return Register(server, module, &procs, laterPtr);
}

static int
Register(const char *server, const char *module,
         const Ns_DriverInitData *initPtr, const NsDriverLater *laterPtr)
{
    NsDriver  *drvPtr;
    NsDriver **endPtrPtr = &NsFirstDriver;
    NsServer  *serverPtr = server == NULL ? NULL : NsServerFind(server);

    NsDnsConfigure();
    if (!CheckInit(module, initPtr)) {
        return NS_ERROR;
    }
    if (server != NULL && serverPtr == NULL) {
        Ns_Log(Error, "%s: no such server: %s", module, server);
        return NS_ERROR;
    }
    drvPtr = ns_calloc(1u, sizeof(NsDriver));
    TakeProcs(drvPtr, initPtr);
    drvPtr->procs.name = ns_strdup(initPtr->name != NULL ? initPtr->name
                                                         : module);
    drvPtr->path = initPtr->path != NULL
        ? ns_strdup(initPtr->path)
        : Ns_ConfigGetPath(server, module, NULL);
    if (drvPtr->path == NULL) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        Ns_DStringPrintf(&ds,
                         server == NULL ? "ns/module/%s%s"
                                        : "ns/server/%s/module/%s",
                         server == NULL ? module : server,
                         server == NULL ? "" : module);
        drvPtr->path = Ns_DStringExport(&ds);
    }
    drvPtr->serverPtr = serverPtr;
    drvPtr->pub.arg = initPtr->arg;
    drvPtr->pub.server = (char *) (serverPtr == NULL ? NULL : serverPtr->name);
    drvPtr->pub.module = ns_strdup(module);
    drvPtr->pub.name = drvPtr->procs.name;
    drvPtr->settings.isTls = (initPtr->opts & NS_DRIVER_SSL) != 0;
    drvPtr->pub.threadName = drvPtr->pub.module;
    TakeProtocol(drvPtr, laterPtr);
    if (!NsDriverParamsRead(drvPtr)) {
        return NS_ERROR;
    }
    drvPtr->settings.hostMapPtr = serverPtr == NULL
        ? NsHostMapCreate(drvPtr, drvPtr->params.defaultServer)
        : NsHostMapCreateOwn(drvPtr);
    while (*endPtrPtr != NULL) {
        endPtrPtr = &(*endPtrPtr)->nextPtr;
    }
    *endPtrPtr = drvPtr;
    return NS_OK;
}

Ns_ReturnCode
NsDriversStart(void)
{
    NsDriverRaiseLimit();
    for (NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (drvPtr->ports[0] != 0 || drvPtr->nPorts > 1
            || !drvPtr->settings.isTls) {
            if (StartDriver(drvPtr) != NS_OK) {
                return NS_ERROR;
            }
        }
    }
    return NS_OK;
}

void
NsDriversStop(void)
{
    atomic_store(&isStopping, true);
    for (NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        for (int i = 0;
             drvPtr->threads != NULL && i < drvPtr->params.nDriverThreads;
             i++) {
            NsHandOverNoteStop();
            NsLoopStop(&drvPtr->threads[i]->loop);
        }
    }
}

bool
NsDriversTurn(void)
{
    bool doTurn = true;

    for (NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        for (int i = 0;
             drvPtr->threads != NULL && i < drvPtr->params.nDriverThreads;
             i++) {
            doTurn &= NsLoopAsk(&drvPtr->threads[i]->loop);
        }
        for (int i = 0; i < drvPtr->nWriters; i++) {
            doTurn &= NsWriterTurns(drvPtr->writers[i]);
        }
    }
    return doTurn;
}

int
NsDriversConnections(void)
{
    int n = 0;

    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        for (int i = 0;
             drvPtr->threads != NULL && i < drvPtr->params.nDriverThreads;
             i++) {
            n += (int) atomic_load_explicit(&drvPtr->threads[i]->nSockets,
                                            memory_order_relaxed);
        }
    }
    return n;
}

void
NsDriversWait(const Ns_Time *deadlinePtr)
{
    Ns_Time now, span;
    NsStamp deadline;

    Ns_GetTime(&now);
    if (Ns_DiffTime((Ns_Time *) deadlinePtr, &now, &span) <= 0) {
        span = (Ns_Time){0, 0};
    }
    deadline = NsClockNow() + NsClockFromTime(&span) + 1;
    for (NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (drvPtr->threads != NULL) {
            JoinThreads(drvPtr, deadline, deadlinePtr);
        }
    }
}

void
NsWritersStop(const Ns_Time *deadlinePtr)
{
    if (NsFirstDriver != NULL) {
        Ns_Log(Notice, "driver: stopping writer and spooler threads");
    }
    for (NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        for (int i = 0; i < drvPtr->nWriters; i++) {
            (void) NsWriterWaitEmpty(drvPtr->writers[i], deadlinePtr);
        }
    }
}

static bool
CheckVersion(const char *module, int version, bool isValid)
{
    if (!isValid) {
        Ns_Log(Error, "%s: version field of init argument is invalid: %d",
               module, version);
    }
    return isValid;
}

static bool
CheckInit(const char *module, const Ns_DriverInitData *initPtr)
{
    if (initPtr->listenProc == NULL || initPtr->acceptProc == NULL
        || initPtr->closeProc == NULL) {
        Ns_Log(Error, "%s: the driver lacks a required procedure", module);
        return false;
    }
    return true;
}

/*
 * A driver whose requestProc does all the work need not receive or send: its
 * connections end where that would be needed.  A module that knows version 2
 * only has not filled in what came later.
 */
static void
TakeProcs(NsDriver *drvPtr, const Ns_DriverInitData *initPtr)
{
    Ns_DriverInitData *procsPtr = &drvPtr->procs;

    *procsPtr = *initPtr;
    if (initPtr->recvProc == NULL) {
        procsPtr->recvProc = Refuse;
    }
    if (initPtr->sendProc == NULL) {
        procsPtr->sendProc = Refuse;
    }
    if (initPtr->version < NS_DRIVER_VERSION_OWN) {
        procsPtr->detailsProc = NULL;
        procsPtr->setupProc = NULL;
        procsPtr->protocolProc = NULL;
    }
}

/*
 * Its own, or that of HTTP.
 */
static void
TakeProtocol(NsDriver *drvPtr, const NsDriverLater *laterPtr)
{
    const char *protocol = NULL;
    int         port = 0;

    if (laterPtr != NULL) {
        drvPtr->laterPtr = laterPtr;
        protocol = laterPtr->procs.protocol;
        port = laterPtr->procs.defaultPort;
    }
    if (protocol == NULL) {
        protocol = drvPtr->settings.isTls ? "https" : "http";
    }
    drvPtr->pub.protocol = ns_strdup(protocol);
    drvPtr->defaultPort = drvPtr->settings.isTls ? 443 : 80;
    if (port != 0) {
        char text[TCL_INTEGER_SPACE];

        snprintf(text, sizeof(text), "%d", port);
        drvPtr->ownPort = ns_strdup(text);
        drvPtr->defaultPort = port;
    }
}

static ssize_t
Refuse(Ns_Sock *sock, struct iovec *bufs, int nBufs, Ns_Time *timeoutPtr,
       int flags)
{
    return -1;
}

static Ns_ReturnCode
StartDriver(NsDriver *drvPtr)
{
    int n = drvPtr->params.nDriverThreads;

    drvPtr->threads = ns_calloc((size_t) n, sizeof(NsDriverThread *));
    for (int i = 0; i < n; i++) {
        drvPtr->threads[i] = NsDriverThreadCreate(drvPtr, i);
        if (NsDriverListen(drvPtr->threads[i]) != NS_OK) {
            drvPtr->params.nDriverThreads = 0;
            return NS_ERROR;
        }
    }
    StartHelpers(drvPtr);
    atomic_store_explicit(&drvPtr->hasStarted, true, memory_order_release);
    for (int i = 0; i < n; i++) {
        NsReadThreadStart(drvPtr->threads[i]);
    }
    return NS_OK;
}

/*
 * Spooler and writer threads.  One writer there is always: what a driver thread
 * answers itself must never make it wait.
 */
static void
StartHelpers(NsDriver *drvPtr)
{
    int nSpoolers = drvPtr->params.nSpoolers;

    drvPtr->spoolers = ns_calloc((size_t) MAX(nSpoolers, 1),
                                 sizeof(NsDriverThread *));
    for (int i = 0; i < nSpoolers; i++) {
        drvPtr->spoolers[i] = NsSpoolerCreate(drvPtr, i);
        NsReadThreadStart(drvPtr->spoolers[i]);
    }
    drvPtr->nWriters = MAX(drvPtr->settings.nWriters, 1);
    drvPtr->writers = ns_calloc((size_t) drvPtr->nWriters, sizeof(NsWriter *));
    for (int i = 0; i < drvPtr->nWriters; i++) {
        drvPtr->writers[i] = NsWriterCreate(drvPtr, i);
    }
}

/*
 * Driver threads end when their last socket is closed, or at the deadline.
 * Then the helpers have nothing left.
 */
static void
JoinThreads(NsDriver *drvPtr, NsStamp deadline, const Ns_Time *deadlinePtr)
{
    for (int i = 0; i < drvPtr->params.nDriverThreads; i++) {
        atomic_store(&drvPtr->threads[i]->stopDeadline, deadline);
        NsLoopWake(&drvPtr->threads[i]->loop);
    }
    for (int i = 0; i < drvPtr->params.nDriverThreads; i++) {
        Ns_ThreadJoin(&drvPtr->threads[i]->thread, NULL);
    }
    for (int i = 0; i < drvPtr->params.nSpoolers && drvPtr->spoolers != NULL;
         i++) {
        NsLoopStop(&drvPtr->spoolers[i]->loop);
        Ns_ThreadJoin(&drvPtr->spoolers[i]->thread, NULL);
    }
    for (int i = 0; i < drvPtr->nWriters; i++) {
        if (NsWriterWaitEmpty(drvPtr->writers[i], deadlinePtr) == NS_OK) {
            NsWriterEnd(drvPtr->writers[i]);
        }
    }
}

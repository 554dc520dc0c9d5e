/* SPDX-License-Identifier: MPL-2.0
 * driver_later.c --
 *
 *      Drivers that are written for 4.99.33 and later: each of their procedures
 *      is called by one that looks like a driver's of 4.99.5.  So the latter
 *      are called as directly as ever.
 */

#include "net/driver_later.h"
#include "net/driver_int.h"
#include "base/assert.h"

static Ns_DriverListenProc_05      Listen;
static Ns_DriverAcceptProc_05      Accept;
static Ns_DriverRecvProc_05        Recv;
static Ns_DriverSendProc_05        Send, SendUntimed;
static Ns_DriverSendFileProc_05    SendFile, SendFileUntimed;
static Ns_DriverKeepProc_05        Keep;
static Ns_DriverDetailsProc        Details;
static const Ns_DriverInitData_33 *ProcsOf(const Ns_Sock *sock);

void
NsDriverLaterAdapt(const NsDriverLater  *laterPtr,
                   Ns_DriverInitData_05 *procsPtr)
{
    const Ns_DriverInitData_33 *p = &laterPtr->procs;
    bool                        isUntimed = laterPtr->isUntimed;

    *procsPtr = (Ns_DriverInitData_05){
        .version = NS_DRIVER_VERSION_OWN,
        .name = (char *) p->name,
        .listenProc = p->listenProc == NULL ? NULL : Listen,
        .acceptProc = p->acceptProc == NULL ? NULL : Accept,
        .recvProc = p->recvProc == NULL ? NULL : Recv,
        .keepProc = p->keepProc == NULL ? NULL : Keep,
        .requestProc = p->requestProc,
        .closeProc = p->closeProc,
        .opts = (int) p->opts,
        .arg = p->arg,
        .path = (char *) p->path,
        .detailsProc = p->connInfoProc == NULL ? NULL : Details};
    if (p->sendProc != NULL) {
        procsPtr->sendProc = isUntimed ? SendUntimed : Send;
    }
    if (p->sendFileProc != NULL) {
        procsPtr->sendFileProc = isUntimed ? SendFileUntimed : SendFile;
    }
}

static NS_SOCKET
Listen(Ns_Driver *driver, const char *address, int port, int backlog)
{
    const NsDriver *drvPtr = (const NsDriver *) driver;

    NsAssert(port >= 0 && port <= 65535);
    return drvPtr->laterPtr->procs
        .listenProc(driver, address, (unsigned short) port, backlog,
                    drvPtr->params.reusePort
                        || drvPtr->params.nDriverThreads > 1);
}

static NS_DRIVER_ACCEPT_STATUS
Accept(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *addressPtr,
       int *lengthPtr)
{
    socklen_t               length = (socklen_t) *lengthPtr;
    NS_DRIVER_ACCEPT_STATUS status =
        ProcsOf(sock)->acceptProc(sock, listensock, addressPtr, &length);

    *lengthPtr = (int) length;
    return status;
}

static ssize_t
Recv(Ns_Sock *sock, struct iovec *bufs, int nBufs, Ns_Time *timeoutPtr,
     int flags)
{
    return ProcsOf(sock)->recvProc(sock, bufs, nBufs, timeoutPtr,
                                   (unsigned int) flags);
}

static ssize_t
Send(Ns_Sock *sock, struct iovec *bufs, int nBufs, Ns_Time *timeoutPtr,
     int flags)
{
    return ProcsOf(sock)->sendProc(sock, bufs, nBufs, timeoutPtr,
                                   (unsigned int) flags);
}

static ssize_t
SendFile(Ns_Sock *sock, Ns_FileVec *bufs, int nBufs, Ns_Time *timeoutPtr,
         int flags)
{
    return ProcsOf(sock)->sendFileProc(sock, bufs, nBufs, timeoutPtr,
                                       (unsigned int) flags);
}

/*
 * The member has the other type in sources for 5.0.
 */
static ssize_t
SendUntimed(Ns_Sock *sock, struct iovec *bufs, int nBufs, Ns_Time *timeoutPtr,
            int flags)
{
    union {
        Ns_DriverSendProc_33 *timed;
        Ns_DriverSendProc_50 *untimed;
    } proc = {.timed = ProcsOf(sock)->sendProc};

    return proc.untimed(sock, bufs, nBufs, (unsigned int) flags);
}

static ssize_t
SendFileUntimed(Ns_Sock *sock, Ns_FileVec *bufs, int nBufs, Ns_Time *timeoutPtr,
                int flags)
{
    union {
        Ns_DriverSendFileProc_33 *timed;
        Ns_DriverSendFileProc_50 *untimed;
    } proc = {.timed = ProcsOf(sock)->sendFileProc};

    return proc.untimed(sock, bufs, nBufs, (unsigned int) flags);
}

static int
Keep(Ns_Sock *sock)
{
    return ProcsOf(sock)->keepProc(sock);
}

static void
Details(Ns_Sock *sock, Ns_DString *dsPtr)
{
    Tcl_Obj *objPtr = ProcsOf(sock)->connInfoProc(sock);

    if (objPtr != NULL) {
        Tcl_IncrRefCount(objPtr);
        if (Tcl_DStringLength(dsPtr) > 0) {
            Tcl_DStringAppend(dsPtr, " ", 1);
        }
        Tcl_DStringAppend(dsPtr, Tcl_GetString(objPtr), -1);
        Tcl_DecrRefCount(objPtr);
    }
}

static const Ns_DriverInitData_33 *
ProcsOf(const Ns_Sock *sock)
{
    const NsDriver *drvPtr = ((const NsSock *) sock)->drvPtr;

    NsAssert(drvPtr->laterPtr != NULL);
    return &drvPtr->laterPtr->procs;
}

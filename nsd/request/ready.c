/* SPDX-License-Identifier: MPL-2.0
 * ready.c --
 *
 *      From a complete message to an answer or to a pool.
 *
 *      Runs in driver and spooler threads: nothing here waits or runs a script.
 */

#include "request/ready.h"
#include "nsreturn.h"
#include "base/assert.h"
#include "dispatch/connthread.h"
#include "dispatch/pool.h"
#include "dispatch/pool_config.h"
#include "request/access.h"
#include "request/conn_int.h"
#include "request/connprofile.h"
#include "request/direct.h"
#include "request/poolmap.h"
#include "request/reply.h"
#include "request/reqtrace.h"

static void Reject(NsConn *connPtr, bool isFull);

void
NsRequestReady(NsMessage *messagePtr)
{
    NsConn       *connPtr;
    NsPool       *poolPtr;
    Ns_ReturnCode result;

    if (NsDirectAnswer(messagePtr)) {
        return;
    }
    connPtr = NsConnCreate(messagePtr);
    poolPtr = NsPoolMapFind(messagePtr->serverPtr,
                            NsConnRequest(connPtr)->method,
                            NsConnRequest(connPtr)->url, messagePtr);
    connPtr->work.heldPtr = NsSockWaitingCount(connPtr->sockPtr);
    result = NsPoolSubmit(poolPtr, &connPtr->work);
    if (result != NS_OK) {
        Reject(connPtr, result == NS_TIMEOUT);
    }
}

void
NsConnRefuse(NsWork *workPtr)
{
    Reject(NsConnOfWork(workPtr), true);
}

/*
 * The pool is full or has no thread, or the server stops.  No error document is
 * tried: it could be a script.
 */
static void
Reject(NsConn *connPtr, bool isFull)
{
    static const char page[] =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<title>Service Unavailable</title>\n</head>\n"
        "<body>\n<h1>Service Unavailable</h1>\n"
        "<p>The server is temporarily unable to service your request. "
        "Please try again later.</p>\n</body>\n</html>\n";
    Ns_Conn   *conn = &connPtr->pub;
    NsMessage *messagePtr = connPtr->messagePtr;
    NsStamp    now = NsClockNow();

    NsConnCheck(connPtr);
    connPtr->work.queueStamp = connPtr->work.dequeueStamp = now;
    connPtr->work.filterStamp = connPtr->work.endStamp = now;
    if (isFull) {
        Ns_ConnPrintfHeaders(conn, "Retry-After", "%d",
                             NsPoolRetryAfter(connPtr->work.poolPtr));
    } else {
        connPtr->keep = 0;
    }
    connPtr->compressLevel = 0;
    (void) Ns_ConnReturnHtml(conn, 503, page, sizeof(page) - 1);
    NsAssert(NsReplyIsClosed(connPtr));

    NsReqTraceAccess(connPtr->serverPtr, NsAccessGet(connPtr));
    NsPoolWithdraw(&connPtr->work);
    NsConnFreeParts(connPtr);
#ifdef NS_CONN_PROFILE
    NsConnProfileEnd(connPtr);
#endif
    NsMessageRelease(&messagePtr);
}

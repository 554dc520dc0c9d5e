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
#include "dispatch/pool_stats.h"
#include "process/info.h"
#include "request/access.h"
#include "request/conn_int.h"
#include "request/connprofile.h"
#include "request/direct.h"
#include "request/limits.h"
#include "request/poolmap.h"
#include "request/proxies.h"
#include "request/reply.h"
#include "request/reqtrace.h"
#include "request/routes.h"

static bool IsHealthCheck(NsConn *connPtr);
static bool IsPath(const char *url, const char *path);
static void AnswerHealth(NsConn *connPtr);
static bool IsFull(const NsConn *connPtr);
static void Reject(NsConn *connPtr, Ns_ReturnCode reason);
static void EndHere(NsConn *connPtr, bool isLogged);

void
NsRequestReady(NsMessage *messagePtr)
{
    NsConn       *connPtr;
    NsPool       *poolPtr;
    Ns_ReturnCode result;
    char          peer[NS_FORWARDED_BYTES];

    if (NsDirectAnswer(messagePtr)) {
        return;
    }
    connPtr = NsConnCreate(messagePtr);
    if (IsHealthCheck(connPtr)) {
        AnswerHealth(connPtr);
        return;
    }
    poolPtr = NsPoolMapFind(messagePtr->serverPtr,
                            NsConnRequest(connPtr)->method,
                            NsConnRequest(connPtr)->url, messagePtr);
    connPtr->work.heldPtr = NsSockWaitingCount(connPtr->sockPtr);
    if (unlikely(NsPoolAsksPeer(poolPtr))) {
        connPtr->work.peer = NsProxiesClientText(messagePtr, peer);
        connPtr->work.isLimited = true;
    }
    if (unlikely(NsLimitsAreEnforced())) {
        connPtr->work.gatePtr = NsLimitsGate(messagePtr,
                                             NsConnRequest(connPtr));
        connPtr->work.isLimited |= connPtr->work.gatePtr != NULL;
    }
    result = NsPoolSubmit(poolPtr, &connPtr->work);
    if (result != NS_OK) {
        Reject(connPtr, result);
    }
}

static bool
IsHealthCheck(NsConn *connPtr)
{
    const NsSockSettings *settingsPtr = NsSockGetSettings(connPtr->sockPtr);
    const char           *url;

    if (likely(settingsPtr->livePath == NULL && settingsPtr->readyPath == NULL)
        || connPtr->messagePtr->refusal != 0) {
        return false;
    }
    url = NsConnRequest(connPtr)->url;
    return url != NULL && *url == '/'
        && (IsPath(url, settingsPtr->livePath)
            || IsPath(url, settingsPtr->readyPath));
}

static bool
IsPath(const char *url, const char *path)
{
    return path != NULL && STREQ(url, path);
}

/*
 * By the driver thread: it says nothing of the threads of pools, which may all
 * be busy.
 */
static void
AnswerHealth(NsConn *connPtr)
{
    const NsSockSettings *settingsPtr = NsSockGetSettings(connPtr->sockPtr);
    Ns_Conn              *conn = &connPtr->pub;
    bool isLive = IsPath(NsConnRequest(connPtr)->url, settingsPtr->livePath);
    bool isFull = !isLive && NsInfoIsReady() && IsFull(connPtr);
    bool isGood = isLive || (NsInfoIsReady() && !isFull);
    const char *text = isLive ? "live"
        : isFull              ? "overloaded"
                              : NsInfoReadiness();
    NsStamp     now = NsClockNow();

    NsPoolNumber(connPtr->serverPtr, &connPtr->work);
    connPtr->work.queueStamp = connPtr->work.dequeueStamp = now;
    connPtr->work.filterStamp = connPtr->work.endStamp = now;
    /* It counts in no pool. */
    NsSockSetNotes(connPtr->sockPtr, &(NsSockNotes){.queueStamp = now});
    if (!isGood) {
        connPtr->keep = 0;
    }
    connPtr->compressLevel = 0;
    Ns_ConnSetHeaders(conn, "Cache-Control", "no-store");
    (void) Ns_ConnReturnCharData(conn, isGood ? 200 : 503, text, -1,
                                 "text/plain");
    EndHere(connPtr, settingsPtr->isHealthLogged);
}

/*
 * Whether the server had better get no more requests for a while.
 */
static bool
IsFull(const NsConn *connPtr)
{
    NsStamp limit = NsSockGetSettings(connPtr->sockPtr)->readyOverrun;

    return limit > 0 && NsPoolFullFor(NsPoolAt(connPtr->serverPtr, 0)) >= limit;
}

void
NsConnRefuse(NsWork *workPtr)
{
    Reject(NsConnOfWork(workPtr), NS_TIMEOUT);
}

/*
 * The pool is full or has no thread, its client has too many requests, too many
 * of its kind are here, or the server stops.  No error document is tried: it
 * could be a script.  One that no pool has taken has no number yet.
 */
static void
Reject(NsConn *connPtr, Ns_ReturnCode reason)
{
#define PAGE(title, text)                                    \
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"          \
    "<meta name=\"viewport\" content=\"width=device-width, " \
    "initial-scale=1\">\n"                                   \
    "<meta name=\"color-scheme\" content=\"light dark\">\n"  \
    "<title>" title "</title>\n</head>\n"                    \
    "<body>\n<h1>" title "</h1>\n<p>" text "</p>\n</body>\n</html>\n"
    static const char busyPage[] =
        PAGE("Service Unavailable",
             "The server is temporarily unable to service your request. "
             "Please try again later.");
    static const char unfairPage[] =
        PAGE("Too Many Requests",
             "You have sent too many requests at the same time. "
             "Please try again later.");
#undef PAGE
    bool     isUnfair = reason == NS_FORBIDDEN;
    int      status = isUnfair ? 429 : 503;
    Ns_Conn *conn = &connPtr->pub;
    NsStamp  now = NsClockNow();

    NsConnCheck(connPtr);
    if (connPtr->work.queueStamp == 0) {
        NsPoolNumber(connPtr->serverPtr, &connPtr->work);
    }
    connPtr->work.queueStamp = connPtr->work.dequeueStamp = now;
    connPtr->work.filterStamp = connPtr->work.endStamp = now;
    NsSockSetNotes(connPtr->sockPtr,
                   &(NsSockNotes){
                       .queueStamp = now,
                       .pool = NsPoolName(connPtr->work.poolPtr),
                       .groupPtr = NsPoolReplyGroup(connPtr->work.poolPtr)});
    if (reason != NS_ERROR) {
        Ns_ConnPrintfHeaders(conn, "Retry-After", "%d",
                             NsPoolRetryAfter(connPtr->work.poolPtr));
    } else {
        connPtr->keep = 0;
    }
    connPtr->compressLevel = 0;
    (void) Ns_ConnReturnHtml(conn, status, isUnfair ? unfairPage : busyPage,
                             isUnfair ? sizeof(unfairPage) - 1
                                      : sizeof(busyPage) - 1);
    NsPoolCountStatus(connPtr->work.poolPtr, status);
    NsRouteCount(connPtr->serverPtr, NULL, &(NsRouteRequest){status, 0, 0});
    EndHere(connPtr, true);
}

/*
 * The reply has been made by this thread, which is none of a pool.
 */
static void
EndHere(NsConn *connPtr, bool isLogged)
{
    NsMessage *messagePtr = connPtr->messagePtr;

    NsAssert(NsReplyIsClosed(connPtr));
    if (isLogged) {
        NsReqTraceAccess(connPtr->serverPtr, NsAccessGet(connPtr));
    }
    NsPoolRelease(&connPtr->work);
    NsConnFreeParts(connPtr);
#ifdef NS_CONN_PROFILE
    NsConnProfileEnd(connPtr);
#endif
    NsMessageRelease(&messagePtr);
}

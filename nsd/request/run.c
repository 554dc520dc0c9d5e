/* SPDX-License-Identifier: MPL-2.0
 * run.c --
 *
 *      The life of a request in its connection thread.
 *
 *      The stages up to the handler run until one of them has answered, or
 *      failed.  Then the reply is finished, and traces, logs and cleanups
 *      follow.
 */

#include "request/run.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/thread.h"
#include "dispatch/connthread.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_stats.h"
#include "log/stream/unit.h"
#include "nslog.h"
#include "nsstring.h"
#include "request/access.h"
#include "request/auth.h"
#include "request/cls.h"
#include "request/conn_int.h"
#include "request/connbody.h"
#include "request/connprofile.h"
#include "request/filter.h"
#include "request/notice.h"
#include "request/op.h"
#include "request/ready.h"
#include "request/requestid.h"
#include "request/reply.h"
#include "request/reqtrace.h"
#include "request/routes.h"
#include "request/slowest.h"

/*
 * 0: continue.  ANSWERED: no stage follows.  Otherwise the status whose page is
 * due.
 */
typedef int StageProc(NsConn *connPtr);

#define ANSWERED  (-1)
#define ABANDONED 499

static StageProc RefuseMalformed;
static StageProc HaveBody;
static StageProc AskDriver;
static StageProc RunProxy;
static StageProc FilterBeforeAuth;
static StageProc FilterAfterAuth;
static StageProc RefuseOversized;
static StageProc RunHandler;

static StageProc *const stages[] = {
    RefuseMalformed, HaveBody,         AskDriver,
    RunProxy,        FilterBeforeAuth, NsConnAuthorize,
    FilterAfterAuth, RefuseOversized,  RunHandler};

static void Answer(NsConn *connPtr);
static void ReturnPage(NsConn *connPtr, int status);
static int  RunFilters(NsConn *connPtr, int phase);
static int  StageResult(int result);
static int  HandlerResult(int result);
static bool IsAbandoned(NsConn *connPtr);
static bool HasBegun(const NsConn *connPtr);
static void Trace(NsConn *connPtr);
static void Count(const NsConn *connPtr);
static void EndLog(NsConn *connPtr);
static void EndUnit(NsConn *connPtr);
static void Release(NsConn *connPtr);

void
NsConnRun(NsWork *workPtr)
{
    NsConn *connPtr = NsConnOfWork(workPtr);

    NsAssert(connPtr->sockPtr != NULL);
    NsAssertNoneLocked();
    if (nsConnHooks.threadCheckProc != NULL
        && nsConnHooks.threadCheckProc(connPtr->serverPtr) != NS_OK) {
        NsPoolThreadUnfit();
        NsConnRefuse(workPtr);
        return;
    }
    NsConnSetCurrent(connPtr);
    nsLogIdentity = NsConnIdentity(connPtr);
    NsThreadSetDoing(&(NsThreadDoing){
        .method = connPtr->firstMethod,
        .url = connPtr->firstUrl,
        .id = workPtr->id,
        .requestId = nsLogIdentity == NULL ? NULL : nsLogIdentity->requestId});
    workPtr->filterStamp = workPtr->dequeueStamp;
    NsUnitBegin();
    NsSockSetNotes(connPtr->sockPtr,
                   &(NsSockNotes){
                       .queueStamp = workPtr->queueStamp,
                       .pool = NsPoolName(workPtr->poolPtr),
                       .bytesPerSecond = NsPoolConnectionRate(workPtr->poolPtr),
                       .groupPtr = NsPoolReplyGroup(workPtr->poolPtr)});

    if (!IsAbandoned(connPtr)) {
        Answer(connPtr);
    }
    NsReplyFinish(connPtr);
    Ns_ConnTimeStats(&connPtr->pub);
    NsAssert(connPtr->sockPtr == NULL && workPtr->isCounted);
    Count(connPtr);
    NsSlowestNote(connPtr);
    EndLog(connPtr);
    Release(connPtr);
}

int
NsConnServe(NsConn *connPtr)
{
    int status = NsConnAuthorize(connPtr);

    if (status == 0) {
        status = RunHandler(connPtr);
    }
    if (status != ANSWERED) {
        ReturnPage(connPtr, status);
    }
    return status < 500 ? NS_OK : NS_ERROR;
}

int
Ns_ConnRunRequest(Ns_Conn *conn)
{
    int result = NsOpRun(NsConnOf(conn));

    return result <= 0 ? result : NsReturnStatusPage(NsConnOf(conn), result);
}

/*
 * Whether the client has left while the request waited.  It is not run then,
 * which is status 499 in the log.  A client of HTTP/1.0 may close its side as
 * soon as it has asked.
 */
static bool
IsAbandoned(NsConn *connPtr)
{
    const Ns_Request *request = NsConnRequest(connPtr);

    if (!NsSockIsGone(connPtr->sockPtr)
        && (!NsPoolIsStale(&connPtr->work)
            || !NsSockHasLeft(connPtr->sockPtr, request->version < 1.1))) {
        return false;
    }
    NsAssert((connPtr->pub.flags & NS_CONN_SENTHDRS) == 0);
    NsPoolCountAbandoned(connPtr->work.poolPtr);
    connPtr->status = ABANDONED;
    connPtr->keep = 0;
    connPtr->isBroken = true;
    return true;
}

static void
Answer(NsConn *connPtr)
{
    int status = 0;

#pragma GCC unroll 9
    for (int i = 0; i < Ns_NrElements(stages) && status == 0; i++) {
        status = stages[i](connPtr);
    }
    NsAssert(status != 0);
    if (status != ANSWERED) {
        ReturnPage(connPtr, status);
    }
}

/*
 * Answer a request that no handler has answered.  If the client has left,
 * nothing more is to be done.
 */
static void
ReturnPage(NsConn *connPtr, int status)
{
    NsAssert(status == 204 || (status >= 400 && status <= 599));
    if (connPtr->isBroken) {
        return;
    }
    if (status == 503 && (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0) {
        NsReplyAbort(connPtr);
    } else {
        (void) NsReturnStatusPage(connPtr, status);
    }
}

/*
 * A script that has detached the connection replies itself: the status is the
 * one that the access log has.
 */
static void
Count(const NsConn *connPtr)
{
    const NsWork  *workPtr = &connPtr->work;
    NsRouteRequest request = {
        .status = (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0
                || connPtr->status == ABANDONED || NsConnIsDetached(connPtr)
            ? connPtr->status
            : 0,
        .runTime = workPtr->endStamp - workPtr->filterStamp,
        .bytesSent = atomic_load_explicit(&connPtr->bytesSent,
                                          memory_order_relaxed)};

    NsPoolCountSent(workPtr->poolPtr, request.bytesSent);
    if (unlikely(connPtr->messagePtr->contentLength > 0)) {
        NsPoolCountBody(workPtr->poolPtr,
                        (int64_t) connPtr->messagePtr->contentLength);
    }
    NsPoolCountStatus(workPtr->poolPtr, request.status);
    NsRouteCount(connPtr->serverPtr, connPtr->routePtr, &request);
}

/*
 * Traces and the log.  When a writer thread still sends the reply, the records
 * that say how much of it was sent are left with that thread.
 */
static void
EndLog(NsConn *connPtr)
{
    NsReceipt *receiptPtr = connPtr->rarePtr == NULL
        ? NULL
        : connPtr->rarePtr->receiptPtr;

    NsConnCheck(connPtr);
    if (receiptPtr != NULL) {
        NsReceiptCollect(receiptPtr);
    }
    Trace(connPtr);
    EndUnit(connPtr);
    if (receiptPtr != NULL) {
        NsReceiptLeave(receiptPtr);
    }
}

/*
 * Hand the request's log unit over, if a sink wants it.
 */
static void
EndUnit(NsConn *connPtr)
{
    if (unlikely(NsUnitIsWanted())) {
        NsUnitEnd(NsAccessGet(connPtr));
    }
}

/*
 * Nobody but the log sees what is no request.
 */
static int
RefuseMalformed(NsConn *connPtr)
{
    const NsMessage *messagePtr = connPtr->messagePtr;

    return messagePtr->isMalformed ? messagePtr->refusal : 0;
}

static int
HaveBody(NsConn *connPtr)
{
    return NsConnMapBody(connPtr) == NS_OK ? 0 : 503;
}

static int
AskDriver(NsConn *connPtr)
{
    if (!NsSockHasRequestProc(connPtr->sockPtr)) {
        return 0;
    }
    NsConnMayChangeFiles(connPtr);
    return StageResult(NsSockRequestProc(connPtr->sockPtr, &connPtr->pub));
}

/*
 * A URL that names a host is for a proxy handler; without one, it is for us if
 * the host is, and the scheme is that of HTTP.
 */
static int
RunProxy(NsConn *connPtr)
{
    Ns_Request *requestPtr = NsConnRequest(connPtr);
    int         result;

    /* A handler would take a body that was refused for an empty one. */
    if (likely(requestPtr->host == NULL) || requestPtr->protocol == NULL
        || connPtr->messagePtr->refusal != 0) {
        return 0;
    }
    result = NsOpRunProxy(connPtr);
    if (result != 404) {
        return HandlerResult(result);
    }
    if (requestPtr->requestType != NS_REQUEST_TYPE_CONNECT) {
        if ((!STRIEQ(requestPtr->protocol, "http")
             && !STRIEQ(requestPtr->protocol, "https"))
            || !NsSockIsForUs(connPtr->sockPtr,
                              NsHttpKnown(&connPtr->messagePtr->head,
                                          NS_FIELD_HOST))) {
            return 404;
        }
        requestPtr->isProxyRequest = false;
        requestPtr->requestType = NS_REQUEST_TYPE_PLAIN;
    }
    return 0;
}

static int
FilterBeforeAuth(NsConn *connPtr)
{
    return StageResult(RunFilters(connPtr, NS_FILTER_PRE_AUTH));
}

static int
FilterAfterAuth(NsConn *connPtr)
{
    return StageResult(RunFilters(connPtr, NS_FILTER_POST_AUTH));
}

/*
 * The driver found the request too large, and has read and dropped its body;
 * filters have seen it.
 */
static int
RefuseOversized(NsConn *connPtr)
{
    return connPtr->messagePtr->refusal;
}

static int
RunHandler(NsConn *connPtr)
{
    return HandlerResult(NsOpRun(connPtr));
}

static int
RunFilters(NsConn *connPtr, int phase)
{
    int result;

    if (NsConnRequest(connPtr)->method == NULL) {
        return NS_OK;
    }
    if (!NsFiltersExist(connPtr->serverPtr)) {
        if (phase == NS_FILTER_POST_AUTH) {
            connPtr->work.filterStamp = HasBegun(connPtr)
                ? NsClockNow()
                : connPtr->work.dequeueStamp;
        }
        return NS_OK;
    }
    connPtr->work.filterStamp = NsClockNow();
    result = NsFiltersRun(connPtr, phase);
    connPtr->work.filterStamp = NsClockNow();
    return result;
}

/*
 * Whether a stage before the handler, other than filters, had something to do.
 */
static bool
HasBegun(const NsConn *connPtr)
{
    return NsAuthExists(connPtr->serverPtr)
        || NsSockHasRequestProc(connPtr->sockPtr);
}

static int
StageResult(int result)
{
    switch (result) {
    case NS_OK:
        return 0;
    case NS_FILTER_RETURN:
        return ANSWERED;
    case NS_TIMEOUT:
        return 503;
    default:
        return 500;
    }
}

/*
 * The handler is the last stage, whatever it says.
 */
static int
HandlerResult(int result)
{
    if (result == NS_OK || result == NS_FILTER_BREAK) {
        return ANSWERED;
    }
    return result > 0 ? result : StageResult(result);
}

/*
 * A trace filter that fails stops all others.
 */
static void
Trace(NsConn *connPtr)
{
    bool hasFilters = NsConnRequest(connPtr)->method != NULL
        && !connPtr->messagePtr->isMalformed
        && NsFiltersExist(connPtr->serverPtr);
    int result = NS_OK;

    if (hasFilters) {
        result = NsFiltersRun(connPtr, NS_FILTER_TRACE);
    }
    if (result == NS_OK || result == NS_FILTER_RETURN || result == NS_TIMEOUT) {
        if (hasFilters) {
            (void) NsFiltersRun(connPtr, NS_FILTER_VOID_TRACE);
        }
        NsReqTraceRun(connPtr);
    } else if (connPtr->isAnnounced) {
        NsReqTraceAnnounce(connPtr, NS_ACCESS_FORGOTTEN, 0);
    }
    NsReqTraceCleanups(connPtr);
    connPtr->work.traceStamp = NsClockNow();
    NsWorkCheck(&connPtr->work);
    NsPoolCountTrace(&connPtr->work);
}

static void
Release(NsConn *connPtr)
{
    NsMessage *messagePtr = connPtr->messagePtr;

    NsAssert(connPtr->sockPtr == NULL);
    NsAssertNoneLocked();
    NsThreadSetDoing(&(NsThreadDoing){NULL, NULL, 0, NULL});
    NsConnFreeLocals(connPtr);
    if (nsConnHooks.cleanupProc != NULL) {
        nsConnHooks.cleanupProc(connPtr);
    }
    NsPoolRelease(&connPtr->work);
    NsConnSetCurrent(NULL);
    nsLogIdentity = NULL;
    NsConnFreeParts(connPtr);
#ifdef NS_CONN_PROFILE
    NsConnProfileEnd(connPtr);
#endif
    NsMessageRelease(&messagePtr);
}

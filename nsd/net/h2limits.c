/* SPDX-License-Identifier: MPL-2.0
 * h2limits.c --
 *
 *      What a client of HTTP/2 may ask for without end, and how long it may
 *      take.
 *
 *      Frames that cost the server work and the client nothing are counted in
 *      periods of ten seconds.  Requests that are reset before they are
 *      answered cost most; then those that want an answer at once (SETTINGS,
 *      PING); the others have to come along with data in one direction or the
 *      other.
 */

#include "net/h2limits.h"
#include "net/h2reply.h"
#include "net/h2request.h"
#include "net/h2tunnel.h"
#include "nslog.h"
#include "base/assert.h"

#define PERIOD_NS    (10 * NS_STAMP_SECOND)
#define MAX_RESETS   200
#define MAX_SETTINGS 100
#define MAX_PINGS    1000
#define MAX_IDLE     10000 /* And two for each useful one. */

/*
 * How often progress is looked at, at least.
 */
#define MIN_LOOK_NS INT64_C(50000000)

static void    CheckCounts(NsH2Session *sessionPtr);
static NsStamp LookInterval(const NsDriver *drvPtr);

static void NoteReceiving(NsH2Stream *streamPtr, NsStamp now);
static bool IsRequestSlow(NsH2Stream *streamPtr, NsStamp now);
static bool IsReplySlow(NsH2Stream *streamPtr, NsStamp now,
                        NsAbortReason *reasonPtr);
static void GiveUp(NsH2Stream *streamPtr, NsAbortReason reason);
static bool IsTooLittle(NsStamp *sincePtr, int64_t *bytesThenPtr, int64_t bytes,
                        int rate, NsStamp grace, NsStamp period, NsStamp now);

void
NsH2CountFrame(NsH2Session *sessionPtr, uint8_t type, uint8_t flags)
{
    NsH2Counts *countsPtr = &sessionPtr->counts;

    switch (type) {
    case NGHTTP2_SETTINGS:
        countsPtr->nSettings += (flags & NGHTTP2_FLAG_ACK) == 0;
        break;
    case NGHTTP2_PING:
        countsPtr->nPings += (flags & NGHTTP2_FLAG_ACK) == 0;
        break;
    case NGHTTP2_HEADERS:
        return; /* Bounded by the streams, and by resets. */
    default:
        /* Also DATA: what it brings counts twice as much. */
        countsPtr->nIdle++;
    }
    CheckCounts(sessionPtr);
}

void
NsH2CountReset(NsH2Session *sessionPtr)
{
    sessionPtr->counts.nResets++;
    CheckCounts(sessionPtr);
}

static void
CheckCounts(NsH2Session *sessionPtr)
{
    NsH2Counts *countsPtr = &sessionPtr->counts;
    const char *reason = NULL;
    NsStamp     now;

    if (countsPtr->nResets > MAX_RESETS) {
        reason = "too many requests reset before they were answered";
    } else if (countsPtr->nSettings > MAX_SETTINGS) {
        reason = "too many SETTINGS frames";
    } else if (countsPtr->nPings > MAX_PINGS) {
        reason = "too many PING frames";
    } else if (countsPtr->nIdle > MAX_IDLE + 2 * countsPtr->nUseful) {
        reason = "too many frames without use";
    } else {
        return;
    }
    now = NsClockNow();
    if (now - countsPtr->since > PERIOD_NS) {
        *countsPtr = (NsH2Counts){.since = now};
        return;
    }
    NsH2End(sessionPtr, NGHTTP2_ENHANCE_YOUR_CALM, reason);
}

void
NsH2End(NsH2Session *sessionPtr, uint32_t code, const char *reason)
{
    if (sessionPtr->isEnding) {
        return;
    }
    sessionPtr->isEnding = true;
    if (reason != NULL) {
        Ns_Log(Notice, "%s: ended the HTTP/2 connection of %s: %s",
               sessionPtr->sockPtr->drvPtr->pub.module,
               sessionPtr->sockPtr->peer, reason);
    }
    if (code != NGHTTP2_NO_ERROR) {
        (void) nghttp2_session_terminate_session(sessionPtr->enginePtr, code);
    } else {
        (void) nghttp2_submit_goaway(
            sessionPtr->enginePtr, NGHTTP2_FLAG_NONE,
            nghttp2_session_get_last_proc_stream_id(sessionPtr->enginePtr),
            code, NULL, 0u);
    }
}

NsStamp
NsH2CheckTimes(NsH2Session *sessionPtr, NsStamp now)
{
    const NsDriver *drvPtr = sessionPtr->sockPtr->drvPtr;
    NsStamp         next = now + LookInterval(drvPtr);
    NsAbortReason   reason;

    for (NsH2Stream *streamPtr = sessionPtr->firstPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        if (streamPtr->isClosed) {
            continue;
        }
        if (streamPtr->isStoring) {
            NoteReceiving(streamPtr, now);
        } else if (!streamPtr->isHanded && !streamPtr->isSubmitted) {
            if (IsRequestSlow(streamPtr, now)) {
                Ns_Log(Notice,
                       "%s: dropped a request from %s: slower than recvwait or"
                       " minrecvrate allow",
                       drvPtr->pub.module, streamPtr->sock.peer);
                NsH2RequestTimeUp(streamPtr);
            }
        } else if (streamPtr->isSent && !streamPtr->isReceived) {
            NsH2ReplyReset(streamPtr, NGHTTP2_NO_ERROR);
        } else if (IsReplySlow(streamPtr, now, &reason)) {
            GiveUp(streamPtr, reason);
        }
    }
    if (sessionPtr->restBytes > 0u
        && now - sessionPtr->restStamp >= drvPtr->params.sendWait) {
        NsH2End(sessionPtr, NGHTTP2_NO_ERROR, "the client takes nothing");
        sessionPtr->isBroken = true;
        sessionPtr->abortReason = NS_ABORT_SENDWAIT;
    }
    if (sessionPtr->headStamp != 0
        && now - sessionPtr->headStamp >= drvPtr->params.headTimeout) {
        NsH2End(sessionPtr, NGHTTP2_ENHANCE_YOUR_CALM,
                "the head of a request took longer than headtimeout");
    }
    return next;
}

bool
NsH2HasNoTimes(const NsH2Session *sessionPtr)
{
    NsAssert(sessionPtr->nQuiet <= sessionPtr->nOpen);
    return sessionPtr->nQuiet == sessionPtr->nOpen
        && sessionPtr->restBytes == 0u && sessionPtr->headStamp == 0;
}

static NsStamp
LookInterval(const NsDriver *drvPtr)
{
    return MAX(MIN(drvPtr->params.recvWait, drvPtr->params.sendWait) / 4,
               MIN_LOOK_NS);
}

/*
 * As long as the disk has not taken what came, the client may have to wait.
 */
static void
NoteReceiving(NsH2Stream *streamPtr, NsStamp now)
{
    streamPtr->recvStamp = now;
    streamPtr->recvWindow = now;
    streamPtr->seenRecvBytes = streamPtr->recvBytes;
    streamPtr->recvWindowBytes = streamPtr->recvBytes;
}

/*
 * Nothing has come for recvwait, or too little.
 */
static bool
IsRequestSlow(NsH2Stream *streamPtr, NsStamp now)
{
    const NsDriverParams *paramsPtr = &streamPtr->sock.drvPtr->params;
    bool hasSent = streamPtr->recvBytes != streamPtr->seenRecvBytes;

    if (hasSent) {
        streamPtr->seenRecvBytes = streamPtr->recvBytes;
        streamPtr->recvStamp = now;
    }
    return now - streamPtr->recvStamp >= paramsPtr->recvWait
        || IsTooLittle(&streamPtr->recvWindow, &streamPtr->recvWindowBytes,
                       streamPtr->recvBytes, paramsPtr->minReceiveRate,
                       hasSent ? MIN(NS_RATE_GRACE, paramsPtr->recvWait)
                               : paramsPtr->recvWait,
                       paramsPtr->recvWait, now);
}

/*
 * The client does not take what is there.  What a limit of ours holds back is
 * no fault of it.
 */
static bool
IsReplySlow(NsH2Stream *streamPtr, NsStamp now, NsAbortReason *reasonPtr)
{
    const NsDriverParams *paramsPtr = &streamPtr->sock.drvPtr->params;
    bool isWaiting = streamPtr->isSubmitted && !streamPtr->isDeferred
        && (streamPtr->output.bytes > 0 || NsH2TunnelIsEnding(streamPtr));

    if (!isWaiting || streamPtr->sendStamp == 0) {
        streamPtr->sendStamp = isWaiting ? now : 0;
        streamPtr->sendWindow = now;
        streamPtr->sendWindowBytes = streamPtr->sentBody;
        streamPtr->seenSentBody = streamPtr->sentBody;
        return false;
    }
    if (streamPtr->sentBody != streamPtr->seenSentBody) {
        streamPtr->seenSentBody = streamPtr->sentBody;
        streamPtr->sendStamp = now;
    }
    if (now - streamPtr->sendStamp >= paramsPtr->sendWait) {
        *reasonPtr = NS_ABORT_SENDWAIT;
        return true;
    }
    *reasonPtr = NS_ABORT_SLOW;
    return IsTooLittle(&streamPtr->sendWindow, &streamPtr->sendWindowBytes,
                       streamPtr->sentBody, paramsPtr->minSendRate,
                       paramsPtr->sendWait, paramsPtr->sendWait, now);
}

static void
GiveUp(NsH2Stream *streamPtr, NsAbortReason reason)
{
    Ns_Log(Notice, "%s: stopped sending to %s: %s",
           streamPtr->sock.drvPtr->pub.module, streamPtr->sock.peer,
           "slower than sendwait or minsendrate allow");
    streamPtr->abortReason = reason;
    NsH2ReplyReset(streamPtr, NGHTTP2_CANCEL);
}

/*
 * In each period at least the minimum rate is due, but for its first part.
 */
static bool
IsTooLittle(NsStamp *sincePtr, int64_t *bytesThenPtr, int64_t bytes, int rate,
            NsStamp grace, NsStamp period, NsStamp now)
{
    NsStamp elapsed = now - *sincePtr;

    NsAssert(bytes >= *bytesThenPtr);
    if (rate == 0 || elapsed < grace) {
        return false;
    }
    if (bytes - *bytesThenPtr < NsRateBytes(rate, elapsed)) {
        return true;
    }
    if (elapsed >= period) {
        *sincePtr = now;
        *bytesThenPtr = bytes;
    }
    return false;
}

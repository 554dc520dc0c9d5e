/* SPDX-License-Identifier: MPL-2.0
 * h2session.c --
 *
 *      Connections of HTTP/2: from the preface to the last GOAWAY.
 *
 *      What one wait has reported is read, and handed to nghttp2, which calls
 *      for each frame; static files are answered on the way.  Then all output
 *      of all streams is collected in one buffer, and sent.  The same happens
 *      when those who answer have left news.
 *
 *      A session ends when its connection has, but not before the last of its
 *      streams is over for those who answer.
 */

#include "net/h2session.h"
#include "net/driver.h"
#include "net/driver_sock.h"
#include "net/h2limits.h"
#include "net/h2reply.h"
#include "net/h2request.h"
#include "net/h2tunnel.h"
#include "net/h2upload.h"
#include "net/makeroom.h"
#include "net/reader.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"

/*
 * What is sent in one call; what is sent, and read, before others get their
 * turn; and the windows that clients have for requests.
 */
#define OUT_BYTES      65536
#define MAX_SENDS      8
#define MAX_READS      4
#define SESSION_WINDOW (1 << 20)

/*
 * When a session with nothing but silent tunnels is looked at.
 */
#define QUIET_NS (3600 * NS_STAMP_SECOND)

/*
 * Frames of ours that wait for the client to read: nghttp2 bounds what answers
 * SETTINGS and PING, but not what refuses streams.
 */
#define MAX_ANSWERS 4096

/* RFC 9113, 3.4. */
#define PREFACE_BYTES 24u

/*
 * Constant after NsH2Init.
 */
static nghttp2_session_callbacks *callbacks;
static nghttp2_option            *options;

static int  NoteFrame(nghttp2_session *enginePtr, const nghttp2_frame_hd *hdPtr,
                      void *arg);
static void CheckEnded(NsH2Session *sessionPtr, int32_t id);
static int  TakeFrame(nghttp2_session *enginePtr, const nghttp2_frame *framePtr,
                      void *arg);
static int  NoteInvalid(nghttp2_session     *enginePtr,
                        const nghttp2_frame *framePtr, int code, void *arg);
static int  NoteSent(nghttp2_session *enginePtr, const nghttp2_frame *framePtr,
                     void *arg);
static int  NoteClose(nghttp2_session *enginePtr, int32_t id, uint32_t code,
                      void *arg);
static int  NoteError(nghttp2_session *enginePtr, int code, const char *text,
                      size_t length, void *arg);

static bool IsPreface(const char *buffer, size_t used);
static void Start(NsH2Session *sessionPtr);
static void PumpTunnels(NsH2Session *sessionPtr);
static void Receive(NsH2Session *sessionPtr);
static void Feed(NsH2Session *sessionPtr, const char *bytes, size_t length);
static void Give(NsH2Session *sessionPtr, const char *bytes, size_t length);
static void NoteData(NsH2Session *sessionPtr, const uint8_t *head);
static void TakeNews(NsH2Session *sessionPtr);
static void Send(NsH2Session *sessionPtr);
static bool SendRest(NsH2Session *sessionPtr);
static bool Collect(NsH2Session *sessionPtr, NsH2Out *outPtr);
static void KeepRest(NsH2Session *sessionPtr, const char *bytes, size_t length);
static ssize_t SendBytes(NsH2Session *sessionPtr, const char *bytes,
                         size_t length);
static bool    Settle(NsH2Session *sessionPtr);
static void    SetDeadline(NsH2Session *sessionPtr);
static NsStamp IdleUntil(const NsH2Session *sessionPtr);
static void    Resume(NsH2Session *sessionPtr, NsStamp now);
static bool    MayGo(NsH2Session *sessionPtr);
static void    Break(NsH2Session *sessionPtr);
static void    Close(NsH2Session *sessionPtr);
static void    Retire(NsH2Session *sessionPtr);

void
NsH2Init(void)
{
    if (nghttp2_session_callbacks_new(&callbacks) != 0
        || nghttp2_option_new(&options) != 0) {
        Ns_Fatal("driver: HTTP/2 cannot be set up: out of memory");
    }
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, NoteFrame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks,
                                                            NsH2RequestBegin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks,
                                                     NsH2RequestField);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, TakeFrame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks,
                                                                 NoteInvalid);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              NsH2RequestData);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, NoteSent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                           NoteClose);
    nghttp2_session_callbacks_set_send_data_callback(callbacks,
                                                     NsH2ReplySendData);
    nghttp2_session_callbacks_set_error_callback2(callbacks, NoteError);
    /* RFC 9218; closed streams are of no use without the old priorities. */
    nghttp2_option_set_builtin_recv_extension_type(options,
                                                   NGHTTP2_PRIORITY_UPDATE);
    nghttp2_option_set_no_closed_streams(options, 1);
    /* Of a body that goes to disk, only for what is there. */
    nghttp2_option_set_no_auto_window_update(options, 1);
}

bool
NsH2IsSpoken(const NsSock *sockPtr, const char *buffer, size_t used)
{
    Ns_DriverProtocolProc *proc = sockPtr->drvPtr->procs.protocolProc;
    const char            *protocol;

    NsAssert(sockPtr->acceptStamp != 0);
    if (!sockPtr->drvPtr->params.isHttp2) {
        return false;
    }
    if (proc == NULL) {
        return IsPreface(buffer, used);
    }
    protocol = proc(&sockPtr->pub);
    return protocol != NULL && STREQ(protocol, "h2");
}

/*
 * The parser may have changed the line's end.
 */
static bool
IsPreface(const char *buffer, size_t used)
{
    static const char line[] = "PRI * HTTP/2.0";

    return used >= sizeof(line) && memcmp(buffer, line, sizeof(line) - 1u) == 0;
}

void
NsH2Begin(NsDriverThread *threadPtr, NsSock *sockPtr, const char *buffer,
          size_t used)
{
    static const char head[] = "PRI * HTTP/2.0\r\n\r\n";
    const size_t      headBytes = IsPreface(buffer, used)
             ? MIN(used, sizeof(head) - 1u)
             : 0u;
    NsH2Session      *sessionPtr = ns_calloc(1u, sizeof(NsH2Session));

    NsSockAssertMine(threadPtr, sockPtr);
    sessionPtr->threadPtr = threadPtr;
    sessionPtr->sockPtr = sockPtr;
    sockPtr->sessionPtr = sessionPtr;
    sockPtr->mode = NS_SOCK_SESSION;
    sockPtr->idleSince = NsClockNow();
    sessionPtr->counts.since = sockPtr->idleSince;
    sessionPtr->isFresh = true;
    sessionPtr->isLookOld = true;
    sessionPtr->frameRest = PREFACE_BYTES;
    Start(sessionPtr);
    Feed(sessionPtr, head, headBytes);
    Feed(sessionPtr, buffer + headBytes, used - headBytes);
    NsSockDropRequest(sockPtr);
    sockPtr->acceptStamp = 0;
    NsSocksTouch(threadPtr, sockPtr);
    NsSockForgetPartial(threadPtr, sockPtr);
}

static void
Start(NsH2Session *sessionPtr)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, NS_H2_MAX_STREAMS},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, NS_H2_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, NS_H2_MAX_LIST},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}};
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsSockDetails(sessionPtr->sockPtr, &ds);
    sessionPtr->details = Ns_DStringExport(&ds);
    if (nghttp2_session_server_new2(&sessionPtr->enginePtr, callbacks,
                                    sessionPtr, options)
            != 0
        || nghttp2_submit_settings(sessionPtr->enginePtr, NGHTTP2_FLAG_NONE,
                                   settings, Ns_NrElements(settings))
            != 0
        || nghttp2_session_set_local_window_size(sessionPtr->enginePtr,
                                                 NGHTTP2_FLAG_NONE, 0,
                                                 SESSION_WINDOW)
            != 0) {
        Ns_Fatal("driver: HTTP/2 cannot be spoken: out of memory");
    }
}

bool
NsH2Serve(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsH2Session *sessionPtr = sockPtr->sessionPtr;

    NsAssert(sessionPtr->threadPtr == threadPtr);
    sessionPtr->look = sockPtr->report;
    sockPtr->report = (NsLook){0};
    sessionPtr->isLookFirst = true;
    sessionPtr->isLookOld = false;
    sessionPtr->mustTurn = false;
    TakeNews(sessionPtr);
    if (sessionPtr->isOver) {
        return Settle(sessionPtr);
    }
    if (!sessionPtr->isBroken) {
        PumpTunnels(sessionPtr);
        Receive(sessionPtr);
        NsH2UploadsPass(sessionPtr);
    }
    if (!sessionPtr->isBroken) {
        Send(sessionPtr);
    }
    return Settle(sessionPtr);
}

void
NsH2TakePost(NsSock *sockPtr)
{
    atomic_store_explicit(&sockPtr->sessionPtr->isPosted, false,
                          memory_order_release);
}

/*
 * Those at whose ends something has happened.
 */
static void
PumpTunnels(NsH2Session *sessionPtr)
{
    if (!sessionPtr->mustPump) {
        return;
    }
    sessionPtr->mustPump = false;
    for (NsH2Stream *streamPtr = sessionPtr->firstPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        if (streamPtr->tunnelPtr != NULL && streamPtr->tunnelPtr->mustPump) {
            streamPtr->tunnelPtr->mustPump = false;
            NsH2TunnelFlush(streamPtr);
            NsH2ReplyAdvance(streamPtr);
        }
    }
}

static void
Receive(NsH2Session *sessionPtr)
{
    NsDriverThread *threadPtr = sessionPtr->threadPtr;
    NsSock         *sockPtr = sessionPtr->sockPtr;
    NsDriver       *drvPtr = sockPtr->drvPtr;
    Ns_Time         noWait = {0, 0};

    for (int i = 0; i < MAX_READS && !sessionPtr->isBroken; i++) {
        struct iovec vec = {threadPtr->scratch, NS_SCRATCH_BYTES};
        ssize_t n = drvPtr->procs.recvProc(&sockPtr->pub, &vec, 1, &noWait, 0);

        if (n < 0) {
            sessionPtr->isBroken = true;
            return;
        }
        if (n == 0) {
            return;
        }
        Feed(sessionPtr, threadPtr->scratch, (size_t) n);
        if (n < NS_SCRATCH_BYTES && !sockPtr->sawHangup
            && (drvPtr->procs.opts & NS_DRIVER_FULLIO) != 0) {
            return;
        }
        /* What comes now was not there when the wait was over. */
        sessionPtr->isLookFirst = false;
        sessionPtr->isLookOld = true;
    }
    sessionPtr->mustTurn = true;
}

/*
 * nghttp2 drops a DATA frame of a stream that it does not know, and tells
 * nobody: so the frames are followed here.  Whether the stream is known shows
 * when all before the frame has been taken in; nghttp2 looks at the frame's
 * head when it has the last byte of that.
 */
static void
Feed(NsH2Session *sessionPtr, const char *bytes, size_t length)
{
    size_t fed = 0u, at = 0u;

    while (at < length) {
        uint8_t *head = sessionPtr->frameHead;
        bool     isInFrame = sessionPtr->frameRest > 0u;
        size_t   wanted = isInFrame ? sessionPtr->frameRest
                                    : NS_H2_FRAME_HEAD - sessionPtr->nHead;
        size_t   n = MIN(length - at, wanted);

        if (isInFrame) {
            sessionPtr->frameRest -= n;
        } else {
            memcpy(head + sessionPtr->nHead, bytes + at, n);
            sessionPtr->nHead += n;
        }
        at += n;
        if (sessionPtr->nHead < NS_H2_FRAME_HEAD) {
            continue;
        }
        NsAssert(sessionPtr->frameRest == 0u);
        sessionPtr->nHead = 0u;
        sessionPtr->frameRest = (size_t) head[0] << 16 | (size_t) head[1] << 8
            | head[2];
        if (head[3] == NGHTTP2_DATA) {
            Give(sessionPtr, bytes + fed, at - 1u - fed);
            fed = at - 1u;
            NoteData(sessionPtr, head);
        }
    }
    Give(sessionPtr, bytes + fed, length - fed);
}

static void
Give(NsH2Session *sessionPtr, const char *bytes, size_t length)
{
    ssize_t n;

    if (sessionPtr->isBroken) {
        return;
    }
    n = nghttp2_session_mem_recv(sessionPtr->enginePtr, (const uint8_t *) bytes,
                                 length);
    if (n < 0) {
        Ns_Log(Notice, "%s: ended the HTTP/2 connection of %s: %s",
               sessionPtr->sockPtr->drvPtr->pub.module,
               sessionPtr->sockPtr->peer, nghttp2_strerror((int) n));
        sessionPtr->isBroken = true;
    } else if (nghttp2_session_get_outbound_queue_size(sessionPtr->enginePtr)
               > MAX_ANSWERS) {
        NsH2End(sessionPtr, NGHTTP2_ENHANCE_YOUR_CALM,
                "too many frames to answer");
    }
}

/*
 * The head of a DATA frame has come.
 */
static void
NoteData(NsH2Session *sessionPtr, const uint8_t *head)
{
    int32_t id = (int32_t) ((head[5] & 0x7fu) << 24 | (unsigned) head[6] << 16
                            | (unsigned) head[7] << 8 | head[8]);

    NsH2CountFrame(sessionPtr, NGHTTP2_DATA, head[4]);
    CheckEnded(sessionPtr, id);
}

static int
NoteFrame(nghttp2_session *enginePtr, const nghttp2_frame_hd *hdPtr, void *arg)
{
    NsH2Session *sessionPtr = arg;

    if (hdPtr->type == NGHTTP2_DATA) {
        return 0; /* It is noted already. */
    }
    NsH2CountFrame(sessionPtr, hdPtr->type, hdPtr->flags);
    if (hdPtr->type == NGHTTP2_HEADERS) {
        CheckEnded(sessionPtr, hdPtr->stream_id);
    } else if (hdPtr->type == NGHTTP2_PRIORITY && hdPtr->stream_id == 0) {
        /* RFC 9113, 6.3; nghttp2 ignores it. */
        NsH2End(sessionPtr, NGHTTP2_PROTOCOL_ERROR, "PRIORITY of no stream");
    }
    return 0;
}

/*
 * What nghttp2 ignores: more of a stream that has ended (RFC 9113, 5.1 and
 * 6.1).  A stream that we have reset may bring more for a while.
 */
static void
CheckEnded(NsH2Session *sessionPtr, int32_t id)
{
    nghttp2_session *enginePtr = sessionPtr->enginePtr;

    if (id % 2 == 0 || id > nghttp2_session_get_last_proc_stream_id(enginePtr)
        || nghttp2_session_find_stream(enginePtr, id) != NULL) {
        return;
    }
    if (sessionPtr->nResets > NS_H2_RESETS) {
        return; /* It may be one that is forgotten. */
    }
    for (unsigned i = 0u; i < sessionPtr->nResets; i++) {
        if (sessionPtr->resets[i] == id) {
            return;
        }
    }
    NsH2End(sessionPtr, NGHTTP2_STREAM_CLOSED,
            "a frame of a stream that has ended");
}

static int
TakeFrame(nghttp2_session *enginePtr, const nghttp2_frame *framePtr, void *arg)
{
    NsH2Session *sessionPtr = arg;
    bool         isEnd = (framePtr->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    NsH2Stream  *streamPtr =
        nghttp2_session_get_stream_user_data(enginePtr, framePtr->hd.stream_id);

    switch (framePtr->hd.type) {
    case NGHTTP2_HEADERS:
        sessionPtr->headStamp = 0;
        sessionPtr->isFresh = false;
        if (streamPtr != NULL && !streamPtr->isTaken) {
            NsH2RequestHead(streamPtr, isEnd);
        } else if (streamPtr != NULL && isEnd) {
            NsH2RequestEnd(streamPtr);
        }
        break;
    case NGHTTP2_DATA:
        if (streamPtr != NULL && isEnd) {
            NsH2RequestEnd(streamPtr);
        }
        break;
    case NGHTTP2_RST_STREAM:
        if (streamPtr != NULL && !streamPtr->isSent
            && (streamPtr->tunnelPtr == NULL || !streamPtr->isSubmitted)) {
            /* An open tunnel has had its answer. */
            NsH2CountReset(sessionPtr);
        }
        break;
    default:
        break;
    }
    return 0;
}

/*
 * A field section that nghttp2 refuses is not reported as a frame.
 */
static int
NoteInvalid(nghttp2_session *enginePtr, const nghttp2_frame *framePtr, int code,
            void *arg)
{
    NsH2Session *sessionPtr = arg;

    if (framePtr->hd.type == NGHTTP2_HEADERS) {
        sessionPtr->headStamp = 0;
    }
    return 0;
}

static int
NoteSent(nghttp2_session *enginePtr, const nghttp2_frame *framePtr, void *arg)
{
    NsH2Session *sessionPtr = arg;
    NsH2Stream  *streamPtr =
        nghttp2_session_get_stream_user_data(enginePtr, framePtr->hd.stream_id);
    uint8_t type = framePtr->hd.type;

    if (type == NGHTTP2_GOAWAY
        && framePtr->goaway.error_code != NGHTTP2_NO_ERROR
        && !sessionPtr->isEnding) {
        Ns_Log(Notice, "%s: ended the HTTP/2 connection of %s: %s: %s",
               sessionPtr->sockPtr->drvPtr->pub.module,
               sessionPtr->sockPtr->peer,
               nghttp2_http2_strerror(framePtr->goaway.error_code),
               sessionPtr->reason);
        sessionPtr->isEnding = true;
    }
    if (type == NGHTTP2_RST_STREAM) {
        sessionPtr->resets[sessionPtr->nResets++ % NS_H2_RESETS] =
            framePtr->hd.stream_id;
    }
    if (streamPtr == NULL) {
        return 0;
    }
    if (type == NGHTTP2_RST_STREAM
        && framePtr->rst_stream.error_code == NGHTTP2_INTERNAL_ERROR) {
        streamPtr->abortReason = NS_ABORT_ERROR;
    }
    if (type == NGHTTP2_RST_STREAM && streamPtr->isHanded && !streamPtr->isSent
        && framePtr->rst_stream.error_code != NGHTTP2_CANCEL
        && framePtr->rst_stream.error_code != NGHTTP2_INTERNAL_ERROR
        && framePtr->rst_stream.error_code != NGHTTP2_HTTP_1_1_REQUIRED) {
        /* The client has provoked it. */
        NsH2CountReset(sessionPtr);
    }
    if ((type == NGHTTP2_HEADERS || type == NGHTTP2_DATA)
        && (framePtr->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        streamPtr->isSent = true;
        if (streamPtr->isConnect && !streamPtr->isReceived) {
            /* There is nobody to whom more of the client could go. */
            NsH2ReplyReset(streamPtr, NGHTTP2_NO_ERROR);
        }
    }
    return 0;
}

static int
NoteClose(nghttp2_session *enginePtr, int32_t id, uint32_t code, void *arg)
{
    NsH2Session *sessionPtr = arg;
    NsH2Stream *streamPtr = nghttp2_session_get_stream_user_data(enginePtr, id);

    if (streamPtr != NULL) {
        NsH2TunnelNoteClose(streamPtr);
    }
    NsAssert(sessionPtr->nOpen > sessionPtr->nQuiet);
    if (--sessionPtr->nOpen == 0) {
        sessionPtr->sockPtr->idleSince = NsClockRecent();
    }
    if (streamPtr != NULL) {
        streamPtr->isClosed = true;
        if (!streamPtr->isSent) {
            atomic_store_explicit(&streamPtr->isGone, true,
                                  memory_order_release);
        }
        NsOutputClear(&streamPtr->output);
        sessionPtr->mustRetire = true;
    }
    return 0;
}

static int
NoteError(nghttp2_session *enginePtr, int code, const char *text, size_t length,
          void *arg)
{
    NsH2Session *sessionPtr = arg;

    (void) snprintf(sessionPtr->reason, sizeof(sessionPtr->reason), "%.*s",
                    (int) MIN(length, sizeof(sessionPtr->reason) - 1u), text);
    return 0;
}

/*
 * What those who answer have left.
 */
static void
TakeNews(NsH2Session *sessionPtr)
{
    NsDriverThread *threadPtr = sessionPtr->threadPtr;
    NsH2Stream     *streamPtr, *firstPtr;

    if (sessionPtr->mustRetry) {
        sessionPtr->mustRetry = false;
        for (streamPtr = sessionPtr->firstPtr; streamPtr != NULL;
             streamPtr = streamPtr->nextPtr) {
            if (streamPtr->isDeferred) {
                NsH2ReplyAdvance(streamPtr);
            }
        }
        sessionPtr->mustRetire = true;
    }
    Ns_MutexLock(&threadPtr->streamLock);
    firstPtr = sessionPtr->firstNewsPtr;
    sessionPtr->firstNewsPtr = sessionPtr->lastNewsPtr = NULL;
    for (streamPtr = firstPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextNewsPtr) {
        NsAssert(streamPtr->isNews);
        NsOutputMove(&streamPtr->output, &streamPtr->incoming);
        streamPtr->isNews = false;
        streamPtr->hasHeadNow = streamPtr->hasHeadNews;
        streamPtr->isFinished = streamPtr->isFinishedNews;
        streamPtr->isRefused = streamPtr->isRefusedNews;
        streamPtr->isCut = streamPtr->isCutNews;
        streamPtr->isBack = streamPtr->isStoredNews;
        streamPtr->isStoredNews = false;
        if (streamPtr->newTunnelPtr != NULL) {
            streamPtr->tunnelPtr = streamPtr->newTunnelPtr;
            streamPtr->newTunnelPtr = NULL;
        }
        streamPtr->nextTakenPtr = streamPtr->nextNewsPtr;
    }
    Ns_MutexUnlock(&threadPtr->streamLock);
    while (firstPtr != NULL) {
        streamPtr = firstPtr;
        firstPtr = streamPtr->nextTakenPtr;
        if (streamPtr->isBack) {
            streamPtr->isBack = false;
            NsH2RequestStored(streamPtr);
        }
        NsH2ReplyAdvance(streamPtr);
        sessionPtr->mustRetire |= streamPtr->isFinished && streamPtr->isClosed;
    }
}

/*
 * Whatever there is for the client, in as few calls as possible.
 */
static void
Send(NsH2Session *sessionPtr)
{
    char buffer[OUT_BYTES];

    for (int i = 0; i < MAX_SENDS; i++) {
        NsH2Out out = {.bytes = buffer, .room = sizeof(buffer)};
        ssize_t n;

        if (!SendRest(sessionPtr) || !Collect(sessionPtr, &out)
            || out.used == 0u) {
            return;
        }
        n = SendBytes(sessionPtr, buffer, out.used);
        if (n < 0) {
            return;
        }
        if ((size_t) n < out.used) {
            KeepRest(sessionPtr, buffer + n, out.used - (size_t) n);
        }
    }
    sessionPtr->mustTurn = true;
}

/*
 * False: the socket still does not take all of it.
 */
static bool
SendRest(NsH2Session *sessionPtr)
{
    ssize_t n;

    if (sessionPtr->restBytes == 0u) {
        return true;
    }
    n = SendBytes(sessionPtr, sessionPtr->rest + sessionPtr->restStart,
                  sessionPtr->restBytes);
    if (n > 0) {
        sessionPtr->restStart += (size_t) n;
        sessionPtr->restBytes -= (size_t) n;
        sessionPtr->restStamp = NsClockNow();
    }
    if (n < 0 || sessionPtr->restBytes > 0u) {
        return false;
    }
    ns_free(sessionPtr->rest);
    sessionPtr->rest = NULL;
    return true;
}

static ssize_t
SendBytes(NsH2Session *sessionPtr, const char *bytes, size_t length)
{
    Ns_FileVec vec;
    ssize_t    n;

    Ns_SetFileVec(&vec, 0, -1, bytes, 0, length);
    n = NsSockSendNow(sessionPtr->sockPtr, &vec, 1);
    if (n < 0) {
        sessionPtr->isBroken = true;
    }
    NsAssert(n < 0 || (size_t) n <= length);
    return n;
}

/*
 * Frames until the buffer is full, or nothing more may be sent.
 */
static bool
Collect(NsH2Session *sessionPtr, NsH2Out *outPtr)
{
    sessionPtr->outPtr = outPtr;
    for (;;) {
        const uint8_t *bytes;
        ssize_t n = nghttp2_session_mem_send(sessionPtr->enginePtr, &bytes);

        if (n < 0) {
            sessionPtr->isBroken = true;
            break;
        }
        if (n == 0) {
            break;
        }
        if ((size_t) n > outPtr->room - outPtr->used) {
            /* Once: the buffer counts as full then. */
            KeepRest(sessionPtr, (const char *) bytes, (size_t) n);
            break;
        }
        memcpy(outPtr->bytes + outPtr->used, bytes, (size_t) n);
        outPtr->used += (size_t) n;
    }
    sessionPtr->outPtr = NULL;
    return !sessionPtr->isBroken;
}

static void
KeepRest(NsH2Session *sessionPtr, const char *bytes, size_t length)
{
    char *rest = ns_malloc(sessionPtr->restBytes + length);

    memcpy(rest, bytes, length);
    if (sessionPtr->restBytes > 0u) {
        /* What did not fit comes behind what was not sent. */
        memcpy(rest + length, sessionPtr->rest + sessionPtr->restStart,
               sessionPtr->restBytes);
        ns_free(sessionPtr->rest);
    }
    sessionPtr->rest = rest;
    sessionPtr->restStart = 0u;
    sessionPtr->restBytes += length;
    sessionPtr->restStamp = NsClockNow();
}

/*
 * What is next: wait, take another turn, or end.
 */
static bool
Settle(NsH2Session *sessionPtr)
{
    NsDriverThread *threadPtr = sessionPtr->threadPtr;
    NsSock         *sockPtr = sessionPtr->sockPtr;

    if (!sessionPtr->isBroken
        && nghttp2_session_want_read(sessionPtr->enginePtr) == 0
        && nghttp2_session_want_write(sessionPtr->enginePtr) == 0
        && sessionPtr->restBytes == 0u) {
        sessionPtr->isOver = true;
    }
    if (sessionPtr->isBroken || sessionPtr->isOver) {
        Break(sessionPtr);
    }
    Retire(sessionPtr);
    if ((sessionPtr->isBroken || sessionPtr->isOver) && MayGo(sessionPtr)) {
        Close(sessionPtr);
        return false;
    }
    if (sessionPtr->isBroken || sessionPtr->isOver) {
        if (sockPtr->isRegistered) {
            NsPollerRemove(threadPtr->loop.pollerPtr, sockPtr->pub.sock);
            sockPtr->isRegistered = false;
        }
        sessionPtr->mustTurn = false;
    }
    if ((sessionPtr->mustTurn || sessionPtr->mustRetry)
        && !atomic_exchange(&sessionPtr->isPosted, true)) {
        NsInboxPut(&threadPtr->loop.inbox, &sockPtr->inboxNode);
    }
    if (!sessionPtr->isBroken && !sessionPtr->isOver) {
        SetDeadline(sessionPtr);
        sockPtr->hasRest = sessionPtr->restBytes > 0u;
        NsSockWatch(threadPtr, sockPtr);
    }
    return true;
}

/*
 * The wheel comes round for an idle connection when it has been idle long
 * enough, for others as often as progress is to be looked at.
 */
static void
SetDeadline(NsH2Session *sessionPtr)
{
    NsDriverThread *threadPtr = sessionPtr->threadPtr;
    NsSock         *sockPtr = sessionPtr->sockPtr;
    NsStamp         deadline = IdleUntil(sessionPtr);

    if (deadline != 0) {
        sessionPtr->lookStamp = 0;
    } else if (NsH2HasNoTimes(sessionPtr)) {
        sessionPtr->lookStamp = 0;
        deadline = NsClockRecent() + QUIET_NS;
    } else {
        if (sessionPtr->lookStamp == 0) {
            sessionPtr->lookStamp = NsH2CheckTimes(sessionPtr, NsClockRecent());
        }
        deadline = sessionPtr->lookStamp;
    }
    if (sessionPtr->pauseStamp != 0) {
        deadline = MIN(deadline, sessionPtr->pauseStamp);
    }
    if (threadPtr->hasStopped && !sessionPtr->isEnding) {
        if (sessionPtr->stopStamp == 0) {
            sessionPtr->stopStamp = NsClockNow() + NS_STOP_GRACE;
        }
        deadline = MIN(deadline, sessionPtr->stopStamp);
    }
    atomic_store_explicit(&sockPtr->deadline, deadline, memory_order_relaxed);
    NsWheelSetBefore(&threadPtr->loop.wheel, &sockPtr->wheelEntry, deadline);
}

/*
 * When an idle connection ends; 0: it is not idle.
 */
static NsStamp
IdleUntil(const NsH2Session *sessionPtr)
{
    const NsSock *sockPtr = sessionPtr->sockPtr;

    if (sockPtr->idleSince == 0 || sessionPtr->headStamp != 0
        || sessionPtr->restBytes > 0u) {
        return 0;
    }
    return sockPtr->idleSince
        + (sessionPtr->isFresh ? sockPtr->drvPtr->params.recvWait
                               : sockPtr->drvPtr->settings.keepWait);
}

bool
NsH2TimeUp(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsH2Session *sessionPtr = sockPtr->sessionPtr;
    NsStamp      now = NsClockNow();
    NsStamp      idleUntil = IdleUntil(sessionPtr);

    NsAssert(sessionPtr->threadPtr == threadPtr);
    if (sessionPtr->isBroken || sessionPtr->isOver) {
        return Settle(sessionPtr);
    }
    if (sockPtr->isLeaving || (idleUntil != 0 && now >= idleUntil)
        || (sessionPtr->stopStamp != 0 && now >= sessionPtr->stopStamp)) {
        NsH2End(sessionPtr, NGHTTP2_NO_ERROR, NULL);
    }
    if (sessionPtr->lookStamp != 0 && now >= sessionPtr->lookStamp) {
        sessionPtr->lookStamp = NsH2CheckTimes(sessionPtr, now);
    }
    if (sessionPtr->pauseStamp != 0 && now >= sessionPtr->pauseStamp) {
        Resume(sessionPtr, now);
    }
    return NsH2Serve(threadPtr, sockPtr);
}

/*
 * Streams whose limit allows more.
 */
static void
Resume(NsH2Session *sessionPtr, NsStamp now)
{
    sessionPtr->pauseStamp = 0;
    for (NsH2Stream *streamPtr = sessionPtr->firstPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        if (streamPtr->pauseStamp == 0) {
            continue;
        }
        if (streamPtr->pauseStamp <= now) {
            streamPtr->pauseStamp = 0;
            NsH2ReplyAdvance(streamPtr);
        } else {
            sessionPtr->pauseStamp = sessionPtr->pauseStamp == 0
                ? streamPtr->pauseStamp
                : MIN(sessionPtr->pauseStamp, streamPtr->pauseStamp);
        }
    }
}

/*
 * The first GOAWAY lets requests come that are on their way (RFC 9113, 6.8).
 */
void
NsH2Stop(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsH2Session *sessionPtr = sockPtr->sessionPtr;

    NsAssert(threadPtr->hasStopped && sessionPtr->threadPtr == threadPtr);
    if (!sessionPtr->isBroken && !sessionPtr->isOver) {
        (void) nghttp2_submit_shutdown_notice(sessionPtr->enginePtr);
        Send(sessionPtr);
        SetDeadline(sessionPtr);
    }
}

void
NsH2StopTunnels(NsSock *sockPtr)
{
    for (NsH2Stream *streamPtr = sockPtr->sessionPtr->firstPtr;
         streamPtr != NULL; streamPtr = streamPtr->nextPtr) {
        NsH2TunnelStop(streamPtr);
    }
}

bool
NsH2MayHandOver(const NsSock *sockPtr)
{
    const NsH2Session *sessionPtr = sockPtr->sessionPtr;

    if (sessionPtr->isBroken || sessionPtr->isOver) {
        return false;
    }
    for (const NsH2Stream *streamPtr = sessionPtr->firstPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        if (!streamPtr->isClosed && !streamPtr->isHanded) {
            return true;
        }
    }
    return !sessionPtr->isEnding;
}

bool
NsH2Abandon(NsSock *sockPtr)
{
    NsH2Session *sessionPtr = sockPtr->sessionPtr;

    if (!sessionPtr->isBroken) {
        sessionPtr->isBroken = true;
        sessionPtr->abortReason = NS_ABORT_ERROR;
    }
    TakeNews(sessionPtr);
    Break(sessionPtr);
    Retire(sessionPtr);
    if (!MayGo(sessionPtr)) {
        return false;
    }
    Close(sessionPtr);
    return true;
}

/*
 * Nobody has anything of it, and its node is in no inbox.
 */
static bool
MayGo(NsH2Session *sessionPtr)
{
    return sessionPtr->nStreams == 0
        && !atomic_load_explicit(&sessionPtr->isPosted, memory_order_acquire);
}

/*
 * The client gets nothing more: those who answer are told so, and each of them
 * is heard when it has finished.
 */
static void
Break(NsH2Session *sessionPtr)
{
    NsDriverThread *threadPtr = sessionPtr->threadPtr;

    Ns_MutexLock(&threadPtr->streamLock);
    sessionPtr->mustHear = true;
    Ns_MutexUnlock(&threadPtr->streamLock);
    TakeNews(sessionPtr);
    for (NsH2Stream *streamPtr = sessionPtr->firstPtr; streamPtr != NULL;
         streamPtr = streamPtr->nextPtr) {
        if (!streamPtr->isClosed) {
            streamPtr->isClosed = true;
            streamPtr->abortReason = sessionPtr->abortReason;
            NsH2TunnelNoteClose(streamPtr);
            atomic_store_explicit(&streamPtr->isGone, !streamPtr->isSent,
                                  memory_order_release);
        }
        NsOutputClear(&streamPtr->output);
    }
    sessionPtr->mustRetire = true;
}

/*
 * Streams that are over.
 */
static void
Retire(NsH2Session *sessionPtr)
{
    NsH2Stream *streamPtr = sessionPtr->mustRetire
        ? sessionPtr->firstPtr
        : NULL;

    sessionPtr->mustRetire = false;
    while (streamPtr != NULL) {
        NsH2Stream *nextPtr = streamPtr->nextPtr;

        if (streamPtr->isClosed) {
            NsH2StreamRetire(streamPtr);
        }
        streamPtr = nextPtr;
    }
}

/*
 * The connection is an ordinary one again, and closes.
 */
static void
Close(NsH2Session *sessionPtr)
{
    NsSock *sockPtr = sessionPtr->sockPtr;

    NsAssert(sessionPtr->firstPtr == NULL && sessionPtr->firstNewsPtr == NULL);
    sockPtr->isBroken |= sessionPtr->isBroken;
    sockPtr->sessionPtr = NULL;
    nghttp2_session_del(sessionPtr->enginePtr);
    ns_free(sessionPtr->rest);
    ns_free(sessionPtr->details);
    ns_free(sessionPtr);
    NsSockBeginClose(sockPtr);
}

/* SPDX-License-Identifier: MPL-2.0
 * httppost.c --
 *
 *      Requests of a sink to an HTTP server.
 */

#include "log/target/httppost.h"

#include "base/assert.h"
#include "http/chunk.h"
#include "http/date.h"
#include "http/reply.h"
#include "nsset.h"

#define READ_BYTES 16384
/* What a server has to say of a request; a longer body costs the connection. */
#define MAX_BODY 65536
/* A sink does not sleep longer on a server's word. */
#define MAX_RETRY_SECONDS 3600

static bool Exchange(NsHttpPost *postPtr, const char *body, size_t length,
                     NsStamp until, NsHttpAnswer *answerPtr);
static bool SendAll(NsHttpPost *postPtr, const char *bytes, size_t length,
                    NsStamp until);
static bool ReadAnswer(NsHttpPost *postPtr, NsStamp until,
                       NsHttpAnswer *answerPtr, bool *isKeptPtr);
static bool ReadHead(NsHttpPost *postPtr, NsStamp until, Ns_DString *textPtr,
                     NsReplyHead *headPtr, Ns_Set *fields);
static bool ReadBody(NsHttpPost *postPtr, NsStamp until,
                     const NsReplyHead *headPtr, Ns_DString *bodyPtr);
static bool ReadChunks(NsHttpPost *postPtr, NsStamp until, Ns_DString *bodyPtr);
static ssize_t ReadSome(NsHttpPost *postPtr, NsStamp until,
                        Ns_DString *textPtr);
static bool    Fail(NsHttpPost *postPtr, const char *reason);
static NsStamp RetryAfter(Ns_Set *fields);

bool
NsHttpPostSend(NsHttpPost *postPtr, const char *body, size_t length,
               NsStamp until, NsHttpAnswer *answerPtr)
{
    bool isKept;

    if (postPtr->remotePtr != NULL && NsRemoteIsClosed(postPtr->remotePtr)) {
        NsHttpPostDisconnect(postPtr);
    }
    isKept = postPtr->remotePtr != NULL;
    if (Exchange(postPtr, body, length, until, answerPtr)) {
        return true;
    }
    /* A server may close a kept connection when it likes. */
    return isKept && !postPtr->hasAnswer && errno != ETIMEDOUT
        && Exchange(postPtr, body, length, until, answerPtr);
}

void
NsHttpPostDisconnect(NsHttpPost *postPtr)
{
    if (postPtr->remotePtr != NULL) {
        NsRemoteClose(&postPtr->remotePtr);
    }
}

static bool
Exchange(NsHttpPost *postPtr, const char *body, size_t length, NsStamp until,
         NsHttpAnswer *answerPtr)
{
    Ns_DString head;
    bool       isOk, isKept = false;
    int        reason;

    postPtr->hasAnswer = false;
    postPtr->reason[0] = '\0';
    if (postPtr->remotePtr == NULL) {
        postPtr->remotePtr = NsRemoteOpen(&postPtr->server, &until,
                                          postPtr->reason);
        if (postPtr->remotePtr == NULL) {
            return false;
        }
    }
    Ns_DStringInit(&head);
    Ns_DStringPrintf(&head, "POST %s HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n",
                     postPtr->target, postPtr->fields, length);
    isOk = SendAll(postPtr, head.string, (size_t) head.length, until)
        && SendAll(postPtr, body, length, until)
        && ReadAnswer(postPtr, until, answerPtr, &isKept);
    reason = errno;
    Ns_DStringFree(&head);
    if (!isOk && postPtr->reason[0] == '\0') {
        snprintf(postPtr->reason, sizeof(postPtr->reason), "%s",
                 NsRemoteReason(postPtr->remotePtr));
    }
    if (!isKept) {
        NsHttpPostDisconnect(postPtr);
    }
    errno = reason;
    return isOk;
}

static bool
SendAll(NsHttpPost *postPtr, const char *bytes, size_t length, NsStamp until)
{
    while (length > 0) {
        ssize_t n = NsRemoteSend(postPtr->remotePtr, bytes, length, until);

        if (n < 0) {
            return false;
        }
        bytes += n;
        length -= (size_t) n;
    }
    return true;
}

/*
 * isKept: the next request may use the connection.
 */
static bool
ReadAnswer(NsHttpPost *postPtr, NsStamp until, NsHttpAnswer *answerPtr,
           bool *isKeptPtr)
{
    Ns_Set     *fields = Ns_SetCreate(NULL);
    NsReplyHead head;
    bool        isOk;

    Ns_DStringSetLength(&answerPtr->body, 0);
    isOk = ReadHead(postPtr, until, &answerPtr->body, &head, fields);
    if (isOk) {
        answerPtr->status = head.status;
        answerPtr->retryAfter = RetryAfter(fields);
        *isKeptPtr = ReadBody(postPtr, until, &head, &answerPtr->body)
            && head.isPersistent;
        if (head.isGzip) {
            /* Nobody has asked for that. */
            Ns_DStringSetLength(&answerPtr->body, 0);
        }
    }
    Ns_SetFree(fields);
    return isOk;
}

/*
 * Afterwards the text is what has come of the body.
 */
static bool
ReadHead(NsHttpPost *postPtr, NsStamp until, Ns_DString *textPtr,
         NsReplyHead *headPtr, Ns_Set *fields)
{
    size_t scanned = 0;

    for (;;) {
        size_t length = (size_t) textPtr->length;
        size_t n = NsReplyHeadBytes(textPtr->string, length, scanned);

        scanned = n == 0 ? length : 0;
        if (n == 0) {
            ssize_t nRead;

            if (!NsReplyMayBegin(textPtr->string, length)
                || length > NS_REPLY_MAX_HEAD) {
                return Fail(postPtr, "the reply is not HTTP");
            }
            nRead = ReadSome(postPtr, until, textPtr);
            if (nRead <= 0) {
                return nRead < 0 ? false : Fail(postPtr, "no reply");
            }
        } else {
            const char *problem;

            Ns_SetTrunc(fields, 0);
            problem = NsReplyParse(textPtr->string, n, true, headPtr, fields);
            if (problem != NULL) {
                return Fail(postPtr, problem);
            }
            memmove(textPtr->string, textPtr->string + n, length - n);
            Ns_DStringSetLength(textPtr, (int) (length - n));
            if (headPtr->status / 100 != 1) {
                return true;
            }
        }
    }
}

/*
 * False: there may be more of it, or something else behind it.
 */
static bool
ReadBody(NsHttpPost *postPtr, NsStamp until, const NsReplyHead *headPtr,
         Ns_DString *bodyPtr)
{
    switch (headPtr->framing) {
    case NS_REPLY_NO_BODY:
        return bodyPtr->length == 0;
    case NS_REPLY_LENGTH:
        while ((uint64_t) bodyPtr->length < headPtr->length) {
            if (bodyPtr->length > MAX_BODY
                || ReadSome(postPtr, until, bodyPtr) <= 0) {
                return false;
            }
        }
        return (uint64_t) bodyPtr->length == headPtr->length;
    case NS_REPLY_CHUNKED:
        return ReadChunks(postPtr, until, bodyPtr);
    case NS_REPLY_TO_CLOSE:
        while (bodyPtr->length <= MAX_BODY
               && ReadSome(postPtr, until, bodyPtr) > 0) {
        }
        return false;
    }
    return false;
}

static bool
ReadChunks(NsHttpPost *postPtr, NsStamp until, Ns_DString *bodyPtr)
{
    NsChunkDecoder decoder;
    size_t         done = 0;

    NsChunkInit(&decoder, MAX_BODY);
    for (;;) {
        size_t        length = (size_t) bodyPtr->length - done;
        size_t        nDecoded = 0, nConsumed = 0;
        NsChunkStatus status = NS_CHUNK_MORE;

        if (length > 0) {
            status = NsChunkDecode(&decoder, bodyPtr->string + done, length,
                                   &nDecoded, &nConsumed);
        }
        done += nDecoded;
        Ns_DStringSetLength(bodyPtr, (int) done);
        if (status != NS_CHUNK_MORE) {
            return status == NS_CHUNK_DONE && nConsumed == length;
        }
        if (ReadSome(postPtr, until, bodyPtr) <= 0) {
            return false;
        }
    }
}

static ssize_t
ReadSome(NsHttpPost *postPtr, NsStamp until, Ns_DString *textPtr)
{
    int     length = textPtr->length;
    ssize_t n;

    Ns_DStringSetLength(textPtr, length + READ_BYTES);
    n = NsRemoteReceive(postPtr->remotePtr, textPtr->string + length,
                        READ_BYTES, until);
    NsAssert(n <= READ_BYTES);
    Ns_DStringSetLength(textPtr, length + (int) MAX(n, 0));
    postPtr->hasAnswer |= n > 0;
    return n;
}

static bool
Fail(NsHttpPost *postPtr, const char *reason)
{
    snprintf(postPtr->reason, sizeof(postPtr->reason), "%s", reason);
    errno = EPROTO;
    return false;
}

/*
 * Seconds, or a date (RFC 9110, section 10.2.3).
 */
static NsStamp
RetryAfter(Ns_Set *fields)
{
    const char *text = Ns_SetIGet(fields, "retry-after");
    time_t      when;
    int64_t     seconds = -1;

    if (text != NULL && *text >= '0' && *text <= '9') {
        seconds = strspn(text, "0123456789") > 9
            ? MAX_RETRY_SECONDS
            : strtol(text, NULL, 10);
    } else if (text != NULL && NsHttpDateParse(text, &when)) {
        seconds = MAX((int64_t) when - (int64_t) time(NULL), 0);
    }
    return seconds < 0 ? -1 : MIN(seconds, MAX_RETRY_SECONDS) * NS_STAMP_SECOND;
}

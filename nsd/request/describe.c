/* SPDX-License-Identifier: MPL-2.0
 * describe.c --
 *
 *      A request as those see it who look at the server from outside.
 */

#include "request/describe.h"

#include "base/assert.h"
#include "dispatch/connthread.h"
#include "dispatch/pool_stats.h"
#include "http/parse.h"
#include "request/conn_int.h"
#include "request/proxies.h"
#include "request/requestid.h"

static void DescribeShort(Ns_DString *dsPtr, NsConn *connPtr, const char *state,
                          unsigned flags);
static void DescribeLong(Ns_DString *dsPtr, NsConn *connPtr, const char *state,
                         unsigned flags);
static const char *PeerOf(const NsConn *connPtr, unsigned flags,
                          char buffer[NS_FORWARDED_BYTES]);
static void AppendPair(Ns_DString *dsPtr, const char *key, const char *value);
static void AppendId(Ns_DString *dsPtr, const NsConn *connPtr);
static void AppendSpan(Ns_DString *dsPtr, NsStamp from, NsStamp to);
static void AppendBytes(Ns_DString *dsPtr, NsConn *connPtr);
static void AppendUrl(Ns_DString *dsPtr, const NsConn *connPtr);
static void AppendMasked(Ns_DString *dsPtr, const NsRequestServer *requestPtr,
                         const char *text);
static bool IsSecret(const NsRequestServer *requestPtr, const char *name,
                     size_t length);

void
NsConnDescribe(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
               unsigned flags)
{
    NsConn *connPtr = NsConnOfWork(workPtr);

    NsAssert(connPtr->messagePtr != NULL && connPtr->serverPtr != NULL);
    Tcl_DStringStartSublist(dsPtr);
    if ((flags & NS_POOL_LIST_LONG) != 0) {
        DescribeLong(dsPtr, connPtr, state, flags);
    } else {
        DescribeShort(dsPtr, connPtr, state, flags);
    }
    Tcl_DStringEndSublist(dsPtr);
}

static void
DescribeShort(Ns_DString *dsPtr, NsConn *connPtr, const char *state,
              unsigned flags)
{
    char peer[NS_FORWARDED_BYTES], id[NS_REQUEST_ID_BYTES];

    AppendId(dsPtr, connPtr);
    Tcl_DStringAppendElement(dsPtr, PeerOf(connPtr, flags, peer));
    Tcl_DStringAppendElement(dsPtr, state);
    Tcl_DStringAppendElement(dsPtr,
                             connPtr->firstMethod == NULL
                                 ? "unknown"
                                 : connPtr->firstMethod);
    Tcl_DStringAppendElement(dsPtr,
                             connPtr->firstUrl == NULL ? "unknown"
                                                       : connPtr->firstUrl);
    AppendSpan(dsPtr, connPtr->work.queueStamp, NsClockNow());
    AppendBytes(dsPtr, connPtr);
    if (NsConnRequestServer(connPtr)->requestIdField != NULL) {
        NsRequestIdText(id, connPtr->messagePtr, connPtr->work.id);
        Tcl_DStringAppendElement(dsPtr, id);
    }
}

/*
 * The time when a thread took the request is written before it counts as
 * running; nobody may look at that of one that waits.
 */
static void
DescribeLong(Ns_DString *dsPtr, NsConn *connPtr, const char *state,
             unsigned flags)
{
    const NsWork *workPtr = &connPtr->work;
    const char   *host = NsHttpFind(&connPtr->messagePtr->head, "Host");
    NsStamp       now = NsClockNow();
    NsStamp       taken = STREQ(state, "running") ? workPtr->dequeueStamp : now;
    char          peer[NS_FORWARDED_BYTES], id[NS_REQUEST_ID_BYTES];

    Tcl_DStringAppendElement(dsPtr, "id");
    AppendId(dsPtr, connPtr);
    AppendPair(dsPtr, "peer", PeerOf(connPtr, flags, peer));
    AppendPair(dsPtr, "state", state);
    AppendPair(dsPtr, "method",
               connPtr->firstMethod == NULL ? "" : connPtr->firstMethod);
    AppendPair(dsPtr, "host", host == NULL ? "" : host);
    AppendPair(dsPtr, "path",
               connPtr->firstUrl == NULL ? "" : connPtr->firstUrl);
    Tcl_DStringAppendElement(dsPtr, "url");
    AppendUrl(dsPtr, connPtr);
    Tcl_DStringAppendElement(dsPtr, "queue");
    AppendSpan(dsPtr, workPtr->queueStamp, taken);
    Tcl_DStringAppendElement(dsPtr, "run");
    AppendSpan(dsPtr, taken, now);
    Tcl_DStringAppendElement(dsPtr, "bytes");
    AppendBytes(dsPtr, connPtr);
    if (NsConnRequestServer(connPtr)->requestIdField != NULL) {
        NsRequestIdText(id, connPtr->messagePtr, workPtr->id);
        AppendPair(dsPtr, "request_id", id);
    }
}

static const char *
PeerOf(const NsConn *connPtr, unsigned flags, char buffer[NS_FORWARDED_BYTES])
{
    const NsMessage *messagePtr = connPtr->messagePtr;

    return (flags & NS_POOL_LIST_FORWARDED) != 0
        ? NsProxiesForwarded(&messagePtr->head, messagePtr->peer, buffer)
        : NsProxiesClientText(messagePtr, buffer);
}

static void
AppendPair(Ns_DString *dsPtr, const char *key, const char *value)
{
    Tcl_DStringAppendElement(dsPtr, key);
    Tcl_DStringAppendElement(dsPtr, value);
}

static void
AppendId(Ns_DString *dsPtr, const NsConn *connPtr)
{
    char text[32];

    snprintf(text, sizeof(text), "cns%" PRIu64, connPtr->work.id);
    Tcl_DStringAppendElement(dsPtr, text);
}

static void
AppendSpan(Ns_DString *dsPtr, NsStamp from, NsStamp to)
{
    Ns_Time span = NsClockSpan(from, MAX(from, to));
    char    text[40];

    snprintf(text, sizeof(text), "%" PRId64 ".%06ld", (int64_t) span.sec,
             span.usec);
    Tcl_DStringAppendElement(dsPtr, text);
}

static void
AppendBytes(Ns_DString *dsPtr, NsConn *connPtr)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64,
             atomic_load_explicit(&connPtr->bytesSent, memory_order_relaxed));
    Tcl_DStringAppendElement(dsPtr, text);
}

static void
AppendUrl(Ns_DString *dsPtr, const NsConn *connPtr)
{
    const NsHttpHead *headPtr = &connPtr->messagePtr->head;
    size_t length = MIN(headPtr->targetLength, NS_SHOWN_URL_BYTES + 1);
    char   target[NS_SHOWN_URL_BYTES + 2];

    NsAssert(headPtr->target != NULL || length == 0);
    if (length > 0) {
        memcpy(target, headPtr->target, length);
    }
    target[length] = '\0';
    NsRequestAppendUrl(dsPtr, NsConnRequestServer(connPtr), target);
}

void
NsRequestAppendUrl(Ns_DString *dsPtr, const NsRequestServer *requestPtr,
                   const char *target)
{
    Ns_DString url;
    int        length;

    Ns_DStringInit(&url);
    AppendMasked(&url, requestPtr, target);
    length = Ns_DStringLength(&url);
    if (length > NS_SHOWN_URL_BYTES || strlen(target) > NS_SHOWN_URL_BYTES) {
        Ns_DStringSetLength(&url, MIN(length, NS_SHOWN_URL_BYTES));
        Ns_DStringAppend(&url, "...");
    }
    Tcl_DStringAppendElement(dsPtr, Ns_DStringValue(&url));
    Ns_DStringFree(&url);
}

void
NsConnAppendLine(Ns_DString *dsPtr, const NsConn *connPtr, const char *line)
{
    if (line != NULL) {
        AppendMasked(dsPtr, NsConnRequestServer(connPtr), line);
    }
}

void
NsConnAppendField(Ns_DString *dsPtr, const NsConn *connPtr, const char *name,
                  const char *value)
{
    static const char *const secrets[] = {
        "Authorization", "Proxy-Authorization", "Cookie"};

    for (int i = 0; i < Ns_NrElements(secrets); i++) {
        if (strcasecmp(name, secrets[i]) == 0) {
            Ns_DStringAppend(dsPtr, "***");
            return;
        }
    }
    NsConnAppendLine(dsPtr, connPtr, value);
}

/*
 * The parameters begin at the first question mark or, in a path that has no
 * query, ampersand.  What follows the last blank of a request line is the
 * version.
 */
static void
AppendMasked(Ns_DString *dsPtr, const NsRequestServer *requestPtr,
             const char *text)
{
    const char *next = text + strcspn(text, "?&");
    const char *end = strrchr(next, ' ');

    if (end == NULL) {
        end = next + strlen(next);
    }
    Ns_DStringNAppend(dsPtr, text, (int) (next - text));
    while (next < end) {
        const char *name = next + 1;
        size_t      n = MIN(strcspn(name, "&;"), (size_t) (end - name));
        const char *equals = memchr(name, '=', n);

        Ns_DStringNAppend(dsPtr, next, 1);
        if (equals != NULL
            && IsSecret(requestPtr, name, (size_t) (equals - name))) {
            Ns_DStringNAppend(dsPtr, name, (int) (equals + 1 - name));
            Ns_DStringAppend(dsPtr, "***");
        } else {
            Ns_DStringNAppend(dsPtr, name, (int) n);
        }
        next = name + n;
    }
    NsAssert(next == end);
    Ns_DStringAppend(dsPtr, end);
}

/*
 * Whether the name has one of maskparameters in it, whatever the case of the
 * letters.  One with escapes is compared as it is sent, so it counts as secret.
 */
static bool
IsSecret(const NsRequestServer *requestPtr, const char *name, size_t length)
{
    if (memchr(name, '%', length) != NULL) {
        return true;
    }
    for (int i = 0; i < requestPtr->nMasked; i++) {
        size_t n = strlen(requestPtr->masked[i]);

        for (size_t at = 0; at + n <= length; at++) {
            if (strncasecmp(name + at, requestPtr->masked[i], n) == 0) {
                return true;
            }
        }
    }
    return false;
}

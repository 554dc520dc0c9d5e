/* SPDX-License-Identifier: MPL-2.0
 * access.c --
 *
 *      The description of a request for access procedures.
 */

#include "request/access.h"

#include "nsset.h"
#include "base/assert.h"
#include "http/parse.h"
#include "request/conn_int.h"
#include "request/proxies.h"
#include "request/reqserver.h"
#include "request/requestid.h"

/*
 * The description of a request for logs, and the one they got.
 */
typedef struct NsConnAccess {
    Ns_Access              access;
    struct Ns_AccessFields fields;
    int                    nAnnounced;
    Ns_SetField           *announced; /* The headers when that was. */
} NsConnAccess;

static const char *FindLine(const struct Ns_AccessFields *fieldsPtr,
                            const char *name, size_t *lengthPtr);
static bool        IsAsAnnounced(const NsConnAccess *toldPtr, NsConn *connPtr);
static void        Describe(NsConnAccess *toldPtr, NsConn *connPtr);
static void        FillSpans(Ns_Access *accessPtr, const NsWork *workPtr);
static void        FillLastSpans(Ns_Access *accessPtr, const NsWork *workPtr);

const char *
Ns_AccessHeader(const Ns_Access *accessPtr, const char *name)
{
    const struct Ns_AccessFields *fieldsPtr = accessPtr->fields;

    if (fieldsPtr->headers != NULL) {
        return Ns_SetIGet(fieldsPtr->headers, name);
    }
    return NsHttpFind(fieldsPtr->headPtr, name);
}

const char *
Ns_AccessReplyHeader(const Ns_Access *accessPtr, const char *name,
                     size_t *lengthPtr)
{
    const struct Ns_AccessFields *fieldsPtr = accessPtr->fields;
    const char                   *value;

    if (fieldsPtr->idField != NULL && strcasecmp(name, fieldsPtr->idField) == 0
        && accessPtr->requestId != NULL) {
        *lengthPtr = strlen(accessPtr->requestId);
        return accessPtr->requestId;
    }
    if (fieldsPtr->replyHeaders == NULL) {
        return FindLine(fieldsPtr, name, lengthPtr);
    }
    value = Ns_SetIGet(fieldsPtr->replyHeaders, name);
    *lengthPtr = value == NULL ? 0 : strlen(value);
    return value;
}

/*
 * In our own lines: a colon and one blank behind each name.
 */
static const char *
FindLine(const struct Ns_AccessFields *fieldsPtr, const char *name,
         size_t *lengthPtr)
{
    const char *line = fieldsPtr->replyLines;
    size_t      left = line == NULL ? 0 : fieldsPtr->replyLinesBytes;
    size_t      n = strlen(name);

    while (left > 0) {
        const char *end = memchr(line, '\r', left);

        if (end == NULL) {
            break;
        }
        if ((size_t) (end - line) >= n + 2 && line[n] == ':'
            && strncasecmp(line, name, n) == 0) {
            *lengthPtr = (size_t) (end - line) - n - 2;
            return line + n + 2;
        }
        NsAssert((size_t) (end + 2 - line) <= left);
        left -= (size_t) (end + 2 - line);
        line = end + 2;
    }
    *lengthPtr = 0;
    return NULL;
}

const char *
Ns_AccessForwardedPeer(const Ns_Access *accessPtr,
                       char             buffer[NS_ACCESS_PEER_BYTES])
{
    return NsProxiesForwarded(accessPtr->fields->headPtr,
                              accessPtr->fields->peer, buffer);
}

Ns_Access *
NsAccessGet(NsConn *connPtr)
{
    NsConnAccess *toldPtr = connPtr->accessPtr;

    if (toldPtr == NULL) {
        toldPtr = connPtr->accessPtr = NsArenaAlloc(NsConnArena(connPtr),
                                                    sizeof(*toldPtr));
        Describe(toldPtr, connPtr);
    } else if (!IsAsAnnounced(toldPtr, connPtr)) {
        Describe(toldPtr, connPtr);
    } else {
        FillLastSpans(&toldPtr->access, &connPtr->work);
    }
    toldPtr->access.stage = NS_ACCESS_FINISHED;
    toldPtr->access.status = connPtr->status;
    toldPtr->access.bytesSent = atomic_load_explicit(&connPtr->bytesSent,
                                                     memory_order_relaxed);
    return &toldPtr->access;
}

void
NsAccessFillDirect(Ns_Access *accessPtr, struct Ns_AccessFields *fieldsPtr,
                   const NsDirectReply *replyPtr)
{
    NsMessage *messagePtr = replyPtr->messagePtr;

    NsAssert(replyPtr->bytesSent > 0 && replyPtr->workPtr->endStamp != 0);
    fieldsPtr->headers = NULL;
    fieldsPtr->headPtr = &messagePtr->head;
    fieldsPtr->peer = messagePtr->peer;
    fieldsPtr->replyHeaders = NULL;
    fieldsPtr->replyLines = replyPtr->lines;
    fieldsPtr->replyLinesBytes = replyPtr->linesBytes;
    fieldsPtr->idField = messagePtr->serverPtr->requestPtr->requestIdField;
    *accessPtr = (Ns_Access){
        .server = messagePtr->serverPtr->name,
        .driver = replyPtr->driverPtr->module,
        .peer = NsProxiesClient(messagePtr),
        .line = messagePtr->head.line,
        .lineLength = messagePtr->head.lineLength,
        .url = replyPtr->url,
        .status = replyPtr->status,
        .bytesSent = replyPtr->bytesSent,
        .fields = fieldsPtr,
        .requestId = replyPtr->identity.requestId,
        .traceId = replyPtr->identity.traceId,
        .spanId = replyPtr->identity.spanId};
    FillSpans(accessPtr, replyPtr->workPtr);
}

void
NsAccessNoteAnnounced(NsConn *connPtr)
{
    NsConnAccess *toldPtr = connPtr->accessPtr;
    const Ns_Set *headers = connPtr->pub.headers;

    NsAssert(toldPtr != NULL && !toldPtr->access.isAnnounced);
    toldPtr->access.isAnnounced = true;
    toldPtr->nAnnounced = headers->size;
    if (headers->size > 0) {
        size_t bytes = (size_t) headers->size * sizeof(Ns_SetField);

        toldPtr->announced = NsArenaAlloc(NsConnArena(connPtr), bytes);
        memcpy(toldPtr->announced, headers->fields, bytes);
    }
}

/*
 * The strings of a request stay in its arena to the end, so that one that
 * changes has another address.
 */
static bool
IsAsAnnounced(const NsConnAccess *toldPtr, NsConn *connPtr)
{
    const Ns_Access *accessPtr = &toldPtr->access;
    const Ns_Set    *headers = connPtr->pub.headers;

    return accessPtr->isAnnounced
        && accessPtr->line == NsConnRequest(connPtr)->line
        && accessPtr->url == NsConnRequest(connPtr)->url
        && accessPtr->peer == Ns_ConnPeer(&connPtr->pub)
        && accessPtr->user == Ns_ConnAuthUser(&connPtr->pub)
        && toldPtr->fields.headers == headers
        && toldPtr->nAnnounced == headers->size
        && (headers->size == 0
            || memcmp(toldPtr->announced, headers->fields,
                      (size_t) headers->size * sizeof(Ns_SetField))
                == 0);
}

static void
Describe(NsConnAccess *toldPtr, NsConn *connPtr)
{
    const char          *line = NsConnRequest(connPtr)->line;
    const NsLogIdentity *identityPtr = NsConnIdentity(connPtr);

    toldPtr->fields = (struct Ns_AccessFields){
        connPtr->pub.headers,
        &connPtr->messagePtr->head,
        connPtr->messagePtr->peer,
        connPtr->pub.outputheaders,
        NULL,
        0,
        NULL};
    toldPtr->access = (Ns_Access){
        .server = connPtr->serverPtr->name,
        .driver = connPtr->driverPtr->module,
        .peer = Ns_ConnPeer(&connPtr->pub),
        .line = line,
        .lineLength = line == NULL ? 0 : strlen(line),
        .url = NsConnRequest(connPtr)->url,
        .user = Ns_ConnAuthUser(&connPtr->pub),
        .fields = &toldPtr->fields};
    if (unlikely(identityPtr != NULL)) {
        toldPtr->access.requestId = identityPtr->requestId;
        toldPtr->access.traceId = identityPtr->traceId;
        toldPtr->access.spanId = identityPtr->spanId;
        toldPtr->fields.idField = NsConnRequestServer(connPtr)->requestIdField;
    }
    FillSpans(&toldPtr->access, &connPtr->work);
    NsAssert(toldPtr->access.server != NULL && toldPtr->access.peer != NULL);
}

static void
FillSpans(Ns_Access *accessPtr, const NsWork *workPtr)
{
    accessPtr->start = NsClockWall(workPtr->queueStamp);
    accessPtr->acceptSpan = NsClockSpan(workPtr->acceptStamp,
                                        workPtr->queueStamp);
    accessPtr->queueSpan = NsClockSpan(workPtr->queueStamp,
                                       workPtr->dequeueStamp);
    FillLastSpans(accessPtr, workPtr);
}

/*
 * Those of what happens in the connection thread.  A request that still runs
 * ends now.
 */
static void
FillLastSpans(Ns_Access *accessPtr, const NsWork *workPtr)
{
    NsWorkCheck(workPtr);
    accessPtr->filterSpan = NsClockSpan(workPtr->dequeueStamp,
                                        workPtr->filterStamp);
    accessPtr->runSpan = NsClockSpan(workPtr->filterStamp,
                                     workPtr->endStamp != 0 ? workPtr->endStamp
                                                            : NsClockNow());
}

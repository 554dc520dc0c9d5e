/*
 * access.c --
 *
 *      What access procedures are told of a request.
 */

#include "log/init.h"
#include "log/unit.h"
#include "nsset.h"
#include "request/access.h"
#include "request/conn_int.h"
#include "request/filter.h"
#include "request/reqserver.h"

static void FillSpans(Ns_Access *accessPtr, const NsWork *workPtr);

const char *
Ns_AccessHeader(const Ns_Access *accessPtr, const char *name)
{
    const struct Ns_AccessFields *fieldsPtr = accessPtr->fields;

    if (fieldsPtr->headers != NULL) {
        return Ns_SetIGet(fieldsPtr->headers, name);
    }
    return NsHttpFind(fieldsPtr->headPtr, name);
}

void
NsAccessFill(Ns_Access *accessPtr, NsConn *connPtr)
{
    struct Ns_AccessFields *fieldsPtr;

    fieldsPtr = NsArenaZalloc(NsConnArena(connPtr),
                              sizeof(struct Ns_AccessFields));
    fieldsPtr->headers = connPtr->pub.headers;
    *accessPtr = (Ns_Access) {
        .server = connPtr->serverPtr->name,
        .driver = connPtr->driverPtr->module,
        .peer = Ns_ConnPeer(&connPtr->pub),
        .line = connPtr->request.line,
        .lineLength = connPtr->request.line == NULL ? 0
            : strlen(connPtr->request.line),
        .url = connPtr->request.url,
        .user = Ns_ConnAuthUser(&connPtr->pub),
        .status = connPtr->status,
        .bytesSent = atomic_load_explicit(&connPtr->bytesSent,
                                          memory_order_relaxed),
        .fields = fieldsPtr
    };
    FillSpans(accessPtr, &connPtr->work);
}

void
NsAccessFillDirect(Ns_Access *accessPtr, struct Ns_AccessFields *fieldsPtr,
                   const NsDirectReply *replyPtr)
{
    NsMessage *messagePtr = replyPtr->messagePtr;

    fieldsPtr->headers = NULL;
    fieldsPtr->headPtr = &messagePtr->head;
    *accessPtr = (Ns_Access) {
        .server = messagePtr->serverPtr->name,
        .driver = replyPtr->driverPtr->module,
        .peer = messagePtr->peer,
        .line = messagePtr->head.line,
        .lineLength = messagePtr->head.lineLength,
        .url = replyPtr->url,
        .status = replyPtr->status,
        .bytesSent = replyPtr->bytesSent,
        .fields = fieldsPtr
    };
    FillSpans(accessPtr, replyPtr->workPtr);
}

void
NsAccessAnnounce(NsConn *connPtr, Ns_AccessStage stage, int64_t bytes)
{
    Ns_Access access;

    if (NsUnitIsWanted()
            || (NsLogIsAsync() && atomic_load_explicit(
                    &connPtr->serverPtr->requestPtr->traces,
                    memory_order_acquire) != NULL)) {
        NsAccessFill(&access, connPtr);
        access.stage = stage;
        access.bytesSent += bytes;
        NsAccessRun(connPtr->serverPtr, &access);
        connPtr->isAnnounced = stage == NS_ACCESS_SENDING;
    }
}

/*
 * A request that still runs ends now.
 */
static void
FillSpans(Ns_Access *accessPtr, const NsWork *workPtr)
{
    accessPtr->start = NsClockWall(workPtr->queueStamp);
    accessPtr->acceptSpan = NsClockSpan(workPtr->acceptStamp,
                                        workPtr->queueStamp);
    accessPtr->queueSpan = NsClockSpan(workPtr->queueStamp,
                                       workPtr->dequeueStamp);
    accessPtr->filterSpan = NsClockSpan(workPtr->dequeueStamp,
                                        workPtr->filterStamp);
    accessPtr->runSpan = NsClockSpan(workPtr->filterStamp,
                                     workPtr->endStamp != 0
                                     ? workPtr->endStamp : NsClockNow());
}

/*
 * access.h --
 *
 *      What access procedures are told of a request.
 */

#ifndef NSD_REQUEST_ACCESS_H
#define NSD_REQUEST_ACCESS_H

#include "nsaccess.h"
#include "request/conn.h"

/*
 * Where Ns_AccessHeader looks: a set, or the head as received.
 */
struct Ns_AccessFields {
    Ns_Set           *headers;  /* NULL: use headPtr. */
    const NsHttpHead *headPtr;
    const char       *peer;     /* The other end of the connection. */
};

/*
 * Describe the request as it is now.  The result is the connection's.
 */
Ns_Access *NsAccessGet(NsConn *connPtr);

/*
 * Tell the logs of a request that goes on: as many bytes are about to leave,
 * and may be all that the client waits for (NS_ACCESS_SENDING); or it will not
 * be logged (NS_ACCESS_FORGOTTEN).
 */
void NsAccessAnnounce(NsConn *connPtr, Ns_AccessStage stage, int64_t bytes);

/*
 * Describe a request that a driver thread answered itself; workPtr has all its
 * stamps.
 */
typedef struct NsDirectReply {
    NsMessage       *messagePtr;
    const Ns_Driver *driverPtr;
    const NsWork    *workPtr;
    const char      *url;
    int              status;
    int64_t          bytesSent;
} NsDirectReply;

void NsAccessFillDirect(Ns_Access *accessPtr, struct Ns_AccessFields *fieldsPtr,
                        const NsDirectReply *replyPtr);

#endif

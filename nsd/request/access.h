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
 * The description has been told to the logs: as long as what it was made from
 * stays the same, so does what NsAccessGet returns.
 */
void NsAccessNoteAnnounced(NsConn *connPtr);

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

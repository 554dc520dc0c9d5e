/* SPDX-License-Identifier: MPL-2.0
 * access.h --
 *
 *      The description of a request for access procedures.
 */

#ifndef NSD_REQUEST_ACCESS_H
#define NSD_REQUEST_ACCESS_H

#include "nsaccess.h"
#include "log/stream/identity.h"
#include "request/conn.h"

/*
 * The fields for Ns_AccessHeader: a set, or the head as received.
 */
struct Ns_AccessFields {
    Ns_Set           *headers; /* NULL: use headPtr. */
    const NsHttpHead *headPtr;
    const char       *peer;         /* The other end of the connection. */
    Ns_Set           *replyHeaders; /* NULL: use the lines. */
    const char       *replyLines;   /* NULL: none. */
    size_t            replyLinesBytes;
    const char       *idField; /* Of the reply, besides; NULL: none. */
};

/*
 * Describe the request as it is now.  The result is the connection's.
 */
Ns_Access *NsAccessGet(NsConn *connPtr);

/*
 * The logs have got the description: as long as the request stays the same, so
 * does what NsAccessGet returns.
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
    const char      *lines; /* Of the file's fields; NULL: none. */
    size_t           linesBytes;
    NsLogIdentity    identity;
} NsDirectReply;

void NsAccessFillDirect(Ns_Access *accessPtr, struct Ns_AccessFields *fieldsPtr,
                        const NsDirectReply *replyPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * conn_int.h --
 *
 *      Parts of a connection that few requests need.
 */

#ifndef NSD_REQUEST_CONN_INT_H
#define NSD_REQUEST_CONN_INT_H

#include "base/assert.h"
#include "request/conn.h"
#include "request/reqserver.h"

typedef struct NsConnRare {
    const char    *clientData;
    const char    *peer; /* Set by Ns_ConnSetPeer. */
    unsigned short peerPort;
    Ns_Time        times[4]; /* Results of Ns_Conn...Time. */
    Ns_Time        timeout;
    void          *locals[NS_CONN_MAXCLS];
    void          *bodyMap;     /* Mapping of the body's file. */
    Tcl_DString    sockContent; /* Result of Ns_ConnSockContent. */
    bool           hasSockContent;
    bool           isSocketTaken; /* By NsConnTakeSocket. */
    bool           isDetached;    /* By NsConnDetach. */
    NsReceipt     *receiptPtr;    /* A writer thread sends the reply. */
    const char    *insert;        /* Of insert.h; or NULL. */
} NsConnRare;

/*
 * Assert what holds for a connection from its creation to its end; and that its
 * times follow each other (in debug and sanitizer builds).
 */
void NsConnCheck(const NsConn *connPtr);

static inline void
NsWorkCheck(const NsWork *workPtr)
{
    NsCheck(workPtr->acceptStamp <= workPtr->queueStamp);
    NsCheck(workPtr->queueStamp <= workPtr->dequeueStamp);
    NsCheck(workPtr->dequeueStamp <= workPtr->filterStamp);
    NsCheck(workPtr->endStamp == 0
            || workPtr->filterStamp <= workPtr->endStamp);
    NsCheck(workPtr->traceStamp == 0
            || workPtr->endStamp <= workPtr->traceStamp);
}

/*
 * Made at first use.
 */
NsConnRare *NsConnGetRare(NsConn *connPtr);

#define NsConnOfWork(workPtr) \
    ((NsConn *) (void *) ((char *) (workPtr) -offsetof(NsConn, work)))

#define NsConnRequestServer(connPtr) ((connPtr)->serverPtr->requestPtr)

/*
 * Code that may change files is about to run for the request: who comes after
 * it has to look at files itself.
 */
static inline void
NsConnMayChangeFiles(NsConn *connPtr)
{
    connPtr->messagePtr->report = (NsLook){0};
}

/*
 * The request to be served by the calling thread from now on, or NULL.
 */
void NsConnSetCurrent(NsConn *connPtr);

/*
 * Called by Ns_ConnRedirect with the request under its new URL: authorize it,
 * and run its handler.  Set once at start.
 */
typedef int NsServeProc(NsConn *connPtr);
void        NsConnSetServeProc(NsServeProc *proc);

/*
 * Free what is not in the arena.
 */
void NsConnFreeParts(NsConn *connPtr);

/*
 * The argument of NsConnSetHooks; members may be NULL.
 */
extern NsConnHooks nsConnHooks;

#endif

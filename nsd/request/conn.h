/* SPDX-License-Identifier: MPL-2.0
 * conn.h --
 *
 *      One request while a connection thread serves it.
 *
 *      The part that every request touches is small and contiguous; the rest
 *      hangs on pointers and is made at first use.  All of it lives in the
 *      message's arena.
 *
 *      Uses per request as counted by a build with --enable-conn-profile, reads
 *      and writes together, for a registered script, a file (by a connection
 *      thread) and an ADP page:
 *
 *                                      script   file   page
 *          pub                           16       25     17
 *          work                          40       40     40
 *          messagePtr, sockPtr,
 *          serverPtr                     27       26     26
 *          request: line ... version     14       14     15
 *          driverPtr, settingsPtr         4        4      4
 *          bytesSent, status, keep,
 *          responseLength                10       12     10
 *          look                           1        1      2
 *          interp                         6        2      6
 *          outputEncoding, compressLevel  3        0      3
 *          form-, coder-, rarePtr         7        4      5
 *          nRedirects, isBroken, nRead,
 *          documentStatus, first...       0        0      0
 */

#ifndef NSD_REQUEST_CONN_H
#define NSD_REQUEST_CONN_H

#include <stdatomic.h>

#include "nsconn.h"
#include "nsrequest.h"
#include "nsreturn.h"
#include "dispatch/connthread.h"
#include "dispatch/pool.h"
#include "net/sock.h"

struct NsConnForm;   /* Query or form, uploaded files. */
struct NsTextCoder;  /* What compresses text. */
struct NsConnRare;   /* Client data, local storage, overrides ... */
struct NsConnAccess; /* The description for logs. */
struct NsRoute;      /* Of routes.c. */

/*
 * How far the reply is.  Only forward: each step is taken once.
 */
typedef enum {
    NS_REPLY_OPEN,     /* Length and framing can still be chosen. */
    NS_REPLY_DECIDED,  /* By NsReplyDecide. */
    NS_REPLY_HEADED,   /* The header is on its way. */
    NS_REPLY_ACCOUNTED /* Nothing more is sent. */
} NsReplyState;

/*
 * Owned by the thread that serves the request, but for what says otherwise.
 */
typedef struct NsConn {
    Ns_Conn    pub; /* Public part; must be first. */
    NsWork     work;
    NsMessage *messagePtr;
    NsSock    *sockPtr; /* NULL when closed or handed back. */
    NsServer  *serverPtr;

    /* Constant after creation: read by ns_server active in other threads. */
    const char           *firstMethod;
    const char           *firstUrl;
    const Ns_Driver      *driverPtr; /* Outlives sockPtr, as the next. */
    const NsSockSettings *settingsPtr;

    /* Header included.  Written by the owner, read by others for display, so
     * relaxed order is enough. */
    _Atomic int64_t bytesSent;

    NsReplyState replyState;
    int          status; /* Response status; 200 at first. */
    int          keep;   /* -1 automatic, 0 close, > 0 force. */
    int          compressLevel;
    int          nRedirects;     /* Internal ones, for the limit of 3. */
    int          documentStatus; /* The status whose error document runs;
                                  * or 0. */
    bool    isBroken;            /* Output failed: the client is gone. */
    bool    isAnnounced;         /* The logs know of the reply. */
    int64_t responseLength;      /* Declared; -1 unknown. */
    int64_t bodyBytes;           /* Given to the socket, of the body. */
    NsLook  look;                /* For the running handler: a look at
                                  * a file since then, by any thread, is
                                  * as good as its own; 0: none is. */
    size_t       nRead;          /* Body bytes taken by Ns_ConnRead. */
    Tcl_Encoding outputEncoding; /* NULL: none, text is sent as it is. */
    Tcl_Encoding urlEncoding;    /* Likewise for queries and forms. */

    Tcl_Interp          *interp; /* Set by tcl; NULL before first use. */
    struct NsConnForm   *formPtr;
    struct NsTextCoder  *coderPtr; /* Of an open compressed text. */
    struct NsConnRare   *rarePtr;
    struct NsConnAccess *accessPtr;

    struct NsRoute *routePtr; /* NULL: no handler was run. */

    const struct NsLogIdentity *identityPtr; /* Of requestid.c; or NULL. */
} NsConn;

#define NsConnOf(conn)         ((NsConn *) (conn))
#define NsConnRequest(connPtr) (&(connPtr)->pub.later_request)

/*
 * The connection of the calling thread; NULL if none.
 */
NsConn *NsConnCurrent(void);

/*
 * Make the request of a complete message, in its arena.
 */
NsConn *NsConnCreate(NsMessage *messagePtr);

/*
 * Memory that lives as long as the request.
 */
#define NsConnArena(connPtr) (&(connPtr)->messagePtr->arena)

/*
 * Client data of the request (ns_conn clientdata): copied; NULL when unset.
 */
const char *NsConnClientData(const NsConn *connPtr);
void        NsConnSetClientData(NsConn *connPtr, const char *clientData);

/*
 * The procedures of the rooms to the right at fixed points.  Set once at start,
 * before any pool starts; all are optional.
 */
typedef struct NsConnHooks {
    /* A connection thread starts, before it serves anything, and ends.  And:
     * does it still have what it needs, before each request.  NS_ERROR: it
     * cannot serve. */
    Ns_ReturnCode (*threadStartProc)(NsServer *serverPtr);
    Ns_ReturnCode (*threadCheckProc)(NsServer *serverPtr);
    void (*threadStopProc)(NsServer *serverPtr);
    /* The reply is finished: at-close scripts run. */
    void (*closeProc)(NsConn *connPtr);
    /* The request has run for longer than the limit: end its script.  By
     * another thread. */
    void (*expireProc)(NsConn *connPtr, NsStamp limit);
    /* Its thread is to end its script if the client has left.  Likewise. */
    void (*leaveProc)(NsConn *connPtr);
    /* The request has ended: the interpreter is released. */
    void (*cleanupProc)(NsConn *connPtr);
} NsConnHooks;

void NsConnSetHooks(const NsConnHooks *hooksPtr);

#endif

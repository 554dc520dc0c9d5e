/*
 * conn.h --
 *
 *      One request while a connection thread serves it.
 *
 *      The part that every request touches is small and contiguous; the rest
 *      hangs on pointers and is made at first use.  All of it lives in the
 *      message's arena.
 */

#ifndef NSD_REQUEST_CONN_H
#define NSD_REQUEST_CONN_H

#include "nsconn.h"
#include "nsrequest.h"
#include "nsreturn.h"
#include "dispatch/pool.h"
#include "net/sock.h"

struct NsConnForm;              /* Query or form, uploaded files. */
struct NsConnStream;            /* Compression, streaming. */
struct NsConnRare;              /* Client data, local storage, at-close ... */

/*
 * Owned by the thread that serves the request.
 */
typedef struct NsConn {
    Ns_Conn              pub;           /* Public part; must be first. */
    NsWork               work;
    NsMessage           *messagePtr;
    NsSock              *sockPtr;       /* NULL when closed or handed back. */
    NsServer            *serverPtr;
    Ns_Request           request;       /* pub.request points here. */

    int                  status;        /* Response status; 200 at first. */
    int                  keep;          /* -1 automatic, 0 close, > 0 force. */
    int                  compressLevel;
    int                  nRedirects;    /* Internal ones, for the limit of 3. */
    int64_t              responseLength;/* Declared; -1 unknown. */
    int64_t              bytesSent;     /* Header included. */
    Tcl_Encoding         outputEncoding;
    Tcl_Encoding         urlEncoding;

    Tcl_Interp          *interp;        /* Set by tcl; NULL before first use. */
    struct NsConnForm   *formPtr;
    struct NsConnStream *streamPtr;
    struct NsConnRare   *rarePtr;
} NsConn;

#define NsConnOf(conn) ((NsConn *) (conn))

/*
 * The connection of the calling thread; NULL if none.
 */
NsConn *NsConnCurrent(void);

/*
 * Register what tcl does at fixed points of a request.  closeProc: the reply is
 * finished, at-close scripts run.  cleanupProc: the request has ended, the
 * interpreter is released.  Set once at start.
 */
typedef struct NsConnHooks {
    void (*closeProc)(NsConn *connPtr);
    void (*cleanupProc)(NsConn *connPtr);
} NsConnHooks;

void NsConnSetHooks(const NsConnHooks *hooksPtr);

#endif

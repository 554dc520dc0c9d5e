/* SPDX-License-Identifier: MPL-2.0
 * nsaccess.h --
 *
 *      What an access log can know of a finished request.
 *
 *      The driver thread answers some requests itself; those have no Ns_Conn.
 *      This is the view that they share with all others.
 */

#ifndef NSACCESS_H
#define NSACCESS_H

#include "nstypes.h"

typedef enum {
    NS_ACCESS_FINISHED,
    NS_ACCESS_SENDING,
    NS_ACCESS_FORGOTTEN
} Ns_AccessStage;

typedef struct Ns_Access {
    const char *server; /* Virtual server. */
    const char *driver; /* Driver module. */
    const char *peer;   /* Address of the client as text, as reported
                         * by trustedproxies if it is behind one. */
    const char *line;   /* Request line as received; NULL if none. */
    size_t      lineLength;
    const char *url;  /* Decoded path; NULL if none. */
    const char *user; /* From Authorization, unchecked; or NULL. */
    int         status;
    int64_t     bytesSent; /* Response header included. */
    Ns_Time     start;     /* Wall clock: queued, or taken by driver. */
    Ns_Time     acceptSpan;
    Ns_Time     queueSpan;
    Ns_Time     filterSpan;
    Ns_Time     runSpan;
    const struct Ns_AccessFields *fields; /* For Ns_AccessHeader. */
    Ns_AccessStage                stage;
    int         isAnnounced; /* All but the figures was announced before. */
    const char *requestId;   /* See the parameter requestid; or NULL. */
    const char *traceId;     /* Of the field traceparent; or NULL. */
    const char *spanId;      /* Likewise. */
} Ns_Access;

/*
 * The procedure runs in the thread that finished the request, connection or
 * driver thread, once per request with stage NS_ACCESS_FINISHED.  All pointers
 * end with the call.
 *
 * bytesSent counts what still waits for the client as sent.  A log whose stream
 * has Ns_LogStreamSetBytesSent need not care: what it puts comes when the reply
 * has been sent or given up, with the bytes that were sent.
 *
 * Before that, in the same thread, it may run with NS_ACCESS_SENDING: the last
 * bytes of the reply are about to leave, and should the process die before the
 * request is finished, this is all that will be known of it.  A log calls
 * Ns_LogStreamPrepare here.  With NS_ACCESS_FORGOTTEN after that, the request
 * will not be logged: a trace failed.
 *
 * isAnnounced says that since the latest NS_ACCESS_SENDING of this request
 * nothing has changed but status, bytesSent, and the spans, so that a log can
 * go on from what it has prepared (Ns_LogStreamPrepared).
 */
typedef void Ns_AccessProc(const Ns_Access *accessPtr, void *arg);

/*
 * Register proc for the server that is being initialized.  FIFO.
 */
NS_EXTERN void Ns_RegisterAccessProc(const char *server, Ns_AccessProc *proc,
                                     void *arg);

/*
 * The first request header of that name, any case; NULL if absent.
 */
NS_EXTERN const char *Ns_AccessHeader(const Ns_Access *accessPtr,
                                      const char      *name);

/*
 * The first field of that name of the reply, any case, as far as handlers or
 * the file give it; NULL if absent.  Its length is in *lengthPtr; no null byte
 * has to follow.
 */
NS_EXTERN const char *Ns_AccessReplyHeader(const Ns_Access *accessPtr,
                                           const char *name, size_t *lengthPtr);

/*
 * The client as proxies report it, always one address: those of trustedproxies
 * are trusted, or, if there are none, those of this machine and of private
 * networks.  The text is in buffer, or lives as long as the call.
 */
#define NS_ACCESS_PEER_BYTES 48
NS_EXTERN const char *Ns_AccessForwardedPeer(const Ns_Access *accessPtr,
                                             char buffer[NS_ACCESS_PEER_BYTES]);

#endif

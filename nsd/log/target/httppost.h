/* SPDX-License-Identifier: MPL-2.0
 * httppost.h --
 *
 *      Requests of a sink to an HTTP server: one body after the other, over a
 *      connection that is kept.
 *
 *      One thread at a time uses it.
 */

#ifndef NSD_LOG_TARGET_HTTPPOST_H
#define NSD_LOG_TARGET_HTTPPOST_H

#include "log/target/remote.h"
#include "nsstring.h"

/*
 * The caller's; the texts live as long.
 */
typedef struct NsHttpPost {
    NsRemoteSpec server;
    const char  *target; /* Of the request line. */
    const char  *fields; /* Header fields, a line each with CR LF; all but
                          * Content-Length. */
    NsRemote *remotePtr; /* NULL: not connected. */
    bool      hasAnswer; /* Bytes of the present reply are there. */
    char      reason[NS_REMOTE_REASON_BYTES]; /* Of a failure, or "". */
} NsHttpPost;

typedef struct NsHttpAnswer {
    int        status;
    NsStamp    retryAfter; /* Nanoseconds; -1: the server does not say. */
    Ns_DString body;       /* Its first bytes at least. */
} NsHttpAnswer;

/*
 * Post a body, and wait for the answer, whose `body` the caller has initialized
 * and frees.  False: it is not known whether the server has got it; errno and
 * reason say why.
 */
bool NsHttpPostSend(NsHttpPost *postPtr, const char *body, size_t length,
                    NsStamp until, NsHttpAnswer *answerPtr);
void NsHttpPostDisconnect(NsHttpPost *postPtr);

#endif

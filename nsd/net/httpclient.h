/* SPDX-License-Identifier: MPL-2.0
 * httpclient.h --
 *
 *      Requests to other HTTP servers, as socket tasks.
 *
 *      A request is HTTP/1.1, over TCP or TLS, perhaps through a proxy or on a
 *      connection kept from an earlier request.  It belongs to the thread that
 *      created it; while it is queued, one of the shared request threads does
 *      the work.
 */

#ifndef NSD_NET_HTTPCLIENT_H
#define NSD_NET_HTTPCLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "http/reply.h"
#include "net/replybody.h"
#include "net/tlsclient.h"
#include "nsset.h"

typedef struct NsHttpClient NsHttpClient;

/*
 * Called by the thread that does the work.  Head: the final head has come; a
 * returned error, a text that stays valid, ends the request.  Done: the request
 * belongs to the callee now.
 */
typedef const char *NsHttpClientHeadProc(NsHttpClient *clientPtr, void *arg);
typedef void        NsHttpClientDoneProc(NsHttpClient *clientPtr, void *arg);

/*
 * Likewise, when a request has ended, before anybody else is told.
 */
typedef void NsHttpClientEndProc(const NsHttpClient *clientPtr, void *arg);

typedef struct NsHttpClientSpec {
    const char   *url;       /* http?s?://HOST?:PORT??/PATH? */
    const char   *method;    /* NULL: GET. */
    const Ns_Set *headers;   /* NULL: none. */
    bool          keepsHost; /* Send the Host of these headers. */
    /* More fields, as they are sent; NULL: none. */
    const char *lines;

    const char *body; /* NULL: none, or from bodyFd. */
    uint64_t    bodyBytes;
    int         bodyFd; /* Read from bodyOffset on; 0 or less: none.  Owned by
                         * the request, even if it cannot be created. */
    off_t bodyOffset;

    NsReplyBodySpec reply;

    NsStamp silence;        /* How long the peer may be silent; 0: 5 s. */
    NsStamp connectSilence; /* The same for each address; 0: as silence. */
    NsStamp sendSilence;    /* The same while we send; 0: as silence. */
    NsStamp expire;         /* For the whole request; 0: no limit. */
    NsStamp keepAlive;      /* How long to keep the connection; 0: no. */

    const char *proxyHost; /* NULL: none. */
    int         proxyPort;
    bool        isTunneled; /* Use a tunnel through the proxy, for http, too. */
    const char *unixSocket; /* To connect to instead; NULL: none. */

    /* For https.  The request sets socket and host, unless a host is given. */
    NsTlsClientSpec tls;

    NsHttpClientHeadProc *headProc; /* Or NULL. */
    void                 *arg;
    NsHttpClientEndProc  *endProc; /* Or NULL. */
    void                 *endArg;
} NsHttpClientSpec;

/*
 * Call once, at the start of the room.
 */
void NsHttpClientInit(void);

/*
 * Create a request and begin to connect.  NULL: the reason is appended to
 * errorPtr.  Everything is copied.
 */
NsHttpClient *NsHttpClientCreate(const NsHttpClientSpec *specPtr,
                                 Ns_DString             *errorPtr);

/*
 * Do the work.  Queue: in a request thread; NS_ERROR: the server stops.  Start:
 * in a request thread as well, but no thread waits for it; doneProc is called
 * at the end.  Run: in the calling thread.
 */
Ns_ReturnCode NsHttpClientQueue(NsHttpClient *clientPtr);
Ns_ReturnCode NsHttpClientStart(NsHttpClient         *clientPtr,
                                NsHttpClientDoneProc *doneProc, void *arg);
void          NsHttpClientRun(NsHttpClient *clientPtr);

/*
 * After Queue or Run.  Wait returns NS_TIMEOUT if the time is up; NULL: no
 * limit.  Destroy cancels a request that still runs.
 */
bool          NsHttpClientIsDone(NsHttpClient *clientPtr);
Ns_ReturnCode NsHttpClientWait(NsHttpClient *clientPtr, Ns_Time *timeoutPtr);
void          NsHttpClientDestroy(NsHttpClient **clientPtrPtr);

const char *NsHttpClientUrl(const NsHttpClient *clientPtr);
const char *NsHttpClientMethod(const NsHttpClient *clientPtr);

/*
 * Progress of a request, for any thread.
 */
typedef struct NsHttpClientStats {
    uint64_t requestBytes; /* Head and body, ... */
    uint64_t bodyBytes;    /* ... of which the body. */
    uint64_t nSent;
    uint64_t nBodySent;
    uint64_t replyBytes; /* From Content-Length; 0: unknown. */
    uint64_t nReceived;
    uint64_t nBodyReceived;
    uint64_t nBodyKept; /* Decoded. */
} NsHttpClientStats;

void NsHttpClientGetStats(const NsHttpClient *clientPtr,
                          NsHttpClientStats  *statsPtr);

/*
 * For a request that is done, or in its own callbacks.
 */
typedef enum {
    NS_HTTP_OK,
    NS_HTTP_FAILED,
    NS_HTTP_TIMEOUT,
    NS_HTTP_SYSTEM /* See NsHttpClientErrno. */
} NsHttpClientOutcome;

/*
 * Error: why it failed, or NULL.  Head: NULL if none came.  Fields have
 * lower-case names.  Tls: NULL without TLS.
 */
NsHttpClientOutcome NsHttpClientHow(const NsHttpClient *clientPtr);
const char         *NsHttpClientError(const NsHttpClient *clientPtr);
int                 NsHttpClientErrno(const NsHttpClient *clientPtr);
Ns_Time             NsHttpClientElapsed(const NsHttpClient *clientPtr);
const NsReplyHead  *NsHttpClientHead(const NsHttpClient *clientPtr);
Ns_Set             *NsHttpClientFields(const NsHttpClient *clientPtr);
NsReplyBody        *NsHttpClientBody(const NsHttpClient *clientPtr);
const char         *NsHttpClientTlsVersion(const NsHttpClient *clientPtr);
const char         *NsHttpClientTlsCipher(const NsHttpClient *clientPtr);

/*
 * A connection was established.
 */
bool NsHttpClientHasConnected(const NsHttpClient *clientPtr);

/*
 * Its connection was kept from an earlier request.
 */
bool NsHttpClientIsReused(const NsHttpClient *clientPtr);

/*
 * Append {name N running N requests N} for each request thread; may be called
 * at any time.
 */
void NsHttpClientThreads(Ns_DString *dsPtr);

#endif

/*
 * httpclient.h --
 *
 *      Requests to other HTTP servers, as socket tasks.
 *
 *      A request is HTTP/1.1, over TCP or TLS, perhaps through a proxy or on a
 *      connection that an earlier request left.  It belongs to the thread that
 *      created it; while it is queued, one of the threads for all requests does
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
 * Called where the work is done.  Head: the final one has come; an error, a
 * text that lives on, ends the request.  Done: the request is the callee's.
 */
typedef const char *NsHttpClientHeadProc(NsHttpClient *clientPtr, void *arg);
typedef void        NsHttpClientDoneProc(NsHttpClient *clientPtr, void *arg);

typedef struct NsHttpClientSpec {
    const char   *url;       /* http?s?://HOST?:PORT??/PATH? */
    const char   *method;    /* NULL: GET. */
    const Ns_Set *headers;   /* NULL: none. */
    bool          keepsHost; /* Their Host is sent. */

    const char *body; /* NULL: none, or from bodyFd. */
    uint64_t    bodyBytes;
    int         bodyFd; /* From bodyOffset on; 0 or less: none.  The
                         * request's, also when it cannot be created. */
    off_t bodyOffset;

    NsReplyBodySpec reply;

    NsStamp silence;        /* Spans.  The longest of the peer; 0: 5 s. */
    NsStamp connectSilence; /* Of each of its addresses; 0: that. */
    NsStamp expire;         /* Of the whole request; 0: none. */
    NsStamp keepAlive;      /* The connection stays for others; 0: no. */

    const char *proxyHost; /* NULL: none. */
    int         proxyPort;
    bool        isTunneled; /* Through the proxy, http, too. */
    const char *unixSocket; /* To connect to instead; NULL: none. */

    /* For https; its socket and host are the request's affair, unless there is
     * a host. */
    NsTlsClientSpec tls;

    NsHttpClientHeadProc *headProc; /* Or NULL. */
    void                 *arg;
} NsHttpClientSpec;

/*
 * Once, at the start of the room.
 */
void NsHttpClientInit(void);

/*
 * Begin to connect.  NULL: the reason is appended to errorPtr.  Everything is
 * copied.
 */
NsHttpClient *NsHttpClientCreate(const NsHttpClientSpec *specPtr,
                                 Ns_DString             *errorPtr);

/*
 * Do the work: in a thread for requests (NS_ERROR: the server stops), or here.
 * Start: in such a thread, with nobody to wait for it; doneProc is called at
 * the end.
 */
Ns_ReturnCode NsHttpClientQueue(NsHttpClient *clientPtr);
Ns_ReturnCode NsHttpClientStart(NsHttpClient         *clientPtr,
                                NsHttpClientDoneProc *doneProc, void *arg);
void          NsHttpClientRun(NsHttpClient *clientPtr);

/*
 * After Queue or Run.  Wait: NS_TIMEOUT when it took longer; NULL waits to the
 * end.  Destroy cancels what still runs.
 */
bool          NsHttpClientIsDone(NsHttpClient *clientPtr);
Ns_ReturnCode NsHttpClientWait(NsHttpClient *clientPtr, Ns_Time *timeoutPtr);
void          NsHttpClientDestroy(NsHttpClient **clientPtrPtr);

const char *NsHttpClientUrl(const NsHttpClient *clientPtr);

/*
 * How far it is.  Any thread.
 */
typedef struct NsHttpClientStats {
    uint64_t requestBytes; /* Head and body, ... */
    uint64_t bodyBytes;    /* ... of which the body. */
    uint64_t nSent;
    uint64_t nBodySent;
    uint64_t replyBytes; /* As Content-Length says; 0: it does not. */
    uint64_t nReceived;
    uint64_t nBodyReceived;
    uint64_t nBodyKept; /* Decoded. */
} NsHttpClientStats;

void NsHttpClientGetStats(const NsHttpClient *clientPtr,
                          NsHttpClientStats  *statsPtr);

/*
 * Of one that is done, or in its own callbacks.
 */
typedef enum {
    NS_HTTP_OK,
    NS_HTTP_FAILED,
    NS_HTTP_TIMEOUT,
    NS_HTTP_SYSTEM /* NsHttpClientErrno. */
} NsHttpClientOutcome;

/*
 * Error: why it failed, or NULL.  Head: NULL if none came; the fields have
 * names in lower case.  Tls: NULL without.
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
 * Whether a connection was made.
 */
bool NsHttpClientHasConnected(const NsHttpClient *clientPtr);

/*
 * Append, for each thread of requests, {name N running N requests N}; nothing
 * before it is needed.
 */
void NsHttpClientThreads(Ns_DString *dsPtr);

#endif

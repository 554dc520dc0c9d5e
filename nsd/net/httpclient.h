/*
 * httpclient.h --
 *
 *      Requests to other HTTP servers, as socket tasks.
 *
 *      A request is HTTP/1.0, over TCP or TLS, and its reply ends when the peer
 *      closes.  It belongs to the thread that created it; while it is queued, a
 *      thread of all requests does the work.
 */

#ifndef NSD_NET_HTTPCLIENT_H
#define NSD_NET_HTTPCLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "nsset.h"

typedef struct NsHttpClient NsHttpClient;

typedef struct NsHttpClientSpec {
    const char   *url;     /* http?s?://HOST?:PORT??/PATH? */
    const char   *method;  /* NULL: GET. */
    const Ns_Set *headers; /* NULL: none. */
    const char   *body;
    size_t        bodyBytes;
    Ns_Time       timeout;      /* For the whole request, from now on; or */
    bool          isForSilence; /* since something happened. */

    /* For https. */
    const char *hostName; /* To ask for; NULL: that of the URL. */
    const char *caFile;   /* Authorities; both NULL: the system's. */
    const char *caPath;
    const char *certificate; /* Our own, with its key; NULL: none. */
    bool        isInsecure;  /* Believe whatever certificate there is. */
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
 * Do the work: in the thread of requests (NS_ERROR: the server stops), or here.
 */
Ns_ReturnCode NsHttpClientQueue(NsHttpClient *clientPtr);
void          NsHttpClientRun(NsHttpClient *clientPtr);

/*
 * After one of these.  Wait: NS_TIMEOUT when it took longer; NULL waits to the
 * end.  Destroy cancels what still runs.
 */
bool          NsHttpClientIsDone(NsHttpClient *clientPtr);
Ns_ReturnCode NsHttpClientWait(NsHttpClient *clientPtr, Ns_Time *timeoutPtr);
void          NsHttpClientDestroy(NsHttpClient **clientPtrPtr);

const char *NsHttpClientUrl(const NsHttpClient *clientPtr);

/*
 * Of one that is done.  Error: why it failed, or NULL.  Reply: its body; the
 * status line and fields with names in lower case go to headers unless that is
 * NULL; status 0 when there is no header.
 */
typedef struct NsHttpClientReply {
    int         status;
    const char *statusLine; /* Not null terminated. */
    size_t      statusLineBytes;
    const char *body;
    size_t      bodyBytes;
} NsHttpClientReply;

const char *NsHttpClientError(const NsHttpClient *clientPtr);
Ns_Time     NsHttpClientElapsed(const NsHttpClient *clientPtr);
void        NsHttpClientGetReply(const NsHttpClient *clientPtr,
                                 NsHttpClientReply *replyPtr, Ns_Set *headers);

/*
 * Append, for the thread of requests, {name N running N requests N}; nothing
 * before it is needed.
 */
void NsHttpClientThreads(Ns_DString *dsPtr);

#endif

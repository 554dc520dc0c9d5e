/*
 * httpclient_int.h --
 *
 *      The insides of a request to another server: what creates it, and what
 *      does the work.
 */

#ifndef NSD_NET_HTTPCLIENT_INT_H
#define NSD_NET_HTTPCLIENT_INT_H

#include <stdatomic.h>

#include "base/clock.h"
#include "http/chunk.h"
#include "net/connect.h"
#include "net/httpclient.h"
#include "net/httpthreads.h"

typedef enum {
    NS_HTTP_CONNECTING,
    NS_HTTP_HANDSHAKE,
    NS_HTTP_SENDING,
    NS_HTTP_RECEIVING,
    NS_HTTP_ENDED
} NsHttpStage;

struct NsHttpClient {
    /* Constant after creation. */
    char                 *url;
    char                 *method;
    char                 *peer; /* HOST:PORT, for messages. */
    char                 *host; /* To which it connects... */
    int                   port;
    char                 *key; /* For connections that are kept; NULL: no. */
    NsStamp               start;
    NsStamp               silence;
    NsStamp               connectSilence;
    NsStamp               expires; /* 0: never. */
    NsStamp               keepAlive;
    uint64_t              bodyBytes;
    NsHttpClientHeadProc *headProc;
    void                 *headArg;
    NsHttpClientDoneProc *doneProc; /* NULL: somebody waits. */
    void                 *doneArg;
    Ns_Task              *task;      /* NULL: it is its queue's. */
    NsHttpThread         *threadPtr; /* NULL: it runs in its creator's. */
    bool                  hasRun;

    /* The thread that does the work; the creator before and after that. */
    NsHttpStage         stage;
    Ns_Task            *running;    /* In its calls. */
    NsStamp             connectDue; /* The last address has had its time. */
    NS_SOCKET           sock;
    NsConnector        *connectorPtr; /* NULL: not needed any longer. */
    NsTlsClient        *tls;          /* NULL: plain TCP. */
    bool                isTunneling;  /* The proxy is asked for a tunnel. */
    bool                isKept;       /* The connection is one that was kept. */
    bool                hasConnected;
    Ns_DString          tunnel; /* The request for it. */
    Ns_DString          request;
    char               *body; /* NULL: in the file, or with the head. */
    int                 bodyFd;
    off_t               bodyOffset;
    uint64_t            laterBytes; /* Of the body: not with the head. */
    uint64_t            bodySent;   /* Of these, and what is in the window. */
    char               *fileBuffer;
    const char         *window; /* What is being sent. */
    size_t              windowBytes;
    int                 sendError; /* The peer took no more; 0: it did. */
    Ns_DString          replyText; /* The head so far. */
    size_t              scanned;
    bool                hasHead;
    NsReplyHead         head;
    Ns_Set             *fields;
    NsReplyBody        *replyBody;
    NsChunkDecoder      chunks;
    uint64_t            left;       /* Of a body of known length. */
    bool                hasTooMuch; /* Bytes behind the reply. */
    bool                isWhole;
    char               *error; /* NULL: none. */
    NsHttpClientOutcome outcome;
    const char         *tlsVersion; /* NULL: plain TCP. */
    const char         *tlsCipher;
    int                 errorNumber;
    NsStamp             end;

    /* The thread that does the work writes; relaxed. */
    _Atomic uint64_t nSent;
    _Atomic uint64_t nReceived;
    _Atomic uint64_t nBodyReceived;
    _Atomic uint64_t replyLength;
    uint64_t         requestBytes; /* Constant. */
};

#endif

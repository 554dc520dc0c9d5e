/* SPDX-License-Identifier: MPL-2.0
 * httpclient_int.h --
 *
 *      The inside of a request to another server, for the files that create it
 *      and do its work.
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
    char                 *host; /* To connect to, and its port. */
    int                   port;
    char                 *key; /* For kept connections; NULL: do not keep. */
    NsStamp               start;
    NsStamp               silence;
    NsStamp               connectSilence;
    NsStamp               sendSilence;
    NsStamp               expires; /* 0: never. */
    NsStamp               keepAlive;
    uint64_t              bodyBytes;
    NsHttpClientHeadProc *headProc;
    void                 *headArg;
    NsHttpClientEndProc  *endProc;
    void                 *endArg;
    NsHttpClientDoneProc *doneProc; /* NULL: a thread waits. */
    void                 *doneArg;
    Ns_Task              *task;      /* NULL: the queue has it. */
    NsHttpThread         *threadPtr; /* NULL: runs in its creator's thread. */
    bool                  hasRun;

    /*
     * For the thread that does the work; before and after, for the creator.
     */
    NsHttpStage         stage;
    Ns_Task            *running;    /* During its calls. */
    NsStamp             connectDue; /* When the last address times out. */
    NS_SOCKET           sock;
    NsConnector        *connectorPtr; /* NULL: no longer needed. */
    NsTlsClient        *tls;          /* NULL: plain TCP. */
    bool                isTunneling;  /* The proxy was asked for a tunnel. */
    bool                isKept;       /* It was a kept connection. */
    bool                hasConnected;
    Ns_DString          tunnel; /* The request for the tunnel. */
    Ns_DString          request;
    char               *body; /* NULL: in the file, or with the head. */
    int                 bodyFd;
    off_t               bodyOffset;
    uint64_t            laterBytes; /* Of the body: sent after the head. */
    uint64_t            bodySent;   /* Of laterBytes, including the window. */
    char               *fileBuffer;
    const char         *window; /* What is being sent. */
    size_t              windowBytes;
    int                 sendError; /* Why the peer took no more; 0: it did. */
    Ns_DString          replyText; /* The head so far. */
    size_t              scanned;
    bool                hasHead;
    NsReplyHead         head;
    Ns_Set             *fields;
    NsReplyBody        *replyBody;
    NsChunkDecoder      chunks;
    uint64_t            left;       /* Of a body with known length. */
    bool                hasTooMuch; /* Bytes came after the reply. */
    bool                isWhole;
    char               *error; /* NULL: none. */
    NsHttpClientOutcome outcome;
    const char         *tlsVersion; /* NULL: plain TCP. */
    const char         *tlsCipher;
    int                 errorNumber;
    NsStamp             end;

    /*
     * Written by the thread that does the work; relaxed order suffices for
     * counters.
     */
    _Atomic uint64_t nSent;
    _Atomic uint64_t nReceived;
    _Atomic uint64_t nBodyReceived;
    _Atomic uint64_t replyLength;
    uint64_t         requestBytes; /* Constant. */
};

#endif

/* SPDX-License-Identifier: MPL-2.0
 * h2_int.h --
 *
 *      Connections of HTTP/2 and their streams, from inside; see
 *      doc/internals/http2.md.
 *
 *      A session belongs to the driver thread of its connection, which alone
 *      calls nghttp2 and the driver: there is no lock around either.  To those
 *      who answer, a stream is an NsSock; what they send is news for the
 *      session, which it takes when the thread comes round to it.
 */

#ifndef NSD_NET_H2_INT_H
#define NSD_NET_H2_INT_H

#include "net/driver_int.h"
#include "net/output.h"

#include <nghttp2/nghttp2.h>

#define NS_H2_MAX_STREAMS  128   /* That a client may have open. */
#define NS_H2_MAX_LIST     65536 /* Bytes of a field section; beyond: 431. */
#define NS_H2_HEAD_ROOM    512
#define NS_H2_FIELD_ROOM   16
#define NS_H2_STREAM_RATES 3
#define NS_H2_RESETS       64      /* A power of two. */
#define NS_H2_FRAME_HEAD   9u      /* Bytes. */
#define NS_H2_WINDOW       262144u /* Of the body of a request. */

typedef struct NsH2Session NsH2Session;
typedef struct NsH2Stream  NsH2Stream;
typedef struct NsH2Tunnel  NsH2Tunnel;

/*
 * Bytes on their way: frames to the socket, or a body to the disk.
 */
typedef struct NsH2Out {
    char  *bytes;
    size_t used;
    size_t room;
} NsH2Out;

/*
 * A field of a request that is not put at its place at once.
 */
typedef struct NsH2Text {
    char  *bytes; /* In the message's arena; NULL: absent. */
    size_t length;
    size_t room;
} NsH2Text;

struct NsH2Stream {
    NsSock       sock;       /* Must be first: what those who answer have. */
    NsH2Session *sessionPtr; /* Constant. */
    int32_t      id;         /* Constant. */

    /* The thread that answers; once it has finished, the driver thread. */
    NsOutputStore store;
    bool          hasHead;  /* The head of the reply is complete. */
    bool          isQueued; /* See NsH2IsQueued. */
    char         *head;     /* headRoom, or from the heap. */
    size_t        headBytes;
    size_t        headSize;
    nghttp2_nv   *fields; /* In `head`; fieldRoom, or from the heap. */
    int           nFields;
    int64_t       declared;  /* Bytes of the body; -1: not said. */
    bool          hasNoBody; /* By method or status. */

    _Atomic int64_t appended; /* Bytes of the body, put into `store`; written
                               * by that thread. */

    /* See h2info.h.  Written by that thread, before isShown. */
    struct {
        NsStamp     queueStamp;
        NsStamp     startStamp;
        const char *pool;
        char       *clientData;
    } shown;
    bool isShown;

    /* Guarded by the driver thread's streamLock. */
    NsH2Stream *nextShownPtr;
    NsH2Stream *prevShownPtr;
    NsH2Stream *nextNewsPtr;
    bool        isNews; /* In the session's list. */
    NsOutput    incoming;
    bool        hasHeadNews; /* The head is the driver thread's. */
    bool        isFinishedNews;
    bool        isRefusedNews; /* See NsH2Take. */
    bool        isCutNews;     /* The body is not complete. */
    bool        isStoredNews;  /* See h2upload.h. */
    NsH2Tunnel *newTunnelPtr;  /* The stream was taken; or NULL. */

    /* Written by the driver thread, read by the one that answers. */
    atomic_bool     isGone;   /* Nobody wants the reply. */
    _Atomic int64_t consumed; /* Bytes of the body; release. */

    /* The driver thread. */
    NsH2Stream *nextTakenPtr; /* Of the news at hand. */
    bool        isBack;       /* They say that isStoring is over. */
    NsH2Stream *nextPtr;      /* In the session. */
    NsH2Stream *prevPtr;

    /* Its request. */
    NsH2Text method, path, authority, protocol, cookie;
    size_t   listBytes;  /* As RFC 9113, 10.5.1 counts. */
    bool     hasFields;  /* The request line is written. */
    bool     isTooLarge; /* 431. */
    bool     isBad;      /* :authority and Host differ. */
    bool     hasHost;
    bool     isTaken;    /* The head is judged: what comes is body. */
    bool     isHanded;   /* Somebody answers, or has answered. */
    bool     isReceived; /* The client has ended it. */
    bool     isHead;     /* HEAD. */
    bool     isConnect;  /* It asks for a tunnel (RFC 8441); constant once it
                          * is taken. */

    /* Its body, when that goes to disk; see h2upload.h. */
    bool    isUpload;
    bool    isStoring; /* A spooler thread has the message, and: */
    NsH2Out storing;   /* What it writes; empty without it. */
    bool    hasFailed; /* It could not. */
    NsH2Out unstored;  /* What has come meanwhile. */
    int     refusal;   /* 413 or 503, when it is back; or 0. */

    /* Its tunnel; see h2tunnel.h. */
    NsH2Tunnel *tunnelPtr; /* NULL: none, or not yet. */
    NsH2Out     inward;    /* What the channel has not taken. */
    bool        isQuiet;   /* Counted in nQuiet. */

    /* Its reply. */
    NsOutput output;
    int64_t  sentBody;    /* Bytes of the body. */
    bool     hasHeadNow;  /* `head` is ours. */
    bool     isSubmitted; /* nghttp2 has the head. */
    bool     isDeferred;  /* nghttp2 waits for more. */
    bool     isFinished;  /* Nothing more comes. */
    bool     isSent;      /* To the end. */
    bool     isClosed;    /* For nghttp2. */
    bool     isRefused;   /* See NsH2Take. */
    bool     isCut;       /* What is finished is not complete. */
    NsStamp  pauseStamp;  /* A rate allows more then; or 0. */
    NsRate   rate;

    NsAbortReason abortReason; /* If it is not sent to the end. */

    /* Progress, as seen when time was up last. */
    NsStamp recvStamp;
    NsStamp sendStamp;
    int64_t recvBytes;
    int64_t lateBytes; /* Of them, those that nobody wants. */
    int64_t seenRecvBytes;
    int64_t seenSentBody;
    NsStamp recvWindow;
    int64_t recvWindowBytes;
    NsStamp sendWindow;
    int64_t sendWindowBytes;

    /* Not cleared. */
    char       headRoom[NS_H2_HEAD_ROOM];
    nghttp2_nv fieldRoom[NS_H2_FIELD_ROOM];
    char       statusText[3];
};

/*
 * What a client did in one period; see h2limits.c.
 */
typedef struct NsH2Counts {
    NsStamp since;
    int     nSettings;
    int     nPings;
    int     nResets; /* Of requests that were not answered. */
    int64_t nIdle;   /* Frames that bring nothing. */
    int64_t nUseful; /* Those that do, or carried our data. */
} NsH2Counts;

/*
 * The driver thread, but for what says otherwise.
 */
struct NsH2Session {
    NsDriverThread  *threadPtr; /* Constant. */
    NsSock          *sockPtr;   /* Constant: the connection. */
    char            *details;   /* Constant: as NsSockDetails gives them. */
    nghttp2_session *enginePtr;

    /* Guarded by the thread's streamLock. */
    NsH2Stream *firstNewsPtr;
    NsH2Stream *lastNewsPtr;
    bool        mustHear; /* Of each end, too. */
    atomic_bool isPosted; /* The connection is in the inbox. */

    NsH2Stream *firstPtr; /* All streams, also closed ones whose request
                           * is not over. */
    NsH2Stream *headPtr;  /* Whose head is arriving; or NULL. */
    int         nStreams;
    int         nOpen;     /* Those that nghttp2 knows. */
    size_t      frameRest; /* Of the frame that is coming in, ... */
    size_t      nHead;     /* ... or else of the next one's head. */
    uint8_t     frameHead[NS_H2_FRAME_HEAD];
    NsH2Out    *outPtr; /* While output is collected. */
    char       *rest;   /* What the socket has not taken. */
    size_t      restBytes;
    size_t      restStart;
    NsStamp     restStamp;   /* The socket has taken nothing since. */
    NsLook      look;        /* For requests in the bytes at hand. */
    bool        isLookFirst; /* It is that of the first one, ... */
    bool        isLookOld;   /* ... and too old for another. */
    NsStamp     headStamp;   /* A field section has begun, and not ended. */
    NsStamp     pauseStamp;  /* The first of a stream's; or 0. */
    bool        isFresh;     /* No request yet. */
    bool        isBroken;    /* The client is gone. */
    bool        isEnding;    /* The last GOAWAY is on its way. */
    bool        mustRetry;   /* As a stream's. */
    bool        isOver;      /* It is sent, and nothing is open. */
    bool        mustRetire;  /* A stream may be over. */
    bool        mustTurn;    /* There is more to do; others first. */
    bool        mustStore;   /* Streams have something for the disk. */
    bool        mustPump;    /* Something happened at the end of a tunnel. */
    int         nQuiet;      /* Open streams that nothing is expected of. */
    size_t      inwardBytes; /* What channels have not taken, of all streams; */
    size_t      heldBytes;   /* for as much the connection's window is shut. */
    NsStamp     lookStamp;   /* When to look at progress; or 0. */
    NsStamp     stopStamp;   /* When to send it, as the server stops; or 0. */
    int32_t     resets[NS_H2_RESETS]; /* The last streams that we reset. */
    unsigned    nResets;
    char        reason[160]; /* What nghttp2 did not like. */
    NsH2Counts  counts;

    NsAbortReason abortReason; /* Of its streams, once isBroken. */
};

static inline NsH2Stream *
NsH2StreamOf(NsSock *sockPtr)
{
    return (NsH2Stream *) (void *) sockPtr;
}

#endif

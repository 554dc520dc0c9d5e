/* SPDX-License-Identifier: MPL-2.0
 * driver_int.h --
 *
 *      What the sources of drivers, sockets, readers and writers share.
 *
 *      One atomic number says who owns a socket, changed by NsSockSetState and
 *      NsSockLeaveBusy alone.  NS_SOCK_DRIVER: its driver thread, which reads
 *      the next request from it.  NS_SOCK_BUSY: the thread that answers, or a
 *      writer thread; the driver thread does not touch it.  NS_SOCK_BUSY_EVENT:
 *      the same, and something has arrived in the meantime, so that the owner
 *      must hand the socket to the driver thread's inbox instead of just
 *      letting go.  Only the driver thread turns DRIVER into the others, and
 *      BUSY into BUSY_EVENT; only the thread that answers turns BUSY into
 *      DRIVER.
 *
 *      So a request on a kept connection costs the driver thread one event, and
 *      the thread that answers one compare-and-swap.
 */

#ifndef NSD_NET_DRIVER_INT_H
#define NSD_NET_DRIVER_INT_H

#include "nsdriver.h"
#include "nsthread.h"
#include "base/assert.h"
#include "http/parse.h"
#include "net/driver.h"
#include "net/loop.h"
#include "net/sock.h"

typedef struct NsDriver       NsDriver;
typedef struct NsDriverThread NsDriverThread;
typedef struct NsWriter       NsWriter;
typedef struct NsWriterJob    NsWriterJob;
typedef struct NsHostMap      NsHostMap;
struct NsDriverLater;

typedef enum { NS_SOCK_DRIVER, NS_SOCK_BUSY, NS_SOCK_BUSY_EVENT } NsSockState;

typedef enum {
    NS_SOCK_READING, /* Idle, or a request is arriving. */
    NS_SOCK_SESSION, /* HTTP/2: the requests are those of its streams. */
    NS_SOCK_CLOSING, /* Our side is shut; what comes is discarded. */
    NS_SOCK_DEAD     /* To be destroyed by the driver thread. */
} NsSockMode;

/*
 * The header of the PROXY protocol, at the start of a connection.
 */
typedef enum { NS_PROXY_NONE, NS_PROXY_AWAITED, NS_PROXY_BEGUN } NsProxyState;

struct NsSock {
    Ns_Sock         pub;      /* Must be first.  Set at accept. */
    NsDriver       *drvPtr;   /* Constant. */
    NsDriverThread *homePtr;  /* Constant: the driver thread. */
    unsigned short  peerPort; /* Constant, once a proxy has named it. */
    char            peer[46]; /* Likewise. */

    atomic_int      state;    /* NsSockState, see above. */
    _Atomic NsStamp deadline; /* Any owner sets it; the driver thread
                               * looks when the wheel comes round. */

    /* The owner. */
    NsSockMode   mode;
    atomic_bool  isAborted; /* See NsSockCountAbort; relaxed. */
    atomic_ulong sendErrno; /* Why sending failed, if it is known.  The owner
                             * sets it, others may read. */
    bool isBroken;          /* Sending failed. */
    bool isShut;            /* The driver's closeProc has run. */
    bool sawHangup;         /* The client sends no more. */
    bool isTaken;           /* The descriptor lives on elsewhere. */
    bool isShared;          /* It is the listening one: a datagram. */
    bool isLong;            /* Closing may take longer: a body was
                             * left unread. */
    bool         isStream;  /* Of HTTP/2, no connection; constant. */
    int16_t      corkDepth;
    NsMessage   *messagePtr; /* Being received, or NULL. */
    NsWriterJob *jobPtr;     /* Queued output of this request. */
    int64_t      nBytes;     /* Sent or queued for this request. */
    NsReceipt   *receiptPtr; /* See NsSockHold; or NULL. */
    int64_t      receiptBytes;
    void       **sls;        /* Socket-local storage. */
    char        *clientData; /* For `ns_writer list`. */
    NsSockNotes  notes;      /* Of the request being answered. */
    NsServer    *serverPtr;  /* Likewise. */
    NsInboxNode  inboxNode;  /* On the way to another thread. */

    /* The driver thread; while a body is spooled, the spooler thread. */
    NsWheelEntry wheelEntry;
    NsStamp      acceptStamp; /* 0 after the first request. */
    NsStamp      headStamp;   /* An unfinished head, or handshake,
                               * began; 0: there is none. */
    NsLook report;            /* The bytes were here by then; 0: not
                               * known. */
    NsProxyState proxyState;
    bool         isRegistered; /* With the poller. */
    bool         isPartial;    /* Counted in the peer table. */
    bool         isLeaving;    /* Closed to make room. */
    bool         isPutOff;     /* New, and in the thread's own inbox. */
    NsSock      *nextPtr;      /* In heads if headStamp is set, else in
                                * others. */
    NsSock *prevPtr;

    /* The same, of a connection of HTTP/2. */
    struct NsH2Session *sessionPtr;
    bool                hasRest;   /* It waits for room to write. */
    NsStamp             idleSince; /* No stream was open; or 0. */
};

typedef struct NsSockList {
    NsSock *firstPtr;
    NsSock *lastPtr;
} NsSockList;

/*
 * Constant; closed by its driver thread when that stops.
 */
typedef struct NsListener {
    int  fd;
    int  port;
    bool isShared; /* Datagrams: with those who answer them. */
} NsListener;

/*
 * How driver threads differ from spooler threads, which receive large bodies
 * for them.
 */
typedef struct NsReadKind {
    NsSockState ownState; /* Of sockets that it reads from. */
    NsLoopProcs loopProcs;
    void (*runProc)(NsDriverThread *threadPtr);

    /* The request is complete: who answers it gets the socket next. */
    void (*leaveProc)(NsDriverThread *threadPtr, NsSock *sockPtr,
                      NsStamp since);
    /* No request will be complete: the mode says how to end the socket. */
    void (*loseProc)(NsDriverThread *threadPtr, NsSock *sockPtr);
    /* All is read.  False: the socket cannot wait for more. */
    bool (*awaitProc)(NsDriverThread *threadPtr, NsSock *sockPtr);
} NsReadKind;

/*
 * A driver thread or a spooler thread.
 */
typedef struct NsDeferredCall {
    void (*proc)(void *arg);
    void *arg;
} NsDeferredCall;

#define NS_MAX_DEFERRED 8

#define NS_REFUSAL_STATUS   400 /* The first one. */
#define NS_REFUSAL_STATUSES 200

/*
 * What connections were that were closed to make room.
 */
typedef enum {
    NS_EVICT_IDLE,
    NS_EVICT_HEAD, /* Of a request, or a handshake: unfinished. */
    NS_EVICT_BODY,
    NS_EVICT_REASONS
} NsEvictReason;

struct NsDriverThread {
    NsDriver         *drvPtr;     /* Constant. */
    char             *name;       /* Constant, as `nssock:0`. */
    int               index;      /* Constant. */
    const NsReadKind *kindPtr;    /* Constant. */
    int               nSpoolers;  /* Constant: to hand bodies to. */
    NsListener       *listeners;  /* Constant. */
    int               nListeners; /* Constant. */
    Ns_Thread         thread;     /* Constant. */

    NsLoop loop;                  /* Sockets, and those that come (back);
                                   * stopped by NsDriversStop. */
    _Atomic NsStamp stopDeadline; /* 0: none yet. */

    /* Statistics: written by the thread, relaxed; read by any. */
    _Atomic int64_t nReceived;
    _Atomic int64_t nSpooled;
    _Atomic int64_t nPartial;
    _Atomic int64_t nErrors;
    _Atomic int64_t evictions[NS_EVICT_REASONS]; /* Connections closed to make
                                                  * room, by what they were. */
    _Atomic int64_t nRefused; /* Likewise, out of descriptors: by a 503. */
    _Atomic int64_t refusals[NS_REFUSAL_STATUSES]; /* Requests that were not
                                                    * handed over as they came,
                                                    * by status; by any. */

    /* As it is now.  Reading: written by the thread.  The others: by any. */
    atomic_int nReading; /* Half-received requests. */
    atomic_int nWaiting; /* Requests that a full pool has not queued. */
    atomic_int nClosing; /* Our side of the connection is shut. */
    atomic_int nSockets; /* Connections; written by the thread. */

    Ns_Mutex           streamLock; /* Guards the news of HTTP/2 streams, and: */
    struct NsH2Stream *firstShownPtr; /* Those that may wait; h2info.h. */

    /* The thread itself. */
    NsStamp      acceptLogStamp;  /* When many were logged. */
    NsWheelEntry retryEntry;      /* When to accept again. */
    NsSockList   others;          /* Its sockets, in the order of their
                                   * last requests; but these: */
    NsSockList heads;             /* A head or handshake has begun, the
                                   * oldest first. */
    int                 nLeaving; /* Of them, closed to make room. */
    int                 nextSpooler;
    int                 nSetUp;    /* New connections in this turn. */
    bool                mustYield; /* Before it waits for events. */
    bool                mayDefer;  /* See NsDriverDefer; these, too. */
    int                 nDeferred;
    NsDeferredCall      deferred[NS_MAX_DEFERRED];
    NsStamp             deferStamp;   /* Since the first was deferred. */
    bool                isListening;  /* The listeners are watched. */
    bool                isStarved;    /* Out of descriptors. */
    bool                hasStopped;   /* The listeners are closed. */
    bool                isDrained;    /* Has no more requests to hand over. */
    bool                hasDeadline;  /* stopDeadline is set. */
    bool                hearsOfFiles; /* See base/filewatch.h; constant. */
    int                 mountsFd;     /* Tells that mounts changed. */
    int                 reserveFd;    /* To be given up for a 503. */
    NsStamp             starveStamp;  /* Of the last line about it. */
    NsStamp             fullStamp;    /* Likewise, `maxqueuesize` reached. */
    NsStamp             partialStamp; /* Likewise, too many of one peer. */
    NsStamp             slowStamp;    /* Likewise, a client is too slow. */
    struct NsPeerTable *peersPtr;     /* Half-received requests by peer. */
    struct NsH2Tunnel  *firstOverPtr; /* Tunnels to be freed; h2tunnel.h. */
    char               *scratch;      /* NS_SCRATCH_BYTES for bodies. */
};

/*
 * What is read of a body at once, and written to its file.  A thread that never
 * reads so much has the addresses alone.
 */
#define NS_SCRATCH_BYTES 1048576

/*
 * From the configuration; sizes in bytes.  Those that are atomic are settings:
 * written under a lock of driver_params.c, read by any thread.
 */
typedef struct NsDriverParams {
    _Atomic int64_t maxInput;     /* Longest body. */
    _Atomic int64_t maxUpload;    /* Longer ones into a named file; 0:
                                   * none is. */
    _Atomic int64_t readAhead;    /* Longer ones to disk. */
    atomic_int      bufSize;      /* Of the first read. */
    _Atomic int64_t maxLineBytes; /* As in NsParseLimits. */
    _Atomic int64_t maxHeadBytes;
    atomic_int      maxFields;
    atomic_bool     isLfStrict;
    atomic_bool     allowsHttp09;
    atomic_int      maxQueueSize; /* Sockets of all its threads. */
    atomic_int      acceptSize;   /* Accepted at a time. */
    atomic_int      acceptLog;    /* So many at a time are logged; 0: never. */
    int             backlog;
    _Atomic NsStamp recvWait;
    _Atomic NsStamp sendWait;
    _Atomic NsStamp closeWait;
    _Atomic NsStamp headTimeout;
    int             nDriverThreads;
    int             nSpoolers;
    int             writerBufSize;
    _Atomic int64_t writerMemory;   /* Of one reply that waits. */
    atomic_int      minReceiveRate; /* Bytes per second; 0: none. */
    atomic_int      minSendRate;
    atomic_int      maxPartialPerPeer; /* 0: no limit. */
    bool            isHttp2;           /* The client may speak it. */
    bool            deferAccept;
    atomic_bool     noDelay;
    bool            reusePort; /* With other processes. */

    /* As they are configured: where the driver has them in another form. */
    const char *port;
    const char *address; /* NULL: not set, as the others. */
    const char *hostname;
    const char *location;
    const char *hsts;
    const char *defaultServer;
    const char *extraHeaders;
    atomic_int  writerRateKb; /* kB/s; 0: no limit. */
} NsDriverParams;

struct NsDriver {
    Ns_Driver                   pub;      /* Must be first.  Constant. */
    Ns_DriverInitData           procs;    /* Constant. */
    const struct NsDriverLater *laterPtr; /* Constant; NULL for a driver as
                                           * 4.99.5 has them. */
    const char    *path;                  /* Constant: parameter section. */
    NsServer      *serverPtr;             /* Constant; NULL: by host map. */
    NsRate         rate;                  /* Of all writers together. */
    NsDriverParams params;                /* Constant. */
    char         **addresses;             /* Constant. */
    int            nAddresses;            /* Constant. */
    int           *ports;                 /* Constant. */
    int            nPorts;                /* Constant. */
    int            defaultPort;           /* Constant. */
    const char *ownPort; /* Constant: what the driver itself says; or NULL. */
    NsSockSettings   settings; /* See there. */
    NsDriverThread **threads;  /* Constant after start. */
    NsDriverThread **spoolers; /* Constant after start. */
    NsWriter       **writers;  /* Constant after start; at least
                                * one. */
    int         nWriters;      /* Constant after start. */
    atomic_bool hasStarted;    /* The four above are there; see below. */
    atomic_uint nextWriter;    /* In turn; any thread, relaxed. */
    NsDriver   *nextPtr;       /* Constant after start. */
};

/*
 * Whether its threads may be looked at by those that it has not made: one
 * driver serves while the next one is started.  Set by the main thread.
 */
static inline bool
NsDriverHasStarted(const NsDriver *drvPtr)
{
    return atomic_load_explicit(&drvPtr->hasStarted, memory_order_acquire);
}

/*
 * All drivers, in order of registration; constant after start.
 */
extern NsDriver *NsFirstDriver;

/*
 * The status that a request is refused with.
 */
static inline void
NsDriverCountRefusal(NsDriverThread *threadPtr, int status)
{
    unsigned i = (unsigned) (status - NS_REFUSAL_STATUS);

    NsAssert(i < NS_REFUSAL_STATUSES);
    atomic_fetch_add_explicit(&threadPtr->refusals[i], 1, memory_order_relaxed);
}

/*
 * The limit of all replies of its kind; NULL: none.
 */
static inline NsRate *
NsSockGroupRate(const NsSock *sockPtr)
{
    NsReplyGroup *groupPtr = sockPtr->notes.groupPtr;

    return groupPtr == NULL ? NULL : &groupPtr->rate;
}

/*
 * How many connections a thread may have: those of one driver share its limit
 * evenly.
 */
static inline int
NsDriverThreadLimit(const NsDriverThread *threadPtr)
{
    const NsDriverParams *paramsPtr = &threadPtr->drvPtr->params;

    return (paramsPtr->maxQueueSize + paramsPtr->nDriverThreads - 1)
        / paramsPtr->nDriverThreads;
}

#endif

/*
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
#include "http/parse.h"
#include "net/driver.h"
#include "net/loop.h"
#include "net/sock.h"
#include "base/assert.h"

typedef struct NsDriver       NsDriver;
typedef struct NsDriverThread NsDriverThread;
typedef struct NsWriter       NsWriter;
typedef struct NsWriterJob    NsWriterJob;
typedef struct NsHostMap      NsHostMap;
typedef struct NsPeerTable    NsPeerTable;

typedef enum {
    NS_SOCK_DRIVER,
    NS_SOCK_BUSY,
    NS_SOCK_BUSY_EVENT
} NsSockState;

typedef enum {
    NS_SOCK_READING,            /* Idle, or a request is arriving. */
    NS_SOCK_CLOSING,            /* Our side is shut; what comes is discarded. */
    NS_SOCK_DEAD                /* To be destroyed by the driver thread. */
} NsSockMode;

struct NsSock {
    Ns_Sock          pub;               /* Must be first.  Set at accept. */
    NsDriver        *drvPtr;            /* Constant. */
    NsDriverThread  *homePtr;           /* Constant: the driver thread. */
    unsigned short   peerPort;          /* Constant. */
    char             peer[46];          /* Constant. */

    atomic_int       state;             /* NsSockState, see above. */
    _Atomic NsStamp  deadline;          /* Any owner sets it; the driver thread
                                         * looks when the wheel comes round. */

    /* The owner. */
    NsSockMode       mode;
    bool             isBroken;          /* Sending failed. */
    bool             isShut;            /* The driver's closeProc has run. */
    bool             sawHangup;         /* The client sends no more. */
    bool             isTaken;           /* The descriptor lives on elsewhere. */
    bool             isLong;            /* Closing may take longer: a body was
                                         * left unread. */
    int16_t          corkDepth;
    NsMessage       *messagePtr;        /* Being received, or NULL. */
    NsWriterJob     *jobPtr;            /* Queued output of this request. */
    int64_t          nBytes;            /* Sent or queued for this request. */
    NsHeld          *heldPtr;           /* See NsSockHold; or NULL. */
    int64_t          heldBytes;
    void           **sls;               /* Socket-local storage. */
    char            *clientData;        /* For `ns_writer list`. */
    NsSockNotes      notes;             /* Of the request being answered. */
    NsServer        *serverPtr;         /* Likewise. */
    NsInboxNode      inboxNode;         /* On the way to another thread. */

    /* The driver thread; while a body is spooled, the spooler thread. */
    NsWheelEntry     wheelEntry;
    NsStamp          acceptStamp;       /* 0 after the first request. */
    NsStamp          headStamp;         /* An unfinished head, or handshake,
                                         * began; 0: there is none. */
    NsStamp          reportStamp;       /* The bytes were here by then; 0: not
                                         * known. */
    bool             isRegistered;      /* With the poller. */
    bool             isPartial;         /* Counted in the peer table. */
    bool             isLeaving;         /* Closed to make room. */
    NsSock          *nextPtr;           /* In heads if headStamp is set, else in
                                         * others. */
    NsSock          *prevPtr;
};

typedef struct NsSockList {
    NsSock *firstPtr;
    NsSock *lastPtr;
} NsSockList;

/*
 * Constant; closed by its driver thread when that stops.
 */
typedef struct NsListener {
    int fd;
    int port;
} NsListener;

/*
 * A driver thread, or a spooler thread: one that receives large bodies for it.
 */
struct NsDriverThread {
    NsDriver       *drvPtr;             /* Constant. */
    char           *name;               /* Constant, as `nssock:0`. */
    int             index;              /* Constant. */
    bool            isSpooler;          /* Constant. */
    NsListener     *listeners;          /* Constant. */
    int             nListeners;         /* Constant. */
    Ns_Thread       thread;             /* Constant. */

    NsLoop          loop;               /* Sockets, and those that come (back);
                                         * stopped by NsDriversStop. */
    _Atomic NsStamp stopDeadline;       /* 0: none yet. */

    /* Statistics: written by the thread, relaxed; read by any. */
    _Atomic int64_t nReceived;
    _Atomic int64_t nSpooled;
    _Atomic int64_t nPartial;
    _Atomic int64_t nErrors;

    /* The thread itself. */
    NsWheelEntry    retryEntry;         /* When to accept again. */
    NsSockList      others;             /* Its sockets, in the order of their
                                         * last requests; but these: */
    NsSockList      heads;              /* A head or handshake has begun, the
                                         * oldest first. */
    int             nSockets;
    int             nLeaving;           /* Of them, closed to make room. */
    int             nextSpooler;
    bool            mustYield;          /* Before it waits for events. */
    bool            isListening;        /* The listeners are watched. */
    bool            isStarved;          /* Out of descriptors. */
    bool            hasStopped;         /* The listeners are closed. */
    bool            isDrained;          /* Has no more requests to hand over. */
    int             reserveFd;          /* To be given up for a 503. */
    NsStamp         starveStamp;        /* Of the last line about it. */
    NsStamp         fullStamp;          /* Likewise, `maxqueuesize` reached. */
    NsStamp         partialStamp;       /* Likewise, too many of one peer. */
    NsStamp         slowStamp;          /* Likewise, a client is too slow. */
    NsPeerTable    *peersPtr;           /* Half-received requests by peer. */
    char           *scratch;            /* NS_SCRATCH_BYTES for bodies. */
};

#define NS_SCRATCH_BYTES 65536

/*
 * From the configuration; sizes in bytes.
 */
typedef struct NsDriverParams {
    int64_t maxInput;                   /* Longest body. */
    int64_t maxUpload;                  /* Longer ones into a named file; 0:
                                         * none is. */
    int64_t readAhead;                  /* Longer ones to disk. */
    int     bufSize;                    /* Of the first read. */
    NsParseLimits limits;
    int     maxQueueSize;               /* Sockets of all its threads. */
    int     acceptSize;                 /* Accepted at a time. */
    int     backlog;
    NsStamp recvWait;
    NsStamp sendWait;
    NsStamp closeWait;
    NsStamp headTimeout;
    int     nDriverThreads;
    int     nSpoolers;
    int     writerBufSize;
    int64_t writerMemory;               /* Of one reply that waits. */
    int     minReceiveRate;             /* Bytes per second; 0: none. */
    int     minSendRate;
    int     maxPartialPerPeer;          /* 0: no limit. */
    bool    deferAccept;
    bool    noDelay;
    bool    reusePort;                  /* With other processes. */

    /* As they are configured: where the driver has them in another form. */
    const char *port;
    const char *address;                /* NULL: not set, as the others. */
    const char *hostname;
    const char *location;
    const char *defaultServer;
    int64_t     writerSize;
    bool        writerStreaming;
    int         writerRateKb;           /* kB/s; 0: no limit. */
} NsDriverParams;

struct NsDriver {
    Ns_Driver         pub;              /* Must be first.  Constant. */
    Ns_DriverInitData procs;            /* Constant. */
    const char       *path;             /* Constant: parameter section. */
    NsServer         *serverPtr;        /* Constant; NULL: by host map. */
    NsRate            rate;             /* Of all writers together. */
    NsDriverParams    params;           /* Constant. */
    char            **addresses;        /* Constant. */
    int               nAddresses;       /* Constant. */
    int              *ports;            /* Constant. */
    int               nPorts;           /* Constant. */
    int               defaultPort;      /* Constant. */
    NsSockSettings    settings;         /* See there. */
    NsDriverThread  **threads;          /* Constant after start. */
    NsDriverThread  **spoolers;         /* Constant after start. */
    NsWriter        **writers;          /* Constant after start; at least
                                         * one. */
    int               nWriters;         /* Constant after start. */
    atomic_uint       nextWriter;       /* In turn; any thread, relaxed. */
    NsDriver         *nextPtr;          /* Constant after start. */
};

/*
 * All drivers, in order of registration; constant after start.
 */
extern NsDriver *NsFirstDriver;

/*
 * The driver or spooler thread that calls; NULL in other threads.
 */
NsDriverThread *NsDriverThreadSelf(void);

/*
 * The one place where the state is stored: the driver thread takes its socket
 * back, or gives it away.  A spooler thread gives away what it has.
 */
static inline void
NsSockSetState(const NsDriverThread *threadPtr, NsSock *sockPtr,
               NsSockState state)
{
    int old = atomic_load_explicit(&sockPtr->state, memory_order_relaxed);

    NsCheck(threadPtr == NsDriverThreadSelf());
    if (threadPtr->isSpooler) {
        NsAssert(old == NS_SOCK_BUSY_EVENT && state == NS_SOCK_BUSY_EVENT);
    } else {
        NsAssert(sockPtr->homePtr == threadPtr);
        NsAssert((old == NS_SOCK_DRIVER) != (state == NS_SOCK_DRIVER));
    }
    atomic_store_explicit(&sockPtr->state, (int) state, memory_order_release);
}

/*
 * The one place where it changes under the eyes of others: BUSY becomes DRIVER
 * by the thread that answers, BUSY_EVENT by the driver thread.  The state that
 * was there; NS_SOCK_BUSY: it has changed.
 */
static inline NsSockState
NsSockLeaveBusy(NsSock *sockPtr, NsSockState state)
{
    int old = NS_SOCK_BUSY;

    NsAssert(state != NS_SOCK_BUSY);
    NsCheck((NsDriverThreadSelf() == sockPtr->homePtr)
            == (state == NS_SOCK_BUSY_EVENT));
    (void) atomic_compare_exchange_strong_explicit(&sockPtr->state, &old,
                                                   (int) state,
                                                   memory_order_acq_rel,
                                                   memory_order_acquire);
    return (NsSockState) old;
}

/*
 * The calling driver or spooler thread has the socket; it has been handed over
 * to a thread that answers.
 */
static inline void
NsSockAssertMine(const NsDriverThread *threadPtr, const NsSock *sockPtr)
{
    NsCheck(threadPtr == NsDriverThreadSelf());
    if (threadPtr->isSpooler) {
        NsAssert(sockPtr->state == NS_SOCK_BUSY_EVENT);
    } else {
        NsAssert(sockPtr->state == NS_SOCK_DRIVER
                 && sockPtr->homePtr == threadPtr);
    }
    NsAssert(sockPtr->messagePtr == NULL
             || (sockPtr->messagePtr->readerPtr != NULL
                 && sockPtr->messagePtr->sockPtr == NULL));
}

static inline void
NsSockAssertHandedOver(const NsSock *sockPtr)
{
    NsAssert(atomic_load_explicit(&sockPtr->state, memory_order_relaxed)
             != NS_SOCK_DRIVER);
}

/*
 * accept.c: the listeners of a driver thread.
 */
void NsAcceptStart(NsDriverThread *threadPtr);
void NsAcceptBatch(NsDriverThread *threadPtr, NsListener *listenerPtr);
void NsAcceptResume(NsDriverThread *threadPtr);
void NsAcceptRetry(NsDriverThread *threadPtr);
void NsAcceptStop(NsDriverThread *threadPtr);

/*
 * makeroom.c: the driver thread's sockets in the order of their last requests,
 * and of unfinished heads.
 */
void NsSocksAppend(NsDriverThread *threadPtr, NsSock *sockPtr);
void NsSocksRemove(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * A head, or a handshake, has begun, now unless that was known.  Touch ends it.
 */
void NsSocksBeginHead(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The socket has a request, or no unfinished head any longer: it is the last
 * now.
 */
static inline void
NsSocksTouch(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    if (sockPtr->nextPtr != NULL || sockPtr->headStamp != 0) {
        NsSocksRemove(threadPtr, sockPtr);
        NsSocksAppend(threadPtr, sockPtr);
    }
}

/*
 * Close a connection for a new one: the one that has been idle longest, or else
 * that of the oldest unfinished request.  Which kind was closed, in words; NULL
 * if there is none.
 */
const char *NsSocksMakeRoom(NsDriverThread *threadPtr);

/*
 * The poller's data of a listener is marked, to tell it from a socket's.
 */
static inline void *
NsListenerMark(NsListener *listenerPtr)
{
    return (void *) ((uintptr_t) listenerPtr | 1u);
}

static inline bool
NsListenerIsMarked(const void *data)
{
    return ((uintptr_t) data & 1u) != 0u;
}

static inline NsListener *
NsListenerUnmark(void *data)
{
    return (NsListener *) ((uintptr_t) data & ~(uintptr_t) 1u);
}

/*
 * driver_listen.c: open the listening sockets of a driver thread.  NS_ERROR:
 * the reason is logged.
 */
Ns_ReturnCode NsDriverListen(NsDriverThread *threadPtr);

/*
 * driver_thread.c: the loop of driver and spooler threads.
 */
NsDriverThread *NsDriverThreadCreate(NsDriver *drvPtr, int index,
                                     bool isSpooler);
void NsDriverThreadStart(NsDriverThread *threadPtr);

/*
 * driver_params.c: fill what the configuration sets.  False: it cannot be
 * listened, and the log says why.
 */
void NsDriverParamsInit(void);
bool NsDriverParamsRead(NsDriver *drvPtr);
NsPollerKind NsDriverPollerKind(void);

/*
 * driver.c: a driver thread that stops has no more requests to hand over.
 */
void NsDriverNoteDrained(void);

/*
 * A message is complete: call the ready procedure.
 */
void NsReady(NsMessage *messagePtr);

/*
 * The calls below are for the thread that owns the socket, being its driver
 * thread or (as threadPtr says) a spooler thread.
 *
 * Take up a new connection.
 */
void NsSockAdopt(NsDriverThread *threadPtr, NsSock *sockPtr,
                 NS_DRIVER_ACCEPT_STATUS status);

/*
 * Report the next arrival.
 */
void NsSockWatch(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * Do what the socket's mode asks for: read, drain, or destroy; later, when
 * mustYield says so.
 */
void NsSockComeBack(NsDriverThread *threadPtr, NsSock *sockPtr, bool mustYield);

/*
 * A handshake is over, and no request has begun.
 */
void NsSockBecomeIdle(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * Hand the socket to a spooler thread; end its connection with this one.
 */
void NsSockEnterSpooler(NsDriverThread *threadPtr, NsSock *sockPtr);
void NsSockLeaveSpooler(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * Count the socket among those with a half-received request of its peer; the
 * peer's number of them.
 */
int  NsSockCountPartial(NsDriverThread *threadPtr, NsSock *sockPtr);
void NsSockForgetPartial(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The longest time after which a socket must be looked at again.
 */
NsStamp NsSockShortestWait(const NsDriver *drvPtr);

/*
 * A Warning, unless there was one less than a second ago.
 */
void NsLogOncePerSecond(NsStamp *lastPtr, const char *format, ...)
    NS_GNUC_PRINTF(2, 3);

/*
 * reader.c: read until nothing is left, and hand over complete requests.  Then
 * the socket belongs to another thread, or waits, or is destroyed.
 */
void NsReadSock(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * Hand over a connection from which the driver wants nothing to be read.
 */
void NsReadQueueUnread(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * True when no byte of a request, or of a handshake, has arrived.
 */
bool NsReaderIsIdle(const NsSock *sockPtr);

/*
 * When the body that is arriving began to, with its head; 0: none is.
 */
NsStamp NsReaderBodySince(const NsSock *sockPtr);

/*
 * The client has taken too long for its request.
 */
void NsReadTimeUp(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * True when there is something to read, whether or not the poller has reported
 * it.
 */
bool NsReaderHasUnread(const NsSock *sockPtr);

/*
 * Forget a half-received request.
 */
void NsReaderDrop(NsSock *sockPtr);

/*
 * sock.c: let go of a socket after a reply, whatever thread; it may not be
 * touched afterwards.
 */
void NsSockGiveBack(NsSock *sockPtr, bool keep);

/*
 * Shut our side; the driver thread then waits for the client to close.
 */
void NsSockBeginClose(NsSock *sockPtr);

/*
 * Send without waiting.  The number of bytes taken; -1 when the client is gone.
 */
ssize_t NsSockSendNow(NsSock *sockPtr, const Ns_FileVec *vecs, int nVecs);

/*
 * writer.c: queued output.  Append takes the pieces over, also when it fails.
 */
NsWriter *NsWriterCreate(NsDriver *drvPtr, int index);
void NsWriterSetRate(NsWriterJob *jobPtr, int64_t bytesPerSecond);
Ns_ReturnCode NsWriterAppend(NsSock *sockPtr, const NsPiece *pieces, int nPieces,
                             size_t skip);
void NsWriterFinish(NsSock *sockPtr, bool keep);
NsDelivery *NsWriterFollow(NsSock *sockPtr);    /* See delivery.h. */

/*
 * Wait until all is sent; NS_ERROR when the client is gone.  The socket has no
 * job afterwards.
 */
Ns_ReturnCode NsWriterDrain(NsSock *sockPtr);

/*
 * Wait until there are no jobs; at the deadline they are abandoned.  End the
 * thread, which must have none.
 */
Ns_ReturnCode NsWriterWaitEmpty(NsWriter *writerPtr,
                                const Ns_Time *deadlinePtr);
void NsWriterEnd(NsWriter *writerPtr);

void NsWriterAppendList(NsWriter *writerPtr, Ns_DString *dsPtr,
                        const char *server, bool isLong);
void NsWriterAppendStats(NsWriter *writerPtr, Ns_DString *dsPtr);

/*
 * hostmap.c: Host fields to servers and locations.
 */
typedef struct NsHostEntry {
    NsServer   *serverPtr;
    const char *location;
    bool        isVariant;      /* Of what the configuration has. */
} NsHostEntry;

NsHostMap *NsHostMapCreate(NsDriver *drvPtr, const char *defaultServer);
const NsHostEntry *NsHostMapFind(const NsHostMap *mapPtr, const char *host);
/* The Host fields that lead to the server, as keys of the set. */
void NsHostMapAppend(Ns_Set *hostsPtr, const NsHostMap *mapPtr,
                     const NsServer *serverPtr);

/*
 * peers.c: how many half-received requests each peer has.
 */
NsPeerTable *NsPeerTableCreate(void);
int  NsPeerTableAdd(NsPeerTable *tablePtr, const char *peer);
void NsPeerTableRemove(NsPeerTable *tablePtr, const char *peer);

/*
 * sls.c.
 */
void NsSlsInit(void);
void NsSlsFree(NsSock *sockPtr);

#endif

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
    NS_SOCK_CLOSING, /* Our side is shut; what comes is discarded. */
    NS_SOCK_DEAD     /* To be destroyed by the driver thread. */
} NsSockMode;

struct NsSock {
    Ns_Sock         pub;      /* Must be first.  Set at accept. */
    NsDriver       *drvPtr;   /* Constant. */
    NsDriverThread *homePtr;  /* Constant: the driver thread. */
    unsigned short  peerPort; /* Constant. */
    char            peer[46]; /* Constant. */

    atomic_int      state;    /* NsSockState, see above. */
    _Atomic NsStamp deadline; /* Any owner sets it; the driver thread
                               * looks when the wheel comes round. */

    /* The owner. */
    NsSockMode   mode;
    atomic_ulong sendErrno; /* Why sending failed, if it is known.  The owner
                             * sets it, others may read. */
    bool isBroken;          /* Sending failed. */
    bool isShut;            /* The driver's closeProc has run. */
    bool sawHangup;         /* The client sends no more. */
    bool isTaken;           /* The descriptor lives on elsewhere. */
    bool isShared;          /* It is the listening one: a datagram. */
    bool isLong;            /* Closing may take longer: a body was
                             * left unread. */
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
    bool    isRegistered;     /* With the poller. */
    bool    isPartial;        /* Counted in the peer table. */
    bool    isLeaving;        /* Closed to make room. */
    NsSock *nextPtr;          /* In heads if headStamp is set, else in
                               * others. */
    NsSock *prevPtr;
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

    /* As it is now.  Reading: written by the thread.  The others: by any. */
    atomic_int nReading; /* Half-received requests. */
    atomic_int nWaiting; /* Requests that a full pool has not queued. */
    atomic_int nClosing; /* Our side of the connection is shut. */

    /* The thread itself. */
    NsStamp      acceptLogStamp; /* When many were logged. */
    NsWheelEntry retryEntry;     /* When to accept again. */
    NsSockList   others;         /* Its sockets, in the order of their
                                  * last requests; but these: */
    NsSockList heads;            /* A head or handshake has begun, the
                                  * oldest first. */
    int                 nSockets;
    int                 nLeaving; /* Of them, closed to make room. */
    int                 nextSpooler;
    bool                mustYield;    /* Before it waits for events. */
    bool                isListening;  /* The listeners are watched. */
    bool                isStarved;    /* Out of descriptors. */
    bool                hasStopped;   /* The listeners are closed. */
    bool                isDrained;    /* Has no more requests to hand over. */
    bool                hearsOfFiles; /* See base/filewatch.h; constant. */
    int                 mountsFd;     /* Tells that mounts changed. */
    int                 reserveFd;    /* To be given up for a 503. */
    NsStamp             starveStamp;  /* Of the last line about it. */
    NsStamp             fullStamp;    /* Likewise, `maxqueuesize` reached. */
    NsStamp             partialStamp; /* Likewise, too many of one peer. */
    NsStamp             slowStamp;    /* Likewise, a client is too slow. */
    struct NsPeerTable *peersPtr;     /* Half-received requests by peer. */
    char               *scratch;      /* NS_SCRATCH_BYTES for bodies. */
};

#define NS_SCRATCH_BYTES 65536

/*
 * From the configuration; sizes in bytes.
 */
typedef struct NsDriverParams {
    int64_t maxInput;        /* Longest body. */
    int64_t maxUpload;       /* Longer ones into a named file; 0:
                              * none is. */
    int64_t       readAhead; /* Longer ones to disk. */
    int           bufSize;   /* Of the first read. */
    NsParseLimits limits;
    int           maxQueueSize; /* Sockets of all its threads. */
    int           acceptSize;   /* Accepted at a time. */
    int           acceptLog;    /* So many at a time are logged; 0: never. */
    int           backlog;
    NsStamp       recvWait;
    NsStamp       sendWait;
    NsStamp       closeWait;
    NsStamp       headTimeout;
    int           nDriverThreads;
    int           nSpoolers;
    int           writerBufSize;
    int64_t       writerMemory;   /* Of one reply that waits. */
    int           minReceiveRate; /* Bytes per second; 0: none. */
    int           minSendRate;
    int           maxPartialPerPeer; /* 0: no limit. */
    bool          deferAccept;
    bool          noDelay;
    bool          reusePort; /* With other processes. */

    /* As they are configured: where the driver has them in another form. */
    const char *port;
    const char *address; /* NULL: not set, as the others. */
    const char *hostname;
    const char *location;
    const char *defaultServer;
    int64_t     writerSize;
    bool        writerStreaming;
    int         writerRateKb; /* kB/s; 0: no limit. */
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
    atomic_uint nextWriter;    /* In turn; any thread, relaxed. */
    NsDriver   *nextPtr;       /* Constant after start. */
};

/*
 * All drivers, in order of registration; constant after start.
 */
extern NsDriver *NsFirstDriver;

#endif

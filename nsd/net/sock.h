/* SPDX-License-Identifier: MPL-2.0
 * sock.h --
 *
 *      A client's connection, as the thread that answers a request sees it.
 *
 *      No call here waits for the client.  Output that the socket does not take
 *      at once is queued to a writer thread, and all later output of the same
 *      request behind it.
 */

#ifndef NSD_NET_SOCK_H
#define NSD_NET_SOCK_H

#include "nsdriver.h"
#include "log/stream/receipt.h"
#include "net/message.h"
#include "net/replygroup.h"

#include <stdatomic.h>

typedef struct NsSock NsSock;

/*
 * The number of requests of the socket's driver thread that a full pool has not
 * queued yet; for who counts them.
 */
atomic_int *NsSockWaitingCount(NsSock *sockPtr);

/*
 * One piece of output.
 *
 * With a releaseProc the piece is borrowed until the call of it, from any
 * thread, also when sending failed.  Without one, memory is copied where it
 * cannot be sent at once, and a descriptor is duplicated.
 */
typedef struct NsPiece {
    int         fd;     /* -1: memory. */
    const void *base;   /* Memory. */
    off_t       offset; /* File. */
    size_t      length;
    void (*releaseProc)(void *arg);
    void *arg;
} NsPiece;

/*
 * Send the pieces, in order, in as few system calls as possible.  NS_OK: all is
 * sent or queued.  NS_ERROR: the client is gone; later calls fail as well.
 */
Ns_ReturnCode NsSockSend(NsSock *sockPtr, const NsPiece *pieces, int nPieces);

/*
 * Whether a reply with such a body is for a writer thread from the start, and
 * not only what the client does not take at once.
 */
bool NsSockIsForWriter(const NsSock *sockPtr, int64_t bodyBytes);

/*
 * Queue the pieces to a writer thread even when the socket would take them (as
 * ns_writer does).  NS_ERROR when the driver has no writer thread.
 */
Ns_ReturnCode NsSockQueue(NsSock *sockPtr, const NsPiece *pieces, int nPieces);

/*
 * The request is answered.  The socket waits for the next request (keep) or is
 * closed gracefully, at once or when its queued output is sent.  The caller
 * must not use sockPtr afterwards.
 */
void NsSockFinish(NsSock *sockPtr, bool keep);

/*
 * Before that: the reply ends before its time, which the client has to see.  A
 * connection tells by its end; a stream is to be reset.
 */
void NsSockCut(NsSock *sockPtr);

/*
 * Before anything is sent: a receipt that was left, of a reply of that many
 * bytes.  Its records are put when the reply has been sent or given up, with
 * the number of bytes that were sent.
 */
void NsSockHold(NsSock *sockPtr, NsReceipt *receiptPtr, int64_t bytes);

/*
 * When output is queued, before NsSockFinish: the log records of the reply will
 * come by NsReceiptLeave.
 */
NsReceipt *NsSockFollow(NsSock *sockPtr);

/*
 * The client has said that it does not want the reply.
 */
bool NsSockIsGone(NsSock *sockPtr);

/*
 * Take the descriptor out of the server's hands, in blocking mode; queued
 * output is waited for.  -1 when the client is gone.  Ends sockPtr.
 *
 * With takenPtr (or NULL) the driver's state of the connection is taken as
 * well, such as that of TLS, if the driver has any; the caller lets it go by
 * NsSockTakenClose, which leaves the descriptor open.
 */
int  NsSockTake(NsSock *sockPtr, Ns_Sock *takenPtr);
void NsSockTakenClose(Ns_Sock *takenPtr);

/*
 * Send and receive by the driver, without waiting.  The number of bytes; of
 * received ones 0 at the end.  -1: errno, EAGAIN: not now.
 */
int64_t NsSockTakenSend(Ns_Sock *takenPtr, const char *bytes, size_t length);
int64_t NsSockTakenReceive(Ns_Sock *takenPtr, char *buffer, size_t size);

/*
 * Bytes sent or queued for the current request; whether a writer thread is
 * involved; the descriptor.
 */
int64_t NsSockBytes(const NsSock *sockPtr);
bool    NsSockIsQueued(const NsSock *sockPtr);
int     NsSockFd(const NsSock *sockPtr);

/*
 * The public part, its driver, and the driver's settings that replies obey.
 */
Ns_Sock   *NsSockPublic(NsSock *sockPtr);
Ns_Driver *NsSockDriver(const NsSock *sockPtr);

/*
 * Keys and values of the driver about the connection, appended as list
 * elements; none while a writer thread has it.
 */
void NsSockDetails(NsSock *sockPtr, Ns_DString *dsPtr);

/*
 * The driver's requestProc; NS_OK if it has none.
 */
bool          NsSockHasRequestProc(const NsSock *sockPtr);
Ns_ReturnCode NsSockRequestProc(NsSock *sockPtr, Ns_Conn *conn);

typedef struct NsSockSettings {
    _Atomic NsStamp keepWait;                 /* 0: no keep-alive. */
    _Atomic int64_t keepaliveMaxUploadSize;   /* Bytes; 0: no limit. */
    _Atomic int64_t keepaliveMaxDownloadSize; /* Likewise. */
    int             nWriters;
    bool            isTls;
    int proxyProtocol; /* Index of the parameter's word: 0 is off. */
    const struct NsHostMap *hostMapPtr; /* Of a driver that all servers
                                         * share. */
    const char *_Atomic uploadPath;     /* Directory of files for bodies. */
    const char *_Atomic livePath;       /* Of health checks; NULL: none. */
    const char *_Atomic readyPath;      /* Likewise. */
    _Atomic NsStamp     readyOverrun;   /* 0: it does not matter. */
    atomic_bool         isHealthLogged;
    const char *_Atomic extraHeaders; /* Tcl list of names and values, or
                                       * NULL. */

    _Atomic int64_t writerSize;      /* Bytes; any thread may set it. */
    atomic_bool     writerStreaming; /* Likewise. */
} NsSockSettings;

/*
 * Whether a Host field names the server that got the request: not the one that
 * takes what is meant for none of those that share the driver.
 */
bool NsSockIsHostKnown(const NsSockSettings *settingsPtr, const char *host);

/*
 * Whether a URL with this authority means us: a host of the map or, without
 * one, a name or an address of this machine or its driver, with any port.
 */
bool NsSockIsForUs(const NsSock *sockPtr, const char *authority);

const NsSockSettings *NsSockGetSettings(const NsSock *sockPtr);

/*
 * The longest body that its driver takes.
 */
int64_t NsSockMaxInput(const NsSock *sockPtr);

/*
 * The properties of a request that writers need.
 */
typedef struct NsSockNotes {
    NsStamp       queueStamp;     /* For `ns_writer list`. */
    const char   *pool;           /* Likewise; lives as long as the process. */
    int64_t       bytesPerSecond; /* Of this reply; 0: no limit. */
    NsReplyGroup *groupPtr;       /* Of all replies of its kind, or NULL; lives
                                   * as long as the process. */
} NsSockNotes;

void NsSockSetNotes(NsSock *sockPtr, const NsSockNotes *notesPtr);

/*
 * A limit for this reply alone, also after it has begun.
 */
int64_t NsSockGetBytesPerSecond(const NsSock *sockPtr);
void    NsSockSetBytesPerSecond(NsSock *sockPtr, int64_t bytesPerSecond);

/*
 * The last element in `ns_writer list`; copied.
 */
void NsSockSetClientData(NsSock *sockPtr, const char *clientData);

/*
 * Whether the client has closed the connection: by a reset, or, unless
 * isOnlyReset, by the end of what it sends, with nothing left to read.  By the
 * thread that serves the request.
 */
bool NsSockHasLeft(const NsSock *sockPtr, bool isOnlyReset);

#endif

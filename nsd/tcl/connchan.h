/* SPDX-License-Identifier: MPL-2.0
 * connchan.h --
 *
 *      Connections without a thread: sockets under a name, which all threads of
 *      a server may read, write and wait for.
 *
 *      A socket is non-blocking.  What it does not take at once is kept, and
 *      sent before later data.  A callback runs in the thread -socks-; reading
 *      waits for data, in the thread that asks for them.
 */

#ifndef NSD_TCL_CONNCHAN_H
#define NSD_TCL_CONNCHAN_H

#include "nssocket.h"
#include "nsstring.h"
#include "process/server.h"
#include "tcl/chanio.h"

typedef struct NsChan NsChan; /* Counted. */

typedef struct NsChanSpec {
    NsServer   *serverPtr;
    const char *driver;
    const char *peer;
    const char *clientData; /* NULL: none. */
    Ns_Time     start;
    NsChanIo   *ioPtr;       /* Becomes the channel's. */
    bool        isServer;    /* The other end is a client: it masks frames. */
    bool        isListening; /* Its callback runs as `SCRIPT CHANNEL` with each
                              * new connection, and closes that unless the
                              * result is true. */
} NsChanSpec;

void NsChanInit(void);

/*
 * A new channel; its name, valid as long as the reference.
 */
NsChan     *NsChanCreate(const NsChanSpec *specPtr);
const char *NsChanName(const NsChan *chanPtr);

/*
 * The channel of that name and server; NULL: there is none.
 */
NsChan *NsChanRef(NsServer *serverPtr, const char *name);
void    NsChanUnref(NsChan **chanPtrPtr);

/*
 * Take the name away, and close the socket when nobody uses it any more.
 */
void NsChanClose(NsChan *chanPtr);

/*
 * Send data, and what was kept before; how many bytes went.  -1: errno.
 */
int64_t NsChanWrite(NsChan *chanPtr, const char *bytes, size_t length);

/*
 * Append what there is, after waiting for it if need be, at most the receive
 * timeout.  How many bytes; 0 at the end and after that time; -1: errno.
 */
int NsChanRead(NsChan *chanPtr, Ns_DString *dsPtr);

/*
 * From now on the channel is a WebSocket: its text is UTF-8, a bound other than
 * the default one holds for messages and for what waits to be sent, and
 * messages may be compressed.  Reading does not wait, the end is an exception,
 * and with a callback, what was kept is sent without the callback's help.
 * False: it is one already, and remains as it is.
 */
typedef struct NsChanWebSocket {
    const char *answer; /* To the handshake, sent before anything that is
                         * written; NULL: none. */
    size_t maxMessage;
    size_t maxUnsent; /* Once so much waits, writing fails with ENOBUFS. */
    bool   isDeflated;
    bool   keepsContext; /* The client refers to earlier messages. */
} NsChanWebSocket;

bool NsChanSetWebSocket(NsChan *chanPtr, const NsChanWebSocket *specPtr);

/*
 * Likewise, for the next frame of WebSocket: append a dict.
 */
void NsChanReadFrame(NsChan *chanPtr, Ns_DString *messagePtr, Tcl_Obj *dictObj);

/*
 * Call `SCRIPT REASON` when a condition holds, until its result is 0 (then the
 * channel is closed) or 2.  Timeouts of 0 seconds leave what is set.
 */
typedef struct NsChanCallback {
    const char *script;
    int         when; /* NS_SOCK_READ, ... */
    Ns_Time     timeout;
    Ns_Time     receiveTimeout;
    Ns_Time     sendTimeout;
} NsChanCallback;

Ns_ReturnCode NsChanSetCallback(NsChan *chanPtr, const NsChanCallback *specPtr);

/*
 * How much of the traffic is logged: 0 nothing, otherwise how many bytes.  The
 * former level; -1 leaves it.
 */
int NsChanDebug(NsChan *chanPtr, int level);

/*
 * Append {CH THREAD START DRIVER PEER SENT RECEIVED CLIENTDATA CALLBACK WHEN}
 * of each channel of a server, or of all (NULL); put the state of one.
 */
void NsChanList(NsServer *serverPtr, Ns_DString *dsPtr);
void NsChanStatus(NsChan *chanPtr, Tcl_Obj *dictObj);

#endif

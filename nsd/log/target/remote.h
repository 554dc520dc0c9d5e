/* SPDX-License-Identifier: MPL-2.0
 * remote.h --
 *
 *      A connection of a sink to a program on another machine, by TCP, in the
 *      clear or in TLS.
 *
 *      No call takes longer than its limit, but for the look-up of a name,
 *      which has limits of its own: the caller's is put off by as long as that
 *      takes, or a name server that is slow would leave no time to connect.
 *      What fails sets errno, and writes more to `reason` if there is more to
 *      say.  After ETIMEDOUT the connection is as
 *      good as before; after any other failure it is broken, and what was not
 *      confirmed may be lost.
 *
 *      One thread at a time uses it.
 */

#ifndef NSD_LOG_TARGET_REMOTE_H
#define NSD_LOG_TARGET_REMOTE_H

#include "base/clock.h"
#include "base/tlscontext.h"
#include "nstypes.h"

typedef struct NsRemote NsRemote;

#define NS_REMOTE_REASON_BYTES 256

typedef struct NsRemoteSpec {
    const char      *host; /* A name or an address. */
    const char      *port;
    bool             isTls;
    const char      *name; /* The one in the certificate; NULL: host. */
    NsTlsContextSpec tls;
} NsRemoteSpec;

/*
 * NULL: nobody is there, or not the one that we want.
 */
NsRemote *NsRemoteOpen(const NsRemoteSpec *specPtr, NsStamp *untilPtr,
                       char reason[NS_REMOTE_REASON_BYTES]);
void      NsRemoteClose(NsRemote **remotePtrPtr);

/*
 * A connected socket, for a stream not blocking; -1: errno.  Each address of
 * the host gets a share of the time.
 */
int NsRemoteConnect(const char *host, const char *port, int type,
                    NsStamp *untilPtr, char reason[NS_REMOTE_REASON_BYTES]);

/*
 * A socket for datagrams to one of this machine; -1: errno.  A send waits for
 * room no longer than that.
 */
int  NsRemoteConnectLocal(const char *path, int waitSeconds);
void NsRemoteLimitSend(int fd, int waitSeconds);

/*
 * Send some of the bytes: how many.  -1 and ETIMEDOUT: there is no room; the
 * next call must begin with the same bytes.
 */
ssize_t NsRemoteSend(NsRemote *remotePtr, const char *bytes, size_t length,
                     NsStamp until);

/*
 * Receive some bytes: how many; 0: the peer has closed.
 */
ssize_t NsRemoteReceive(NsRemote *remotePtr, char *buffer, size_t size,
                        NsStamp until);

/*
 * Whether the peer has closed, as far as it is known now: the first bytes that
 * are sent after that would seem to arrive.
 */
bool NsRemoteIsClosed(NsRemote *remotePtr);

/*
 * Wait until the peer's system has all that was sent.  Its program may not have
 * read it yet.
 */
bool NsRemoteConfirm(NsRemote *remotePtr, NsStamp until);

/*
 * How many of the last bytes that were sent may not have arrived; of TLS, all
 * since the last confirmation.
 */
size_t NsRemoteAtRisk(const NsRemote *remotePtr);

/*
 * What is known about the failure beyond errno; "": nothing.
 */
const char *NsRemoteReason(const NsRemote *remotePtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * nsbroadcast.h --
 *
 *      Telling the other machines of a cluster that values have become invalid.
 *
 *      Caches and shared arrays name a channel; what a script flushes in one of
 *      them is announced there, and the caches of the same names on other
 *      machines flush it, too.  Transporting messages is up to a module, the
 *      carrier: one per server.  A carrier that cannot say which messages it
 *      has missed announces a gap, and everything of the channel is flushed.
 */

#ifndef NSBROADCAST_H
#define NSBROADCAST_H

#include "nstypes.h"

/*
 * sendProc takes one message, text without zero bytes, borrowed, in any thread;
 * it must not wait.  joinProc says that messages of a channel are wanted from
 * now on; it is called once for each, also for those that have been named
 * before the carrier was registered, and may be called in any thread.  Both are
 * called without a lock held.
 */
typedef void Ns_BroadcastSendProc(const char *channel, const char *message,
                                  void *arg);
typedef void Ns_BroadcastJoinProc(const char *channel, void *arg);

/*
 * NS_ERROR: there is no such server, or it has a carrier.
 */
NS_EXTERN Ns_ReturnCode
Ns_BroadcastCarry(const char *server, Ns_BroadcastSendProc *sendProc,
                  Ns_BroadcastJoinProc *joinProc, void *arg);

/*
 * A message has come, perhaps this server's own, which is then ignored.  Any
 * thread; of one channel, in the order of sending.
 */
NS_EXTERN void Ns_BroadcastDeliver(const char *server, const char *channel,
                                   const char *message);

/*
 * Messages of the channel may have been missed.
 */
NS_EXTERN void Ns_BroadcastGap(const char *server, const char *channel);

/*
 * Append the message that has the others flush everything of a channel: for a
 * carrier that cannot keep all that it has still to send.
 */
NS_EXTERN void Ns_BroadcastFlushAll(const char *server, Ns_DString *dsPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sockcallback.h --
 *
 *      The thread -socks-, inside the server; modules use nssocket.h.
 */

#ifndef NSD_NET_SOCKCALLBACK_H
#define NSD_NET_SOCKCALLBACK_H

#include "base/clock.h"
#include "nssocket.h"

void NsSockCallbackInit(void);

/*
 * As Ns_SockCallbackEx, with a timeout that may have a fraction; 0: none.
 */
int NsSockCallback(NS_SOCKET sock, Ns_SockProc *proc, void *arg, int when,
                   NsStamp timeout);

/*
 * Append {SOCKET CONDITIONS PROC ARG...} for each callback.
 */
void NsSockCallbacksList(Ns_DString *dsPtr);

/*
 * At the stop, before the drivers end: callbacks for that run now, and what
 * they write can still get through a driver.
 */
void NsSockCallbacksStop(const Ns_Time *deadlinePtr);

#endif

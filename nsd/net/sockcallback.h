/*
 * sockcallback.h --
 *
 *      The thread -socks-, inside the server; modules use nssocket.h.
 */

#ifndef NSD_NET_SOCKCALLBACK_H
#define NSD_NET_SOCKCALLBACK_H

#include "nssocket.h"

void NsSockCallbackInit(void);

/*
 * Callbacks that were registered before may run: the server has started.
 */
void NsSockCallbacksStart(void);

/*
 * Begin the shutdown: callbacks that want to know get NS_SOCK_EXIT.  Wait for
 * the thread until the deadline.
 */
void NsSockCallbacksStop(void);
void NsSockCallbacksWait(const Ns_Time *deadlinePtr);

/*
 * Append {SOCKET CONDITIONS PROC ARG...} for each callback.
 */
void NsSockCallbacksList(Ns_DString *dsPtr);

#endif

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
 * Append {SOCKET CONDITIONS PROC ARG...} for each callback.
 */
void NsSockCallbacksList(Ns_DString *dsPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * proxypeer.h --
 *
 *      The client of a connection, named by the header of the PROXY protocol
 *      that it begins with.
 */

#ifndef NSD_NET_PROXYPEER_H
#define NSD_NET_PROXYPEER_H

#include "net/reader.h"

/*
 * Take the header off the buffer of the reader.  NS_STEP_AGAIN: go on, with
 * what is left in the buffer; there is no message if nothing is.  Or else
 * NS_STEP_WAIT, or NS_STEP_GONE when it is not valid, which is logged.
 */
NsReadStep NsProxyTake(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * Likewise from the socket itself, and nothing behind it: what follows is for
 * TLS.
 */
NsReadStep NsProxyPeek(NsDriverThread *threadPtr, NsSock *sockPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * h2limits.h --
 *
 *      What a client of HTTP/2 may do, how often, and how slowly.
 */

#ifndef NSD_NET_H2LIMITS_H
#define NSD_NET_H2LIMITS_H

#include "net/h2_int.h"

/*
 * A frame has come; a stream was reset before it was answered.  Then the
 * session ends, if these are too many.
 */
void NsH2CountFrame(NsH2Session *sessionPtr, uint8_t type, uint8_t flags);
void NsH2CountReset(NsH2Session *sessionPtr);

/*
 * Look at the progress of each stream, and end those that make none.  When to
 * look again.
 */
NsStamp NsH2CheckTimes(NsH2Session *sessionPtr, NsStamp now);

/*
 * No progress is expected: all open streams are tunnels, which have their own
 * times.
 */
bool NsH2HasNoTimes(const NsH2Session *sessionPtr);

/*
 * End the session.  With a code, open streams end as well; else they are
 * served.  The reason is for the log, or NULL.
 */
void NsH2End(NsH2Session *sessionPtr, uint32_t code, const char *reason);

#endif

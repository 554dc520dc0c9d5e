/* SPDX-License-Identifier: MPL-2.0
 * replygroup.h --
 *
 *      What the replies of one pool have in common: a limit of throughput, and
 *      how many of them broke off.
 */

#ifndef NSD_NET_REPLYGROUP_H
#define NSD_NET_REPLYGROUP_H

#include "net/rate.h"
#include "nsstring.h"

/*
 * Why the rest of a reply was not sent.
 */
typedef enum {
    NS_ABORT_CLIENT,   /* It has closed the connection, or reset the stream. */
    NS_ABORT_SENDWAIT, /* It takes nothing. */
    NS_ABORT_SLOW,     /* It takes less than minsendrate. */
    NS_ABORT_ERROR,    /* Of our own. */
    NS_ABORT_REASONS
} NsAbortReason;

typedef struct NsReplyGroup {
    NsRate          rate;
    _Atomic int64_t nAborted[NS_ABORT_REASONS]; /* By any thread, relaxed. */
} NsReplyGroup;

/*
 * A dict of such counts, by the names of the reasons.
 */
void NsAbortsAppend(Ns_DString *dsPtr, const _Atomic int64_t *nAborted);

#endif

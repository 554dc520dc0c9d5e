/* SPDX-License-Identifier: MPL-2.0
 * replygroup.c --
 *
 *      What the replies of one pool have in common.
 */

#include "net/replygroup.h"

void
NsAbortsAppend(Ns_DString *dsPtr, const _Atomic int64_t *nAborted)
{
    static const char *const reasons[NS_ABORT_REASONS] = {
        [NS_ABORT_CLIENT] = "client",
        [NS_ABORT_SENDWAIT] = "sendwait",
        [NS_ABORT_SLOW] = "minsendrate",
        [NS_ABORT_ERROR] = "error"};

    for (int i = 0; i < NS_ABORT_REASONS; i++) {
        Ns_DStringPrintf(dsPtr, "%s%s %" PRId64, i > 0 ? " " : "", reasons[i],
                         atomic_load_explicit(&nAborted[i],
                                              memory_order_relaxed));
    }
}

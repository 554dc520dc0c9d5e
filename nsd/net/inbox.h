/* SPDX-License-Identifier: MPL-2.0
 * inbox.h --
 *
 *      What other threads hand to a thread that waits in a poller.
 *
 *      Putting takes no lock, and wakes the owner only when it sleeps.
 */

#ifndef NSD_NET_INBOX_H
#define NSD_NET_INBOX_H

#include "net/poller.h"

#include <stdatomic.h>

typedef struct NsInboxNode {
    struct NsInboxNode *nextPtr;
} NsInboxNode;

/*
 * Any thread puts, the owner takes.  The order between `headPtr` and
 * `isSleeping` matters on both sides, so both are sequentially consistent.
 */
typedef struct NsInbox {
    NsPoller              *pollerPtr; /* Constant: where the owner waits. */
    _Atomic(NsInboxNode *) headPtr;   /* Newest first. */
    atomic_bool            isSleeping;
} NsInbox;

void NsInboxInit(NsInbox *inboxPtr, NsPoller *pollerPtr);

/*
 * Hand over a node, which must not be in any inbox.  Any thread.
 */
void NsInboxPut(NsInbox *inboxPtr, NsInboxNode *nodePtr);

/*
 * All nodes, oldest first.  The owner.
 */
NsInboxNode *NsInboxTake(NsInbox *inboxPtr);

/*
 * NsPollerWait, but not while there are nodes.  The owner.
 */
int NsInboxWait(NsInbox *inboxPtr, NsPollEvent *events, int maxEvents,
                int timeoutMs);

#endif

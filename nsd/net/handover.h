/* SPDX-License-Identifier: MPL-2.0
 * handover.h --
 *
 *      Where complete requests go, and until when.  This room does not know
 *      requests, only whom to tell.
 */

#ifndef NSD_NET_HANDOVER_H
#define NSD_NET_HANDOVER_H

#include "net/message.h"

/*
 * A request is complete, or has to be refused (messagePtr->refusal).  Runs in
 * the driver thread, or in a spooler thread for large bodies; must not wait.
 * The message is the procedure's from then on; the reply may be sent, and the
 * socket finished, inside the call (a direct answer).
 */
typedef void NsReadyProc(NsMessage *messagePtr);
void         NsDriverSetReadyProc(NsReadyProc *proc);

/*
 * The request that was read just now has to wait for a thread.  If a driver
 * thread calls: it lets others run once before it looks for more, which would
 * only wait as well.
 */
void NsDriverYield(void);

/*
 * Wait until no driver thread that stops can hand over more requests (NS_OK),
 * or until the deadline, an absolute time (NS_TIMEOUT).
 */
Ns_ReturnCode NsDriversDrain(const Ns_Time *deadlinePtr);

/*
 * The calls below are for the room itself.
 */
void NsHandOverInit(void);

/*
 * A message is complete: call the ready procedure.
 */
void NsHandOver(NsMessage *messagePtr);

/*
 * A driver thread is told to stop; it has no more requests to hand over.
 */
void NsHandOverNoteStop(void);
void NsHandOverNoteDrained(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * handover.h --
 *
 *      Where complete requests go, and until when.  This room does not know
 *      requests, only whom to tell.
 */

#ifndef NSD_NET_HANDOVER_H
#define NSD_NET_HANDOVER_H

#include "net/message.h"

typedef struct NsDriver       NsDriver;
typedef struct NsDriverThread NsDriverThread;

/*
 * A request is complete, or has to be refused (messagePtr->refusal).  Runs in
 * the driver thread, or in a spooler thread for large bodies; must not wait.
 * The message is the procedure's from then on; the reply may be sent, and the
 * socket finished, inside the call (a direct answer).
 */
typedef void NsReadyProc(NsMessage *messagePtr);
void         NsDriverSetReadyProc(NsReadyProc *proc);

/*
 * A body begins, and nothing of it was read or asked for: the largest that this
 * request may have; INT64_MAX: what the driver says.  In the same threads.  Of
 * the message, head and server are there.  Until there is a procedure, nobody
 * is asked.
 */
typedef int64_t NsBodyLimitProc(NsMessage *messagePtr);
void            NsDriverSetBodyLimitProc(NsBodyLimitProc *proc);

/*
 * The request that was read just now has to wait for a thread.  If a driver
 * thread calls: it lets others run once before it looks for more, which would
 * only wait as well.
 */
void NsDriverYield(void);

/*
 * A driver thread calls proc when it has handled what its last wait reported,
 * or a good part of it: a thread that is woken in the middle of that interrupts
 * it for the sake of one request.  False: the caller makes the call itself; it
 * is not a driver thread, or what comes next may take long.
 */
typedef void NsDeferredProc(void *arg);
bool         NsDriverDefer(NsDeferredProc *proc, void *arg);

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
 * A message is complete: call the ready procedure.  One has a body: ask the
 * other one.
 */
void    NsHandOver(NsMessage *messagePtr);
int64_t NsHandOverBodyLimit(const NsDriver *drvPtr, NsMessage *messagePtr);

/*
 * What the driver thread does next is soon done, so calls may be deferred; what
 * has been for a while is called now.  End: call what was deferred, and let
 * nothing be deferred until the next Begin.
 */
void NsHandOverBeginDefer(NsDriverThread *threadPtr);
void NsHandOverEndDefer(NsDriverThread *threadPtr);

/*
 * A driver thread is told to stop; it has no more requests to hand over.
 */
void NsHandOverNoteStop(void);
void NsHandOverNoteDrained(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sinkwake.h --
 *
 *      Which thread may work for a sink: its lock, what it waits for while no
 *      thread works for it, and requests to it.
 */

#ifndef NSD_LOG_SINKWAKE_H
#define NSD_LOG_SINKWAKE_H

#include "log/sink/sink_int.h"

/*
 * Lock the sink in order to work for it.  What the thread logs meanwhile is
 * deferred until after the unlock, because it may go to this very sink.
 */
void NsSinkLock(Ns_LogSink sink);
bool NsSinkTryLock(Ns_LogSink sink);
void NsSinkUnlock(Ns_LogSink sink);

/*
 * Have everything written out and the service ended.  Await waits for that.
 * False: workers still serve the sink when the limit (NULL: none) is over.
 */
void NsSinkAskStop(Ns_LogSink sink);
bool NsSinkAwaitStop(Ns_LogSink sink, Ns_Time *limitPtr);
bool NsSinkIsServed(Ns_LogSink sink);

/*
 * Leave a sink that no worker serves to the threads that log, or to nobody.
 */
void NsSinkLeaveToCallers(Ns_LogSink sink);
void NsSinkLeaveToNobody(Ns_LogSink sink);

/*
 * The sink has another stream.  Call with the table of sinks locked.
 */
void NsSinkNoteJoined(Ns_LogSink sink);

/*
 * Wake the sink, no matter what it waits for.
 */
void NsSinkKick(Ns_LogSink sink);

/*
 * For the bell.  Nudge: wake the sinks of the stream that collect lines.
 * WakeAll: wake every sink that holds memory.
 */
void NsSinkNudge(int stream);
void NsSinkWakeAll(void);

/*
 * Change the state of a sink, with its sleep.lock held.  Enter: it sleeps in
 * the given state.  Leave: it runs; called by the thread that wakes it or by
 * the worker that serves it, whichever is first.  Wake: it runs if it sleeps
 * and a worker serves it.
 */
void NsSinkEnterLocked(Ns_LogSink sink, NsSinkState state);
void NsSinkLeaveLocked(Ns_LogSink sink);
void NsSinkWakeLocked(Ns_LogSink sink);

/*
 * Wake the sink if it is in that state.  True: it was.  The state is checked
 * without the lock first, so only threads that find the sink asleep contend for
 * the lock.  A nudge must be marked before this check.
 */
bool NsSinkWakeFrom(Ns_LogSink sink, NsSinkState state);

/*
 * Take the requests made up to that time, in order and linked.  Done gives a
 * request back to its caller.
 */
NsSinkOp *NsSinkTakeOps(Ns_LogSink sink, int64_t until);
void      NsSinkOpDone(Ns_LogSink sink, NsSinkOp *opPtr);

#endif

/*
 * sinkwake.h --
 *
 *      Who may work for a sink: its lock, what it waits for while nobody does,
 *      and requests that wait for it.
 */

#ifndef NSD_LOG_SINKWAKE_H
#define NSD_LOG_SINKWAKE_H

#include "log/sink/sink_int.h"

/*
 * Lock the sink for its work.  What is logged meanwhile is kept and logged
 * after the unlock: the sink itself may be where it goes.
 */
void NsSinkLock(Ns_LogSink sink);
bool NsSinkTryLock(Ns_LogSink sink);
void NsSinkUnlock(Ns_LogSink sink);

/*
 * Have all written out, and the sink served no more; and wait for that.  False:
 * it still is when the limit (NULL: none) is over.
 */
void NsSinkAskStop(Ns_LogSink sink);
bool NsSinkAwaitStop(Ns_LogSink sink, Ns_Time *limitPtr);
bool NsSinkIsServed(Ns_LogSink sink);

/*
 * One that no worker serves is served by those who log from now on, or by
 * nobody any more.
 */
void NsSinkLeaveToCallers(Ns_LogSink sink);
void NsSinkLeaveToNobody(Ns_LogSink sink);

/*
 * With the table of sinks locked: it has a stream more.
 */
void NsSinkNoteJoined(Ns_LogSink sink);

/*
 * Wake the sink, whatever it waits for.
 */
void NsSinkKick(Ns_LogSink sink);

/*
 * For the bell: wake the sinks of the stream that collect lines; all that hold
 * memory.
 */
void NsSinkNudge(int stream);
void NsSinkWakeAll(void);

/*
 * The state of a sink, with its wakeLock held.  Enter: it sleeps in that one.
 * Leave: it is to run, by whoever comes first, the one who wakes it or itself.
 * Wake: it runs if a worker serves it and it sleeps.
 */
void NsSinkEnterLocked(Ns_LogSink sink, NsSinkState state);
void NsSinkLeaveLocked(Ns_LogSink sink);
void NsSinkWakeLocked(Ns_LogSink sink);

/*
 * Wake the sink if it is in that state; true: it was.  Looking is free of the
 * lock, so only those who find it asleep meet there; it does not precede a
 * nudge's mark.
 */
bool NsSinkWakeFrom(Ns_LogSink sink, NsSinkState state);

/*
 * The requests that were made by then, in their order, linked; each is its
 * caller's again when it is done.
 */
NsSinkOp *NsSinkTakeOps(Ns_LogSink sink, int64_t until);
void      NsSinkOpDone(Ns_LogSink sink, NsSinkOp *opPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * bound.h --
 *
 *      How far a sink may fall behind.
 */

#ifndef NSD_LOG_BOUND_H
#define NSD_LOG_BOUND_H

#include "log/sink/sink.h"

void NsBoundInit(void);

/*
 * From Start to Stop a thread, the keeper, ensures that no sink keeps more
 * memory than it may, and reports writes that are stuck.
 */
void NsBoundStart(void);
void NsBoundStop(void);

/*
 * Call when sinks or their bounds have changed, or the mapping is made.
 */
void NsBoundCheck(void);

/*
 * Have the keeper look at all sinks now.  Cheap while an earlier call is still
 * pending.
 */
void NsBoundAsk(void);

/*
 * True: write now, or the sink may soon keep more than it may.
 */
bool NsBoundIsNear(Ns_LogSink sink);

/*
 * For the thread that works for the sink.
 *
 * Between Lend and TakeBack it does not use the sink's places.  The keeper may
 * move the records there to the spill file, or discard them.  If it did,
 * TakeBack sets the sink's hasSkipped, and no place is what it was before.
 */
void NsBoundLend(Ns_LogSink sink);
void NsBoundTakeBack(Ns_LogSink sink);

/*
 * The sink cannot write and memory is short: free some.
 */
void NsBoundRelieve(Ns_LogSink sink);

#endif

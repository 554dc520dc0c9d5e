/* SPDX-License-Identifier: MPL-2.0
 * sinkspill.h --
 *
 *      What a sink has on disk; unspill.h brings it back.
 *
 *      Call with the sink locked, or, while its places are lent, with the lock
 *      of the loan held.
 */

#ifndef NSD_LOG_SINKSPILL_H
#define NSD_LOG_SINKSPILL_H

#include "log/sink/sink.h"

/*
 * Ensure that the sink has a spill file.  False: it may not have one, or none
 * can be made.
 */
bool NsSinkBeginSpill(Ns_LogSink sink);

/*
 * The file holds records that the sink has not read.
 */
bool NsSinkHasSpilled(Ns_LogSink sink);

/*
 * The slot's note about a write has changed: copy it to the head of the file.
 */
void NsSinkSpillNoteSlot(Ns_LogSink sink);

/*
 * The whole buffer is written.  Written: call it while the slot still has its
 * intent.  EndSpill: call it once the intent is cleared; deletes the file if
 * all of it is written.
 */
void NsSinkSpillWritten(Ns_LogSink sink);
void NsSinkEndSpill(Ns_LogSink sink);

/*
 * Discard what is on disk.
 */
void NsSinkDropSpill(Ns_LogSink sink);

/*
 * Give the sink, which works for the slot of an earlier process, the file that
 * the slot names.  False: it cannot be read, and errno says why.
 */
bool NsSinkTakeSpill(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * Update the counters.
 */
void NsSinkNoteSpill(Ns_LogSink sink);

#endif

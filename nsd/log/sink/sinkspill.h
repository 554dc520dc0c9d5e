/*
 * sinkspill.h --
 *
 *      What a sink has on disk; unspill.h has its way back.
 *
 *      With the sink locked, or its places lent and lendLock held.
 */

#ifndef NSD_LOG_SINKSPILL_H
#define NSD_LOG_SINKSPILL_H

#include "log/sink/sink.h"

/*
 * The sink has a spill file, or gets one.  False: it may not have one, or there
 * can be none.
 */
bool NsSinkBeginSpill(Ns_LogSink sink);

/*
 * Something is there that the sink, locked, has not read.
 */
bool NsSinkHasSpilled(Ns_LogSink sink);

/*
 * What the slot says of a write concerns what is there.
 */
void NsSinkSpillNoteSlot(Ns_LogSink sink);

/*
 * All in the buffer is written; the slot's intent still stands, or is done
 * with.
 */
void NsSinkSpillWritten(Ns_LogSink sink);
void NsSinkEndSpill(Ns_LogSink sink);

/*
 * What is there is given up.
 */
void NsSinkDropSpill(Ns_LogSink sink);

/*
 * What stands in the slot of an earlier process is read by the sink, which
 * works for that slot.  False: it cannot be read, and errno tells why.
 */
bool NsSinkTakeSpill(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * For the counters.
 */
void NsSinkNoteSpill(Ns_LogSink sink);

#endif

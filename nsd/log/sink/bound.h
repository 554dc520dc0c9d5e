/*
 * bound.h --
 *
 *      How far a sink may fall behind.
 */

#ifndef NSD_LOG_BOUND_H
#define NSD_LOG_BOUND_H

#include "log/sink/sink.h"

void NsBoundInit(void);

/*
 * From Start to Stop there is a thread that sees to it that no sink keeps more
 * memory than it may, and tells of writes that do not come back.
 */
void NsBoundStart(void);
void NsBoundStop(void);

/*
 * Sinks or their bounds have changed, or there is memory now.
 */
void NsBoundCheck(void);

/*
 * Have that thread look at all sinks now.  Cheap while it has been asked and
 * has not come to it.
 */
void NsBoundAsk(void);

/*
 * True: a write is due, or else it may soon be more than there may be.
 */
bool NsBoundIsNear(Ns_LogSink sink);

/*
 * For the thread that works for the sink.
 *
 * Until it takes them back it does not use the sink's places, and what stands
 * there may go to its spill file, or be given up.  Then the sink's hasSkipped
 * is set, and no place is what it was before.
 */
void NsBoundLend(Ns_LogSink sink);
void NsBoundTakeBack(Ns_LogSink sink);

/*
 * The sink cannot write and memory is short: make room.
 */
void NsBoundRelieve(Ns_LogSink sink);

#endif

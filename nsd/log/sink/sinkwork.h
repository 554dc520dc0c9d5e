/*
 * sinkwork.h --
 *
 *      Turns of those who log, for sinks that no worker serves.
 */

#ifndef NSD_LOG_SINKWORK_H
#define NSD_LOG_SINKWORK_H

#include "log/sink/sink.h"

/*
 * The caller has put a record of that time, and no worker serves the sink: see
 * to it that it is read, and written if settings say so.  A sink that is
 * awaited is waited for; else whoever has it locked does that.
 */
void NsSinkTakeTurn(Ns_LogSink sink, int64_t time);

/*
 * One turn, with the sink locked: whoever reads for others writes for them.
 */
void NsSinkServeHere(Ns_LogSink sink, int64_t time);

/*
 * For the bell: write what sinks keep that no worker serves, as far as they are
 * awaited.  False: they keep no memory.
 */
bool NsSinkMakeRoom(void);

#endif

/*
 * sinkroute.h --
 *
 *      Which streams go to which sinks.
 */

#ifndef NSD_LOG_SINKROUTE_H
#define NSD_LOG_SINKROUTE_H

#include "log/sink/sink.h"

/*
 * True when the stream is one that the sink was told to read.
 */
bool NsSinkMatches(Ns_LogSink sink, Ns_LogStream stream);

/*
 * Tell all streams of the sink which sinks want them now.  Again: its settings
 * have changed.
 */
void NsSinkRouteAllLocked(Ns_LogSink sink);
void NsSinkRouteAgain(Ns_LogSink sink);

/*
 * There is a new stream: those that want it take it.
 */
void NsSinkJoinStream(int stream);

#endif

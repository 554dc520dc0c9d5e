/* SPDX-License-Identifier: MPL-2.0
 * sinkroute.h --
 *
 *      Which streams go to which sinks.
 */

#ifndef NSD_LOG_SINKROUTE_H
#define NSD_LOG_SINKROUTE_H

#include "log/sink/sink.h"

/*
 * True: the sink was told to read the stream.
 */
bool NsSinkMatches(Ns_LogSink sink, Ns_LogStream stream);

/*
 * Tell all streams of the sink which sinks want them now.  Again: because the
 * sink's settings have changed.
 */
void NsSinkRouteAllLocked(Ns_LogSink sink);
void NsSinkRouteAgain(Ns_LogSink sink);

/*
 * A stream is new: add it to the sinks that want it.
 */
void NsSinkJoinStream(int stream);

#endif

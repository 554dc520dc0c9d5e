/* SPDX-License-Identifier: MPL-2.0
 * sinkwork.h --
 *
 *      Turns of threads that log, for sinks that no worker serves.
 */

#ifndef NSD_LOG_SINKWORK_H
#define NSD_LOG_SINKWORK_H

#include "log/sink/sink.h"

/*
 * The caller has put a record of that time, and no worker serves the sink:
 * ensure that the record is read, and written if the settings say so.  The
 * caller waits for a sink that is awaited; otherwise the thread that has it
 * locked does the work.
 */
void NsSinkTakeTurn(Ns_LogSink sink, int64_t time);

/*
 * One turn, with the sink locked: the thread that reads for others also writes
 * for them.
 */
void NsSinkServeHere(Ns_LogSink sink, int64_t time);

/*
 * For the bell: write what is kept by awaited sinks that no worker serves, or
 * let other threads go on if they keep nothing.  False: there are none.
 */
bool NsSinkMakeRoom(void);

#endif

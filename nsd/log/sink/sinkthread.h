/* SPDX-License-Identifier: MPL-2.0
 * sinkthread.h --
 *
 *      What workers do for a sink.
 */

#ifndef NSD_LOG_SINKTHREAD_H
#define NSD_LOG_SINKTHREAD_H

#include "log/sink/sink_int.h"

void NsSinkServeInit(void);

/*
 * Have workers serve a sink that they do not serve yet.  Does nothing if there
 * are no workers, as before the start.
 */
void NsSinkServe(Ns_LogSink sink);

/*
 * Have a request carried out and wait for it.  A worker does it, or, if none
 * serves the sink, a caller with a request.  Returns its status, and sets
 * errno.  Do not call while working for the sink.
 */
Ns_ReturnCode NsSinkRun(Ns_LogSink sink, NsSinkOp *opPtr);

/*
 * For the bell: wake the sinks of the stream that sleep until a record comes.
 */
void NsSinkWake(int stream, int64_t time);

#endif

/*
 * sinkthread.h --
 *
 *      What workers do for a sink.
 */

#ifndef NSD_LOG_SINKTHREAD_H
#define NSD_LOG_SINKTHREAD_H

#include "log/sink/sink_int.h"

void NsSinkServeInit(void);

/*
 * Let workers serve a sink that they do not serve; nothing if there are none,
 * as before the start.
 */
void NsSinkServe(Ns_LogSink sink);

/*
 * Have a request carried out, and wait for that: by a worker, or by those who
 * have requests if none serves the sink.  Its status, and errno.  Not while
 * working for the sink.
 */
Ns_ReturnCode NsSinkRun(Ns_LogSink sink, NsSinkOp *opPtr);

/*
 * For the bell: wake the sinks of the stream that sleep until there is a
 * record.
 */
void NsSinkWake(int stream, int64_t time);

#endif

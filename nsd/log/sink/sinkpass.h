/*
 * sinkpass.h --
 *
 *      A pass: records on their way from the lanes into a sink's buffer.  With
 *      the sink locked.
 */

#ifndef NSD_LOG_SINKPASS_H
#define NSD_LOG_SINKPASS_H

#include "log/sink/sink.h"

/*
 * Read what the lanes have up to now, or to that time if it is later, and carry
 * out requests between.
 */
void NsSinkPass(Ns_LogSink sink, int64_t time);

/*
 * Lanes have something that the sink has not read, or there is a request.
 */
bool NsSinkHasWork(Ns_LogSink sink);

#endif

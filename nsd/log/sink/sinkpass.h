/* SPDX-License-Identifier: MPL-2.0
 * sinkpass.h --
 *
 *      A pass moves records from the lanes into the sink's buffer.  Call with
 *      the sink locked.
 */

#ifndef NSD_LOG_SINKPASS_H
#define NSD_LOG_SINKPASS_H

#include "log/sink/sink.h"

/*
 * Read what the lanes hold up to now, or up to the given time if that is later,
 * and carry out requests in between.
 */
void NsSinkPass(Ns_LogSink sink, int64_t time);

/*
 * The lanes hold something that the sink has not read, or a request waits.
 */
bool NsSinkHasWork(Ns_LogSink sink);

/*
 * The time of the oldest record in the sink's buffer, on disk, and in its
 * lanes, in that order; 0: there is none.
 */
int64_t NsSinkFirstTime(Ns_LogSink sink);

#endif

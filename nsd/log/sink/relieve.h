/*
 * relieve.h --
 *
 *      A sink keeps less log memory.  With the sink locked, or its places lent
 *      and lendLock held.
 */

#ifndef NSD_LOG_RELIEVE_H
#define NSD_LOG_RELIEVE_H

#include "log/sink/sink.h"

/*
 * Move the sink's cursors on, by time, until what is left keeps at most so many
 * bytes: to disk, or, if that cannot be and records may be dropped, so.  How
 * many bytes it keeps less.
 */
uint64_t NsRelieve(Ns_LogSink sink, size_t most, bool mayDrop);

/*
 * With the sink locked: go on reading behind what was given up.
 */
void NsRelieveUseFloors(Ns_LogSink sink);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * relieve.h --
 *
 *      How a sink gives log memory back.  Call with the sink locked, or, while
 *      its places are lent, with the lock of the loan held.
 */

#ifndef NSD_LOG_RELIEVE_H
#define NSD_LOG_RELIEVE_H

#include "log/sink/sink.h"

/*
 * Move the sink's cursors on, oldest records first, until it keeps at most the
 * given number of bytes.  The records go to disk; where there is no room for
 * them, or memory is short even so, and records may be dropped, they are
 * dropped.  Returns how many bytes fewer it keeps.
 */
uint64_t NsRelieve(Ns_LogSink sink, size_t most, bool mayDrop);

/*
 * With the sink locked: continue reading behind what was moved or discarded.
 */
void NsRelieveUseFloors(Ns_LogSink sink);

#endif

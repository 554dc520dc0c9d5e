/* SPDX-License-Identifier: MPL-2.0
 * settle.h --
 *
 *      How far an interrupted write got, found out from the file.
 *
 *      Before a file sink writes, the mapping says where, and which records
 *      (sink_int.h, flush.c).  Only the file knows whether the bytes arrived,
 *      and other processes may append to it at the same time.  So the records
 *      are formatted again and looked for in the file.  Nothing is ever cut
 *      off.
 */

#ifndef NSD_LOG_SETTLE_H
#define NSD_LOG_SETTLE_H

#include "log/sink/sink_int.h"

/*
 * For a sink, locked, that works for the mapping of a dead process.  Its
 * ringPtr, slotPtr and lanes are set, and their places are open at the cursors.
 *
 * Afterwards the places are behind the records in doubt.  Records that the file
 * has are counted as delivered.  The others are in the sink's buffer, after the
 * missing rest of a line that was cut short; one write makes the slot's cursors
 * correct again.  *nPtr grows by the records in the buffer.  False: not now,
 * and errno says why.
 */
bool NsSettleWrite(Ns_LogSink sink, uint64_t *nPtr);

/*
 * For types: a database reports that this lane was written up to that position.
 */
void NsSettleCursor(NsRing *ringPtr, NsRingSink *slotPtr, int64_t lane,
                    int64_t position);

#endif

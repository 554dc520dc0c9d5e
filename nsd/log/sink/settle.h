/*
 * settle.h --
 *
 *      How far the write got in which a process died, as its file shows it.
 *
 *      Before a file sink writes, the mapping says where to, and which records
 *      (sink_int.h, flush.c).  Whether the bytes arrived only the file knows,
 *      and others may append to it at the same time.  So the records are
 *      formatted again and looked for in the file.  Nothing is ever cut off.
 */

#ifndef NSD_LOG_SETTLE_H
#define NSD_LOG_SETTLE_H

#include "log/sink/sink_int.h"

/*
 * For a sink that works for a mapping of a dead process, locked, its ringPtr,
 * slotPtr and lanes set: their places are open at the cursors.
 *
 * Afterwards they are behind the records in doubt.  Those that the file has are
 * counted as delivered, the others are in the sink's buffer, the missing rest
 * of a line that was begun before them; one write makes the slot's cursors tell
 * the truth again.  *nPtr grows by those in the buffer.  False: not now, errno
 * tells why.
 */
bool NsSettleWrite(Ns_LogSink sink, uint64_t *nPtr);

/*
 * For types: a database says that this lane was written up to there.
 */
void NsSettleCursor(NsRing *ringPtr, NsRingSink *slotPtr, int64_t lane,
                    int64_t position);

#endif

/*
 * spillmove.h --
 *
 *      Dead processes' records, moved from memory to disk.
 */

#ifndef NSD_LOG_SPILLMOVE_H
#define NSD_LOG_SPILLMOVE_H

#include "log/ring/ring.h"

/*
 * At the start, of mappings of dead processes, oldest first: together they may
 * need no more than one of them may hold.  The rest moves to disk, for each
 * sink up to its maxspill.  Beyond that it is discarded, but for streams of
 * which nothing may be dropped; the sink's log tells where that was.
 */
void NsSpillMove(NsRing *const *rings, int n);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * spillmove.h --
 *
 *      Moves dead processes' records from memory to disk.
 */

#ifndef NSD_LOG_SPILLMOVE_H
#define NSD_LOG_SPILLMOVE_H

#include "log/ring/ring.h"

/*
 * At the start, with the mappings of dead processes, oldest first: together
 * they may use no more memory than one may.  The rest moves to disk, up to
 * maxspill for each sink.  What exceeds that is discarded, except for streams
 * that must not drop anything; a line in the sink's log marks the gap.
 */
void NsSpillMove(NsRing *const *rings, int n);

#endif

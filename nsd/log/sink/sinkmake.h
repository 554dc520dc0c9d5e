/* SPDX-License-Identifier: MPL-2.0
 * sinkmake.h --
 *
 *      How a single sink is made and freed.
 */

#ifndef NSD_LOG_SINKMAKE_H
#define NSD_LOG_SINKMAKE_H

#include "log/sink/sink.h"

/*
 * Make a sink and open its target; it is not in the table yet.  NULL: see
 * errno.
 */
Ns_LogSink NsSinkMake(const NsSinkSpec *specPtr);

/*
 * Undo that.  The target must be closed.
 */
void NsSinkUnmake(Ns_LogSink *sinkPtr);

/*
 * Free what it needs for its work, except the target.
 */
void NsSinkFreeWork(Ns_LogSink sink);

/*
 * The name of its table, for the mapping; "": none.
 */
const char *NsSinkTableOf(Ns_LogSink sink);

#endif

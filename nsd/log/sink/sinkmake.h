/*
 * sinkmake.h --
 *
 *      A sink by itself: made with its target open, and freed.
 */

#ifndef NSD_LOG_SINKMAKE_H
#define NSD_LOG_SINKMAKE_H

#include "log/sink/sink.h"

/*
 * Make a sink, target open, that is in no table yet; NULL and errno.
 */
Ns_LogSink NsSinkMake(const NsSinkSpec *specPtr);

/*
 * Undo that, target closed.
 */
void NsSinkUnmake(Ns_LogSink *sinkPtr);

/*
 * Free what it needs for its work, beside the target.
 */
void NsSinkFreeWork(Ns_LogSink sink);

/*
 * The name of its table, for the mapping; "": it has none.
 */
const char *NsSinkTableOf(Ns_LogSink sink);

#endif

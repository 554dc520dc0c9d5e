/*
 * unspill.h --
 *
 *      What a sink has on disk, on its way into the buffer.
 */

#ifndef NSD_LOG_UNSPILL_H
#define NSD_LOG_UNSPILL_H

#include "log/sink/sink.h"

/*
 * The sink, locked, puts what its spill file has into its buffer.  True: all of
 * it.
 */
bool NsSinkUnspill(Ns_LogSink sink);

#endif

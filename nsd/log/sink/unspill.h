/* SPDX-License-Identifier: MPL-2.0
 * unspill.h --
 *
 *      Brings what a sink has on disk into its buffer.
 */

#ifndef NSD_LOG_UNSPILL_H
#define NSD_LOG_UNSPILL_H

#include "log/sink/sink.h"

/*
 * Put the records of the spill file into the buffer of the sink, which is
 * locked.  True: all of them.
 */
bool NsSinkUnspill(Ns_LogSink sink);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sinkcheck.h --
 *
 *      What holds for a sink whenever no thread works for it.  The server stops
 *      if one of these conditions fails.
 */

#ifndef NSD_LOG_SINKCHECK_H
#define NSD_LOG_SINKCHECK_H

#include "log/sink/sink.h"

/*
 * Call with the sink locked and its places not lent: right after locking, and
 * right before unlocking.
 */
void NsSinkCheckLocked(Ns_LogSink sink);

/*
 * Call with sleep.lock held, after the state or the list of requests has
 * changed.
 */
void NsSinkCheckSleepLocked(Ns_LogSink sink);

#endif

/*
 * sinkcheck.h --
 *
 *      What holds for a sink whenever nobody works for it.  A server stops
 *      where it does not.
 */

#ifndef NSD_LOG_SINKCHECK_H
#define NSD_LOG_SINKCHECK_H

#include "log/sink/sink.h"

/*
 * With the sink locked and its places not lent: when the lock has been taken,
 * and before it is given back.
 */
void NsSinkCheckLocked(Ns_LogSink sink);

/*
 * With sleep.lock held: after a change of the state, or of the requests.
 */
void NsSinkCheckSleepLocked(Ns_LogSink sink);

#endif

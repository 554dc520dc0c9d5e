/*
 * flush.h --
 *
 *      A sink's buffer on its way to the target.  With the sink locked.
 */

#ifndef NSD_LOG_FLUSH_H
#define NSD_LOG_FLUSH_H

#include "log/sink/sink.h"

/*
 * NsDeliverFlush, which leaves it to its caller to say that writing works
 * again.
 */
bool NsFlushOut(Ns_LogSink sink);

/*
 * What is written is on disk, or committed.  False: errno tells why not;
 * ENOTSUP: that cannot be with such a target.
 */
bool NsDeliverSync(Ns_LogSink sink);

/*
 * For types: the target takes all but a row, which is left out for ever.
 */
void NsDeliverRefused(Ns_LogSink sink, const char *reason);

/*
 * The target cannot be reached: an episode of trying again begins, or goes on.
 */
void NsDeliverFailed(Ns_LogSink sink, int reason);

/*
 * Something about the state of the sink: in the system log, or, when that is
 * the one that cannot be written, on standard error.
 */
void NsDeliverTell(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt,
                   ...) NS_GNUC_PRINTF(3, 4);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * flush.h --
 *
 *      How a sink's buffer gets to its target.  Call with the sink locked.
 */

#ifndef NSD_LOG_FLUSH_H
#define NSD_LOG_FLUSH_H

#include "log/sink/sink.h"

/*
 * Like NsDeliverFlush, but the caller has to report that writing works again.
 */
bool NsFlushOut(Ns_LogSink sink);

/*
 * Ensure that what is written is on disk, or committed.  False: errno says why
 * not; ENOTSUP: such a target cannot do that.
 */
bool NsDeliverSync(Ns_LogSink sink);

/*
 * For types: the target has refused a row, which is left out for good.
 */
void NsDeliverRefused(Ns_LogSink sink, const char *reason);

/*
 * For types: what is to be said of the failure under way beyond errno, which
 * stays; "": nothing.
 */
void NsDeliverComplain(Ns_LogSink sink, const char *complaint);

/*
 * The target cannot be reached: begin or continue an episode of retries.
 */
void NsDeliverFailed(Ns_LogSink sink, int reason);

/*
 * Report something about the sink's state in the system log, or, when that is
 * the log that cannot be written, on standard error.
 */
void NsDeliverTell(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt,
                   ...) NS_GNUC_PRINTF(3, 4);

#endif

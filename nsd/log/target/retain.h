/* SPDX-License-Identifier: MPL-2.0
 * retain.h --
 *
 *      How long the backups of a log are kept, whatever their number: until
 *      they are too old, take too much room together, or room runs short.
 */

#ifndef NSD_LOG_RETAIN_H
#define NSD_LOG_RETAIN_H

#include "log/sink/sink_int.h"

/*
 * Delete what the settings of the sink, which is locked, do not keep, and set
 * when to look again (retainDue).
 */
void NsRetainBackups(Ns_LogSink sink);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sinkfd.h --
 *
 *      The descriptor that a sink writes to.  Call with the sink locked.
 */

#ifndef NSD_LOG_SINKFD_H
#define NSD_LOG_SINKFD_H

#include "log/sink/sink.h"

/*
 * Open the target again.  False: errno says why, and the sink keeps the old
 * descriptor.  IfDue: reopen if that had to wait until the buffer was written
 * (isReopenDue).
 */
bool NsSinkFdReopen(Ns_LogSink sink);
void NsSinkFdReopenIfDue(Ns_LogSink sink);

/*
 * The sink has another descriptor now, or none: close this one.  No unfinished
 * line remains in it, and what it received is synced if the settings ask for
 * that.
 */
void NsSinkFdLeave(Ns_LogSink sink, int fd);

/*
 * Open the file of a descriptor a second time, whatever its name is by now.
 * -1: errno says why not.
 */
int NsSinkFdOpenAgain(int fd, int flags);

#endif

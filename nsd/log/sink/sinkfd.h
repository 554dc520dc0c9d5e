/*
 * sinkfd.h --
 *
 *      The descriptor that a sink writes to.  With the sink locked.
 */

#ifndef NSD_LOG_SINKFD_H
#define NSD_LOG_SINKFD_H

#include "log/sink/sink.h"

/*
 * Open the target anew.  False: errno tells why, and the sink goes on with the
 * old one.  IfDue: when the buffer is written and it was to wait for that
 * (isReopenDue).
 */
bool NsSinkFdReopen(Ns_LogSink sink);
void NsSinkFdReopenIfDue(Ns_LogSink sink);

/*
 * The sink has another file now, or none: close this one, of which no line is
 * left unfinished, and what it got is as safe as was asked for.
 */
void NsSinkFdLeave(Ns_LogSink sink, int fd);

/*
 * The file of a descriptor opened once more, whatever its name is by now; -1:
 * errno tells why not.
 */
int NsSinkFdOpenAgain(int fd, int flags);

#endif

/*
 * recover.h --
 *
 *      What earlier processes of this server handed over and did not write. See
 *      sink.h for the beginning and end of it.
 */

#ifndef NSD_LOG_RECOVER_H
#define NSD_LOG_RECOVER_H

#include "log/sink/sink.h"

/*
 * Before a sink begins: what earlier processes left for it is its own.  Then,
 * for one that no log thread serves: write that now.  What cannot be written is
 * for its thread, if it gets one, or for the next start.
 */
void NsRecoverClaim(Ns_LogSink sink);
void NsRecoverHere(Ns_LogSink sink, bool getsThread);

/*
 * Now and then, in one thread: sinks claim what processes left that overlapped
 * with this one, and were killed.
 */
void NsRecoverLate(void);

/*
 * True, once: there may be room for a mapping that lacks a file.
 */
bool NsRecoverMadeRoom(void);

/*
 * Log thread, sink not locked: write what is left for it.  False: it cannot be
 * written now.
 */
bool NsRecoverClaims(Ns_LogSink sink);

/*
 * The sink will not: the next process may.
 */
void NsRecoverDropClaims(Ns_LogSink sink);

#endif

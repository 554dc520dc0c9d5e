/* SPDX-License-Identifier: MPL-2.0
 * recover.h --
 *
 *      What earlier processes of this server accepted and did not write.  Its
 *      start and end are in sink.h.
 */

#ifndef NSD_LOG_RECOVER_H
#define NSD_LOG_RECOVER_H

#include "log/sink/sink.h"

/*
 * Claim, before a sink begins: it takes what earlier processes left for it.
 * Here, for a sink that no log thread serves: write that now.  What cannot be
 * written is left to its thread, if it gets one, or to the next start.
 */
void NsRecoverClaim(Ns_LogSink sink);
void NsRecoverHere(Ns_LogSink sink, bool getsThread);

/*
 * Call now and then, from one thread: sinks claim the leftovers of processes
 * that ran at the same time as this one and were killed.
 */
void NsRecoverLate(void);

/*
 * True, once: there may be room for the file of a mapping that has none.
 */
bool NsRecoverMadeRoom(void);

/*
 * For a log thread, with the sink unlocked: write what is left for the sink.
 * False: it cannot be written now.
 */
bool NsRecoverClaims(Ns_LogSink sink);

/*
 * Release what the sink has claimed: the next process may take it.
 */
void NsRecoverDropClaims(Ns_LogSink sink);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sinktable.h --
 *
 *      The table of sinks, and the mapping that they read.  Its public part is
 *      in sink.h.
 */

#ifndef NSD_LOG_SINKTABLE_H
#define NSD_LOG_SINKTABLE_H

#include "log/sink/sink.h"

/*
 * Guards the growth of the table, and routes.
 */
extern Ns_Mutex nsSinksLock;

void NsSinkTableInit(void);

/*
 * Put the sink at sink->index, with nsSinksLock held.  A sink that was there
 * cannot be found any more.
 */
void NsSinkPutIntoTableLocked(Ns_LogSink sink);

/*
 * The number of places taken; whether the sink is in the table, or only works
 * for another one.
 */
int  NsSinkCount(void);
bool NsSinkIsInTable(Ns_LogSink sink);

/*
 * The list of removed sinks, once no thread can look at them.
 */
Ns_LogSink NsSinkTakeUnlinked(void);

/*
 * Whether the system log can report the sink's failure: a log cannot report its
 * own, unless another sink takes the same stream.
 */
bool NsSinkIsHeard(Ns_LogSink sink);

/*
 * The present mapping; NULL before NsSinkUseRing.
 */
NsRing *NsSinkRing(void);
void    NsSinkSetRing(NsRing *ringPtr);

#endif

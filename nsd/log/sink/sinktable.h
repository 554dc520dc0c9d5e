/*
 * sinktable.h --
 *
 *      The table of sinks, and the mapping that they read.  What sink.h
 *      declares of it is for everybody.
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
 * Put the sink at sink->index, with nsSinksLock held; what was there is not
 * found any more.
 */
void NsSinkPutIntoTableLocked(Ns_LogSink sink);

/*
 * How many places are taken; whether the sink is at its place, or only works
 * for another one.
 */
int  NsSinkCount(void);
bool NsSinkIsInTable(Ns_LogSink sink);

/*
 * The sinks that were removed, a list, once nobody can look at them.
 */
Ns_LogSink NsSinkTakeUnlinked(void);

/*
 * A log cannot report its own failure, unless another one hears of it, too.
 */
bool NsSinkIsHeard(Ns_LogSink sink);

/*
 * The present mapping; NULL before NsSinkUseRing.
 */
NsRing *NsSinkRing(void);
void    NsSinkSetRing(NsRing *ringPtr);

#endif

/*
 * sinkstate.h --
 *
 *      The settings of a sink: new ones, and what they let pass.
 */

#ifndef NSD_LOG_SINKSTATE_H
#define NSD_LOG_SINKSTATE_H

#include "log/sink/sink.h"

/*
 * When it is time for a roll at that hour; 0: never.
 */
time_t NsSinkNextRoll(int hour, time_t now);

/*
 * Take over a copy of the settings.
 */
void NsSinkApplySettings(Ns_LogSink sink, const NsSinkSettings *settingsPtr);

/*
 * For a later process that finds the mapping but does not have the sink.
 */
void NsSinkNoteSettings(Ns_LogSink sink);

/*
 * The settings let the record pass.  The sink is locked, or its places are lent
 * and lendLock is held.
 */
bool NsSinkWantsRecord(Ns_LogSink sink, Ns_LogStream stream,
                       const Ns_LogRecord *recordPtr);

#endif

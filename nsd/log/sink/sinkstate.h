/* SPDX-License-Identifier: MPL-2.0
 * sinkstate.h --
 *
 *      The settings of a sink: changing them, and what they let pass.
 */

#ifndef NSD_LOG_SINKSTATE_H
#define NSD_LOG_SINKSTATE_H

#include "log/sink/sink.h"

/*
 * The time of the next roll by the calendar; 0: never.
 */
time_t NsSinkNextRoll(const NsSinkSettings *settingsPtr, time_t now);

/*
 * Replace the settings by a copy of these.
 */
void NsSinkApplySettings(Ns_LogSink sink, const NsSinkSettings *settingsPtr);

/*
 * Copy settings to the mapping, for a later process that does not have the
 * sink.
 */
void NsSinkNoteSettings(Ns_LogSink sink);

/*
 * Whether the settings let the record pass.  Call with the sink locked, or,
 * while its places are lent, with the lock of the loan held.
 */
bool NsSinkWantsRecord(Ns_LogSink sink, Ns_LogStream stream,
                       const Ns_LogRecord *recordPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * unit.h --
 *
 *      Log units: one request's events, collected by its thread, and handed to
 *      the stream `operation` as one record when the request ends.
 *
 *      Nothing is collected while no sink wants the stream.
 */

#ifndef NSD_LOG_UNIT_H
#define NSD_LOG_UNIT_H

#include "log/stream/kinds.h"
#include "nsaccess.h"
#include "nslog.h"
#include "nslogstream.h"

void NsUnitInit(void);

/*
 * The calling thread begins a request.
 */
void NsUnitBegin(void);

/*
 * Add an event to the request of the calling thread, if it has begun
 * one.  Kinds are words like "log" or "audit"; what is a script's choice.
 */
void NsUnitEvent(const char *kind, const char *text, size_t length);

/*
 * An entry that the thread logs is also an event.
 */
void NsUnitNoteEntry(Ns_LogSeverity severity, const char *message,
                     size_t length);

/*
 * True: events are being collected in this thread.
 */
bool NsUnitIsOpen(void);

/*
 * False: no sink wants units.
 */
bool NsUnitIsWanted(void);

/*
 * The request ended, with events or, answered by a driver thread, without; or
 * it is at an earlier stage, and what is known of it goes to the log in case
 * the process dies.
 */
void NsUnitEnd(const Ns_Access *accessPtr);

/*
 * The properties of a record that sinks ask for.
 */
int64_t NsUnitNanos(const Ns_LogRecord *recordPtr);
bool    NsUnitHasError(const Ns_LogRecord *recordPtr);

/*
 * The record without events of these kinds, its bytes in *bufferPtr, which is
 * enlarged with ns_realloc.
 */
Ns_LogRecord NsUnitWithout(const Ns_LogRecord *recordPtr,
                           const NsKinds *kindsPtr, char **bufferPtr,
                           size_t *bufferBytesPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * system.h --
 *
 *      The stream of the system log: entries as records, and as lines.
 */

#ifndef NSD_LOG_SYSTEM_H
#define NSD_LOG_SYSTEM_H

#include "log/stream/line.h"
#include "nslog.h"
#include "nslogstream.h"

void NsSystemLogInit(void);

/*
 * Put the entry into the stream, or, where there are no lanes, write it to
 * standard error.
 */
void NsSystemLogWrite(const NsLogEntry *entryPtr);

/*
 * The entry as a record of the stream; the caller frees its bytes, the result.
 */
char *NsSystemLogEncode(const NsLogEntry *entryPtr, Ns_LogRecord *recordPtr);

/*
 * Take a record of the stream apart.  False: it is of another stream, or
 * damaged. The entry points into the record.
 */
bool NsSystemLogDecode(const Ns_LogRecord *recordPtr, Ns_LogStream stream,
                       NsLogEntry *entryPtr);

/*
 * Standard error is about to become the log file: keep what it is now, unless
 * it is nobody's.
 */
void NsSystemLogKeepStderr(bool isDetached);

/*
 * Past the log, when it cannot be written: a line on standard error as the
 * process got it, if somebody reads that.
 */
void NsSystemLogToStderr(Ns_LogSeverity severity, const char *message);

/*
 * Write a line of the system log at once, past everything that may wait for
 * memory or for a log thread: for those who end the process.
 */
void NsLogWriteNow(Ns_LogSeverity severity, const char *message);

#endif

/*
 * systemlog.h --
 *
 *      The system log: a stream of entries, and the sink that was its file.
 */

#ifndef NSD_LOG_SYSTEMLOG_H
#define NSD_LOG_SYSTEMLOG_H

#include "log/ring/ring.h"
#include "log/stream/line.h"
#include "nslog.h"
#include "nslogstream.h"

/*
 * Write the entry, or hand it to the log thread.
 */
void NsSystemLogWrite(const NsLogEntry *entryPtr);

/*
 * Fill in an entry of the calling thread, now.
 */
void NsSystemLogDescribe(NsLogEntry *entryPtr, Ns_LogSeverity severity,
                         const char *message, size_t length);

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
 * Write out what was handed over, as far as that can be had within two seconds.
 */
void NsSystemLogDrain(void);

/*
 * Past the log, when it cannot be written: a line on standard error as the
 * process got it, if somebody reads that.
 */
void NsSystemLogToStderr(Ns_LogSeverity severity, const char *message);

/*
 * How lines look; constant after NsLogConfigure.
 */
const NsLogStyle *NsSystemLogStyle(void);

/*
 * Which mappings are this server's; constant after NsLogConfigure.
 */
const NsRingKey *NsSystemLogRingKey(void);

#endif

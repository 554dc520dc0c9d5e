/*
 * systemlog.h --
 *
 *      Where entries of the system log go: a file, or standard error.
 */

#ifndef NSD_LOG_SYSTEMLOG_H
#define NSD_LOG_SYSTEMLOG_H

#include "log/line.h"

/*
 * Write the entry, or hand it to the log thread.
 */
void NsSystemLogWrite(const NsLogEntry *entryPtr);

/*
 * Wait until what was handed over has been written.
 */
void NsSystemLogDrain(void);

/*
 * How lines look; constant after NsLogConfigure.
 */
const NsLogStyle *NsSystemLogStyle(void);

/*
 * The process that lines name.
 */
int NsSystemLogPid(void);

/*
 * Rename and reopen.  False: the file could not be opened again.
 */
bool NsSystemLogRoll(void);

#endif

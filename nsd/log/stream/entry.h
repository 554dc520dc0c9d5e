/*
 * entry.h --
 *
 *      The way of an entry through the thread that logs it.
 *
 *      Each thread has a buffer of its own.  An entry passes straight through
 *      it, to the filters and the file, unless the thread holds entries back.
 */

#ifndef NSD_LOG_ENTRY_H
#define NSD_LOG_ENTRY_H

#include "nslog.h"

void NsEntryInit(void);

/*
 * Log a message as it is, without formatting.
 */
void NsEntryLog(Ns_LogSeverity severity, const char *message, size_t length);

/*
 * From Defer on what this thread logs is kept; SendDeferred sends it on.  They
 * nest.  For threads that work for a sink, and hold its lock.
 */
void NsEntryDefer(void);
void NsEntrySendDeferred(void);
bool NsEntryIsDeferring(void);

/*
 * Call the procedure for Fatal messages.
 */
void NsEntryTellFatal(const char *message, size_t length);

/*
 * Keep entries of this thread from now on; send the kept ones on; send them on
 * and stop keeping.  At its exit a thread sends on what it kept.
 */
void NsEntryHold(void);
void NsEntryFlush(void);
void NsEntryRelease(void);

/*
 * How many are kept; their lines, not sanitized; forget all but the oldest n.
 */
int  NsEntryCount(void);
void NsEntryAppendLines(Ns_DString *dsPtr);
void NsEntryTruncate(int n);

#endif

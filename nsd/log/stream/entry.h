/* SPDX-License-Identifier: MPL-2.0
 * entry.h --
 *
 *      The way of an entry through the thread that logs it.
 *
 *      Each thread has a buffer of its own.  An entry passes straight through
 *      it, to the filters and the file, unless the thread holds entries back.
 */

#ifndef NSD_LOG_ENTRY_H
#define NSD_LOG_ENTRY_H

#include "log/stream/line.h"
#include "nslog.h"

/*
 * What happens to an entry besides the filters.
 */
typedef struct NsEntryProcs {
    /* The thread logs it. */
    void (*noteProc)(Ns_LogSeverity severity, const char *message,
                     size_t length);

    /* It goes to the log. */
    void (*writeProc)(const NsLogEntry *entryPtr);

    /* The process ends: write out what was handed over, as far as that can be
     * had within two seconds. */
    void (*drainProc)(void);
} NsEntryProcs;

void NsEntryInit(const NsEntryProcs *procsPtr);

/*
 * Fill in an entry of the calling thread, now.
 */
void NsEntryDescribe(NsLogEntry *entryPtr, Ns_LogSeverity severity,
                     const char *message, size_t length);

/*
 * Log a message as it is, without formatting.
 */
void NsEntryLog(Ns_LogSeverity severity, const char *message, size_t length);

/*
 * From now on the messages of all entries are without the last part of numeric
 * addresses (addresses.h).
 */
void NsEntryHideAddresses(bool hides);

/*
 * From Defer on what this thread logs is kept; SendDeferred sends it on, with
 * the times at which it was logged.  They nest.  For threads that work for a
 * sink, and hold its lock.
 */
void NsEntryDefer(void);
void NsEntrySendDeferred(void);
bool NsEntryIsDeferring(void);

/*
 * Called with each Fatal message before it is written: no filter sees those.
 * NULL: nobody.  Tell calls the procedure.
 */
typedef void NsLogFatalProc(const char *message, size_t length);
void         NsLogSetFatalProc(NsLogFatalProc *proc);
void         NsEntryTellFatal(const char *message, size_t length);

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

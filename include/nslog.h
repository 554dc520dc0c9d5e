/* SPDX-License-Identifier: MPL-2.0
 * nslog.h --
 *
 *      The system log: severities, entries, filters, rolling.
 *
 *      An entry of an enabled severity passes the calling thread's buffer and
 *      the filters, then goes to the log file.  All functions may be called
 *      from any thread, at any time, with any lock held that is not the log's
 *      own: none of them waits for the disk while `asynclogwriter` is on.
 */

#ifndef NSLOG_H
#define NSLOG_H

#include "nstypes.h"

/*
 * Log a message in the manner of printf.  Severities that are off, and numbers
 * that were never created, cost a branch.  The message may have any length; a
 * newline is added to it.  The second form leaves *apPtr undefined.
 */
NS_EXTERN void Ns_Log(Ns_LogSeverity severity, const char *fmt, ...)
    NS_GNUC_PRINTF(2, 3);
NS_EXTERN void Ns_VALog(Ns_LogSeverity severity, const char *fmt,
                        va_list *apPtr) NS_GNUC_PRINTF(2, 0);

/*
 * Log with severity Fatal, write out what is waiting, and end the process with
 * status 1.  Exit handlers do not run.
 */
NS_EXTERN void Ns_Fatal(const char *fmt, ...)
    NS_GNUC_PRINTF(1, 2) NS_GNUC_NORETURN;

/*
 * The number of the severity of that name, which is created, and off, if there
 * is none.  The name is copied.  Creating more than 640 is fatal.
 */
NS_EXTERN Ns_LogSeverity Ns_CreateLogSeverity(const char *name);

/*
 * Kinds of debug messages that the server has itself; `Debug(task)` and so on.
 */
NS_EXTERN Ns_LogSeverity Ns_LogTaskDebug;
NS_EXTERN Ns_LogSeverity Ns_LogRequestDebug;
NS_EXTERN Ns_LogSeverity Ns_LogConnchanDebug;
NS_EXTERN Ns_LogSeverity Ns_LogUrlspaceDebug;
NS_EXTERN Ns_LogSeverity Ns_LogAccessDebug;
NS_EXTERN Ns_LogSeverity Ns_LogTimeoutDebug;

/*
 * Name and state.  For numbers out of range: "Unknown", and on.
 */
NS_EXTERN const char *Ns_LogSeverityName(Ns_LogSeverity severity);
NS_EXTERN int         Ns_LogSeverityEnabled(Ns_LogSeverity severity);

/*
 * Switch a severity that exists; Fatal stays on.  The state before.
 */
NS_EXTERN bool Ns_LogSeveritySetEnabled(Ns_LogSeverity severity, bool enabled);

/*
 * Call proc for each entry but Fatal ones, newest filter first, in the logging
 * thread.  The message is not null-terminated.  A result other than NS_OK skips
 * the filters that follow.  What proc itself logs reaches no filter.
 *
 * Remove waits until running calls of proc have returned, unless one of them is
 * its caller, and then calls freeProc (may be NULL) with arg.  Removing what is
 * not there does nothing.
 */
NS_EXTERN void Ns_AddLogFilter(Ns_LogFilter *proc, void *arg,
                               Ns_Callback *freeProc);
NS_EXTERN void Ns_RemoveLogFilter(Ns_LogFilter *proc, void *arg);

/*
 * Length of the character that the bytes begin with, if it is UTF-8 (RFC 3629)
 * and may be shown as it is; 0 if it is a control character, ends lines
 * somewhere, changes the order of others, cannot be seen, or is none.  All that
 * writes a client's bytes into a log asks it.
 */
NS_EXTERN size_t Ns_LogCharBytes(const char *bytes, size_t length);

/*
 * Write the bytes as a string of JSON, quotes included, and return its length;
 * of one that is greater than room the buffer is not used.  Bytes that are not
 * UTF-8 become U+FFFD, and characters that may not be shown become escapes.
 */
NS_EXTERN size_t Ns_LogJsonString(char *buffer, size_t room, const char *bytes,
                                  size_t length);

/*
 * The time as "[21/Nov/2026:00:07:00 +0000]"; Ns_LogTime2 leaves the offset
 * from UTC out if withOffset is 0.  The buffer has at least 41 bytes and is
 * returned.
 */
NS_EXTERN char *Ns_LogTime(char *timeBuf);
NS_EXTERN char *Ns_LogTime2(char *timeBuf, int withOffset);

/*
 * Roll the system log: number the backups, reopen the file.  NS_ERROR: the file
 * could not be opened again, and logging continues into the old one.
 */
NS_EXTERN int Ns_LogRoll(void);

/*
 * Shift the backups FILE.000, FILE.001 ... up by one, delete the one that would
 * become number max, and rename FILE to FILE.000.  Files that do not exist are
 * not an error.
 */
NS_EXTERN int Ns_RollFile(const char *file, int max);

/*
 * Delete the oldest files whose names are FILE, a dot and more, all but the max
 * newest, and never one that a log sink of this process has open.
 */
NS_EXTERN int Ns_PurgeFiles(const char *file, int max);

/*
 * Rename FILE to FILE.DATE-TIME, and keep max of these.
 */
NS_EXTERN int Ns_RollFileByDate(const char *file, int max);

/*
 * Rename FILE to FILE.SUFFIX and keep max of the files whose suffixes the
 * format can have made (.NNN and .gz may follow), and what sinks have open;
 * format is for strftime, and the suffix has `-` for `/`.  NULL or empty: as
 * Ns_RollFile.  A file of that name is itself rolled first.
 */
NS_EXTERN int Ns_RollFileByFormat(const char *file, const char *format,
                                  int max);

/*
 * The same, by format or (NULL) by number, for a file that is open:
 * closeProc, rolling, openProc, the procedures with arg.  When closeProc fails
 * nothing else is done; openProc is called also when rolling has failed.
 * NS_ERROR: one of the three failed.
 */
NS_EXTERN Ns_ReturnCode Ns_RollFileCondFmt(Ns_LogCallbackProc *openProc,
                                           Ns_LogCallbackProc *closeProc,
                                           void *arg, const char *file,
                                           const char *format, TCL_SIZE_T max);

/*
 * Log an address and its port, after a text.
 */
NS_EXTERN void Ns_LogSockaddr(Ns_LogSeverity severity, const char *prefix,
                              const struct sockaddr *saPtr);

/*
 * Log, as Deprecated, that a parameter of the configuration has got another
 * name; explanation may be NULL.
 */
NS_EXTERN void Ns_LogDeprecatedParameter(const char *oldSection,
                                         const char *oldKey,
                                         const char *newSection,
                                         const char *newKey,
                                         const char *explanation);

/*
 * Log, as Deprecated, that the command words are; alternative and
 * explanation may be NULL.
 */
NS_EXTERN void Ns_LogDeprecated(Tcl_Obj *const *objv, int objc,
                                const char *alternative,
                                const char *explanation);

/*
 * Hand a copy of the bytes to the log thread, which appends them to
 * fd.  NS_ERROR: the log thread is off, and the bytes have been written by the
 * caller.
 */
NS_EXTERN int NsAsyncWrite(int fd, const char *buffer, size_t nbyte);

/*
 * Write out all that waits, and let callers write themselves from now on; and
 * back again, if asynclogwriter is configured.
 */
NS_EXTERN void NsAsyncWriterQueueDisable(int isShutdown);
NS_EXTERN void NsAsyncWriterQueueEnable(void);

/*
 * Obsolete; calling them is fatal.
 */
NS_EXTERN void Ns_SetLogFlushProc(Ns_LogFlushProc *proc);
NS_EXTERN void Ns_SetNsLogProc(Ns_LogProc *proc);

#endif

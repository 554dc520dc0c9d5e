/*
 * nslog.h --
 *
 *      The system log: severities, entries, filters, rolling.
 */

#ifndef NSLOG_H
#define NSLOG_H

#include "nstypes.h"


/*
 * Log formatted message with severity.
 */
NS_EXTERN void Ns_Log(Ns_LogSeverity severity, const char *fmt, ...) NS_GNUC_PRINTF(2, 3);
NS_EXTERN void Ns_VALog(Ns_LogSeverity, const char *, va_list *);

/*
 * Log and end the process.
 */
NS_EXTERN void Ns_Fatal(const char *fmt, ...) NS_GNUC_PRINTF(1, 2) NS_GNUC_NORETURN;

/*
 * Create/lookup, name, state.
 */
NS_EXTERN Ns_LogSeverity Ns_CreateLogSeverity(const char *);
NS_EXTERN const char *Ns_LogSeverityName(Ns_LogSeverity);
NS_EXTERN int Ns_LogSeverityEnabled(Ns_LogSeverity);

/*
 * Filter on all entries.
 */
NS_EXTERN void Ns_AddLogFilter(Ns_LogFilter *, void *, Ns_Callback *);
NS_EXTERN void Ns_RemoveLogFilter(Ns_LogFilter *, void *);

/*
 * Time stamp text into ≥41-byte buffer.
 */
NS_EXTERN char *Ns_LogTime(char *);
NS_EXTERN char *Ns_LogTime2(char *, int);

/*
 * Roll system log.
 */
NS_EXTERN int Ns_LogRoll(void);

/*
 * Shift numbered backups, rename file.
 */
NS_EXTERN int Ns_RollFile(const char *, int);

/*
 * Keep newest files with that prefix.
 */
NS_EXTERN int Ns_PurgeFiles(const char *, int);
NS_EXTERN int Ns_RollFileByDate(const char *, int);

/*
 * Notice about deprecated command words.
 */
NS_EXTERN void Ns_LogDeprecated(Tcl_Obj *const *, int, const char *, const char *);

/*
 * Obsolete; fatal.
 */
NS_EXTERN void Ns_SetLogFlushProc(Ns_LogFlushProc *);
NS_EXTERN void Ns_SetNsLogProc(Ns_LogProc *);

#endif

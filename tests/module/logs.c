/* SPDX-License-Identifier: MPL-2.0
 * logs.c --
 *
 *      A module that uses the C API of logging as modules do: severities,
 *      filters, time stamps, rolling, deprecation, errors of scripts, bytes for
 *      a descriptor, and the ways to end the process with a message.
 */

#include "ns.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

/*
 * Names and types as modules know them: what differs does not compile.
 */
static void (*const logProc)(Ns_LogSeverity, const char *, ...) = Ns_Log;
static void (*const vaLogProc)(Ns_LogSeverity, const char *,
                               va_list *) = Ns_VALog;
static Ns_LogSeverity (*const createProc)(const char *) = Ns_CreateLogSeverity;
static const char *(*const nameProc)(Ns_LogSeverity) = Ns_LogSeverityName;
static int (*const enabledProc)(Ns_LogSeverity) = Ns_LogSeverityEnabled;
static void (*const addProc)(Ns_LogFilter *, void *,
                             Ns_Callback *) = Ns_AddLogFilter;
static void (*const removeProc)(Ns_LogFilter *, void *) = Ns_RemoveLogFilter;
static char *(*const timeProc)(char *) = Ns_LogTime;
static char *(*const time2Proc)(char *, int) = Ns_LogTime2;
static int (*const rollProc)(void) = Ns_LogRoll;
static int (*const rollFileProc)(const char *, int) = Ns_RollFile;
static int (*const purgeProc)(const char *, int) = Ns_PurgeFiles;
static int (*const rollByDateProc)(const char *, int) = Ns_RollFileByDate;
static int (*const writeProc)(int, const char *, size_t) = NsAsyncWrite;
static void (*const disableProc)(int) = NsAsyncWriterQueueDisable;
static void (*const enableProc)(void) = NsAsyncWriterQueueEnable;
static void (*const flushProc)(Ns_LogFlushProc *) = Ns_SetLogFlushProc;
static void (*const setProc)(Ns_LogProc *) = Ns_SetNsLogProc;
static char *(*const fileProc)(void) = Ns_InfoErrorLog;
static const char *(*const errorProc)(Tcl_Interp *) = Ns_TclLogError;
static const char *(*const errorInfoProc)(Tcl_Interp *,
                                          const char *) = Ns_TclLogErrorInfo;
static const char *(*const errorRequestProc)(Tcl_Interp *,
                                             Ns_Conn *) = Ns_TclLogErrorRequest;

/*
 * What a filter of this module has seen, as a list for scripts.
 */
typedef struct Seen {
    Ns_Mutex   lock; /* Guards the rest. */
    Ns_Cond    changed;
    Ns_DString entries;
    int        nFreed;
    bool       isHeld; /* Calls of the holding filter do not return. */
    bool       isInside;
} Seen;

static Seen seen;
static char recording[] = "records", failing[] = "fails", holding[] = "holds";

static Ns_TclTraceProc AddCommands;
static Tcl_ObjCmdProc  LogsObjCmd;
static Ns_LogFilter    Filter;
static Ns_Callback     CountFreed;
static char           *FilterOf(Tcl_Obj *nameObj);
static void            LogVa(Ns_LogSeverity severity, const char *fmt, ...);
static Ns_ThreadProc   RemoveHolding;
static Ns_Callback     AtExit;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    Ns_MutexInit(&seen.lock);
    Ns_DStringInit(&seen.entries);
    Ns_RegisterAtExit(AtExit, NULL);
    return Ns_TclRegisterTrace(server, AddCommands, NULL, NS_TCL_TRACE_CREATE);
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    Tcl_CreateObjCommand(interp, "logs", LogsObjCmd, arg, NULL);
    return TCL_OK;
}

/*
 * logs option ?arg ...?
 */
static int
LogsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *CONST objv[])
{
    enum {
        LOG,
        VALOG,
        SEVERITY,
        ADD,
        REMOVE,
        SEEN,
        WAITS,
        TIME,
        ROLL,
        DATE,
        DEPRECATED,
        ERROR,
        WRITE,
        QUEUE,
        END
    };
    static const char *const options[] = {
        "log",   "valog", "severity", "add",  "remove",     "seen",
        "waits", "time",  "roll",     "date", "deprecated", "error",
        "write", "queue", "end",      NULL};
    const char *word = objc > 2 ? Tcl_GetString(objv[2]) : "";
    char        zoned[41], plain[41], again[41];
    int         option, number = 0;
    Ns_Thread   thread;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], options, "option", 0, &option)
        != TCL_OK) {
        return TCL_ERROR;
    }
    switch (option) {
    case LOG:
        logProc(Warning, "%s|%5d|%%|%.2f", word, 42, 1.5);
        break;
    case VALOG:
        LogVa(Warning, "%s|%5d|%%|%.2f", word, 42, 1.5);
        break;
    case SEVERITY:
        /* By name, or one that no name stands for. */
        if (objc > 3 && Tcl_GetIntFromObj(interp, objv[3], &number) != TCL_OK) {
            return TCL_ERROR;
        }
        if (objc == 3) {
            number = (int) createProc(word);
        }
        Ns_TclPrintfResult(interp, "%d %s %d", number,
                           nameProc((Ns_LogSeverity) number),
                           enabledProc((Ns_LogSeverity) number));
        break;
    case ADD:
        addProc(Filter, FilterOf(objv[2]), CountFreed);
        break;
    case REMOVE:
        removeProc(Filter, FilterOf(objv[2]));
        break;
    case SEEN:
        Ns_MutexLock(&seen.lock);
        Ns_TclPrintfResult(interp, "%d %s", seen.nFreed,
                           Ns_DStringValue(&seen.entries));
        Ns_DStringSetLength(&seen.entries, 0);
        seen.nFreed = 0;
        Ns_MutexUnlock(&seen.lock);
        break;
    case WAITS:
        /* Another thread logs and stays inside the filter meanwhile. */
        Ns_MutexLock(&seen.lock);
        while (!seen.isInside) {
            Ns_CondWait(&seen.changed, &seen.lock);
        }
        Ns_MutexUnlock(&seen.lock);
        Ns_ThreadCreate(RemoveHolding, NULL, 0, &thread);
        Ns_MutexLock(&seen.lock);
        number = seen.nFreed;
        seen.isHeld = false;
        Ns_CondBroadcast(&seen.changed);
        Ns_MutexUnlock(&seen.lock);
        Ns_ThreadJoin(&thread, NULL);
        Ns_TclPrintfResult(interp, "%d %d", number, seen.nFreed);
        seen.nFreed = 0;
        break;
    case TIME:
        timeProc(zoned);
        time2Proc(again, 1);
        Ns_TclPrintfResult(interp, "%s %s %d", zoned, time2Proc(plain, 0),
                           STREQ(again, zoned));
        break;
    case ROLL:
        if (objc == 2) {
            Ns_TclPrintfResult(interp, "%d %s", rollProc(), fileProc());
        } else if (Tcl_GetIntFromObj(interp, objv[3], &number) != TCL_OK) {
            return TCL_ERROR;
        } else {
            int status = rollFileProc(word, number);

            Ns_TclPrintfResult(interp, "%d %d", status,
                               purgeProc(word, number));
        }
        break;
    case DATE:
        Ns_TclPrintfResult(interp, "%d", rollByDateProc(word, 2));
        break;
    case DEPRECATED:
        Ns_LogDeprecated(objv, 3, "new thing", "It is better.");
        Ns_LogDeprecated(objv, 1, NULL, NULL);
        Ns_LogDeprecated(objv, 2, "new thing", NULL);
        Ns_LogDeprecated(objv, 2, NULL, "It is gone.");
        break;
    case ERROR:
        (void) Tcl_EvalEx(interp, "error oops", -1, TCL_EVAL_GLOBAL);
        if (STREQ(word, "request")) {
            word = errorRequestProc(interp, Ns_GetConn());
        } else if (STREQ(word, "extra")) {
            word = errorInfoProc(interp, "\n    (and more)");
        } else {
            word = errorProc(interp);
        }
        Tcl_SetObjResult(interp, Tcl_NewStringObj(word, -1));
        break;
    case WRITE: {
        int fd = open(word, O_WRONLY | O_APPEND | O_CREAT, 0644), length;
        const char *bytes = Tcl_GetStringFromObj(objv[3], &length);

        Ns_TclPrintfResult(interp, "%d", writeProc(fd, bytes, (size_t) length));
        /* Open as long as the bytes may wait. */
        break;
    }
    case QUEUE:
        if (STREQ(word, "off")) {
            disableProc(0);
        } else {
            enableProc();
        }
        break;
    case END:
        if (STREQ(word, "fatal")) {
            Ns_Fatal("%s: %d", "the end", 42);
        } else if (STREQ(word, "panic")) {
            Tcl_Panic("%s: %d", "panic", 42);
        } else if (STREQ(word, "flushproc")) {
            flushProc(NULL);
        } else if (STREQ(word, "logproc")) {
            setProc(NULL);
        } else {
            for (int i = 0; i < 640; i++) {
                char name[20];

                snprintf(name, sizeof(name), "many%d", i);
                (void) createProc(name);
            }
        }
        break;
    }
    return TCL_OK;
}

/*
 * Entries of this test begin with "for filter".  The message ends where its
 * length says.
 */
static int
Filter(void *arg, Ns_LogSeverity severity, Ns_Time *stamp, char *msg,
       size_t len)
{
    const char *what = arg;
    Ns_DString  ds;
    Ns_Time     now;

    if (len < 10 || strncmp(msg, "for filter", 10) != 0) {
        return NS_OK;
    }
    Ns_GetTime(&now);
    Ns_DStringInit(&ds);
    Ns_DStringNAppend(&ds, msg, (int) len);
    Ns_MutexLock(&seen.lock);
    Ns_DStringAppendElement(&seen.entries, what);
    Ns_DStringAppendElement(&seen.entries, nameProc(severity));
    Ns_DStringAppendElement(&seen.entries, Ns_DStringValue(&ds));
    Ns_DStringAppendElement(&seen.entries,
                            labs(now.sec - stamp->sec) <= 5 ? "now" : "wrong");
    if (arg == holding) {
        seen.isHeld = seen.isInside = true;
        Ns_CondBroadcast(&seen.changed);
        while (seen.isHeld) {
            Ns_CondWait(&seen.changed, &seen.lock);
        }
        seen.isInside = false;
    }
    Ns_MutexUnlock(&seen.lock);
    Ns_DStringFree(&ds);
    return arg == failing ? NS_ERROR : NS_OK;
}

static char *
FilterOf(Tcl_Obj *nameObj)
{
    const char *name = Tcl_GetString(nameObj);

    return STREQ(name, recording) ? recording
        : STREQ(name, failing)    ? failing
                                  : holding;
}

static void
CountFreed(void *arg)
{
    Ns_MutexLock(&seen.lock);
    seen.nFreed++;
    Ns_MutexUnlock(&seen.lock);
}

static void
RemoveHolding(void *arg)
{
    removeProc(Filter, holding);
}

static void
LogVa(Ns_LogSeverity severity, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vaLogProc(severity, fmt, &ap);
    va_end(ap);
}

static void
AtExit(void *arg)
{
    Ns_Log(Notice, "logs: exit handler");
}

/* SPDX-License-Identifier: MPL-2.0
 * log_cmd.c --
 *
 *      ns_log, ns_logctl, ns_logroll, ns_rollfile, ns_purgefiles.
 */

#include "base/lock.h"
#include "log/stream/entry.h"
#include "log/stream/severity.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"

/*
 * A log filter that is a script.
 */
typedef struct ScriptFilter {
    struct ScriptFilter *nextPtr;
    long                 handle;
    const char          *server; /* NULL: an interpreter without server. */
    char                *script;
    char                *args; /* As list elements. */
} ScriptFilter;

static Ns_Mutex      lock; /* Guards the list and the last handle. */
static ScriptFilter *firstFilterPtr;
static long          lastHandle;

static Tcl_ObjCmdProc LogCmd, LogRollCmd, RollOrPurgeCmd;

static Tcl_ObjCmdProc HoldCmd, CountCmd, GetCmd, PeekCmd, FlushCmd, ReleaseCmd,
    TruncateCmd, SeverityCmd, SeveritiesCmd, RegisterCmd, UnregisterCmd,
    StatsCmd, GrepCmd;

static void TakeEntry(Ns_DString *entryPtr, const char *text,
                      Ns_DString *foundPtr);
static void AppendPlain(Ns_DString *dsPtr, const char *line, size_t length);

static Ns_LogFilter RunScript;
static void         FreeScript(void *arg);
static int          UnknownSeverity(Tcl_Interp *interp, Tcl_Obj *nameObj);
static bool         IsBadNumber(Tcl_Obj *nameObj);

#define IS_PURGE 1

static const NsTclCommand commands[] = {
    {"ns_log", LogCmd, 2, NS_TCL_ANY, "severity string ?string ...?",
     NS_TCL_BASIC},
    {"ns_logroll", LogRollCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_purgefiles", RollOrPurgeCmd, 2, 2, "file backupMax",
     NS_TCL_DATA(IS_PURGE) | NS_TCL_BASIC},
    {"ns_rollfile", RollOrPurgeCmd, 2, 2, "file backupMax", NS_TCL_BASIC},
    NS_TCL_END};

static const NsTclCommand subcmds[] = {
    {"hold", HoldCmd, 0, NS_TCL_ANY, NULL, 0},
    {"count", CountCmd, 0, NS_TCL_ANY, NULL, 0},
    {"get", GetCmd, 0, NS_TCL_ANY, NULL, 0},
    {"peek", PeekCmd, 0, NS_TCL_ANY, NULL, 0},
    {"flush", FlushCmd, 0, NS_TCL_ANY, NULL, 0},
    {"release", ReleaseCmd, 0, NS_TCL_ANY, NULL, 0},
    {"truncate", TruncateCmd, 0, NS_TCL_ANY, NULL, 0},
    {"severity", SeverityCmd, 1, 6,
     "severity-level ?-color color? ?-intensity intensity? ?bool?", 0},
    {"severities", SeveritiesCmd, 0, NS_TCL_ANY, NULL, 0},
    {"register", RegisterCmd, 1, NS_TCL_ANY, "script ?arg?", 0},
    {"unregister", UnregisterCmd, 1, 1, "handle", 0},
    NS_TCL_END,
    {"stats", StatsCmd, 0, NS_TCL_ANY, NULL, 0},
    {"grep", GrepCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_logctl", "option ?arg?", "option", NS_TCL_BASIC, subcmds};

void
NsLogCmdInit(void)
{
    NsMutexSetup(&lock, NS_RANK_TCL_MISC, "ns:log", "scripts");
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&ensemble);
}

/*
 * ns_log severity string ?string ...?
 */
static int
LogCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    int         severity, length;
    const char *message;

    severity = NsSeverityFind(Tcl_GetString(objv[1]));
    if (severity < 0) {
        return UnknownSeverity(interp, objv[1]);
    }
    if (!Ns_LogSeverityEnabled((Ns_LogSeverity) severity)) {
        return TCL_OK;
    }
    if (objc == 3) {
        message = Tcl_GetStringFromObj(objv[2], &length);
        NsEntryLog((Ns_LogSeverity) severity, message, (size_t) length);
    } else {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        for (int i = 2; i < objc; i++) {
            message = Tcl_GetStringFromObj(objv[i], &length);
            Ns_DStringNAppend(&ds, message, length);
            Ns_DStringNAppend(&ds, " ", i < objc - 1);
        }
        NsEntryLog((Ns_LogSeverity) severity, Ns_DStringValue(&ds),
                   (size_t) Ns_DStringLength(&ds));
        Ns_DStringFree(&ds);
    }
    return TCL_OK;
}

static int
HoldCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsEntryHold();
    return TCL_OK;
}

static int
CountCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return NsTclReturn(interp, Tcl_NewIntObj(NsEntryCount()));
}

static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    int status = PeekCmd(clientData, interp, objc, objv);

    NsEntryTruncate(0);
    return status;
}

static int
PeekCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsEntryAppendLines(&ds);
    return NsTclReturnText(interp, &ds);
}

static int
FlushCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsEntryFlush();
    return TCL_OK;
}

static int
ReleaseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsEntryRelease();
    return TCL_OK;
}

static int
TruncateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    int n = 0;

    if (objc > 2 && Tcl_GetIntFromObj(interp, objv[2], &n) != TCL_OK) {
        return TCL_ERROR;
    }
    NsEntryTruncate(n);
    return TCL_OK;
}

static int
SeverityCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static const Ns_ObjvTable colors[] = {
        {"black", 0},   {"red", 1},  {"green", 2}, {"yellow", 3},  {"blue", 4},
        {"magenta", 5}, {"cyan", 6}, {"gray", 7},  {"default", 8}, {NULL, 0}};
    static const Ns_ObjvTable intensities[] = {
        {"normal", 0}, {"bright", 1}, {NULL, 0}};
    /* Checked, and without effect: no sink writes colours. */
    int            color, intensity;
    int            found, isEnabled = -1;
    Ns_LogSeverity severity;
    Ns_ObjvSpec    opts[] = {
           {"-color", NsObjvWord, &color, (void *) colors},
           {"-intensity", NsObjvWord, &intensity, (void *) intensities},
           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"?bool", Ns_ObjvBool, &isEnabled, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 3, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    found = NsSeverityFind(Tcl_GetString(objv[2]));
    if (found < 0 && isEnabled < 0) {
        return UnknownSeverity(interp, objv[2]);
    }
    if (found < 0 && !IsBadNumber(objv[2])) {
        found = NsSeverityCreate(Tcl_GetString(objv[2]));
    }
    if (found < 0) {
        return NsTclFail(interp, "max log severities exceeded");
    }
    severity = (Ns_LogSeverity) found;
    return NsTclReturn(
        interp,
        Tcl_NewBooleanObj(isEnabled >= 0
                              ? NsSeverityEnable(severity, isEnabled != 0)
                              : Ns_LogSeverityEnabled(severity)));
}

static int
SeveritiesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Tcl_Obj *listObj = Tcl_NewObj();

    for (int i = 0; i < NsSeverityCount(); i++) {
        Tcl_ListObjAppendElement(
            NULL, listObj,
            Tcl_NewStringObj(Ns_LogSeverityName(NsSeverityListed(i)), -1));
    }
    return NsTclReturn(interp, listObj);
}

static int
StatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Tcl_Obj *listObj = Tcl_NewObj();

    for (int i = 0; i < NsSeverityCount(); i++) {
        Ns_LogSeverity severity = NsSeverityListed(i);

        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(Ns_LogSeverityName(severity),
                                                  -1));
        Tcl_ListObjAppendElement(
            NULL, listObj,
            Tcl_NewWideIntObj((Tcl_WideInt) NsSeverityEntries(severity)));
    }
    return NsTclReturn(interp, listObj);
}

/*
 * ns_logctl grep ?-filename file? ?--? string: the entries of the file, with
 * all their lines, that contain the string.
 */
static int
GrepCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    char       *name = Ns_InfoErrorLog(), *text, *line = NULL;
    FILE       *file;
    size_t      room = 0;
    ssize_t     n;
    Ns_DString  entry, found;
    Ns_ObjvSpec opts[] = {{"-filename", Ns_ObjvString, &name, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"string", Ns_ObjvString, &text, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    file = name == NULL ? NULL : fopen(name, "re");
    if (file == NULL) {
        return NsTclFail(interp, "Unable to open the file '%s'",
                         name == NULL ? "" : name);
    }
    Ns_DStringInit(&entry);
    Ns_DStringInit(&found);
    while ((n = getline(&line, &room, file)) >= 0) {
        if (*line != ':') {
            TakeEntry(&entry, text, &found);
        }
        AppendPlain(&entry, line, (size_t) n);
    }
    TakeEntry(&entry, text, &found);
    free(line);
    (void) fclose(file);
    Ns_DStringFree(&entry);
    return NsTclReturnText(interp, &found);
}

/*
 * The entry is complete.
 */
static void
TakeEntry(Ns_DString *entryPtr, const char *text, Ns_DString *foundPtr)
{
    if (strstr(Ns_DStringValue(entryPtr), text) != NULL) {
        Ns_DStringNAppend(foundPtr, Ns_DStringValue(entryPtr),
                          Ns_DStringLength(entryPtr));
    }
    Ns_DStringSetLength(entryPtr, 0);
}

/*
 * Without what colours text on a terminal: an escape, `[`, and all up to `m`.
 */
static void
AppendPlain(Ns_DString *dsPtr, const char *line, size_t length)
{
    const char *end = line + length;

    while (line < end) {
        const char *escape = memchr(line, '\x1b', (size_t) (end - line));
        const char *stop = escape == NULL ? end : escape;

        Ns_DStringNAppend(dsPtr, line, (int) (stop - line));
        line = stop;
        if (line < end) {
            size_t n = strspn(line + 1, "[0123456789;");

            line += line[1] == '[' && line[1 + n] == 'm' ? n + 2 : 1;
        }
    }
}

static int
RegisterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsInterp     *itPtr = NsInterpOf(interp);
    ScriptFilter *filterPtr;
    Ns_DString    args;

    Ns_DStringInit(&args);
    for (int i = 3; i < objc; i++) {
        Ns_DStringAppendElement(&args, Tcl_GetString(objv[i]));
    }
    filterPtr = ns_calloc(1, sizeof(*filterPtr));
    filterPtr->script = ns_strdup(Tcl_GetString(objv[2]));
    filterPtr->args = Ns_DStringExport(&args);
    filterPtr->server = itPtr != NULL && itPtr->serverPtr != NULL
        ? itPtr->serverPtr->name
        : NULL;

    Ns_MutexLock(&lock);
    filterPtr->handle = ++lastHandle;
    filterPtr->nextPtr = firstFilterPtr;
    firstFilterPtr = filterPtr;
    Ns_MutexUnlock(&lock);
    Tcl_SetObjResult(interp, Tcl_ObjPrintf("logfilter%ld", filterPtr->handle));
    Ns_AddLogFilter(RunScript, filterPtr, FreeScript);
    return TCL_OK;
}

static int
UnregisterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    ScriptFilter **linkPtr, *filterPtr;
    const char    *name;
    char          *end = NULL;
    long           handle = 0;

    name = Tcl_GetString(objv[2]);
    if (strncmp(name, "logfilter", 9) == 0) {
        handle = strtol(name + 9, &end, 10);
    }
    Ns_MutexLock(&lock);
    if (end == NULL || *end != '\0' || handle < 1 || handle > lastHandle) {
        handle = 0;
    }
    linkPtr = &firstFilterPtr;
    while (*linkPtr != NULL && (*linkPtr)->handle != handle) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    filterPtr = *linkPtr;
    if (filterPtr != NULL) {
        *linkPtr = filterPtr->nextPtr;
    }
    Ns_MutexUnlock(&lock);

    if (handle == 0) {
        return NsTclFail(interp, "invalid address \"%s\"", name);
    }
    if (filterPtr != NULL) {
        Ns_RemoveLogFilter(RunScript, filterPtr);
    }
    return TCL_OK;
}

static int
LogRollCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    if (Ns_LogRoll() != NS_OK) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj("could not roll server log", -1));
    }
    return TCL_OK;
}

static int
RollOrPurgeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    bool isPurge = NsTclData(clientData) == IS_PURGE;
    int  max;

    if (Tcl_GetIntFromObj(interp, objv[2], &max) != TCL_OK) {
        return TCL_ERROR;
    }
    if (max <= 0 || max > 1000) {
        return NsTclFail(interp,
                         "invalid max \"%d\": should be > 0 and <= 1000.", max);
    }
    errno = 0;
    if ((isPurge ? Ns_PurgeFiles : Ns_RollFile)(Tcl_GetString(objv[1]), max)
        != NS_OK) {
        return NsTclFail(interp, "could not %s \"%s\": %s",
                         isPurge ? "purge" : "roll", Tcl_GetString(objv[1]),
                         errno != 0 ? Tcl_PosixError(interp)
                                    : "invalid argument");
    }
    return TCL_OK;
}

/*
 * Call the script in an interpreter of its server, with what the calling script
 * sees of its interpreter unchanged.
 */
static int
RunScript(void *arg, Ns_LogSeverity severity, Ns_Time *stamp, char *msg,
          size_t len)
{
    const ScriptFilter *filterPtr = arg;
    Tcl_Interp         *interp = Ns_TclAllocateInterp(filterPtr->server);
    Tcl_InterpState     state;
    Ns_DString          script;
    Tcl_Obj            *messageObj;
    int                 status = NS_OK;

    if (interp == NULL) {
        return NS_OK;
    }
    messageObj = Tcl_NewStringObj(msg, (int) len);
    Tcl_IncrRefCount(messageObj);
    Ns_DStringInit(&script);
    Ns_DStringAppend(&script, filterPtr->script);
    Ns_DStringAppendElement(&script, Ns_LogSeverityName(severity));
    Ns_DStringPrintf(&script, " %ld:%ld", stamp->sec, stamp->usec);
    Ns_DStringAppendElement(&script, Tcl_GetString(messageObj));
    Ns_DStringAppend(&script, " ");
    Ns_DStringAppend(&script, filterPtr->args);

    state = Tcl_SaveInterpState(interp, TCL_OK);
    if (Tcl_EvalEx(interp, Ns_DStringValue(&script), Ns_DStringLength(&script),
                   TCL_EVAL_GLOBAL)
        != TCL_OK) {
        Ns_Log(Error, "LogToTcl: %s", Tcl_GetStringResult(interp));
        status = NS_ERROR;
    }
    (void) Tcl_RestoreInterpState(interp, state);
    Ns_DStringFree(&script);
    Tcl_DecrRefCount(messageObj);
    Ns_TclDeAllocateInterp(interp);
    return status;
}

static void
FreeScript(void *arg)
{
    ScriptFilter *filterPtr = arg;

    ns_free(filterPtr->script);
    ns_free(filterPtr->args);
    ns_free(filterPtr);
}

static int
UnknownSeverity(Tcl_Interp *interp, Tcl_Obj *nameObj)
{
    Tcl_Obj *resultObj =
        Tcl_ObjPrintf("unknown severity: \"%s\": should be one of: ",
                      Tcl_GetString(nameObj));

    for (int i = 0; i < NsSeverityCount(); i++) {
        const char *name = Ns_LogSeverityName(NsSeverityListed(i));

        Tcl_AppendStringsToObj(resultObj, name, " ", (char *) NULL);
    }
    Tcl_SetObjResult(interp, resultObj);
    return TCL_ERROR;
}

/*
 * A number that cannot denote a severity is not taken for the name of a new
 * one.
 */
static bool
IsBadNumber(Tcl_Obj *nameObj)
{
    Tcl_WideInt number;

    return Tcl_GetWideIntFromObj(NULL, nameObj, &number) == TCL_OK;
}

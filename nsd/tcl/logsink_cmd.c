/* SPDX-License-Identifier: MPL-2.0
 * logsink_cmd.c --
 *
 *      ns_logsink, ns_logevent, ns_audit.
 */

#include "base/clock.h"
#include "log/ring/lane.h"
#include "log/ring/ring.h"
#include "log/sink/leftover.h"
#include "log/sink/sink.h"
#include "log/stream/audit.h"
#include "log/stream/stream.h"
#include "log/stream/unit.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/config_logs.h"
#include "process/sinkoptions.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc LogSinkCmd, LogEventCmd, AuditCmd;

static Tcl_ObjCmdProc AddCmd, ConfigureCmd, RemoveCmd, ListCmd, InfoCmd,
    FlushCmd, ForgetCmd, LeftoversCmd, MemoryCmd, RollCmd, StatsCmd;

static void SetUnsafeError(Tcl_Interp *interp, Ns_LogSink failed, int reason);
static const char *TypeIn(int objc, Tcl_Obj *const *objv);
static int  SetOptions(Tcl_Interp *interp, NsSinkDraft *draftPtr, int objc,
                       Tcl_Obj *const *objv);
static void WarnOf(const char *name);
static bool Apply(Tcl_Interp *interp, const NsSinkDraft *draftPtr,
                  Ns_LogSink sink, int *statusPtr);
static int GetSink(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, int most,
                   const char *args, Ns_LogSink *sinkPtr);
static int ForSinks(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                    Ns_ReturnCode (*proc)(Ns_LogSink), const char *verb);
static bool     IsStalled(Ns_LogSink sink);
static void     PutMapping(Tcl_Obj *dictObj);
static Tcl_Obj *StatsObj(Ns_LogSink sink);
static void     Put(Tcl_Obj *dictObj, const char *key, uint64_t value);
static void     PutString(Tcl_Obj *dictObj, const char *key, const char *value);
static void     PutSeconds(Tcl_Obj *dictObj, const char *key, int64_t nanos);

static const NsTclCommand commands[] = {
    {"ns_audit", AuditCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_logevent", LogEventCmd, 1, 2, "kind ?text?", NS_TCL_BASIC},
    {"ns_logsink", LogSinkCmd, 1, NS_TCL_ANY,
     "option ?name? ?-option value ...?", NS_TCL_BASIC},
    NS_TCL_END};

static const NsTclCommand subcmds[] = {
    {"add", AddCmd, 0, NS_TCL_ANY, NULL, 0},
    {"configure", ConfigureCmd, 0, NS_TCL_ANY, NULL, 0},
    {"remove", RemoveCmd, 0, NS_TCL_ANY, NULL, 0},
    {"list", ListCmd, 0, NS_TCL_ANY, NULL, 0},
    {"info", InfoCmd, 0, NS_TCL_ANY, NULL, 0},
    {"flush", FlushCmd, 0, NS_TCL_ANY, NULL, 0},
    {"forget", ForgetCmd, 1, 1, "name", 0},
    {"leftovers", LeftoversCmd, 0, 0, NULL, 0},
    {"memory", MemoryCmd, 0, 0, NULL, 0},
    {"roll", RollCmd, 0, NS_TCL_ANY, NULL, 0},
    {"stats", StatsCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_logsink", "option ?name? ?-option value ...?", "option", 0, subcmds};

NS_TCL_FAMILY(LogSink, commands)

static int
LogSinkCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    int status;

    NsSinkEnter();
    status = NsTclRunEnsemble(&ensemble, clientData, objc, objv);
    NsSinkLeave();
    NsSinkFreeRemoved();
    return status;
}

static int
AddCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsSinkDraft draft;
    Ns_DString  error;
    int         status;

    if (objc < 3 || objc % 2 == 0) {
        Tcl_WrongNumArgs(interp, 2, objv, "name ?-option value ...?");
        return TCL_ERROR;
    }
    NsSinkDraftInit(&draft, TypeIn(objc - 3, objv + 3));
    status = SetOptions(interp, &draft, objc - 3, objv + 3);
    if (status == TCL_OK) {
        Ns_DStringInit(&error);
        if (NsSinkDraftCreate(&draft, Tcl_GetString(objv[2]), &error)
            != NS_OK) {
            Tcl_DStringResult(interp, &error);
            status = TCL_ERROR;
        } else {
            WarnOf(Tcl_GetString(objv[2]));
        }
        Ns_DStringFree(&error);
    }
    NsSinkDraftFree(&draft);
    return status;
}

/*
 * What a start says of its sinks.
 */
static void
WarnOf(const char *name)
{
    Ns_LogSink sink = NsSinkFind(name);

    if (sink != NULL) {
        NsConfigLogsWarn(sink);
    }
}

static int
ConfigureCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsSinkDraft draft;
    Ns_LogSink  sink;
    int         status;

    if (objc == 3) {
        return InfoCmd(clientData, interp, objc, objv);
    }
    status = GetSink(interp, objc, objv, INT_MAX, "name ?-option value ...?",
                     &sink);
    if (status != TCL_OK) {
        return status;
    }
    if (objc % 2 == 0 && objc > 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "name ?-option value ...?");
        return TCL_ERROR;
    }
    NsSinkDraftInitFrom(&draft, sink);
    if (objc == 4) {
        const char *name = Tcl_GetString(objv[3]);

        status = TCL_ERROR;
        for (int i = 0; NsSinkOptionName(&draft, i) != NULL; i++) {
            if (*name == '-' && STREQ(name + 1, NsSinkOptionName(&draft, i))) {
                Ns_DString value;

                Ns_DStringInit(&value);
                NsSinkOptionAppend(&value, &draft, i);
                Tcl_DStringResult(interp, &value);
                status = TCL_OK;
            }
        }
        if (status != TCL_OK) {
            Tcl_SetObjResult(interp,
                             Tcl_ObjPrintf("unknown parameter \"%s\"", name));
        }
    } else {
        while ((status = SetOptions(interp, &draft, objc - 3, objv + 3))
                   == TCL_OK
               && !Apply(interp, &draft, sink, &status)) {
            NsSinkDraftFree(&draft);
            NsSinkDraftInitFrom(&draft, sink);
        }
    }
    NsSinkDraftFree(&draft);
    return status;
}

/*
 * False: another thread has changed the sink meanwhile.
 */
static bool
Apply(Tcl_Interp *interp, const NsSinkDraft *draftPtr, Ns_LogSink sink,
      int *statusPtr)
{
    Ns_DString error;
    bool       isDone;

    Ns_DStringInit(&error);
    *statusPtr = NsSinkDraftApply(draftPtr, sink, &error) == NS_OK
        ? TCL_OK
        : TCL_ERROR;
    isDone = *statusPtr == TCL_OK || Ns_DStringLength(&error) > 0;
    if (*statusPtr != TCL_OK) {
        Tcl_DStringResult(interp, &error);
    }
    Ns_DStringFree(&error);
    return isDone;
}

static int
RemoveCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_LogSink sink;

    if (GetSink(interp, objc, objv, 3, "name", &sink) != TCL_OK) {
        return TCL_ERROR;
    }
    if (!NsSinkMayRemove(sink)) {
        return NsTclFail(interp, "sink \"%s\" cannot be removed",
                         NsSinkName(sink));
    }
    (void) NsSinkRemove(sink);
    return TCL_OK;
}

static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Tcl_Obj   *listObj = Tcl_NewObj();
    Ns_LogSink sink;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!NsSinkIsRemoved(sink)) {
            Tcl_ListObjAppendElement(NULL, listObj,
                                     Tcl_NewStringObj(NsSinkName(sink), -1));
        }
    }
    return NsTclReturn(interp, listObj);
}

static int
InfoCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Tcl_Obj    *dictObj;
    NsSinkDraft draft;
    Ns_LogSink  sink;

    if (GetSink(interp, objc, objv, 3, "name", &sink) != TCL_OK) {
        return TCL_ERROR;
    }
    dictObj = Tcl_NewObj();
    NsSinkDraftInitFrom(&draft, sink);
    for (int i = 0; NsSinkOptionName(&draft, i) != NULL; i++) {
        Ns_DString value;

        Ns_DStringInit(&value);
        NsSinkOptionAppend(&value, &draft, i);
        Tcl_ListObjAppendElement(NULL, dictObj,
                                 Tcl_NewStringObj(NsSinkOptionName(&draft, i),
                                                  -1));
        Tcl_ListObjAppendElement(NULL, dictObj,
                                 Tcl_NewStringObj(Ns_DStringValue(&value),
                                                  Ns_DStringLength(&value)));
        Ns_DStringFree(&value);
    }
    NsSinkDraftFree(&draft);
    return NsTclReturn(interp, dictObj);
}

static int
FlushCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return ForSinks(interp, objc, objv, Ns_LogSinkFlush, "flush");
}

static int
RollCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return ForSinks(interp, objc, objv, NsSinkRollNow, "roll");
}

/*
 * Give up what killed processes left for a sink that no longer exists, or a
 * mapping that cannot be read; how many records.
 */
static int
ForgetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const char *name;
    int64_t     n;

    name = Tcl_GetString(objv[2]);
    if (NsSinkFind(name) != NULL) {
        return NsTclFail(interp,
                         "sink \"%s\" exists, and writes what is left for it",
                         name);
    }
    n = NsLeftoverForget(name);
    if (n < 0) {
        return NsTclFail(interp,
                         *name == '/' ? "there is no unreadable mapping \"%s\""
                                      : "nothing is left for sink \"%s\"",
                         name);
    }
    return NsTclReturn(interp, Tcl_NewWideIntObj(n));
}

/*
 * A list of dictionaries.
 */
static int
LeftoversCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Tcl_Obj    *listObj;
    NsLeftover *leftovers;
    int         n;

    n = NsLeftovers(&leftovers);
    listObj = Tcl_NewObj();
    for (int i = 0; i < n; i++) {
        Tcl_Obj *dictObj = Tcl_NewObj();

        PutString(dictObj, "sink", leftovers[i].sink);
        PutString(dictObj, "type", leftovers[i].type);
        PutString(dictObj, "file", leftovers[i].file);
        Put(dictObj, "pid", (uint64_t) leftovers[i].pid);
        Put(dictObj, "records", leftovers[i].nRecords);
        if (leftovers[i].problem != NULL) {
            PutString(dictObj, "problem", leftovers[i].problem);
        }
        Tcl_ListObjAppendElement(NULL, listObj, dictObj);
    }
    NsLeftoversFree(leftovers, n);
    return NsTclReturn(interp, listObj);
}

/*
 * One sink: its dictionary.  All: a dictionary of these by name.
 */
static int
StatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Tcl_Obj   *dictObj;
    Ns_LogSink sink;

    if (objc > 2) {
        if (GetSink(interp, objc, objv, 3, "?name?", &sink) != TCL_OK) {
            return TCL_ERROR;
        }
        return NsTclReturn(interp, StatsObj(sink));
    }
    dictObj = Tcl_NewObj();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!NsSinkIsRemoved(sink)) {
            Tcl_ListObjAppendElement(NULL, dictObj,
                                     Tcl_NewStringObj(NsSinkName(sink), -1));
            Tcl_ListObjAppendElement(NULL, dictObj, StatsObj(sink));
        }
    }
    return NsTclReturn(interp, dictObj);
}

/*
 * ns_logevent kind ?text?
 */
static int
LogEventCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const char *text = "";
    int         length = 0;

    if (NsUnitIsOpen()) {
        if (objc == 3) {
            text = Tcl_GetStringFromObj(objv[2], &length);
        }
        NsUnitEvent(Tcl_GetString(objv[1]), text, (size_t) length);
    }
    return TCL_OK;
}

/*
 * ns_audit ?-durable? kind ?key value ...?
 */
static int
AuditCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = NsInterpOf(interp);
    NsAuditRecord   record = {0};
    Ns_LogSink      failed = NULL;
    Ns_ReturnCode   written;
    const char    **words;
    bool isDurable = objc > 1 && STREQ(Tcl_GetString(objv[1]), "-durable");
    int  first = isDurable ? 2 : 1, status = TCL_OK;

    if (objc <= first || (objc - first) % 2 == 0) {
        Tcl_WrongNumArgs(interp, 1, objv, "?-durable? kind ?key value ...?");
        return TCL_ERROR;
    }
    words = ns_calloc((size_t) objc, sizeof(*words));
    record.kind = Tcl_GetString(objv[first]);
    for (int i = first + 1; i < objc; i++) {
        words[record.nWords++] = Tcl_GetString(objv[i]);
    }
    record.words = words;
    if (itPtr != NULL && itPtr->serverPtr != NULL) {
        record.server = itPtr->serverPtr->name;
    }
    if (itPtr != NULL && itPtr->connPtr != NULL) {
        record.peer = Ns_ConnPeer((Ns_Conn *) itPtr->connPtr);
        record.user = Ns_ConnAuthUser((Ns_Conn *) itPtr->connPtr);
    }
    NsSinkEnter(); /* For the one that failed. */
    written = NsAuditWrite(&record);
    if (isDurable
        && (written != NS_OK
            || NsSinkSyncStream(nsAuditStream, &failed) != NS_OK)) {
        SetUnsafeError(interp, failed, errno);
        status = TCL_ERROR;
    } else if ((failed = NsSinkRequiredInTrouble(nsAuditStream)) != NULL) {
        status = NsTclFail(interp,
                           "log sink \"%s\" is required and cannot write to "
                           "\"%s\" now: the record waits",
                           NsSinkName(failed), NsSinkFile(failed));
    }
    NsSinkLeave();
    ns_free(words);
    return status;
}

static void
SetUnsafeError(Tcl_Interp *interp, Ns_LogSink failed, int reason)
{
    if (failed != NULL) {
        Tcl_SetObjResult(
            interp,
            Tcl_ObjPrintf("audit record is not safe: sink \"%s\": %s%s",
                          NsSinkName(failed), NsSinkFile(failed),
                          reason == ENOTSUP ? " cannot be synced" : ""));
        if (reason != ENOTSUP) {
            Tcl_AppendResult(interp, ": ", strerror(reason), (char *) NULL);
        }
        return;
    }
    Tcl_SetObjResult(interp,
                     Tcl_ObjPrintf("audit record is not safe: %s",
                                   reason == ENODEV
                                       ? "no sink takes stream audit"
                                       : reason == ENOMSG
                                       ? "all sinks of stream audit ignore it"
                                       : strerror(reason)));
}

/*
 * The value of the last -type; NULL: there is none.
 */
static const char *
TypeIn(int objc, Tcl_Obj *const *objv)
{
    const char *type = NULL;

    for (int i = 0; i + 1 < objc; i += 2) {
        const char *name = Tcl_GetString(objv[i]);

        if (STRIEQ(*name == '-' ? name + 1 : name, "type")) {
            type = Tcl_GetString(objv[i + 1]);
        }
    }
    return type;
}

static int
SetOptions(Tcl_Interp *interp, NsSinkDraft *draftPtr, int objc,
           Tcl_Obj *const *objv)
{
    Ns_DString error;
    int        status = TCL_OK;

    Ns_DStringInit(&error);
    for (int i = 0; i + 1 < objc && status == TCL_OK; i += 2) {
        const char *name = Tcl_GetString(objv[i]);

        if (NsSinkOptionSet(draftPtr, *name == '-' ? name + 1 : name,
                            Tcl_GetString(objv[i + 1]), &error)
            != NS_OK) {
            Tcl_DStringResult(interp, &error);
            status = TCL_ERROR;
        }
    }
    Ns_DStringFree(&error);
    return status;
}

static int
GetSink(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, int most,
        const char *args, Ns_LogSink *sinkPtr)
{
    if (objc < 3 || objc > most) {
        Tcl_WrongNumArgs(interp, 2, objv, args);
        return TCL_ERROR;
    }
    *sinkPtr = NsSinkFind(Tcl_GetString(objv[2]));
    if (*sinkPtr == NULL) {
        return NsTclFail(interp, "no such sink: \"%s\"",
                         Tcl_GetString(objv[2]));
    }
    return TCL_OK;
}

/*
 * Call proc for one sink, or for all: for those that are stalled last, since
 * it waits for them.
 */
static int
ForSinks(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
         Ns_ReturnCode (*proc)(Ns_LogSink), const char *verb)
{
    Ns_LogSink only = NULL, sink;
    int        status = TCL_OK, n = 0;
    bool      *isDone;

    if (objc > 2 && GetSink(interp, objc, objv, 3, "?name?", &only) != TCL_OK) {
        return TCL_ERROR;
    }
    while (NsSinkAt(n) != NULL) {
        n++;
    }
    isDone = ns_calloc((size_t) MAX(n, 1), sizeof(*isDone));
    for (int i = 0; i < 2 * n; i++) {
        sink = NsSinkAt(i % n);
        if (isDone[i % n] || NsSinkIsRemoved(sink)
            || (only != NULL && sink != only) || (i < n && IsStalled(sink))) {
            continue;
        }
        isDone[i % n] = true;
        if (proc(sink) != NS_OK) {
            Tcl_SetObjResult(interp,
                             Tcl_ObjPrintf("could not %s sink \"%s\": %s", verb,
                                           NsSinkName(sink),
                                           Tcl_PosixError(interp)));
            status = TCL_ERROR;
        }
    }
    ns_free(isDone);
    return status;
}

static bool
IsStalled(Ns_LogSink sink)
{
    NsSinkStats stats;

    NsSinkGetStats(sink, &stats);
    return stats.trouble == NS_TROUBLE_STALLED;
}

/*
 * memory: of the records on their way.
 */
static int
MemoryCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Tcl_Obj    *dictObj;
    NsLaneUsage usage;
    uint64_t    segmentBytes;

    NsLaneGetUsage(&usage);
    segmentBytes = usage.segmentBytes;
    dictObj = Tcl_NewObj();
    Put(dictObj, "lanes", usage.nLanes);
    Put(dictObj, "bytes", usage.nSegments * segmentBytes);
    Put(dictObj, "used", usage.nUsed * segmentBytes);
    Put(dictObj, "mostused", usage.mostUsed * segmentBytes);
    PutMapping(dictObj);
    return NsTclReturn(interp, dictObj);
}

/*
 * The mapping that this process made last; "": the memory is not in a file.
 */
static void
PutMapping(Tcl_Obj *dictObj)
{
    char **paths;
    int    n = NsRingList(&nsRingKey, &paths);

    PutString(dictObj, "file", n > 0 ? paths[n - 1] : "");
    for (int i = 0; i < n; i++) {
        ns_free(paths[i]);
    }
    ns_free(paths);
}

static Tcl_Obj *
StatsObj(Ns_LogSink sink)
{
    static const char *const states[] = {[NS_TROUBLE_NONE] = "ok",
                                         [NS_TROUBLE_STALLED] = "stalled",
                                         [NS_TROUBLE_FAILING] = "failing"};
    Tcl_Obj                 *dictObj = Tcl_NewObj();
    NsSinkStats              stats;
    int64_t                  oldest = NsSinkOldest(sink);

    NsSinkGetStats(sink, &stats);
    PutString(dictObj, "state", states[stats.trouble]);
    PutSeconds(dictObj, "since", stats.troubleSince);
    Put(dictObj, "accepted", stats.accepted);
    Put(dictObj, "delivered", stats.delivered);
    Put(dictObj, "ignored", stats.ignored);
    Put(dictObj, "droppedmemory", stats.droppedMemory);
    Put(dictObj, "droppedfailed", stats.droppedFailed);
    Put(dictObj, "droppeddamaged", stats.droppedDamaged);
    Put(dictObj, "droppedrejected", stats.droppedRejected);
    Put(dictObj, "pending", stats.pending);
    PutSeconds(dictObj, "oldest",
               stats.pending == 0 || oldest == 0
                   ? 0
                   : MAX(NsLogClock() - oldest, 0));
    Put(dictObj, "leftover", stats.leftover);
    Put(dictObj, "leftoverbytes", stats.leftoverBytes);
    Put(dictObj, "behind", stats.behind);
    Put(dictObj, "spilled", stats.spilled);
    Put(dictObj, "spilledbytes", stats.spilledBytes);
    Put(dictObj, "bytes", stats.bytes);
    Put(dictObj, "writes", stats.writes);
    Put(dictObj, "syncs", stats.syncs);
    Put(dictObj, "errors", stats.errors);
    Put(dictObj, "wakeups", stats.wakeups);
    Put(dictObj, "deepest", stats.deepest);
    PutSeconds(dictObj, "longestwrite", stats.longestWrite);
    PutSeconds(dictObj, "writetime", stats.writeNanos);
    return dictObj;
}

static void
Put(Tcl_Obj *dictObj, const char *key, uint64_t value)
{
    Tcl_ListObjAppendElement(NULL, dictObj, Tcl_NewStringObj(key, -1));
    Tcl_ListObjAppendElement(NULL, dictObj,
                             Tcl_NewWideIntObj((Tcl_WideInt) value));
}

static void
PutString(Tcl_Obj *dictObj, const char *key, const char *value)
{
    Tcl_ListObjAppendElement(NULL, dictObj, Tcl_NewStringObj(key, -1));
    Tcl_ListObjAppendElement(NULL, dictObj, Tcl_NewStringObj(value, -1));
}

static void
PutSeconds(Tcl_Obj *dictObj, const char *key, int64_t nanos)
{
    Tcl_ListObjAppendElement(NULL, dictObj, Tcl_NewStringObj(key, -1));
    Tcl_ListObjAppendElement(NULL, dictObj,
                             Tcl_ObjPrintf("%" PRId64 ".%06d",
                                           nanos / NS_STAMP_SECOND,
                                           (int) (nanos % NS_STAMP_SECOND
                                                  / 1000)));
}

/* SPDX-License-Identifier: MPL-2.0
 * asynclogfile_cmd.c --
 *
 *      ns_asynclogfile: files to which the log threads append lines of scripts.
 */

#include "log/sink/sink.h"
#include "log/stream/line.h"
#include "log/target/linefile.h"
#include "nsstring.h"
#include "nsthread.h"
#include "tcl/bytes.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#define SANITIZE_DEFAULT (-1)

static Tcl_ObjCmdProc OpenCmd, WriteCmd, CloseCmd, StatsCmd;

static int  GetFlags(Tcl_Interp *interp, Tcl_Obj *listObj, int *flagsPtr);
static void AppendClean(Ns_DString *dsPtr, const char *bytes, size_t length,
                        int sanitize);
static int  NoFile(Tcl_Interp *interp, Tcl_Obj *handleObj);
static NsLineFileProc AppendStats;

static const NsTclCommand subcmds[] = {
    {"open", OpenCmd, 1, 2, "file ?flags?", 0},
    {"write", WriteCmd, 0, NS_TCL_ANY, NULL, 0},
    {"close", CloseCmd, 1, 1, "handle", 0},
    {"stats", StatsCmd, 0, 0, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_asynclogfile", "subcommand ?arg ...?", "subcommand", 0, subcmds};

NS_TCL_FAMILY_OF_ONE(AsyncLogFile, &ensemble)

static int
OpenCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Tcl_Obj   *pathObj;
    Ns_DString ds;
    int        flags = 0;

    if (objc > 3 && GetFlags(interp, objv[3], &flags) != TCL_OK) {
        return TCL_ERROR;
    }
    pathObj = Tcl_FSGetNormalizedPath(interp, objv[2]);
    if (pathObj == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    if (NsLineFileOpen(Tcl_GetString(pathObj), flags, &ds) != NS_OK) {
        int reason = errno;

        Ns_DStringFree(&ds);
        Ns_TclPrintfResult(interp, "could not open log file '%s': %s",
                           Tcl_GetString(objv[2]), NsSinkReason(reason));
        Tcl_SetErrno(reason);
        (void) Tcl_PosixError(interp);
        return TCL_ERROR;
    }
    return NsTclReturnText(interp, &ds);
}

static int
GetFlags(Tcl_Interp *interp, Tcl_Obj *listObj, int *flagsPtr)
{
    /* Whatever the flags, lines are appended. */
    static const struct {
        const char *name;
        int         flag;
    } rows[] = {{"APPEND", 0},    {"EXCL", O_EXCL},   {"DSYNC", O_DSYNC},
                {"SYNC", O_SYNC}, {"TRUNC", O_TRUNC}, {NULL, 0}};
    Tcl_Obj **words;
    int       n, row;

    if (Tcl_ListObjGetElements(interp, listObj, &n, &words) != TCL_OK) {
        return TCL_ERROR;
    }
    for (int i = 0; i < n; i++) {
        if (Tcl_GetIndexFromObjStruct(interp, words[i], rows, sizeof(rows[0]),
                                      "flag", TCL_EXACT, &row)
            != TCL_OK) {
            return TCL_ERROR;
        }
        *flagsPtr |= rows[row].flag;
    }
    return TCL_OK;
}

/*
 * ns_asynclogfile write: bytes are written as they are unless a level is given.
 */
static int
WriteCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    static const Ns_ObjvTable levels[] = {
        {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {NULL, 0}};
    int         isBinary = 0, sanitize = SANITIZE_DEFAULT;
    Tcl_Obj    *handleObj, *lineObj;
    NsBytes     line;
    Ns_DString  clean;
    int         status;
    Ns_ObjvSpec opts[] = {NS_OBJV_BINARY(&isBinary),
                          {"-sanitize", NsObjvWord, &sanitize, (void *) levels},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"handle", Ns_ObjvObj, &handleObj, NULL},
                          {"line", Ns_ObjvObj, &lineObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (sanitize == SANITIZE_DEFAULT) {
        sanitize = isBinary ? 0 : nsLogStyle.sanitize;
    }
    NsBytesInit(&line, lineObj, isBinary);
    Ns_DStringInit(&clean);
    AppendClean(&clean, (const char *) line.bytes, line.length, sanitize);
    status = NsLineFilePut(Tcl_GetString(handleObj), Ns_DStringValue(&clean),
                           (size_t) Ns_DStringLength(&clean))
            == NS_OK
        ? TCL_OK
        : NoFile(interp, handleObj);
    Ns_DStringFree(&clean);
    NsBytesFree(&line);
    return status;
}

/*
 * The line, made harmless but for the newline that ends it.
 */
static void
AppendClean(Ns_DString *dsPtr, const char *bytes, size_t length, int sanitize)
{
    bool     isEnded = length > 0 && bytes[length - 1] == '\n';
    NsLogOut out = {NULL, 0, 0};

    NsLogSanitize(&out, bytes, length - isEnded, sanitize);
    Ns_DStringSetLength(dsPtr, (int) (out.length + isEnded));
    out = (NsLogOut){Ns_DStringValue(dsPtr), out.length, 0};
    NsLogSanitize(&out, bytes, length - isEnded, sanitize);
    if (isEnded) {
        Ns_DStringValue(dsPtr)[out.length] = '\n';
    }
}

static int
CloseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return NsLineFileClose(Tcl_GetString(objv[2])) == NS_OK
        ? TCL_OK
        : NoFile(interp, objv[2]);
}

static int
NoFile(Tcl_Interp *interp, Tcl_Obj *handleObj)
{
    return NsTclFail(interp, "no such log file: %s", Tcl_GetString(handleObj));
}

/*
 * ns_asynclogfile stats: a dict for each handle.
 */
static int
StatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Tcl_Obj *listObj = Tcl_NewObj();

    NsLineFileEach(AppendStats, listObj);
    return NsTclReturn(interp, listObj);
}

static void
AppendStats(const char *handle, const char *path, Ns_LogSink sink, void *arg)
{
    Tcl_Obj    *dictObj = Tcl_NewDictObj();
    NsSinkStats stats;

    NsSinkGetStats(sink, &stats);
    NsTclDictPut(dictObj, Tcl_NewStringObj("handle", -1),
                 Tcl_NewStringObj(handle, -1));
    NsTclDictPut(dictObj, Tcl_NewStringObj("file", -1),
                 Tcl_NewStringObj(path, -1));
    NsTclDictPut(dictObj, Tcl_NewStringObj("sink", -1),
                 Tcl_NewStringObj(NsSinkName(sink), -1));
    NsTclDictPut(dictObj, Tcl_NewStringObj("written", -1),
                 Tcl_NewWideIntObj((Tcl_WideInt) stats.delivered));
    NsTclDictPut(dictObj, Tcl_NewStringObj("pending", -1),
                 Tcl_NewWideIntObj((Tcl_WideInt) stats.pending));
    NsTclDictPut(dictObj, Tcl_NewStringObj("dropped", -1),
                 Tcl_NewWideIntObj((Tcl_WideInt) (stats.accepted
                                                  - stats.delivered
                                                  - stats.pending)));
    Tcl_ListObjAppendElement(NULL, arg, dictObj);
}

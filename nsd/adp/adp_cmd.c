/* SPDX-License-Identifier: MPL-2.0
 * adp_cmd.c --
 *
 *      Output, inclusion, evaluation: ns_adp_append, ns_adp_puts, ns_puts,
 *      ns_adp_tell, ns_adp_dump, ns_adp_trunc, ns_adp_flush, ns_adp_close,
 *      ns_adp_mimetype, ns_adp_mime, ns_adp_include, ns_adp_eval,
 *      ns_adp_safeeval, ns_adp_parse.
 */

#include "nsconn.h"
#include "nslog.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "adp/buffer.h"
#include "adp/commands.h"
#include "adp/interp.h"
#include "adp/run.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc AppendCmd, PutsCmd, TellCmd, DumpCmd, TruncCmd, FlushCmd,
    CloseCmd, MimeTypeCmd, IncludeCmd, EvalCmd, SafeEvalCmd, TagCmd, ParseCmd;

static NsAdpInterp *Active(const NsInterp *interpPtr);
static int          Eval(NsInterp *interpPtr, int objc, Tcl_Obj *const *objv,
                         bool isTrusted);
static int          RunForOutput(NsAdpInterp *adpPtr, NsAdpSource *sourcePtr,
                                 const char *varName);
static void         AppendHole(Ns_DString *dsPtr, bool isTcl, const char *file,
                               int nArgs, Tcl_Obj *const *args);
static void         AppendQuoted(Ns_DString *dsPtr, const char *word);

static const NsTclCommand commands[] = {
    {"ns_adp_append", AppendCmd, 1, NS_TCL_ANY, "string ?string ...?", 0},
    {"ns_adp_puts", PutsCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_puts", PutsCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_tell", TellCmd, 0, 0, NULL, 0},
    {"ns_adp_dump", DumpCmd, 0, 0, NULL, 0},
    {"ns_adp_trunc", TruncCmd, 0, 1, "?length?", 0},
    {"ns_adp_flush", FlushCmd, 0, 0, NULL, 0},
    {"ns_adp_close", CloseCmd, 0, 0, NULL, 0},
    {"ns_adp_mimetype", MimeTypeCmd, 0, 1, "?mimetype?", 0},
    {"ns_adp_mime", MimeTypeCmd, 0, 1, "?mimetype?", 0},
    {"_ns_adp_include", IncludeCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_eval", EvalCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_safeeval", SafeEvalCmd, 0, NS_TCL_ANY, NULL, 0},
    {"_ns_adp_tag", TagCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_adp_parse", ParseCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

void
NsAdpCmdInit(void)
{
    NsTclAddCommands(commands);
}

/*
 * The state of an interpreter in which a page runs; NULL after an error.
 */
static NsAdpInterp *
Active(const NsInterp *interpPtr)
{
    NsAdpInterp *adpPtr = interpPtr->adpPtr;

    if (adpPtr == NULL || adpPtr->framePtr == NULL) {
        Ns_TclPrintfResult(interpPtr->interp, "no active adp");
        return NULL;
    }
    return adpPtr;
}

static int
AppendCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr;

    adpPtr = Active(clientData);
    if (adpPtr == NULL) {
        return TCL_ERROR;
    }
    for (int i = 1; i < objc; i++) {
        int         length;
        const char *text = Tcl_GetStringFromObj(objv[i], &length);

        if (NsAdpAppend(adpPtr, text, length) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

static int
PutsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr;
    char        *text;
    int          length, noNewline = 0;
    Ns_ObjvSpec  opts[] = {
         {"-nonewline", Ns_ObjvBool, &noNewline, INT2PTR(true)},
         {"--", Ns_ObjvBreak, NULL, NULL},
         {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"string", Ns_ObjvString, &text, &length},
                          {NULL, NULL, NULL, NULL}};

    if (objc == 2) {
        text = Tcl_GetStringFromObj(objv[1], &length);
        if (STREQ(text, "-nonewline") || STREQ(text, "--")) {
            Tcl_WrongNumArgs(interp, 1, objv, "?-nonewline? ?--? string");
            return TCL_ERROR;
        }
    } else if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    adpPtr = Active(clientData);
    if (adpPtr == NULL || NsAdpAppend(adpPtr, text, length) != TCL_OK) {
        return TCL_ERROR;
    }
    return noNewline ? TCL_OK : NsAdpAppend(adpPtr, "\n", 1);
}

static int
TellCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr;

    if ((adpPtr = Active(clientData)) == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp,
                       Tcl_NewIntObj(Ns_DStringLength(NsAdpBuffer(adpPtr))));
}

static int
DumpCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr;
    Ns_DString  *bufferPtr;

    if ((adpPtr = Active(clientData)) == NULL) {
        return TCL_ERROR;
    }
    bufferPtr = NsAdpBuffer(adpPtr);
    return NsTclReturn(interp,
                       Tcl_NewStringObj(Ns_DStringValue(bufferPtr),
                                        Ns_DStringLength(bufferPtr)));
}

static int
TruncCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr;
    int          length = 0;

    if (objc == 2) {
        if (Tcl_GetIntFromObj(interp, objv[1], &length) != TCL_OK) {
            return TCL_ERROR;
        }
        if (length < 0) {
            return NsTclFail(interp, "invalid length: %d", length);
        }
    }
    adpPtr = Active(clientData);
    if (adpPtr == NULL) {
        return TCL_ERROR;
    }
    if (length < Ns_DStringLength(NsAdpBuffer(adpPtr))) {
        Ns_DStringSetLength(NsAdpBuffer(adpPtr), length);
    }
    return TCL_OK;
}

static int
FlushCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return Ns_AdpFlush(interp, true);
}

static int
CloseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);

    if (Ns_AdpFlush(interp, false) != TCL_OK) {
        return TCL_ERROR;
    }
    NsAdpReset(adpPtr);
    adpPtr->isClosed = true;
    return TCL_OK;
}

static int
MimeTypeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const NsInterp *interpPtr = clientData;
    Ns_Conn        *conn = (Ns_Conn *) interpPtr->connPtr;
    const char     *type;

    if (conn == NULL) {
        return TCL_OK;
    }
    if (objc == 2) {
        Ns_ConnSetEncodedTypeHeader(conn, Tcl_GetString(objv[1]));
    }
    type = Ns_SetIGet(Ns_ConnOutputHeaders(conn), "Content-Type");
    return NsTclReturnString(interp, type != NULL ? type : "");
}

static int
IncludeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    Ns_Time     *ttlPtr = NULL;
    char        *file;
    Ns_DString   path;
    int          noCache = 0, isTcl = 0, nArgs = 0, flags, result = TCL_OK;
    Ns_ObjvSpec  opts[] = {{"-cache", Ns_ObjvTime, &ttlPtr, NULL},
                           {"-nocache", Ns_ObjvBool, &noCache, INT2PTR(true)},
                           {"-tcl", Ns_ObjvBool, &isTcl, INT2PTR(true)},
                           {"--", Ns_ObjvBreak, NULL, NULL},
                           {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec  args[] = {{"file", Ns_ObjvString, &file, NULL},
                           {"?args", Ns_ObjvArgs, &nArgs, NULL},
                           {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&path);
    (void) NsAdpResolve(adpPtr, file, &path);
    if (noCache && adpPtr->nRecordings > 0) {
        AppendHole(NsAdpBuffer(adpPtr), isTcl != 0, Ns_DStringValue(&path),
                   nArgs, objv + (objc - nArgs));
    } else {
        flags = adpPtr->flags;
        if (noCache) {
            adpPtr->flags &= ~NS_ADP_CACHE;
        }
        result = NsAdpRun(adpPtr,
                          &(NsAdpSource){.file = Ns_DStringValue(&path),
                                         .isTcl = isTcl != 0,
                                         .ttlPtr = ttlPtr,
                                         .nArgs = nArgs,
                                         .args = objv + (objc - nArgs),
                                         .isInclude = true});
        adpPtr->flags = flags;
    }
    Ns_DStringFree(&path);
    return result;
}

/*
 * An include that is run each time the kept output is used.
 */
static void
AppendHole(Ns_DString *dsPtr, bool isTcl, const char *file, int nArgs,
           Tcl_Obj *const *args)
{
    Ns_DStringAppend(dsPtr, "<% ns_adp_include -nocache");
    Ns_DStringAppend(dsPtr, isTcl ? " -tcl -- " : " -- ");
    AppendQuoted(dsPtr, file);
    for (int i = 0; i < nArgs; i++) {
        Ns_DStringNAppend(dsPtr, " ", 1);
        AppendQuoted(dsPtr, Tcl_GetString(args[i]));
    }
    Ns_DStringNAppend(dsPtr, " %>", 3);
}

/*
 * One word of a script in which the page parser finds nothing.
 */
static void
AppendQuoted(Ns_DString *dsPtr, const char *word)
{
    Ns_DStringNAppend(dsPtr, "\"", 1);
    for (; *word != '\0'; word++) {
        if (ispunct(UCHAR(*word))) {
            Ns_DStringNAppend(dsPtr, "\\", 1);
        }
        Ns_DStringNAppend(dsPtr, word, 1);
    }
    Ns_DStringNAppend(dsPtr, "\"", 1);
}

static int
EvalCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return Eval(clientData, objc, objv, false);
}

static int
SafeEvalCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    int          before = adpPtr->flags & NS_ADP_SAFE, result;

    adpPtr->flags |= NS_ADP_SAFE;
    result = Eval(clientData, objc, objv, false);
    adpPtr->flags = (adpPtr->flags & ~NS_ADP_SAFE) | before;
    return result;
}

/*
 * A registered ADP tag: its text comes from whoever registered it, so its
 * scripts run in safe mode, too.
 */
static int
TagCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    return Eval(clientData, objc, objv, true);
}

static int
Eval(NsInterp *interpPtr, int objc, Tcl_Obj *const *objv, bool isTrusted)
{
    if (objc < 2) {
        Tcl_WrongNumArgs(interpPtr->interp, 1, objv, "page ?args ...?");
        return TCL_ERROR;
    }
    return RunForOutput(NsAdpGet(interpPtr->interp),
                        &(NsAdpSource){.textObj = objv[1],
                                       .isTrusted = isTrusted,
                                       .nArgs = objc - 1,
                                       .args = objv + 1},
                        NULL);
}

static int
ParseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsAdpInterp *adpPtr = NsAdpGet(interp);
    char        *varName = NULL, *dir = NULL;
    Ns_DString   path, cwd;
    NsAdpSource  source = {.file = NULL};
    int          isString = 0, isFile = 0, isTcl = 0, isSafe = 0, nArgs = 0;
    int          flags, result;
    Ns_ObjvSpec  opts[] = {
         {"-string", Ns_ObjvBool, &isString, INT2PTR(true)},
         {"-file", Ns_ObjvBool, &isFile, INT2PTR(true)},
         {"-tcl", Ns_ObjvBool, &isTcl, INT2PTR(true)},
         {"-safe", Ns_ObjvBool, &isSafe, INT2PTR(true)},
         {"-savedresult", Ns_ObjvString, &varName, NULL},
         {"-cwd", Ns_ObjvString, &dir, NULL},
         {"--", Ns_ObjvBreak, NULL, NULL},
         {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"args", Ns_ObjvArgs, &nArgs, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&path);
    Ns_DStringInit(&cwd);
    source.nArgs = nArgs;
    source.args = objv + (objc - nArgs);
    source.isTcl = isTcl != 0;
    if (dir != NULL) {
        source.dir = NsAdpResolve(adpPtr, dir, &cwd);
    }
    if (!isFile && !isTcl) {
        source.textObj = source.args[0];
    } else if (dir != NULL && *Tcl_GetString(source.args[0]) != '/') {
        Ns_DStringAppend(&path, source.dir);
        Ns_DStringNAppend(&path, "/", 1);
        Ns_DStringAppend(&path, Tcl_GetString(source.args[0]));
        source.file = Ns_DStringValue(&path);
    } else {
        source.file = NsAdpResolve(adpPtr, Tcl_GetString(source.args[0]),
                                   &path);
    }
    flags = adpPtr->flags;
    adpPtr->flags |= isSafe ? NS_ADP_SAFE : 0;
    result = RunForOutput(adpPtr, &source, varName);
    adpPtr->flags = flags;
    Ns_DStringFree(&cwd);
    Ns_DStringFree(&path);
    return result;
}

/*
 * Run with a buffer of its own, which becomes the result; that of the last
 * script goes to a variable.
 */
static int
RunForOutput(NsAdpInterp *adpPtr, NsAdpSource *sourcePtr, const char *varName)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    Ns_DString  output;
    int         result;

    Ns_DStringInit(&output);
    sourcePtr->outputPtr = &output;
    result = NsAdpRun(adpPtr, sourcePtr);
    if (result == TCL_OK && varName != NULL
        && Tcl_SetVar2Ex(interp, varName, NULL, Tcl_GetObjResult(interp),
                         TCL_LEAVE_ERR_MSG)
            == NULL) {
        result = TCL_ERROR;
    }
    if (result == TCL_OK) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj(Ns_DStringValue(&output),
                                          Ns_DStringLength(&output)));
    }
    Ns_DStringFree(&output);
    return result;
}

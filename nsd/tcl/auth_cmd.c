/* SPDX-License-Identifier: MPL-2.0
 * auth_cmd.c --
 *
 *      Who may see what: ns_register_auth, ns_auth, ns_requestauthorize.
 */

#include "nslog.h"
#include "nsprocess.h"
#include "nsrequest.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "request/auth.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

#define DEFAULT_AUTHORITY "tcl"

enum { CHAIN_REQUEST, CHAIN_USER };

static Tcl_ObjCmdProc RegisterCmd, AuthRequest, AuthUser, RequestAuthorizeCmd;

static Ns_AuthorizeRequestProc RunRequestScript;
static Ns_AuthorizeUserProc    RunUserScript;

static int      AskRequest(const NsInterp *itPtr, const NsAuthQuery *queryPtr,
                           bool isDict);
static int      Answer(Tcl_Interp *interp, int result, const char *authority,
                       bool isDict);
static int      RunScript(const Ns_TclCallback *callbackPtr,
                          const char *const *words, int nWords, int *codePtr);
static int      Catch(Tcl_Interp *interp, const Ns_TclCallback *callbackPtr,
                      const char *const *words, int nWords);
static Tcl_Obj *ScriptOf(const Ns_TclCallback *callbackPtr,
                         const char *const *words, int nWords);
static int      ResultOf(const Ns_TclCallback *callbackPtr, const char *answer);

static const NsTclCommand commands[] = {
    {"ns_register_auth", RegisterCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_requestauthorize", RequestAuthorizeCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_checkurl", RequestAuthorizeCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

static const NsTclCommand subcommands[] = {
    {"request", AuthRequest, 0, NS_TCL_ANY, NULL, 0},
    {"user", AuthUser, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};
static const NsTclEnsemble ensemble = {
    "ns_auth", "subcommand ?arg ...?", "subcommand", NS_TCL_EXACT, subcommands};

static Ns_ObjvTable chains[] = {
    {"request", CHAIN_REQUEST}, {"user", CHAIN_USER}, {NULL, 0}};

static const struct {
    const char *word;
    int         result;
} answers[] = {{"OK", NS_OK},
               {"ERROR", NS_ERROR},
               {"FORBIDDEN", NS_FORBIDDEN},
               {"UNAUTHORIZED", NS_UNAUTHORIZED},
               {"FILTER_RETURN", NS_FILTER_RETURN}};

void
NsAuthCmdInit(void)
{
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&ensemble);
    Ns_RegisterProcInfo((void *) RunRequestScript, "ns:tclauth",
                        Ns_TclCallbackArgProc);
    Ns_RegisterProcInfo((void *) RunUserScript, "ns:tclauth",
                        Ns_TclCallbackArgProc);
}

/*
 * ns_register_auth ?-authority name? ?-first? ?--? request|user script
 * ?arg ...?
 */
static int
RegisterCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    const char     *server = itPtr->serverPtr->name;
    Ns_TclCallback *callbackPtr;
    Tcl_Obj        *scriptPtr;
    char           *authority = (char *) DEFAULT_AUTHORITY;
    int             isFirst = 0, chain = CHAIN_REQUEST, nArgs = 0;
    Ns_ObjvSpec     opts[] = {{"-authority", Ns_ObjvString, &authority, NULL},
                              {"-first", Ns_ObjvBool, &isFirst, INT2PTR(true)},
                              {"--", Ns_ObjvBreak, NULL, NULL},
                              {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec     args[] = {{"request|user", Ns_ObjvIndex, &chain, chains},
                              {"script", Ns_ObjvObj, &scriptPtr, NULL},
                              {"?args", Ns_ObjvArgs, &nArgs, NULL},
                              {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    callbackPtr = Ns_TclNewCallback(interp, NULL, scriptPtr, nArgs,
                                    objv + (objc - nArgs));
    if (chain == CHAIN_REQUEST) {
        callbackPtr->cbProc = (Ns_Callback *) (void (*)(void)) RunRequestScript;
        (void) Ns_RegisterAuthorizeRequest(server, RunRequestScript,
                                           callbackPtr, authority,
                                           isFirst != 0);
    } else {
        callbackPtr->cbProc = (Ns_Callback *) (void (*)(void)) RunUserScript;
        (void) Ns_RegisterAuthorizeUser(server, RunUserScript, callbackPtr,
                                        authority, isFirst != 0);
    }
    return TCL_OK;
}

/*
 * ns_auth request ?-dict? ?--? method url user password ?ip?
 */
static int
AuthRequest(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    char       *method, *url, *user, *password, *peer = NULL;
    int         isDict = 0;
    Ns_ObjvSpec opts[] = {{"-dict", Ns_ObjvBool, &isDict, INT2PTR(true)},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {
        {"method", Ns_ObjvString, &method, NULL},
        {"url", Ns_ObjvString, &url, NULL},
        {"user", Ns_ObjvString, &user, NULL},
        {"password", Ns_ObjvString, &password, NULL},
        {"?ip", Ns_ObjvString, &peer, NULL},
        {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    return AskRequest(clientData,
                      &(NsAuthQuery){method, url, user, password, peer},
                      isDict != 0);
}

static int
AuthUser(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    NsAuthQuery     query = {0};
    char           *user, *password;
    const char     *authority;
    int             isDict = 0, result;
    Ns_ObjvSpec     opts[] = {{"-dict", Ns_ObjvBool, &isDict, INT2PTR(true)},
                              {"--", Ns_ObjvBreak, NULL, NULL},
                              {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec     args[] = {{"user", Ns_ObjvString, &user, NULL},
                              {"password", Ns_ObjvString, &password, NULL},
                              {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    query.user = user;
    query.password = password;
    result = NsAuthUser(itPtr->serverPtr, &query, &authority);
    return Answer(interp, result, authority, isDict != 0);
}

static int
RequestAuthorizeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                    Tcl_Obj *const *objv)
{
    char       *method, *url, *user, *password, *peer = NULL;
    Ns_ObjvSpec args[] = {
        {"method", Ns_ObjvString, &method, NULL},
        {"url", Ns_ObjvString, &url, NULL},
        {"authuser", Ns_ObjvString, &user, NULL},
        {"authpasswd", Ns_ObjvString, &password, NULL},
        {"?ipaddr", Ns_ObjvString, &peer, NULL},
        {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(NULL, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    return AskRequest(clientData,
                      &(NsAuthQuery){method, url, user, password, peer}, false);
}

static int
AskRequest(const NsInterp *itPtr, const NsAuthQuery *queryPtr, bool isDict)
{
    const char *authority;
    int         result = NsAuthRequest(itPtr->serverPtr, queryPtr, &authority);

    return Answer(itPtr->interp, result, authority, isDict);
}

static int
Answer(Tcl_Interp *interp, int result, const char *authority, bool isDict)
{
    const char *word = NULL;
    Tcl_Obj    *dictPtr;

    for (int i = 0; i < Ns_NrElements(answers); i++) {
        if (answers[i].result == result) {
            word = answers[i].word;
        }
    }
    NsAssert(word != NULL);
    if (!isDict) {
        return NsTclReturnString(interp, word);
    }
    dictPtr = Tcl_NewObj();
    (void) Tcl_DictObjPut(NULL, dictPtr, Tcl_NewStringObj("authority", -1),
                          Tcl_NewStringObj(authority == NULL ? "" : authority,
                                           -1));
    (void) Tcl_DictObjPut(NULL, dictPtr, Tcl_NewStringObj("code", -1),
                          Tcl_NewStringObj(word, -1));
    Tcl_SetObjResult(interp, dictPtr);
    return TCL_OK;
}

static int
RunRequestScript(void *arg, const char *method, const char *url,
                 const char *user, const char *password, const char *peer,
                 int *codePtr)
{
    const char *const words[] = {method, url, user, password, peer};

    return RunScript(arg, words, Ns_NrElements(words), codePtr);
}

static int
RunUserScript(void *arg, const char *user, const char *password, int *codePtr)
{
    const char *const words[] = {user, password};

    return RunScript(arg, words, Ns_NrElements(words), codePtr);
}

static int
RunScript(const Ns_TclCallback *callbackPtr, const char *const *words,
          int nWords, int *codePtr)
{
    Ns_Conn    *conn = Ns_GetConn();
    Tcl_Interp *interp = conn != NULL
        ? Ns_GetConnInterp(conn)
        : Ns_TclAllocateInterp(callbackPtr->server);
    int         result = NS_ERROR;

    if (interp == NULL) {
        *codePtr = TCL_ERROR;
        return NS_ERROR;
    }
    *codePtr = Catch(interp, callbackPtr, words, nWords);
    if (*codePtr == TCL_OK || *codePtr == TCL_BREAK) {
        result = ResultOf(callbackPtr, Tcl_GetStringResult(interp));
    } else if (*codePtr != TCL_RETURN) {
        *codePtr = TCL_ERROR;
        (void) Ns_TclLogErrorInfo(interp, "\n(context: authorization)");
    }
    if (conn == NULL) {
        Ns_TclDeAllocateInterp(interp);
    }
    return result;
}

/*
 * Evaluate the script and leave its result.  Whether it ended by return or by
 * break is something that only the command catch tells outside of other
 * scripts.
 */
static int
Catch(Tcl_Interp *interp, const Ns_TclCallback *callbackPtr,
      const char *const *words, int nWords)
{
    Tcl_Obj *objv[] = {
        Tcl_NewStringObj("::catch", -1), ScriptOf(callbackPtr, words, nWords),
        Tcl_NewStringObj("::nsd authorization result", -1),
        Tcl_NewStringObj("::nsd authorization options", -1)};
    int code = TCL_ERROR;

    for (int i = 0; i < Ns_NrElements(objv); i++) {
        Tcl_IncrRefCount(objv[i]);
    }
    if (Tcl_EvalObjv(interp, Ns_NrElements(objv), objv, TCL_EVAL_GLOBAL)
        == TCL_OK) {
        Tcl_Obj *resultPtr = Tcl_ObjGetVar2(interp, objv[2], NULL, 0);
        Tcl_Obj *optionsPtr = Tcl_ObjGetVar2(interp, objv[3], NULL, 0);

        (void) Tcl_GetIntFromObj(NULL, Tcl_GetObjResult(interp), &code);
        NsAssert(resultPtr != NULL && optionsPtr != NULL);
        Tcl_SetObjResult(interp, resultPtr);
        if (code == TCL_ERROR) {
            (void) Tcl_SetReturnOptions(interp, optionsPtr);
        }
        (void) Tcl_UnsetVar(interp, Tcl_GetString(objv[2]), 0);
        (void) Tcl_UnsetVar(interp, Tcl_GetString(objv[3]), 0);
    }
    for (int i = 0; i < Ns_NrElements(objv); i++) {
        Tcl_DecrRefCount(objv[i]);
    }
    return code;
}

/*
 * The words of the call come before those of the registration.
 */
static Tcl_Obj *
ScriptOf(const Ns_TclCallback *callbackPtr, const char *const *words,
         int nWords)
{
    Ns_DString ds;
    Tcl_Obj   *scriptPtr;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, callbackPtr->script);
    for (int i = 0; i < nWords; i++) {
        Ns_DStringAppendElement(&ds, words[i] == NULL ? "" : words[i]);
    }
    for (int i = 0; i < callbackPtr->argc; i++) {
        Ns_DStringAppendElement(&ds, callbackPtr->argv[i]);
    }
    scriptPtr = Tcl_NewStringObj(Ns_DStringValue(&ds), Ns_DStringLength(&ds));
    Ns_DStringFree(&ds);
    return scriptPtr;
}

static int
ResultOf(const Ns_TclCallback *callbackPtr, const char *answer)
{
    for (int i = 0; i < Ns_NrElements(answers); i++) {
        int result = answers[i].result;

        if (STRIEQ(answer, answers[i].word) && result != NS_ERROR
            && result != NS_FILTER_RETURN) {
            return result;
        }
    }
    Ns_Log(Error, "auth[%s]: authorize script returned unexpected: %s",
           callbackPtr->script, answer);
    return NS_ERROR;
}

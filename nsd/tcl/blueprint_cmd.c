/* SPDX-License-Identifier: MPL-2.0
 * blueprint_cmd.c --
 *
 *      Interpreters and their start in Tcl: ns_ictl, ns_init, ns_cleanup,
 *      ns_reinit, ns_cleanupvars, ns_cleanupchans, ns_runonce, ns_library,
 *      ns_module, ns_modulepath.
 */

#include "nsfile.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/thread.h"
#include "process/module.h"
#include "tcl/bare.h"
#include "tcl/blueprint.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/globals.h"
#include "tcl/origins.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"
#include "tcl/statesum.h"
#include "tcl/statetext.h"
#include "tcl/trace.h"

static Tcl_ObjCmdProc InitCmd, CleanupCmd, ReinitCmd, CleanupVarsCmd,
    CleanupChansCmd, RunOnceCmd, LibraryCmd, ModuleCmd, ModulePathCmd;

/*
 * Subcommands of ns_ictl.
 */
static Tcl_ObjCmdProc AddModule, RunDeferred, Epoch, Get, GetModules, GetTraces,
    MarkForDelete, OnCreate, OnCleanup, OnDelete, RunTraces, Save, Trace,
    Update, Bare, Definitions, Others, LoadModules, MaxUpdates, Remake,
    SaveState, Sum, StateOf;

static int  AppendDefinition(Tcl_Interp *interp, Tcl_Obj *const *words,
                             Tcl_Obj *nameObj, Tcl_Obj *scriptObj);
static int  AppendFormal(Tcl_Interp *interp, Tcl_Obj *const *words,
                         Tcl_Obj *nameObj, Tcl_Obj *formalObj,
                         Tcl_Obj *formalsObj);
static int  SaveScript(const NsInterp *itPtr, Tcl_Obj *scriptObj,
                       const char *circumstances);
static bool IsBooting(const NsInterp *itPtr);
static void SetWord(char **wordPtr, const char *word);
static int  AddTrace(NsInterp *itPtr, int when, Tcl_Obj *scriptPtr, int objc,
                     Tcl_Obj *const *objv);
static int  ParseWhen(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                      int *whenPtr);
static Ns_ThreadProc RunRemaking;
static int           EvalRemade(NsInterp *itPtr, const char *script,
                                Ns_DString *errorPtr);

static const NsTclCommand commands[] = {
    {"ns_init", InitCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cleanup", CleanupCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_reinit", ReinitCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cleanupvars", CleanupVarsCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cleanupchans", CleanupChansCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_runonce", RunOnceCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_library", LibraryCmd, 1, 2, "library ?module?", 0},
    {"ns_module", ModuleCmd, 1, 2, "key ?val?", 0},
    {"ns_modulepath", ModulePathCmd, 1, NS_TCL_ANY, "server ?module ...?", 0},
    NS_TCL_END};

static const NsTclCommand subcmds[] = {
    {"addmodule", AddModule, 1, 1, "module", 0},
    {"cleanup", RunDeferred, 0, NS_TCL_ANY, NULL, 0},
    {"epoch", Epoch, 0, NS_TCL_ANY, NULL, 0},
    {"get", Get, 0, NS_TCL_ANY, NULL, 0},
    {"getmodules", GetModules, 0, NS_TCL_ANY, NULL, 0},
    {"gettraces", GetTraces, 0, NS_TCL_ANY, NULL, 0},
    {"markfordelete", MarkForDelete, 0, NS_TCL_ANY, NULL, 0},
    {"oncreate", OnCreate, 1, 1, "script", 0},
    {"oncleanup", OnCleanup, 1, 1, "script", 0},
    {"ondelete", OnDelete, 1, 1, "script", 0},
    {"oninit", OnCreate, 1, 1, "script", 0},
    {"runtraces", RunTraces, 0, NS_TCL_ANY, NULL, 0},
    {"save", Save, 1, 1, "script", 0},
    {"trace", Trace, 0, NS_TCL_ANY, NULL, 0},
    {"update", Update, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    /* The init file's own. */
    {"bare", Bare, 1, 2, "key ?facts?", 0},
    {"definitions", Definitions, 1, 1, "procs", 0},
    {"others", Others, 1, 1, "names", 0},
    {"savestate", SaveState, 2, 4, "script circumstances ?sum part?", 0},
    {"stateof", StateOf, 1, 1, "sum", 0},
    {"sum", Sum, 2, 2, "without text", 0},
    {"loadmodules", LoadModules, 0, NS_TCL_ANY, NULL, 0},
    {"maxconcurrentupdates", MaxUpdates, 0, 1, "?number?", 0},
    {"remake", Remake, 1, 1, "script", 0},
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_ictl", "option ?arg?", "option", 0, subcmds};

static Ns_ObjvTable whenTable[] = {
    {"allocate", NS_TCL_TRACE_ALLOCATE},
    {"create", NS_TCL_TRACE_CREATE},
    {"deallocate", NS_TCL_TRACE_DEALLOCATE},
    {"delete", NS_TCL_TRACE_DELETE},
    {"freeconn", NS_TCL_TRACE_FREECONN},
    {"getconn", NS_TCL_TRACE_GETCONN},
    {"idle", NS_TCL_TRACE_IDLE},
    {NULL, 0}};

/*
 * Texts of ns_runonce -global.
 */
static Ns_Mutex      globalLock;
static Tcl_HashTable globalRunOnce;

void
NsBlueprintCmdInit(void)
{
    NsMutexSetup(&globalLock, NS_RANK_TCL_RUNONCE, "nsd:runonce", NULL);
    Tcl_InitHashTable(&globalRunOnce, TCL_STRING_KEYS);
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&ensemble);
}

/*
 * ---------------------------------------------------------------- ns_ictl
 */

static int
AddModule(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsInterp *itPtr = clientData;

    if (!IsBooting(itPtr)) {
        return NsTclFail(interp, "cannot add module after server startup");
    }
    NsBlueprintAddModule(itPtr->serverPtr->tclPtr, Tcl_GetString(objv[2]));
    return GetModules(clientData, interp, 2, objv);
}

static int
RunDeferred(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsInterpRunDeferred(clientData);
    return TCL_OK;
}

static int
Epoch(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;

    return NsTclReturn(
        interp, Tcl_NewIntObj(atomic_load(&itPtr->serverPtr->tclPtr->epoch)));
}

static int
Get(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;

    return NsTclReturn(interp, NsBlueprintScript(itPtr->serverPtr->tclPtr));
}

static int
GetModules(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const NsServer   *serverPtr = ((const NsInterp *) clientData)->serverPtr;
    const Ns_DString *dsPtr;

    if (objc == 4 && STREQ(Tcl_GetString(objv[2]), "-server")) {
        serverPtr = NsServerArgFind(interp, Tcl_GetString(objv[3]));
        if (serverPtr == NULL) {
            return TCL_ERROR;
        }
    } else if (objc != 2) {
        Tcl_WrongNumArgs(interp, 2, objv, "?-server server?");
        return TCL_ERROR;
    }
    dsPtr = &serverPtr->tclPtr->modules;
    return NsTclReturn(interp,
                       Tcl_NewStringObj(Ns_DStringValue(dsPtr),
                                        Ns_DStringLength(dsPtr)));
}

static int
MaxUpdates(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    int max;

    if (objc == 3) {
        if (Tcl_GetIntFromObj(interp, objv[2], &max) != TCL_OK) {
            return TCL_ERROR;
        }
        if (max < 1) {
            return NsTclFail(interp,
                             "expected a number of at least 1 but got"
                             " \"%s\"",
                             Tcl_GetString(objv[2]));
        }
        NsBlueprintSetMaxUpdates(max);
    }
    return NsTclReturn(interp, Tcl_NewIntObj(NsBlueprintMaxUpdates()));
}

static int
GetTraces(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    Ns_DString      ds;
    int             when = 0;

    if (ParseWhen(interp, objc, objv, &when) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    for (int i = 0; whenTable[i].key != NULL; i++) {
        if ((when & whenTable[i].value) != 0) {
            NsTraceDescribe(&ds, itPtr->serverPtr, whenTable[i].value);
        }
    }
    return NsTclReturnText(interp, &ds);
}

static int
MarkForDelete(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Ns_TclMarkForDelete(interp);
    return TCL_OK;
}

static int
OnCreate(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return AddTrace(clientData, NS_TCL_TRACE_CREATE, objv[2], 0, NULL);
}

static int
OnCleanup(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    return AddTrace(clientData, NS_TCL_TRACE_DEALLOCATE, objv[2], 0, NULL);
}

static int
OnDelete(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return AddTrace(clientData, NS_TCL_TRACE_DELETE, objv[2], 0, NULL);
}

static int
RunTraces(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    int when = 0;

    if (ParseWhen(interp, objc, objv, &when) != TCL_OK) {
        return TCL_ERROR;
    }
    for (int i = 0; whenTable[i].key != NULL; i++) {
        if ((when & whenTable[i].value) != 0) {
            NsTraceRun(clientData, whenTable[i].value);
        }
    }
    return TCL_OK;
}

static int
Save(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return SaveScript(clientData, objv[2], NULL);
}

/*
 * The part is the beginning of the script, and made from what the sum is of.
 */
static int
SaveState(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    const char     *circumstances = Tcl_GetString(objv[3]);
    const char     *script, *part;
    int             length, nBytes;

    if (SaveScript(itPtr, objv[2],
                   circumstances[0] == '\0' ? NULL : circumstances)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (objc == 6) {
        script = Tcl_GetStringFromObj(objv[2], &length);
        part = Tcl_GetStringFromObj(objv[5], &nBytes);
        if (nBytes <= length && memcmp(script, part, (size_t) nBytes) == 0) {
            NsBlueprintNote(itPtr->serverPtr->tclPtr, Tcl_GetString(objv[4]),
                            (size_t) nBytes);
        }
    }
    return TCL_OK;
}

static int
SaveScript(const NsInterp *itPtr, Tcl_Obj *scriptObj, const char *circumstances)
{
    Ns_DString  error;
    const char *script;
    int         length, result;

    script = Tcl_GetStringFromObj(scriptObj, &length);
    Ns_DStringInit(&error);
    result = NsBlueprintSave(itPtr->serverPtr->tclPtr, script, (size_t) length,
                             circumstances, &error);
    Tcl_DStringResult(itPtr->interp, &error);
    return result;
}

/*
 * The sum of the interpreter that runs the init file; empty for others, whose
 * states are their own, and where it cannot be told.
 */
static int
Sum(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Ns_DString sum;

    Ns_DStringInit(&sum);
    if (IsBooting(clientData)) {
        (void) NsStateSum(interp, objv[2], Tcl_GetString(objv[3]), &sum);
    }
    return NsTclReturnText(interp, &sum);
}

/*
 * What another server has saved as made from this sum; empty: nothing.
 */
static int
StateOf(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Tcl_Obj *obj = NsStateTextBySum(Tcl_GetString(objv[2]));

    return NsTclReturn(interp, obj == NULL ? Tcl_NewObj() : obj);
}

static int
Trace(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_Obj    *scriptPtr;
    int         when = 0, nArgs = 0;
    Ns_ObjvSpec args[] = {{"when", Ns_ObjvFlags, &when, whenTable},
                          {"script", Ns_ObjvObj, &scriptPtr, NULL},
                          {"?args", Ns_ObjvArgs, &nArgs, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(NULL, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    return AddTrace(clientData, when, scriptPtr, nArgs, objv + (objc - nArgs));
}

static int
Update(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    return NsBlueprintApply(clientData);
}

/*
 * What was kept under the key, or, with facts, these, which are kept now.
 */
static int
Bare(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char *key = Tcl_GetString(objv[2]);
    Tcl_Obj    *factsObj;

    if (objc == 4) {
        NsBareKeep(key, Tcl_GetString(objv[3]));
        return NsTclReturn(interp, objv[3]);
    }
    factsObj = NsBareGet(key);
    return NsTclReturn(interp, factsObj == NULL ? Tcl_NewObj() : factsObj);
}

/*
 * The words that ask `info` about a procedure.  Tcl remembers in them what they
 * lead to.
 */
enum {
    WORD_INFO,
    WORD_ARGS,
    WORD_BODY,
    WORD_DEFAULT,
    WORD_VARIABLE,
    WORD_PROC,
    N_WORDS
};

/*
 * A script that defines the procedures as they are.
 */
static int
Definitions(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static const char *const texts[N_WORDS] = {
        "::info", "args", "body", "default", "default", "::proc"};
    Tcl_Obj *words[N_WORDS], **names, *scriptObj;
    int      nNames, result;

    result = Tcl_ListObjGetElements(interp, objv[2], &nNames, &names);
    if (result != TCL_OK) {
        return result;
    }
    scriptObj = Tcl_NewObj();
    Tcl_IncrRefCount(scriptObj);
    for (int i = 0; i < N_WORDS; i++) {
        words[i] = Tcl_NewStringObj(texts[i], -1);
        Tcl_IncrRefCount(words[i]);
    }
    for (int i = 0; i < nNames && result == TCL_OK; i++) {
        result = AppendDefinition(interp, words, names[i], scriptObj);
    }
    if (result == TCL_OK) {
        Tcl_SetObjResult(interp, scriptObj);
    }
    for (int i = 0; i < N_WORDS; i++) {
        Tcl_DecrRefCount(words[i]);
    }
    Tcl_DecrRefCount(scriptObj);
    return result;
}

static int
AppendDefinition(Tcl_Interp *interp, Tcl_Obj *const *words, Tcl_Obj *nameObj,
                 Tcl_Obj *scriptObj)
{
    Tcl_Obj *ask[3] = {words[WORD_INFO], words[WORD_ARGS], nameObj};
    Tcl_Obj *argsObj, *formalsObj, **args;
    int      nArgs, result;

    if (Tcl_EvalObjv(interp, 3, ask, 0) != TCL_OK) {
        return TCL_ERROR;
    }
    argsObj = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(argsObj);
    formalsObj = Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(formalsObj);
    result = Tcl_ListObjGetElements(interp, argsObj, &nArgs, &args);
    for (int i = 0; result == TCL_OK && i < nArgs; i++) {
        result = AppendFormal(interp, words, nameObj, args[i], formalsObj);
    }
    ask[1] = words[WORD_BODY];
    if (result == TCL_OK
        && (result = Tcl_EvalObjv(interp, 3, ask, 0)) == TCL_OK) {
        Tcl_Obj *definition[4] = {
            words[WORD_PROC], nameObj, formalsObj, Tcl_GetObjResult(interp)};
        Tcl_Obj *commandObj = Tcl_NewListObj(4, definition);

        Tcl_AppendObjToObj(scriptObj, commandObj);
        Tcl_AppendToObj(scriptObj, "\n", 1);
        Tcl_DecrRefCount(commandObj);
    }
    Tcl_DecrRefCount(formalsObj);
    Tcl_DecrRefCount(argsObj);
    return result;
}

/*
 * The formal parameter, with its default if it has one.
 */
static int
AppendFormal(Tcl_Interp *interp, Tcl_Obj *const *words, Tcl_Obj *nameObj,
             Tcl_Obj *formalObj, Tcl_Obj *formalsObj)
{
    Tcl_Obj *ask[5] = {words[WORD_INFO], words[WORD_DEFAULT], nameObj,
                       formalObj, words[WORD_VARIABLE]};
    int      hasDefault;

    if (Tcl_EvalObjv(interp, 5, ask, 0) != TCL_OK
        || Tcl_GetBooleanFromObj(interp, Tcl_GetObjResult(interp), &hasDefault)
            != TCL_OK) {
        return TCL_ERROR;
    }
    if (hasDefault) {
        Tcl_Obj *pair[2] = {formalObj,
                            Tcl_GetVar2Ex(interp, "default", NULL, 0)};

        NsAssert(pair[1] != NULL);
        formalObj = Tcl_NewListObj(2, pair);
    }
    return Tcl_ListObjAppendElement(interp, formalsObj, formalObj);
}

/*
 * Those of the commands that are not plain ones of the server.
 */
static int
Others(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Tcl_Obj **names, *othersObj;
    int       nNames;

    if (Tcl_ListObjGetElements(interp, objv[2], &nNames, &names) != TCL_OK) {
        return TCL_ERROR;
    }
    othersObj = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < nNames; i++) {
        if (!NsTclIsOwn(interp, Tcl_GetString(names[i]))) {
            (void) Tcl_ListObjAppendElement(NULL, othersObj, names[i]);
        }
    }
    return NsTclReturn(interp, othersObj);
}

/*
 * Load the binary modules of the server, and note the names of all.
 */
static int
LoadModules(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsInterp *itPtr = clientData;

    if (!IsBooting(itPtr)) {
        return NsTclFail(interp, "server already started");
    }
    NsModulesLoad(interp, itPtr->serverPtr);
    return TCL_OK;
}

/*
 * What the thread of a new state works on; the caller waits for it.
 */
typedef struct Remaking {
    NsServer   *serverPtr;
    const char *script;
    int         result;
    Ns_DString  error;
} Remaking;

/*
 * Evaluate a script in a new interpreter, and give its state to all others.
 *
 * The interpreter has a thread of its own, with which it ends: packages as nsf
 * keep what they have of an interpreter until its thread ends, so a thread that
 * makes one state after the other would grow with each.
 */
static int
Remake(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsInterp *itPtr = clientData;
    Remaking  remaking = {
         itPtr->serverPtr, Tcl_GetString(objv[2]), TCL_ERROR, {0}};
    Ns_Thread thread;
    int       error;

    Ns_DStringInit(&remaking.error);
    error = NsThreadTry(RunRemaking, &remaking, 0, &thread);
    if (error != 0) {
        return NsTclFail(interp, "no thread for the script: %s",
                         Tcl_ErrnoMsg(error));
    }
    Ns_ThreadJoin(&thread, NULL);
    if (remaking.result == TCL_OK) {
        Ns_DStringFree(&remaking.error);
    } else {
        Tcl_DStringResult(interp, &remaking.error);
    }
    return remaking.result;
}

static void
RunRemaking(void *arg)
{
    Remaking *remakingPtr = arg;
    NsInterp *newPtr;

    Ns_ThreadSetName("-ns_eval:%s-", remakingPtr->serverPtr->name);
    newPtr = NsInterpCreate(remakingPtr->serverPtr);
    if (newPtr == NULL) {
        Ns_DStringAppend(&remakingPtr->error, "no interpreter for the script");
        return;
    }
    newPtr->nUses = 1;
    newPtr->isDoomed = true;
    NsTraceRun(newPtr, NS_TCL_TRACE_ALLOCATE);
    NsOriginsNote(newPtr->interp);
    remakingPtr->result = EvalRemade(newPtr, remakingPtr->script,
                                     &remakingPtr->error);
    Ns_TclDeAllocateInterp(newPtr->interp);
}

static int
EvalRemade(NsInterp *itPtr, const char *script, Ns_DString *errorPtr)
{
    Tcl_Interp *interp = itPtr->interp;
    Ns_DString  record;
    const char *state;
    int         length;

    /* Strings, not objects, go from one interpreter to the other. */
    Ns_DStringInit(&record);
    Ns_DStringAppendElement(&record, "::nstrace::record");
    Ns_DStringAppendElement(&record, script);
    if (Tcl_EvalEx(interp, Ns_DStringValue(&record), Ns_DStringLength(&record),
                   TCL_EVAL_GLOBAL)
            != TCL_OK
        || Tcl_EvalEx(interp, "::nstrace::statescript", -1, TCL_EVAL_GLOBAL)
            != TCL_OK) {
        Ns_DStringFree(&record);
        Ns_DStringAppend(errorPtr, Tcl_GetStringResult(interp));
        (void) Ns_TclLogErrorInfo(interp, "\n(context: ns_eval)");
        return TCL_ERROR;
    }
    Ns_DStringFree(&record);
    state = Tcl_GetStringFromObj(Tcl_GetObjResult(interp), &length);
    return NsBlueprintSave(itPtr->serverPtr->tclPtr, state, (size_t) length,
                           NULL, errorPtr);
}

/*
 * While the server runs its init file, in the interpreter that does.
 */
static bool
IsBooting(const NsInterp *itPtr)
{
    return NsServerInitializing() == itPtr->serverPtr
        && itPtr->serverPtr->tclPtr->bootPtr == itPtr;
}

static int
AddTrace(NsInterp *itPtr, int when, Tcl_Obj *scriptPtr, int objc,
         Tcl_Obj *const *objv)
{
    if (!IsBooting(itPtr)
        || NsTraceAddScript(itPtr, when, scriptPtr, objc, objv) != TCL_OK) {
        return NsTclFail(itPtr->interp,
                         "cannot register trace after server startup");
    }
    return TCL_OK;
}

static int
ParseWhen(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, int *whenPtr)
{
    Ns_ObjvSpec args[] = {{"when", Ns_ObjvFlags, whenPtr, whenTable},
                          {NULL, NULL, NULL, NULL}};

    return Ns_ParseObjv(NULL, args, interp, 2, objc, objv) == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

/*
 * ------------------------------------------------- Use and end of a use
 */

static int
InitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return NsBlueprintApply(clientData);
}

static int
CleanupCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsInterpCleanup(clientData);
    return TCL_OK;
}

static int
ReinitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsTraceRun(clientData, NS_TCL_TRACE_DEALLOCATE);
    NsTraceRun(clientData, NS_TCL_TRACE_ALLOCATE);
    Tcl_ResetResult(interp);
    return TCL_OK;
}

static int
CleanupVarsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    NsGlobalsCleanup(clientData);
    return TCL_OK;
}

static int
CleanupChansCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    NsInterpCleanupChannels(clientData);
    return TCL_OK;
}

/*
 * ns_runonce ?-global? ?--? script
 */
static int
RunOnceCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    NsTclServer    *tclPtr = itPtr->serverPtr->tclPtr;
    Tcl_Obj        *scriptPtr;
    Ns_Mutex       *lockPtr;
    int             isGlobal = 0, isNew;
    Ns_ObjvSpec opts[] = {{"-global", Ns_ObjvBool, &isGlobal, INT2PTR(true)},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"script", Ns_ObjvObj, &scriptPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    lockPtr = isGlobal ? &globalLock : &tclPtr->lock;
    Ns_MutexLock(lockPtr);
    (void) Tcl_CreateHashEntry(isGlobal ? &globalRunOnce : &tclPtr->runOnce,
                               Tcl_GetString(scriptPtr), &isNew);
    Ns_MutexUnlock(lockPtr);
    return isNew ? Tcl_EvalObjEx(interp, scriptPtr, 0) : TCL_OK;
}

/*
 * -------------------------------------------------- Libraries and modules
 */

/*
 * ns_library private|shared ?module?
 */
static int
LibraryCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    const char     *kind, *library;
    Ns_DString      ds;

    kind = Tcl_GetString(objv[1]);
    if (STREQ(kind, "private")) {
        library = itPtr->serverPtr->tclPtr->library;
    } else if (STREQ(kind, "shared")) {
        library = itPtr->serverPtr->tclPtr->sharedLibrary;
    } else {
        return NsTclFail(interp,
                         "unknown library \"%s\": should be private or shared",
                         kind);
    }
    Ns_DStringInit(&ds);
    (void) Ns_MakePath(&ds, library, objc == 3 ? Tcl_GetString(objv[2]) : NULL,
                       NULL);
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_module key ?val?
 */
static int
ModuleCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const NsInterp *itPtr = clientData;
    NsTclServer    *tclPtr = itPtr->serverPtr->tclPtr;
    const char     *key;
    char          **valuePtr;

    key = Tcl_GetString(objv[1]);
    if (STREQ(key, "name")) {
        valuePtr = &tclPtr->moduleName;
    } else if (STREQ(key, "private") || STREQ(key, "library")) {
        valuePtr = &tclPtr->modulePrivate;
    } else if (STREQ(key, "shared")) {
        valuePtr = &tclPtr->moduleShared;
    } else if (STREQ(key, "clear")) {
        valuePtr = NULL;
    } else {
        return NsTclFail(interp, "ns_module: invalid command: %s", key);
    }
    if (!IsBooting(itPtr)) {
        return TCL_OK;
    }
    if (valuePtr == NULL) {
        SetWord(&tclPtr->moduleName, NULL);
        SetWord(&tclPtr->modulePrivate, NULL);
        SetWord(&tclPtr->moduleShared, NULL);
        return TCL_OK;
    }
    if (objc == 3) {
        SetWord(valuePtr, Tcl_GetString(objv[2]));
    }
    if (*valuePtr != NULL) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(*valuePtr, -1));
    }
    return TCL_OK;
}

/*
 * Replace a word by a copy of another, or by none.
 */
static void
SetWord(char **wordPtr, const char *word)
{
    ns_free(*wordPtr);
    *wordPtr = ns_strcopy(word);
}

/*
 * ns_modulepath server ?module ...?
 */
static int
ModulePathCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    (void) Ns_ModulePath(&ds, Tcl_GetString(objv[1]),
                         objc > 2 ? Tcl_GetString(objv[2]) : NULL, NULL);
    for (int i = 3; i < objc; i++) {
        (void) Ns_MakePath(&ds, Tcl_GetString(objv[i]), NULL);
    }
    return NsTclReturnText(interp, &ds);
}

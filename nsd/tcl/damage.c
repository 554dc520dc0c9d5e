/* SPDX-License-Identifier: MPL-2.0
 * damage.c --
 *
 *      Requests that leave something behind.
 *
 *      Commands and tcl_precision are noted when an interpreter has been
 *      brought up to date, and compared whenever a request ends.  What belongs
 *      to the process is compared with what it was when any request ended
 *      last: so the one that is named may be innocent, and the message says
 *      so.  What was reported is the state of things from then on, so it is
 *      reported once.
 */

#include "tcl/damage.h"

#include <limits.h>

#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nstcl.h"
#include "base/assert.h"
#include "base/lock.h"
#include "tcl/interp.h"
#include "tcl/tclserver.h"

#define KEY       "nsd:damage"
#define MAX_NAMED 5

/*
 * What a command is.
 */
typedef struct Command {
    Tcl_ObjCmdProc *proc;
    ClientData      data;
} Command;

/*
 * Of an interpreter, owned by its thread.
 */
typedef struct Before {
    int           epoch;    /* Of the blueprint at that time. */
    Tcl_HashTable commands; /* Name -> Command. */
    Tcl_Obj      *precisionPtr;
} Before;

/*
 * Of the process.
 */
static struct {
    Ns_Mutex lock; /* Guards the rest. */
    bool     isNoted;
    char     encoding[64];
    char     directory[PATH_MAX];
} process;

static Ns_TclTraceProc      Note, Compare;
static Tcl_InterpDeleteProc Free;
static void                 NoteCommands(Before *beforePtr, Tcl_Interp *interp);
static void                 Clear(Before *beforePtr);
static Tcl_Obj             *Precision(Tcl_Interp *interp);
static bool                 IsSame(Tcl_Interp *interp, const char *name,
                                   const Command *commandPtr);
static void CompareCommands(const NsInterp *itPtr, Before *beforePtr);
static bool HasEvaluated(Tcl_Interp *interp);
static void Renote(Before *beforePtr, Tcl_Interp *interp);
static void ComparePrecision(const NsInterp *itPtr, Before *beforePtr);
static void CompareProcess(const NsInterp *itPtr);
static void Report(const NsInterp *itPtr, const char *others, const char *what);

void
NsDamageServerInit(NsServer *serverPtr)
{
    if (!process.isNoted) {
        NsMutexSetup(&process.lock, NS_RANK_TCL_MISC, "nsd:damage", NULL);
        CompareProcess(NULL);
    }
    Ns_RegisterProcInfo((void *) Note, "ns:damage", NULL);
    Ns_RegisterProcInfo((void *) Compare, "ns:damage", NULL);
    (void) Ns_TclRegisterTrace(serverPtr->name, Note, NULL,
                               NS_TCL_TRACE_ALLOCATE);
    (void) Ns_TclRegisterTrace(serverPtr->name, Compare, NULL,
                               NS_TCL_TRACE_FREECONN);
}

/*
 * The interpreter that boots the server has no blueprint yet: it is not looked
 * at.
 */
static int
Note(Tcl_Interp *interp, void *arg)
{
    const NsInterp *itPtr = NsInterpOf(interp);
    Before         *beforePtr = Tcl_GetAssocData(interp, KEY, NULL);

    if (!itPtr->isComplete
        || (beforePtr != NULL && beforePtr->epoch == itPtr->epoch)) {
        return TCL_OK;
    }
    if (beforePtr == NULL) {
        beforePtr = ns_calloc(1, sizeof(*beforePtr));
        Tcl_InitHashTable(&beforePtr->commands, TCL_STRING_KEYS);
        Tcl_SetAssocData(interp, KEY, Free, beforePtr);
    }
    beforePtr->epoch = itPtr->epoch;
    Renote(beforePtr, interp);
    return TCL_OK;
}

static void
NoteCommands(Before *beforePtr, Tcl_Interp *interp)
{
    Tcl_InterpState state = Tcl_SaveInterpState(interp, TCL_OK);
    Tcl_Obj       **names;
    int             n = 0;

    Tcl_InitHashTable(&beforePtr->commands, TCL_STRING_KEYS);
    if (Tcl_EvalEx(interp, "::info commands ::ns_*", -1, TCL_EVAL_GLOBAL)
            != TCL_OK
        || Tcl_ListObjGetElements(NULL, Tcl_GetObjResult(interp), &n, &names)
            != TCL_OK) {
        n = 0;
    }
    for (int i = 0; i < n; i++) {
        Tcl_CmdInfo info;
        Command    *commandPtr;
        int         isNew;

        if (Tcl_GetCommandInfo(interp, Tcl_GetString(names[i]), &info) != 0) {
            commandPtr = ns_calloc(1, sizeof(*commandPtr));
            *commandPtr = (Command){info.objProc, info.objClientData};
            Tcl_SetHashValue(Tcl_CreateHashEntry(&beforePtr->commands,
                                                 Tcl_GetString(names[i]),
                                                 &isNew),
                             commandPtr);
        }
    }
    (void) Tcl_RestoreInterpState(interp, state);
}

static void
Free(ClientData clientData, Tcl_Interp *interp)
{
    Clear(clientData);
    ns_free(clientData);
}

static void
Clear(Before *beforePtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr = Tcl_FirstHashEntry(&beforePtr->commands, &search);

    while (entryPtr != NULL) {
        ns_free(Tcl_GetHashValue(entryPtr));
        entryPtr = Tcl_NextHashEntry(&search);
    }
    Tcl_DeleteHashTable(&beforePtr->commands);
    if (beforePtr->precisionPtr != NULL) {
        Tcl_DecrRefCount(beforePtr->precisionPtr);
    }
}

/*
 * A reference, or NULL.
 */
static Tcl_Obj *
Precision(Tcl_Interp *interp)
{
    Tcl_Obj *valuePtr = Tcl_GetVar2Ex(interp, "tcl_precision", NULL,
                                      TCL_GLOBAL_ONLY);

    if (valuePtr != NULL) {
        Tcl_IncrRefCount(valuePtr);
    }
    return valuePtr;
}

/*
 * What has changed for all interpreters of the server meanwhile (ns_eval) was
 * meant to.
 */
static int
Compare(Tcl_Interp *interp, void *arg)
{
    const NsInterp    *itPtr = NsInterpOf(interp);
    const NsTclServer *tclPtr = itPtr->serverPtr->tclPtr;
    Before            *beforePtr = Tcl_GetAssocData(interp, KEY, NULL);

    NsAssert(itPtr->connPtr != NULL);
    if (beforePtr != NULL && beforePtr->epoch == atomic_load(&tclPtr->epoch)) {
        ComparePrecision(itPtr, beforePtr);
        if (HasEvaluated(interp)) {
            Renote(beforePtr, interp);
        } else {
            CompareCommands(itPtr, beforePtr);
        }
    }
    CompareProcess(itPtr);
    return TCL_OK;
}

static void
CompareCommands(const NsInterp *itPtr, Before *beforePtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr = Tcl_FirstHashEntry(&beforePtr->commands, &search);
    Ns_DString     names;
    int            n = 0;

    Ns_DStringInit(&names);
    for (; entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        const char *name = Tcl_GetHashKey(&beforePtr->commands, entryPtr);

        if (!IsSame(itPtr->interp, name, Tcl_GetHashValue(entryPtr))
            && n++ < MAX_NAMED) {
            Ns_DStringVarAppend(&names, n > 1 ? ", " : "", name + 2,
                                (char *) NULL);
        }
    }
    if (n > MAX_NAMED) {
        Ns_DStringPrintf(&names, " and %d more", n - MAX_NAMED);
    }
    if (n > 0) {
        Ns_DString what;

        Ns_DStringInit(&what);
        Ns_DStringPrintf(&what,
                         "%s was replaced, renamed or deleted: later requests "
                         "of thread %s meet that; make such a change in a "
                         "library",
                         names.string, Ns_ThreadGetName());
        Report(itPtr, "", what.string);
        Ns_DStringFree(&what);
        Renote(beforePtr, itPtr->interp);
    }
    Ns_DStringFree(&names);
}

/*
 * ns_eval evaluates a script here first, and all threads take over what it does
 * soon.
 */
static bool
HasEvaluated(Tcl_Interp *interp)
{
    return Tcl_GetVar2Ex(interp, "_ns_eval_done", NULL, TCL_GLOBAL_ONLY)
        != NULL;
}

static void
Renote(Before *beforePtr, Tcl_Interp *interp)
{
    Clear(beforePtr);
    NoteCommands(beforePtr, interp);
    beforePtr->precisionPtr = Precision(interp);
}

static bool
IsSame(Tcl_Interp *interp, const char *name, const Command *commandPtr)
{
    Tcl_CmdInfo info;

    return Tcl_GetCommandInfo(interp, name, &info) != 0
        && info.objProc == commandPtr->proc
        && info.objClientData == commandPtr->data;
}

static void
ComparePrecision(const NsInterp *itPtr, Before *beforePtr)
{
    Tcl_Obj    *nowPtr = Precision(itPtr->interp);
    const char *before = beforePtr->precisionPtr == NULL
        ? ""
        : Tcl_GetString(beforePtr->precisionPtr);
    const char *now = nowPtr == NULL ? "" : Tcl_GetString(nowPtr);

    if (!STREQ(before, now)) {
        Ns_DString what;

        Ns_DStringInit(&what);
        Ns_DStringPrintf(&what,
                         "tcl_precision was changed from %s to %s: later "
                         "requests of thread %s have it, too; use format "
                         "instead",
                         before, now, Ns_ThreadGetName());
        Report(itPtr, "", what.string);
        Ns_DStringFree(&what);
    }
    if (beforePtr->precisionPtr != NULL) {
        Tcl_DecrRefCount(beforePtr->precisionPtr);
    }
    beforePtr->precisionPtr = nowPtr;
}

/*
 * itPtr NULL: note it for the first time.
 */
static void
CompareProcess(const NsInterp *itPtr)
{
    char         directory[PATH_MAX];
    Tcl_Encoding system = Tcl_GetEncoding(NULL, NULL);
    const char  *encoding = Tcl_GetEncodingName(system);
    Ns_DString   moved, encoded;

    if (getcwd(directory, sizeof(directory)) == NULL) {
        strcpy(directory, "one that is gone");
    }
    Ns_DStringInit(&moved);
    Ns_DStringInit(&encoded);
    Ns_MutexLock(&process.lock);
    if (process.isNoted && !STREQ(process.directory, directory)) {
        Ns_DStringPrintf(&moved,
                         "the working directory of the process was changed "
                         "from %s to %s: all threads have it; use absolute "
                         "names instead, as those of ns_pagepath",
                         process.directory, directory);
    }
    if (process.isNoted && !STREQ(process.encoding, encoding)) {
        Ns_DStringPrintf(&encoded,
                         "the system encoding of the process was changed from "
                         "%s to %s: all threads have it; use fconfigure and "
                         "encoding convertto instead",
                         process.encoding, encoding);
    }
    strcpy(process.directory, directory);
    (void) snprintf(process.encoding, sizeof(process.encoding), "%s", encoding);
    process.isNoted = true;
    Ns_MutexUnlock(&process.lock);
    Tcl_FreeEncoding(system);
    if (Ns_DStringLength(&moved) > 0) {
        Report(itPtr, " or what ran beside it", moved.string);
    }
    if (Ns_DStringLength(&encoded) > 0) {
        Report(itPtr, " or what ran beside it", encoded.string);
    }
    Ns_DStringFree(&moved);
    Ns_DStringFree(&encoded);
}

static void
Report(const NsInterp *itPtr, const char *others, const char *what)
{
    NsAssert(itPtr != NULL && itPtr->connPtr != NULL);
    Ns_Log(Warning, "tcl[%s]: by %s %s%s, %s", itPtr->serverPtr->name,
           itPtr->connPtr->firstMethod, itPtr->connPtr->firstUrl, others, what);
}

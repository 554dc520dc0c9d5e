/* SPDX-License-Identifier: MPL-2.0
 * callback.c --
 *
 *      Scripts kept to be evaluated later, in any thread.
 */

#include "tcl/callback.h"

#include <stdatomic.h>

#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/chars.h"
#include "tcl/interp.h"

/*
 * The public part, and a number that no other callback ever gets: it names the
 * compiled script that an interpreter keeps.
 */
typedef struct Callback {
    Ns_TclCallback pub;
    uint64_t       id;
} Callback;

static int      EvalKept(NsInterp *itPtr, const Callback *callbackPtr);
static Tcl_Obj *CommandOf(const char *script, int length);
static bool     IsLiteral(const Tcl_Token *wordPtr, Ns_DString *dsPtr);
static int      Eval(Tcl_Interp *interp, const Ns_TclCallback *callbackPtr,
                     const char *words);
static void     Append(Ns_DString *dsPtr, const Ns_TclCallback *callbackPtr,
                       const char *words);
static int Finish(Tcl_Interp *interp, Ns_TclCallback *callbackPtr, int result);

Ns_TclCallback *
Ns_TclNewCallback(Tcl_Interp *interp, Ns_Callback *cbProc, Tcl_Obj *scriptPtr,
                  int objc, Tcl_Obj *const *objv)
{
    static _Atomic uint64_t lastId = 0;
    Callback               *callbackPtr;
    size_t bytes = sizeof(Callback) + sizeof(char *) * ((size_t) objc + 1);
    char  *next;
    int    length;

    (void) Tcl_GetStringFromObj(scriptPtr, &length);
    bytes += (size_t) length + 1;
    for (int i = 0; i < objc; i++) {
        (void) Tcl_GetStringFromObj(objv[i], &length);
        bytes += (size_t) length + 1;
    }
    callbackPtr = ns_malloc(bytes);
    callbackPtr->id = atomic_fetch_add(&lastId, 1) + 1;
    callbackPtr->pub.cbProc = cbProc;
    callbackPtr->pub.server = Ns_TclInterpServer(interp);
    callbackPtr->pub.argc = objc;
    callbackPtr->pub.argv = (char **) (void *) (callbackPtr + 1);

    next = (char *) (callbackPtr->pub.argv + objc + 1);
    callbackPtr->pub.script = next;
    (void) Tcl_GetStringFromObj(scriptPtr, &length);
    memcpy(next, Tcl_GetString(scriptPtr), (size_t) length + 1);
    next += length + 1;
    for (int i = 0; i < objc; i++) {
        const char *arg = Tcl_GetStringFromObj(objv[i], &length);

        callbackPtr->pub.argv[i] = next;
        memcpy(next, arg, (size_t) length + 1);
        next += length + 1;
    }
    callbackPtr->pub.argv[objc] = NULL;
    return &callbackPtr->pub;
}

void
Ns_TclFreeCallback(void *arg)
{
    ns_free(arg);
}

void
Ns_TclCallbackArgProc(Ns_DString *dsPtr, void *arg)
{
    const Ns_TclCallback *callbackPtr = arg;

    Ns_DStringAppendElement(dsPtr, callbackPtr->script);
    for (int i = 0; i < callbackPtr->argc; i++) {
        Ns_DStringAppendElement(dsPtr, callbackPtr->argv[i]);
    }
}

int
NsCallbackEval(Tcl_Interp *interp, Ns_TclCallback *callbackPtr)
{
    NsInterp *itPtr = NsInterpOf(interp);
    int result = itPtr != NULL ? EvalKept(itPtr, (const Callback *) callbackPtr)
                               : Eval(interp, callbackPtr, NULL);

    return Finish(interp, callbackPtr, result);
}

int
NsCallbackEvalWith(Tcl_Interp *interp, Ns_TclCallback *callbackPtr, va_list ap)
{
    Ns_DString  ds;
    const char *arg;
    int         result;

    Ns_DStringInit(&ds);
    while ((arg = va_arg(ap, const char *)) != NULL) {
        Ns_DStringAppendElement(&ds, arg);
    }
    result = Eval(interp, callbackPtr, Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
    return Finish(interp, callbackPtr, result);
}

/*
 * The script with the stored arguments alone is the same every time, so the
 * interpreter keeps it, compiled or taken apart.
 */
static int
EvalKept(NsInterp *itPtr, const Callback *callbackPtr)
{
    NsScriptSlot *slotPtr = &itPtr->scripts[callbackPtr->id % NS_SCRIPT_SLOTS];
    Tcl_Obj      *scriptPtr, **words;
    int           nWords, result;

    if (slotPtr->id != callbackPtr->id) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        Append(&ds, &callbackPtr->pub, NULL);
        if (slotPtr->scriptPtr != NULL) {
            Tcl_DecrRefCount(slotPtr->scriptPtr);
        }
        slotPtr->id = callbackPtr->id;
        slotPtr->scriptPtr = CommandOf(Ns_DStringValue(&ds),
                                       Ns_DStringLength(&ds));
        slotPtr->isCommand = slotPtr->scriptPtr != NULL;
        if (!slotPtr->isCommand) {
            slotPtr->scriptPtr = Tcl_NewStringObj(Ns_DStringValue(&ds),
                                                  Ns_DStringLength(&ds));
        }
        Tcl_IncrRefCount(slotPtr->scriptPtr);
        Ns_DStringFree(&ds);
    }
    /* The slot may be given to another script while this one runs. */
    scriptPtr = slotPtr->scriptPtr;
    Tcl_IncrRefCount(scriptPtr);
    if (slotPtr->isCommand) {
        (void) Tcl_ListObjGetElements(NULL, scriptPtr, &nWords, &words);
        result = Tcl_EvalObjv(itPtr->interp, nWords, words, TCL_EVAL_GLOBAL);
    } else {
        result = Tcl_EvalObjEx(itPtr->interp, scriptPtr, TCL_EVAL_GLOBAL);
    }
    Tcl_DecrRefCount(scriptPtr);
    return result;
}

/*
 * A script that is one command without any substitution, as a list of its
 * words: calling it costs less than running compiled code that calls it.  NULL
 * if it is not.
 */
static Tcl_Obj *
CommandOf(const char *script, int length)
{
    Tcl_Parse        parse;
    const Tcl_Token *tokenPtr;
    Tcl_Obj         *listPtr = NULL;
    const char      *end;
    Ns_DString       word;

    if (Tcl_ParseCommand(NULL, script, length, 0, &parse) != TCL_OK) {
        return NULL;
    }
    end = parse.commandStart + parse.commandSize;
    end = NsSkipSpaceTo(end, script + length);
    if (end == script + length && parse.numWords > 0) {
        listPtr = Tcl_NewListObj(0, NULL);
    }
    Ns_DStringInit(&word);
    for (tokenPtr = parse.tokenPtr;
         listPtr != NULL && tokenPtr < parse.tokenPtr + parse.numTokens;
         tokenPtr += tokenPtr->numComponents + 1) {
        Ns_DStringSetLength(&word, 0);
        if (IsLiteral(tokenPtr, &word)) {
            (void) Tcl_ListObjAppendElement(
                NULL, listPtr,
                Tcl_NewStringObj(Ns_DStringValue(&word),
                                 Ns_DStringLength(&word)));
        } else {
            Tcl_DecrRefCount(listPtr);
            listPtr = NULL;
        }
    }
    Ns_DStringFree(&word);
    Tcl_FreeParse(&parse);
    return listPtr;
}

/*
 * Append the word's text; false when it has to be substituted.
 */
static bool
IsLiteral(const Tcl_Token *wordPtr, Ns_DString *dsPtr)
{
    bool isLiteral = wordPtr->type == TCL_TOKEN_SIMPLE_WORD
        || wordPtr->type == TCL_TOKEN_WORD;

    for (int i = 1; i <= wordPtr->numComponents && isLiteral; i++) {
        const Tcl_Token *partPtr = &wordPtr[i];
        char             bytes[TCL_UTF_MAX];

        if (partPtr->type == TCL_TOKEN_TEXT) {
            Ns_DStringNAppend(dsPtr, partPtr->start, partPtr->size);
        } else if (partPtr->type == TCL_TOKEN_BS) {
            Ns_DStringNAppend(dsPtr, bytes,
                              Tcl_UtfBackslash(partPtr->start, NULL, bytes));
        } else {
            isLiteral = false;
        }
    }
    return isLiteral;
}

/*
 * The given words, a list or NULL, come before the stored arguments.
 */
static int
Eval(Tcl_Interp *interp, const Ns_TclCallback *callbackPtr, const char *words)
{
    Ns_DString ds;
    int        result;

    Ns_DStringInit(&ds);
    Append(&ds, callbackPtr, words);
    result = Tcl_EvalEx(interp, Ns_DStringValue(&ds), Ns_DStringLength(&ds),
                        TCL_EVAL_GLOBAL);
    Ns_DStringFree(&ds);
    return result;
}

static void
Append(Ns_DString *dsPtr, const Ns_TclCallback *callbackPtr, const char *words)
{
    Ns_DStringAppend(dsPtr, callbackPtr->script);
    if (words != NULL) {
        Ns_DStringVarAppend(dsPtr, " ", words, NULL);
    }
    for (int i = 0; i < callbackPtr->argc; i++) {
        Ns_DStringAppendElement(dsPtr, callbackPtr->argv[i]);
    }
}

/*
 * An error says in its trace which callback it was.
 */
static int
Finish(Tcl_Interp *interp, Ns_TclCallback *callbackPtr, int result)
{
    Ns_DString ds;

    if (result != TCL_OK) {
        Ns_DStringInit(&ds);
        Ns_DStringAppend(&ds, "\n    while executing callback\n");
        Ns_GetProcInfo(&ds, (void *) callbackPtr->cbProc, callbackPtr);
        Tcl_AddObjErrorInfo(interp, Ns_DStringValue(&ds),
                            Ns_DStringLength(&ds));
        Ns_DStringFree(&ds);
    }
    return result;
}

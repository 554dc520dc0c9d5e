/* SPDX-License-Identifier: MPL-2.0
 * statesum.c --
 *
 *      A sum over the state of an interpreter.
 *
 *      The state is described in a text first: a sequence of items, each with a
 *      zero byte behind it, which no string of Tcl has inside, or, as pointers
 *      have, a known length.  Where there can be any number of items, the
 *      number comes first, or an item that is not one of them comes last: so no
 *      two states have the same text.  The order is that of Tcl's tables:
 *      interpreters that did the same have the same one.
 */

#include "tcl/statesum.h"
#include "tcl/inside.h"

#ifdef NS_KNOWS_TCL

#include <openssl/evp.h>

#include "nsstring.h"
#include "base/assert.h"
#include "tcl/globals.h"

typedef struct Description {
    Ns_DString text;
    Tcl_Obj  **without; /* Namespaces that are left out: patterns. */
    int        nWithout;
    bool       isWhole; /* All could be told so far. */
} Description;

static void DescribeSpace(Description *descPtr, Namespace *spacePtr);
static bool IsLeftOut(const Description *descPtr, const Namespace *spacePtr);
static void DescribeItself(Description *descPtr, const Namespace *spacePtr);
static void DescribeVars(Description *descPtr, Tcl_HashTable *tablePtr);
static void DescribeVar(Description *descPtr, const Var *varPtr);
static void DescribeCommand(Description *descPtr, Command *commandPtr);
static void DescribeProc(Description *descPtr, const Proc *procPtr);
static void DescribeEnsemble(Description *descPtr, Tcl_Command command);
static void AddCommandName(Description *descPtr, const Command *commandPtr);
static void AddNumber(Description *descPtr, long number);
static void AddObj(Description *descPtr, Tcl_Obj *obj);
static void AddText(Description *descPtr, const char *text);
static void AddItem(Description *descPtr, const char *bytes, int length);
static bool AppendSum(Ns_DString *sumPtr, const Ns_DString *textPtr);

bool
NsStateSum(Tcl_Interp *interp, Tcl_Obj *withoutObj, const char *text,
           Ns_DString *sumPtr)
{
    Description desc = {.isWhole = true};
    bool        isDone;

    if (Tcl_ListObjGetElements(NULL, withoutObj, &desc.nWithout, &desc.without)
        != TCL_OK) {
        return false;
    }
    Ns_DStringInit(&desc.text);
    AddText(&desc, text);
    DescribeSpace(&desc, (Namespace *) Tcl_GetGlobalNamespace(interp));
    isDone = desc.isWhole && AppendSum(sumPtr, &desc.text);
    Ns_DStringFree(&desc.text);
    return isDone;
}

static void
DescribeSpace(Description *descPtr, Namespace *spacePtr)
{
    Tcl_HashTable *childrenPtr =
        TclGetNamespaceChildTable((Tcl_Namespace *) spacePtr);
    Tcl_HashEntry *entryPtr = NULL;
    int            next = 0;

    DescribeItself(descPtr, spacePtr);
    if (spacePtr->parentPtr != NULL) {
        DescribeVars(descPtr, &spacePtr->varTable.table);
    }
    AddNumber(descPtr, spacePtr->cmdTable.numEntries);
    while ((entryPtr = NsTclNextEntry(&spacePtr->cmdTable, entryPtr, &next))
           != NULL) {
        AddText(descPtr, Tcl_GetHashKey(&spacePtr->cmdTable, entryPtr));
        DescribeCommand(descPtr, Tcl_GetHashValue(entryPtr));
    }
    next = 0;
    while (childrenPtr != NULL
           && (entryPtr = NsTclNextEntry(childrenPtr, entryPtr, &next))
               != NULL) {
        Namespace *childPtr = Tcl_GetHashValue(entryPtr);

        if (!IsLeftOut(descPtr, childPtr)) {
            DescribeSpace(descPtr, childPtr);
        }
    }
    AddText(descPtr, "end");
}

static bool
IsLeftOut(const Description *descPtr, const Namespace *spacePtr)
{
    for (int i = 0; i < descPtr->nWithout; i++) {
        if (Tcl_StringMatch(spacePtr->fullName,
                            Tcl_GetString(descPtr->without[i]))) {
            return true;
        }
    }
    return false;
}

/*
 * Name, exports, path and handler of unknown commands.
 */
static void
DescribeItself(Description *descPtr, const Namespace *spacePtr)
{
    AddText(descPtr, spacePtr->fullName);
    AddNumber(descPtr, spacePtr->numExportPatterns);
    for (int i = 0; i < spacePtr->numExportPatterns; i++) {
        AddText(descPtr, spacePtr->exportArrayPtr[i]);
    }
    AddNumber(descPtr, spacePtr->commandPathLength);
    for (int i = 0; i < spacePtr->commandPathLength; i++) {
        const Namespace *otherPtr = spacePtr->commandPathArray[i].nsPtr;

        AddText(descPtr, otherPtr == NULL ? "" : otherPtr->fullName);
    }
    AddObj(descPtr, spacePtr->unknownHandlerPtr);
}

static void
DescribeVars(Description *descPtr, Tcl_HashTable *tablePtr)
{
    Tcl_HashEntry *entryPtr = NULL;
    int            next = 0;

    AddNumber(descPtr, tablePtr->numEntries);
    while ((entryPtr = NsTclNextEntry(tablePtr, entryPtr, &next)) != NULL) {
        AddObj(descPtr, entryPtr->key.objPtr);
        DescribeVar(descPtr, NsTclVarOf(entryPtr));
    }
}

static void
DescribeVar(Description *descPtr, const Var *varPtr)
{
    while (TclIsVarLink(varPtr)) {
        varPtr = varPtr->value.linkPtr;
    }
    if ((varPtr->flags & (VAR_TRACED_READ | VAR_TRACED_ARRAY)) != 0) {
        descPtr->isWhole = false;
    } else if (TclIsVarUndefined(varPtr)) {
        AddText(descPtr, TclIsVarNamespaceVar(varPtr) ? "declared" : "none");
    } else if (TclIsVarArray(varPtr)) {
        AddText(descPtr, "array");
        DescribeVars(descPtr, &varPtr->value.tablePtr->table);
    } else {
        AddText(descPtr, "scalar");
        AddObj(descPtr, varPtr->value.objPtr);
    }
}

static void
DescribeCommand(Description *descPtr, Command *commandPtr)
{
    Tcl_Command    command = (Tcl_Command) commandPtr;
    const Command *originPtr = (Command *) TclGetOriginalCommand(command);

    if (originPtr != NULL) {
        AddText(descPtr, "import");
        AddCommandName(descPtr, originPtr);
    } else if (TclIsProc(commandPtr) != NULL) {
        DescribeProc(descPtr, TclIsProc(commandPtr));
    } else if (Tcl_IsEnsemble(command)) {
        DescribeEnsemble(descPtr, command);
    } else {
        AddText(descPtr, "c");
        AddItem(descPtr, (const char *) &commandPtr->objProc,
                (int) sizeof(commandPtr->objProc));
        AddItem(descPtr, (const char *) &commandPtr->proc,
                (int) sizeof(commandPtr->proc));
    }
}

static void
DescribeProc(Description *descPtr, const Proc *procPtr)
{
    const CompiledLocal *localPtr = procPtr->firstLocalPtr;

    AddText(descPtr, "proc");
    AddNumber(descPtr, procPtr->numArgs);
    for (int i = 0; i < procPtr->numArgs; i++) {
        NsAssert(localPtr != NULL);
        AddItem(descPtr, localPtr->name, localPtr->nameLength);
        AddText(descPtr, localPtr->defValuePtr == NULL ? "must" : "may");
        AddObj(descPtr, localPtr->defValuePtr);
        localPtr = localPtr->nextPtr;
    }
    AddObj(descPtr, procPtr->bodyPtr);
}

static void
DescribeEnsemble(Description *descPtr, Tcl_Command command)
{
    Tcl_Obj       *words = NULL, *map = NULL, *formals = NULL, *unknown = NULL;
    Tcl_Namespace *homePtr = NULL;
    int            flags = 0;

    (void) Tcl_GetEnsembleSubcommandList(NULL, command, &words);
    (void) Tcl_GetEnsembleMappingDict(NULL, command, &map);
    (void) Tcl_GetEnsembleParameterList(NULL, command, &formals);
    (void) Tcl_GetEnsembleUnknownHandler(NULL, command, &unknown);
    (void) Tcl_GetEnsembleNamespace(NULL, command, &homePtr);
    (void) Tcl_GetEnsembleFlags(NULL, command, &flags);
    AddText(descPtr, "ensemble");
    AddText(descPtr, homePtr == NULL ? "" : homePtr->fullName);
    AddNumber(descPtr, flags);
    AddObj(descPtr, words);
    AddObj(descPtr, map);
    AddObj(descPtr, formals);
    AddObj(descPtr, unknown);
}

static void
AddCommandName(Description *descPtr, const Command *commandPtr)
{
    AddText(descPtr, commandPtr->nsPtr->fullName);
    AddText(descPtr,
            commandPtr->hPtr == NULL
                ? ""
                : Tcl_GetHashKey(commandPtr->hPtr->tablePtr, commandPtr->hPtr));
}

static void
AddNumber(Description *descPtr, long number)
{
    char digits[TCL_INTEGER_SPACE * 2];
    int  length = snprintf(digits, sizeof(digits), "%ld", number);

    AddItem(descPtr, digits, length);
}

/*
 * NULL and an empty string are the same.
 */
static void
AddObj(Description *descPtr, Tcl_Obj *obj)
{
    const char *bytes = "";
    int         length = 0;

    if (obj != NULL) {
        bytes = Tcl_GetStringFromObj(obj, &length);
    }
    AddItem(descPtr, bytes, length);
}

static void
AddText(Description *descPtr, const char *text)
{
    AddItem(descPtr, text, (int) strlen(text));
}

static void
AddItem(Description *descPtr, const char *bytes, int length)
{
    Ns_DStringNAppend(&descPtr->text, bytes, length);
    Ns_DStringNAppend(&descPtr->text, "", 1);
}

/*
 * Nobody finds two texts with the same sum, so it stands for the text.  A
 * library of OpenSSL may be without this one.
 */
static bool
AppendSum(Ns_DString *sumPtr, const Ns_DString *textPtr)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned      length;

    if (EVP_Digest(Ns_DStringValue(textPtr), (size_t) Ns_DStringLength(textPtr),
                   digest, &length, EVP_blake2b512(), NULL)
        != 1) {
        return false;
    }
    for (unsigned i = 0; i < length; i++) {
        Ns_DStringPrintf(sumPtr, "%02x", digest[i]);
    }
    return true;
}

#else

bool
NsStateSum(Tcl_Interp *interp, Tcl_Obj *withoutObj, const char *text,
           Ns_DString *sumPtr)
{
    return false;
}

#endif

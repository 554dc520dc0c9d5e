/* SPDX-License-Identifier: MPL-2.0
 * parseargs_cmd.c --
 *
 *      ns_parseargs: options and arguments of a proc.
 *
 *      Words come from clients at times, so they are never evaluated; a default
 *      in brackets is, as it is part of the program.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

/*
 * One element of the specification.
 */
typedef struct Spec {
    const char *name;       /* Of the variable: without the dash. */
    Tcl_Obj    *defaultPtr; /* NULL: none. */
    bool        isOption;
    bool        isBreak; /* -- */
    bool        isRest;  /* A last `args`. */
    bool        isSet;
} Spec;

typedef struct Parse {
    Tcl_Interp *interp;
    Spec       *specs;
    int         nSpecs;
    Tcl_Obj   **words;
    int         nWords;
    int         next; /* First word not yet taken. */
} Parse;

static Tcl_ObjCmdProc ParseArgsCmd;

static int ReadSpec(Parse *parsePtr, Tcl_Obj **elements);
static int ReadElement(Parse *parsePtr, int i, Tcl_Obj *elementPtr,
                       bool *inArgsPtr);
static int TakeOptions(Parse *parsePtr);
static int TakeArgs(Parse *parsePtr);
static int SetDefaults(Parse *parsePtr);
static int SetDefault(Parse *parsePtr, Spec *specPtr);
static int SetSpec(Parse *parsePtr, Spec *specPtr, Tcl_Obj *valuePtr);
static int WrongArgs(Parse *parsePtr);

static const NsTclCommand commands[] = {
    {"ns_parseargs", ParseArgsCmd, 2, 2, "specification args", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(ParseArgs, commands)

/*
 * ns_parseargs specification args
 */
static int
ParseArgsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Parse    parse = {.interp = interp};
    Tcl_Obj *specPtr, *argsPtr, **elements;
    int      result = TCL_ERROR;

    /* Copies: evaluating a default, or setting a variable that holds a list,
     * may change the objects. */
    specPtr = Tcl_DuplicateObj(objv[1]);
    argsPtr = Tcl_DuplicateObj(objv[2]);
    Tcl_IncrRefCount(specPtr);
    Tcl_IncrRefCount(argsPtr);
    if (Tcl_ListObjGetElements(interp, specPtr, &parse.nSpecs, &elements)
            == TCL_OK
        && Tcl_ListObjGetElements(interp, argsPtr, &parse.nWords, &parse.words)
            == TCL_OK) {
        parse.specs = ns_calloc((size_t) parse.nSpecs + 1, sizeof(Spec));
        if (ReadSpec(&parse, elements) == TCL_OK
            && TakeOptions(&parse) == TCL_OK && TakeArgs(&parse) == TCL_OK
            && SetDefaults(&parse) == TCL_OK) {
            Tcl_ResetResult(interp);
            result = TCL_OK;
        }
        ns_free(parse.specs);
    }
    Tcl_DecrRefCount(specPtr);
    Tcl_DecrRefCount(argsPtr);
    return result;
}

static int
ReadSpec(Parse *parsePtr, Tcl_Obj **elements)
{
    bool inArgs = false;

    for (int i = 0; i < parsePtr->nSpecs; i++) {
        if (ReadElement(parsePtr, i, elements[i], &inArgs) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

static int
ReadElement(Parse *parsePtr, int i, Tcl_Obj *elementPtr, bool *inArgsPtr)
{
    Spec       *specPtr = &parsePtr->specs[i];
    Tcl_Obj   **fields;
    const char *name;
    int         nFields;

    if (Tcl_ListObjGetElements(parsePtr->interp, elementPtr, &nFields, &fields)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (nFields < 1 || nFields > 2) {
        return NsTclFail(parsePtr->interp,
                         "wrong # fields in argument specifier \"%s\"",
                         Tcl_GetString(elementPtr));
    }
    name = Tcl_GetString(fields[0]);
    specPtr->isOption = *name == '-';
    if (*name == '\0' || STREQ(name, "-")) {
        return NsTclFail(parsePtr->interp,
                         "argument or option in position %d has no name", i);
    }
    if (specPtr->isOption && *inArgsPtr) {
        return NsTclFail(parsePtr->interp, "expected argument \"%s\"", name);
    }
    *inArgsPtr |= !specPtr->isOption;
    specPtr->isBreak = STREQ(name, "--");
    specPtr->name = specPtr->isOption ? name + 1 : name;
    specPtr->defaultPtr = nFields == 2 ? fields[1] : NULL;
    specPtr->isRest = i == parsePtr->nSpecs - 1 && STREQ(name, "args");
    return TCL_OK;
}

static int
TakeOptions(Parse *parsePtr)
{
    while (parsePtr->next < parsePtr->nWords) {
        const char *word = Tcl_GetString(parsePtr->words[parsePtr->next]);
        Spec       *specPtr = NULL;

        for (int i = 0; *word == '-' && i < parsePtr->nSpecs; i++) {
            if (parsePtr->specs[i].isOption
                && STREQ(parsePtr->specs[i].name, word + 1)) {
                specPtr = &parsePtr->specs[i];
                break;
            }
        }
        if (specPtr == NULL) {
            return TCL_OK;
        }
        parsePtr->next++;
        if (specPtr->isBreak) {
            return TCL_OK;
        }
        if (parsePtr->next == parsePtr->nWords) {
            return NsTclFail(parsePtr->interp, "missing argument to -%s",
                             specPtr->name);
        }
        if (SetSpec(parsePtr, specPtr, parsePtr->words[parsePtr->next++])
            != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

static int
TakeArgs(Parse *parsePtr)
{
    for (int i = 0; i < parsePtr->nSpecs; i++) {
        Spec *specPtr = &parsePtr->specs[i];
        int   nLeft = parsePtr->nWords - parsePtr->next;

        if (specPtr->isOption) {
            continue;
        }
        if (specPtr->isRest && (nLeft > 0 || specPtr->defaultPtr == NULL)) {
            Tcl_Obj *listPtr =
                Tcl_NewListObj(nLeft,
                               parsePtr->words == NULL
                                   ? NULL
                                   : parsePtr->words + parsePtr->next);

            parsePtr->next = parsePtr->nWords;
            return SetSpec(parsePtr, specPtr, listPtr);
        }
        if (nLeft == 0) {
            return specPtr->defaultPtr != NULL ? TCL_OK : WrongArgs(parsePtr);
        }
        if (SetSpec(parsePtr, specPtr, parsePtr->words[parsePtr->next++])
            != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return parsePtr->next < parsePtr->nWords ? WrongArgs(parsePtr) : TCL_OK;
}

static int
SetDefaults(Parse *parsePtr)
{
    for (int i = 0; i < parsePtr->nSpecs; i++) {
        Spec *specPtr = &parsePtr->specs[i];

        if (!specPtr->isSet) {
            if (specPtr->defaultPtr != NULL && !specPtr->isBreak
                && SetDefault(parsePtr, specPtr) != TCL_OK) {
                return TCL_ERROR;
            }
            if (specPtr->isRest && specPtr->defaultPtr == NULL
                && SetSpec(parsePtr, specPtr, Tcl_NewObj()) != TCL_OK) {
                return TCL_ERROR;
            }
        }
    }
    return TCL_OK;
}

/*
 * A default in brackets is a script.
 */
static int
SetDefault(Parse *parsePtr, Spec *specPtr)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(specPtr->defaultPtr, &length);

    if (length < 2 || text[0] != '[' || text[length - 1] != ']') {
        return SetSpec(parsePtr, specPtr, specPtr->defaultPtr);
    }
    if (Tcl_EvalEx(parsePtr->interp, text + 1, length - 2, 0) != TCL_OK) {
        return TCL_ERROR;
    }
    return SetSpec(parsePtr, specPtr, Tcl_GetObjResult(parsePtr->interp));
}

static int
SetSpec(Parse *parsePtr, Spec *specPtr, Tcl_Obj *valuePtr)
{
    Tcl_Obj *setPtr;

    specPtr->isSet = true;
    Tcl_IncrRefCount(valuePtr);
    setPtr = Tcl_SetVar2Ex(parsePtr->interp, specPtr->name, NULL, valuePtr,
                           TCL_LEAVE_ERR_MSG);
    Tcl_DecrRefCount(valuePtr);
    return setPtr == NULL ? TCL_ERROR : TCL_OK;
}

static int
WrongArgs(Parse *parsePtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, "wrong # args: should be \"");
    for (int i = 0; i < parsePtr->nSpecs; i++) {
        const Spec *specPtr = &parsePtr->specs[i];
        const char *name = specPtr->name;

        if (i > 0) {
            Ns_DStringNAppend(&ds, " ", 1);
        }
        if (specPtr->isBreak) {
            Ns_DStringAppend(&ds, "?--?");
        } else if (specPtr->isOption) {
            Ns_DStringVarAppend(&ds, "?-", name, " ", name, "?", NULL);
        } else if (specPtr->defaultPtr != NULL || specPtr->isRest) {
            Ns_DStringVarAppend(&ds, "?", name, "?", NULL);
        } else {
            Ns_DStringAppend(&ds, name);
        }
    }
    Ns_DStringNAppend(&ds, "\"", 1);
    Tcl_DStringResult(parsePtr->interp, &ds);
    Tcl_SetErrorCode(parsePtr->interp, "TCL", "WRONGARGS", (char *) NULL);
    return TCL_ERROR;
}

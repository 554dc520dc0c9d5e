/* SPDX-License-Identifier: MPL-2.0
 * command.c --
 *
 *      Tables of commands and subcommands.
 */

#include "tcl/command.h"

#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "tcl/result.h"

#define MAX_TABLES 64
#define MAX_ROWS   64 /* Of a table. */

static const NsTclCommand  *tables[MAX_TABLES]; /* Constant once started. */
static int                  nTables;
static const NsTclEnsemble *ensembles[MAX_TABLES]; /* The same. */
static int                  nEnsembles;

static Tcl_ObjCmdProc RunCommand, RunEnsemble;

static void Create(NsInterp *itPtr, const char *name, unsigned flags,
                   Tcl_ObjCmdProc *proc, const void *data);
static void BadWord(Tcl_Interp *interp, Tcl_Obj *wordObj, const char *table,
                    size_t rowBytes, const char *noun, bool isExact);
static const char *NameOf(const void *row);

void
NsTclAddCommands(const NsTclCommand *commands)
{
    NsAssert(nTables < MAX_TABLES);
    tables[nTables++] = commands;
}

void
NsTclAddEnsemble(const NsTclEnsemble *ensemblePtr)
{
    NsAssert(nEnsembles < MAX_TABLES);
    ensembles[nEnsembles++] = ensemblePtr;
}

void
NsTclListCommands(Ns_DString *dsPtr)
{
    for (int i = 0; i < nTables; i++) {
        for (int j = 0; tables[i][j].name != NULL; j++) {
            Tcl_DStringAppendElement(dsPtr, tables[i][j].name);
        }
    }
    for (int i = 0; i < nEnsembles; i++) {
        Tcl_DStringAppendElement(dsPtr, ensembles[i]->name);
    }
}

/*
 * A command that looks at its words itself is called directly.
 */
void
NsTclCreateCommands(NsInterp *itPtr)
{
    for (int i = 0; i < nTables; i++) {
        for (const NsTclCommand *rowPtr = tables[i]; rowPtr->name != NULL;
             rowPtr++) {
            bool isChecked = rowPtr->minArgs > 0 || rowPtr->maxArgs < NS_TCL_ANY
                || (rowPtr->flags & NS_TCL_CONN) != 0;

            Create(itPtr, rowPtr->name, rowPtr->flags,
                   isChecked ? RunCommand : rowPtr->proc,
                   isChecked ? (const void *) rowPtr : itPtr);
        }
    }
    for (int i = 0; i < nEnsembles; i++) {
        Create(itPtr, ensembles[i]->name, ensembles[i]->flags, RunEnsemble,
               ensembles[i]);
    }
}

bool
NsTclIsOwn(Tcl_Interp *interp, const char *name)
{
    Tcl_CmdInfo info;

    return Tcl_GetCommandInfo(interp, name, &info) && info.isNativeObjectProc
        && (info.objProc == RunCommand || info.objProc == RunEnsemble);
}

static void
Create(NsInterp *itPtr, const char *name, unsigned flags, Tcl_ObjCmdProc *proc,
       const void *data)
{
    if ((flags & NS_TCL_BASIC) != 0 || itPtr->serverPtr != NULL) {
        Tcl_CreateObjCommand(itPtr->interp, name, proc, (ClientData) data,
                             NULL);
    }
}

static int
RunCommand(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const NsTclCommand *rowPtr = clientData;
    NsInterp           *itPtr = NsInterpOf(interp);

    if (!NsTclCheckArgs(interp, 1, objc, objv, rowPtr->minArgs, rowPtr->maxArgs,
                        rowPtr->usage)
        || ((rowPtr->flags & NS_TCL_CONN) != 0 && NsTclConn(itPtr) == NULL)) {
        return TCL_ERROR;
    }
    itPtr->rowPtr = rowPtr;
    return rowPtr->proc(itPtr, interp, objc, objv);
}

static int
RunEnsemble(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return NsTclRunEnsemble(clientData, NsInterpOf(interp), objc, objv);
}

int
NsTclRunEnsemble(const NsTclEnsemble *ensemblePtr, NsInterp *itPtr, int objc,
                 Tcl_Obj *const *objv)
{
    Tcl_Interp         *interp = itPtr->interp;
    const NsTclCommand *rowPtr;

    if (!NsTclCheckArgs(interp, 1, objc, objv, 1, NS_TCL_ANY,
                        ensemblePtr->usage)) {
        return TCL_ERROR;
    }
    rowPtr = NsTclFindRow(interp, objv[1], ensemblePtr->rows, sizeof(*rowPtr),
                          ensemblePtr->noun,
                          (ensemblePtr->flags & NS_TCL_EXACT) != 0);
    if (rowPtr == NULL
        || !NsTclCheckArgs(interp, 2, objc, objv, rowPtr->minArgs,
                           rowPtr->maxArgs, rowPtr->usage)) {
        return TCL_ERROR;
    }
    itPtr->rowPtr = rowPtr;
    return rowPtr->proc(itPtr, interp, objc, objv);
}

/*
 * Whole names first: Tcl keeps in the word which row it was.
 */
const void *
NsTclFindRow(Tcl_Interp *interp, Tcl_Obj *wordObj, const void *table,
             size_t rowBytes, const char *noun, bool isExact)
{
    const char *row = table;
    int         i;

    if (Tcl_GetIndexFromObjStruct(NULL, wordObj, table, (int) rowBytes, noun,
                                  TCL_EXACT, &i)
        == TCL_OK) {
        return row + (size_t) i * rowBytes;
    }
    while (NameOf(row) != NULL) {
        row += rowBytes;
    }
    for (row += rowBytes; NameOf(row) != NULL; row += rowBytes) {
        if (STREQ(NameOf(row), Tcl_GetString(wordObj))) {
            return row;
        }
    }
    if (!isExact
        && Tcl_GetIndexFromObjStruct(NULL, wordObj, table, (int) rowBytes, noun,
                                     0, &i)
            == TCL_OK) {
        return (const char *) table + (size_t) i * rowBytes;
    }
    if (interp != NULL) {
        BadWord(interp, wordObj, table, rowBytes, noun, isExact);
    }
    return NULL;
}

/*
 * As Tcl says it, with all rows of the table.
 */
static void
BadWord(Tcl_Interp *interp, Tcl_Obj *wordObj, const char *table,
        size_t rowBytes, const char *noun, bool isExact)
{
    const char *word = Tcl_GetString(wordObj);
    const char *names[MAX_ROWS];
    int         nNames = 0, nAbbreviated = 0;
    Ns_DString  ds;

    for (int part = 0; part < 2; part++, table += rowBytes) {
        for (; NameOf(table) != NULL; table += rowBytes) {
            NsAssert(nNames < MAX_ROWS);
            names[nNames++] = NameOf(table);
            nAbbreviated += part == 0
                && strncmp(NameOf(table), word, strlen(word)) == 0;
        }
    }
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds,
                        isExact || nAbbreviated < 2 ? "bad " : "ambiguous ",
                        noun, " \"", word, "\": must be ", NULL);
    for (int i = 0; i < nNames; i++) {
        const char *separator = nNames > 2 ? ", " : " ";

        Ns_DStringVarAppend(&ds, i == 0 ? "" : separator,
                            i > 0 && i == nNames - 1 ? "or " : "", names[i],
                            NULL);
    }
    /* Which resets the code. */
    Tcl_DStringResult(interp, &ds);
    Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "INDEX", noun, word, NULL);
}

static const char *
NameOf(const void *row)
{
    return *(const char *const *) row;
}

bool
NsTclCheckArgs(Tcl_Interp *interp, int nNames, int objc, Tcl_Obj *const *objv,
               int minArgs, int maxArgs, const char *usage)
{
    int nArgs = objc - nNames;

    if (nArgs < minArgs || nArgs > maxArgs) {
        Tcl_WrongNumArgs(interp, nNames, objv, usage);
        return false;
    }
    return true;
}

/* SPDX-License-Identifier: MPL-2.0
 * quote_cmd.c --
 *
 *      ns_dbquotevalue and ns_dbquotelist: values in the form that SQL needs.
 */

#include "commands.h"

static Tcl_ObjCmdProc QuoteValueObjCmd;
static Tcl_ObjCmdProc QuoteListObjCmd;

static int  GetType(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                    const char **typePtr);
static int  Quote(Tcl_Interp *interp, Ns_DString *dsPtr, Tcl_Obj *valueObj,
                  const char *type, const char *ofEmpty);
static bool IsNumber(const char *text, const char *type);
static const char *SkipDigits(const char *text, bool *hasPtr);
static bool        IsBitString(const char *text);

static const char *const types[] = {
    "decimal", "double", "integer", "int",     "real", "smallint", "bigint",
    "bit",     "float",  "numeric", "tinyint", "text", NULL};

void
DbAddQuoteCommands(Tcl_Interp *interp)
{
    (void) Tcl_CreateObjCommand(interp, "ns_dbquotevalue", QuoteValueObjCmd,
                                NULL, NULL);
    (void) Tcl_CreateObjCommand(interp, "ns_dbquotelist", QuoteListObjCmd, NULL,
                                NULL);
}

static int
QuoteValueObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    const char *type;
    Ns_DString  ds;
    int         result;

    if (objc < 2 || objc > 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "value ?type?");
        return TCL_ERROR;
    }
    if (GetType(interp, objc, objv, &type) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    result = Quote(interp, &ds, objv[1], type, "NULL");
    if (result == TCL_OK) {
        Tcl_DStringResult(interp, &ds);
    }
    Ns_DStringFree(&ds);
    return result;
}

static int
QuoteListObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    Tcl_Obj   **values;
    const char *type;
    Ns_DString  ds;
    int         nValues, result = TCL_OK;

    if (objc < 2 || objc > 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "list ?type?");
        return TCL_ERROR;
    }
    if (GetType(interp, objc, objv, &type) != TCL_OK
        || Tcl_ListObjGetElements(interp, objv[1], &nValues, &values)
            != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    for (int i = 0; result == TCL_OK && i < nValues; i++) {
        Ns_DStringAppend(&ds, i == 0 ? "" : ",");
        result = Quote(interp, &ds, values[i], type,
                       STREQ(type, "text") ? "''" : "NULL");
    }
    if (result == TCL_OK) {
        Tcl_DStringResult(interp, &ds);
    }
    Ns_DStringFree(&ds);
    return result;
}

static int
GetType(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
        const char **typePtr)
{
    int n;

    *typePtr = "text";
    if (objc > 2) {
        if (Tcl_GetIndexFromObj(interp, objv[2], types, "option", TCL_EXACT, &n)
            != TCL_OK) {
            return TCL_ERROR;
        }
        *typePtr = types[n];
    }
    return TCL_OK;
}

/*
 * Tcl encodes a NUL character as two bytes that occur in no other text.
 */
static int
Quote(Tcl_Interp *interp, Ns_DString *dsPtr, Tcl_Obj *valueObj,
      const char *type, const char *ofEmpty)
{
    const char *value = Tcl_GetString(valueObj);

    if (*value == '\0') {
        Ns_DStringAppend(dsPtr, ofEmpty);
        return TCL_OK;
    }
    if (strstr(value, "\xC0\x80") != NULL) {
        Ns_TclPrintfResult(interp,
                           "input string '%s' contains invalid characters",
                           value);
        return TCL_ERROR;
    }
    if (!STREQ(type, "text")) {
        if (!IsNumber(value, type)) {
            Ns_TclPrintfResult(interp, "input string '%s' is not a number",
                               value);
            return TCL_ERROR;
        }
        Ns_DStringAppend(dsPtr, value);
        return TCL_OK;
    }
    Ns_DStringAppend(dsPtr, "'");
    Ns_DbQuoteValue(dsPtr, value);
    Ns_DStringAppend(dsPtr, "'");
    return TCL_OK;
}

static bool
IsNumber(const char *text, const char *type)
{
    bool has = false, hasExponent = false;

    text += strspn(text, " \t\r\n");
    if (STREQ(type, "bit") && (*text == 'B' || *text == 'b')) {
        return IsBitString(text);
    }
    text += *text == '+' || *text == '-';
    text = SkipDigits(text, &has);
    if (*text == '.') {
        text = SkipDigits(text + 1, &has);
    }
    if (has && (*text == 'e' || *text == 'E')) {
        text++;
        text += *text == '+' || *text == '-';
        text = SkipDigits(text, &hasExponent);
        has = hasExponent;
    }
    text += strspn(text, " \t\r\n");
    return has && *text == '\0';
}

static const char *
SkipDigits(const char *text, bool *hasPtr)
{
    size_t length = strspn(text, "0123456789");

    *hasPtr = *hasPtr || length > 0;
    return text + length;
}

static bool
IsBitString(const char *text)
{
    if (text[1] != '\'') {
        return false;
    }
    text += 2 + strspn(text + 2, "01");
    if (*text != '\'') {
        return false;
    }
    text++;
    return text[strspn(text, " \t\r\n")] == '\0';
}

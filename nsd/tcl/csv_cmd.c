/* SPDX-License-Identifier: MPL-2.0
 * csv_cmd.c --
 *
 *      ns_getcsv: records of comma-separated values.
 */

#include "nsstring.h"
#include "nstcl.h"
#include "tcl/command.h"
#include "tcl/commands.h"

#include <ctype.h>

/*
 * The position in a record of comma-separated values.
 */
typedef enum {
    CSV_START,  /* At the start of a field. */
    CSV_PLAIN,  /* In a field without quotes. */
    CSV_QUOTED, /* In quotes. */
    CSV_BEHIND  /* After the closing quote. */
} CsvState;

typedef struct Csv {
    const char *delimiters;
    int         quote; /* A character; 0: none. */
    bool        isTrimmed;
    CsvState    state;
    bool        wasQuoted; /* The field had quotes. */
    Tcl_DString field;
    Tcl_Obj    *listObj;
} Csv;

static Tcl_ObjCmdProc GetCsvCmd;

static int  ReadRecord(Tcl_Interp *interp, Csv *csvPtr, Tcl_Channel channel,
                       const char *name, const char *variable);
static void TakeLine(Csv *csvPtr, const char *line, int length);
static void TakeChar(Csv *csvPtr, int c, const char *bytes, int length);
static void EndField(Csv *csvPtr);

static const NsTclCommand commands[] = {
    {"ns_getcsv", GetCsvCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC}, NS_TCL_END};

NS_TCL_FAMILY(Csv, commands)

static int
GetCsvCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Csv         csv = {.delimiters = ",", .state = CSV_START};
    char       *quotes = (char *) "\"", *name, *variable;
    char       *delimiters = (char *) ",";
    int         isTrimmed = 0, result;
    Tcl_Channel channel;
    Tcl_UniChar quote = 0;
    Ns_ObjvSpec options[] = {
        {"-delimiter", Ns_ObjvString, &delimiters, NULL},
        {"-trim", Ns_ObjvBool, &isTrimmed, INT2PTR(1)},
        {"-quotechar", Ns_ObjvString, &quotes, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"fileId", Ns_ObjvString, &name, NULL},
                          {"varName", Ns_ObjvString, &variable, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || Ns_TclGetOpenChannel(interp, name, 0, 1, &channel) != TCL_OK) {
        return TCL_ERROR;
    }
    if (*quotes != '\0') {
        (void) Tcl_UtfToUniChar(quotes, &quote);
    }
    csv.delimiters = delimiters;
    csv.quote = quote;
    csv.isTrimmed = isTrimmed != 0;
    csv.listObj = Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(csv.listObj);
    Tcl_DStringInit(&csv.field);
    result = ReadRecord(interp, &csv, channel, name, variable);
    Tcl_DStringFree(&csv.field);
    Tcl_DecrRefCount(csv.listObj);
    return result;
}

/*
 * A field with an open quote continues on the next line.  At the end of the
 * file the record ends with what there is.
 */
static int
ReadRecord(Tcl_Interp *interp, Csv *csvPtr, Tcl_Channel channel,
           const char *name, const char *variable)
{
    Tcl_Obj *lineObj = Tcl_NewObj();
    int      nLines = 0, nBytes = 0, nFields = -1, length;

    Tcl_IncrRefCount(lineObj);
    do {
        const char *line;

        Tcl_SetObjLength(lineObj, 0);
        if (Tcl_GetsObj(channel, lineObj) < 0) {
            if (!Tcl_Eof(channel) && !Tcl_InputBlocked(channel)) {
                Ns_TclPrintfResult(interp, "could not read from %s: %s", name,
                                   Tcl_PosixError(interp));
                Tcl_DecrRefCount(lineObj);
                return TCL_ERROR;
            }
            break;
        }
        if (nLines++ > 0) {
            Tcl_DStringAppend(&csvPtr->field, "\n", 1);
        }
        line = Tcl_GetStringFromObj(lineObj, &length);
        nBytes += length > 0;
        TakeLine(csvPtr, line, length);
    } while (csvPtr->state == CSV_QUOTED);
    Tcl_DecrRefCount(lineObj);
    if (nLines > 0) {
        if (nBytes > 0) {
            EndField(csvPtr);
        }
        (void) Tcl_ListObjLength(NULL, csvPtr->listObj, &nFields);
    }
    if (nFields >= 0
        && Tcl_SetVar2Ex(interp, variable, NULL, csvPtr->listObj,
                         TCL_LEAVE_ERR_MSG)
            == NULL) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewIntObj(nFields));
    return TCL_OK;
}

static void
TakeLine(Csv *csvPtr, const char *line, int length)
{
    const char *end = line + length;

    while (line < end) {
        Tcl_UniChar c = 0;
        int         bytes = Tcl_UtfToUniChar(line, &c);

        if (csvPtr->state == CSV_QUOTED && c == csvPtr->quote
            && line + bytes < end) {
            Tcl_UniChar next = 0;
            int         nextBytes = Tcl_UtfToUniChar(line + bytes, &next);

            if (next == c) {
                Tcl_DStringAppend(&csvPtr->field, line, bytes);
                line += bytes + nextBytes;
                continue;
            }
        }
        TakeChar(csvPtr, c, line, bytes);
        line += bytes;
    }
}

/*
 * A doubled quote in quotes has been handled by the caller.
 */
static void
TakeChar(Csv *csvPtr, int c, const char *bytes, int length)
{
    if (csvPtr->state == CSV_QUOTED) {
        if (c == csvPtr->quote) {
            csvPtr->state = CSV_BEHIND;
        } else {
            Tcl_DStringAppend(&csvPtr->field, bytes, length);
        }
    } else if (Tcl_UtfFindFirst(csvPtr->delimiters, c) != NULL) {
        EndField(csvPtr);
    } else if (csvPtr->state == CSV_START && c == csvPtr->quote && c != 0) {
        csvPtr->state = CSV_QUOTED;
        csvPtr->wasQuoted = true;
    } else if (csvPtr->state != CSV_BEHIND) {
        csvPtr->state = CSV_PLAIN;
        Tcl_DStringAppend(&csvPtr->field, bytes, length);
    }
}

static void
EndField(Csv *csvPtr)
{
    const char *text = csvPtr->field.string;
    int         length = csvPtr->field.length;

    if (csvPtr->isTrimmed && !csvPtr->wasQuoted) {
        while (length > 0 && isspace(UCHAR(*text))) {
            text++;
            length--;
        }
        while (length > 0 && isspace(UCHAR(text[length - 1]))) {
            length--;
        }
    }
    Tcl_ListObjAppendElement(NULL, csvPtr->listObj,
                             Tcl_NewStringObj(text, length));
    Tcl_DStringSetLength(&csvPtr->field, 0);
    csvPtr->state = CSV_START;
    csvPtr->wasQuoted = false;
}

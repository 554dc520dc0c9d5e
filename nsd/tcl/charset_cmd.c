/*
 * charset_cmd.c --
 *
 *      Charsets and media types: ns_charsets, ns_encodingforcharset,
 *      ns_encodingfortype, ns_guesstype.
 */

#include "nsstring.h"
#include "http/charset.h"
#include "tcl/commands.h"
#include "tcl/interp.h"

static Tcl_ObjCmdProc CharsetsObjCmd;
static Tcl_ObjCmdProc EncodingForCharsetObjCmd;
static Tcl_ObjCmdProc EncodingForTypeObjCmd;
static Tcl_ObjCmdProc GuessTypeObjCmd;

static NsNameProc AddName;

static const NsTclCommand commands[] = {
    {"ns_charsets",           CharsetsObjCmd, true},
    {"ns_encodingforcharset", EncodingForCharsetObjCmd, true},
    {"ns_encodingfortype",    EncodingForTypeObjCmd, true},
    {"ns_guesstype",          GuessTypeObjCmd, true},
    {NULL, NULL, false}
};


void
NsCharsetCmdInit(void)
{
    NsTclAddCommands(commands);
}

static int
CharsetsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    NsCharsetEach(AddName, listPtr);
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

static void
AddName(const char *name, const void *value, void *arg)
{
    Tcl_ListObjAppendElement(NULL, arg, Tcl_NewStringObj(name, -1));
}

static int
EncodingForCharsetObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                         Tcl_Obj *const *objv)
{
    Tcl_Encoding encoding;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "charset");
        return TCL_ERROR;
    }
    encoding = Ns_GetCharsetEncoding(Tcl_GetString(objv[1]));
    if (encoding != NULL) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj(Tcl_GetEncodingName(encoding), -1));
    }
    return TCL_OK;
}

static int
EncodingForTypeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                      Tcl_Obj *const *objv)
{
    Tcl_Encoding encoding;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "type");
        return TCL_ERROR;
    }
    encoding = Ns_GetTypeEncoding(Tcl_GetString(objv[1]));
    Tcl_SetObjResult(interp, Tcl_NewStringObj(
        encoding == NULL ? "binary" : Tcl_GetEncodingName(encoding), -1));
    return TCL_OK;
}

static int
GuessTypeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "filename");
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(
        Ns_GetMimeType(Tcl_GetString(objv[1])), -1));
    return TCL_OK;
}

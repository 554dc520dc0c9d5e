/* SPDX-License-Identifier: MPL-2.0
 * charset_cmd.c --
 *
 *      Charsets and media types: ns_charsets, ns_encodingforcharset,
 *      ns_encodingfortype, ns_guesstype.
 */

#include "nsstring.h"
#include "http/charset.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc CharsetsCmd, EncodingForCharsetCmd, EncodingForTypeCmd,
    GuessTypeCmd;

static NsNameProc AddName;

static const NsTclCommand commands[] = {
    {"ns_charsets", CharsetsCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_encodingforcharset", EncodingForCharsetCmd, 1, 1, "charset",
     NS_TCL_BASIC},
    {"ns_encodingfortype", EncodingForTypeCmd, 1, 1, "type", NS_TCL_BASIC},
    {"ns_guesstype", GuessTypeCmd, 1, 1, "filename", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Charset, commands)

static int
CharsetsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    NsCharsetEach(AddName, listPtr);
    return NsTclReturn(interp, listPtr);
}

static void
AddName(const char *name, const void *value, void *arg)
{
    Tcl_ListObjAppendElement(NULL, arg, Tcl_NewStringObj(name, -1));
}

static int
EncodingForCharsetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                      Tcl_Obj *const *objv)
{
    Tcl_Encoding encoding;

    encoding = Ns_GetCharsetEncoding(Tcl_GetString(objv[1]));
    if (encoding != NULL) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj(Tcl_GetEncodingName(encoding), -1));
    }
    return TCL_OK;
}

static int
EncodingForTypeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                   Tcl_Obj *const *objv)
{
    Tcl_Encoding encoding;

    encoding = Ns_GetTypeEncoding(Tcl_GetString(objv[1]));
    return NsTclReturnString(interp,
                             encoding == NULL ? "binary"
                                              : Tcl_GetEncodingName(encoding));
}

static int
GuessTypeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return NsTclReturnString(interp, Ns_GetMimeType(Tcl_GetString(objv[1])));
}

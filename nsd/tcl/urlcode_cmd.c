/* SPDX-License-Identifier: MPL-2.0
 * urlcode_cmd.c --
 *
 *      Percent coding: ns_urlencode, ns_urldecode, ns_percentencode,
 *      ns_percentdecode.
 */

#include "nsstring.h"
#include "http/url.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

#define PARTS "query|path|fullpath|fragment|cookie|oauth1"

/*
 * What options say.
 */
typedef struct Options {
    Tcl_Encoding encoding; /* NULL: UTF-8. */
    Tcl_Encoding fallback; /* Or NULL. */
    int          part;     /* An NsUrlPart. */
    bool         isUpper;
    int          next; /* Index of the first word behind them. */
} Options;

static Tcl_ObjCmdProc UrlEncodeCmd, UrlDecodeCmd, PercentEncodeCmd,
    PercentDecodeCmd;

static int  ParseUrlOptions(Tcl_Interp *interp, Options *optionsPtr,
                            bool isEncoding, int objc, Tcl_Obj *const *objv);
static int  ParsePercentOptions(Tcl_Interp *interp, Options *optionsPtr,
                                bool isEncoding, int objc, Tcl_Obj *const *objv,
                                Tcl_Obj **textPtrPtr);
static void Encode(Ns_DString *dsPtr, Tcl_Obj *obj, const Options *optionsPtr);
static int  Decode(Tcl_Interp *interp, Tcl_Obj *obj, const Options *optionsPtr);

static Tcl_Encoding EncodingOf(const char *charset);

static const NsTclCommand commands[] = {
    {"ns_urlencode", UrlEncodeCmd, 1, NS_TCL_ANY,
     "?-charset charset? ?-part " PARTS "? ?-uppercase? ?--? ?arg ...?",
     NS_TCL_BASIC},
    {"ns_urldecode", UrlDecodeCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_percentencode", PercentEncodeCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_percentdecode", PercentDecodeCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(UrlCode, commands)

/*
 * ns_urlencode ?options? ?--? ?arg ...?
 */
static int
UrlEncodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Options    options;
    Ns_DString ds;

    if (ParseUrlOptions(interp, &options, true, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    for (int i = options.next; i < objc; i++) {
        bool isPath = options.part == NS_URL_PATH
            || options.part == NS_URL_FULLPATH;

        Encode(&ds, objv[i], &options);
        if (i + 1 < objc) {
            Ns_DStringNAppend(&ds, isPath ? "/" : "&", 1);
        }
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_urldecode ?options? ?--? string
 */
static int
UrlDecodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Options options;

    if (objc > 1
        && ParseUrlOptions(interp, &options, false, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    if (objc < 2 || options.next != objc - 1) {
        Tcl_WrongNumArgs(interp, 1, objv,
                         "?-charset charset? "
                         "?-fallbackcharset fallbackcharset? "
                         "?-part " PARTS "? ?--? string");
        return TCL_ERROR;
    }
    return Decode(interp, objv[objc - 1], &options);
}

/*
 * Of the words to be decoded, options end before the last.
 */
static int
ParseUrlOptions(Tcl_Interp *interp, Options *optionsPtr, bool isEncoding,
                int objc, Tcl_Obj *const *objv)
{
    static const char *encoding[] = {"-charset", "-part", "-uppercase", NULL};
    static const char *decoding[] = {
        "-charset", "-fallbackcharset", "-part", NULL};
    static Ns_OptionConverter *withFlag[] = {
        Ns_OptionString, Ns_OptionObj, NULL};
    static Ns_OptionConverter *withFallback[] = {
        Ns_OptionString, Ns_OptionString, Ns_OptionObj};
    static const char *const parts[] = {
        [NS_URL_QUERY] = "query",
        [NS_URL_PATH] = "path",
        [NS_URL_FULLPATH] = "fullpath",
        [NS_URL_FRAGMENT] = "fragment",
        [NS_URL_COOKIE] = "cookie",
        [NS_URL_OAUTH1] = "oauth1",
        NULL};
    ClientData values[] = {NULL, NULL, NULL};
    Tcl_Obj   *partObj;

    *optionsPtr = (Options){.part = NS_URL_QUERY};
    if (Ns_ParseOptions(isEncoding ? encoding : decoding,
                        isEncoding ? withFlag : withFallback, values, interp, 1,
                        isEncoding ? -1 : objc - 2, &optionsPtr->next, objc,
                        objv)
        != TCL_OK) {
        return TCL_ERROR;
    }
    optionsPtr->encoding = EncodingOf(values[0]);
    if (isEncoding) {
        partObj = values[1];
        optionsPtr->isUpper = values[2] != NULL;
    } else {
        optionsPtr->fallback = EncodingOf(values[1]);
        partObj = values[2];
    }
    return partObj == NULL
        ? TCL_OK
        : Tcl_GetIndexFromObj(interp, partObj, parts, "-part", TCL_EXACT,
                              &optionsPtr->part);
}

/*
 * ns_percentencode ?options? ?--? string
 */
static int
PercentEncodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    Options    options;
    Tcl_Obj   *textObj;
    Ns_DString ds;

    if (ParsePercentOptions(interp, &options, true, objc, objv, &textObj)
        != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    Encode(&ds, textObj, &options);
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_percentdecode ?options? ?--? string
 */
static int
PercentDecodeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    Options  options;
    Tcl_Obj *textObj;

    return ParsePercentOptions(interp, &options, false, objc, objv, &textObj)
            == TCL_OK
        ? Decode(interp, textObj, &options)
        : TCL_ERROR;
}

static int
ParsePercentOptions(Tcl_Interp *interp, Options *optionsPtr, bool isEncoding,
                    int objc, Tcl_Obj *const *objv, Tcl_Obj **textPtrPtr)
{
    static Ns_ObjvTable schemes[] = {
        {"query", NS_URL_QUERY},
        {"path", NS_URL_PATH},
        {"cookie", NS_URL_COOKIE},
        {"oauth1", NS_URL_OAUTH1},
        {NULL, 0}};
    char       *charset = NULL, *fallback = NULL;
    int         part = NS_URL_QUERY, isUpper = 0;
    Ns_ObjvSpec encoding[] = {
        {"-charset", Ns_ObjvString, &charset, NULL},
        {"-scheme", Ns_ObjvIndex, &part, schemes},
        {"-uppercase", Ns_ObjvBool, &isUpper, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec decoding[] = {
        {"-charset", Ns_ObjvString, &charset, NULL},
        {"-fallbackcharset", Ns_ObjvString, &fallback, NULL},
        {"-scheme", Ns_ObjvIndex, &part, schemes},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"string", Ns_ObjvObj, textPtrPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(isEncoding ? encoding : decoding, args, interp, 1, objc,
                     objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    *optionsPtr = (Options){.part = part,
                            .encoding = EncodingOf(charset),
                            .fallback = EncodingOf(fallback),
                            .isUpper = isUpper != 0};
    return TCL_OK;
}

static void
Encode(Ns_DString *dsPtr, Tcl_Obj *obj, const Options *optionsPtr)
{
    int         oldLength = Ns_DStringLength(dsPtr), length;
    const char *text = Tcl_GetStringFromObj(obj, &length);

    NsUrlEncode(dsPtr, text, (size_t) length, optionsPtr->encoding,
                optionsPtr->part);
    if (optionsPtr->isUpper) {
        NsUrlUpperEscapes(Ns_DStringValue(dsPtr) + oldLength,
                          (size_t) (Ns_DStringLength(dsPtr) - oldLength));
    }
}

static int
Decode(Tcl_Interp *interp, Tcl_Obj *obj, const Options *optionsPtr)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(obj, &length);
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    if (!NsUrlDecodeChecked(&ds, text, (size_t) length, optionsPtr->encoding,
                            optionsPtr->fallback, optionsPtr->part)) {
        Ns_DStringFree(&ds);
        Ns_TclPrintfResult(interp,
                           "input string '%s' cannot be converted to UTF-8",
                           text);
        Tcl_SetErrorCode(interp, "NS_INVALID_UTF8", NULL);
        return TCL_ERROR;
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * NULL for NULL and for a charset that does not exist.
 */
static Tcl_Encoding
EncodingOf(const char *charset)
{
    return charset == NULL ? NULL : Ns_GetCharsetEncoding(charset);
}

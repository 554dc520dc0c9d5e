/* SPDX-License-Identifier: MPL-2.0
 * urlparse_cmd.c --
 *
 *      URLs and values of header fields, taken apart and put together:
 *      ns_parseurl, ns_parsehostport, ns_absoluteurl, ns_joinurl,
 *      ns_parsefieldvalue.
 */

#include "nsstring.h"
#include "base/chars.h"
#include "http/fieldvalue.h"
#include "http/urlparts.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc ParseUrlCmd, ParseHostPortCmd, AbsoluteUrlCmd, JoinUrlCmd,
    ParseFieldValueCmd;

static int      ParseOne(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                         char *name, int *isStrictPtr, char **textPtr);
static void     PutSpan(Tcl_Obj *dictObj, const char *key, NsSpan span);
static int      TakeParts(Tcl_Interp *interp, Tcl_Obj *dictObj,
                          NsUrlParts *partsPtr);
static Tcl_Obj *ReadElements(NsFieldScan *scanPtr, bool isLower, bool isSingle);
static void     PutElement(Tcl_Obj *listObj, Tcl_Obj *dictObj);
static void PutPart(Tcl_Obj *dictObj, const NsFieldPart *partPtr, bool isLower);
static Tcl_Obj *SpanObj(NsSpan span);

static const NsTclCommand commands[] = {
    {"ns_parseurl", ParseUrlCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_parsehostport", ParseHostPortCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_absoluteurl", AbsoluteUrlCmd, 2, 2, "partialurl baseurl",
     NS_TCL_BASIC},
    {"ns_joinurl", JoinUrlCmd, 1, 1, "dict", NS_TCL_BASIC},
    {"ns_parsefieldvalue", ParseFieldValueCmd, 0, NS_TCL_ANY, NULL,
     NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(UrlParse, commands)

/*
 * ns_parseurl ?-strict? ?--? url
 */
static int
ParseUrlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static char name[] = "url";
    NsUrlParts  parts;
    Tcl_Obj    *dictObj;
    const char *problem;
    char       *url;
    int         isStrict = 0;

    if (ParseOne(interp, objc, objv, name, &isStrict, &url) != TCL_OK) {
        return TCL_ERROR;
    }
    problem = NsUrlSplit(url, isStrict != 0, &parts);
    if (problem != NULL) {
        return NsTclFail(interp, "Could not parse URL \"%s\": %s", url,
                         problem);
    }
    dictObj = Tcl_NewDictObj();
    for (int i = 0; i < NS_URL_NPARTS; i++) {
        PutSpan(dictObj, nsUrlPartNames[i], parts.parts[i]);
    }
    return NsTclReturn(interp, dictObj);
}

/*
 * ns_parsehostport ?-strict? ?--? hostport
 */
static int
ParseHostPortCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    static char name[] = "hostport";
    NsSpan      host, port;
    Tcl_Obj    *dictObj;
    char       *text;
    int         isStrict = 0; /* It is, anyway: Host fields are checked. */

    if (ParseOne(interp, objc, objv, name, &isStrict, &text) != TCL_OK) {
        return TCL_ERROR;
    }
    if (!NsHostPortSplit(text, &host, &port)) {
        return NsTclFail(interp, "Could not parse host and port \"%s\"", text);
    }
    dictObj = Tcl_NewDictObj();
    PutSpan(dictObj, "host", host);
    PutSpan(dictObj, "port", port);
    return NsTclReturn(interp, dictObj);
}

static int
ParseOne(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, char *name,
         int *isStrictPtr, char **textPtr)
{
    Ns_ObjvSpec opts[] = {{"-strict", Ns_ObjvBool, isStrictPtr, INT2PTR(true)},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{name, Ns_ObjvString, textPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    return Ns_ParseObjv(opts, args, interp, 1, objc, objv) == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

/*
 * A part that is absent has no key.
 */
static void
PutSpan(Tcl_Obj *dictObj, const char *key, NsSpan span)
{
    if (span.start != NULL) {
        Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(key, -1), SpanObj(span));
    }
}

/*
 * ns_absoluteurl partialurl baseurl
 */
static int
AbsoluteUrlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    if (Ns_AbsoluteUrl(&ds, Tcl_GetString(objv[1]), Tcl_GetString(objv[2]))
        != NS_OK) {
        Ns_DStringFree(&ds);
        return NsTclFail(interp,
                         "Could not parse base URL into protocol, host and "
                         "path");
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_joinurl dict
 */
static int
JoinUrlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsUrlParts parts;
    Ns_DString ds;

    if (TakeParts(interp, objv[1], &parts) != TCL_OK) {
        return TCL_ERROR;
    }
    if (parts.parts[NS_URL_HOST].start == NULL) {
        static const NsUrlPiece ofHost[] = {
            NS_URL_PROTO, NS_URL_USERINFO, NS_URL_PORT};

        for (int i = 0; i < Ns_NrElements(ofHost); i++) {
            NsSpan span = parts.parts[ofHost[i]];

            if (span.start != NULL) {
                return NsTclFail(interp,
                                 "key '%s' (value %s) was provided without a "
                                 "key 'host'",
                                 nsUrlPartNames[ofHost[i]], span.start);
            }
        }
    }
    Ns_DStringInit(&ds);
    NsUrlJoin(&ds, &parts);
    return NsTclReturnText(interp, &ds);
}

/*
 * The parts are those of the dict's strings.
 */
static int
TakeParts(Tcl_Interp *interp, Tcl_Obj *dictObj, NsUrlParts *partsPtr)
{
    Tcl_DictSearch search;
    Tcl_Obj       *keyObj, *valueObj;
    int            isDone, i, length;

    memset(partsPtr, 0, sizeof(*partsPtr));
    if (Tcl_DictObjFirst(NULL, dictObj, &search, &keyObj, &valueObj, &isDone)
        != TCL_OK) {
        return NsTclFail(interp, "the provided argument is not a dict: %s",
                         Tcl_GetString(dictObj));
    }
    for (; !isDone; Tcl_DictObjNext(&search, &keyObj, &valueObj, &isDone)) {
        const char *key = Tcl_GetString(keyObj), *value;

        for (i = 0; i < NS_URL_NPARTS && !STREQ(key, nsUrlPartNames[i]); i++) {
            /* To the part of that name. */
        }
        if (i == NS_URL_NPARTS) {
            Ns_TclPrintfResult(interp,
                               "the provided dict contains invalid key: %s",
                               key);
            break;
        }
        value = Tcl_GetStringFromObj(valueObj, &length);
        partsPtr->parts[i] = (NsSpan){value, (size_t) length};
    }
    Tcl_DictObjDone(&search);
    return isDone ? TCL_OK : TCL_ERROR;
}

/*
 * ns_parsefieldvalue ?-lower? ?-single? ?-strict? ?--? value
 */
static int
ParseFieldValueCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                   Tcl_Obj *const *objv)
{
    NsFieldScan scan = {0};
    Tcl_Obj    *listObj, *elementObj = NULL;
    char       *value;
    int         isLower = 0, isSingle = 0, isStrict = 0;
    Ns_ObjvSpec opts[] = {{"-lower", Ns_ObjvBool, &isLower, INT2PTR(true)},
                          {"-single", Ns_ObjvBool, &isSingle, INT2PTR(true)},
                          {"-strict", Ns_ObjvBool, &isStrict, INT2PTR(true)},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"value", Ns_ObjvString, &value, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    scan.p = value;
    scan.isStrict = isStrict != 0;
    listObj = ReadElements(&scan, isLower != 0, isSingle != 0);
    if (isStrict && *scan.p != '\0') {
        Tcl_DecrRefCount(listObj);
        return NsTclFail(interp, "unparsed content '%s'", scan.p);
    }
    if (isSingle) {
        Tcl_ListObjIndex(NULL, listObj, 0, &elementObj);
        Tcl_SetObjResult(interp,
                         elementObj == NULL ? Tcl_NewObj() : elementObj);
        Tcl_DecrRefCount(listObj);
        return TCL_OK;
    }
    Tcl_SetObjResult(interp, listObj);
    Tcl_DecrRefCount(listObj);
    return TCL_OK;
}

/*
 * A list of dicts, owned by the caller; of the first element alone if isSingle.
 * scanPtr->p is then what was not used.
 */
static Tcl_Obj *
ReadElements(NsFieldScan *scanPtr, bool isLower, bool isSingle)
{
    Tcl_Obj    *listObj = Tcl_NewListObj(0, NULL), *dictObj = NULL;
    const char *before = scanPtr->p;
    NsFieldPart part;

    Tcl_IncrRefCount(listObj);
    while (NsFieldScanNext(scanPtr, &part)) {
        if (part.isFirst) {
            if (isSingle && dictObj != NULL) {
                scanPtr->p = before;
                break;
            }
            PutElement(listObj, dictObj);
            dictObj = Tcl_NewDictObj();
        }
        PutPart(dictObj, &part, isLower);
        before = NsSkipSpace(scanPtr->p);
    }
    PutElement(listObj, dictObj);
    return listObj;
}

static void
PutElement(Tcl_Obj *listObj, Tcl_Obj *dictObj)
{
    if (dictObj != NULL) {
        Tcl_ListObjAppendElement(NULL, listObj, dictObj);
    }
}

static void
PutPart(Tcl_Obj *dictObj, const NsFieldPart *partPtr, bool isLower)
{
    Tcl_Obj *nameObj = SpanObj(partPtr->name);

    if (isLower) {
        char *name = Tcl_GetString(nameObj);

        for (size_t i = 0; i < partPtr->name.length; i++) {
            name[i] = NsToLower(name[i]);
        }
    }
    NsTclDictPut(dictObj, nameObj, SpanObj(partPtr->value));
}

static Tcl_Obj *
SpanObj(NsSpan span)
{
    return Tcl_NewStringObj(span.start, (int) span.length);
}

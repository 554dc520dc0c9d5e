/* SPDX-License-Identifier: MPL-2.0
 * form_cmd.c --
 *
 *      Fields and files that a client sent: ns_getform, ns_queryget,
 *      ns_getcontent and others.
 */

#include "http/multipart.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/conncontent.h"
#include "tcl/result.h"
#include "tcl/set.h"

#include "nsfile.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/tempfile.h"
#include "base/writeall.h"
#include "http/form.h"
#include "request/connbody.h"
#include "request/connform.h"

/*
 * Temporary files of one request.
 */
typedef struct NsFormFiles {
    int     epoch;  /* Of the form that has their names. */
    Ns_Set *files;  /* Field name, path. */
    Ns_Set *bodies; /* Of ns_getcontent: text or bytes, path. */
} NsFormFiles;

/*
 * The destination of the parts of ns_parseformfile.
 */
typedef struct Parts {
    Ns_Set *setPtr;
    int     error; /* Why a file could not be saved, or 0. */
} Parts;

static Tcl_ObjCmdProc GetFormCmd, GetFormFileCmd, QueryGetCmd, QueryGetAllCmd,
    QueryExistsCmd, GetFormDataCmd, ParseFormFileCmd, GetContentCmd, GetJsonCmd;

static Ns_Cls filesCls; /* NsFormFiles of a connection. */

static Ns_Callback  FreeFiles;
static NsFormFiles *GetFiles(NsConn *connPtr);
static Ns_Set      *GetForm(NsInterp *interpPtr, Tcl_Encoding fallback);
static int          SaveFiles(NsInterp *interpPtr, Ns_Set *formPtr);
static char *SaveBytes(const NsConn *connPtr, const char *bytes, size_t length);
static void  AddFile(Ns_Set *formPtr, const char *field, const char *type,
                     const char *path);
static NsFormPartProc AddPart;
static int            GetBody(NsConn *connPtr, Tcl_Interp *interp,
                              NsFormSource *sourcePtr);
static int            ReturnFile(NsConn *connPtr, Tcl_Interp *interp,
                                 const NsFormSource *sourcePtr, bool isBinary);

void
NsFormCmdInit(void)
{
    static const NsTclCommand commands[] = {
        {"ns_getcontent", GetContentCmd, 0, NS_TCL_ANY, NULL, 0},
        {"ns_getjson", GetJsonCmd, 0, NS_TCL_ANY, NULL, 0},
        {"ns_getform", GetFormCmd, 0, NS_TCL_ANY, NULL, 0},
        {"ns_getformfile", GetFormFileCmd, 1, 1, "name", 0},
        {"ns_queryget", QueryGetCmd, 1, 2, "key ?default?", 0},
        {"ns_querygetall", QueryGetAllCmd, 1, 2, "key ?default?", 0},
        {"ns_queryexists", QueryExistsCmd, 1, 1, "key", 0},
        {"getformdata", GetFormDataCmd, 1, 1, "var", 0},
        {"ns_parseformfile", ParseFormFileCmd, 3, 3, "file set contentType", 0},
        NS_TCL_END};

    NsTclAddCommands(commands);
    Ns_ClsAlloc(&filesCls, FreeFiles);
}

/*
 * Delete the temporary files: the request has ended.
 */
static void
FreeFiles(void *arg)
{
    NsFormFiles *filesPtr = arg;
    Ns_Set      *sets[] = {filesPtr->files, filesPtr->bodies};

    for (int i = 0; i < Ns_NrElements(sets); i++) {
        for (int j = 0; j < Ns_SetSize(sets[i]); j++) {
            (void) unlink(Ns_SetValue(sets[i], j));
        }
        Ns_SetFree(sets[i]);
    }
    ns_free(filesPtr);
}

static NsFormFiles *
GetFiles(NsConn *connPtr)
{
    NsFormFiles *filesPtr = Ns_ClsGet(&filesCls, &connPtr->pub);

    if (filesPtr == NULL) {
        filesPtr = ns_malloc(sizeof(NsFormFiles));
        *filesPtr = (NsFormFiles){-1, Ns_SetCreate(NULL), Ns_SetCreate(NULL)};
        Ns_ClsSet(&filesCls, &connPtr->pub, filesPtr);
    }
    return filesPtr;
}

/*
 * The form with the names of its temporary files; NULL with an error in the
 * interpreter, or outside a request.
 */
static Ns_Set *
GetForm(NsInterp *interpPtr, Tcl_Encoding fallback)
{
    NsConn            *connPtr = interpPtr->connPtr;
    const NsFormFiles *filesPtr;
    Ns_Set            *formPtr;

    if (connPtr == NULL) {
        return NULL;
    }
    filesPtr = Ns_ClsGet(&filesCls, &connPtr->pub);
    formPtr = NsConnOptionGetForm(interpPtr, fallback);
    if (formPtr == NULL || NsConnFiles(connPtr) == NULL
        || (connPtr->pub.flags & NS_CONN_CLOSED) != 0
        || (filesPtr != NULL && filesPtr->epoch == NsConnFormEpoch(connPtr))) {
        return formPtr;
    }
    return (SaveFiles(interpPtr, formPtr) == TCL_OK) ? formPtr : NULL;
}

static int
SaveFiles(NsInterp *interpPtr, Ns_Set *formPtr)
{
    NsConn           *connPtr = interpPtr->connPtr;
    const NsConnFile *filePtr;
    size_t            bodyBytes;
    const char       *body = NsConnFormBody(connPtr, &bodyBytes);
    NsFormFiles      *filesPtr = GetFiles(connPtr);

    filesPtr->epoch = NsConnFormEpoch(connPtr);

    for (filePtr = NsConnFiles(connPtr); filePtr != NULL;
         filePtr = filePtr->nextPtr) {
        const char *type = Ns_SetIGet(filePtr->headers, "content-type");
        char       *path;

        if (body == NULL || filePtr->offset + filePtr->length > bodyBytes) {
            continue;
        }
        path = SaveBytes(connPtr, body + filePtr->offset, filePtr->length);
        if (path == NULL) {
            return NsTclFail(interpPtr->interp,
                             "could not write temporary file: %s",
                             Tcl_PosixError(interpPtr->interp));
        }
        AddFile(formPtr, filePtr->field, type, path);
        Ns_SetPut(filesPtr->files, filePtr->field, path);
        ns_free(path);
    }
    return TCL_OK;
}

static void
AddFile(Ns_Set *formPtr, const char *field, const char *type, const char *path)
{
    Ns_DString key;

    Ns_DStringInit(&key);
    Ns_DStringAppend(&key, field);
    Ns_DStringAppend(&key, ".content-type");
    Ns_SetPut(formPtr, Ns_DStringValue(&key), (type != NULL) ? type : "");
    Ns_DStringSetLength(&key, (int) strlen(field));
    Ns_DStringAppend(&key, ".tmpfile");
    Ns_SetPut(formPtr, Ns_DStringValue(&key), path);
    Ns_DStringFree(&key);
}

/*
 * A new temporary file with these bytes, where the driver of the request has
 * those of uploads: its name, the caller's; NULL with errno when that fails.
 */
static char *
SaveBytes(const NsConn *connPtr, const char *bytes, size_t length)
{
    Ns_DString path;
    int        fd, error;

    Ns_DStringInit(&path);
    fd = NsTempFileOpenNamed(connPtr == NULL ? NULL
                                             : connPtr->settingsPtr->uploadPath,
                             &path);
    if (fd < 0) {
        Ns_DStringFree(&path);
        return NULL;
    }
    if (!NsWriteAll(fd, bytes, length)) {
        error = errno;
        (void) close(fd);
        (void) unlink(Ns_DStringValue(&path));
        Ns_DStringFree(&path);
        errno = error;
        return NULL;
    }
    (void) close(fd);
    return Ns_DStringExport(&path);
}

/*
 * ns_getform ?-fallbackcharset charset? ?charset?
 */
static int
GetFormCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsInterp    *interpPtr = clientData;
    NsConn      *connPtr = interpPtr->connPtr;
    char        *charset = NULL, *fallback = NULL;
    Ns_Set      *formPtr;
    Tcl_Encoding encoding;
    Ns_ObjvSpec  options[] = {
         {"-fallbackcharset", Ns_ObjvString, &fallback, NULL},
         {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"?charset", Ns_ObjvString, &charset, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (connPtr == NULL) {
        return TCL_OK;
    }
    if (charset != NULL && *charset != '\0') {
        encoding = Ns_GetCharsetEncoding(charset);
        if (encoding == NULL) {
            return NsTclFail(interp, "no such encoding: %s", charset);
        }
        if (encoding != Ns_ConnGetUrlEncoding(&connPtr->pub)) {
            Ns_ConnSetUrlEncoding(&connPtr->pub, encoding);
            Ns_ConnClearQuery(&connPtr->pub);
        }
    }
    formPtr = GetForm(interpPtr,
                      fallback == NULL ? NULL
                                       : Ns_GetCharsetEncoding(fallback));
    if (formPtr == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, NsTclSetEnterKnown(interpPtr, formPtr));
}

/*
 * ns_getjson ?-output json|triples?: nothing unless the body is JSON.
 */
static int
GetJsonCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    static Ns_ObjvTable outputs[] = {
        {"json", NS_JSON_AS_VALUE}, {"triples", NS_JSON_AS_TRIPLES}, {NULL, 0}};
    NsConn      *connPtr;
    NsFormSource source = {0};
    int          output = NS_JSON_AS_VALUE, result = TCL_OK;
    Ns_ObjvSpec  options[] = {
         {"-output", Ns_ObjvIndex, &output, outputs}, {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, NULL, interp, 1, objc, objv) != NS_OK
        || (connPtr = NsTclConn(clientData)) == NULL) {
        return TCL_ERROR;
    }
    if (!NsConnIsJson(connPtr)) {
        return TCL_OK;
    }
    if (GetBody(connPtr, interp, &source) != TCL_OK) {
        return TCL_ERROR;
    }
    if (source.length > 0u) {
        result = Ns_JsonParse(interp, source.data, source.length,
                              (Ns_JsonOutput) output);
    }
    NsFormSourceClose(&source);
    return result;
}

/*
 * The path of the file of a field, or a list of the paths of several.
 */
static int
GetFormFileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    NsInterp          *interpPtr = clientData;
    const NsFormFiles *filesPtr;
    Tcl_Obj           *listObj, *pathObj;
    int                n;

    if (interpPtr->connPtr == NULL) {
        return TCL_OK;
    }
    if (GetForm(interpPtr, NULL) == NULL) {
        return TCL_ERROR;
    }
    listObj = Tcl_NewListObj(0, NULL);
    filesPtr = Ns_ClsGet(&filesCls, &interpPtr->connPtr->pub);
    for (int i = 0; filesPtr != NULL && i < Ns_SetSize(filesPtr->files); i++) {
        if (STREQ(Ns_SetKey(filesPtr->files, i), Tcl_GetString(objv[1]))) {
            Tcl_ListObjAppendElement(
                NULL, listObj,
                Tcl_NewStringObj(Ns_SetValue(filesPtr->files, i), -1));
        }
    }
    /* A path alone is not a list: it may have blanks. */
    if (Tcl_ListObjLength(NULL, listObj, &n) == TCL_OK && n == 1) {
        (void) Tcl_ListObjIndex(NULL, listObj, 0, &pathObj);
        Tcl_SetObjResult(interp, pathObj);
        Tcl_DecrRefCount(listObj);
        return TCL_OK;
    }
    return NsTclReturn(interp, listObj);
}

static int
QueryGetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsInterp   *interpPtr = clientData;
    const char *value = NULL;
    Ns_Set     *formPtr;

    if (interpPtr->connPtr != NULL) {
        formPtr = GetForm(interpPtr, NULL);
        if (formPtr == NULL) {
            return TCL_ERROR;
        }
        value = Ns_SetIGet(formPtr, Tcl_GetString(objv[1]));
    }
    if (value != NULL && *value != '\0') {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(value, -1));
    } else if (objc == 3) {
        Tcl_SetObjResult(interp, objv[2]);
    }
    return TCL_OK;
}

static int
QueryGetAllCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    NsInterp *interpPtr = clientData;
    Tcl_Obj  *listObj = Tcl_NewListObj(0, NULL);
    Ns_Set   *formPtr;
    int       i, n = 0;

    if (interpPtr->connPtr != NULL) {
        formPtr = GetForm(interpPtr, NULL);
        if (formPtr == NULL) {
            Tcl_DecrRefCount(listObj);
            return TCL_ERROR;
        }
        for (i = 0; i < Ns_SetSize(formPtr); i++) {
            const char *value = Ns_SetValue(formPtr, i);

            if (value != NULL && *value != '\0'
                && STRIEQ(Ns_SetKey(formPtr, i), Tcl_GetString(objv[1]))) {
                Tcl_ListObjAppendElement(NULL, listObj,
                                         Tcl_NewStringObj(value, -1));
                n++;
            }
        }
    }
    Tcl_SetObjResult(interp, (n == 0 && objc == 3) ? objv[2] : listObj);
    if (n == 0 && objc == 3) {
        Tcl_DecrRefCount(listObj);
    }
    return TCL_OK;
}

static int
QueryExistsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    NsInterp *interpPtr = clientData;
    Ns_Set   *formPtr;
    int       exists = 0;

    if (interpPtr->connPtr != NULL) {
        formPtr = GetForm(interpPtr, NULL);
        if (formPtr == NULL) {
            return TCL_ERROR;
        }
        exists = Ns_SetIFind(formPtr, Tcl_GetString(objv[1])) >= 0;
    }
    return NsTclReturn(interp, Tcl_NewIntObj(exists));
}

static int
GetFormDataCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    NsInterp *interpPtr = clientData;
    Ns_Set   *formPtr;

    if (NsTclCurrentConn(interpPtr) == NULL) {
        return TCL_ERROR;
    }
    formPtr = GetForm(interpPtr, NULL);
    if (formPtr == NULL) {
        Ns_ConnReturnBadRequest(&interpPtr->connPtr->pub,
                                "Missing HTML FORM data");
        return NsTclReturn(interp, Tcl_NewIntObj(0));
    }
    if (Tcl_ObjSetVar2(interp, objv[1], NULL,
                       NsTclSetEnterKnown(interpPtr, formPtr),
                       TCL_LEAVE_ERR_MSG)
        == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewIntObj(1));
}

/*
 * ns_parseformfile file set contentType: the fields of a spooled body.
 */
static int
ParseFormFileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    NsFormSource source;
    Parts        parts = {0};
    int          fd, status;

    parts.setPtr = NsTclSetGet(clientData, objv[2]);
    if (parts.setPtr == NULL) {
        return TCL_ERROR;
    }
    fd = open(Tcl_GetString(objv[1]), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || NsFormSourceOpen(&source, fd) != NS_OK) {
        Ns_TclPrintfResult(interp, "could not open \"%s\": %s",
                           Tcl_GetString(objv[1]), Tcl_PosixError(interp));
        if (fd >= 0) {
            (void) close(fd);
        }
        return TCL_ERROR;
    }
    status = NsFormParseMultipart(&source, Tcl_GetString(objv[3]), NULL,
                                  AddPart, &parts);
    NsFormSourceClose(&source);
    (void) close(fd);
    if (parts.error != 0) {
        return NsTclFail(interp, "could not write temporary file: %s",
                         strerror(parts.error));
    }
    if (status != NS_OK) {
        return NsTclFail(interp, "no multipart form: %s",
                         Tcl_GetString(objv[3]));
    }
    return TCL_OK;
}

static void
AddPart(const NsFormPart *partPtr, void *arg)
{
    Parts     *partsPtr = arg;
    Ns_Set    *setPtr = partsPtr->setPtr;
    Ns_DString ds;
    char      *path;

    Ns_DStringInit(&ds);
    if (partPtr->fileName == NULL) {
        NsFormDecode(&ds, partPtr->content, partPtr->contentLength, NULL);
        Ns_SetPut(setPtr, partPtr->name, Ns_DStringValue(&ds));
    } else {
        Ns_SetPut(setPtr, partPtr->name, partPtr->fileName);
        for (int i = 0; i < partPtr->nHeaders; i++) {
            const NsFormHeader *headerPtr = &partPtr->headers[i];

            if (headerPtr->nameLength == 12
                && strncasecmp(headerPtr->name, "content-type", 12) == 0) {
                Ns_DStringNAppend(&ds, headerPtr->value,
                                  (int) headerPtr->valueLength);
                break;
            }
        }
        path = SaveBytes(NsConnCurrent(), partPtr->content,
                         partPtr->contentLength);
        if (path == NULL) {
            partsPtr->error = errno;
        } else {
            AddFile(setPtr, partPtr->name, Ns_DStringValue(&ds), path);
            ns_free(path);
        }
    }
    Ns_DStringFree(&ds);
}

/*
 * ns_getcontent ?-as_file bool? ?-binary bool?: the body, wherever it is.
 */
static int
GetContentCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsConn      *connPtr;
    const char  *words[] = {"true", "true"};
    int          flags[2];
    NsFormSource source = {0};
    Ns_ObjvSpec  options[] = {{"-as_file", Ns_ObjvString, &words[0], NULL},
                              {"-binary", Ns_ObjvString, &words[1], NULL},
                              {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, NULL, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    for (int i = 0; i < 2; i++) {
        if (Tcl_GetBoolean(NULL, words[i], &flags[i]) != TCL_OK) {
            return NsTclFail(interp, "value of '%s' is not boolean", words[i]);
        }
    }
    connPtr = NsTclConn(clientData);
    if (connPtr == NULL) {
        return TCL_ERROR;
    }
    if (flags[0] && flags[1] && connPtr->messagePtr->contentFile != NULL) {
        return NsTclReturnString(interp, connPtr->messagePtr->contentFile);
    }
    if (GetBody(connPtr, interp, &source) != TCL_OK) {
        return TCL_ERROR;
    }
    if (flags[0]) {
        flags[0] = ReturnFile(connPtr, interp, &source, flags[1] != 0);
    } else {
        Tcl_SetObjResult(interp,
                         NsConnBodyObj(connPtr, source.data, source.length,
                                       flags[1] != 0));
        flags[0] = TCL_OK;
    }
    NsFormSourceClose(&source);
    return flags[0];
}

static int
GetBody(NsConn *connPtr, Tcl_Interp *interp, NsFormSource *sourcePtr)
{
    const NsMessage *messagePtr = connPtr->messagePtr;

    if ((connPtr->pub.flags & NS_CONN_CLOSED) != 0) {
        return NsTclFail(interp,
                         "connection already closed, can't get content");
    }
    if (messagePtr->contentFile != NULL) {
        if (NsFormSourceOpen(sourcePtr, messagePtr->contentFd) != NS_OK) {
            return NsTclFail(interp, "could not read \"%s\": %s",
                             messagePtr->contentFile, Tcl_PosixError(interp));
        }
    } else {
        sourcePtr->data = NsConnBody(connPtr, &sourcePtr->length);
    }
    if (sourcePtr->data == NULL) {
        sourcePtr->data = "";
    }
    return TCL_OK;
}

/*
 * A file with the body, the same for all who ask: it goes with the request.
 */
static int
ReturnFile(NsConn *connPtr, Tcl_Interp *interp, const NsFormSource *sourcePtr,
           bool isBinary)
{
    NsFormFiles *filesPtr = GetFiles(connPtr);
    const char  *kind = isBinary ? "bytes" : "text";
    const char  *path = Ns_SetGet(filesPtr->bodies, kind);
    char        *newPath;
    Ns_DString   text;

    if (path != NULL) {
        return NsTclReturnString(interp, path);
    }
    Ns_DStringInit(&text);
    if (!isBinary
        && NsConnBodyText(connPtr, sourcePtr->data, sourcePtr->length, &text)) {
        Tcl_DString bytes;

        Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"),
                                 Ns_DStringValue(&text),
                                 Ns_DStringLength(&text), &bytes);
        newPath = SaveBytes(connPtr, Tcl_DStringValue(&bytes),
                            (size_t) Tcl_DStringLength(&bytes));
        Tcl_DStringFree(&bytes);
    } else {
        newPath = SaveBytes(connPtr, sourcePtr->data, sourcePtr->length);
    }
    Ns_DStringFree(&text);
    if (newPath == NULL) {
        return NsTclFail(interp, "could not write temporary file: %s",
                         Tcl_PosixError(interp));
    }
    Ns_SetPut(filesPtr->bodies, kind, newPath);
    Tcl_SetObjResult(interp, Tcl_NewStringObj(newPath, -1));
    ns_free(newPath);
    return TCL_OK;
}

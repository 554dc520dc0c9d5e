/* SPDX-License-Identifier: MPL-2.0
 * conncontent.c --
 *
 *      The options of ns_conn about header fields and body of the request.
 */

#include "tcl/conncontent.h"
#include "tcl/result.h"
#include "tcl/connoption.h"
#include "request/connbody.h"
#include "request/connform.h"
#include "tcl/set.h"
#include "nsset.h"
#include "nsstring.h"
#include "http/charset.h"
#include "http/form.h"
#include "http/url.h"

static int  GetBody(const NsConnCall *callPtr, const char **bodyPtr,
                    size_t *bytesPtr);
static int  ReturnPart(NsConnCall *callPtr, const char *body, size_t bodyBytes);
static int  CheckFits(Tcl_Interp *interp, const char *what, size_t bytes);
static int  GetSlice(NsConnCall *callPtr, size_t bodyBytes, size_t *offsetPtr,
                     size_t *lengthPtr);
static bool IsTextType(const char *type);
static Tcl_Obj *NewBytes(const char *bytes, size_t length);

typedef Tcl_Obj *FileProc(NsConnCall *callPtr, const NsConnFile *filePtr);

static FileProc FileOffset, FileLength, FileHeaders;
static int ListFiles(NsConnCall *callPtr, const char *option, FileProc *proc);

/*
 * Bytes of the request's head, as received.
 */
int
NsConnOptionHeaderLength(NsConnCall *callPtr)
{
    return NsConnReturnInt(callPtr,
                           (Tcl_WideInt)
                               callPtr->connPtr->messagePtr->head.headBytes);
}

/*
 * content ?-binary? ?off? ?len?: bytes, or characters.
 */
int
NsConnOptionContent(NsConnCall *callPtr)
{
    bool isBinary = callPtr->objc > 0
        && STREQ(Tcl_GetString(callPtr->objv[0]), "-binary");
    const char *body;
    size_t      length, offset, bodyBytes;
    Tcl_Obj    *bodyObj;

    callPtr->objc -= isBinary;
    callPtr->objv += isBinary;
    if (callPtr->objc > 2) {
        return NsConnWrongArgs(callPtr, "content ?-binary? ?off? ?len?");
    }
    if (GetBody(callPtr, &body, &bodyBytes) != TCL_OK) {
        return TCL_ERROR;
    }
    if (isBinary && callPtr->objc > 0) {
        return ReturnPart(callPtr, body, bodyBytes);
    }
    if (CheckFits(callPtr->interp, "the body", bodyBytes) != TCL_OK) {
        return TCL_ERROR;
    }
    bodyObj = NsConnBodyObj(callPtr->connPtr, body, bodyBytes, isBinary);
    Tcl_IncrRefCount(bodyObj);
    if (callPtr->objc > 0) {
        bool     isBytes = NsTclIsByteArray(bodyObj);
        Tcl_Obj *partObj;

        length = isBytes ? bodyBytes : (size_t) Tcl_GetCharLength(bodyObj);
        if (GetSlice(callPtr, length, &offset, &length) != TCL_OK) {
            Tcl_DecrRefCount(bodyObj);
            return TCL_ERROR;
        }
        partObj = isBytes ? NewBytes(body + offset, length)
            : length == 0
            ? Tcl_NewObj()
            : Tcl_GetRange(bodyObj, (int) offset, (int) (offset + length) - 1);
        Tcl_IncrRefCount(partObj);
        Tcl_DecrRefCount(bodyObj);
        bodyObj = partObj;
    }
    Tcl_SetObjResult(callPtr->interp, bodyObj);
    Tcl_DecrRefCount(bodyObj);
    return TCL_OK;
}

/*
 * Of bytes, the others need not be a value.
 */
static int
ReturnPart(NsConnCall *callPtr, const char *body, size_t bodyBytes)
{
    size_t offset, length;

    if (GetSlice(callPtr, bodyBytes, &offset, &length) != TCL_OK
        || CheckFits(callPtr->interp, "the part of the body", length)
            != TCL_OK) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(callPtr->interp,
                     length == 0 ? Tcl_NewObj()
                                 : NewBytes(body + offset, length));
    return TCL_OK;
}

static int
CheckFits(Tcl_Interp *interp, const char *what, size_t bytes)
{
    if (NsConnContentFits(bytes)) {
        return TCL_OK;
    }
    Ns_TclPrintfResult(interp,
                       "%s has %" PRIuz " bytes, more than maxcontentmemory "
                       "allows (%" PRId64 ")",
                       what, bytes, NsConnContentMax());
    Tcl_SetErrorCode(interp, "NS_LIMIT", "body", (char *) NULL);
    return TCL_ERROR;
}

Tcl_Obj *
NsConnBodyObj(NsConn *connPtr, const char *bytes, size_t length, bool isBinary)
{
    Tcl_Obj   *obj;
    Ns_DString ds;

    if (length == 0) {
        return Tcl_NewObj();
    }
    if (isBinary) {
        return NewBytes(bytes, length);
    }
    Ns_DStringInit(&ds);
    obj = NsConnBodyText(connPtr, bytes, length, &ds)
        ? Tcl_NewStringObj(Ns_DStringValue(&ds), Ns_DStringLength(&ds))
        : NewBytes(bytes, length);
    Ns_DStringFree(&ds);
    return obj;
}

bool
NsConnBodyText(NsConn *connPtr, const char *bytes, size_t length,
               Ns_DString *dsPtr)
{
    const char  *type = Ns_SetIGet(connPtr->pub.headers, "Content-Type");
    const char  *charset;
    size_t       charsetBytes;
    Tcl_Encoding encoding = connPtr->urlEncoding;

    if (type != NULL && NsTypeCharset(type, &charset, &charsetBytes)) {
        encoding = Ns_GetCharsetEncodingEx(charset, charsetBytes);
        if (encoding == NULL) {
            return false;
        }
    } else if (type != NULL && !IsTextType(type)) {
        return false;
    }
    if (NsEncodingIsUtf8(encoding)
        && NsUtf8ValidBytes(bytes, length) != length) {
        return false;
    }
    NsFormDecode(dsPtr, bytes, length, encoding);
    return true;
}

/*
 * Types whose bytes are text without a charset that says so.
 */
static bool
IsTextType(const char *type)
{
    static const char *const names[] = {
        "application/x-www-form-urlencoded",
        "application/json",
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/yaml",
        "application/graphql"};
    size_t length = strcspn(type, "; \t");

    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (length == strlen(names[i])
            && strncasecmp(type, names[i], length) == 0) {
            return true;
        }
    }
    return strncasecmp(type, "text/", 5) == 0
        || (length > 5 && strncasecmp(type + length - 5, "+json", 5) == 0)
        || (length > 4 && strncasecmp(type + length - 4, "+xml", 4) == 0);
}

static Tcl_Obj *
NewBytes(const char *bytes, size_t length)
{
    return Tcl_NewByteArrayObj((const unsigned char *) bytes,
                               (int) MIN(length, (size_t) INT_MAX));
}

/*
 * form ?-fallbackcharset charset?
 */
int
NsConnOptionForm(NsConnCall *callPtr)
{
    Tcl_Encoding fallback = NULL;
    Ns_Set      *formPtr;

    if (callPtr->objc > 0) {
        if (callPtr->objc != 2
            || !STREQ(Tcl_GetString(callPtr->objv[0]), "-fallbackcharset")) {
            return NsConnWrongArgs(callPtr, "form ?-fallbackcharset charset?");
        }
        fallback = Ns_GetCharsetEncoding(Tcl_GetString(callPtr->objv[1]));
    }
    formPtr = NsConnOptionGetForm(callPtr->interpPtr, fallback);
    return formPtr != NULL ? NsConnReturnSet(callPtr, formPtr) : TCL_ERROR;
}

Ns_Set *
NsConnOptionGetForm(NsInterp *interpPtr, Tcl_Encoding fallback)
{
    NsConn *connPtr = interpPtr->connPtr;
    Ns_Set *formPtr;

    /* Parts of others are read one by one, files among them not at all. */
    if (NsConnIsForm(connPtr) && !NsConnIsMultipart(connPtr)
        && CheckFits(interpPtr->interp, "the form",
                     connPtr->messagePtr->contentLength)
            != TCL_OK) {
        return NULL;
    }
    formPtr = NsConnGetForm(connPtr, fallback);

    if (formPtr == NULL && NsConnFormJsonProblem(connPtr) != NULL) {
        Ns_TclPrintfResult(interpPtr->interp, "ns_json: %s",
                           NsConnFormJsonProblem(connPtr));
        Tcl_SetErrorCode(interpPtr->interp, "NS_INVALID_JSON", (char *) NULL);
    } else if (formPtr == NULL) {
        Ns_TclPrintfResult(interpPtr->interp,
                           "cannot decode '%s'; contains invalid UTF-8",
                           NsConnRequest(connPtr)->query);
        Tcl_SetErrorCode(interpPtr->interp, "NS_INVALID_UTF8", (char *) NULL);
    }
    return formPtr;
}

int
NsConnOptionCopy(NsConnCall *callPtr)
{
    Tcl_Channel channel;
    const char *body;
    size_t      bodyBytes, offset, length;

    if (callPtr->objc != 3) {
        return NsConnWrongArgs(callPtr, "copy off len chan");
    }
    if (GetBody(callPtr, &body, &bodyBytes) != TCL_OK) {
        return TCL_ERROR;
    }
    if (GetSlice(callPtr, bodyBytes, &offset, &length) != TCL_OK
        || NsTclGetChannel(callPtr->interp, callPtr->objv[2], TCL_WRITABLE,
                           &channel)
            != TCL_OK) {
        return TCL_ERROR;
    }
    while (length > 0) {
        int n = Tcl_Write(channel, body + offset,
                          (int) MIN(length, (size_t) (1 << 30)));

        if (n <= 0) {
            return NsTclFail(callPtr->interp,
                             "could not write %s bytes to %s: %s",
                             Tcl_GetString(callPtr->objv[1]),
                             Tcl_GetString(callPtr->objv[2]),
                             Tcl_PosixError(callPtr->interp));
        }
        offset += (size_t) n;
        length -= (size_t) n;
    }
    return TCL_OK;
}

/*
 * The body in memory; no bytes if there is none.
 */
static int
GetBody(const NsConnCall *callPtr, const char **bodyPtr, size_t *bytesPtr)
{
    if ((callPtr->conn->flags & NS_CONN_CLOSED) != 0) {
        return NsTclFail(callPtr->interp,
                         "connection already closed, can't get content");
    }
    *bodyPtr = NsConnBody(callPtr->connPtr, bytesPtr);
    if (*bodyPtr == NULL) {
        *bytesPtr = 0;
    }
    return TCL_OK;
}

/*
 * The slice of the body that the first two words name.
 */
static int
GetSlice(NsConnCall *callPtr, size_t bodyBytes, size_t *offsetPtr,
         size_t *lengthPtr)
{
    Tcl_WideInt offset, length;

    if (Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[0], &offset)
        != TCL_OK) {
        return TCL_ERROR;
    }
    length = (Tcl_WideInt) bodyBytes - offset;
    if (callPtr->objc > 1
        && Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[1], &length)
            != TCL_OK) {
        return TCL_ERROR;
    }
    if (offset < 0 || (size_t) offset > bodyBytes) {
        return NsTclFail(callPtr->interp, "invalid offset: %s",
                         Tcl_GetString(callPtr->objv[0]));
    }
    if (length < 0 || (size_t) length > bodyBytes - (size_t) offset) {
        return NsTclFail(callPtr->interp, "invalid length: %s",
                         Tcl_GetString(callPtr->objv[1]));
    }
    *offsetPtr = (size_t) offset;
    *lengthPtr = (size_t) length;
    return TCL_OK;
}

int
NsConnOptionContentLength(NsConnCall *callPtr)
{
    return NsConnReturnInt(callPtr,
                           (Tcl_WideInt) Ns_ConnContentSize(callPtr->conn));
}

/*
 * The fields that have files, each once.
 */
int
NsConnOptionFiles(NsConnCall *callPtr)
{
    const NsConnFile *filePtr;
    Tcl_Obj          *listObj;
    Tcl_HashTable     seen;
    int               isNew;

    if (callPtr->objc != 0) {
        return NsConnWrongArgs(callPtr, "files");
    }
    listObj = Tcl_NewListObj(0, NULL);
    Tcl_InitHashTable(&seen, TCL_STRING_KEYS);
    for (filePtr = NsConnFiles(callPtr->connPtr); filePtr != NULL;
         filePtr = filePtr->nextPtr) {
        (void) Tcl_CreateHashEntry(&seen, filePtr->field, &isNew);
        if (isNew) {
            Tcl_ListObjAppendElement(NULL, listObj,
                                     Tcl_NewStringObj(filePtr->field, -1));
        }
    }
    Tcl_DeleteHashTable(&seen);
    return NsTclReturn(callPtr->interp, listObj);
}

int
NsConnOptionFileOffset(NsConnCall *callPtr)
{
    return ListFiles(callPtr, "fileoffset", FileOffset);
}

int
NsConnOptionFileLength(NsConnCall *callPtr)
{
    return ListFiles(callPtr, "filelength", FileLength);
}

int
NsConnOptionFileHeaders(NsConnCall *callPtr)
{
    return ListFiles(callPtr, "fileheaders", FileHeaders);
}

static Tcl_Obj *
FileOffset(NsConnCall *callPtr, const NsConnFile *filePtr)
{
    return Tcl_NewWideIntObj((Tcl_WideInt) filePtr->offset);
}

static Tcl_Obj *
FileLength(NsConnCall *callPtr, const NsConnFile *filePtr)
{
    return Tcl_NewWideIntObj((Tcl_WideInt) filePtr->length);
}

static Tcl_Obj *
FileHeaders(NsConnCall *callPtr, const NsConnFile *filePtr)
{
    return NsTclSetEnterKnown(callPtr->interpPtr, filePtr->headers);
}

/*
 * A list of what proc knows of each file of a field.
 */
static int
ListFiles(NsConnCall *callPtr, const char *option, FileProc *proc)
{
    Tcl_Obj *listObj;
    int      n = 0;

    if (callPtr->objc != 1) {
        return NsConnWrongArgs(callPtr, option);
    }
    listObj = Tcl_NewListObj(0, NULL);
    for (const NsConnFile *filePtr = NsConnFiles(callPtr->connPtr);
         filePtr != NULL; filePtr = filePtr->nextPtr) {
        if (STREQ(filePtr->field, Tcl_GetString(callPtr->objv[0]))) {
            Tcl_ListObjAppendElement(NULL, listObj, proc(callPtr, filePtr));
            n++;
        }
    }
    if (n == 0) {
        Tcl_DecrRefCount(listObj);
        return NsTclFail(callPtr->interp, "no such file: %s",
                         Tcl_GetString(callPtr->objv[0]));
    }
    return NsTclReturn(callPtr->interp, listObj);
}

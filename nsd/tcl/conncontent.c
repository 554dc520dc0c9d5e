/*
 * conncontent.c --
 *
 *      The options of ns_conn about header fields and body of the request.
 */

#include "tcl/conncontent.h"
#include "tcl/result.h"
#include "tcl/connoption.h"
#include "request/connbody.h"
#include "request/connform.h"

static int GetBody(const NsConnCall *callPtr, const char **bodyPtr,
                   size_t *bytesPtr);
static int GetSlice(NsConnCall *callPtr, size_t bodyBytes, size_t *offsetPtr,
                    size_t *lengthPtr);
static const NsConnFile *GetFile(NsConnCall *callPtr, const char *option);

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

int
NsConnOptionContent(NsConnCall *callPtr)
{
    const char *body;
    size_t      bodyBytes, offset = 0, length;

    if (callPtr->objc != 0 && callPtr->objc != 2) {
        return NsConnWrongArgs(callPtr, "content ?off len?");
    }
    if (GetBody(callPtr, &body, &bodyBytes) != TCL_OK) {
        return TCL_ERROR;
    }
    length = bodyBytes;
    if (callPtr->objc == 2
        && GetSlice(callPtr, bodyBytes, &offset, &length) != TCL_OK) {
        return TCL_ERROR;
    }
    if (length > 0) {
        Tcl_SetObjResult(callPtr->interp,
                         Tcl_NewByteArrayObj((const unsigned char *) body
                                                 + offset,
                                             (int) MIN(length,
                                                       (size_t) INT_MAX)));
    }
    return TCL_OK;
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
            != TCL_OK
        || Tcl_GetWideIntFromObj(callPtr->interp, callPtr->objv[1], &length)
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

int
NsConnOptionFiles(NsConnCall *callPtr)
{
    const NsConnFile *filePtr;
    Tcl_Obj          *listObj;

    if (callPtr->objc != 0) {
        return NsConnWrongArgs(callPtr, "files");
    }
    listObj = Tcl_NewListObj(0, NULL);
    for (filePtr = NsConnFiles(callPtr->connPtr); filePtr != NULL;
         filePtr = filePtr->nextPtr) {
        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(filePtr->field, -1));
    }
    return NsTclReturn(callPtr->interp, listObj);
}

int
NsConnOptionFileOffset(NsConnCall *callPtr)
{
    const NsConnFile *filePtr = GetFile(callPtr, "fileoffset");

    return filePtr != NULL
        ? NsConnReturnInt(callPtr, (Tcl_WideInt) filePtr->offset)
        : TCL_ERROR;
}

int
NsConnOptionFileLength(NsConnCall *callPtr)
{
    const NsConnFile *filePtr = GetFile(callPtr, "filelength");

    return filePtr != NULL
        ? NsConnReturnInt(callPtr, (Tcl_WideInt) filePtr->length)
        : TCL_ERROR;
}

int
NsConnOptionFileHeaders(NsConnCall *callPtr)
{
    const NsConnFile *filePtr = GetFile(callPtr, "fileheaders");

    return filePtr != NULL ? NsConnReturnSet(callPtr, filePtr->headers)
                           : TCL_ERROR;
}

static const NsConnFile *
GetFile(NsConnCall *callPtr, const char *option)
{
    const NsConnFile *filePtr;

    if (callPtr->objc != 1) {
        (void) NsConnWrongArgs(callPtr, option);
        return NULL;
    }
    for (filePtr = NsConnFiles(callPtr->connPtr); filePtr != NULL;
         filePtr = filePtr->nextPtr) {
        if (STREQ(filePtr->field, Tcl_GetString(callPtr->objv[0]))) {
            return filePtr;
        }
    }
    Ns_TclPrintfResult(callPtr->interp, "no such file: %s",
                       Tcl_GetString(callPtr->objv[0]));
    return NULL;
}

/* SPDX-License-Identifier: MPL-2.0
 * writer_cmd.c --
 *
 *      Replies through writer threads: ns_writer.
 */

#include "net/driver_info.h"
#include "process/units.h"
#include "nsreturn.h"
#include "nsstring.h"
#include "nsthread.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"
#include "request/reply.h"

static Tcl_ObjCmdProc SubmitCmd, SubmitFileCmd, SubmitFilesCmd, ListCmd,
    SizeCmd, StreamingCmd, StatsCmd;

static int  TakeBytes(Tcl_Interp *interp, Tcl_Obj *obj, Tcl_WideInt *bytesPtr);
static int  OpenPart(Tcl_Interp *interp, const char *file, Tcl_WideInt offset,
                     Tcl_WideInt size, NsPiece *piecePtr);
static int  OpenParts(Tcl_Interp *interp, Tcl_Obj *partsObj, NsPiece *pieces,
                      const char **firstPtr);
static int  GetPart(Tcl_Interp *interp, Tcl_Obj *partObj, const char **filePtr,
                    Tcl_WideInt *offsetPtr, Tcl_WideInt *lengthPtr);
static void CloseParts(const NsPiece *pieces, int nPieces);
static int  NoWriter(Tcl_Interp *interp, const char *driver);
static int  NoConnection(Tcl_Interp *interp);
static int  ParseDriver(NsInterp *interpPtr, int objc, Tcl_Obj *const *objv,
                        bool (*isValueProc)(Tcl_Obj *obj),
                        const char **driverPtr, Tcl_Obj **valuePtr);
static bool IsSize(Tcl_Obj *obj);
static bool IsBool(Tcl_Obj *obj);

/*
 * In the order in which the error message names them.
 */
static const NsTclCommand subcmds[] = {
    {"submit", SubmitCmd, 1, 1, "data", 0},
    {"submitfile", SubmitFileCmd, 0, NS_TCL_ANY, NULL, 0},
    {"list", ListCmd, 0, NS_TCL_ANY, NULL, 0},
    {"size", SizeCmd, 0, NS_TCL_ANY, NULL, 0},
    {"streaming", StreamingCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    /* Of later releases. */
    {"submitfiles", SubmitFilesCmd, 0, NS_TCL_ANY, NULL, 0},
    {"stats", StatsCmd, 0, 0, NULL, 0},
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_writer", "command ?args?", "option", 0, subcmds};

#define MIN_WRITER_SIZE 1024

NS_TCL_FAMILY_OF_ONE(Writer, &ensemble)

/*
 * The words of size and streaming: `driver ?value?`, or as later releases have
 * it, `?-driver driver? ?value?`.  Without a driver it is that of the current
 * connection; a single word is a driver if it is no value.  TCL_OK: *valuePtr
 * is NULL without a value.
 */
static int
ParseDriver(NsInterp *interpPtr, int objc, Tcl_Obj *const *objv,
            bool (*isValueProc)(Tcl_Obj *obj), const char **driverPtr,
            Tcl_Obj **valuePtr)
{
    Tcl_Interp *interp = interpPtr->interp;
    bool        isNamed = objc > 3 && STREQ(Tcl_GetString(objv[2]), "-driver");
    int         i = isNamed ? 3 : 2;

    if (objc > i + 2) {
        Tcl_WrongNumArgs(interp, 2, objv, "?-driver driver? ?value?");
        return TCL_ERROR;
    }
    if (isNamed || objc == i + 2 || (objc == i + 1 && !isValueProc(objv[i]))) {
        *driverPtr = Tcl_GetString(objv[i++]);
    } else if (interpPtr->connPtr == NULL) {
        return NoConnection(interp);
    } else {
        *driverPtr = Ns_ConnDriverName(&interpPtr->connPtr->pub);
    }
    *valuePtr = i < objc ? objv[i] : NULL;
    return TCL_OK;
}

static bool
IsSize(Tcl_Obj *obj)
{
    Tcl_WideInt size;

    return NsUnitsSize(Tcl_GetString(obj), &size);
}

static bool
IsBool(Tcl_Obj *obj)
{
    int flag;

    return Tcl_GetBooleanFromObj(NULL, obj, &flag) == TCL_OK;
}

/*
 * ns_writer submit data
 */
static int
SubmitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsInterp *interpPtr = clientData;
    NsPiece   piece = {.fd = -1};
    int       length;

    if (interpPtr->connPtr == NULL) {
        return NoConnection(interp);
    }
    piece.base = Tcl_GetByteArrayFromObj(objv[2], &length);
    piece.length = (size_t) length;
    return NsTclReturn(interp,
                       Tcl_NewIntObj(NsConnSubmit(interpPtr->connPtr, &piece, 1)
                                             == NS_OK
                                         ? 0
                                         : -1));
}

/*
 * ns_writer submitfile ?-headers? ?-offset offset? ?-size size? file
 */
static int
SubmitFileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    NsInterp   *interpPtr = clientData;
    NsConn     *connPtr = interpPtr->connPtr;
    int         withHeaders = 0;
    Tcl_WideInt offset = 0, size = 0;
    Tcl_Obj    *offsetObj = NULL, *sizeObj = NULL;
    char       *file;
    NsPiece     piece = {.fd = -1};
    int         result;
    Ns_ObjvSpec options[] = {
        {"-headers", Ns_ObjvBool, &withHeaders, INT2PTR(1)},
        {"-offset", Ns_ObjvObj, &offsetObj, NULL},
        {"-size", Ns_ObjvObj, &sizeObj, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"file", Ns_ObjvString, &file, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || TakeBytes(interp, offsetObj, &offset) != TCL_OK
        || TakeBytes(interp, sizeObj, &size) != TCL_OK) {
        return TCL_ERROR;
    }
    if (connPtr == NULL) {
        return NoConnection(interp);
    }
    if (OpenPart(interp, file, offset, size, &piece) != TCL_OK) {
        return TCL_ERROR;
    }
    if (withHeaders) {
        Ns_ConnSetTypeHeader(&connPtr->pub, Ns_GetMimeType(file));
    }
    result = NsConnSubmit(connPtr, &piece, 1) == NS_OK ? 0 : -1;
    close(piece.fd);
    return NsTclReturn(interp, Tcl_NewIntObj(result));
}

/*
 * A number of bytes, as 20 or 1MB; nothing changes without one.
 */
static int
TakeBytes(Tcl_Interp *interp, Tcl_Obj *obj, Tcl_WideInt *bytesPtr)
{
    return obj == NULL || NsUnitsSize(Tcl_GetString(obj), bytesPtr)
        ? TCL_OK
        : Tcl_GetWideIntFromObj(interp, obj, bytesPtr);
}

/*
 * ns_writer submitfiles ?-headers? {{filename F ?-offset N? ?-length N?} ...}
 *
 * 1, or 0 when the driver has no writer threads, as later releases have it for
 * all of these commands.
 */
static int
SubmitFilesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    NsInterp   *interpPtr = clientData;
    NsConn     *connPtr = interpPtr->connPtr;
    int         withHeaders = 0, nParts;
    const char *file = NULL;
    NsPiece    *pieces;
    Tcl_Obj    *partsObj;
    bool        isQueued;
    Ns_ObjvSpec options[] = {
        {"-headers", Ns_ObjvBool, &withHeaders, INT2PTR(1)},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"files", Ns_ObjvObj, &partsObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || Tcl_ListObjLength(interp, partsObj, &nParts) != TCL_OK) {
        return TCL_ERROR;
    }
    if (connPtr == NULL) {
        return NoConnection(interp);
    }
    if (nParts == 0) {
        return NsTclFail(interp, "no files");
    }
    pieces = ns_calloc((size_t) nParts, sizeof(NsPiece));
    if (OpenParts(interp, partsObj, pieces, &file) != TCL_OK) {
        ns_free(pieces);
        return TCL_ERROR;
    }
    if (withHeaders) {
        Ns_ConnSetTypeHeader(&connPtr->pub, Ns_GetMimeType(file));
    }
    isQueued = NsConnSubmit(connPtr, pieces, nParts) == NS_OK;
    CloseParts(pieces, nParts);
    ns_free(pieces);
    return NsTclReturn(interp, Tcl_NewIntObj(isQueued));
}

/*
 * All or none of them.
 */
static int
OpenParts(Tcl_Interp *interp, Tcl_Obj *partsObj, NsPiece *pieces,
          const char **firstPtr)
{
    Tcl_Obj   **partObjs;
    const char *file;
    Tcl_WideInt offset, length;
    int         nParts;

    (void) Tcl_ListObjGetElements(NULL, partsObj, &nParts, &partObjs);
    for (int i = 0; i < nParts; i++) {
        if (GetPart(interp, partObjs[i], &file, &offset, &length) != TCL_OK
            || OpenPart(interp, file, offset, length, &pieces[i]) != TCL_OK) {
            CloseParts(pieces, i);
            return TCL_ERROR;
        }
        if (i == 0) {
            *firstPtr = file;
        }
    }
    return TCL_OK;
}

/*
 * `filename F ?-offset n? ?-size n?`; without a size, or with 0, the rest.
 */
static int
GetPart(Tcl_Interp *interp, Tcl_Obj *partObj, const char **filePtr,
        Tcl_WideInt *offsetPtr, Tcl_WideInt *lengthPtr)
{
    Tcl_DictSearch search;
    Tcl_Obj       *keyObj, *valueObj;
    int            isDone, result;

    *filePtr = NULL;
    *offsetPtr = *lengthPtr = 0;
    result = Tcl_DictObjFirst(interp, partObj, &search, &keyObj, &valueObj,
                              &isDone);
    if (result != TCL_OK) {
        return TCL_ERROR;
    }
    while (!isDone && result == TCL_OK) {
        const char *key = Tcl_GetString(keyObj);

        if (STREQ(key, "filename")) {
            *filePtr = Tcl_GetString(valueObj);
        } else if (STREQ(key, "-offset")) {
            result = TakeBytes(interp, valueObj, offsetPtr);
        } else if (STREQ(key, "-size") || STREQ(key, "-length")) {
            result = TakeBytes(interp, valueObj, lengthPtr);
        } else {
            Tcl_SetObjResult(
                interp,
                Tcl_ObjPrintf(
                    "bad key \"%s\": must be filename, -offset, -size, or -length",
                    key));
            result = TCL_ERROR;
        }
        Tcl_DictObjNext(&search, &keyObj, &valueObj, &isDone);
    }
    Tcl_DictObjDone(&search);
    if (result == TCL_OK && *filePtr == NULL) {
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("missing filename in \"%s\"",
                                       Tcl_GetString(partObj)));
        result = TCL_ERROR;
    }
    return result;
}

static void
CloseParts(const NsPiece *pieces, int nPieces)
{
    for (int i = 0; i < nPieces; i++) {
        close(pieces[i].fd);
    }
}

/*
 * ns_writer list ?-server server? ?-long?
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    char       *server = NULL;
    int         isLong = 0;
    Ns_DString  ds;
    Ns_ObjvSpec options[] = {
        {"-server", Ns_ObjvString, &server, NULL},
        /* Ours; not named in the usage message. */
        {"", NULL, NULL, NULL},
        {"-long", Ns_ObjvBool, &isLong, INT2PTR(1)},
        {NULL, NULL, NULL, NULL}};
    const char *first = objc > 2 ? Tcl_GetString(objv[2]) : "-server";

    if (!STREQ(first, "-server") && !STREQ(first, "-long")) {
        (void) NsTclFail(interp, "bad option \"%s\": must be -server", first);
        Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "INDEX", "option", first,
                         (char *) NULL);
        return TCL_ERROR;
    }
    if (objc == 3 && STREQ(first, "-server")) {
        Tcl_WrongNumArgs(interp, 2, objv, "?-server server?");
        return TCL_ERROR;
    }
    if (Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (server != NULL && NsServerArgFind(interp, server) == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsWriterList(&ds, server, isLong != 0);
    return NsTclReturnText(interp, &ds);
}

static int
StatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    return NsTclReturnAppended(interp, NsWriterStats);
}

/*
 * ns_writer size ?-driver driver? ?value?
 */
static int
SizeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const char *driver;
    Tcl_Obj    *valueObj;
    Tcl_WideInt size = 0;
    int64_t     newSize, value;

    if (ParseDriver(clientData, objc, objv, IsSize, &driver, &valueObj)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (valueObj != NULL
        && (!NsUnitsSize(Tcl_GetString(valueObj), &size)
            || size < MIN_WRITER_SIZE)) {
        Tcl_SetObjResult(
            interp,
            Tcl_ObjPrintf(
                "argument is not an integer in valid range: %s (min %d)",
                Tcl_GetString(valueObj), MIN_WRITER_SIZE));
        return TCL_ERROR;
    }
    newSize = size;
    if (NsWriterSize(driver, valueObj != NULL ? &newSize : NULL, &value)
        != NS_OK) {
        return NoWriter(interp, driver);
    }
    return NsTclReturn(interp, Tcl_NewWideIntObj(value));
}

/*
 * ns_writer streaming ?-driver driver? ?bool?
 */
static int
StreamingCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    const char *driver;
    Tcl_Obj    *valueObj;
    int         flag = 0;
    bool        newFlag, value;

    if (ParseDriver(clientData, objc, objv, IsBool, &driver, &valueObj)
            != TCL_OK
        || (valueObj != NULL
            && Tcl_GetBooleanFromObj(interp, valueObj, &flag) != TCL_OK)) {
        return TCL_ERROR;
    }
    newFlag = flag != 0;
    if (NsWriterStreaming(driver, valueObj != NULL ? &newFlag : NULL, &value)
        != NS_OK) {
        return NoWriter(interp, driver);
    }
    return NsTclReturn(interp, Tcl_NewIntObj(value));
}

/*
 * A piece of an open file, which the caller closes.  Size 0: to the end.
 */
static int
OpenPart(Tcl_Interp *interp, const char *file, Tcl_WideInt offset,
         Tcl_WideInt size, NsPiece *piecePtr)
{
    const char *message = NULL;
    struct stat st;
    int         fd;

    if (access(file, F_OK) != 0) {
        return NsTclFail(interp, "file does not exist '%s'", file);
    }
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        return NsTclFail(interp, "could not open file '%s'", file);
    }
    if (size < 0 || size > st.st_size) {
        message = "size must be a positive value less or equal filesize";
    } else if (offset < 0 || offset > st.st_size) {
        message = "offset must be a positive value less or equal filesize";
    } else if (size > st.st_size - offset) {
        message = "offset + size must be less or equal filesize";
    }
    if (message != NULL) {
        close(fd);
        return NsTclFail(interp, "%s", message);
    }
    piecePtr->fd = fd;
    piecePtr->offset = (off_t) offset;
    piecePtr->length = (size_t) (size == 0 ? st.st_size - offset : size);
    return TCL_OK;
}

static int
NoWriter(Tcl_Interp *interp, const char *driver)
{
    return NsTclFail(interp, "no writer configured for a driver with name %s",
                     driver);
}

static int
NoConnection(Tcl_Interp *interp)
{
    return NsTclFail(interp, "no connection");
}

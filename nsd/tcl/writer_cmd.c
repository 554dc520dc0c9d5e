/*
 * writer_cmd.c --
 *
 *      Replies through writer threads: ns_writer.
 */

#include "net/driver.h"
#include "nsreturn.h"
#include "nsstring.h"
#include "tcl/commands.h"
#include "tcl/interp.h"

static Tcl_ObjCmdProc WriterObjCmd;
static Tcl_ObjCmdProc SubmitObjCmd, SubmitFileObjCmd, ListObjCmd, SizeObjCmd,
                      StreamingObjCmd, StatsObjCmd;

static int OpenPart(Tcl_Interp *interp, const char *file, Tcl_WideInt offset,
                    Tcl_WideInt size, NsPiece *piecePtr);
static int NoWriter(Tcl_Interp *interp, const char *driver);
static int NoConnection(Tcl_Interp *interp);
static int ParseDriver(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                       const char **driverPtr, Tcl_Obj **valuePtr);

static const NsTclCommand commands[] = {
    {"ns_writer", WriterObjCmd, false},
    {NULL, NULL, false}
};

/*
 * In the order in which the error message names them.
 */
static const struct {
    const char     *name;
    Tcl_ObjCmdProc *proc;
} subcommands[] = {
    {"submit",     SubmitObjCmd},
    {"submitfile", SubmitFileObjCmd},
    {"list",       ListObjCmd},
    {"size",       SizeObjCmd},
    {"streaming",  StreamingObjCmd},
    {NULL, NULL}
};

#define MIN_WRITER_SIZE 1024

void
NsWriterCmdInit(void)
{
    NsTclAddCommands(commands);
}

static int
WriterObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    int i;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "command ?args?");
        return TCL_ERROR;
    }
    /* Not in the table: the text of its error message is as clients know it. */
    if (STREQ(Tcl_GetString(objv[1]), "stats")) {
        return StatsObjCmd(clientData, interp, objc, objv);
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], subcommands,
                                  sizeof(subcommands[0]), "option", 0, &i)
            != TCL_OK) {
        return TCL_ERROR;
    }
    return subcommands[i].proc(clientData, interp, objc, objv);
}

/*
 * The words of size and streaming: `driver ?value?`, or as later releases have
 * it, `-driver driver ?value?`.  TCL_OK: *valuePtr is NULL without a value.
 */
static int
ParseDriver(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
            const char **driverPtr, Tcl_Obj **valuePtr)
{
    int i = objc > 3 && STREQ(Tcl_GetString(objv[2]), "-driver") ? 3 : 2;

    if (objc != i + 1 && objc != i + 2) {
        Tcl_WrongNumArgs(interp, 2, objv, "driver ?value?");
        return TCL_ERROR;
    }
    *driverPtr = Tcl_GetString(objv[i]);
    *valuePtr = objc == i + 2 ? objv[i + 1] : NULL;
    return TCL_OK;
}

/*
 * ns_writer submit data
 */
static int
SubmitObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsInterp *interpPtr = clientData;
    NsPiece   piece = {.fd = -1};
    int       length;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "data");
        return TCL_ERROR;
    }
    if (interpPtr->connPtr == NULL) {
        return NoConnection(interp);
    }
    piece.base = Tcl_GetByteArrayFromObj(objv[2], &length);
    piece.length = (size_t) length;
    Tcl_SetObjResult(interp, Tcl_NewIntObj(
        NsConnSubmit(interpPtr->connPtr, &piece, 1) == NS_OK ? 0 : -1));
    return TCL_OK;
}

/*
 * ns_writer submitfile ?-headers? ?-offset offset? ?-size size? file
 */
static int
SubmitFileObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                 Tcl_Obj *const *objv)
{
    NsInterp    *interpPtr = clientData;
    NsConn      *connPtr = interpPtr->connPtr;
    int          withHeaders = 0;
    Tcl_WideInt  offset = 0, size = 0;
    char        *file;
    NsPiece      piece = {.fd = -1};
    int          result;
    Ns_ObjvSpec  options[] = {
        {"-headers", Ns_ObjvBool,    &withHeaders, INT2PTR(1)},
        {"-offset",  Ns_ObjvWideInt, &offset,      NULL},
        {"-size",    Ns_ObjvWideInt, &size,        NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec  args[] = {
        {"file", Ns_ObjvString, &file, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
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
    Tcl_SetObjResult(interp, Tcl_NewIntObj(result));
    return TCL_OK;
}

/*
 * ns_writer list ?-server server?
 */
static int
ListObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    char       *server = NULL;
    Ns_DString  ds;
    Ns_ObjvSpec options[] = {
        {"-server", Ns_ObjvString, &server, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (objc > 2 && !STREQ(Tcl_GetString(objv[2]), "-server")) {
        Tcl_SetObjResult(interp, Tcl_ObjPrintf(
            "bad option \"%s\": must be -server", Tcl_GetString(objv[2])));
        return TCL_ERROR;
    }
    if (objc == 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "?-server server?");
        return TCL_ERROR;
    }
    if (Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (server != NULL && NsServerFind(server) == NULL) {
        Tcl_SetObjResult(interp,
            Tcl_ObjPrintf("invalid argument for -server: %s", server));
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsWriterList(&ds, server);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

static int
StatsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Ns_DString ds;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 2, objv, NULL);
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsWriterStats(&ds);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * ns_writer size driver ?value?
 */
static int
SizeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const char *driver;
    Tcl_Obj    *valueObj;
    Tcl_WideInt size = 0;
    int64_t     newSize, value;

    if (ParseDriver(interp, objc, objv, &driver, &valueObj) != TCL_OK) {
        return TCL_ERROR;
    }
    if (valueObj != NULL
            && (Tcl_GetWideIntFromObj(NULL, valueObj, &size) != TCL_OK
                || size < MIN_WRITER_SIZE)) {
        Tcl_SetObjResult(interp, Tcl_ObjPrintf(
            "argument is not an integer in valid range: %s (min %d)",
            Tcl_GetString(valueObj), MIN_WRITER_SIZE));
        return TCL_ERROR;
    }
    newSize = size;
    if (NsWriterSize(driver, valueObj != NULL ? &newSize : NULL, &value)
            != NS_OK) {
        return NoWriter(interp, driver);
    }
    Tcl_SetObjResult(interp, Tcl_NewWideIntObj(value));
    return TCL_OK;
}

/*
 * ns_writer streaming driver ?bool?
 */
static int
StreamingObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    const char *driver;
    Tcl_Obj    *valueObj;
    int         flag = 0;
    bool        newFlag, value;

    if (ParseDriver(interp, objc, objv, &driver, &valueObj) != TCL_OK
            || (valueObj != NULL
                && Tcl_GetBooleanFromObj(interp, valueObj, &flag) != TCL_OK)) {
        return TCL_ERROR;
    }
    newFlag = flag != 0;
    if (NsWriterStreaming(driver, valueObj != NULL ? &newFlag : NULL, &value)
            != NS_OK) {
        return NoWriter(interp, driver);
    }
    Tcl_SetObjResult(interp, Tcl_NewIntObj(value));
    return TCL_OK;
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
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("file does not exist '%s'", file));
        return TCL_ERROR;
    }
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0) {
            close(fd);
        }
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("could not open file '%s'", file));
        return TCL_ERROR;
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
        Tcl_SetObjResult(interp, Tcl_NewStringObj(message, -1));
        return TCL_ERROR;
    }
    piecePtr->fd = fd;
    piecePtr->offset = (off_t) offset;
    piecePtr->length = (size_t) (size == 0 ? st.st_size - offset : size);
    return TCL_OK;
}

static int
NoWriter(Tcl_Interp *interp, const char *driver)
{
    Tcl_SetObjResult(interp, Tcl_ObjPrintf(
        "no writer configured for a driver with name %s", driver));
    return TCL_ERROR;
}

static int
NoConnection(Tcl_Interp *interp)
{
    Tcl_SetObjResult(interp, Tcl_NewStringObj("no connection", -1));
    return TCL_ERROR;
}

/* SPDX-License-Identifier: MPL-2.0
 * file_cmd.c --
 *
 *      Files: ns_mktemp, ns_mkdtemp, ns_opentmpfile, ns_tmpnam, ns_truncate,
 *      ns_ftruncate, ns_symlink, ns_filestat.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "base/tempfile.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc MkTempCmd, MkDTempCmd, OpenTmpFileCmd, TmpNamCmd,
    TruncateCmd, FTruncateCmd, SymlinkCmd, FileStatCmd;

static void StartTemplate(Ns_DString *dsPtr, Tcl_Obj *templateObj);
static int  BadTemplate(Tcl_Interp *interp, Tcl_Obj *templateObj,
                        Ns_DString *dsPtr);
static bool UnusedName(char *template);
static bool HasDirectory(const char *file);
static int  GetLength(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                      Tcl_WideInt *lengthPtr);
static int  SetElement(Tcl_Interp *interp, Tcl_Obj *arrayPtr, const char *name,
                       Tcl_Obj *valuePtr);
static const char *FileType(mode_t mode);

static const NsTclCommand commands[] = {
    {"ns_mktemp", MkTempCmd, 0, 1, "?template?", NS_TCL_BASIC},
    {"ns_mkdtemp", MkDTempCmd, 0, 1, "?template?", NS_TCL_BASIC},
    {"ns_opentmpfile", OpenTmpFileCmd, 1, 2, "varname ?template?",
     NS_TCL_BASIC},
    {"ns_tmpnam", TmpNamCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_truncate", TruncateCmd, 1, 2, "file ?length?", NS_TCL_BASIC},
    {"ns_ftruncate", FTruncateCmd, 1, 2, "fileId ?length?", NS_TCL_BASIC},
    {"ns_symlink", SymlinkCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_filestat", FileStatCmd, 1, 2, "file ?varname?", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(File, commands)

/*
 * ns_mktemp ?template?: a name that nothing has at this moment.
 */
static int
MkTempCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Tcl_Obj   *templateObj = objc > 1 ? objv[1] : NULL;
    Ns_DString ds;

    StartTemplate(&ds, templateObj);
    return UnusedName(Ns_DStringValue(&ds))
        ? NsTclReturnText(interp, &ds)
        : BadTemplate(interp, templateObj, &ds);
}

/*
 * ns_mkdtemp ?template?: the name of a new directory.
 */
static int
MkDTempCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Tcl_Obj   *templateObj = objc > 1 ? objv[1] : NULL;
    Ns_DString ds;

    StartTemplate(&ds, templateObj);
    return mkdtemp(Ns_DStringValue(&ds)) != NULL
        ? NsTclReturnText(interp, &ds)
        : BadTemplate(interp, templateObj, &ds);
}

/*
 * ns_opentmpfile varname ?template?: a channel on a new file, of which the
 * variable gets the name.
 */
static int
OpenTmpFileCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Tcl_Obj    *templateObj = objc > 2 ? objv[2] : NULL;
    Ns_DString  ds;
    Tcl_Channel channel;
    int         fd;

    StartTemplate(&ds, templateObj);
    fd = mkostemp(Ns_DStringValue(&ds), O_CLOEXEC);
    if (fd < 0) {
        return BadTemplate(interp, templateObj, &ds);
    }
    if (Tcl_SetVar2Ex(interp, Tcl_GetString(objv[1]), NULL,
                      Tcl_NewStringObj(Ns_DStringValue(&ds),
                                       Ns_DStringLength(&ds)),
                      TCL_LEAVE_ERR_MSG)
        == NULL) {
        close(fd);
        unlink(Ns_DStringValue(&ds));
        Ns_DStringFree(&ds);
        return TCL_ERROR;
    }
    Ns_DStringFree(&ds);
    channel = Tcl_MakeFileChannel(INT2PTR(fd), TCL_READABLE | TCL_WRITABLE);
    Tcl_RegisterChannel(interp, channel);
    return NsTclReturnString(interp, Tcl_GetChannelName(channel));
}

/*
 * By default, in the directory for temporary files.
 */
static void
StartTemplate(Ns_DString *dsPtr, Tcl_Obj *templateObj)
{
    Ns_DStringInit(dsPtr);
    if (templateObj == NULL) {
        Ns_DStringVarAppend(dsPtr, NsTempDirectory(), "/nsXXXXXX",
                            (char *) NULL);
    } else {
        Ns_DStringAppend(dsPtr, Tcl_GetString(templateObj));
    }
}

/*
 * Leave the reason, which is in errno; TCL_ERROR.
 */
static int
BadTemplate(Tcl_Interp *interp, Tcl_Obj *templateObj, Ns_DString *dsPtr)
{
    int  error = errno;
    bool hasNoPlace = error == EINVAL;

    Ns_TclPrintfResult(interp, "could not use template \"%s\": %s",
                       templateObj == NULL ? Ns_DStringValue(dsPtr)
                                           : Tcl_GetString(templateObj),
                       hasNoPlace ? "it does not end in XXXXXX"
                                  : strerror(error));
    errno = error;
    (void) Tcl_PosixError(interp);
    Ns_DStringFree(dsPtr);
    return TCL_ERROR;
}

static int
TmpNamCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_DString ds;

    StartTemplate(&ds, NULL);
    if (!UnusedName(Ns_DStringValue(&ds))) {
        Ns_DStringFree(&ds);
        return NsTclFail(interp, "could not get temporary filename");
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * Replace the X's at the end of the template.  False: errno says why not.
 */
static bool
UnusedName(char *template)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t      length = strlen(template);
    struct stat status;

    if (length < 6 || !STREQ(template + length - 6, "XXXXXX")) {
        errno = EINVAL;
        return false;
    }
    for (int nTries = 0; nTries < 1000; nTries++) {
        for (size_t i = length - 6; i < length; i++) {
            template[i] = letters[(int) (Ns_DRand() * (sizeof(letters) - 1))];
        }
        if (lstat(template, &status) != 0) {
            /* A directory on the way may be missing, or closed. */
            return errno == ENOENT && HasDirectory(template);
        }
    }
    errno = EEXIST;
    return false;
}

static bool
HasDirectory(const char *file)
{
    const char *slash = strrchr(file, '/');
    Ns_DString  ds;
    bool        isThere;

    if (slash == NULL || slash == file) {
        return true;
    }
    Ns_DStringInit(&ds);
    Ns_DStringNAppend(&ds, file, (int) (slash - file));
    isThere = access(Ns_DStringValue(&ds), F_OK) == 0;
    Ns_DStringFree(&ds);
    return isThere;
}

/*
 * ns_truncate file ?length?
 */
static int
TruncateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const char *file;
    Tcl_WideInt length = 0;

    if (GetLength(interp, objc, objv, &length) != TCL_OK) {
        return TCL_ERROR;
    }
    file = Tcl_GetString(objv[1]);
    if (truncate(file, (off_t) length) != 0) {
        return NsTclFail(interp, "truncate (\"%s\", %s) failed: %s", file,
                         objc == 3 ? Tcl_GetString(objv[2]) : "0",
                         Tcl_PosixError(interp));
    }
    return TCL_OK;
}

/*
 * ns_ftruncate fileId ?length?
 */
static int
FTruncateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    const char *channel;
    Tcl_WideInt length = 0;
    int         fd;

    channel = Tcl_GetString(objv[1]);
    if (Ns_TclGetOpenFd(interp, channel, 1, &fd) != TCL_OK
        || GetLength(interp, objc, objv, &length) != TCL_OK) {
        return TCL_ERROR;
    }
    if (ftruncate(fd, (off_t) length) != 0) {
        return NsTclFail(interp, "ftruncate (\"%s\", %s) failed: %s", channel,
                         objc == 3 ? Tcl_GetString(objv[2]) : "0",
                         Tcl_PosixError(interp));
    }
    return TCL_OK;
}

static int
GetLength(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
          Tcl_WideInt *lengthPtr)
{
    return objc < 3 ? TCL_OK
                    : Tcl_GetWideIntFromObj(interp, objv[2], lengthPtr);
}

/*
 * ns_symlink ?-nocomplain? file1 file2
 */
static int
SymlinkCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    char       *file1, *file2;
    int         isSilent = 0;
    Ns_ObjvSpec opts[] = {
        {"-nocomplain", Ns_ObjvBool, &isSilent, INT2PTR(true)},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"file1", Ns_ObjvString, &file1, NULL},
                          {"file2", Ns_ObjvString, &file2, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (symlink(file1, file2) != 0 && !isSilent) {
        return NsTclFail(interp, "symlink (\"%s\", \"%s\") failed: %s", file1,
                         file2, Tcl_PosixError(interp));
    }
    return TCL_OK;
}

/*
 * ns_filestat file ?varname?
 */
static int
FileStatCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    struct stat status;
    bool        exists;

    exists = stat(Tcl_GetString(objv[1]), &status) == 0;
    if (exists && objc == 3) {
        const struct {
            const char *name;
            Tcl_WideInt value;
        } numbers[] = {
            {"dev", (Tcl_WideInt) status.st_dev},
            {"ino", (Tcl_WideInt) status.st_ino},
            {"nlink", (Tcl_WideInt) status.st_nlink},
            {"uid", status.st_uid},
            {"gid", status.st_gid},
            {"size", status.st_size},
            {"atime", status.st_atime},
            {"ctime", status.st_ctime},
            {"mtime", status.st_mtime},
            {"mode", status.st_mode}};

        for (int i = 0; i < Ns_NrElements(numbers); i++) {
            if (SetElement(interp, objv[2], numbers[i].name,
                           Tcl_NewWideIntObj(numbers[i].value))
                != TCL_OK) {
                return TCL_ERROR;
            }
        }
        if (SetElement(interp, objv[2], "type",
                       Tcl_NewStringObj(FileType(status.st_mode), -1))
            != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(exists));
}

static int
SetElement(Tcl_Interp *interp, Tcl_Obj *arrayPtr, const char *name,
           Tcl_Obj *valuePtr)
{
    Tcl_Obj *setPtr;

    Tcl_IncrRefCount(valuePtr);
    setPtr = Tcl_SetVar2Ex(interp, Tcl_GetString(arrayPtr), name, valuePtr,
                           TCL_LEAVE_ERR_MSG);
    Tcl_DecrRefCount(valuePtr);
    return setPtr == NULL ? TCL_ERROR : TCL_OK;
}

static const char *
FileType(mode_t mode)
{
    return S_ISREG(mode) ? "file"
        : S_ISDIR(mode)  ? "directory"
        : S_ISCHR(mode)  ? "characterSpecial"
        : S_ISBLK(mode)  ? "blockSpecial"
        : S_ISFIFO(mode) ? "fifo"
        : S_ISLNK(mode)  ? "link"
        : S_ISSOCK(mode) ? "socket"
                         : "unknown";
}

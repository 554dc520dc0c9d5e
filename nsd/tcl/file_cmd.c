/*
 * file_cmd.c --
 *
 *      Files: ns_mktemp, ns_tmpnam, ns_truncate, ns_ftruncate, ns_symlink,
 *      ns_filestat.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "base/filestate.h"
#include "base/tempfile.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc MkTempCmd, TmpNamCmd, TruncateCmd, FTruncateCmd,
    SymlinkCmd, FileStatCmd, FileStateCmd;

static bool UnusedName(char *template);
static int  GetLength(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                      Tcl_WideInt *lengthPtr);
static int  SetElement(Tcl_Interp *interp, Tcl_Obj *arrayPtr, const char *name,
                       Tcl_Obj *valuePtr);
static const char *FileType(mode_t mode);

static const NsTclCommand commands[] = {
    {"ns_mktemp", MkTempCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_tmpnam", TmpNamCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_truncate", TruncateCmd, 1, 2, "file ?length?", NS_TCL_BASIC},
    {"ns_ftruncate", FTruncateCmd, 1, 2, "fileId ?length?", NS_TCL_BASIC},
    {"ns_symlink", SymlinkCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_filestat", FileStatCmd, 1, 2, "file ?varname?", NS_TCL_BASIC},
    {"_ns_filestate", FileStateCmd, 1, 1, "file", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(File, commands)

/*
 * ns_mktemp template: a name that nothing has at this moment.
 */
static int
MkTempCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_DString ds;

    if (objc != 2) {
        return NsTclFail(interp, "wrong # of args: should be \"%s template\"",
                         Tcl_GetString(objv[0]));
    }
    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, Tcl_GetString(objv[1]));
    if (!UnusedName(Ns_DStringValue(&ds))) {
        Ns_DStringTrunc(&ds, 0);
    }
    return NsTclReturnText(interp, &ds);
}

static int
TmpNamCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    Ns_DString template;
    int result = TCL_OK;

    Ns_DStringInit(&template);
    Ns_DStringVarAppend(&template, NsTempDirectory(), "/nsXXXXXX", NULL);
    if (UnusedName(Ns_DStringValue(&template))) {
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj(Ns_DStringValue(&template), -1));
    } else {
        Ns_TclPrintfResult(interp, "could not get temporary filename");
        result = TCL_ERROR;
    }
    Ns_DStringFree(&template);
    return result;
}

/*
 * _ns_filestate file: what the file is, to be compared with an earlier or later
 * answer, and whether a later change of it would show there.
 */
static int
FileStateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    struct stat status;
    Ns_Time     now;

    Ns_GetTime(&now);
    if (stat(Tcl_GetString(objv[1]), &status) != 0) {
        return NsTclFail(interp, "could not stat \"%s\": %s",
                         Tcl_GetString(objv[1]), Tcl_PosixError(interp));
    }
    Ns_TclPrintfResult(interp, "{%ju %ju %jd %jd.%09ld %jd.%09ld} %d",
                       (uintmax_t) status.st_dev, (uintmax_t) status.st_ino,
                       (intmax_t) status.st_size,
                       (intmax_t) status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                       (intmax_t) status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
                       NsFileIsSettled(&status, &now));
    return TCL_OK;
}

/*
 * Replace the X's at the end of the template.
 */
static bool
UnusedName(char *template)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t      length = strlen(template);
    struct stat status;

    if (length < 6 || !STREQ(template + length - 6, "XXXXXX")) {
        return false;
    }
    for (int nTries = 0; nTries < 1000; nTries++) {
        for (size_t i = length - 6; i < length; i++) {
            template[i] = letters[(int) (Ns_DRand() * (sizeof(letters) - 1))];
        }
        if (lstat(template, &status) != 0 && errno == ENOENT) {
            return true;
        }
    }
    return false;
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

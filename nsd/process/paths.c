/* SPDX-License-Identifier: MPL-2.0
 * paths.c --
 *
 *      Paths below the home directory.
 */

#include "process/paths.h"

#include "nsfile.h"
#include "nsparam.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/tempfile.h"
#include "process/config.h"
#include "process/info.h"
#include "process/parameters.h"
#include "process/server.h"

/*
 * What the configuration says; constant after NsPathsConfigure.
 */
typedef struct Directories {
    const char *log; /* NULL: logs, or home. */
    const char *bin; /* NULL: bin. */
} Directories;

static Directories directories;

static const NsParameter rows[] = {
    NS_PATH(Directories, log, "logdir", "logs, if it exists, else home",
            "Directory of logs and of the pid file; relative to home.",
            .isDescribed = true),
    NS_PATH(Directories, bin, "bindir", "bin",
            "Directory of modules and programs; relative to home.",
            .isDescribed = true),
    NS_PARAM_END};

static const char *AboveConf(void);
static void        AppendBuilt(Ns_DString *dsPtr, const char *path);
static const char *Home(void);
static const char *BelowHome(const char *directory);
static void        SetTemp(void);
static char       *AppendParts(Ns_DString *dsPtr, va_list *apPtr);
static void        AppendPart(Ns_DString *dsPtr, const char *part);

char *
Ns_HomePath(Ns_DString *dsPtr, ...)
{
    va_list ap;

    Tcl_DStringAppend(dsPtr, Home(), -1);
    va_start(ap, dsPtr);
    AppendParts(dsPtr, &ap);
    va_end(ap);
    return dsPtr->string;
}

char *
Ns_BinPath(Ns_DString *dsPtr, ...)
{
    va_list ap;

    if (directories.bin != NULL) {
        Tcl_DStringAppend(dsPtr, directories.bin, -1);
    } else {
        Tcl_DStringAppend(dsPtr, Home(), -1);
        AppendPart(dsPtr, "bin");
    }
    va_start(ap, dsPtr);
    AppendParts(dsPtr, &ap);
    va_end(ap);
    return dsPtr->string;
}

char *
Ns_LibPath(Ns_DString *dsPtr, ...)
{
    va_list ap;

    Tcl_DStringAppend(dsPtr, Home(), -1);
    AppendPart(dsPtr, "lib");
    va_start(ap, dsPtr);
    AppendParts(dsPtr, &ap);
    va_end(ap);
    return dsPtr->string;
}

char *
Ns_ModulePath(Ns_DString *dsPtr, const char *server, const char *module, ...)
{
    va_list ap;

    Tcl_DStringAppend(dsPtr, Home(), -1);
    if (server != NULL) {
        AppendPart(dsPtr, "servers");
        AppendPart(dsPtr, server);
    }
    if (module != NULL) {
        AppendPart(dsPtr, "modules");
        AppendPart(dsPtr, module);
    }
    va_start(ap, module);
    AppendParts(dsPtr, &ap);
    va_end(ap);
    return dsPtr->string;
}

int
Ns_HomePathExists(const char *part, ...)
{
    Ns_DString  ds;
    struct stat status;
    va_list     ap;
    bool        exists;

    Tcl_DStringInit(&ds);
    Tcl_DStringAppend(&ds, Home(), -1);
    AppendPart(&ds, part);
    va_start(ap, part);
    AppendParts(&ds, &ap);
    va_end(ap);
    exists = stat(ds.string, &status) == 0;
    Tcl_DStringFree(&ds);
    return exists ? NS_TRUE : NS_FALSE;
}

void
NsPathsLog(Ns_DString *dsPtr, const char *file)
{
    if (file != NULL && Ns_PathIsAbsolute(file)) {
        Ns_DStringAppend(dsPtr, file);
    } else if (directories.log != NULL) {
        (void) Ns_MakePath(dsPtr, directories.log, file, NULL);
    } else if (Ns_HomePathExists("logs", NULL)) {
        Ns_HomePath(dsPtr, "logs", file, NULL);
    } else {
        Ns_HomePath(dsPtr, file, NULL);
    }
}

const char *
NsPathsLogSetting(void)
{
    return directories.log;
}

bool
NsPathsHasBin(void)
{
    return directories.bin != NULL;
}

void
NsPathsSetServerLog(const char *server, const char *directory)
{
    NsServerFind(server)->logDir = ns_strdup(directory);
}

const char *
Ns_ServerLogDir(const char *server)
{
    const NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);

    return serverPtr == NULL ? NULL : serverPtr->logDir;
}

char *
Ns_LogPath(Ns_DString *dsPtr, const char *server, const char *file)
{
    const char *directory = Ns_ServerLogDir(server);

    if (directory == NULL || Ns_PathIsAbsolute(file)) {
        NsPathsLog(dsPtr, file);
    } else {
        (void) Ns_MakePath(dsPtr, directory, file, NULL);
    }
    return dsPtr->string;
}

const char *
NsPathsHomeSetting(void)
{
    const char *home = Ns_ConfigGetValue("ns/parameters", "home");

    if (home == NULL) {
        home = AboveConf();
    }
    return home != NULL ? home : NsInfoPrefix();
}

void
NsPathsShipped(Ns_DString *dsPtr, const char *path)
{
    int length = Ns_DStringLength(dsPtr);

    if (Ns_PathIsAbsolute(path)) {
        (void) Ns_NormalizePath(dsPtr, path);
        return;
    }
    (void) Ns_HomePath(dsPtr, path, NULL);
    if (access(dsPtr->string + length, F_OK) != 0) {
        Ns_DStringTrunc(dsPtr, length);
        if (!NsPathsInstalled(dsPtr, path)) {
            (void) Ns_HomePath(dsPtr, path, NULL);
        }
    }
}

bool
NsPathsInstalled(Ns_DString *dsPtr, const char *path)
{
    int  length = Ns_DStringLength(dsPtr);
    bool isBuilt, isThere;

    Ns_DStringVarAppend(dsPtr, NsInfoPrefix(), "/init.tcl", NULL);
    isBuilt = access(dsPtr->string + length, F_OK) == 0;
    Ns_DStringTrunc(dsPtr, length);
    if (isBuilt) {
        AppendBuilt(dsPtr, path);
    } else {
        Ns_DStringVarAppend(dsPtr, NsInfoPrefix(), "/", path, NULL);
    }
    isThere = access(dsPtr->string + length, F_OK) == 0;
    if (!isThere) {
        Ns_DStringTrunc(dsPtr, length);
    }
    return isThere;
}

void
NsPathsInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Directories));
}

void
NsPathsConfigure(void)
{
    NsParametersFill(rows, "ns/parameters", &directories);
    directories.log = BelowHome(directories.log);
    directories.bin = BelowHome(directories.bin);
    SetTemp();
}

void
NsPathsMakeLogs(void)
{
    if (directories.log != NULL) {
        (void) mkdir(directories.log, 0755);
    }
}

/*
 * NULL: the configuration file is not in a directory conf.  Main thread; found
 * before the working directory changes.
 */
static const char *
AboveConf(void)
{
    static char path[PATH_MAX];
    static bool isKnown = false;
    const char *file = Ns_InfoConfigFile();
    struct stat status;
    char       *slash;

    if (isKnown || file == NULL) {
        return *path == '\0' ? NULL : path;
    }
    isKnown = true;
    if (realpath(file, path) == NULL || stat(path, &status) != 0) {
        *path = '\0';
        return NULL;
    }
    if (!S_ISDIR(status.st_mode)) {
        *strrchr(path, '/') = '\0';
    }
    slash = strrchr(path, '/');
    if (slash == NULL || !STREQ(slash, "/conf")) {
        *path = '\0';
        return NULL;
    }
    slash[slash == path ? 1 : 0] = '\0';
    return path;
}

/*
 * What an installation has in bin is in the directory where it was built: the
 * prefix is that of the program.
 */
static void
AppendBuilt(Ns_DString *dsPtr, const char *path)
{
    const char *prefix = NsInfoPrefix(), *end = strrchr(prefix, '/');
    const char *name = path + strlen("bin/");

    Ns_DStringNAppend(dsPtr, prefix, (int) (end - prefix) + 1);
    if (strncmp(path, "bin/", strlen("bin/")) != 0) {
        Ns_DStringAppend(dsPtr, path);
    } else if (STREQ(name, "init.tcl")) {
        Ns_DStringVarAppend(dsPtr, end + 1, "/", name, NULL);
    } else {
        Ns_DStringNAppend(dsPtr, name, (int) strcspn(name, "."));
        Ns_DStringVarAppend(dsPtr, "/", name, NULL);
    }
}

/*
 * NULL stays, and an empty name is none.
 */
static const char *
BelowHome(const char *directory)
{
    Ns_DString ds;

    if (directory == NULL || *directory == '\0') {
        return NULL;
    }
    Ns_DStringInit(&ds);
    if (Ns_PathIsAbsolute(directory)) {
        (void) Ns_MakePath(&ds, directory, NULL);
    } else {
        (void) Ns_HomePath(&ds, directory, NULL);
    }
    return Ns_DStringExport(&ds);
}

static void
SetTemp(void)
{
    const char *setting = Ns_ConfigGetValue("ns/parameters", "tmpdir");
    Ns_DString  ds;
    int         length;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds,
                     setting != NULL && *setting != '\0' ? setting
                                                         : NsTempDirectory());
    length = Ns_DStringLength(&ds);
    while (length > 1 && Ns_DStringValue(&ds)[length - 1] == '/') {
        Ns_DStringSetLength(&ds, --length);
    }
    NsTempSetDirectory(Ns_DStringValue(&ds));
    (void) NsConfigSet("ns/parameters", "tmpdir", Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

static char *
AppendParts(Ns_DString *dsPtr, va_list *apPtr)
{
    const char *part;

    while ((part = va_arg(*apPtr, const char *)) != NULL) {
        AppendPart(dsPtr, part);
    }
    return dsPtr->string;
}

static void
AppendPart(Ns_DString *dsPtr, const char *part)
{
    while (*part == '/') {
        part++;
    }
    if (*part == '\0') {
        return;
    }
    if (dsPtr->length == 0 || dsPtr->string[dsPtr->length - 1] != '/') {
        Tcl_DStringAppend(dsPtr, "/", 1);
    }
    Tcl_DStringAppend(dsPtr, part, -1);
}

/*
 * Empty in a program that runs no server.
 */
static const char *
Home(void)
{
    const char *home = Ns_InfoHomePath();

    return home == NULL ? "" : home;
}

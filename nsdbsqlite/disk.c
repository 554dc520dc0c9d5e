/* SPDX-License-Identifier: MPL-2.0
 * disk.c --
 *
 *      A VFS that does what SQLite's own does, and notes its syncs as waits.
 *
 *      SQLite tells nobody that a commit, or a checkpoint, waits for the disk,
 *      so this stands in between.  A file has SQLite's methods, but for the
 *      sync: they work on SQLite's part of it, which comes first.
 */

#include "disk.h"

#include "ns.h"

#include <sqlite3.h>

#define NAME "nsdbsqlite"

/*
 * Behind SQLite's part of an open file.
 */
typedef struct File {
    const sqlite3_io_methods *realPtr;
    sqlite3_io_methods        methods; /* The same, but for xSync. */
    const char               *path;    /* SQLite's; NULL: a temporary file. */
} File;

static int   OpenFile(sqlite3_vfs *vfsPtr, const char *path,
                      sqlite3_file *sqliteFilePtr, int flags, int *outFlagsPtr);
static int   DeleteFile(sqlite3_vfs *vfsPtr, const char *path, int isSynced);
static int   SyncFile(sqlite3_file *sqliteFilePtr, int flags);
static File *FileOf(sqlite3_file *sqliteFilePtr);
static void  BeginSync(const char *path);

/*
 * Constant once a driver is loaded.
 */
static struct {
    sqlite3_vfs *realPtr; /* SQLite's own; NULL: not looked for yet. */
    sqlite3_vfs  own;
} vfs;

const char *
DiskVfs(void)
{
    if (vfs.realPtr == NULL) {
        sqlite3_vfs *realPtr = sqlite3_vfs_find(NULL);

        if (realPtr == NULL) {
            return NULL;
        }
        vfs.own = *realPtr;
        vfs.own.pNext = NULL;
        vfs.own.zName = NAME;
        vfs.own.szOsFile = realPtr->szOsFile
            + (int) (sizeof(File) + _Alignof(File));
        vfs.own.xOpen = OpenFile;
        vfs.own.xDelete = DeleteFile;
        if (sqlite3_vfs_register(&vfs.own, 0) != SQLITE_OK) {
            return NULL;
        }
        vfs.realPtr = realPtr;
    }
    return NAME;
}

static int
OpenFile(sqlite3_vfs *vfsPtr, const char *path, sqlite3_file *sqliteFilePtr,
         int flags, int *outFlagsPtr)
{
    int code = vfs.realPtr->xOpen(vfs.realPtr, path, sqliteFilePtr, flags,
                                  outFlagsPtr);

    if (code == SQLITE_OK && sqliteFilePtr->pMethods != NULL) {
        File *filePtr = FileOf(sqliteFilePtr);

        filePtr->realPtr = sqliteFilePtr->pMethods;
        filePtr->methods = *filePtr->realPtr;
        filePtr->methods.xSync = SyncFile;
        filePtr->path = path;
        sqliteFilePtr->pMethods = &filePtr->methods;
    }
    return code;
}

/*
 * Synced, the directory is on the disk without it: so a commit ends that has a
 * journal.
 */
static int
DeleteFile(sqlite3_vfs *vfsPtr, const char *path, int isSynced)
{
    int code;

    if (!isSynced) {
        return vfs.realPtr->xDelete(vfs.realPtr, path, 0);
    }
    BeginSync(path);
    code = vfs.realPtr->xDelete(vfs.realPtr, path, isSynced);
    Ns_TclWaitEnd();
    return code;
}

static int
SyncFile(sqlite3_file *sqliteFilePtr, int flags)
{
    const File *filePtr = FileOf(sqliteFilePtr);
    int         code;

    BeginSync(filePtr->path);
    code = filePtr->realPtr->xSync(sqliteFilePtr, flags);
    Ns_TclWaitEnd();
    return code;
}

static File *
FileOf(sqlite3_file *sqliteFilePtr)
{
    uintptr_t behind = (uintptr_t) sqliteFilePtr
        + (uintptr_t) vfs.realPtr->szOsFile;

    return (File *) ((behind + _Alignof(File) - 1)
                     & ~(uintptr_t) (_Alignof(File) - 1));
}

/*
 * Inside of a wait that is noted already, for a long statement say, that note
 * stays.
 */
static void
BeginSync(const char *path)
{
    char what[300];

    snprintf(what, sizeof(what), "nsdbsqlite: waits for the disk to have %s",
             path == NULL ? "a temporary file" : path);
    Ns_TclWaitBegin(what);
}

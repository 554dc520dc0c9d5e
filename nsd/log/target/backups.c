/* SPDX-License-Identifier: MPL-2.0
 * backups.c --
 *
 *      The backups that lie beside a log file.
 *
 *      A file that is open for writing is never deleted, whatever its name.
 */

#include "log/target/backups.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/target/openfiles.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

static bool Collect(NsBackups *listPtr, const char *file,
                    const regex_t *patternPtr, const char *newest);
static void Add(NsBackups *listPtr, const char *path, const char *newest);
static int  NewestFirst(const void *left, const void *right);
static bool IsBeside(const char *path, const char *file);

bool
NsBackupsFind(NsBackups *listPtr, const char *file, const regex_t *patternPtr,
              const char *newest)
{
    bool isOk = Collect(listPtr, file, patternPtr, newest);

    if (listPtr->n > 1) {
        qsort(listPtr->files, (size_t) listPtr->n, sizeof(NsBackup),
              NewestFirst);
    }
    for (int i = 0; i < listPtr->n; i++) {
        NsAssert(i == 0
                 || listPtr->files[i - 1].mtime >= listPtr->files[i].mtime);
        NsAssert(IsBeside(listPtr->files[i].path, file));
    }
    return isOk;
}

void
NsBackupsDropLast(NsBackups *listPtr)
{
    NsAssert(listPtr->n > 0);
    ns_free(listPtr->files[--listPtr->n].path);
}

void
NsBackupsFree(NsBackups *listPtr)
{
    while (listPtr->n > 0) {
        NsBackupsDropLast(listPtr);
    }
    ns_free(listPtr->files);
    *listPtr = (NsBackups){0};
}

bool
NsBackupDelete(const char *path)
{
    struct stat st;
    bool        isOpen = lstat(path, &st) == 0 && NsOpenFilesHave(&st);

    if (isOpen || (unlink(path) != 0 && errno != ENOENT)) {
        int reason = isOpen ? EBUSY : errno;

        Ns_Log(Error, "rollfile: failed to delete file '%s': '%s'", path,
               strerror(reason));
        errno = reason;
        return false;
    }
    return true;
}

/*
 * All plain files in the directory of the file whose names are its name, a dot,
 * and a suffix that matches.
 */
static bool
Collect(NsBackups *listPtr, const char *file, const regex_t *patternPtr,
        const char *newest)
{
    const char    *tail = strrchr(file, '/');
    size_t         nTail;
    Ns_DString     path;
    DIR           *dir;
    struct dirent *entPtr;
    int            nPath;

    Ns_DStringInit(&path);
    Ns_DStringNAppend(&path, tail == NULL ? "./" : file,
                      tail == NULL ? 2 : (int) (tail - file) + 1);
    nPath = Ns_DStringLength(&path);
    tail = tail == NULL ? file : tail + 1;
    nTail = strlen(tail);
    dir = opendir(Ns_DStringValue(&path));
    if (dir == NULL) {
        Ns_DStringFree(&path);
        return errno == ENOENT;
    }
    while ((entPtr = readdir(dir)) != NULL) {
        if (strncmp(entPtr->d_name, tail, nTail) == 0
            && entPtr->d_name[nTail] == '.'
            && (patternPtr == NULL
                || regexec(patternPtr, entPtr->d_name + nTail + 1, 0, NULL, 0)
                    == 0)) {
            Ns_DStringSetLength(&path, nPath);
            Ns_DStringAppend(&path, entPtr->d_name);
            Add(listPtr, Ns_DStringValue(&path), newest);
        }
    }
    closedir(dir);
    Ns_DStringFree(&path);
    return true;
}

static void
Add(NsBackups *listPtr, const char *path, const char *newest)
{
    struct stat st;

    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        return;
    }
    if (NsOpenFilesHave(&st) && (newest == NULL || !STREQ(path, newest))) {
        return; /* A log that is open for writing. */
    }
    if (listPtr->n == listPtr->max) {
        listPtr->max = MAX(32, 2 * listPtr->max);
        listPtr->files = ns_realloc(listPtr->files,
                                    (size_t) listPtr->max * sizeof(NsBackup));
    }
    listPtr->files[listPtr->n++] = (NsBackup){
        .path = ns_strdup(path),
        .mtime = (int64_t) st.st_mtim.tv_sec * NS_STAMP_SECOND
            + st.st_mtim.tv_nsec,
        .bytes = (uint64_t) st.st_size,
        .inode = (uint64_t) st.st_ino};
}

/*
 * Of the same time, the later date.
 */
static int
NewestFirst(const void *left, const void *right)
{
    const NsBackup *leftPtr = left, *rightPtr = right;

    if (leftPtr->mtime != rightPtr->mtime) {
        return leftPtr->mtime < rightPtr->mtime ? 1 : -1;
    }
    return strcmp(rightPtr->path, leftPtr->path);
}

/*
 * The path is that of a backup, not that of the log itself.
 */
static bool
IsBeside(const char *path, const char *file)
{
    const char *pathTail = strrchr(path, '/'), *fileTail = strrchr(file, '/');
    size_t      n;

    fileTail = fileTail == NULL ? file : fileTail + 1;
    n = strlen(fileTail);
    return pathTail != NULL && strncmp(pathTail + 1, fileTail, n) == 0
        && pathTail[1 + n] == '.';
}

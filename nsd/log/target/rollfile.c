/* SPDX-License-Identifier: MPL-2.0
 * rollfile.c --
 *
 *      Backups of log files: numbered, dated, purged.
 *
 *      A compressed backup is called FILE.SUFFIX.gz.  A crash may leave both;
 *      then they are moved together.
 *
 *      A file that is open for writing is never deleted, whatever its name.
 */

#include "base/assert.h"
#include "log/target/backups.h"
#include "log/target/rollname.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define MAX_NUMBERS 1000

static bool        ShiftNumbers(const char *file, int max);
static bool        Exists(const char *path);
static bool        HasBackup(const char *path);
static bool        RenameBackup(const char *from, const char *to);
static bool        UnlinkBackup(const char *path);
static int         RollBackup(const char *path, int max);
static const char *ZippedName(char buffer[PATH_MAX], const char *path);
static void NumberedName(Ns_DString *dsPtr, const char *file, int number);
static bool Rename(const char *from, const char *to);
static int  Purge(const char *file, const regex_t *patternPtr,
                  const char *newest, int max);
static int  PurgeByFormat(const char *file, const char *format,
                          const char *newest, int max);

int
Ns_RollFile(const char *file, int max)
{
    Ns_DString first;
    bool       isOk = ShiftNumbers(file, max);

    if (isOk && Exists(file)) {
        Ns_DStringInit(&first);
        NumberedName(&first, file, 0);
        isOk = Rename(file, Ns_DStringValue(&first));
        Ns_DStringFree(&first);
    }
    return isOk ? NS_OK : NS_ERROR;
}

/*
 * Make the first number free.
 */
static bool
ShiftNumbers(const char *file, int max)
{
    Ns_DString older, newer;
    int        number = 0;
    bool       isOk = true;

    if (max < 0 || max >= MAX_NUMBERS) {
        Ns_Log(Error,
               "rollfile: invalid max parameter '%d'; "
               "must be > 0 and < 999",
               max);
        return false;
    }
    max = MAX(max, 1);
    Ns_DStringInit(&older);
    Ns_DStringInit(&newer);

    /* Shift up to the first gap; without one, delete the last number. */
    do {
        NumberedName(&older, file, number);
    } while (HasBackup(Ns_DStringValue(&older)) && ++number < max);
    if (number == max) {
        number--;
        NumberedName(&older, file, number);
        isOk = UnlinkBackup(Ns_DStringValue(&older));
    }
    NsAssert(number >= 0 && number < max);
    for (; isOk && number > 0; number--) {
        NumberedName(&newer, file, number - 1);
        NumberedName(&older, file, number);
        isOk = RenameBackup(Ns_DStringValue(&newer), Ns_DStringValue(&older));
    }
    Ns_DStringFree(&older);
    Ns_DStringFree(&newer);
    return isOk;
}

int
Ns_PurgeFiles(const char *file, int max)
{
    return Purge(file, NULL, NULL, max);
}

/*
 * Keep the newest max of the files whose suffixes match (all suffixes, if the
 * pattern is NULL) and delete the others.  The newest may still be open.
 */
static int
Purge(const char *file, const regex_t *patternPtr, const char *newest, int max)
{
    NsBackups list = {0};
    bool      isOk = NsBackupsFind(&list, file, patternPtr, newest);

    for (int i = max; i < list.n && isOk; i++) {
        if (newest == NULL || !STREQ(list.files[i].path, newest)) {
            isOk = NsBackupDelete(list.files[i].path);
        }
    }
    NsBackupsFree(&list);
    return isOk ? NS_OK : NS_ERROR;
}

int
Ns_RollFileByDate(const char *file, int max)
{
    return Ns_RollFileByFormat(file, "%Y%m%d-%H%M%S", max);
}

int
Ns_RollFileByFormat(const char *file, const char *format, int max)
{
    char       suffix[256];
    struct tm  tm;
    time_t     now = time(NULL);
    Ns_DString name;
    int        status = NS_OK;

    if (format == NULL || *format == '\0') {
        return Ns_RollFile(file, MIN(max, MAX_NUMBERS - 1));
    }
    localtime_r(&now, &tm);
    if (NsRollSuffix(suffix, sizeof(suffix), format, &tm) == 0) {
        errno = EINVAL;
        return NS_ERROR;
    }
    Ns_DStringInit(&name);
    Ns_DStringAppend(&name, file);
    Ns_DStringAppend(&name, ".");
    Ns_DStringAppend(&name, suffix);
    if (Exists(file)) {
        if (HasBackup(Ns_DStringValue(&name))) {
            status = RollBackup(Ns_DStringValue(&name),
                                MIN(max, MAX_NUMBERS - 1));
        }
        if (status == NS_OK && !Rename(file, Ns_DStringValue(&name))) {
            status = NS_ERROR;
        }
    }
    if (status == NS_OK) {
        status = PurgeByFormat(file, format, Ns_DStringValue(&name), max);
    }
    Ns_DStringFree(&name);
    return status;
}

Ns_ReturnCode
Ns_RollFileCondFmt(Ns_LogCallbackProc *openProc, Ns_LogCallbackProc *closeProc,
                   void *arg, const char *file, const char *format,
                   TCL_SIZE_T max)
{
    int status;

    if (closeProc(arg) != NS_OK) {
        return NS_ERROR;
    }
    status = Ns_RollFileByFormat(file, format, max);
    return openProc(arg) == NS_OK && status == NS_OK ? NS_OK : NS_ERROR;
}

static int
PurgeByFormat(const char *file, const char *format, const char *newest, int max)
{
    regex_t pattern;
    int     status;

    if (!NsRollPattern(&pattern, format)) {
        errno = EINVAL;
        return NS_ERROR;
    }
    status = Purge(file, &pattern, newest, max);
    regfree(&pattern);
    return status;
}

static bool
Exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static bool
HasBackup(const char *path)
{
    char zipped[PATH_MAX];

    return Exists(path) || Exists(ZippedName(zipped, path));
}

static bool
RenameBackup(const char *from, const char *to)
{
    char zippedFrom[PATH_MAX], zippedTo[PATH_MAX];

    return (!Exists(from) || Rename(from, to))
        && (!Exists(ZippedName(zippedFrom, from))
            || Rename(zippedFrom, ZippedName(zippedTo, to)));
}

static bool
UnlinkBackup(const char *path)
{
    char zipped[PATH_MAX];

    return NsBackupDelete(path) && NsBackupDelete(ZippedName(zipped, path));
}

/*
 * The backup of a date becomes number 0 of it.
 */
static int
RollBackup(const char *path, int max)
{
    Ns_DString first;
    bool       isOk = ShiftNumbers(path, max);

    Ns_DStringInit(&first);
    NumberedName(&first, path, 0);
    isOk = isOk && RenameBackup(path, Ns_DStringValue(&first));
    Ns_DStringFree(&first);
    return isOk ? NS_OK : NS_ERROR;
}

/*
 * The name of the compressed backup.  One that is too long names no file.
 */
static const char *
ZippedName(char buffer[PATH_MAX], const char *path)
{
    snprintf(buffer, PATH_MAX, "%s.gz", path);
    return buffer;
}

static void
NumberedName(Ns_DString *dsPtr, const char *file, int number)
{
    NsAssert(number >= 0 && number < MAX_NUMBERS);
    Ns_DStringSetLength(dsPtr, 0);
    Ns_DStringPrintf(dsPtr, "%s.%03d", file, number);
}

static bool
Rename(const char *from, const char *to)
{
    if (rename(from, to) != 0) {
        int reason = errno;

        Ns_Log(Error, "rollfile: failed to rename file '%s' to '%s': '%s'",
               from, to, strerror(reason));
        errno = reason;
        return false;
    }
    return true;
}

/* SPDX-License-Identifier: MPL-2.0
 * backups.h --
 *
 *      The backups that lie beside a log file.
 */

#ifndef NSD_LOG_BACKUPS_H
#define NSD_LOG_BACKUPS_H

#include <regex.h>

#include "nstypes.h"

typedef struct NsBackup {
    char    *path;
    int64_t  mtime; /* Nanoseconds. */
    uint64_t bytes;
    uint64_t inode;
} NsBackup;

/*
 * The caller's; all zero: empty.
 */
typedef struct NsBackups {
    NsBackup *files; /* Newest first. */
    int       n;
    int       max;
} NsBackups;

/*
 * All plain files whose names are that of the file, a dot, and a suffix that
 * matches (any, if the pattern is NULL).  A file that is open for writing is
 * not among them, unless its path is newest, which may be NULL.  False: the
 * directory cannot be read, and errno says why.
 */
bool NsBackupsFind(NsBackups *listPtr, const char *file,
                   const regex_t *patternPtr, const char *newest);
void NsBackupsDropLast(NsBackups *listPtr);
void NsBackupsFree(NsBackups *listPtr);

/*
 * False: errno says why, and so does an Error; EBUSY: it is open for writing.
 */
bool NsBackupDelete(const char *path);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * compress.h --
 *
 *      Backups of log files are compressed in the background.
 *
 *      The tasks are in the directory of the log, so they outlive the process:
 *      an empty file `.NAME.gz-INODE` asks for the backup of that inode,
 *      whatever its name is by then, and takes what it becomes.
 */

#ifndef NSD_LOG_COMPRESS_H
#define NSD_LOG_COMPRESS_H

#include "nstypes.h"

/*
 * The backups of one log.
 */
typedef struct NsBacklog NsBacklog;

/*
 * Until NsBacklogRelease.
 */
NsBacklog *NsBacklogCreate(void);

/*
 * The log is gone: backups that wait are still compressed, then the structure
 * goes.  *backlogPtrPtr, which may be NULL, is cleared.
 */
void NsBacklogRelease(NsBacklog **backlogPtrPtr);

/*
 * Backups are renamed or deleted between two calls only.  End says which file
 * is the log, open as fd or not at all (-1), and has compressed what waits;
 * Leave changes nothing of that.
 */
void NsBacklogBegin(NsBacklog *backlogPtr);
void NsBacklogLeave(NsBacklog *backlogPtr);
void NsBacklogEnd(NsBacklog *backlogPtr, const char *file, int fd);

/*
 * In between: what is open as fd is to be compressed once it is a backup.
 */
void NsBacklogAsk(NsBacklog *backlogPtr, const char *file, int fd);

/*
 * The backup of that inode is not compressed yet.
 */
bool NsBacklogHas(const char *file, uint64_t inode);

/*
 * Let the thread begin; make it stop for good, even in the middle of a file.
 */
void NsCompressInit(void);
void NsCompressStart(void);
void NsCompressStop(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sinktarget.h --
 *
 *      What a sink knows about its target: a part of it, guarded by its lock.
 *      The code is in sinkfd.c and in the types.
 */

#ifndef NSD_LOG_SINKTARGET_H
#define NSD_LOG_SINKTARGET_H

#include "log/sink/sink.h"

typedef struct NsSinkTarget {
    char             *file;
    int               fd;
    uint64_t          fileBytes;     /* Size of the file, */
    uint64_t          fileInode;     /* and its inode; 0: not a regular file. */
    int64_t           lookDue;       /* Next check that it has its name. */
    bool              isAstray;      /* The last check found its name gone. */
    bool              isReopenDue;   /* As soon as the buffer is written. */
    atomic_bool       isReopenAsked; /* Any thread sets it. */
    bool              isSynced;      /* What it received is on disk, */
    bool              isNameSynced;  /* and so is its name in the directory. */
    int               leftReason;    /* Sync of the last file failed; or 0. */
    bool              isSyncFailing; /* And that was reported. */
    void             *own;           /* The type's. */
    bool              isDatagram;    /* syslog: each message by itself. */
    time_t            nextRoll;
    int64_t           rotateAfter; /* No roll by size before; one failed. */
    struct NsBacklog *backlogPtr;  /* NULL: never compressed. */
    bool              isClosed;    /* Records are dropped. */
} NsSinkTarget;

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sinktarget.h --
 *
 *      What a sink knows about its target: a part of it, guarded by its lock.
 *      The code is in sinkfd.c and in the types.
 */

#ifndef NSD_LOG_SINKTARGET_H
#define NSD_LOG_SINKTARGET_H

#include "log/sink/sink.h"

/*
 * What a target that is a file has been asked for; each includes what is above
 * it.
 */
typedef enum {
    NS_ASK_NOTHING,
    NS_ASK_REOPEN,
    NS_ASK_SIGNAL /* It may roll the file, too. */
} NsSinkAsk;

typedef struct NsSinkTarget {
    char             *file;
    int               fd;
    uint64_t          fileBytes;     /* Size of the file, */
    uint64_t          fileInode;     /* and its inode; 0: not a regular file. */
    int64_t           lookDue;       /* Next check that it has its name. */
    bool              isAstray;      /* The last check found its name gone. */
    bool              isReopenDue;   /* As soon as the buffer is written. */
    atomic_int        asked;         /* NsSinkAsk; any thread sets it. */
    bool              isSynced;      /* What it received is on disk, */
    bool              isNameSynced;  /* and so is its name in the directory. */
    int               leftReason;    /* Sync of the last file failed; or 0. */
    bool              isSyncFailing; /* And that was reported. */
    void             *own;           /* The type's. */
    time_t            nextRoll;      /* 0: none by time. */
    time_t            retainDue;     /* When to look at the backups; or 0. */
    bool              isShort;       /* Their file system is, of room. */
    int64_t           rotateAfter;   /* No roll by size before; one failed. */
    struct NsBacklog *backlogPtr;    /* NULL: never compressed. */
    bool              isClosed;      /* Records are dropped. */
} NsSinkTarget;

#endif

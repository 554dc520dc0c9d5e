/*
 * sinktarget.h --
 *
 *      What a sink knows of its target: a part of it, guarded by its lock.
 *      Its code is in sinkfd.c, and in the types.
 */

#ifndef NSD_LOG_SINKTARGET_H
#define NSD_LOG_SINKTARGET_H

#include "log/sink/sink.h"

typedef struct NsSinkTarget {
    char             *file;
    int               fd;
    uint64_t          fileBytes;     /* Size of the file, */
    uint64_t          fileInode;     /* and its number; 0: no regular one. */
    int64_t           lookDue;       /* Whether it still has its name. */
    bool              isAstray;      /* At the last look it had not. */
    bool              isReopenDue;   /* As soon as the buffer is written. */
    atomic_bool       isReopenAsked; /* Set by any thread. */
    bool              isSynced;      /* What it got is on disk, */
    bool              isNameSynced;  /* and its name in the directory. */
    int               leftReason;    /* Why the one before is not; or 0. */
    bool              isSyncFailing; /* And that was told. */
    void             *own;           /* The type's. */
    bool              isDatagram;    /* syslog: each message by itself. */
    time_t            nextRoll;
    int64_t           rotateAfter; /* Not by size before: one failed. */
    struct NsBacklog *backlogPtr;  /* NULL: never compressed. */
    bool              isClosed;    /* Drops everything. */
} NsSinkTarget;

#endif

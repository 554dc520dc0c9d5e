/*
 * sinkbuffer.h --
 *
 *      Lines that a sink has not written yet, and what the target makes of
 *      them: parts of it, guarded by its lock.  Their code is in deliver.c and
 *      flush.c.
 */

#ifndef NSD_LOG_SINKBUFFER_H
#define NSD_LOG_SINKBUFFER_H

#include "log/sink/sink.h"

typedef struct NsSinkBuffer {
    char               *bytes;
    size_t              room;
    size_t              nBuffered;
    size_t              nWritten;  /* Of nBuffered, after a short write. */
    const Ns_LogRecord *uncounted; /* Its line stands behind nBuffered. */
    int                 nLines;
    uint64_t            nRecords; /* Of these lines; others are notes. */
    int64_t             oldest;   /* When the first was added; 0: none. */
    int64_t             lastFlush;
    int64_t             syncDue;  /* 0: nothing to sync. */
    bool                isUrgent; /* Flush at the end of the pass. */
    char               *scratch;  /* A record put together from its pieces. */
    size_t              scratchBytes;
    char               *reduced; /* A unit without events ignored. */
    size_t              reducedBytes;
} NsSinkBuffer;

/*
 * Rows that the target refused.
 */
typedef struct NsSinkRefusals {
    uint64_t nRefused;    /* In the last write, */
    char     text[256];   /* and why the first of them. */
    uint64_t nUnreported; /* Since the last message about any, */
    int64_t  reported;    /* which was at this time. */
} NsSinkRefusals;

/*
 * The present episode of writes that fail.
 */
typedef struct NsSinkFailing {
    int                 reason; /* errno; 0: there is none. */
    int64_t             retryAt;
    int64_t             retryNanos;
    char                complaint[256]; /* In place of errno's text; or "". */
    atomic_int_fast64_t since;          /* Read by all; 0: there is none. */
} NsSinkFailing;

#endif

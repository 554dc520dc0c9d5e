/* SPDX-License-Identifier: MPL-2.0
 * sinkbuffer.h --
 *
 *      Lines that a sink has not written yet, and what the target does with
 *      them.  Parts of a sink, guarded by its lock.  The code is in deliver.c
 *      and flush.c.
 */

#ifndef NSD_LOG_SINKBUFFER_H
#define NSD_LOG_SINKBUFFER_H

#include "log/sink/sink.h"

typedef struct NsSinkBuffer {
    char               *bytes;
    size_t              room;
    size_t              nBuffered;
    size_t              nWritten;  /* Of nBuffered, after a short write. */
    const Ns_LogRecord *uncounted; /* Its line is behind nBuffered. */
    int                 nLines;
    uint64_t            nRecords; /* That these lines hold; other lines are
                                   * notes. */
    int64_t oldest;               /* When the first line was added; 0: none. */
    int64_t previous;             /* Time of the last entry of the system log;
                                   * 0: none; */
    int64_t previousWritten;      /* of those not in the buffer. */
    int64_t lastFlush;
    int64_t syncDue;  /* 0: nothing to sync. */
    bool    isNote;   /* What is being formatted is about the log itself. */
    bool    isUrgent; /* Flush at the end of the pass. */
    char   *scratch;  /* To assemble a record from its pieces. */
    size_t  scratchBytes;
    char   *reduced; /* To copy a unit without its ignored
                      * events. */
    size_t reducedBytes;
} NsSinkBuffer;

/*
 * The last entry of the system log that was taken, and how often it came again
 * since it was told.
 */
typedef struct NsSinkRepeats {
    char    *message; /* NULL: none. */
    size_t   length;
    int      severity;
    uint64_t n;
    int64_t  since; /* Of the first one not told. */
} NsSinkRepeats;

/*
 * Rows that the target refused.
 */
typedef struct NsSinkRefusals {
    uint64_t nRefused;    /* In the last write, */
    char     text[256];   /* and the reason for the first one. */
    uint64_t nUnreported; /* Since the last message about refusals, */
    int64_t  reported;    /* and the time of that message. */
} NsSinkRefusals;

/*
 * The current episode of failing writes.
 */
typedef struct NsSinkFailing {
    int     reason; /* errno; 0: writing works. */
    int64_t retryAt;
    int64_t retryNanos;
    int64_t askedNanos;            /* So long, at least, the target wants to
                                    * be left alone; 0: it does not say. */
    char complaint[256];           /* Replaces the text for errno; or
                                    * "". */
    char                told[256]; /* The reason that was reported last, */
    int64_t             toldAt;    /* and when. */
    atomic_int_fast64_t since;     /* Any thread reads it; 0: writing
                                    * works. */
} NsSinkFailing;

#endif

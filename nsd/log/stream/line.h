/* SPDX-License-Identifier: MPL-2.0
 * line.h --
 *
 *      How an entry of the system log looks in the file.
 *
 *      Pure functions: an entry in, bytes out.
 */

#ifndef NSD_LOG_LINE_H
#define NSD_LOG_LINE_H

#include "log/stream/journal.h"
#include "nstypes.h"

typedef struct NsLogEntry {
    int64_t     time;     /* Wall clock, nanoseconds since 1970. */
    int         severity; /* Number; meaningful in this process only. */
    const char *severityName;
    int         pid;
    uintptr_t   thread;
    const char *threadName;
    const char *message;
    size_t      messageLength;
    const char *requestId; /* Of the request that it belongs to, or NULL. */
    const char *traceId;   /* Likewise, */
    const char *spanId;    /* and likewise. */
} NsLogEntry;

typedef struct NsLogStyle {
    bool    usec;          /* Six digits behind the seconds. */
    bool    isExpanded;    /* Message on a line of its own. */
    bool    hidesTime;     /* No time, */
    bool    hidesThread;   /* no process and thread at the beginning. */
    bool    showsSpan;     /* The time since the entry before. */
    bool    isRelative;    /* Times count from the start of the process. */
    bool    countsRepeats; /* Equal entries in a row are one line. */
    int64_t start;         /* Of this process, as NsLogEntry's time. */
    int     sanitize; /* 0: raw, 1: all on one line, 2: readable, 3: tabs are
                       * blanks as well. */
} NsLogStyle;

extern NsLogStyle nsLogStyle; /* Constant after NsLogConfigure. */

/*
 * What a line has to know besides its entry, with showsSpan or isRelative, or
 * under systemd.  Of the thread that formats; a sink sets it before each line.
 */
typedef struct NsLogContext {
    int64_t start;        /* Of the process whose entry it is; 0: unknown. */
    int64_t previous;     /* Time of the sink's entry before; 0: none. */
    bool    isForJournal; /* A priority, and no time, as in journal.h. */
} NsLogContext;

extern _Thread_local NsLogContext nsLogContext;

static inline bool
NsLogNeedsContext(void)
{
    return nsLogStyle.showsSpan || nsLogStyle.isRelative || nsJournalIsThere;
}

/*
 * Bytes that are put one after the other into a buffer that may be too small:
 * then nothing of a piece that does not fit is written, and lengths are summed
 * up all the same.
 */
typedef struct NsLogOut {
    char  *buffer;
    size_t room;
    size_t length; /* The room that all pieces together need. */
} NsLogOut;

static inline void
NsLogPut(NsLogOut *outPtr, const char *bytes, size_t length)
{
    if (likely(outPtr->length + length <= outPtr->room)) {
        memcpy(outPtr->buffer + outPtr->length, bytes, length);
    }
    outPtr->length += length;
}

/*
 * The line of an entry, newline included.
 */
void NsLogLine(NsLogOut *outPtr, const NsLogEntry *entryPtr,
               const NsLogStyle *stylePtr);

/*
 * Text from outside, made harmless: control characters, and bytes that are not
 * UTF-8, as \xHH; newlines by level, see NsLogStyle.
 */
void NsLogSanitize(NsLogOut *outPtr, const char *bytes, size_t length,
                   int level);

/*
 * Length of the valid character beyond ASCII that the bytes begin with (RFC
 * 3629); 0 if they begin with none.
 */
size_t NsLogUtf8Length(const char *bytes, size_t length);

/*
 * Tcl keeps characters beyond U+FFFF as two surrogates of three bytes each.
 * How many bytes these are, if the text begins with such; else 0.
 */
size_t NsLogSurrogates(const char *bytes, size_t length, uint32_t *highPtr,
                       uint32_t *lowPtr);

/*
 * Local time as "21/Nov/2026:00:07:00".  What it points to is the thread's own,
 * valid until its next call; 20 characters.
 */
#define NS_LOG_TIME_LENGTH 20
const char *NsLogTimeText(time_t seconds);

/*
 * The same, followed by a blank and the offset from UTC, +hhmm; 26 characters.
 */
#define NS_LOG_ZONED_TIME_LENGTH 26
const char *NsLogZonedTimeText(time_t seconds);

/*
 * UTC as 2026-11-21T00:07:00.123456Z.
 */
void NsLogPutUtc(NsLogOut *outPtr, int64_t micros);

/*
 * Decimal digits of value, at least width of them; how many were written.
 */
size_t NsLogDigits(char *buffer, uint64_t value, int width);

#endif

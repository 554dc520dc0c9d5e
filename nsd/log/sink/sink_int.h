/* SPDX-License-Identifier: MPL-2.0
 * sink_int.h --
 *
 *      The inside of a sink, for the files that make it up.  Each calls only
 *      those above it:
 *
 *          sinktable.c    the table of sinks, and their mapping
 *          sinklane.c     where a sink reads
 *          sinkstate.c    its settings, and statistics
 *          sinkspill.c    what it has on disk (spill.c, spillpack.c)
 *          sinkfd.c       its descriptor
 *          sinkmake.c     a sink by itself
 *          sinkwake.c     its lock, its sleep, requests to it
 *          relieve.c      how it keeps less memory,
 *          bound.c        and when it has to
 *          flush.c        the buffer's way to the target
 *          deliver.c      a record's way into the buffer,
 *          unspill.c      from disk
 *          sinkpass.c     and from the lanes
 *          sinkwork.c     the turns of threads that log
 *          recover.c      what earlier processes left (leftover.c, settle.c)
 *          sinkthread.c   what workers do (worker.c)
 *          sinkroute.c    what goes to which sink
 *          sinkrequest.c  flush, roll, reopen, new settings
 *          sink.c         the beginning and end of all
 *
 *      The types are in log/target.
 *
 *      A sink is composed of parts.  Each has a header, which says who may
 *      touch it, and a check in sinkcheck.c.  A file that works on a part
 *      behind a pointer includes its header; others cannot.
 */

#ifndef NSD_LOG_SINK_INT_H
#define NSD_LOG_SINK_INT_H

#include "base/assert.h"
#include "base/lock.h"
#include "log/sink/sink.h"
#include "log/sink/sinkcounts.h"
#include "log/sink/sinksleep.h"
#include "log/sink/sinkturns.h"
#include "log/sink/sinktype.h"
#include "log/stream/condition.h"
#include "log/stream/form.h"
#include "log/stream/kinds.h"
#include "log/stream/line.h"

typedef struct NsClaim NsClaim;

/*
 * Copies of settings, for threads that do not hold the sink's lock.  Written
 * with that lock held.
 */
typedef struct NsSinkLimits {
    atomic_int    turnLines; /* bufferLines. */
    atomic_size_t wakeBytes; /* bufferBytes, for routes. */
    atomic_size_t maxMemory; /* Also set before the request to change it. */
    atomic_size_t maxSpill;
} NsSinkLimits;

/*
 * The present period of maxrate, by the times of the records.
 */
typedef struct NsSinkRate {
    int64_t  begin; /* 0: there was none. */
    int      n;     /* Records that were taken. */
    uint64_t nLeft; /* Those left out that no line tells of yet, */
    int64_t  first; /* and when they came. */
    int64_t  last;
} NsSinkRate;

/*
 * A stream that a sink takes.
 */
typedef struct NsSinkStream {
    struct NsSinkStream *_Atomic nextPtr; /* This and rank are set with the
                                           * table of sinks locked. */
    atomic_int rank;  /* Its number among the readers in the mapping, or -1. */
    int        index; /* Constant, as are the two counts from before the
                       * sink: */
    uint64_t baseDrops;
    uint64_t baseIgnored;
    uint64_t seenDrops; /* Those already reported.  Guarded by the sink's
                         * lock. */
    int64_t  seenDropTime;
    uint32_t newestLane; /* Guarded like the reader.  The sink has met this lane
                          * and all older ones. */
    bool isIdle;         /* Guarded by sleep.lock: counted as idle in the
                          * stream. */
} NsSinkStream;

struct Ns_LogSink_ {
    /* Constant after creation. */
    char             *name;
    const NsSinkType *typePtr;
    int               index;
    bool              isStandardOutput;
    bool              isModules;
    bool              isRequired; /* As in its settings. */
    int               nPatterns;
    char            **patterns; /* The streams that it was told to read. */
    Ns_LogSinkValue  *values;   /* Of the type's options; or NULL. */

    /* Atomic; written with the table of sinks locked. */
    NsSinkStream *_Atomic firstStream;
    NsSinkStream         *lastStream; /* Guarded by the lock of the table. */
    atomic_bool           isDetached; /* It wants nothing any more. */
    atomic_bool           isAwaited;  /* Threads that log wait for it. */
    atomic_bool           isRemoved;
    atomic_bool           isStuck; /* Its thread did not end in time. */
    Ns_LogSink            nextPtr; /* In the list of those to be freed. */

    /* Each part says what guards it. */
    NsSinkSleep  sleep;
    NsSinkTurns  turns;
    NsSinkCounts counts;
    NsSinkLimits limits;

    /* The same, of parts that only some files touch; with the sink. */
    struct NsSinkLoan   *loan;
    struct NsSinkKeeper *keeper;

    /* Guards the rest: one thread at a time does the sink's work. */
    Ns_Mutex       lock;
    NsSinkSettings settings; /* Also written with sleep.lock held. */
    NsKinds        ignored;  /* Parsed from the settings, */
    NsForm        *form;     /* as are these two; NULL: none. */
    NsConditions  *conditions;
    unsigned       nSampled; /* Records that sampling has considered. */
    NsSinkRate     rate;
    NsClaim       *claims; /* See recover.c. */

    struct NsSinkReader   *reader;
    struct NsSinkBuffer   *buffer;
    struct NsSinkRefusals *refusals;
    struct NsSinkFailing  *failing;
    struct NsSinkRepeats  *repeats;
    struct NsSinkTarget   *target;
};

/*
 * Whether a time of NsLogClock has come.  It was set at most that span ahead,
 * so a time further ahead means that the clock was set back: that counts as
 * due.
 */
static inline bool
NsSinkIsDue(int64_t when, int64_t span)
{
    int64_t now = NsLogClock();

    return now >= when || when - now > span;
}

#endif

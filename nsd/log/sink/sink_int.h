/*
 * sink_int.h --
 *
 *      A sink from inside, for the files that make it up.  Each calls only
 *      those above it:
 *
 *          sinktable.c    the table of sinks, and their mapping
 *          sinklane.c     where a sink reads
 *          sinkstate.c    its settings, and statistics
 *          sinkspill.c    what it has on disk (spill.c)
 *          sinkfd.c       its descriptor
 *          sinkmake.c     a sink by itself
 *          sinkwake.c     its lock, its sleep, requests to it
 *          relieve.c      how it keeps less memory,
 *          bound.c        and when it has to
 *          flush.c        the buffer's way to the target
 *          deliver.c      a record's way into the buffer,
 *          unspill.c      from disk
 *          sinkpass.c     and from the lanes
 *          sinkwork.c     the turns of those who log
 *          recover.c      what earlier processes left (leftover.c, settle.c)
 *          sinkthread.c   what workers do (worker.c)
 *          sinkroute.c    what goes to which sink
 *          sinkrequest.c  flush, roll, reopen, new settings
 *          sink.c         the beginning and end of all
 *
 *      The types are in log/target.
 */

#ifndef NSD_LOG_SINK_INT_H
#define NSD_LOG_SINK_INT_H

#include "base/lock.h"
#include "log/ring/reader.h"
#include "log/sink/sink.h"
#include "log/sink/sinktype.h"
#include "log/sink/spill.h"
#include "log/sink/worker.h"
#include "log/stream/kinds.h"
#include "log/stream/line.h"
#include "log/stream/stream.h"

/*
 * A request to a sink, carried out between two records.  On its caller's stack.
 */
typedef Ns_ReturnCode NsSinkOpProc(Ns_LogSink sink, void *arg);

typedef enum {
    NS_OP_PLAIN,
    NS_OP_FLUSH, /* Done when all before it is written, */
    NS_OP_SYNC   /* and is on disk. */
} NsSinkOpGoal;

typedef struct NsSinkOp {
    struct NsSinkOp *nextPtr;
    int64_t          time;
    NsSinkOpProc    *proc; /* NULL: just the goal. */
    void            *arg;
    NsSinkOpGoal     goal;
    Ns_ReturnCode    status;
    int              reason; /* errno */
    bool             isDone; /* Guarded by the sink's wakeLock. */
} NsSinkOp;

/*
 * What a sink is at; what may wake it from there.
 */
typedef enum {
    NS_SINK_RUNNING,
    NS_SINK_IDLE,     /* Any record of its streams. */
    NS_SINK_BATCHING, /* A nudge; it has records to write later. */
    NS_SINK_RESTING,  /* Requests, and a shortage of memory. */
    NS_SINK_CALLERS   /* Any record: who puts it serves the sink. */
} NsSinkState;

/*
 * Records that are missing in a log, and when they were.
 */
typedef struct NsGap {
    uint64_t n;
    int64_t  first;
    int64_t  last;
} NsGap;

typedef struct NsClaim NsClaim;

/*
 * A stream that a sink takes.
 */
typedef struct NsSinkStream {
    struct NsSinkStream *_Atomic nextPtr; /* Set with the table of sinks
                                           * locked, like the next. */
    atomic_int rank;  /* Among its readers in the mapping; or -1. */
    int        index; /* Constant, like the numbers that there were
                       * before the sink: */
    uint64_t baseDrops;
    uint64_t baseIgnored;
    uint64_t seenDrops; /* The sink is locked; these were told. */
    int64_t  seenDropTime;
    uint32_t newestLane; /* The sink is locked, or its places are lent.
                          * It and all older ones the sink has met. */
    bool isIdle;         /* Guarded by wakeLock: counted there. */
} NsSinkStream;

/*
 * A lane that a sink reads.
 */
typedef struct NsSinkLane {
    NsPlace       place; /* The first member; see NsSinkLaneOf. */
    NsRingCursor *cursorPtr;
    Ns_LogStream  stream;       /* NULL: an earlier process's that is not known
                                 * here. */
    uint64_t           upTo;    /* The buffer ends there; 0: at the place. */
    uint64_t           floor;   /* To go on from there. */
    uint64_t           settled; /* The target has what is before it. */
    uint64_t           nextSequence; /* Of the record expected, in recovery. */
    struct NsSinkLane *nextMovedPtr;
} NsSinkLane;

struct Ns_LogSink_ {
    /* Constant after creation. */
    char             *name;
    const NsSinkType *typePtr;
    int               index;
    bool              isStandardOutput;
    bool              isModules;
    int               nPatterns;
    char            **patterns; /* What it was told to read. */

    /* Atomic; written with the table of sinks locked. */
    NsSinkStream *_Atomic firstStream;
    NsSinkStream         *lastStream; /* Guarded by that lock. */
    atomic_bool           isDetached; /* Wants nothing any more. */
    atomic_bool           isAwaited;  /* Who logs waits for it. */
    atomic_bool           isRemoved;
    atomic_bool           isStuck;   /* Its thread did not end in time. */
    atomic_int            turnLines; /* Of the settings: bufferLines. */
    atomic_int            nKept;     /* Lines, after the last pass. */
    atomic_size_t         maxMemory; /* Of the settings; and this. */
    atomic_size_t         maxSpill;
    Ns_LogSink            nextPtr; /* Of those to be freed. */

    /* Guards the rest: one thread at a time does the sink's work. */
    Ns_Mutex          lock;
    NsSinkSettings    settings;
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
    void             *target;        /* The type's own. */
    Ns_LogSinkValue  *values;        /* Of a module's type: its options. */
    bool              isDatagram;    /* syslog: each message by itself. */
    time_t            nextRoll;
    int64_t           rotateAfter; /* Not by size before: one failed. */
    struct NsBacklog *backlogPtr;  /* NULL: never compressed. */
    bool              isClosed;    /* Drops everything. */

    char               *buffer; /* Lines not written yet. */
    size_t              room;
    size_t              nBuffered;
    size_t              nWritten;  /* Of nBuffered, after a short write. */
    const Ns_LogRecord *uncounted; /* Its line stands behind nBuffered. */
    int                 nLines;
    uint64_t            nRecords; /* In the buffer. */
    int64_t             oldest;   /* When the first was added; 0: none. */
    int64_t             lastFlush;
    int64_t             syncDue; /* 0: nothing to sync. */
    char               *scratch;
    size_t              scratchBytes;
    NsKinds             ignored; /* Of the settings. */
    char               *reduced; /* A unit without events ignored. */
    size_t              reducedBytes;
    unsigned            nSampled;  /* Units that could be taken. */
    bool                isUrgent;  /* Flush at the end of the pass. */
    atomic_size_t       wakeBytes; /* For routes: bufferBytes. */

    uint64_t nRefused;        /* Rows, in the last write, */
    char     refusal[256];    /* and why the first of them. */
    uint64_t nUnreported;     /* Since the last message about any, */
    int64_t  refusalReported; /* which was at this time. */

    NsClaim *claims;         /* See recover.c. */
    char     complaint[256]; /* In place of errno's text; or "". */
    int      failure;        /* errno of the present episode. */
    int64_t  retryAt;
    int64_t  retryNanos;

    /* Records whose callers have come for a turn, and of which these have been
     * read, up to that time.  Written with the lock held, but the first. */
    atomic_uint_fast64_t nComers;
    atomic_uint_fast64_t nServed;
    int64_t              servedUntil;

    /* NULL before NsSinkUseRing; ringPtr is an old mapping during recovery. */
    NsRing       *ringPtr;
    NsRingSink   *slotPtr;
    NsSinkLane  **lanes; /* Those that it has met. */
    uint32_t      nLanes;
    uint32_t      roomLanes;
    Tcl_HashTable laneTable; /* The same by number; if there are. */
    NsMerge       merge;
    NsSinkLane   *firstMoved; /* Read since the last write. */
    bool          isInLane;   /* The record at hand stands there. */
    bool          hasSkipped; /* Places are new; see bound.c. */
    uint64_t      nToldLost;  /* By notes in the buffer. */
    bool          isJudged;   /* The record at hand passed before. */
    bool          hasUpTo;    /* Some lane has it. */
    bool          hasSettled; /* All lanes have it. */
    uint64_t      nTaken;     /* From an earlier process's file. */

    /* Likewise; but while the places are lent, guarded by lendLock. */
    Ns_Mutex lendLock;
    bool     isLent;
    bool     hasFloors; /* Not in use yet. */
    NsGap    gap;       /* Given up, and not told yet. */
    uint64_t nAtRisk;   /* In the buffer, and nowhere else. */
    NsSpill *spillPtr;  /* NULL: all is in memory. */

    /* Of the keeper in bound.c. */
    atomic_uint_fast64_t nUntoldLost; /* Added to by the log thread, too. */
    int64_t              lostTold;    /* When; 0: never. */
    int64_t              spillTold;   /* The episode that it told of, */
    int                  failureTold; /* the errno. */
    uint64_t             nWritesSeen;

    NsChore chore; /* Of the workers. */

    /* Requests, and sleep. */
    Ns_Mutex    wakeLock; /* Guards what follows. */
    Ns_Cond     opDone;   /* For those with requests. */
    NsSinkOp   *firstOp;
    NsSinkOp   *lastOp;
    bool        isServed; /* By workers; they do requests, too. */
    atomic_bool mustStop;
    atomic_int  state;    /* NsSinkState; see sinkthread.c. */
    atomic_bool isNudged; /* Since the last pass began. */

    /* Counters; written with the sink locked, read without. */
    atomic_uint_fast64_t nClaimed;   /* Left by earlier processes; */
    atomic_uint_fast64_t nRecovered; /* of these, dealt with by now. */
    atomic_uint_fast64_t nDelivered;
    atomic_uint_fast64_t nIgnored;
    atomic_uint_fast64_t nFailed;
    atomic_uint_fast64_t nDamaged;
    atomic_uint_fast64_t nRejected;
    atomic_uint_fast64_t nBytes;
    atomic_uint_fast64_t nWrites;
    atomic_uint_fast64_t nSyncs;
    atomic_uint_fast64_t nErrors;
    atomic_uint_fast64_t nWakeups;
    atomic_uint_fast64_t nSpilled;     /* Records on disk, */
    atomic_uint_fast64_t spilledBytes; /* and their bytes. */
    atomic_int_fast64_t  spillSince;   /* 0: there is no spill file. */
    atomic_int           spillFailure; /* errno; 0: it works. */
    atomic_uint_fast64_t deepest;
    atomic_int_fast64_t  failedSince; /* 0: it does not fail. */
    atomic_int_fast64_t  busySince;   /* In a write or sync; 0: in none. */
    atomic_int_fast64_t  stallTold;   /* Likewise, if it was told. */
    atomic_int_fast64_t  longestWrite;
    atomic_int_fast64_t  writeNanos;
};

/*
 * Whether a time of NsLogClock has come that was set no more than that span
 * before: also when the clock has been set back since.
 */
static inline bool
NsSinkIsDue(int64_t when, int64_t span)
{
    int64_t now = NsLogClock();

    return now >= when || when - now > span;
}

#endif

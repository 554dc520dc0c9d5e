/*
 * sink_int.h --
 *
 *      A sink from inside, for the files that make it up: sink.c has the table,
 *      sinkroute.c what goes to which, sinklane.c where it reads, sinkstate.c
 *      settings and statistics, sinkwork.c the lock and the work of other
 *      threads, sinkthread.c that of workers (worker.c), sinkrequest.c requests
 *      to it, sinkspill.c what it has on disk,
 *      deliver.c the way of records into the buffer, flush.c the buffer's way
 *      to the target, the types the target, fileroll.c which file that is.
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
 * deliver.c and flush.c.  All with the sink locked.
 */

/* Read what the lanes have up to now, or to that time if it is later, and carry
 * out requests between. */
void NsDeliverPass(Ns_LogSink sink, int64_t time);

/* Add one record to the buffer.  False: there is no room, writing fails. */
bool NsDeliverRecord(Ns_LogSink sink, Ns_LogStream stream,
                     const Ns_LogRecord *recordPtr);

/* Whether a time of NsLogClock has come that was set no more than that span
 * before: also when the clock has been set back since. */
static inline bool
NsSinkIsDue(int64_t when, int64_t span)
{
    int64_t now = NsLogClock();

    return now >= when || when - now > span;
}

/* The head is read or given up: now it is known where the sink began. */
static inline void
NsDeliverNoteBegin(const NsSinkLane *lanePtr, const NsRingRecord *headPtr)
{
    atomic_uint_fast64_t *beginPtr = &lanePtr->cursorPtr->begin;

    if (unlikely(atomic_load_explicit(beginPtr, memory_order_relaxed)
                 == NS_PLACE_UNKNOWN)) {
        atomic_store(beginPtr, headPtr->sequence);
    }
}

/* Write the buffer and move the cursors.  False: it failed, and stays. */
bool NsDeliverFlush(Ns_LogSink sink);

/* It does not fail, or it is time to try again. */
bool NsDeliverMayTry(Ns_LogSink sink);

/*
 * When the buffer may be written.
 */
typedef enum {
    NS_FLUSH_FOR_ROOM,   /* Another record is to be added. */
    NS_FLUSH_AFTER_PASS, /* A worker has read the lanes, or did so */
    NS_FLUSH_IN_TIME,    /* since the time is up; */
    NS_FLUSH_BY_CALLER   /* one who logs has, and waits for that. */
} NsFlushOccasion;

/* Carry out what is due now; when to come again, 0: no need to. */
int64_t NsDeliverDue(Ns_LogSink sink, NsFlushOccasion occasion);

/* For types: the target takes all but a row, which is left out for ever. */
void NsDeliverRefused(Ns_LogSink sink, const char *reason);

/* The target cannot be reached: an episode of trying again begins, or goes
 * on. */
void NsDeliverFailed(Ns_LogSink sink, int reason);

/* Something about the state of the sink: in the system log, or, when that is
 * the one that cannot be written, on standard error. */
void NsDeliverTell(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt,
                   ...) NS_GNUC_PRINTF(3, 4);

/* A log cannot tell of itself, unless another one hears of it, too. */
bool NsDeliverIsHeard(Ns_LogSink sink);

/* What is written is on disk, or committed.  False: errno tells why not;
 * ENOTSUP: that cannot be with such a target. */
bool NsDeliverSync(Ns_LogSink sink);

/* Write a line into the sink itself: about its own state.  False: not now,
 * since writing fails. */
bool NsDeliverNote(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt,
                   ...) NS_GNUC_PRINTF(3, 4);

/* The sink's settings let the record pass. */
bool NsDeliverWants(Ns_LogSink sink, Ns_LogStream stream,
                    const Ns_LogRecord *recordPtr);

/* Free what no sink needs of a lane of the present mapping. */
void NsDeliverFreeLane(const NsRing *ringPtr, uint32_t lane);

/* Lanes have something that the sink has not read, or there is a request. */
bool NsDeliverHasWork(Ns_LogSink sink);

/*
 * sinkspill.c.  With the sink locked, or its places lent and lendLock held.
 */

/* The sink has a spill file, or gets one.  False: it may not have one, or there
 * can be none. */
bool NsSinkBeginSpill(Ns_LogSink sink);

/* The sink, locked, puts what is there into its buffer.  True: all of it. */
bool NsSinkUnspill(Ns_LogSink sink);

/* Something is there that the sink, locked, has not read. */
bool NsSinkHasSpilled(Ns_LogSink sink);

/* What the slot says of a write concerns what is there. */
void NsSinkSpillNoteSlot(Ns_LogSink sink);

/* All in the buffer is written; the slot's intent still stands, or is done
 * with. */
void NsSinkSpillWritten(Ns_LogSink sink);
void NsSinkEndSpill(Ns_LogSink sink);

/* What is there is given up. */
void NsSinkDropSpill(Ns_LogSink sink);

/* What stands in the slot of an earlier process is read by the sink, which
 * works for that slot.  False: it cannot be read, and errno tells why. */
bool NsSinkTakeSpill(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

/* For the counters. */
void NsSinkNoteSpill(Ns_LogSink sink);

/*
 * sinklane.c.  With the sink locked, or its places lent and lendLock held, but
 * for Join and Leave: with the table of sinks locked.
 */

/* The sink takes the stream; on lanes it reads it from now on.  False: it does
 * not, since the stream has as many readers as it can have. */
bool NsSinkJoin(Ns_LogSink sink, Ns_LogStream stream);

/* A sink with a slot reads its streams from now on.  False: it does not, since
 * one has as many readers as it can have. */
bool NsSinkJoinLanes(Ns_LogSink sink);

/* It takes no stream any more, and keeps no lane. */
void NsSinkLeaveAll(Ns_LogSink sink);

/* See what lanes there are since the last time. */
void NsSinkMeetLanes(Ns_LogSink sink);

/* All lanes that the slot of an earlier process's sink reads. */
void NsSinkMeetLeftover(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);

/* The lane of that number; NULL: the sink does not read it. */
NsSinkLane *NsSinkLaneAt(Ns_LogSink sink, uint32_t lane);

void NsSinkFreeLanes(Ns_LogSink sink);

/* The lane of a place of the sink's. */
static inline NsSinkLane *
NsSinkLaneOf(NsPlace *placePtr)
{
    return (NsSinkLane *) (void *) placePtr;
}

/* The lane has been read, or is to be, since the last write. */
static inline void
NsSinkNoteMoved(Ns_LogSink sink, NsSinkLane *lanePtr)
{
    if (!lanePtr->place.isMoved) {
        lanePtr->place.isMoved = true;
        lanePtr->nextMovedPtr = sink->firstMoved;
        sink->firstMoved = lanePtr;
    }
}

/* Up to where in the lane the sink has read what is in its buffer. */
static inline uint64_t
NsSinkPosition(const NsSinkLane *lanePtr)
{
    return unlikely(lanePtr->upTo != 0)
        ? lanePtr->upTo
        : NsPlacePosition(&lanePtr->place);
}

/* From here on the lanes' places say it. */
static inline void
NsSinkForgetUpTo(Ns_LogSink sink)
{
    if (unlikely(sink->hasUpTo)) {
        sink->hasUpTo = false;
        for (uint32_t i = 0; i < sink->nLanes; i++) {
            sink->lanes[i]->upTo = 0;
        }
    }
}

static inline void
NsSinkSetUpTo(Ns_LogSink sink, NsSinkLane *lanePtr, uint64_t position)
{
    sink->hasUpTo = true;
    lanePtr->upTo = position;
    NsSinkNoteMoved(sink, lanePtr);
}

/*
 * sink.c
 */

/* Guards the growth of the table of sinks, and routes. */
extern Ns_Mutex nsSinksLock;

/* The present mapping; NULL before NsSinkUseRing. */
NsRing *NsSinkRing(void);

/* There may be room for one that lacks a file. */
void NsSinkNoteRoom(void);

/* Make a sink, target open, that is in no table yet; NULL and errno. */
Ns_LogSink NsSinkMake(const NsSinkSpec *specPtr);

/* Undo that, target closed. */
void NsSinkUnmake(Ns_LogSink *sinkPtr);

/*
 * sinkroute.c
 */

/* True when the stream is one that the sink was told to read. */
bool NsSinkMatches(Ns_LogSink sink, Ns_LogStream stream);

/* Tell the stream, or all streams of the sink, which sinks want them now. */
void NsSinkRouteLocked(Ns_LogStream stream);
void NsSinkRouteAllLocked(Ns_LogSink sink);

/* The sink's settings have changed. */
void NsSinkRouteAgain(Ns_LogSink sink);

/*
 * There is a new stream: those that want it take it.
 */
void NsSinkJoinStream(int stream);

/*
 * sinkstate.c
 */

/* When it is time for a roll at that hour; 0: never. */
time_t NsSinkNextRoll(int hour, time_t now);

/* Take over a copy of the settings. */
void NsSinkApplySettings(Ns_LogSink sink, const NsSinkSettings *settingsPtr);

/* For a later process that finds the mapping but does not have the sink. */
void NsSinkNoteSettings(Ns_LogSink sink);

/*
 * sinkwork.c
 */

/* Lock the sink for its work.  What is logged meanwhile is kept and logged
 * after the unlock: the sink itself may be where it goes. */
void NsSinkLock(Ns_LogSink sink);
bool NsSinkTryLock(Ns_LogSink sink);
void NsSinkUnlock(Ns_LogSink sink);

/* The caller has put a record of that time, and no worker serves the sink: see
 * to it that it is read, and written if settings say so.  A sink that is
 * awaited is waited for; else whoever has it locked does that. */
void NsSinkTakeTurn(Ns_LogSink sink, int64_t time);

/* One turn, with the sink locked: whoever reads for others writes for them. */
void NsSinkServeHere(Ns_LogSink sink, int64_t time);

/* For the bell: write what sinks keep that no worker serves, as far as they are
 * awaited.  False: they keep no memory. */
bool NsSinkMakeRoom(void);

/* Write a line about records that are missing: dropped by the rule of the
 * stream, or, NULL, because of the sink. */
bool NsSinkNoteGap(Ns_LogSink sink, Ns_LogStream stream, const NsGap *gapPtr);

/*
 * sinkthread.c
 */

/* Have a request carried out, and wait for that: by a worker, or by those who
 * have requests if none serves the sink.  Its status, and errno.  Not while
 * working for the sink. */
Ns_ReturnCode NsSinkRun(Ns_LogSink sink, NsSinkOp *opPtr);

void NsSinkServeInit(void);

/* Let workers serve a sink that they do not serve; nothing if there are none,
 * as before the start. */
void NsSinkServe(Ns_LogSink sink);
bool NsSinkIsServed(Ns_LogSink sink);

/* One that no worker serves is served by those who log from now on, or by
 * nobody any more. */
void NsSinkLeaveToCallers(Ns_LogSink sink);
void NsSinkLeaveToNobody(Ns_LogSink sink);

/* With the table of sinks locked: it has a stream more. */
void NsSinkNoteJoined(Ns_LogSink sink);

/* Have all written out, and the sink served no more; and wait for that.  False:
 * it still is when the limit (NULL: none) is over. */
void NsSinkAskStop(Ns_LogSink sink);
bool NsSinkAwaitStop(Ns_LogSink sink, Ns_Time *limitPtr);

/* Wake the sink, whatever it waits for. */
void NsSinkKick(Ns_LogSink sink);

/*
 * For the bell: wake the sinks of the stream that sleep until there is a
 * record; those that collect lines; all that hold memory.
 */
void NsSinkWake(int stream, int64_t time);
void NsSinkNudge(int stream);
void NsSinkWakeAll(void);

/* The requests that were made by then, in their order, linked; each is its
 * caller's again when it is done. */
NsSinkOp *NsSinkTakeOps(Ns_LogSink sink, int64_t until);
void      NsSinkOpDone(Ns_LogSink sink, NsSinkOp *opPtr);

/* The calling thread is a worker that serves the sink. */
bool NsSinkIsMine(Ns_LogSink sink);

/*
 * sinkfd.c.  All with the sink locked.
 */

/* Open the target anew.  False: errno tells why, and the sink goes on with the
 * old one.  When the buffer is written and it was to wait for that
 * (isReopenDue). */
bool NsSinkFdReopen(Ns_LogSink sink);
void NsSinkFdReopenIfDue(Ns_LogSink sink);

/* The sink has another file now, or none: close this one, of which no line is
 * left unfinished, and what it got is as safe as was asked for. */
void NsSinkFdLeave(Ns_LogSink sink, int fd);

/* The file of a descriptor opened once more, whatever its name is by now; -1:
 * errno tells why not. */
int NsSinkFdOpenAgain(int fd, int flags);

/*
 * recover.c
 */

/* Before a sink begins: what earlier processes left for it is its own.  Then,
 * for one that no log thread serves: write that now.  What cannot be written
 * is for its thread, if it gets one, or for the next start. */
void NsRecoverClaim(Ns_LogSink sink);
void NsRecoverHere(Ns_LogSink sink, bool getsThread);

/* Now and then, in one thread: sinks claim what processes left that overlapped
 * with this one, and were killed. */
void NsRecoverLate(void);

/* Log thread, sink not locked: write what is left for it.  False: it cannot be
 * written now. */
bool NsRecoverClaims(Ns_LogSink sink);

/* The sink will not: the next process may. */
void NsRecoverDropClaims(Ns_LogSink sink);

/* How many records the slot's sink has not written. */
uint64_t NsRecoverCountUnread(NsRing *ringPtr, NsRingSink *slotPtr);

/* A database says that this lane was written up to there. */
void NsSettleCursor(NsRing *ringPtr, NsRingSink *slotPtr, int64_t lane,
                    int64_t position);

#endif

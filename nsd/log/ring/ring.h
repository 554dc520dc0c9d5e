/* SPDX-License-Identifier: MPL-2.0
 * ring.h --
 *
 *      The memory of the log engine: a mapping that outlives the process.
 *
 *      The mapping holds a header, the streams with the sinks that read them,
 *      the lanes with a cursor for each reader of their stream, the sinks, and
 *      the segments.  How many of each, the header says.  A lane is one
 *      thread's way into one stream: a chain of segments that the thread alone
 *      appends to.  Each segment says how far it is filled with complete
 *      records.
 *
 *          lane --first--> segment --next--> segment --next--> segment
 *                             ^ cursor of a slow sink             ^ the thread
 *                                                                   writes here
 *
 *      A position in a lane is the number of the segment in its lane, and an
 *      offset; it only grows.  The end of a segment and the start of the next
 *      are different positions.
 *
 *      Everything here is plain data without pointers: a later process, or a
 *      reader beside the running one, sees the same.
 *
 *      A file is the mapping of one process, or a collection: what several dead
 *      processes left, one mapping behind the other, with holes where nothing
 *      is needed any more.
 */

#ifndef NSD_LOG_RING_H
#define NSD_LOG_RING_H

#include <stdatomic.h>

#include "base/clock.h"
#include "log/ring/sum.h"
#include "nsstring.h"
#include "nstypes.h"

#define NS_RING_VERSION 10u
/* Read as well: it differs only in how spill files are written. */
#define NS_RING_VERSION_PLAIN 9u
/* No mapping has more; what a mapping has, its header says. */
#define NS_RING_MAX_STREAMS 16384
#define NS_RING_MAX_SINKS   16384
#define NS_RING_MAX_LANES   65535
#define NS_RING_NAME        128 /* Bytes of a name, null included. */
#define NS_RING_PATH        1024
#define NS_RING_MASK        256
#define NS_RING_NONE        UINT32_MAX
#define NS_RING_ALIGN(n)    (((n) + 7u) & ~(size_t) 7)

typedef struct NsRingHeader {
    char        magic[8];
    uint32_t    version;
    uint32_t    segmentBytes;
    uint32_t    nSegments;
    uint32_t    maxStreams;
    uint32_t    maxLanes;
    uint32_t    maxSinks;   /* Slots. */
    uint32_t    maxReaders; /* Sinks of one stream. */
    uint32_t    pad;
    uint64_t    bytes;    /* Of the whole mapping. */
    uint64_t    epoch;    /* When it was made; marks all its records. */
    int64_t     pid;      /* Of the process that writes. */
    atomic_uint nStreams; /* Names are complete below these counts. */
    atomic_uint nLanes;
    char        spillDirectory[NS_RING_PATH]; /* "": none.  See spill.h. */
} NsRingHeader;

/*
 * A sink keeps its place among the readers, its rank, as long as it reads.
 */
typedef struct NsRingStream {
    char          name[NS_RING_NAME];
    atomic_ushort isBlocking; /* No record may be dropped. */
    atomic_ushort readers[];  /* maxReaders: a sink's slot + 1; 0: nobody. */
} NsRingStream;

typedef struct NsRingLane {
    uint32_t    stream; /* Constant. */
    atomic_uint first;  /* Oldest segment that a sink may need. */
    uint64_t    pad[7]; /* Lanes do not share a cache line. */
} NsRingLane;

typedef struct NsRingSegment {
    atomic_uint committed; /* Offset behind the last complete record. */
    atomic_uint next;      /* Segment, or NS_RING_NONE. */
    uint32_t    lane;
    atomic_uint prepared; /* Offset of the prepared record; 0: none. */
    /* In the lane, from 1.  A process that ends looks at it while a thread that
     * it cannot stop may use the segment again. */
    atomic_uint_fast64_t number;
    uint64_t             epoch;
    uint32_t             preparedFor; /* It counts while this is committed. */
    uint32_t             pad;
    uint64_t             pad2[3];
} NsRingSegment;

#define NS_RING_WHOLE 0 /* The record is in one piece. */
#define NS_RING_PART  1 /* A piece of a record that needs several. */

typedef struct NsRingRecord {
    uint32_t length;   /* Bytes of this piece. */
    uint32_t checksum; /* Of the bytes, and of the members below. */
    uint64_t sequence; /* Of the record in its lane, from 0. */
    int64_t  time;     /* Wall clock, nanoseconds since 1970. */
    uint64_t total;    /* Bytes of all pieces. */
    uint32_t epoch;    /* Low bits of the header's. */
    uint16_t lane;
    uint16_t severity;
    uint32_t kind; /* NS_RING_WHOLE, NS_RING_PART. */
    uint32_t pad;
} NsRingRecord;

/*
 * The part of a lane that a sink has written.  While a write is under way,
 * ahead is where the cursor will be after it.  All 0 in a new lane.
 */
typedef struct NsRingCursor {
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t ahead;
    atomic_uint_fast64_t begin; /* Sequence of the sink's first record,
                                 * or NS_PLACE_UNKNOWN. */
} NsRingCursor;

typedef enum {
    NS_RING_IDLE,    /* done holds. */
    NS_RING_WRITING, /* The file shows which of them holds. */
    NS_RING_WRITTEN  /* ahead holds. */
} NsRingIntent;

typedef struct NsRingSink {
    char        name[NS_RING_NAME]; /* "": the slot is free. */
    char        type[16];
    char        file[NS_RING_PATH]; /* "": not a file. */
    char        table[NS_RING_NAME];
    char        mask[NS_RING_MASK]; /* What it does not get: see mask.h. */
    atomic_uint intent;             /* NsRingIntent */
    uint32_t    checksum;           /* Of the ends of a write ... */
    uint64_t    offset;             /* ... where ... */
    uint64_t    length;             /* ... and how much. */
    uint64_t    inode;              /* ... into which file. */
    int64_t     slowNanos;          /* Its choice from its streams, */
    int32_t     minSeverity;        /* and in which format; for a process */
    int32_t     format;             /* that no longer has the sink. */
    int32_t     onlyErrors;
    uint32_t    maxSpillKiB;          /* Its limit on disk. */
    int64_t     start;                /* Of the process, */
    int64_t     previous;             /* and the entry before a write: see
                                       * NsLogContext. */
    atomic_uint_fast64_t missing;     /* See NsRingMissing. */
    atomic_uint          hasSpill;    /* NsSpillForm; these: see spill.h. */
    uint32_t             spillNumber; /* Part of the file's name. */
    atomic_uint_fast64_t spillDone;
    atomic_uint_fast64_t spillAhead;
    atomic_uint_fast64_t spillBatch;
    atomic_uint_fast64_t spillEnd;
    atomic_uint_fast64_t nSpilled; /* Records behind spillDone. */
} NsRingSink;

/*
 * A mapping as a process has it.  Constant after creation, but for its file and
 * the lists of lanes.
 */
typedef struct NsRing {
    NsRingHeader      *headerPtr;
    char              *streams;
    NsRingLane        *lanes;
    NsRingCursor      *cursors;
    NsRingSink        *sinks;
    char              *segments;
    size_t             streamBytes; /* Distance of two streams. */
    atomic_uint       *newestLanes; /* By stream; NS_RING_NONE: none. */
    uint32_t          *olderLanes;  /* By lane: the next of the stream. */
    char *_Atomic      path;        /* Its file's; NULL: there is none. */
    struct NsRingFile *filePtr;     /* ring.c; NULL likewise. */
    struct NsRing     *siblingPtr;  /* The next of the same file. */
    int                nDamaged;    /* Parts that were left out. */
} NsRing;

/*
 * Which mappings belong to this server.
 */
typedef struct NsRingKey {
    const char *directory;
    const char *home;
    const char *configFile; /* May be NULL. */
} NsRingKey;

extern NsRingKey nsRingKey; /* Ours; constant after NsLogConfigure. */

/*
 * Once, before other threads are started.
 */
void NsRingInit(void);

/*
 * The text that distinguishes this server from others on this machine.
 */
void NsRingAppendServer(Ns_DString *dsPtr, const NsRingKey *keyPtr);

/*
 * The requirements for a mapping.
 */
typedef struct NsRingNeed {
    int64_t  bytes; /* In all. */
    uint32_t nStreams;
    uint32_t nSinks;
    uint32_t nReaders; /* Sinks that may read one and the same stream;
                        * more where that costs little. */
    uint32_t nLanes;   /* To be expected; more share common ones. */
} NsRingNeed;

/*
 * A new mapping of about the given size, preallocated, mode 0600, locked while
 * this process lives; a smaller one, if the file system is too small.  When
 * there can be none, memory of the process serves, and *reasonPtr is why, else
 * NULL.  Its file gets its name only when all that others rely on is in it.
 * NULL, with *reasonPtr: there is no memory either.
 */
NsRing *NsRingCreate(const NsRingKey *keyPtr, const NsRingNeed *needPtr,
                     const char **reasonPtr);

/*
 * Map the file at path: the first of its mappings, linked with the others.  It
 * is ours, nobody holds it, and all that the functions below rely on has been
 * checked; parts that are damaged have been left out and counted.  NULL: there
 * is nothing to read, and *reasonPtr is why.  Read only: others may own or hold
 * it, and nothing is ever written; to close it again is not for a process that
 * holds it.
 */
NsRing *NsRingOpen(const char *path, bool isReadOnly, const char **reasonPtr);

/*
 * The values of *reasonPtr when another process, or this one, uses the mapping,
 * and when its process died before it had begun.
 */
extern const char nsRingInUse[];
extern const char nsRingEmpty[];

/*
 * The process that uses the mapping at path; 0: none, or that cannot be seen.
 * Not for a process that has it open.
 */
pid_t NsRingHolder(const char *path);

/*
 * The file of the mapping is no longer there, or never was.
 */
bool NsRingIsHomeless(const NsRing *ringPtr);

/*
 * Give it a new file, while it is in use: threads that put something there wait
 * until all of it has been copied.  NULL: done; else why it cannot be.
 */
const char *NsRingMove(NsRing *ringPtr, const NsRingKey *keyPtr);

/*
 * Unmap one mapping.  Clears *ringPtrPtr.  With the last one of a file that is
 * deleted, if isDone was true for each.
 */
void NsRingClose(NsRing **ringPtrPtr, bool isDone);

/*
 * Paths of this server's mappings in the order they were made, those of live
 * processes included.  The caller frees each, and the array.
 */
int NsRingList(const NsRingKey *keyPtr, char ***pathsPtr);

/*
 * Delete what processes left that died while they made a mapping.
 */
void NsRingSweep(const NsRingKey *keyPtr);

/*
 * Bytes of the segments that at least one sink still needs.
 */
size_t NsRingNeededBytes(NsRing *ringPtr);

/*
 * Give back the memory of what no sink needs.  Not for a mapping in use.
 */
void NsRingPunch(NsRing *ringPtr);

/*
 * Put what is needed of these mappings, linked as siblings or not, into one new
 * file, which the caller opens.  The path, for the caller to free; NULL: errno
 * says why not.
 */
char *NsRingCollect(const NsRingKey *keyPtr, NsRing *const *rings, int n);

/*
 * Some sink needs something of the mapping.
 */
bool NsRingIsNeeded(const NsRing *ringPtr);

static inline uint64_t
NsRingPosition(uint64_t number, uint32_t offset)
{
    return number << 16 | offset;
}

static inline uint64_t
NsRingNumberOf(uint64_t position)
{
    return position >> 16;
}

/*
 * Parts of a mapping.
 */
static inline NsRingSegment *
NsRingSegmentAt(const NsRing *ringPtr, uint32_t segment)
{
    return (NsRingSegment *) (void *) (ringPtr->segments
                                       + (size_t) segment
                                           * ringPtr->headerPtr->segmentBytes);
}

/*
 * Whether a slot is in use, and by a sink of that name; free it.  One thread
 * may free a slot of an earlier process while another looks for a name.
 */
static inline bool
NsRingSinkIsUsed(const NsRingSink *slotPtr)
{
    return __atomic_load_n(&slotPtr->name[0], __ATOMIC_ACQUIRE) != '\0';
}

static inline bool
NsRingSinkHasName(const NsRingSink *slotPtr, const char *name)
{
    return name[0] != '\0'
        && __atomic_load_n(&slotPtr->name[0], __ATOMIC_ACQUIRE) == name[0]
        && STREQ(slotPtr->name + 1, name + 1);
}

static inline void
NsRingSinkUnname(NsRingSink *slotPtr)
{
    __atomic_store_n(&slotPtr->name[0], '\0', __ATOMIC_RELEASE);
}

static inline NsRingSink *
NsRingSinkAt(const NsRing *ringPtr, int sink)
{
    return &ringPtr->sinks[sink];
}

static inline NsRingStream *
NsRingStreamAt(const NsRing *ringPtr, uint32_t stream)
{
    return (NsRingStream *) (void *) (ringPtr->streams
                                      + (size_t) stream * ringPtr->streamBytes);
}

/*
 * The lanes of a stream, the newest first; NS_RING_NONE: no more.  Any thread,
 * while one adds some.  Of a mapping that is open read only, those that it had
 * by then.
 */
static inline uint32_t
NsRingNewestLane(const NsRing *ringPtr, uint32_t stream)
{
    return atomic_load_explicit(&ringPtr->newestLanes[stream],
                                memory_order_acquire);
}

static inline uint32_t
NsRingOlderLane(const NsRing *ringPtr, uint32_t lane)
{
    return ringPtr->olderLanes[lane];
}

/*
 * Add the lane to the list of its stream.  One thread at a time.
 */
void NsRingAddLane(NsRing *ringPtr, uint32_t lane);

/*
 * The sink's rank among the readers of a stream; -1: it is none.  NULL: the
 * first that is free; -1: none is.
 */
int NsRingRank(const NsRing *ringPtr, uint32_t stream,
               const NsRingSink *slotPtr);

static inline NsRingCursor *
NsRingCursorAt(const NsRing *ringPtr, uint32_t lane, int rank)
{
    return &ringPtr->cursors[(size_t) lane * ringPtr->headerPtr->maxReaders
                             + (uint32_t) rank];
}

/*
 * The same of a sink; NULL: it does not read the lane.
 */
NsRingCursor *NsRingCursorOf(const NsRing *ringPtr, uint32_t lane,
                             const NsRingSink *slotPtr);

/*
 * The number of the lane's first segment of which some reader has not written
 * all; UINT64_MAX: nobody reads it.
 */
uint64_t NsRingNeededFrom(const NsRing *ringPtr, uint32_t lane);

static inline NsRingRecord *
NsRingRecordAt(NsRingSegment *segmentPtr, uint32_t offset)
{
    return (NsRingRecord *) (void *) ((char *) segmentPtr + offset);
}

/*
 * The name of the lane's stream; "" if that is damaged.
 */
const char *NsRingStreamOf(const NsRing *ringPtr, uint32_t lane);

/*
 * How many records the sink has dropped and not reported.  The number is stored
 * with its complement; otherwise it is damaged, and counts as 0.
 */
static inline uint64_t
NsRingMissing(const NsRingSink *slotPtr)
{
    uint64_t missing = atomic_load_explicit(&slotPtr->missing,
                                            memory_order_relaxed);
    uint32_t n = (uint32_t) (missing >> 32);

    return (uint32_t) missing == ~n ? n : 0;
}

static inline void
NsRingSetMissing(NsRingSink *slotPtr, uint64_t n)
{
    uint32_t most = (uint32_t) MIN(n, UINT32_MAX);

    atomic_store_explicit(&slotPtr->missing,
                          (uint64_t) most << 32 | (uint32_t) ~most,
                          memory_order_relaxed);
}

/*
 * The checksum of a record whose bytes have the given sum.
 */
static inline uint32_t
NsRingChecksum(const NsRingRecord *recordPtr, uint64_t sum)
{
    uint64_t a = sum ^ recordPtr->sequence * UINT64_C(0xc2b2ae3d27d4eb4f);

    a ^= (uint64_t) recordPtr->time ^ recordPtr->total << 17;
    a ^= (uint64_t) recordPtr->epoch << 32 | (uint64_t) recordPtr->lane << 16
        | recordPtr->severity;
    a ^= (uint64_t) recordPtr->kind << 48 ^ recordPtr->length;
    a *= UINT64_C(0x9e3779b185ebca87);
    return (uint32_t) (a >> 32);
}

/*
 * The record, which lies within its segment, has its checksum.
 */
bool NsRingIsIntact(const NsRingRecord *recordPtr);

/*
 * Append what threads of a process that died had prepared.  Not for a mapping
 * in use.
 */
void NsRingCommitPrepared(NsRing *ringPtr);

/*
 * When a record is made: wall clock, nanoseconds since 1970.
 */
static inline int64_t
NsLogClock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * NS_STAMP_SECOND + now.tv_nsec;
}

#endif

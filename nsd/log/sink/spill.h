/*
 * spill.h --
 *
 *      Records that a sink has not written yet, moved from the log memory to a
 *      file.
 *
 *      The file is a queue: new records come after all that is there, and the
 *      sink reads it from the beginning, before anything that is still in
 *      memory.  The sink's slot in the mapping says what counts of the file, so
 *      a later process finds what this one left:
 *
 *          0 ..... spillDone ..... spillAhead ..... spillBatch ..... spillEnd
 *            written         in the sink's          not read    the last
 *                            buffer                             addition
 *
 *      Bytes behind spillEnd do not count.  The records of the last addition
 *      may still be in the mapping before the sink's cursors: NsSpillOpen moves
 *      the cursors on.  spillAhead holds while the slot says that a write is
 *      under way, like the cursors' `ahead`.
 *
 *      The queue stands behind a head that says the same once more, for the
 *      case that the mapping is lost and the file is not; see spillhead.h.
 *
 *      One thread at a time uses a spill file; see bound.h.
 */

#ifndef NSD_LOG_SPILL_H
#define NSD_LOG_SPILL_H

#include "log/sink/spillhead.h"

/*
 * A record in the file, in one piece; its bytes follow.
 */
typedef struct NsSpillFrame {
    uint64_t     start;  /* The record's position in its lane, */
    uint64_t     next;   /* and the one behind it. */
    NsRingRecord record; /* kind and pad as follows. */
} NsSpillFrame;

/* Kinds besides NS_RING_WHOLE: the bytes are a structure of the sink's. */
#define NS_SPILL_NOTE 2u
/* In pad: the sink's settings have let the record pass. */
#define NS_SPILL_JUDGED 1u

typedef struct NsSpill {
    NsRing     *ringPtr; /* Constant, as what follows. */
    NsRingSink *slotPtr;
    char       *path;
    int         fd;
    off_t       base; /* The queue's place in the file. */

    NsSpillHeader head;
    bool          cannotPunch;
    uint64_t      end;   /* See above. */
    uint64_t      read;  /* Of the next frame; before it: read. */
    uint64_t      freed; /* The disk has nothing before it. */
    uint64_t      nRead; /* Records before it and behind spillDone. */

    char    *out; /* An addition. */
    size_t   nOut;
    size_t   outRoom;
    uint64_t nOutRecords;
    char    *in; /* A part of the file. */
    size_t   nIn;
    size_t   inRoom;
    uint64_t inStart;

    bool           *isKept;   /* By lane, and the file with these records; */
    struct NsSpill *keptPtr;  /* see NsSpillKeep. */
    bool            isOfKept; /* It is such a one: the slot is its own. */
} NsSpill;

/*
 * A new, empty file for the slot of the present mapping; or the file that the
 * slot of an earlier process names.  NULL: errno says why.
 */
NsSpill *NsSpillCreate(NsRing *ringPtr, NsRingSink *slotPtr);
NsSpill *NsSpillOpen(NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * To look at the file only, which others may use, change, and damage.  At path,
 * if that is not NULL.  Refresh: look at what the slot says by now.
 */
NsSpill *NsSpillOpenToLook(NsRing *ringPtr, NsRingSink *slotPtr,
                           const char *path);
void     NsSpillRefresh(NsSpill *spillPtr);

/*
 * Before a file of an earlier process is read: records of some lanes are to
 * outlive it.  They go into another file, which takes its place when it is
 * deleted; until then that does not count, and a process that begins again
 * makes it again. *hasOthersPtr: there is something else in the file.  If not,
 * it may as well stay as it is.  False: errno tells why this cannot be.
 */
typedef bool NsSpillKeepProc(const NsRing *ringPtr, uint32_t lane);
bool         NsSpillKeep(NsSpill *spillPtr, NsSpillKeepProc *isKept,
                         bool *hasOthersPtr);

/*
 * The record is one of those.
 */
static inline bool
NsSpillIsKept(const NsSpill *spillPtr, const NsSpillFrame *framePtr)
{
    return spillPtr->isKept != NULL && framePtr->record.kind == NS_RING_WHOLE
        && spillPtr->isKept[framePtr->record.lane];
}

/*
 * The slot has no file now, except one with the records to be kept; other
 * records that were not read are discarded.
 */
void NsSpillDelete(NsSpill **spillPtrPtr);

/*
 * Leave the file as it is.
 */
void NsSpillClose(NsSpill **spillPtrPtr);

/*
 * Delete the file of a slot of an earlier process, if it has one.
 */
void NsSpillDeleteOf(NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * How many records that are not written a process left there: about, if it was
 * killed in the midst of it.
 */
uint64_t NsSpillCount(const NsRingSink *slotPtr);

/*
 * Collect an addition; record.length, pad and kind hold, and the checksum is
 * filled in.
 */
void NsSpillAdd(NsSpill *spillPtr, const NsSpillFrame *framePtr,
                const void *bytes);

/*
 * Write the addition.  isRead: the sink has these records in its buffer, has
 * read all of the file, and the slot's cursors may be moved after this.  False:
 * errno says why, and there is no addition.
 */
bool NsSpillWrite(NsSpill *spillPtr, bool isRead);

/*
 * The next frame, with its bytes behind it; NULL: all is read, or what follows
 * is damaged, then IsDamaged.
 */
const NsSpillFrame *NsSpillHead(NsSpill *spillPtr);
bool                NsSpillIsDamaged(const NsSpill *spillPtr);

/*
 * Go behind the frame at the head; behind all that there is, maybe damaged.
 */
void NsSpillAdvance(NsSpill *spillPtr, const NsSpillFrame *headPtr);
void NsSpillSkip(NsSpill *spillPtr);

/*
 * How many records can be read.
 */
uint64_t NsSpillUnread(const NsSpill *spillPtr);

/*
 * All that was read is written.
 */
void NsSpillNoteDone(NsSpill *spillPtr);

static inline bool
NsSpillIsDone(const NsSpill *spillPtr)
{
    return atomic_load(&spillPtr->slotPtr->spillDone) == spillPtr->end;
}

/*
 * Stop where it is not as it has to be.
 */
void NsSpillCheck(const NsSpill *spillPtr);

/*
 * The room that the file takes on disk, with the addition.
 */
static inline uint64_t
NsSpillBytes(const NsSpill *spillPtr)
{
    return spillPtr->end + spillPtr->nOut - spillPtr->freed;
}

#endif

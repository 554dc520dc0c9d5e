/* SPDX-License-Identifier: MPL-2.0
 * spill.h --
 *
 *      Records that a sink has not written yet, moved from the log memory to a
 *      file.
 *
 *      The file is a queue: new records come after all that is there, and the
 *      sink reads it from the beginning, before anything that is still in
 *      memory.  The sink's slot in the mapping says which part of the file
 *      counts, so a later process finds what this one left:
 *
 *          0 ..... spillDone ..... spillAhead ..... spillBatch ..... spillEnd
 *            written         in the sink's          not read    the last
 *                            buffer                             addition
 *
 *      There are three forms, of which the slot names one.  In a plain file,
 *      which only earlier versions make, frames follow each other, and a
 *      position is an offset in bytes.  Otherwise the frames are in blocks, the
 *      parts of which may be compressed; see spillpack.h.  A position then is
 *      the offset of the block, and the number of the frame in it: see
 *      NsSpillOffset.  Positions only grow.
 *
 *      Bytes behind spillEnd do not count.  The records of the last addition
 *      may still be ahead of the sink's cursors in the mapping: NsSpillOpen
 *      moves the cursors on.  Like the cursors' `ahead`, spillAhead is valid
 *      while the slot says that a write is under way.
 *
 *      The queue comes after a head that repeats this information, in case the
 *      mapping is lost but the file is not; see spillhead.h.
 *
 *      One thread at a time uses a spill file; see bound.h.
 */

#ifndef NSD_LOG_SPILL_H
#define NSD_LOG_SPILL_H

#include "log/sink/spillhead.h"
#include "log/sink/spillpack.h"

/*
 * How a file is written: hasSpill in its slot.  A file in blocks has compressed
 * ones only if it says so, so a build without the library knows what it cannot
 * read.
 */
typedef enum {
    NS_SPILL_NONE,
    NS_SPILL_PLAIN,
    NS_SPILL_BLOCKS,
    NS_SPILL_COMPRESSED
} NsSpillForm;

typedef struct NsSpill {
    NsRing     *ringPtr; /* Constant, as are the next five. */
    NsRingSink *slotPtr;
    char       *path;
    int         fd;
    off_t       base; /* Where the queue begins in the file. */
    NsSpillForm form;

    NsSpillHeader head;
    bool          cannotPunch;
    uint64_t      end;   /* This and the next two: see above. */
    uint64_t      read;  /* Of the next frame to read. */
    uint64_t      freed; /* An offset: no disk space is used before it. */
    uint64_t      nRead; /* Records between spillDone and `read`. */

    char    *out; /* The addition being collected. */
    size_t   nOut;
    size_t   outRoom;
    uint64_t nOutRecords;
    char    *in; /* The part of the file that was read last. */
    size_t   nIn;
    size_t   inRoom;
    uint64_t inStart; /* An offset. */

    /* In blocks: */
    NsSpillPacker   *packerPtr;   /* NULL: nothing has been written, */
    NsSpillUnpacker *unpackerPtr; /* or read. */
    const char      *frames;      /* Of the block read last; NULL: none. */
    size_t           nFrameBytes;
    size_t           frameAt;       /* Among them: the one */
    uint64_t         framePosition; /* at this position. */
    uint64_t         frameEnd;      /* The offset behind the block. */

    bool           *isKept;   /* By lane; their records are in */
    struct NsSpill *keptPtr;  /* this file; see NsSpillKeep. */
    bool            isOfKept; /* This is such a file: its slot is its own. */
} NsSpill;

/*
 * Create an empty file for a slot of the present mapping, or open the file that
 * the slot of an earlier process names.  NULL: errno says why; ENOTSUP: the
 * file is compressed, and this build has no library for that.
 */
NsSpill *NsSpillCreate(NsRing *ringPtr, NsRingSink *slotPtr);
NsSpill *NsSpillOpen(NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * Open the file only to look at it; others may use, change or damage it.  Path,
 * if not NULL, replaces the slot's.  Refresh: update the view from the slot.
 */
NsSpill *NsSpillOpenToLook(NsRing *ringPtr, NsRingSink *slotPtr,
                           const char *path);
void     NsSpillRefresh(NsSpill *spillPtr);

/*
 * Call before reading a file of an earlier process if the records of some lanes
 * are to outlive it.  They are copied to another file, which takes its place
 * when it is deleted; until then the copy does not count, and a process that
 * starts again makes a new one.  *hasOthersPtr: the file holds other records,
 * too.  If not, it can just stay.  False: errno says why this failed.
 */
typedef bool NsSpillKeepProc(const NsRing *ringPtr, uint32_t lane);
bool         NsSpillKeep(NsSpill *spillPtr, NsSpillKeepProc *isKept,
                         bool *hasOthersPtr);

/*
 * The record is one of those to be kept.
 */
static inline bool
NsSpillIsKept(const NsSpill *spillPtr, const NsSpillFrame *framePtr)
{
    return spillPtr->isKept != NULL && framePtr->record.kind == NS_RING_WHOLE
        && spillPtr->isKept[framePtr->record.lane];
}

/*
 * Delete the slot's file.  Only a file with kept records remains; other unread
 * records are discarded.
 */
void NsSpillDelete(NsSpill **spillPtrPtr);

/*
 * Close the file and leave it as it is.
 */
void NsSpillClose(NsSpill **spillPtrPtr);

/*
 * Delete the file of a slot of an earlier process, if it has one.
 */
void NsSpillDeleteOf(NsRing *ringPtr, NsRingSink *slotPtr);

/*
 * How many unwritten records a process left there; approximate if it was killed
 * while spilling.
 */
uint64_t NsSpillCount(const NsRingSink *slotPtr);

/*
 * Collect a frame for the next addition.  The caller sets record.length, pad
 * and kind; the checksum is filled in here.
 */
void NsSpillAdd(NsSpill *spillPtr, const NsSpillFrame *framePtr,
                const void *bytes);

/*
 * Write the addition. isRead: the sink has these records in its buffer, has
 * read the whole file, and the slot's cursors may be moved afterwards.  False:
 * errno says why, and the addition is dropped.
 */
bool NsSpillWrite(NsSpill *spillPtr, bool isRead);

/*
 * The next frame, followed by its bytes.  NULL: all is read, or, if IsDamaged,
 * what follows is damaged.
 */
const NsSpillFrame *NsSpillHead(NsSpill *spillPtr);
bool                NsSpillIsDamaged(const NsSpill *spillPtr);

/*
 * Advance: move past the frame at the head.  SkipDamaged: move past what is
 * damaged: a block, if its head is intact, or else all that is left.  Returns
 * how many records that were.
 */
void     NsSpillAdvance(NsSpill *spillPtr, const NsSpillFrame *headPtr);
uint64_t NsSpillSkipDamaged(NsSpill *spillPtr);

/*
 * How many records are left to read.
 */
uint64_t NsSpillUnread(const NsSpill *spillPtr);

/*
 * All that was read has been written.
 */
void NsSpillNoteDone(NsSpill *spillPtr);

static inline bool
NsSpillIsDone(const NsSpill *spillPtr)
{
    return atomic_load(&spillPtr->slotPtr->spillDone) == spillPtr->end;
}

/*
 * Assert that the structure is consistent.
 */
void NsSpillCheck(const NsSpill *spillPtr);

/*
 * The offset of a position in the queue of a file of that form.
 */
static inline uint64_t
NsSpillOffset(unsigned form, uint64_t position)
{
    return form == NS_SPILL_BLOCKS || form == NS_SPILL_COMPRESSED
        ? position >> 16
        : position;
}

/*
 * Bytes on disk that a slot's sink has not written.
 */
static inline uint64_t
NsSpillBytesLeft(const NsRingSink *slotPtr)
{
    unsigned form = atomic_load(&slotPtr->hasSpill);
    uint64_t end = NsSpillOffset(form, atomic_load(&slotPtr->spillEnd));
    uint64_t done = NsSpillOffset(form, atomic_load(&slotPtr->spillDone));

    return form == NS_SPILL_NONE ? 0 : end - MIN(end, done);
}

/*
 * Disk space that the file takes, including the addition, which may turn out
 * smaller when it is written.
 */
static inline uint64_t
NsSpillBytes(const NsSpill *spillPtr)
{
    return NsSpillOffset(spillPtr->form, spillPtr->end) - spillPtr->freed
        + (spillPtr->nOut > 0 ? spillPtr->nOut + NS_SPILL_BLOCK_EXTRA : 0);
}

/*
 * Whether one more record of so many bytes fits into a file of at most that
 * many.
 */
typedef enum {
    NS_SPILL_FITS,
    NS_SPILL_WRITE_FIRST, /* It may fit when the addition is written. */
    NS_SPILL_FULL
} NsSpillRoom;
NsSpillRoom NsSpillRoomFor(const NsSpill *spillPtr, uint64_t recordBytes,
                           uint64_t most);

#endif

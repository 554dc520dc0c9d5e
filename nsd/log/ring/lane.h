/* SPDX-License-Identifier: MPL-2.0
 * lane.h --
 *
 *      The writing side of the mapping: lanes of threads, and free segments.
 *
 *      A thread takes a lane for each stream that it writes to and keeps it
 *      until it ends; then another thread continues where it stopped.  Putting
 *      a record into a lane takes no lock.  A thread that finds no free lane
 *      shares the stream's common one, which has a lock.
 */

#ifndef NSD_LOG_LANE_H
#define NSD_LOG_LANE_H

#include "log/ring/ring.h"
#include "nslogstream.h"

/*
 * The share of the last memory that a record may use.
 */
typedef enum {
    NS_LANE_DETAIL, /* Debug messages: the first to go. */
    NS_LANE_NORMAL,
    NS_LANE_CRITICAL /* Errors and audit records. */
} NsLaneClass;

typedef enum {
    NS_OVERFLOW_BLOCK,
    NS_OVERFLOW_DROPNEWEST,
    NS_OVERFLOW_SAMPLE
} NsOverflow;

typedef struct NsLaneRecord {
    int severity;
    NsLaneClass class;
    NsOverflow          overflow;
    size_t              nudgeBytes; /* The bell rings after this number. */
    int64_t             time;
    const struct iovec *pieces;
    int                 nPieces;
    size_t              length; /* Of all pieces. */
} NsLaneRecord;

/*
 * Use the mapping, which lives as long as the process.  Before any of the rest.
 */
void NsLaneInit(NsRing *ringPtr);

/*
 * Append a record to the calling thread's lane for the stream with that index.
 * False: there was no memory, and the overflow rule dropped it.
 */
bool NsLanePut(int stream, const NsLaneRecord *recordPtr);

/*
 * Prepare a record that counts only if the process dies before this thread
 * puts its next one into the stream, which replaces it.  False: this is not
 * possible, because the thread has no lane of its own, memory is short, or the
 * record is too long.
 */
bool NsLanePrepare(int stream, const NsLaneRecord *recordPtr);

/*
 * The bytes that this thread has prepared in the stream; NULL: none.  The
 * record that replaces it may be made of pieces of them.
 */
const void *NsLanePrepared(int stream, size_t *lengthPtr);

/*
 * Withdraw the record that this thread has prepared in the stream.
 */
void NsLaneForget(int stream);

/*
 * Each thread has a mark for each stream, which is not set at first.  Set or
 * clear it; returns what it was.
 */
bool NsLaneMark(int stream, bool isMarked);

/*
 * Records longer than this cannot be put: a quarter of the memory, at most
 * 16 MiB.  Constant after NsLaneInit.
 */
extern size_t nsLaneMaxRecord;

/*
 * The lane's first segments up to, not including, the one with that number in
 * the lane are no longer needed.
 */
void NsLaneFree(uint32_t lane, uint64_t number);

/*
 * The number of a lane's newest segment.
 */
uint64_t NsLaneEnd(uint32_t lane);

/*
 * The number of the next record of a lane.
 */
uint64_t NsLaneSequence(uint32_t lane);

/*
 * How many records all lanes of a stream have taken since its reader of that
 * rank began; of a lane of which that is unknown, none.
 */
uint64_t NsLaneRecords(int stream, int rank);

/*
 * Free segments below a quarter, a sixteenth.
 */
bool NsLaneIsTight(void);
bool NsLaneIsFull(void);

/*
 * How much of the memory is in use; all 0 before NsLaneInit.
 */
typedef struct NsLaneUsage {
    uint32_t nLanes; /* Taken so far. */
    uint32_t segmentBytes;
    uint32_t nSegments;
    uint32_t nUsed;    /* Segments. */
    uint32_t mostUsed; /* Segments at a time, so far. */
} NsLaneUsage;

void NsLaneGetUsage(NsLaneUsage *usagePtr);

/*
 * Guards chains against NsLaneFree while they are walked.
 */
void NsLaneLockChains(void);
void NsLaneUnlockChains(void);

/*
 * True in threads that empty the lanes; these never wait for memory.
 */
void NsLaneSetDrainer(bool isDrainer);

#endif

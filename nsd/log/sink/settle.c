/* SPDX-License-Identifier: MPL-2.0
 * settle.c --
 *
 *      How far an interrupted write got.
 *
 *      The records in doubt are those between the slot's cursors and where the
 *      cursors would have been after the write.  A batch need not be ordered by
 *      time, and lines of other processes may be between its parts, so each
 *      record is looked for separately: behind the one found last, or at the
 *      start of a line.  The process may have died in the middle of a line.  At
 *      the very end of the file such a line is completed, even if the file has
 *      become a backup.  If others have continued it, it is left as it is, and
 *      the whole record is written again.
 */

#include "log/sink/settle.h"

#include "base/assert.h"
#include "base/writeall.h"
#include "log/sink/deliver.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkfd.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkstate.h"
#include "log/sink/sinktable.h"
#include "log/sink/spill.h"
#include "log/stream/system.h"
#include "log/stream/unit.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

/* How far from the start of a write to look for it. */
#define SEARCH_BYTES ((uint64_t) 64 << 20)
/*
 * Within this distance also in the middle of lines, if the record is long
 * enough not to be confused with others'.
 */
#define CLOSE_BYTES  ((size_t) 1 << 20)
#define UNIQUE_BYTES 32

/*
 * What the file has at the place of the write.
 */
typedef struct Region {
    int     fd; /* -1: the file does not exist. */
    char   *bytes;
    size_t  length;
    size_t  next;   /* Behind the record that was found last. */
    bool    isEnd;  /* The region extends to the end of the file, */
    bool    isOpen; /* and the sink has this file open. */
    size_t  nLines;
    size_t  nSlots;  /* A power of two. */
    size_t *slots;   /* Start of line + 1, by hash; 0: free. */
    bool   *isTaken; /* By slot: a record was found there. */
} Region;

/*
 * A record in doubt: its place in the mapping, and whether the file has it.
 */
typedef struct Doubt {
    NsPlace       place;
    NsSpillFrame *framePtr; /* The record itself, if it came from disk; or
                             * NULL. */
    bool    isThere;
    int64_t previous; /* Time of the entry before it; */
    int64_t time;     /* of it, if it is an entry of the system log. */
} Doubt;

typedef struct Doubts {
    Doubt *all; /* In the order of delivery. */
    size_t n;
    size_t room;
} Doubts;

static void   AdvanceOnDisk(Ns_LogSink sink, Doubts *doubtsPtr);
static void   Advance(Ns_LogSink sink, Doubts *doubtsPtr);
static bool   IsInDoubt(const NsSinkLane *lanePtr);
static Doubt *AddDoubt(Doubts *doubtsPtr);
static void   FreeDoubts(Doubts *doubtsPtr);
static bool   LoadRegion(Region *regionPtr, Ns_LogSink sink);
static void   FreeRegion(Region *regionPtr);
static int    OpenByInode(const char *file, uint64_t inode);
static bool   HasInode(int fd, uint64_t inode, struct stat *stPtr);
static bool   ReadAt(int fd, char *bytes, size_t length, uint64_t offset);
static void   IndexLines(Region *regionPtr);
static size_t SlotOf(const Region *regionPtr, const char *line, size_t length);
static size_t LineLength(const char *bytes, size_t length);
static bool   IsWholeBatch(const Region *regionPtr, const NsRingSink *slotPtr);
static void   Compare(Ns_LogSink sink, Region *regionPtr, Doubts *doubtsPtr);
static const char *FormatDoubt(Ns_LogSink sink, Doubt *doubtPtr,
                               size_t *lengthPtr);
static bool        RecordOf(Ns_LogSink sink, const Doubt *doubtPtr,
                            Ns_LogStream *streamPtr, Ns_LogRecord *recordPtr);
static bool        Find(Region *regionPtr, const char *bytes, size_t length);
static bool   StandsAt(const Region *regionPtr, size_t at, const char *bytes,
                       size_t length);
static void   Complete(Ns_LogSink sink, const Region *regionPtr,
                       Doubts *doubtsPtr);
static size_t BegunBytes(const Region *regionPtr, const char *bytes,
                         size_t length);
static bool PutRest(Ns_LogSink sink, const Region *regionPtr, const char *bytes,
                    size_t length);
static void PutRaw(Ns_LogSink sink, const char *bytes, size_t length);
static bool Deliver(Ns_LogSink sink, const Doubts *doubtsPtr, uint64_t *nPtr);

bool
NsSettleWrite(Ns_LogSink sink, uint64_t *nPtr)
{
    NsSinkSettings settings = sink->settings;
    NsRingSink    *slotPtr = sink->reader->slotPtr;
    Region         region = {.fd = -1};
    Doubts         doubts = {0};
    bool           isOk = true;

    NsAssertLocked(&sink->lock);
    NsAssert(sink->reader->ringPtr != NsSinkRing());
    if (atomic_load(&slotPtr->intent) == NS_RING_IDLE) {
        return true;
    }
    AdvanceOnDisk(sink, &doubts);
    Advance(sink, &doubts);
    if (atomic_load(&slotPtr->intent) == NS_RING_WRITTEN) {
        for (size_t i = 0; i < doubts.n; i++) {
            doubts.all[i].isThere = true;
        }
    } else if (!LoadRegion(&region, sink)) {
        int reason = errno;

        FreeRegion(&region);
        FreeDoubts(&doubts);
        errno = reason;
        return false;
    } else {
        /* Make it one write, so that the cursors are right for all of it. */
        sink->settings.bufferBytes = SIZE_MAX;
        sink->settings.bufferLines = 0;
        sink->settings.rotateBytes = 0;
        /* The file alone shows which records were taken. */
        sink->settings.sample = 1;
        sink->settings.maxRate = 0;
        Compare(sink, &region, &doubts);
        Complete(sink, &region, &doubts);
        sink->settings.sample = settings.sample;
        sink->settings.maxRate = settings.maxRate;
    }
    isOk = Deliver(sink, &doubts, nPtr);
    sink->settings.bufferBytes = settings.bufferBytes;
    sink->settings.bufferLines = settings.bufferLines;
    sink->settings.rotateBytes = settings.rotateBytes;
    isOk = isOk && NsDeliverFlush(sink);
    FreeRegion(&region);
    FreeDoubts(&doubts);
    return isOk;
}

void
NsSettleCursor(NsRing *ringPtr, NsRingSink *slotPtr, int64_t lane,
               int64_t position)
{
    /*
     * The target may report anything.  Records begin at multiples of 8; a
     * position one byte further is that of a record which had been on disk.
     */
    bool isOurs = lane >= 0 && lane < NS_RING_MAX_LANES && position >= 0
        && position % 8 <= 1;
    NsRingCursor *cursorPtr = !isOurs
        ? NULL
        : NsRingCursorOf(ringPtr, (uint32_t) lane, slotPtr);

    if (cursorPtr != NULL) {
        atomic_store(&cursorPtr->ahead, (uint64_t) position);
        if (position % 8 == 0
            && (uint64_t) position > atomic_load(&cursorPtr->done)) {
            atomic_store(&cursorPtr->done, (uint64_t) position);
        }
    }
}

/*
 * Pass the records that were in the spill file: they came first.
 */
static void
AdvanceOnDisk(Ns_LogSink sink, Doubts *doubtsPtr)
{
    NsSpill            *spillPtr = sink->loan->spillPtr;
    const NsSpillFrame *headPtr;
    uint64_t            ahead = atomic_load(&sink->reader->slotPtr->spillAhead);

    while (spillPtr != NULL && spillPtr->read < ahead
           && (headPtr = NsSpillHead(spillPtr)) != NULL) {
        if (headPtr->record.kind == NS_RING_WHOLE
            && !NsSpillIsKept(spillPtr, headPtr)) {
            size_t size = sizeof(*headPtr) + headPtr->record.length;
            Doubt *doubtPtr = AddDoubt(doubtsPtr);

            doubtPtr->framePtr = ns_malloc(size);
            memcpy(doubtPtr->framePtr, headPtr, size);
        }
        NsSpillAdvance(spillPtr, headPtr);
    }
}

/*
 * Pass the records in doubt that are in the mapping.
 */
static void
Advance(Ns_LogSink sink, Doubts *doubtsPtr)
{
    NsMerge  merge = {NULL, 0, 0};
    NsPlace *placePtr;

    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        if (IsInDoubt(sink->reader->lanes[i])) {
            NsMergeAdd(&merge, &sink->reader->lanes[i]->place);
        }
    }
    while ((placePtr = NsMergeFirst(&merge)) != NULL) {
        AddDoubt(doubtsPtr)->place = *placePtr;
        NsSinkNoteMoved(sink, NsSinkLaneOf(placePtr));
        NsPlaceAdvance(sink->reader->ringPtr, placePtr);
        if (IsInDoubt(NsSinkLaneOf(placePtr))) {
            NsMergeFirstMoved(&merge);
        } else {
            NsMergeFirstEnded(&merge);
        }
    }
    NsMergeFree(&merge);
}

static bool
IsInDoubt(const NsSinkLane *lanePtr)
{
    return lanePtr->place.headPtr != NULL
        && NsPlacePosition(&lanePtr->place)
        < atomic_load(&lanePtr->cursorPtr->ahead);
}

static Doubt *
AddDoubt(Doubts *doubtsPtr)
{
    Doubt *doubtPtr;

    if (doubtsPtr->n == doubtsPtr->room) {
        doubtsPtr->room = MAX(2 * doubtsPtr->room, 256);
        doubtsPtr->all = ns_realloc(doubtsPtr->all,
                                    doubtsPtr->room * sizeof(Doubt));
    }
    doubtPtr = &doubtsPtr->all[doubtsPtr->n++];
    *doubtPtr = (Doubt){.isThere = false};
    return doubtPtr;
}

static void
FreeDoubts(Doubts *doubtsPtr)
{
    for (size_t i = 0; i < doubtsPtr->n; i++) {
        ns_free(doubtsPtr->all[i].framePtr);
    }
    ns_free(doubtsPtr->all);
}

/*
 * False: the file exists but cannot be read.  One that is gone counts as empty.
 */
static bool
LoadRegion(Region *regionPtr, Ns_LogSink sink)
{
    const NsRingSink *slotPtr = sink->reader->slotPtr;
    struct stat       st;
    bool              isOk = true;

    regionPtr->fd = OpenByInode(slotPtr->file, slotPtr->inode);
    if (regionPtr->fd < 0) {
        return errno == ENOENT || errno == ENOTDIR;
    }
    if (HasInode(regionPtr->fd, slotPtr->inode, &st)
        && (uint64_t) st.st_size > slotPtr->offset) {
        uint64_t most = SEARCH_BYTES + MIN(slotPtr->length, SEARCH_BYTES);

        regionPtr->length = (size_t)
            MIN((uint64_t) st.st_size - slotPtr->offset, most);
        regionPtr->isEnd = slotPtr->offset + regionPtr->length
            == (uint64_t) st.st_size;
        regionPtr->isOpen = sink->target->fd >= 0
            && HasInode(sink->target->fd, slotPtr->inode, &st);
        regionPtr->bytes = ns_malloc(regionPtr->length);
        isOk = ReadAt(regionPtr->fd, regionPtr->bytes, regionPtr->length,
                      slotPtr->offset);
    }
    if (isOk) {
        IndexLines(regionPtr);
    }
    return isOk;
}

static void
FreeRegion(Region *regionPtr)
{
    if (regionPtr->fd >= 0) {
        close(regionPtr->fd);
    }
    ns_free(regionPtr->bytes);
    ns_free(regionPtr->slots);
    ns_free(regionPtr->isTaken);
}

/*
 * The file may have been renamed to a backup in the same directory.
 */
static int
OpenByInode(const char *file, uint64_t inode)
{
    const char    *name = strrchr(file, '/');
    struct stat    st;
    struct dirent *entPtr;
    Ns_DString     path;
    DIR           *dir;
    int            fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if ((fd >= 0 && HasInode(fd, inode, &st)) || name == NULL) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    } else if (errno != ENOENT) {
        return -1;
    }
    fd = -1;
    name++;
    Ns_DStringInit(&path);
    Ns_DStringNAppend(&path, file, (int) (name - file));
    dir = opendir(Ns_DStringValue(&path));
    while (dir != NULL && fd < 0 && (entPtr = readdir(dir)) != NULL) {
        if (strncmp(entPtr->d_name, name, strlen(name)) == 0
            && (uint64_t) entPtr->d_ino == inode) {
            Ns_DStringAppend(&path, entPtr->d_name);
            fd = open(Ns_DStringValue(&path),
                      O_RDONLY | O_CLOEXEC | O_NONBLOCK);
            Ns_DStringSetLength(&path, (int) (name - file));
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    Ns_DStringFree(&path);
    if (fd < 0) {
        errno = ENOENT;
    }
    return fd;
}

static bool
HasInode(int fd, uint64_t inode, struct stat *stPtr)
{
    return fstat(fd, stPtr) == 0 && S_ISREG(stPtr->st_mode)
        && (uint64_t) stPtr->st_ino == inode;
}

static bool
ReadAt(int fd, char *bytes, size_t length, uint64_t offset)
{
    size_t got = 0;

    while (got < length) {
        ssize_t n = pread(fd, bytes + got, length - got,
                          (off_t) (offset + got));

        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return false;
        }
        got += (size_t) n;
    }
    return true;
}

/*
 * Index the lines, so that many records can be looked up among them.
 */
static void
IndexLines(Region *regionPtr)
{
    size_t at = 0;

    for (size_t i = 0; i < regionPtr->length; i++) {
        regionPtr->nLines += regionPtr->bytes[i] == '\n';
    }
    regionPtr->nLines++;
    regionPtr->nSlots = 16;
    while (regionPtr->nSlots < 2 * regionPtr->nLines) {
        regionPtr->nSlots *= 2;
    }
    regionPtr->slots = ns_calloc(regionPtr->nSlots, sizeof(size_t));
    regionPtr->isTaken = ns_calloc(regionPtr->nSlots, sizeof(bool));
    while (at < regionPtr->length) {
        const char *line = regionPtr->bytes + at;
        size_t      n = LineLength(line, regionPtr->length - at);
        size_t      i = SlotOf(regionPtr, line, n);

        while (regionPtr->slots[i] != 0) {
            i = (i + 1) % regionPtr->nSlots;
        }
        regionPtr->slots[i] = at + 1;
        at += n;
    }
}

static size_t
SlotOf(const Region *regionPtr, const char *line, size_t length)
{
    return (size_t) NsRingSum(0, line, length) % regionPtr->nSlots;
}

/*
 * Includes the newline.
 */
static size_t
LineLength(const char *bytes, size_t length)
{
    const char *end = memchr(bytes, '\n', length);

    return end == NULL ? length : (size_t) (end - bytes) + 1;
}

/*
 * All was written without interruption.  This check needs no formatting, so it
 * works even if lines are formatted differently by now.
 */
static bool
IsWholeBatch(const Region *regionPtr, const NsRingSink *slotPtr)
{
    size_t length = (size_t) slotPtr->length;

    return length > 0 && slotPtr->length <= regionPtr->length
        && slotPtr->checksum
        == (uint32_t) NsRingSumOfEnds(regionPtr->bytes,
                                      regionPtr->bytes + length
                                          - MIN(length, NS_RING_END),
                                      length);
}

static void
Compare(Ns_LogSink sink, Region *regionPtr, Doubts *doubtsPtr)
{
    bool    isWhole = IsWholeBatch(regionPtr, sink->reader->slotPtr);
    int64_t previous = sink->reader->slotPtr->previous;

    for (size_t i = 0; i < doubtsPtr->n; i++) {
        Doubt      *doubtPtr = &doubtsPtr->all[i];
        size_t      length;
        const char *bytes;

        doubtPtr->previous = previous;
        bytes = isWhole ? NULL : FormatDoubt(sink, doubtPtr, &length);
        doubtPtr->isThere = isWhole
            || (bytes != NULL && Find(regionPtr, bytes, length));
        if (bytes != NULL && doubtPtr->time != 0) {
            previous = doubtPtr->time;
        }
    }
}

/*
 * The record as the dead process wrote it, formatted behind the sink's buffered
 * bytes.  NULL: it did not write the record.
 */
static const char *
FormatDoubt(Ns_LogSink sink, Doubt *doubtPtr, size_t *lengthPtr)
{
    int          format = sink->reader->slotPtr->format;
    int          known = format < 0 || format >= NS_LOG_NFORMATS
                 ? NS_LOG_NATIVE
                 : format;
    Ns_LogStream stream;
    Ns_LogRecord record;

    if (!RecordOf(sink, doubtPtr, &stream, &record)
        || !NsSinkWantsRecord(sink, stream, &record)) {
        return NULL;
    }
    if (stream == nsOperationStream && sink->ignored.n > 0) {
        record = NsUnitWithout(&record, &sink->ignored, &sink->buffer->reduced,
                               &sink->buffer->reducedBytes);
    }
    doubtPtr->time = stream == nsSystemStream ? record.time : 0;
    nsLogContext = (NsLogContext){
        .start = sink->reader->slotPtr->start, .previous = doubtPtr->previous};
    for (;;) {
        size_t room = sink->buffer->room - sink->buffer->nBuffered;

        *lengthPtr = format == NsFormNumber(sink->form)
            ? NsFormLine(sink->form, stream, &record, false,
                         sink->buffer->bytes + sink->buffer->nBuffered, room)
            : NsStreamFormat(stream, known, &record,
                             sink->buffer->bytes + sink->buffer->nBuffered,
                             room);
        if (*lengthPtr <= room) {
            return *lengthPtr > 0
                ? sink->buffer->bytes + sink->buffer->nBuffered
                : NULL;
        }
        sink->buffer->room = 2 * (sink->buffer->nBuffered + *lengthPtr);
        sink->buffer->bytes = ns_realloc(sink->buffer->bytes,
                                         sink->buffer->room);
    }
}

/*
 * False: the record is damaged.
 */
static bool
RecordOf(Ns_LogSink sink, const Doubt *doubtPtr, Ns_LogStream *streamPtr,
         Ns_LogRecord *recordPtr)
{
    const NsPlace      *placePtr = &doubtPtr->place;
    const NsSpillFrame *framePtr = doubtPtr->framePtr;
    uint32_t lane = framePtr != NULL ? framePtr->record.lane : placePtr->lane;
    const char *name = NsRingStreamOf(sink->reader->ringPtr, lane);

    *streamPtr = NsStreamFind(name);
    if (framePtr != NULL) {
        *recordPtr = (Ns_LogRecord){
            .stream = name,
            .severity = framePtr->record.severity,
            .time = framePtr->record.time,
            .bytes = framePtr + 1,
            .length = framePtr->record.length};
        return *streamPtr != NULL;
    }
    *recordPtr = (Ns_LogRecord){
        .stream = name,
        .severity = placePtr->headPtr->severity,
        .time = placePtr->headPtr->time,
        .bytes = NsPlaceBytes(sink->reader->ringPtr, placePtr, true,
                              &sink->buffer->scratch,
                              &sink->buffer->scratchBytes),
        .length = placePtr->headPtr->total};
    return *streamPtr != NULL && recordPtr->bytes != NULL;
}

static bool
Find(Region *regionPtr, const char *bytes, size_t length)
{
    size_t      i;
    const char *found;

    if (regionPtr->length < length) {
        return false;
    }
    i = SlotOf(regionPtr, bytes, LineLength(bytes, length));
    for (; regionPtr->slots[i] != 0; i = (i + 1) % regionPtr->nSlots) {
        size_t at = regionPtr->slots[i] - 1;

        if (!regionPtr->isTaken[i] && StandsAt(regionPtr, at, bytes, length)) {
            regionPtr->isTaken[i] = true;
            regionPtr->next = at + length;
            return true;
        }
    }
    /* It may follow an unfinished line of another process. */
    if (length < UNIQUE_BYTES) {
        return false;
    }
    found = memmem(regionPtr->bytes, MIN(regionPtr->length, CLOSE_BYTES), bytes,
                   length);
    if (found == NULL || (found > regionPtr->bytes && found[-1] == '\n')) {
        return false;
    }
    regionPtr->next = (size_t) (found - regionPtr->bytes) + length;
    return true;
}

static bool
StandsAt(const Region *regionPtr, size_t at, const char *bytes, size_t length)
{
    return at <= regionPtr->length && regionPtr->length - at >= length
        && memcmp(regionPtr->bytes + at, bytes, length) == 0;
}

/*
 * If the file ends with the beginning of a record, its rest is written first
 * and the record counts as there.  Any other unfinished line gets a newline.
 */
static void
Complete(Ns_LogSink sink, const Region *regionPtr, Doubts *doubtsPtr)
{
    bool isMissing = false;

    if (!regionPtr->isEnd || regionPtr->length == 0) {
        return;
    }
    for (size_t i = 0; i < doubtsPtr->n; i++) {
        Doubt      *doubtPtr = &doubtsPtr->all[i];
        size_t      length, begun;
        const char *bytes = doubtPtr->isThere
            ? NULL
            : FormatDoubt(sink, doubtPtr, &length);

        if (bytes != NULL) {
            isMissing = true;
            begun = BegunBytes(regionPtr, bytes, length);
            NsAssert(begun < length);
            if (begun > 0) {
                doubtPtr->isThere = PutRest(sink, regionPtr, bytes + begun,
                                            length - begun);
                return;
            }
        }
    }
    if (isMissing && regionPtr->isOpen
        && regionPtr->bytes[regionPtr->length - 1] != '\n') {
        PutRaw(sink, "\n", 1);
    }
}

/*
 * How many bytes of the record are at the end of the region, provided they
 * start a line or follow the record that was found last.
 */
static size_t
BegunBytes(const Region *regionPtr, const char *bytes, size_t length)
{
    size_t at = regionPtr->length - MIN(regionPtr->length, length - 1);

    for (; at < regionPtr->length; at++) {
        if ((at == 0 || at == regionPtr->next
             || regionPtr->bytes[at - 1] == '\n')
            && memcmp(regionPtr->bytes + at, bytes, regionPtr->length - at)
                == 0) {
            return regionPtr->length - at;
        }
    }
    return 0;
}

/*
 * A backup gets the rest at once: if the process dies before the cursors are
 * moved, the record is found there.  A backup that is being compressed is left
 * alone.
 */
static bool
PutRest(Ns_LogSink sink, const Region *regionPtr, const char *bytes,
        size_t length)
{
    int  fd;
    bool isOk;

    if (regionPtr->isOpen) {
        PutRaw(sink, bytes, length);
        return true;
    }
    fd = sink->settings.isCompressed
        ? -1
        : NsSinkFdOpenAgain(regionPtr->fd, O_WRONLY | O_APPEND);
    isOk = fd >= 0 && NsWriteAll(fd, bytes, length);
    if (fd >= 0) {
        NsClose(fd);
    }
    return isOk;
}

static void
PutRaw(Ns_LogSink sink, const char *bytes, size_t length)
{
    /* The bytes may already be behind the buffered ones. */
    if (sink->buffer->room < sink->buffer->nBuffered + length) {
        char *copy = ns_malloc(length);

        memcpy(copy, bytes, length);
        sink->buffer->room = sink->buffer->nBuffered + length;
        sink->buffer->bytes = ns_realloc(sink->buffer->bytes,
                                         sink->buffer->room);
        memcpy(sink->buffer->bytes + sink->buffer->nBuffered, copy, length);
        ns_free(copy);
    } else {
        memmove(sink->buffer->bytes + sink->buffer->nBuffered, bytes, length);
    }
    sink->buffer->nBuffered += length;
}

/*
 * Count the records that the file has; put the others into the buffer.
 */
static bool
Deliver(Ns_LogSink sink, const Doubts *doubtsPtr, uint64_t *nPtr)
{
    for (size_t i = 0; i < doubtsPtr->n; i++) {
        const Doubt *doubtPtr = &doubtsPtr->all[i];
        bool         isDelivered;
        Ns_LogStream stream;
        Ns_LogRecord record;

        atomic_fetch_add(&sink->counts.nRecovered, 1);
        if (doubtPtr->isThere) {
            /* Counted as delivered when the cursors are right. */
            sink->buffer->nRecords++;
            if (doubtPtr->time != 0) {
                sink->buffer->previous = doubtPtr->time;
            }
        } else if (!RecordOf(sink, doubtPtr, &stream, &record)) {
            atomic_fetch_add(&sink->counts.nDamaged, 1);
        } else {
            sink->reader->isJudged = doubtPtr->framePtr != NULL
                && doubtPtr->framePtr->record.pad == NS_SPILL_JUDGED;
            isDelivered = NsDeliverRecord(sink, stream, &record);
            sink->reader->isJudged = false;
            if (!isDelivered) {
                return false;
            }
            (*nPtr)++;
        }
    }
    return true;
}

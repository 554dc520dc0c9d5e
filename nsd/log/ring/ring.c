/* SPDX-License-Identifier: MPL-2.0
 * ring.c --
 *
 *      The memory of the log engine: a mapping that outlives the process.
 */

#include "log/ring/ring_int.h"

#include <sys/mman.h>

#include "base/assert.h"
#include "base/lock.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define MAGIC "NSDLOG1"
/* Segments are as large as they can be while there are many of them; where many
 * lanes are to be expected, of which each keeps one, smaller. */
#define LEAST_SEGMENT   2048
#define MIN_SEGMENT     4096
#define MAX_SEGMENT     32768
#define WANTED_SEGMENTS 1024
#define USUAL_LANES     768
#define PAGE_BYTES      4096u
#define LEAST_BYTES     (INT64_C(1) << 20)

const char        nsRingInUse[] = "in use";
const char        nsRingEmpty[] = "its process died before it had begun";
static const char damagedHeader[] = "damaged header";

static void        Measure(NsRingHeader *headerPtr, const NsRingNeed *needPtr,
                           int64_t bytes);
static void        DivideUp(NsRingHeader *headerPtr, const NsRingNeed *needPtr,
                            uint64_t bytes);
static void        IncludeInCores(void);
static void        FillHeader(NsRingHeader       *headerPtr,
                              const NsRingHeader *measuresPtr);
static NsRing     *Attach(void *base, NsRingFile *filePtr);
static void        ListLanes(NsRing *ringPtr);
static NsRing     *MapFrom(NsRingFile *filePtr, off_t offset, off_t size,
                           bool isReadOnly, const char **reasonPtr);
static const char *CheckFile(int fd, bool isReadOnly, struct stat *stPtr);
static const char *CheckHeader(const NsRingHeader *headerPtr, uint64_t bytes);
static bool AreMeasuresSound(const NsRingHeader *headerPtr, uint64_t bytes);
static bool AreNamesSound(const NsRing *ringPtr);
static bool IsBlank(const NsRingHeader *headerPtr);
static void RepairReaders(NsRing *ringPtr);
static void RepairLanes(NsRing *ringPtr);
static void RepairLane(NsRing *ringPtr, uint32_t lane);
static void RepairSinks(NsRing *ringPtr);
static void CommitPrepared(const NsRing *ringPtr, uint32_t lane,
                           NsRingSegment *segmentPtr);
static bool IsReplaced(NsRingSegment *segmentPtr, uint32_t end,
                       uint64_t sequence);

void
NsRingInit(void)
{
    NsRingFileInit();
}

NsRing *
NsRingCreate(const NsRingKey *keyPtr, const NsRingNeed *needPtr,
             const char **reasonPtr)
{
    NsRingHeader measures;
    int64_t      bytes = needPtr->bytes;
    Ns_DString   path;
    void        *base = MAP_FAILED;
    NsRing      *ringPtr;
    NsRingFile  *filePtr = NULL;
    int          fd;

    Ns_DStringInit(&path);
    Measure(&measures, needPtr, bytes);
    fd = NsRingFileCreate(keyPtr, measures.bytes, &path, reasonPtr);
    while (fd < 0 && errno == ENOSPC && bytes - bytes / 8 >= LEAST_BYTES) {
        /* A small one that survives is worth more than a large one. */
        bytes -= bytes / 8;
        Measure(&measures, needPtr, bytes);
        fd = NsRingFileCreate(keyPtr, measures.bytes, &path, reasonPtr);
    }
    if (fd >= 0) {
        base = mmap(NULL, measures.bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE, fd, 0);
        if (base != MAP_FAILED) {
            FillHeader(base, &measures);
        }
        if (base == MAP_FAILED || !NsRingFileName(keyPtr, &path)) {
            *reasonPtr = strerror(errno);
            unlink(Ns_DStringValue(&path));
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0) {
        Measure(&measures, needPtr, needPtr->bytes);
        base = mmap(NULL, measures.bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (base == MAP_FAILED) {
            *reasonPtr = strerror(errno);
            Ns_DStringFree(&path);
            return NULL;
        }
        FillHeader(base, &measures);
    }
    IncludeInCores();
    if (fd >= 0) {
        filePtr = NsRingFileAdd(fd, Ns_DStringValue(&path));
    }
    ringPtr = Attach(base, filePtr);
    ListLanes(ringPtr);
    if (filePtr != NULL) {
        NsRingFileRelease(filePtr, true);
    }
    Ns_DStringFree(&path);
    return ringPtr;
}

NsRing *
NsRingOpen(const char *path, bool isReadOnly, const char **reasonPtr)
{
    struct stat st;
    NsRingFile *filePtr;
    NsRing     *firstPtr = NULL, **linkPtr = &firstPtr;
    off_t       offset = 0;
    int         fd;

    if (!isReadOnly && NsRingFileIsOpen(path)) {
        *reasonPtr = nsRingInUse;
        return NULL;
    }
    fd = open(path,
              (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW
                  | O_NONBLOCK);
    if (fd < 0) {
        *reasonPtr = strerror(errno);
        return NULL;
    }
    *reasonPtr = CheckFile(fd, isReadOnly, &st);
    if (*reasonPtr != NULL) {
        close(fd);
        return NULL;
    }
    filePtr = NsRingFileAdd(fd, path);
    while (*reasonPtr == NULL && offset < st.st_size) {
        *linkPtr = MapFrom(filePtr, offset, st.st_size, isReadOnly, reasonPtr);
        if (*linkPtr != NULL) {
            offset += (off_t) (*linkPtr)->headerPtr->bytes;
            linkPtr = &(*linkPtr)->siblingPtr;
        }
    }
    if (firstPtr != NULL && *reasonPtr != NULL) {
        /* The rest cannot be distinguished from anything else. */
        firstPtr->nDamaged++;
    }
    NsRingFileRelease(filePtr, firstPtr != NULL && !isReadOnly);
    return firstPtr;
}

/*
 * The mapping that begins there.
 */
static NsRing *
MapFrom(NsRingFile *filePtr, off_t offset, off_t size, bool isReadOnly,
        const char **reasonPtr)
{
    NsRingHeader *headerPtr = ns_malloc(sizeof(*headerPtr));
    NsRing       *ringPtr = NULL;
    void         *base;

    *reasonPtr = size - offset < (off_t) sizeof(*headerPtr) ? "too short"
        : pread(filePtr->fd, headerPtr, sizeof(*headerPtr), offset)
            != (ssize_t) sizeof(*headerPtr)
        ? strerror(EIO)
        : CheckHeader(headerPtr, (uint64_t) (size - offset));
    if (*reasonPtr == NULL) {
        base = mmap(NULL, headerPtr->bytes,
                    isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
                    filePtr->fd, offset);
        if (base == MAP_FAILED) {
            *reasonPtr = strerror(errno);
        } else {
            ringPtr = Attach(base, filePtr);
            if (!AreNamesSound(ringPtr)) {
                *reasonPtr = damagedHeader;
                NsRingClose(&ringPtr, false);
            } else if (!isReadOnly) {
                RepairReaders(ringPtr);
                RepairLanes(ringPtr);
                RepairSinks(ringPtr);
            }
            if (ringPtr != NULL) {
                ListLanes(ringPtr);
            }
        }
    }
    ns_free(headerPtr);
    return ringPtr;
}

void
NsRingClose(NsRing **ringPtrPtr, bool isDone)
{
    NsRing *ringPtr = *ringPtrPtr;

    *ringPtrPtr = NULL;
    munmap(ringPtr->headerPtr, ringPtr->headerPtr->bytes);
    if (ringPtr->filePtr != NULL) {
        NsRingFileRelease(ringPtr->filePtr, isDone);
    }
    ns_free(ringPtr->newestLanes);
    ns_free(ringPtr->olderLanes);
    ns_free(ringPtr);
}

const char *
NsRingStreamOf(const NsRing *ringPtr, uint32_t lane)
{
    uint32_t    index = ringPtr->lanes[lane].stream;
    const char *name = index < ringPtr->headerPtr->maxStreams
        ? NsRingStreamAt(ringPtr, index)->name
        : "";

    return memchr(name, '\0', NS_RING_NAME) != NULL ? name : "";
}

void
NsRingAddLane(NsRing *ringPtr, uint32_t lane)
{
    uint32_t     stream = ringPtr->lanes[lane].stream;
    atomic_uint *newestPtr;

    NsAssert(lane < ringPtr->headerPtr->maxLanes);
    NsAssert(stream < ringPtr->headerPtr->maxStreams);
    newestPtr = &ringPtr->newestLanes[stream];
    ringPtr->olderLanes[lane] = atomic_load(newestPtr);
    NsAssert(ringPtr->olderLanes[lane] != lane);
    atomic_store_explicit(newestPtr, lane, memory_order_release);
}

int
NsRingRank(const NsRing *ringPtr, uint32_t stream, const NsRingSink *slotPtr)
{
    const NsRingStream *streamPtr = NsRingStreamAt(ringPtr, stream);
    unsigned            wanted = slotPtr == NULL
                   ? 0
                   : (unsigned) (slotPtr - ringPtr->sinks) + 1;

    NsAssert(stream < ringPtr->headerPtr->maxStreams);
    NsAssert(wanted <= ringPtr->headerPtr->maxSinks);
    for (uint32_t i = 0; i < ringPtr->headerPtr->maxReaders; i++) {
        if (atomic_load_explicit(&streamPtr->readers[i], memory_order_acquire)
            == wanted) {
            return (int) i;
        }
    }
    return -1;
}

NsRingCursor *
NsRingCursorOf(const NsRing *ringPtr, uint32_t lane, const NsRingSink *slotPtr)
{
    int rank = lane < atomic_load(&ringPtr->headerPtr->nLanes)
        ? NsRingRank(ringPtr, ringPtr->lanes[lane].stream, slotPtr)
        : -1;

    return rank < 0 ? NULL : NsRingCursorAt(ringPtr, lane, rank);
}

uint64_t
NsRingNeededFrom(const NsRing *ringPtr, uint32_t lane)
{
    const NsRingStream *streamPtr = NsRingStreamAt(ringPtr,
                                                   ringPtr->lanes[lane].stream);
    uint64_t            least = UINT64_MAX;

    for (uint32_t i = 0; i < ringPtr->headerPtr->maxReaders; i++) {
        if (atomic_load_explicit(&streamPtr->readers[i], memory_order_acquire)
            != 0) {
            least = MIN(least,
                        NsRingNumberOf(atomic_load(
                            &NsRingCursorAt(ringPtr, lane, (int) i)->done)));
        }
    }
    return least;
}

bool
NsRingIsIntact(const NsRingRecord *recordPtr)
{
    return recordPtr->checksum
        == NsRingChecksum(recordPtr,
                          NsRingSum(0, recordPtr + 1, recordPtr->length));
}

void
NsRingCommitPrepared(NsRing *ringPtr)
{
    uint32_t nSegments = ringPtr->headerPtr->nSegments;
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);

    for (uint32_t lane = 0; lane < nLanes; lane++) {
        uint32_t       segment = atomic_load(&ringPtr->lanes[lane].first);
        NsRingSegment *lastPtr = NULL;

        for (uint32_t n = 0; segment < nSegments && n < nSegments; n++) {
            lastPtr = NsRingSegmentAt(ringPtr, segment);
            segment = atomic_load(&lastPtr->next);
        }
        if (lastPtr != NULL && segment == NS_RING_NONE) {
            CommitPrepared(ringPtr, lane, lastPtr);
            atomic_store(&lastPtr->prepared, 0);
        }
    }
}

/*
 * A process killed after the copy makes it again; one killed after the store
 * finds the record committed.
 */
static void
CommitPrepared(const NsRing *ringPtr, uint32_t lane, NsRingSegment *segmentPtr)
{
    uint32_t      segmentBytes = ringPtr->headerPtr->segmentBytes;
    uint32_t      from = atomic_load(&segmentPtr->prepared);
    uint32_t      to = segmentPtr->preparedFor;
    NsRingRecord *recordPtr = NsRingRecordAt(segmentPtr, from);
    size_t        most, size;

    if (to != atomic_load(&segmentPtr->committed) || to % 8 != 0
        || to < sizeof(NsRingSegment) || from % 8 != 0 || from < to
        || from > segmentBytes - sizeof(*recordPtr)) {
        return;
    }
    most = MIN(from - to, segmentBytes - from);
    size = sizeof(*recordPtr) + NS_RING_ALIGN((size_t) recordPtr->length);
    if (size <= most && recordPtr->kind == NS_RING_WHOLE
        && recordPtr->lane == lane
        && recordPtr->epoch == (uint32_t) ringPtr->headerPtr->epoch
        && NsRingIsIntact(recordPtr)
        && !IsReplaced(segmentPtr, to, recordPtr->sequence)) {
        memcpy(NsRingRecordAt(segmentPtr, to), recordPtr, size);
        atomic_store(&segmentPtr->committed, to + (uint32_t) size);
    }
}

/*
 * There is a record of that sequence or a later one.
 */
static bool
IsReplaced(NsRingSegment *segmentPtr, uint32_t end, uint64_t sequence)
{
    uint32_t offset = sizeof(NsRingSegment);

    while (end - offset >= sizeof(NsRingRecord)) {
        const NsRingRecord *recordPtr = NsRingRecordAt(segmentPtr, offset);
        size_t              size = sizeof(*recordPtr)
            + NS_RING_ALIGN((size_t) recordPtr->length);

        if (recordPtr->sequence >= sequence) {
            return true;
        }
        if (size > end - offset) {
            break;
        }
        offset += (uint32_t) size;
    }
    return false;
}

/*
 * The numbers in the header of a mapping of the given size.
 */
static void
Measure(NsRingHeader *headerPtr, const NsRingNeed *needPtr, int64_t bytes)
{
    NsRingLayout layout;
    uint32_t     segmentBytes = MAX_SEGMENT;

    while (segmentBytes > MIN_SEGMENT
           && bytes / segmentBytes < WANTED_SEGMENTS) {
        segmentBytes /= 2;
    }
    while (segmentBytes > LEAST_SEGMENT
           && (int64_t) needPtr->nLanes * segmentBytes > bytes / 4) {
        segmentBytes /= 2;
    }
    *headerPtr = (NsRingHeader){
        .segmentBytes = segmentBytes,
        .maxStreams = MIN(MAX(needPtr->nStreams, 1), NS_RING_MAX_STREAMS),
        .maxSinks = MIN(MAX(needPtr->nSinks, 1), NS_RING_MAX_SINKS)};
    DivideUp(headerPtr, needPtr, (uint64_t) bytes);
    layout = NsRingLayoutOf(headerPtr);
    if (layout.bytes > (uint64_t) bytes
        && layout.segments < (uint64_t) bytes / 2) {
        DivideUp(headerPtr, needPtr, (uint64_t) bytes - layout.segments);
        layout = NsRingLayoutOf(headerPtr);
    }
    headerPtr->bytes = layout.bytes;
}

/*
 * Segments of the given total size, and what goes with them.  Lanes of threads
 * alone never make memory short, and each stream can have a common one beside
 * them.
 */
static void
DivideUp(NsRingHeader *headerPtr, const NsRingNeed *needPtr, uint64_t bytes)
{
    uint32_t nOwn, perReader;

    headerPtr->nSegments = (uint32_t) (bytes / headerPtr->segmentBytes);
    nOwn = MIN(headerPtr->nSegments / 8 * 3, MAX(needPtr->nLanes, USUAL_LANES));
    headerPtr->maxLanes = MIN(nOwn + headerPtr->maxStreams, NS_RING_MAX_LANES);
    perReader = headerPtr->maxLanes * (uint32_t) sizeof(NsRingCursor);
    headerPtr->maxReaders = MIN(MAX((uint32_t) (bytes / 16 / perReader),
                                    MAX(needPtr->nReaders, 1)),
                                headerPtr->maxSinks);
}

/*
 * By default a core file lacks mappings of files that are shared.  By the time
 * that one is looked at, the next process may have deleted ours.
 */
static void
IncludeInCores(void)
{
    const unsigned sharedFiles = 1u << 3;
    FILE          *fp = fopen("/proc/self/coredump_filter", "r+e");
    unsigned       filter;

    if (fp == NULL) {
        return;
    }
    if (fscanf(fp, "%x", &filter) == 1) {
        rewind(fp);
        fprintf(fp, "0x%x", filter | sharedFiles);
    }
    (void) fclose(fp);
}

static void
FillHeader(NsRingHeader *headerPtr, const NsRingHeader *measuresPtr)
{
    *headerPtr = *measuresPtr;
    headerPtr->version = NS_RING_VERSION;
    headerPtr->epoch = (uint64_t) NsLogClock();
    headerPtr->pid = getpid();
    memcpy(headerPtr->magic, MAGIC, sizeof(headerPtr->magic));
}

NsRingLayout
NsRingLayoutOf(const NsRingHeader *headerPtr)
{
    const size_t page = PAGE_BYTES - 1;
    NsRingLayout layout;

    layout.streams = (sizeof(NsRingHeader) + page) & ~page;
    layout.streamBytes = NS_RING_ALIGN(sizeof(NsRingStream)
                                       + headerPtr->maxReaders
                                           * sizeof(uint16_t));
    layout.lanes = (layout.streams + headerPtr->maxStreams * layout.streamBytes
                    + page)
        & ~page;
    layout.cursors = (layout.lanes + headerPtr->maxLanes * sizeof(NsRingLane)
                      + page)
        & ~page;
    layout.sinks = (layout.cursors
                    + (size_t) headerPtr->maxLanes * headerPtr->maxReaders
                        * sizeof(NsRingCursor)
                    + page)
        & ~page;
    layout.segments = (layout.sinks + headerPtr->maxSinks * sizeof(NsRingSink)
                       + page)
        & ~page;
    layout.bytes = layout.segments
        + (size_t) headerPtr->nSegments * headerPtr->segmentBytes;
    return layout;
}

static NsRing *
Attach(void *base, NsRingFile *filePtr)
{
    NsRing      *ringPtr = ns_calloc(1u, sizeof(*ringPtr));
    NsRingLayout layout = NsRingLayoutOf(base);

    ringPtr->headerPtr = base;
    ringPtr->streams = (char *) base + layout.streams;
    ringPtr->streamBytes = layout.streamBytes;
    ringPtr->lanes = (NsRingLane *) (void *) ((char *) base + layout.lanes);
    ringPtr->cursors = (NsRingCursor *) (void *) ((char *) base
                                                  + layout.cursors);
    ringPtr->sinks = (NsRingSink *) (void *) ((char *) base + layout.sinks);
    ringPtr->segments = (char *) base + layout.segments;
    if (filePtr != NULL) {
        NsRingFileUse(filePtr);
        ringPtr->filePtr = filePtr;
        ringPtr->path = filePtr->path;
    }
    return ringPtr;
}

/*
 * Which lanes a stream has, but for damaged ones.
 */
static void
ListLanes(NsRing *ringPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    uint32_t nLanes = MIN(atomic_load(&headerPtr->nLanes), headerPtr->maxLanes);

    ringPtr->newestLanes = ns_calloc(headerPtr->maxStreams,
                                     sizeof(*ringPtr->newestLanes));
    ringPtr->olderLanes = ns_calloc(headerPtr->maxLanes,
                                    sizeof(*ringPtr->olderLanes));
    for (uint32_t i = 0; i < headerPtr->maxStreams; i++) {
        atomic_store(&ringPtr->newestLanes[i], NS_RING_NONE);
    }
    for (uint32_t i = 0; i < nLanes; i++) {
        if (ringPtr->lanes[i].stream < headerPtr->maxStreams) {
            NsRingAddLane(ringPtr, i);
        }
    }
}

static const char *
CheckFile(int fd, bool isReadOnly, struct stat *stPtr)
{
    if (fstat(fd, stPtr) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(stPtr->st_mode)) {
        return "not a plain file";
    }
    if (!isReadOnly) {
        if (stPtr->st_uid != geteuid()) {
            return "it belongs to another user";
        }
        if ((stPtr->st_mode & 077) != 0) {
            return "others may access it";
        }
        if (!NsRingFileLock(fd)) {
            return nsRingInUse;
        }
    }
    return stPtr->st_size == 0 ? nsRingEmpty : NULL;
}

static const char *
CheckHeader(const NsRingHeader *headerPtr, uint64_t bytes)
{
    if (memcmp(headerPtr->magic, MAGIC, sizeof(headerPtr->magic)) != 0) {
        return IsBlank(headerPtr) ? nsRingEmpty : "not a log mapping";
    }
    if (headerPtr->version != NS_RING_VERSION
        && headerPtr->version != NS_RING_VERSION_PLAIN) {
        return "made by another version";
    }
    return AreMeasuresSound(headerPtr, bytes)
            && memchr(headerPtr->spillDirectory, '\0', NS_RING_PATH) != NULL
        ? NULL
        : damagedHeader;
}

/*
 * The parts that the header describes fill the mapping.
 */
static bool
AreMeasuresSound(const NsRingHeader *headerPtr, uint64_t bytes)
{
    uint32_t segmentBytes = headerPtr->segmentBytes;

    return segmentBytes >= LEAST_SEGMENT && segmentBytes <= MAX_SEGMENT
        && segmentBytes % 64 == 0 && headerPtr->nSegments >= 2
        && headerPtr->maxStreams >= 1
        && headerPtr->maxStreams <= NS_RING_MAX_STREAMS
        && headerPtr->maxLanes <= NS_RING_MAX_LANES
        && headerPtr->maxSinks <= NS_RING_MAX_SINKS
        && headerPtr->maxReaders <= NS_RING_MAX_SINKS
        && atomic_load(&headerPtr->nLanes) <= headerPtr->maxLanes
        && atomic_load(&headerPtr->nStreams) <= headerPtr->maxStreams
        && headerPtr->bytes <= bytes
        && NsRingLayoutOf(headerPtr).bytes == headerPtr->bytes;
}

static bool
AreNamesSound(const NsRing *ringPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nStreams);

    for (uint32_t i = 0; i < n; i++) {
        if (memchr(NsRingStreamAt(ringPtr, i)->name, '\0', NS_RING_NAME)
            == NULL) {
            return false;
        }
    }
    return true;
}

static bool
IsBlank(const NsRingHeader *headerPtr)
{
    const char *bytes = (const char *) headerPtr;

    return bytes[0] == '\0'
        && memcmp(bytes, bytes + 1, sizeof(*headerPtr) - 1) == 0;
}

/*
 * A reader that is not a sink of the mapping is left out.
 */
static void
RepairReaders(NsRing *ringPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;

    for (uint32_t i = 0; i < headerPtr->maxStreams; i++) {
        NsRingStream *streamPtr = NsRingStreamAt(ringPtr, i);

        for (uint32_t j = 0; j < headerPtr->maxReaders; j++) {
            if (atomic_load(&streamPtr->readers[j]) > headerPtr->maxSinks) {
                ringPtr->nDamaged++;
                atomic_store(&streamPtr->readers[j], 0);
            }
        }
    }
}

/*
 * All chains stay within the mapping, end, and carry the lane's number.  The
 * content of segments is checked record by record by its readers.
 */
static void
RepairLanes(NsRing *ringPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);

    for (uint32_t i = 0; i < n; i++) {
        RepairLane(ringPtr, i);
    }
}

/*
 * A segment that says something impossible about how far it is filled is left
 * out; where a chain leads astray it ends.
 */
static void
RepairLane(NsRing *ringPtr, uint32_t lane)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    atomic_uint        *linkPtr = &ringPtr->lanes[lane].first;
    uint64_t            number = 0;

    if (ringPtr->lanes[lane].stream >= atomic_load(&headerPtr->nStreams)) {
        ringPtr->nDamaged++;
        ringPtr->lanes[lane].stream = 0;
        atomic_store(linkPtr, NS_RING_NONE);
    }
    for (uint32_t n = 0; atomic_load(linkPtr) != NS_RING_NONE; n++) {
        uint32_t       segment = atomic_load(linkPtr), committed;
        NsRingSegment *segmentPtr = segment < headerPtr->nSegments
            ? NsRingSegmentAt(ringPtr, segment)
            : NULL;

        if (segmentPtr == NULL || n >= headerPtr->nSegments
            || segmentPtr->lane != lane || segmentPtr->epoch != headerPtr->epoch
            || (number != 0 && segmentPtr->number != number + 1)) {
            ringPtr->nDamaged++;
            atomic_store(linkPtr, NS_RING_NONE);
            return;
        }
        committed = atomic_load(&segmentPtr->committed);
        if (committed < sizeof(NsRingSegment)
            || committed > headerPtr->segmentBytes) {
            ringPtr->nDamaged++;
            atomic_store(&segmentPtr->committed, sizeof(NsRingSegment));
        }
        number = segmentPtr->number;
        linkPtr = &segmentPtr->next;
    }
}

static void
RepairSinks(NsRing *ringPtr)
{
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (memchr(slotPtr->name, '\0', sizeof(slotPtr->name)) == NULL
            || memchr(slotPtr->type, '\0', sizeof(slotPtr->type)) == NULL
            || memchr(slotPtr->table, '\0', sizeof(slotPtr->table)) == NULL
            || memchr(slotPtr->file, '\0', sizeof(slotPtr->file)) == NULL) {
            ringPtr->nDamaged++;
            memset(slotPtr, 0, sizeof(*slotPtr));
        }
    }
}

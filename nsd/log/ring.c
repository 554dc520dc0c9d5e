/*
 * ring.c --
 *
 *      The memory of the log engine: a mapping that outlives the process.
 */

#include "log/ring.h"

#include <sys/mman.h>

#include "base/assert.h"
#include "base/lock.h"
#include "log/line.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define MAGIC           "NSDLOG1"
#define MIN_SEGMENT     4096
#define MAX_SEGMENT     32768
#define WANTED_SEGMENTS 1024
#define PAGE_BYTES      4096u
#define LEAST_BYTES     (INT64_C(8) << 20)

/*
 * Where the parts of a mapping begin.
 */
typedef struct Layout {
    size_t lanes;
    size_t sinks;
    size_t sinkBytes;
    size_t segments;
    size_t bytes;
} Layout;

/*
 * Sizes and numbers that make up a mapping.
 */
typedef struct Geometry {
    uint32_t segmentBytes;
    uint32_t nSegments;
    uint32_t maxLanes;
    Layout   layout;
} Geometry;

static Ns_Mutex openLock;       /* Guards the list of open mappings. */
static NsRing  *firstOpen;

static inline uint64_t Rotate(uint64_t sum);
static inline uint64_t Word(const unsigned char *bytes);
static Geometry GeometryFor(int64_t bytes);
static void    IncludeInCores(void);
static void    FillHeader(NsRingHeader *headerPtr, const Geometry *geometryPtr);
static Layout  LayoutOf(uint32_t segmentBytes, uint32_t nSegments,
                        uint32_t maxLanes);
static NsRing *Attach(void *base, const Layout *layoutPtr, int fd,
                      const char *path);
static int     CreateFile(const NsRingKey *keyPtr, size_t bytes,
                          Ns_DString *pathPtr, const char **reasonPtr);
static bool    Lock(int fd);
static bool    IsOpen(const char *path);
static void    AddOpen(NsRing *ringPtr);
static void    RemoveOpen(const NsRing *ringPtr);
static void    AppendPrefix(Ns_DString *dsPtr, const NsRingKey *keyPtr);
static int     ByName(const void *left, const void *right);
static const char *CheckFile(int fd, bool isReadOnly, struct stat *stPtr);
static const char *CheckHeader(const NsRingHeader *headerPtr, uint64_t bytes);
static const char *CheckLanes(const NsRing *ringPtr);
static void    CommitPrepared(const NsRing *ringPtr, uint32_t lane,
                              NsRingSegment *segmentPtr);


void
NsRingInit(void)
{
    NsMutexSetup(&openLock, NS_RANK_LOG_MAPPINGS, "ns:log", "mappings");
}

NsRing *
NsRingCreate(const NsRingKey *keyPtr, int64_t bytes, const char **reasonPtr)
{
    Geometry   geometry = GeometryFor(bytes);
    Ns_DString path;
    void      *base = MAP_FAILED;
    NsRing    *ringPtr;
    int        fd;

    Ns_DStringInit(&path);
    fd = CreateFile(keyPtr, geometry.layout.bytes, &path, reasonPtr);
    while (fd < 0 && errno == ENOSPC && bytes / 2 >= LEAST_BYTES) {
        /* A small one that survives is worth more than a large one. */
        bytes /= 2;
        geometry = GeometryFor(bytes);
        fd = CreateFile(keyPtr, geometry.layout.bytes, &path, reasonPtr);
    }
    if (fd >= 0) {
        base = mmap(NULL, geometry.layout.bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE, fd, 0);
        if (base == MAP_FAILED) {
            *reasonPtr = strerror(errno);
            unlink(Ns_DStringValue(&path));
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0) {
        base = mmap(NULL, geometry.layout.bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (base == MAP_FAILED) {
            Ns_Fatal("log: no memory for logmemory %" PRId64 ": %s", bytes,
                     strerror(errno));
        }
    }
    IncludeInCores();
    FillHeader(base, &geometry);
    ringPtr = Attach(base, &geometry.layout, fd,
                     fd < 0 ? NULL : Ns_DStringValue(&path));
    AddOpen(ringPtr);
    Ns_DStringFree(&path);
    return ringPtr;
}

NsRing *
NsRingOpen(const char *path, bool isReadOnly, const char **reasonPtr)
{
    struct stat st;
    Layout      layout;
    NsRing     *ringPtr = NULL;
    void       *base = MAP_FAILED;
    const NsRingHeader *headerPtr;
    int         fd;

    if (!isReadOnly && IsOpen(path)) {
        *reasonPtr = "in use";
        return NULL;
    }
    fd = open(path, (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW
              | O_NONBLOCK);
    if (fd < 0) {
        *reasonPtr = strerror(errno);
        return NULL;
    }
    *reasonPtr = CheckFile(fd, isReadOnly, &st);
    if (*reasonPtr == NULL) {
        base = mmap(NULL, (size_t) st.st_size,
                    isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);
        if (base == MAP_FAILED) {
            *reasonPtr = strerror(errno);
        }
    }
    if (base != MAP_FAILED) {
        headerPtr = base;
        *reasonPtr = CheckHeader(headerPtr, (uint64_t) st.st_size);
        if (*reasonPtr == NULL) {
            layout = LayoutOf(headerPtr->segmentBytes, headerPtr->nSegments,
                              headerPtr->maxLanes);
            ringPtr = Attach(base, &layout, fd, path);
            *reasonPtr = isReadOnly ? NULL : CheckLanes(ringPtr);
            if (*reasonPtr == NULL) {
                AddOpen(ringPtr);
                return ringPtr;
            }
            ns_free(ringPtr->path);
            ns_free(ringPtr);
        }
        munmap(base, (size_t) st.st_size);
    }
    close(fd);
    return NULL;
}

void
NsRingClose(NsRing **ringPtrPtr, bool isDone)
{
    NsRing *ringPtr = *ringPtrPtr;

    *ringPtrPtr = NULL;
    if (isDone && ringPtr->path != NULL) {
        unlink(ringPtr->path);
    }
    munmap(ringPtr->headerPtr, ringPtr->headerPtr->bytes);
    if (ringPtr->fd >= 0) {
        close(ringPtr->fd);
    }
    RemoveOpen(ringPtr);
    ns_free(ringPtr->path);
    ns_free(ringPtr);
}

int
NsRingList(const NsRingKey *keyPtr, char ***pathsPtr)
{
    DIR           *dir = opendir(keyPtr->directory);
    struct dirent *entPtr;
    Ns_DString     prefix, path;
    char         **paths = NULL;
    int            n = 0;

    *pathsPtr = NULL;
    if (dir == NULL) {
        return 0;
    }
    Ns_DStringInit(&prefix);
    Ns_DStringInit(&path);
    AppendPrefix(&prefix, keyPtr);
    while ((entPtr = readdir(dir)) != NULL) {
        if (strncmp(entPtr->d_name, Ns_DStringValue(&prefix),
                    (size_t) Ns_DStringLength(&prefix)) == 0) {
            Ns_DStringSetLength(&path, 0);
            Ns_DStringVarAppend(&path, keyPtr->directory, "/", entPtr->d_name,
                                (char *) NULL);
            paths = ns_realloc(paths, (size_t) (n + 1) * sizeof(*paths));
            paths[n++] = ns_strdup(Ns_DStringValue(&path));
        }
    }
    closedir(dir);
    Ns_DStringFree(&prefix);
    Ns_DStringFree(&path);
    if (n > 1) {
        qsort(paths, (size_t) n, sizeof(*paths), ByName);
    }
    *pathsPtr = paths;
    return n;
}

const char *
NsRingStreamOf(const NsRing *ringPtr, uint32_t lane)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    uint32_t            index = ringPtr->lanes[lane].stream;

    return index < NS_RING_STREAMS
        && memchr(headerPtr->streams[index], '\0', NS_RING_NAME) != NULL
        ? headerPtr->streams[index] : "";
}

uint64_t
NsRingIntentSum(const NsRingSink *slotPtr)
{
    const uint64_t members[] = {
        slotPtr->checksum, slotPtr->offset, slotPtr->length, slotPtr->inode
    };

    return NsRingSum(1, members, sizeof(members));
}

/*
 * Four sums side by side, so that the processor need not wait for one.  Each
 * step can be undone, so any change of a single word shows; multiplications
 * only mix the sums at the end.
 */
uint64_t
NsRingSum(uint64_t seed, const void *bytes, size_t length)
{
    const uint64_t prime = UINT64_C(0x9e3779b185ebca87);
    const unsigned char *p = bytes;
    uint64_t a = seed ^ length * prime, b = prime, c = ~prime, d = a >> 7;
    uint64_t last = 0;

    for (; length >= 32; length -= 32, p += 32) {
        a = Rotate(a) + Word(p);
        b = Rotate(b) + Word(p + 8);
        c = Rotate(c) + Word(p + 16);
        d = Rotate(d) + Word(p + 24);
    }
    for (; length >= 8; length -= 8, p += 8) {
        a = Rotate(a) + Word(p);
    }
    for (; length > 0; length--) {
        last = last << 8 | *p++;
    }
    b = Rotate(b) + last;
    a = (a ^ a >> 32) * prime + (b ^ b >> 29);
    c = (c ^ c >> 31) * prime + (d ^ d >> 33);
    a = (a ^ a >> 30) * prime + c;
    return (a ^ a >> 32) * prime;
}

uint64_t
NsRingSumOfEnds(const void *first, const void *last, size_t length)
{
    return length <= 2 * NS_RING_END
        ? NsRingSum(0, first, length)
        : NsRingSum(NsRingSum(length, first, NS_RING_END), last, NS_RING_END);
}

static inline uint64_t
Rotate(uint64_t sum)
{
    return sum << 23 | sum >> 41;
}

static inline uint64_t
Word(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

bool
NsRingIsIntact(const NsRingRecord *recordPtr)
{
    return recordPtr->checksum == NsRingChecksum(
        recordPtr, NsRingSum(0, recordPtr + 1, recordPtr->length));
}

void
NsRingCommitPrepared(NsRing *ringPtr)
{
    uint32_t nSegments = ringPtr->headerPtr->nSegments;
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);

    for (uint32_t lane = 0; lane < nLanes; lane++) {
        uint32_t segment = atomic_load(&ringPtr->lanes[lane].first);
        NsRingSegment *lastPtr = NULL;

        for (uint32_t n = 0; segment < nSegments && n < nSegments; n++) {
            lastPtr = NsRingSegmentAt(ringPtr, segment);
            segment = atomic_load(&lastPtr->next);
        }
        if (lastPtr != NULL && segment == NS_RING_NONE) {
            CommitPrepared(ringPtr, lane, lastPtr);
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
            && NsRingIsIntact(recordPtr)) {
        memcpy(NsRingRecordAt(segmentPtr, to), recordPtr, size);
        atomic_store(&segmentPtr->committed, to + (uint32_t) size);
    }
}

/*
 * Parts of a mapping that has so many bytes in all.
 */
static Geometry
GeometryFor(int64_t bytes)
{
    Geometry g = {.segmentBytes = MAX_SEGMENT};

    while (g.segmentBytes > MIN_SEGMENT
           && bytes / g.segmentBytes < WANTED_SEGMENTS) {
        g.segmentBytes /= 2;
    }
    g.nSegments = (uint32_t) (bytes / g.segmentBytes);
    g.maxLanes = MIN(g.nSegments / 2, NS_RING_MAX_LANES);
    g.layout = LayoutOf(g.segmentBytes, g.nSegments, g.maxLanes);
    if (g.layout.bytes > (uint64_t) bytes
            && g.layout.segments < (uint64_t) bytes / 2) {
        g.nSegments = (uint32_t) (((uint64_t) bytes - g.layout.segments)
                                  / g.segmentBytes);
        g.maxLanes = MIN(g.maxLanes, g.nSegments / 2);
        g.layout = LayoutOf(g.segmentBytes, g.nSegments, g.maxLanes);
    }
    return g;
}

/*
 * By default a core file lacks mappings of files that are shared.  By the time
 * that one is looked at, the next process may have deleted ours.
 */
static void
IncludeInCores(void)
{
    const unsigned sharedFiles = 1u << 3;
    FILE    *fp = fopen("/proc/self/coredump_filter", "r+e");
    unsigned filter;

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
FillHeader(NsRingHeader *headerPtr, const Geometry *geometryPtr)
{
    headerPtr->version = NS_RING_VERSION;
    headerPtr->segmentBytes = geometryPtr->segmentBytes;
    headerPtr->nSegments = geometryPtr->nSegments;
    headerPtr->maxLanes = geometryPtr->maxLanes;
    headerPtr->bytes = geometryPtr->layout.bytes;
    headerPtr->epoch = (uint64_t) NsLogClock();
    headerPtr->pid = getpid();
    memcpy(headerPtr->magic, MAGIC, sizeof(headerPtr->magic));
}

static Layout
LayoutOf(uint32_t segmentBytes, uint32_t nSegments, uint32_t maxLanes)
{
    Layout layout;
    size_t page = PAGE_BYTES - 1;

    layout.lanes = (sizeof(NsRingHeader) + page) & ~page;
    layout.sinks = (layout.lanes + maxLanes * sizeof(NsRingLane) + page)
        & ~page;
    layout.sinkBytes = (sizeof(NsRingSink) + maxLanes * sizeof(NsRingCursor)
                        + 63) & ~(size_t) 63;
    layout.segments = (layout.sinks + NS_RING_SINKS * layout.sinkBytes + page)
        & ~page;
    layout.bytes = layout.segments + (size_t) nSegments * segmentBytes;
    return layout;
}

static NsRing *
Attach(void *base, const Layout *layoutPtr, int fd, const char *path)
{
    NsRing *ringPtr = ns_calloc(1u, sizeof(*ringPtr));

    ringPtr->headerPtr = base;
    ringPtr->lanes = (NsRingLane *) (void *) ((char *) base + layoutPtr->lanes);
    ringPtr->sinks = (char *) base + layoutPtr->sinks;
    ringPtr->sinkBytes = layoutPtr->sinkBytes;
    ringPtr->segments = (char *) base + layoutPtr->segments;
    ringPtr->fd = fd;
    ringPtr->path = ns_strcopy(path);
    return ringPtr;
}

/*
 * Names carry the time, so they are never used twice and sort by age.
 */
static int
CreateFile(const NsRingKey *keyPtr, size_t bytes, Ns_DString *pathPtr,
           const char **reasonPtr)
{
    int fd, status;

    *reasonPtr = NULL;
    Ns_DStringSetLength(pathPtr, 0);
    Ns_DStringVarAppend(pathPtr, keyPtr->directory, "/", (char *) NULL);
    AppendPrefix(pathPtr, keyPtr);
    Ns_DStringPrintf(pathPtr, "%020" PRId64 "-%d", NsLogClock(), getpid());
    fd = open(Ns_DStringValue(pathPtr),
              O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        *reasonPtr = strerror(errno);
        return -1;
    }
    /* A store into a page that cannot be had would be SIGBUS. */
    status = posix_fallocate(fd, 0, (off_t) bytes);
    if (status == 0 && !Lock(fd)) {
        status = errno;
    }
    if (status != 0) {
        unlink(Ns_DStringValue(pathPtr));
        close(fd);
        *reasonPtr = strerror(status);
        errno = status;
        return -1;
    }
    return fd;
}

/*
 * A lock of this process, not shared with its children, so that a child that
 * lives on does not keep the next server from the mapping.  Such a lock does not
 * keep out the process itself, and is gone when the process closes any
 * descriptor of the file; so that must not be opened twice.
 */
static bool
Lock(int fd)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_SETLK, &range) == 0;
}

static bool
IsOpen(const char *path)
{
    const NsRing *ringPtr;

    Ns_MutexLock(&openLock);
    for (ringPtr = firstOpen; ringPtr != NULL; ringPtr = ringPtr->nextPtr) {
        if (STREQ(ringPtr->path, path)) {
            break;
        }
    }
    Ns_MutexUnlock(&openLock);
    return ringPtr != NULL;
}

static void
AddOpen(NsRing *ringPtr)
{
    if (ringPtr->path != NULL) {
        Ns_MutexLock(&openLock);
        ringPtr->nextPtr = firstOpen;
        firstOpen = ringPtr;
        Ns_MutexUnlock(&openLock);
    }
}

static void
RemoveOpen(const NsRing *ringPtr)
{
    NsRing **linkPtr = &firstOpen;

    Ns_MutexLock(&openLock);
    while (*linkPtr != NULL && *linkPtr != ringPtr) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    if (*linkPtr != NULL) {
        *linkPtr = ringPtr->nextPtr;
    }
    Ns_MutexUnlock(&openLock);
}

static void
AppendPrefix(Ns_DString *dsPtr, const NsRingKey *keyPtr)
{
    uint64_t sum = NsRingSum(1, keyPtr->home, strlen(keyPtr->home));

    if (keyPtr->configFile != NULL) {
        sum = NsRingSum(sum, keyPtr->configFile, strlen(keyPtr->configFile));
    }
    Ns_DStringPrintf(dsPtr, "nsd-%016" PRIx64 ".", sum);
}

static int
ByName(const void *left, const void *right)
{
    return strcmp(*(char *const *) left, *(char *const *) right);
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
        if (!Lock(fd)) {
            return "in use";
        }
    }
    return stPtr->st_size < (off_t) sizeof(NsRingHeader) ? "too short" : NULL;
}

static const char *
CheckHeader(const NsRingHeader *headerPtr, uint64_t bytes)
{
    uint32_t segmentBytes = headerPtr->segmentBytes;

    if (memcmp(headerPtr->magic, MAGIC, sizeof(headerPtr->magic)) != 0) {
        return "no log memory";
    }
    if (headerPtr->version != NS_RING_VERSION) {
        return "made by another version";
    }
    if (segmentBytes < MIN_SEGMENT || segmentBytes > MAX_SEGMENT
            || segmentBytes % 64 != 0 || headerPtr->nSegments < 2
            || headerPtr->maxLanes > NS_RING_MAX_LANES
            || atomic_load(&headerPtr->nLanes) > headerPtr->maxLanes
            || atomic_load(&headerPtr->nStreams) > NS_RING_STREAMS
            || headerPtr->bytes != bytes
            || LayoutOf(segmentBytes, headerPtr->nSegments,
                        headerPtr->maxLanes).bytes != bytes) {
        return "damaged header";
    }
    for (unsigned i = 0; i < atomic_load(&headerPtr->nStreams); i++) {
        if (memchr(headerPtr->streams[i], '\0', NS_RING_NAME) == NULL) {
            return "damaged header";
        }
    }
    return NULL;
}

/*
 * All chains stay within the mapping, end, and carry the lane's number.  What
 * stands in the segments is checked record by record by those who read it.
 */
static const char *
CheckLanes(const NsRing *ringPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;

    for (uint32_t i = 0; i < atomic_load(&headerPtr->nLanes); i++) {
        const NsRingLane *lanePtr = &ringPtr->lanes[i];
        uint32_t segment = atomic_load(&lanePtr->first);
        uint64_t number = 0;

        if (lanePtr->stream >= atomic_load(&headerPtr->nStreams)) {
            return "damaged lane";
        }
        for (uint32_t n = 0; segment != NS_RING_NONE; n++) {
            const NsRingSegment *segmentPtr;

            if (segment >= headerPtr->nSegments || n >= headerPtr->nSegments) {
                return "damaged chain";
            }
            segmentPtr = NsRingSegmentAt(ringPtr, segment);
            if (segmentPtr->lane != i || segmentPtr->epoch != headerPtr->epoch
                    || (number != 0 && segmentPtr->number != number + 1)
                    || atomic_load(&segmentPtr->committed)
                       < sizeof(NsRingSegment)
                    || atomic_load(&segmentPtr->committed)
                       > headerPtr->segmentBytes) {
                return "damaged segment";
            }
            number = segmentPtr->number;
            segment = atomic_load(&segmentPtr->next);
        }
    }
    for (int i = 0; i < NS_RING_SINKS; i++) {
        const NsRingSink *sinkPtr = NsRingSinkAt(ringPtr, i);

        if (memchr(sinkPtr->name, '\0', sizeof(sinkPtr->name)) == NULL
                || memchr(sinkPtr->type, '\0', sizeof(sinkPtr->type)) == NULL
                || memchr(sinkPtr->table, '\0', sizeof(sinkPtr->table)) == NULL
                || memchr(sinkPtr->file, '\0', sizeof(sinkPtr->file)) == NULL) {
            return "damaged sink";
        }
    }
    return NULL;
}

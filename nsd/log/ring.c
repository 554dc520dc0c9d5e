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
/* Between key and time in a name: when it is complete, and before. */
#define NAMED           '.'
#define UNNAMED         '+'
#define MIN_SEGMENT     4096
#define MAX_SEGMENT     32768
#define WANTED_SEGMENTS 1024
#define PAGE_BYTES      4096u
#define LEAST_BYTES     (INT64_C(1) << 20)

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

/*
 * A file whose lock this process holds, shared by its mappings.
 */
typedef struct NsRingFile {
    struct NsRingFile *nextPtr;
    int   fd;
    char *path;
    int   nUsers;
    bool  isKept;
} NsRingFile;

/*
 * A file that mappings are collected in, one behind the other.
 */
typedef struct Output {
    int   fd;
    off_t base;                 /* Of the one at hand. */
} Output;

static Ns_Mutex    openLock;    /* Guards what follows. */
static NsRingFile *firstOpen;

const char nsRingInUse[] = "in use";
const char nsRingEmpty[] = "its process died before it had begun";

static inline uint64_t Rotate(uint64_t sum);
static inline uint64_t Word(const unsigned char *bytes);
static Geometry GeometryFor(int64_t bytes);
static void    IncludeInCores(void);
static void    FillHeader(NsRingHeader *headerPtr, const Geometry *geometryPtr);
static Layout  LayoutOf(uint32_t segmentBytes, uint32_t nSegments,
                        uint32_t maxLanes, uint32_t maxSinks);
static NsRing *Attach(void *base, const Layout *layoutPtr,
                      NsRingFile *filePtr);
static int     CreateFile(const NsRingKey *keyPtr, size_t bytes,
                          Ns_DString *pathPtr, const char **reasonPtr);
static int     CreateUnnamed(const NsRingKey *keyPtr, Ns_DString *pathPtr);
static bool    GiveName(const NsRingKey *keyPtr, Ns_DString *pathPtr);
static bool    Lock(int fd);
static bool    IsOpen(const char *path);
static NsRingFile *AddFile(int fd, const char *path);
static void    ReleaseFile(NsRingFile *filePtr, bool isDone);
static int     ListNames(const NsRingKey *keyPtr, char separator,
                         char ***pathsPtr);
static void    AppendPrefix(Ns_DString *dsPtr, const NsRingKey *keyPtr,
                            char separator);
static int     ByName(const void *left, const void *right);
static NsRing *MapFrom(NsRingFile *filePtr, off_t offset, off_t size,
                       bool isReadOnly, const char **reasonPtr);
static const char *CheckFile(int fd, bool isReadOnly, struct stat *stPtr);
static const char *CheckHeader(const NsRingHeader *headerPtr, uint64_t bytes);
static bool    IsBlank(const NsRingHeader *headerPtr);
static void    RepairLanes(NsRing *ringPtr);
static void    RepairLane(NsRing *ringPtr, uint32_t lane);
static void    RepairSinks(NsRing *ringPtr);
static void    CommitPrepared(const NsRing *ringPtr, uint32_t lane,
                              NsRingSegment *segmentPtr);
static uint64_t NeededFrom(const NsRing *ringPtr, uint32_t lane);
static bool    HasName(const NsRingSink *slotPtr);
static NsRingSegment *FirstNeeded(NsRing *ringPtr, uint32_t lane);
static NsRingSegment *NextOf(const NsRing *ringPtr,
                             const NsRingSegment *segmentPtr);
static bool    WriteRing(Output *outputPtr, NsRing *ringPtr);
static bool    WritePart(const Output *outputPtr, const void *part,
                         size_t length, size_t to);


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
    NsRingFile *filePtr = NULL;
    int        fd;

    Ns_DStringInit(&path);
    fd = CreateFile(keyPtr, geometry.layout.bytes, &path, reasonPtr);
    while (fd < 0 && errno == ENOSPC && bytes - bytes / 8 >= LEAST_BYTES) {
        /* A small one that survives is worth more than a large one. */
        bytes -= bytes / 8;
        geometry = GeometryFor(bytes);
        fd = CreateFile(keyPtr, geometry.layout.bytes, &path, reasonPtr);
    }
    if (fd >= 0) {
        base = mmap(NULL, geometry.layout.bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE, fd, 0);
        if (base != MAP_FAILED) {
            FillHeader(base, &geometry);
        }
        if (base == MAP_FAILED || !GiveName(keyPtr, &path)) {
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
        FillHeader(base, &geometry);
    }
    IncludeInCores();
    if (fd >= 0) {
        filePtr = AddFile(fd, Ns_DStringValue(&path));
    }
    ringPtr = Attach(base, &geometry.layout, filePtr);
    if (filePtr != NULL) {
        ReleaseFile(filePtr, true);
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

    if (!isReadOnly && IsOpen(path)) {
        *reasonPtr = nsRingInUse;
        return NULL;
    }
    fd = open(path, (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW
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
    filePtr = AddFile(fd, path);
    while (*reasonPtr == NULL && offset < st.st_size) {
        *linkPtr = MapFrom(filePtr, offset, st.st_size, isReadOnly, reasonPtr);
        if (*linkPtr != NULL) {
            offset += (off_t) (*linkPtr)->headerPtr->bytes;
            linkPtr = &(*linkPtr)->siblingPtr;
        }
    }
    if (firstPtr != NULL && *reasonPtr != NULL) {
        /* What comes behind cannot be told from anything else. */
        firstPtr->nDamaged++;
    }
    ReleaseFile(filePtr, firstPtr != NULL && !isReadOnly);
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
    Layout        layout;
    void         *base;

    *reasonPtr = size - offset < (off_t) sizeof(*headerPtr) ? "too short"
        : pread(filePtr->fd, headerPtr, sizeof(*headerPtr), offset)
          != (ssize_t) sizeof(*headerPtr) ? strerror(EIO)
        : CheckHeader(headerPtr, (uint64_t) (size - offset));
    if (*reasonPtr == NULL) {
        base = mmap(NULL, headerPtr->bytes,
                    isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE,
                    MAP_SHARED, filePtr->fd, offset);
        if (base == MAP_FAILED) {
            *reasonPtr = strerror(errno);
        } else {
            layout = LayoutOf(headerPtr->segmentBytes, headerPtr->nSegments,
                              headerPtr->maxLanes, headerPtr->maxSinks);
            ringPtr = Attach(base, &layout, filePtr);
            if (!isReadOnly) {
                RepairLanes(ringPtr);
                RepairSinks(ringPtr);
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
        ReleaseFile(ringPtr->filePtr, isDone);
    }
    ns_free(ringPtr);
}

int
NsRingList(const NsRingKey *keyPtr, char ***pathsPtr)
{
    return ListNames(keyPtr, NAMED, pathsPtr);
}

void
NsRingSweep(const NsRingKey *keyPtr)
{
    char **paths;
    int    n = ListNames(keyPtr, UNNAMED, &paths);

    for (int i = 0; i < n; i++) {
        int fd = IsOpen(paths[i]) ? -1
            : open(paths[i], O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        if (fd >= 0) {
            if (Lock(fd)) {
                unlink(paths[i]);
            }
            close(fd);
        }
        ns_free(paths[i]);
    }
    ns_free(paths);
}

static int
ListNames(const NsRingKey *keyPtr, char separator, char ***pathsPtr)
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
    AppendPrefix(&prefix, keyPtr, separator);
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
    g.layout = LayoutOf(g.segmentBytes, g.nSegments, g.maxLanes,
                        NS_RING_SINKS);
    if (g.layout.bytes > (uint64_t) bytes
            && g.layout.segments < (uint64_t) bytes / 2) {
        g.nSegments = (uint32_t) (((uint64_t) bytes - g.layout.segments)
                                  / g.segmentBytes);
        g.maxLanes = MIN(g.maxLanes, g.nSegments / 2);
        g.layout = LayoutOf(g.segmentBytes, g.nSegments, g.maxLanes,
                        NS_RING_SINKS);
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
    headerPtr->maxSinks = NS_RING_SINKS;
    headerPtr->bytes = geometryPtr->layout.bytes;
    headerPtr->epoch = (uint64_t) NsLogClock();
    headerPtr->pid = getpid();
    memcpy(headerPtr->magic, MAGIC, sizeof(headerPtr->magic));
}

static Layout
LayoutOf(uint32_t segmentBytes, uint32_t nSegments, uint32_t maxLanes,
         uint32_t maxSinks)
{
    Layout layout;
    size_t page = PAGE_BYTES - 1;

    layout.lanes = (sizeof(NsRingHeader) + page) & ~page;
    layout.sinks = (layout.lanes + maxLanes * sizeof(NsRingLane) + page)
        & ~page;
    layout.sinkBytes = (sizeof(NsRingSink) + maxLanes * sizeof(NsRingCursor)
                        + 63) & ~(size_t) 63;
    layout.segments = (layout.sinks + maxSinks * layout.sinkBytes + page)
        & ~page;
    layout.bytes = layout.segments + (size_t) nSegments * segmentBytes;
    return layout;
}

static NsRing *
Attach(void *base, const Layout *layoutPtr, NsRingFile *filePtr)
{
    NsRing *ringPtr = ns_calloc(1u, sizeof(*ringPtr));

    ringPtr->headerPtr = base;
    ringPtr->lanes = (NsRingLane *) (void *) ((char *) base + layoutPtr->lanes);
    ringPtr->sinks = (char *) base + layoutPtr->sinks;
    ringPtr->sinkBytes = layoutPtr->sinkBytes;
    ringPtr->segments = (char *) base + layoutPtr->segments;
    if (filePtr != NULL) {
        Ns_MutexLock(&openLock);
        filePtr->nUsers++;
        Ns_MutexUnlock(&openLock);
        ringPtr->filePtr = filePtr;
        ringPtr->path = filePtr->path;
    }
    return ringPtr;
}

static int
CreateFile(const NsRingKey *keyPtr, size_t bytes, Ns_DString *pathPtr,
           const char **reasonPtr)
{
    int fd = CreateUnnamed(keyPtr, pathPtr), status;

    *reasonPtr = NULL;
    if (fd < 0) {
        *reasonPtr = strerror(errno);
        return -1;
    }
    /* A store into a page that cannot be had would be SIGBUS. */
    status = posix_fallocate(fd, 0, (off_t) bytes);
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
 * A file, locked, under a name that nobody looks for but NsRingSweep; that may
 * come before we have the lock.
 */
static int
CreateUnnamed(const NsRingKey *keyPtr, Ns_DString *pathPtr)
{
    struct stat st;
    int         fd;

    Ns_DStringSetLength(pathPtr, 0);
    Ns_DStringVarAppend(pathPtr, keyPtr->directory, "/", (char *) NULL);
    AppendPrefix(pathPtr, keyPtr, UNNAMED);
    Ns_DStringPrintf(pathPtr, "%020" PRId64 "-%d", NsLogClock(), getpid());
    for (;;) {
        fd = open(Ns_DStringValue(pathPtr),
                  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            return -1;
        }
        if (Lock(fd) && fstat(fd, &st) == 0 && st.st_nlink > 0) {
            return fd;
        }
        close(fd);
    }
}

/*
 * Names carry the time, so they are never used twice and sort by age.
 */
static bool
GiveName(const NsRingKey *keyPtr, Ns_DString *pathPtr)
{
    Ns_DString prefix;
    char      *old = ns_strdup(Ns_DStringValue(pathPtr));
    bool       isOk;

    Ns_DStringInit(&prefix);
    AppendPrefix(&prefix, keyPtr, UNNAMED);
    /* The separator is the last character of the prefix. */
    Ns_DStringValue(pathPtr)[strlen(keyPtr->directory)
                             + (size_t) Ns_DStringLength(&prefix)] = NAMED;
    Ns_DStringFree(&prefix);
    isOk = rename(old, Ns_DStringValue(pathPtr)) == 0;
    if (!isOk) {
        int reason = errno;

        unlink(old);
        errno = reason;
    }
    ns_free(old);
    return isOk;
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
    const NsRingFile *filePtr;

    Ns_MutexLock(&openLock);
    for (filePtr = firstOpen; filePtr != NULL; filePtr = filePtr->nextPtr) {
        if (STREQ(filePtr->path, path)) {
            break;
        }
    }
    Ns_MutexUnlock(&openLock);
    return filePtr != NULL;
}

/*
 * The caller is its first user.
 */
static NsRingFile *
AddFile(int fd, const char *path)
{
    NsRingFile *filePtr = ns_calloc(1u, sizeof(*filePtr));

    filePtr->fd = fd;
    filePtr->path = ns_strdup(path);
    filePtr->nUsers = 1;
    Ns_MutexLock(&openLock);
    filePtr->nextPtr = firstOpen;
    firstOpen = filePtr;
    Ns_MutexUnlock(&openLock);
    return filePtr;
}

static void
ReleaseFile(NsRingFile *filePtr, bool isDone)
{
    NsRingFile **linkPtr = &firstOpen;

    Ns_MutexLock(&openLock);
    filePtr->isKept |= !isDone;
    if (--filePtr->nUsers == 0) {
        while (*linkPtr != filePtr) {
            linkPtr = &(*linkPtr)->nextPtr;
        }
        *linkPtr = filePtr->nextPtr;
        if (!filePtr->isKept) {
            unlink(filePtr->path);
        }
        close(filePtr->fd);
        ns_free(filePtr->path);
        ns_free(filePtr);
    }
    Ns_MutexUnlock(&openLock);
}

static void
AppendPrefix(Ns_DString *dsPtr, const NsRingKey *keyPtr, char separator)
{
    uint64_t sum = NsRingSum(1, keyPtr->home, strlen(keyPtr->home));

    if (keyPtr->configFile != NULL) {
        sum = NsRingSum(sum, keyPtr->configFile, strlen(keyPtr->configFile));
    }
    Ns_DStringPrintf(dsPtr, "nsd-%016" PRIx64 "%c", sum, separator);
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
            return nsRingInUse;
        }
    }
    return stPtr->st_size == 0 ? nsRingEmpty : NULL;
}

static const char *
CheckHeader(const NsRingHeader *headerPtr, uint64_t bytes)
{
    uint32_t segmentBytes = headerPtr->segmentBytes;

    if (memcmp(headerPtr->magic, MAGIC, sizeof(headerPtr->magic)) != 0) {
        return IsBlank(headerPtr) ? nsRingEmpty : "not a log mapping";
    }
    if (headerPtr->version != NS_RING_VERSION) {
        return "made by another version";
    }
    if (segmentBytes < MIN_SEGMENT || segmentBytes > MAX_SEGMENT
            || segmentBytes % 64 != 0 || headerPtr->nSegments < 2
            || headerPtr->maxLanes > NS_RING_MAX_LANES
            || headerPtr->maxSinks > NS_RING_SINKS
            || atomic_load(&headerPtr->nLanes) > headerPtr->maxLanes
            || atomic_load(&headerPtr->nStreams) > NS_RING_STREAMS
            || headerPtr->bytes > bytes
            || LayoutOf(segmentBytes, headerPtr->nSegments,
                        headerPtr->maxLanes, headerPtr->maxSinks).bytes
               != headerPtr->bytes) {
        return "damaged header";
    }
    for (unsigned i = 0; i < atomic_load(&headerPtr->nStreams); i++) {
        if (memchr(headerPtr->streams[i], '\0', NS_RING_NAME) == NULL) {
            return "damaged header";
        }
    }
    return NULL;
}

static bool
IsBlank(const NsRingHeader *headerPtr)
{
    const char *bytes = (const char *) headerPtr;

    return bytes[0] == '\0'
        && memcmp(bytes, bytes + 1, sizeof(*headerPtr) - 1) == 0;
}

/*
 * All chains stay within the mapping, end, and carry the lane's number.  What
 * stands in the segments is checked record by record by those who read it.
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
            ? NsRingSegmentAt(ringPtr, segment) : NULL;

        if (segmentPtr == NULL || n >= headerPtr->nSegments
                || segmentPtr->lane != lane
                || segmentPtr->epoch != headerPtr->epoch
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

bool
NsRingIsNeeded(const NsRing *ringPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);

    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (HasName(slotPtr) && NsRingMissing(slotPtr) > 0) {
            return true;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (NeededFrom(ringPtr, i) != UINT64_MAX) {
            return true;
        }
    }
    return false;
}

/*
 * The lane's first segment of which some sink has not read all, by its number
 * in the lane; UINT64_MAX: there is none.
 */
static uint64_t
NeededFrom(const NsRing *ringPtr, uint32_t lane)
{
    uint64_t least = UINT64_MAX, end = 0;
    uint32_t nSegments = ringPtr->headerPtr->nSegments;
    uint32_t segment = atomic_load(&ringPtr->lanes[lane].first);

    while (segment < nSegments) {
        const NsRingSegment *segmentPtr = NsRingSegmentAt(ringPtr, segment);

        end = NsRingPosition(segmentPtr->number,
                             atomic_load(&segmentPtr->committed));
        segment = atomic_load(&segmentPtr->next);
    }
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (HasName(slotPtr)
                && atomic_load(&slotPtr->wants[ringPtr->lanes[lane].stream])) {
            uint64_t done = atomic_load(&slotPtr->cursors[lane].done);

            if (done < end) {
                least = MIN(least, done);
            }
        }
    }
    return least == UINT64_MAX ? least : NsRingNumberOf(least);
}

static bool
HasName(const NsRingSink *slotPtr)
{
    return slotPtr->name[0] != '\0';
}

void
NsRingPunch(NsRing *ringPtr)
{
    char    *base = (char *) ringPtr->headerPtr;
    size_t   nPages = ringPtr->headerPtr->bytes / PAGE_BYTES;
    size_t   segments = (size_t) (ringPtr->segments - base);
    char    *isNeeded = ns_calloc(nPages, 1u);
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);

    memset(isNeeded, 1, segments / PAGE_BYTES);
    for (uint32_t i = 0; i < nLanes; i++) {
        const NsRingSegment *segmentPtr = FirstNeeded(ringPtr, i);

        for (; segmentPtr != NULL; segmentPtr = NextOf(ringPtr, segmentPtr)) {
            size_t from = (size_t) ((const char *) segmentPtr - base);
            size_t to = from + atomic_load(&segmentPtr->committed) - 1;

            memset(isNeeded + from / PAGE_BYTES, 1,
                   to / PAGE_BYTES - from / PAGE_BYTES + 1);
        }
    }
    for (size_t i = 0, n; i < nPages; i += n) {
        for (n = 1; i + n < nPages && isNeeded[i + n] == isNeeded[i]; n++) {
        }
        if (!isNeeded[i]) {
            /* Where that cannot be done they stay. */
            (void) madvise(base + i * PAGE_BYTES, n * PAGE_BYTES, MADV_REMOVE);
        }
    }
    ns_free(isNeeded);
}

/*
 * The lane begins there from now on.  NULL: nothing of it is needed.
 */
static NsRingSegment *
FirstNeeded(NsRing *ringPtr, uint32_t lane)
{
    uint64_t       number = NeededFrom(ringPtr, lane);
    NsRingLane    *lanePtr = &ringPtr->lanes[lane];
    NsRingSegment *segmentPtr = atomic_load(&lanePtr->first) == NS_RING_NONE
        ? NULL : NsRingSegmentAt(ringPtr, atomic_load(&lanePtr->first));

    while (segmentPtr != NULL && segmentPtr->number < number) {
        atomic_store(&lanePtr->first, atomic_load(&segmentPtr->next));
        segmentPtr = NextOf(ringPtr, segmentPtr);
    }
    return segmentPtr;
}

static NsRingSegment *
NextOf(const NsRing *ringPtr, const NsRingSegment *segmentPtr)
{
    uint32_t next = atomic_load(&segmentPtr->next);

    return next == NS_RING_NONE ? NULL : NsRingSegmentAt(ringPtr, next);
}

char *
NsRingCollect(const NsRingKey *keyPtr, NsRing *const *rings, int n)
{
    Ns_DString path;
    Output     output = {-1, 0};
    char      *result = NULL;
    bool       isOk = true;
    int        reason;

    Ns_DStringInit(&path);
    output.fd = CreateUnnamed(keyPtr, &path);
    if (output.fd < 0) {
        Ns_DStringFree(&path);
        return NULL;
    }
    for (int i = 0; isOk && i < n; i++) {
        isOk = WriteRing(&output, rings[i]);
    }
    isOk = isOk && ftruncate(output.fd, output.base) == 0
        && GiveName(keyPtr, &path);
    reason = errno;
    if (isOk) {
        result = Ns_DStringExport(&path);
    } else {
        unlink(Ns_DStringValue(&path));
    }
    close(output.fd);
    Ns_DStringFree(&path);
    errno = reason;
    return result;
}

/*
 * The same mapping, but for slots of sinks that need nothing.  What is not
 * written is a hole, and takes no memory as long as nobody looks there.
 */
static bool
WriteRing(Output *outputPtr, NsRing *ringPtr)
{
    NsRingHeader *headerPtr = ns_malloc(sizeof(*headerPtr));
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);
    size_t   headerBytes = offsetof(NsRingHeader, streams)
        + atomic_load(&ringPtr->headerPtr->nStreams)
          * sizeof(headerPtr->streams[0]);
    Layout   layout;
    size_t   to;
    bool     isOk;

    memcpy(headerPtr, ringPtr->headerPtr, headerBytes);
    headerPtr->maxSinks = 0;
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        headerPtr->maxSinks += HasName(NsRingSinkAt(ringPtr, i));
    }
    layout = LayoutOf(headerPtr->segmentBytes, headerPtr->nSegments,
                      headerPtr->maxLanes, headerPtr->maxSinks);
    headerPtr->bytes = layout.bytes;
    isOk = WritePart(outputPtr, headerPtr, headerBytes, 0);
    to = layout.sinks;
    for (int i = 0; isOk && i < (int) ringPtr->headerPtr->maxSinks; i++) {
        const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (HasName(slotPtr)) {
            isOk = WritePart(outputPtr, slotPtr, sizeof(*slotPtr)
                             + nLanes * sizeof(NsRingCursor), to);
            to += layout.sinkBytes;
        }
    }
    for (uint32_t i = 0; isOk && i < nLanes; i++) {
        const NsRingSegment *segmentPtr = FirstNeeded(ringPtr, i);

        for (; isOk && segmentPtr != NULL;
             segmentPtr = NextOf(ringPtr, segmentPtr)) {
            isOk = WritePart(outputPtr, segmentPtr,
                             atomic_load(&segmentPtr->committed),
                             layout.segments
                             + (size_t) ((const char *) segmentPtr
                                         - ringPtr->segments));
        }
    }
    /* Their first segments have changed by now. */
    isOk = isOk && WritePart(outputPtr, ringPtr->lanes,
                             nLanes * sizeof(NsRingLane), layout.lanes);
    outputPtr->base += (off_t) layout.bytes;
    ns_free(headerPtr);
    return isOk;
}

static bool
WritePart(const Output *outputPtr, const void *part, size_t length, size_t to)
{
    const char *bytes = part;
    off_t       at = outputPtr->base + (off_t) to;

    while (length > 0) {
        ssize_t written = pwrite(outputPtr->fd, bytes, length, at);

        if (written <= 0) {
            errno = written == 0 ? EIO : errno;
            return false;
        }
        bytes += written;
        at += written;
        length -= (size_t) written;
    }
    return true;
}

/*
 * spill.c --
 *
 *      Records that a sink has not written yet, in a file; see spill.h.
 */

#include "log/spill.h"

#include "base/assert.h"
#include "base/writeall.h"
#include "nsstring.h"
#include "nsthread.h"

#define READ_BYTES  ((size_t) 256 << 10)
/* So much is given back to the file system at a time. */
#define PUNCH_BYTES ((uint64_t) 4 << 20)

static atomic_uint lastNumber;

static char    *PathOf(const NsRing *ringPtr, const NsRingSink *slotPtr);
static bool     MakeDirectory(const char *directory);
static NsSpill *Attach(NsRing *ringPtr, NsRingSink *slotPtr, char *path,
                       int fd);
static bool     IsOurs(int fd);
static void     Settle(NsSpill *spillPtr);
static size_t   SizeOf(const NsSpillFrame *framePtr);
static uint32_t Checksum(const NsSpillFrame *framePtr, const void *bytes);
static bool     Fill(NsSpill *spillPtr, size_t need);


NsSpill *
NsSpillCreate(NsRing *ringPtr, NsRingSink *slotPtr)
{
    const char *directory = ringPtr->headerPtr->spillDirectory;
    char       *path;
    int         fd;

    if (*directory == '\0') {
        errno = ENOENT;
        return NULL;
    }
    if (!MakeDirectory(directory)) {
        return NULL;
    }
    slotPtr->spillEnd = slotPtr->spillDone = 0;
    slotPtr->spillAhead = slotPtr->spillBatch = 0;
    slotPtr->nSpilled = 0;
    slotPtr->spillNumber = atomic_fetch_add(&lastNumber, 1) + 1;
    /* Before there is a file that nobody would look for. */
    atomic_store(&slotPtr->hasSpill, 1u);
    path = PathOf(ringPtr, slotPtr);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        int reason = errno;

        atomic_store(&slotPtr->hasSpill, 0u);
        ns_free(path);
        errno = reason;
        return NULL;
    }
    if (ringPtr->path == NULL) {
        /* Nobody will know what is in it. */
        unlink(path);
    }
    return Attach(ringPtr, slotPtr, path, fd);
}

NsSpill *
NsSpillOpen(NsRing *ringPtr, NsRingSink *slotPtr)
{
    char    *path = PathOf(ringPtr, slotPtr);
    int      fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    NsSpill *spillPtr;

    if (fd >= 0 && !IsOurs(fd)) {
        close(fd);
        fd = -1;
        errno = EPERM;
    }
    if (fd < 0) {
        int reason = errno;

        ns_free(path);
        errno = reason;
        return NULL;
    }
    spillPtr = Attach(ringPtr, slotPtr, path, fd);
    Settle(spillPtr);
    spillPtr->nRead = 0;
    spillPtr->read = MIN(atomic_load(&slotPtr->spillDone), spillPtr->end);
    spillPtr->freed = spillPtr->read;
    return spillPtr;
}

void
NsSpillDelete(NsSpill **spillPtrPtr)
{
    NsSpill *spillPtr = *spillPtrPtr;

    atomic_store(&spillPtr->slotPtr->hasSpill, 0u);
    unlink(spillPtr->path);
    NsSpillClose(spillPtrPtr);
}

void
NsSpillClose(NsSpill **spillPtrPtr)
{
    NsSpill *spillPtr = *spillPtrPtr;

    *spillPtrPtr = NULL;
    close(spillPtr->fd);
    ns_free(spillPtr->path);
    ns_free(spillPtr->out);
    ns_free(spillPtr->in);
    ns_free(spillPtr);
}

void
NsSpillDeleteOf(NsRing *ringPtr, NsRingSink *slotPtr)
{
    if (atomic_load(&slotPtr->hasSpill) != 0) {
        char *path = PathOf(ringPtr, slotPtr);

        atomic_store(&slotPtr->hasSpill, 0u);
        unlink(path);
        ns_free(path);
    }
}

uint64_t
NsSpillCount(const NsRingSink *slotPtr)
{
    return atomic_load(&slotPtr->hasSpill) != 0
        ? atomic_load(&slotPtr->nSpilled) : 0;
}

uint64_t
NsSpillUnread(const NsSpill *spillPtr)
{
    uint64_t n = atomic_load(&spillPtr->slotPtr->nSpilled);

    return n - MIN(n, spillPtr->nRead);
}

void
NsSpillAdd(NsSpill *spillPtr, const NsSpillFrame *framePtr, const void *bytes)
{
    size_t        size = SizeOf(framePtr);
    size_t        length = framePtr->record.length;
    NsSpillFrame *toPtr;

    if (spillPtr->outRoom < spillPtr->nOut + size) {
        spillPtr->outRoom = MAX(spillPtr->nOut + size, 2 * spillPtr->outRoom);
        spillPtr->out = ns_realloc(spillPtr->out, spillPtr->outRoom);
    }
    toPtr = (NsSpillFrame *) (void *) (spillPtr->out + spillPtr->nOut);
    *toPtr = *framePtr;
    toPtr->record.epoch = (uint32_t) spillPtr->ringPtr->headerPtr->epoch;
    toPtr->record.checksum = Checksum(toPtr, bytes);
    memcpy(toPtr + 1, bytes, length);
    memset((char *) (toPtr + 1) + length, 0, size - sizeof(*toPtr) - length);
    spillPtr->nOut += size;
    spillPtr->nOutRecords += framePtr->record.kind == NS_RING_WHOLE;
}

bool
NsSpillWrite(NsSpill *spillPtr, bool isRead)
{
    NsRingSink *slotPtr = spillPtr->slotPtr;
    uint64_t    end = spillPtr->end;
    size_t      n = spillPtr->nOut;

    NsAssert(!isRead || spillPtr->read == end);
    spillPtr->nOut = 0;
    if (!NsWriteAllAt(spillPtr->fd, spillPtr->out, n, (off_t) end)) {
        spillPtr->nOutRecords = 0;
        return false;
    }
    spillPtr->end += n;
    if (isRead) {
        spillPtr->read = spillPtr->end;
        /* Before it counts: more than there is counts as all. */
        atomic_store(&slotPtr->spillAhead, spillPtr->end);
        spillPtr->nRead += spillPtr->nOutRecords;
    }
    atomic_fetch_add(&slotPtr->nSpilled, spillPtr->nOutRecords);
    spillPtr->nOutRecords = 0;
    atomic_store(&slotPtr->spillBatch, end);
    atomic_store(&slotPtr->spillEnd, spillPtr->end);
    return true;
}

const NsSpillFrame *
NsSpillHead(NsSpill *spillPtr)
{
    const NsRingHeader *headerPtr = spillPtr->ringPtr->headerPtr;
    const NsSpillFrame *framePtr;
    uint64_t            left = spillPtr->end - spillPtr->read;

    if (left < sizeof(*framePtr) || !Fill(spillPtr, sizeof(*framePtr))) {
        return NULL;
    }
    framePtr = (const NsSpillFrame *) (const void *)
        (spillPtr->in + (spillPtr->read - spillPtr->inStart));
    if (SizeOf(framePtr) > left
            || framePtr->record.epoch != (uint32_t) headerPtr->epoch
            || framePtr->record.lane >= headerPtr->maxLanes
            || !Fill(spillPtr, SizeOf(framePtr))) {
        return NULL;
    }
    framePtr = (const NsSpillFrame *) (const void *)
        (spillPtr->in + (spillPtr->read - spillPtr->inStart));
    return framePtr->record.checksum == Checksum(framePtr, framePtr + 1)
        ? framePtr : NULL;
}

bool
NsSpillIsDamaged(const NsSpill *spillPtr)
{
    return spillPtr->read != spillPtr->end;
}

void
NsSpillAdvance(NsSpill *spillPtr, const NsSpillFrame *headPtr)
{
    spillPtr->read += SizeOf(headPtr);
    spillPtr->nRead += headPtr->record.kind == NS_RING_WHOLE;
}

void
NsSpillSkip(NsSpill *spillPtr)
{
    spillPtr->nRead += NsSpillUnread(spillPtr);
    spillPtr->read = spillPtr->end;
}

void
NsSpillNoteDone(NsSpill *spillPtr)
{
    uint64_t done = spillPtr->read;

    atomic_store(&spillPtr->slotPtr->nSpilled, NsSpillUnread(spillPtr));
    spillPtr->nRead = 0;
    atomic_store(&spillPtr->slotPtr->spillDone, done);
    if (done - spillPtr->freed >= PUNCH_BYTES && !spillPtr->cannotPunch) {
        uint64_t n = (done - spillPtr->freed) / PUNCH_BYTES * PUNCH_BYTES;

        if (fallocate(spillPtr->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      (off_t) spillPtr->freed, (off_t) n) == 0) {
            spillPtr->freed += n;
        } else {
            spillPtr->cannotPunch = true;
        }
    }
}

/*
 * The caller's, on the heap.  The time in the mapping tells it from others.
 */
static char *
PathOf(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    Ns_DString          ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s/nsd-%016" PRIx64 "-%d.%u",
                     headerPtr->spillDirectory, headerPtr->epoch,
                     (int) headerPtr->pid, slotPtr->spillNumber);
    return Ns_DStringExport(&ds);
}

/*
 * The directory, and the one that it is in.
 */
static bool
MakeDirectory(const char *directory)
{
    char *parent, *slash;

    if (mkdir(directory, 0700) == 0 || errno == EEXIST) {
        return true;
    }
    if (errno != ENOENT) {
        return false;
    }
    parent = ns_strdup(directory);
    slash = strrchr(parent, '/');
    if (slash != NULL && slash != parent) {
        *slash = '\0';
        (void) mkdir(parent, 0755);
    }
    ns_free(parent);
    return mkdir(directory, 0700) == 0 || errno == EEXIST;
}

static NsSpill *
Attach(NsRing *ringPtr, NsRingSink *slotPtr, char *path, int fd)
{
    NsSpill *spillPtr = ns_calloc(1u, sizeof(*spillPtr));

    spillPtr->ringPtr = ringPtr;
    spillPtr->slotPtr = slotPtr;
    spillPtr->path = path;
    spillPtr->fd = fd;
    spillPtr->end = atomic_load(&slotPtr->spillEnd);
    return spillPtr;
}

static bool
IsOurs(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
        && st.st_uid == geteuid();
}

/*
 * The process that wrote the last addition may have been killed before it moved
 * the cursors.
 */
static void
Settle(NsSpill *spillPtr)
{
    NsRingSink         *slotPtr = spillPtr->slotPtr;
    const NsSpillFrame *framePtr;

    spillPtr->read = MIN(atomic_load(&slotPtr->spillBatch), spillPtr->end);
    while ((framePtr = NsSpillHead(spillPtr)) != NULL) {
        NsRingCursor *cursorPtr = &slotPtr->cursors[framePtr->record.lane];

        if (framePtr->next > atomic_load(&cursorPtr->done)) {
            atomic_store(&cursorPtr->done, framePtr->next);
        }
        NsSpillAdvance(spillPtr, framePtr);
    }
}

static size_t
SizeOf(const NsSpillFrame *framePtr)
{
    return sizeof(*framePtr) + NS_RING_ALIGN((size_t) framePtr->record.length);
}

static uint32_t
Checksum(const NsSpillFrame *framePtr, const void *bytes)
{
    const NsRingRecord *recordPtr = &framePtr->record;
    uint64_t            seed = framePtr->start ^ framePtr->next << 1
        ^ (uint64_t) recordPtr->pad << 62;

    return NsRingChecksum(recordPtr,
                          NsRingSum(seed, bytes, recordPtr->length));
}

/*
 * Have so many bytes from `read` on in the buffer.
 */
static bool
Fill(NsSpill *spillPtr, size_t need)
{
    uint64_t at = spillPtr->read;
    size_t   want;

    if (at >= spillPtr->inStart
            && at + need <= spillPtr->inStart + spillPtr->nIn) {
        return true;
    }
    want = (size_t) MIN(spillPtr->end - at, MAX(need, READ_BYTES));
    if (spillPtr->inRoom < want) {
        spillPtr->inRoom = MAX(want, READ_BYTES);
        spillPtr->in = ns_realloc(spillPtr->in, spillPtr->inRoom);
    }
    spillPtr->inStart = at;
    spillPtr->nIn = 0;
    while (spillPtr->nIn < want) {
        ssize_t n = pread(spillPtr->fd, spillPtr->in + spillPtr->nIn,
                          want - spillPtr->nIn,
                          (off_t) (at + spillPtr->nIn));

        if (n <= 0 && (n == 0 || errno != EINTR)) {
            break;
        }
        spillPtr->nIn += n > 0 ? (size_t) n : 0;
    }
    return spillPtr->nIn >= need;
}

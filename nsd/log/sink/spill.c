/* SPDX-License-Identifier: MPL-2.0
 * spill.c --
 *
 *      Records that a sink has not written yet, in a file; see spill.h.
 */

#include "log/sink/spill.h"

#include "base/assert.h"
#include "base/writeall.h"
#include "log/sink/spillhead.h"
#include "nsstring.h"
#include "nsthread.h"

#define READ_BYTES ((size_t) 256 << 10)
/* When a file is nearly full, an addition of less is not written to see how
 * small it gets. */
#define LEAST_BYTES ((size_t) 4 << 10)
/* Given back to the file system at a time. */
#define PUNCH_BYTES ((uint64_t) 4 << 20)

static atomic_uint lastNumber;

static NsSpillForm FormOf(const NsRing *ringPtr);
static bool        IsTaken(const NsRing *ringPtr, const NsRingSink *slotPtr);
static void        Reset(NsRingSink *slotPtr);
static NsSpill    *Create(NsRing *ringPtr, NsRingSink *slotPtr, char *path);
static void        Bound(NsSpill *spillPtr);
static NsSpill    *Open(NsRing *ringPtr, NsRingSink *slotPtr, char *path,
                        int mode);
static void        Rewind(NsSpill *spillPtr);
static NsRing     *OpenNext(const NsSpill *spillPtr);
static char       *PathOfNext(const NsRing *ringPtr, const NsRingSink *slotPtr);
static char       *PathOfNew(const NsRing *ringPtr, const NsRingSink *slotPtr);
static NsSpill    *CreateKept(const NsSpill *spillPtr);
static bool        CopyNext(NsSpill *spillPtr, NsRing *nextPtr);
static bool        CopyKept(NsSpill *spillPtr, NsSpillKeepProc *isKept,
                            bool *hasOthersPtr);
static bool        Keep(NsSpill *keptPtr, const NsSpillFrame *framePtr);
static bool        UseKept(NsSpill *keptPtr);
static bool        MakeDirectory(const char *directory);
static NsSpill    *Attach(NsRing *ringPtr, NsRingSink *slotPtr, char *path,
                          int fd);
static bool        IsOurs(int fd);
static void        Settle(NsSpill *spillPtr);
static bool        HasBlocks(const NsSpill *spillPtr);
static uint64_t    PositionOf(const NsSpill *spillPtr, uint64_t offset);
static bool        WriteOut(const NsSpill *spillPtr, uint64_t *offsetPtr);
static bool        WriteBlocks(NsSpill *spillPtr, uint64_t *offsetPtr);
static const NsSpillFrame *PlainHead(NsSpill *spillPtr);
static uint32_t Checksum(const NsSpillFrame *framePtr, const void *bytes);
static const NsSpillFrame *HeadInBlock(NsSpill *spillPtr);
static bool                UnpackBlock(NsSpill *spillPtr);
static const NsSpillBlock *BlockHead(NsSpill *spillPtr, size_t need);
static bool                Fill(NsSpill *spillPtr, uint64_t at, size_t need);

NsSpill *
NsSpillCreate(NsRing *ringPtr, NsRingSink *slotPtr)
{
    const char *directory = ringPtr->headerPtr->spillDirectory;
    NsSpillForm form;
    NsSpill    *spillPtr;

    if (*directory == '\0') {
        errno = ENOENT;
        return NULL;
    }
    if (!MakeDirectory(directory)) {
        return NULL;
    }
    Reset(slotPtr);
    form = FormOf(ringPtr);
    do {
        slotPtr->spillNumber = (atomic_fetch_add(&lastNumber, 1) + 1)
            % NS_SPILL_GENERATION;
    } while (IsTaken(ringPtr, slotPtr));
    /* Set first, so that no file exists that nobody would look for. */
    atomic_store(&slotPtr->hasSpill, (unsigned) form);
    spillPtr = Create(ringPtr, slotPtr, NsSpillPath(ringPtr, slotPtr));
    if (spillPtr == NULL) {
        atomic_store(&slotPtr->hasSpill, 0u);
    }
    return spillPtr;
}

/*
 * How a new file is written.  The version that made this mapping may be the
 * next to read it.
 */
static NsSpillForm
FormOf(const NsRing *ringPtr)
{
    if (ringPtr->headerPtr->version == NS_RING_VERSION_PLAIN) {
        return NS_SPILL_PLAIN;
    }
    return NsSpillCompresses() ? NS_SPILL_COMPRESSED : NS_SPILL_BLOCKS;
}

/*
 * Another sink of the mapping's process uses the name.
 */
static bool
IsTaken(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    char *path = NsSpillPath(ringPtr, slotPtr);
    char *next = PathOfNext(ringPtr, slotPtr);
    bool  isTaken = access(path, F_OK) == 0 || access(next, F_OK) == 0;

    ns_free(path);
    ns_free(next);
    return isTaken;
}

static void
Reset(NsRingSink *slotPtr)
{
    slotPtr->spillEnd = slotPtr->spillDone = 0;
    slotPtr->spillAhead = slotPtr->spillBatch = 0;
    slotPtr->nSpilled = 0;
}

/*
 * NULL: there is no file, and errno says why.  Takes the path.
 */
static NsSpill *
Create(NsRing *ringPtr, NsRingSink *slotPtr, char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                  0600);
    NsSpill *spillPtr;

    if (fd < 0) {
        int reason = errno;

        ns_free(path);
        errno = reason;
        return NULL;
    }
    spillPtr = Attach(ringPtr, slotPtr, path, fd);
    if (!NsSpillHeadCreate(&spillPtr->head, fd, ringPtr, slotPtr)) {
        int reason = errno;

        unlink(path);
        NsSpillClose(&spillPtr);
        errno = reason;
    }
    return spillPtr;
}

NsSpill *
NsSpillOpen(NsRing *ringPtr, NsRingSink *slotPtr)
{
    NsSpill *spillPtr = Open(ringPtr, slotPtr, NsSpillPath(ringPtr, slotPtr),
                             O_RDWR);

    if (spillPtr != NULL) {
        char *path = PathOfNew(ringPtr, slotPtr);

        /* Left by a process that was killed while making it. */
        unlink(path);
        ns_free(path);
        Settle(spillPtr);
        Rewind(spillPtr);
    }
    return spillPtr;
}

NsSpill *
NsSpillOpenToLook(NsRing *ringPtr, NsRingSink *slotPtr, const char *path)
{
    NsSpill *spillPtr = Open(ringPtr, slotPtr,
                             path != NULL ? ns_strdup(path)
                                          : NsSpillPath(ringPtr, slotPtr),
                             O_RDONLY);

    if (spillPtr != NULL) {
        Bound(spillPtr);
        Rewind(spillPtr);
    }
    return spillPtr;
}

void
NsSpillRefresh(NsSpill *spillPtr)
{
    uint64_t done = atomic_load(&spillPtr->slotPtr->spillDone);

    spillPtr->end = atomic_load(&spillPtr->slotPtr->spillEnd);
    Bound(spillPtr);
    /* The part before it may be gone already. */
    spillPtr->read = MIN(MAX(spillPtr->read, done), spillPtr->end);
}

/*
 * The slot cannot be trusted: its process may still change it, or it may be
 * damaged.
 */
static void
Bound(NsSpill *spillPtr)
{
    struct stat st;

    if (fstat(spillPtr->fd, &st) != 0 || st.st_size < spillPtr->base) {
        spillPtr->end = 0;
    } else {
        uint64_t size = (uint64_t) (st.st_size - spillPtr->base);

        spillPtr->end = MIN(spillPtr->end, PositionOf(spillPtr, size));
    }
}

/*
 * Takes the path.
 */
static NsSpill *
Open(NsRing *ringPtr, NsRingSink *slotPtr, char *path, int mode)
{
    NsSpill *spillPtr;
    int      fd = open(path, mode | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd >= 0 && mode != O_RDONLY && !IsOurs(fd)) {
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
    if (spillPtr->form == NS_SPILL_COMPRESSED && !NsSpillCompresses()) {
        NsSpillClose(&spillPtr);
        errno = ENOTSUP;
    }
    return spillPtr;
}

/*
 * Start reading.
 */
static void
Rewind(NsSpill *spillPtr)
{
    spillPtr->nRead = 0;
    spillPtr->read = MIN(atomic_load(&spillPtr->slotPtr->spillDone),
                         spillPtr->end);
    spillPtr->freed = NsSpillOffset(spillPtr->form, spillPtr->read);
}

bool
NsSpillKeep(NsSpill *spillPtr, NsSpillKeepProc *isKept, bool *hasOthersPtr)
{
    NsRing  *ringPtr = spillPtr->ringPtr, *nextPtr = OpenNext(spillPtr);
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);
    bool     isOk = true, hasKept = nextPtr != NULL;

    *hasOthersPtr = true;
    /* Ask only once: a stream that is made meanwhile has to wait. */
    spillPtr->isKept = ns_calloc(ringPtr->headerPtr->maxLanes, sizeof(bool));
    for (uint32_t i = 0; i < n && !hasKept; i++) {
        hasKept = isKept(ringPtr, i);
    }
    if (hasKept) {
        spillPtr->keptPtr = CreateKept(spillPtr);
        isOk = spillPtr->keptPtr != NULL
            && (nextPtr == NULL || CopyNext(spillPtr, nextPtr))
            && CopyKept(spillPtr, isKept, hasOthersPtr);
        Rewind(spillPtr);
    }
    if (nextPtr != NULL) {
        *hasOthersPtr = true;
        NsRingClose(&nextPtr, false);
    }
    if (spillPtr->keptPtr != NULL
        && (!isOk || !*hasOthersPtr || spillPtr->keptPtr->end == 0
            || !UseKept(spillPtr->keptPtr))) {
        int reason = errno;

        isOk = isOk && (!*hasOthersPtr || spillPtr->keptPtr->end == 0);
        unlink(spillPtr->keptPtr->path);
        NsSpillClose(&spillPtr->keptPtr);
        errno = reason;
    }
    return isOk;
}

/*
 * The head of the records kept by a process that was killed before it got to
 * NsSpillDelete; NULL: none.
 */
static NsRing *
OpenNext(const NsSpill *spillPtr)
{
    char       *path = PathOfNext(spillPtr->ringPtr, spillPtr->slotPtr);
    const char *reason;
    NsRing     *ringPtr = NsRingOpen(path, true, &reason);

    ns_free(path);
    return ringPtr;
}

static char *
PathOfNext(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    NsRingSink next = {
        .spillNumber = slotPtr->spillNumber + NS_SPILL_GENERATION};

    return NsSpillPath(ringPtr, &next);
}

/*
 * It has its own slot, and another name until it is complete.
 */
static NsSpill *
CreateKept(const NsSpill *spillPtr)
{
    NsRingSink *slotPtr = ns_malloc(sizeof(*slotPtr));
    NsSpill    *keptPtr;

    memcpy(slotPtr, spillPtr->slotPtr, sizeof(*slotPtr));
    slotPtr->spillNumber += NS_SPILL_GENERATION;
    atomic_store(&slotPtr->hasSpill, (unsigned) FormOf(spillPtr->ringPtr));
    atomic_store(&slotPtr->intent, NS_RING_IDLE);
    NsRingSetMissing(slotPtr, 0);
    Reset(slotPtr);
    keptPtr = Create(spillPtr->ringPtr, slotPtr,
                     PathOfNew(spillPtr->ringPtr, spillPtr->slotPtr));
    if (keptPtr == NULL) {
        ns_free(slotPtr);
    } else {
        keptPtr->isOfKept = true;
    }
    return keptPtr;
}

static char *
PathOfNew(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    char      *path = PathOfNext(ringPtr, slotPtr);
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s/new-%s", ringPtr->headerPtr->spillDirectory,
                     strrchr(path, '/') + 1);
    ns_free(path);
    return Ns_DStringExport(&ds);
}

/*
 * Copy the records kept before: all of their lanes.
 */
static bool
CopyNext(NsSpill *spillPtr, NsRing *nextPtr)
{
    NsSpill *oldPtr = NsSpillOpenToLook(nextPtr, NsRingSinkAt(nextPtr, 0),
                                        NULL);
    const NsSpillFrame *framePtr;
    bool                isOk = oldPtr != NULL;

    while (isOk && (framePtr = NsSpillHead(oldPtr)) != NULL) {
        spillPtr->isKept[framePtr->record.lane] = true;
        isOk = Keep(spillPtr->keptPtr, framePtr);
        NsSpillAdvance(oldPtr, framePtr);
    }
    if (oldPtr != NULL) {
        NsSpillClose(&oldPtr);
    }
    return isOk;
}

static bool
CopyKept(NsSpill *spillPtr, NsSpillKeepProc *isKept, bool *hasOthersPtr)
{
    NsRing  *ringPtr = spillPtr->ringPtr;
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);
    bool    *isNew = ns_calloc(ringPtr->headerPtr->maxLanes, sizeof(bool));
    const NsSpillFrame *framePtr;
    bool                isOk = true;

    for (uint32_t i = 0; i < n; i++) {
        isNew[i] = !spillPtr->isKept[i] && isKept(ringPtr, i);
        spillPtr->isKept[i] |= isNew[i];
    }
    *hasOthersPtr = false;
    while (isOk && (framePtr = NsSpillHead(spillPtr)) != NULL) {
        if (!NsSpillIsKept(spillPtr, framePtr)) {
            *hasOthersPtr = true;
        } else if (isNew[framePtr->record.lane]) {
            isOk = Keep(spillPtr->keptPtr, framePtr);
        }
        NsSpillAdvance(spillPtr, framePtr);
    }
    *hasOthersPtr |= NsSpillIsDamaged(spillPtr);
    ns_free(isNew);
    return isOk && NsSpillWrite(spillPtr->keptPtr, false);
}

static bool
Keep(NsSpill *keptPtr, const NsSpillFrame *framePtr)
{
    NsSpillAdd(keptPtr, framePtr, framePtr + 1);
    return keptPtr->nOut < NS_SPILL_BLOCK_BYTES || NsSpillWrite(keptPtr, false);
}

/*
 * It is complete: give it the name that others look for.
 */
static bool
UseKept(NsSpill *keptPtr)
{
    char *path = NsSpillPath(keptPtr->ringPtr, keptPtr->slotPtr);

    if (rename(keptPtr->path, path) != 0) {
        ns_free(path);
        return false;
    }
    ns_free(keptPtr->path);
    keptPtr->path = path;
    return true;
}

void
NsSpillDelete(NsSpill **spillPtrPtr)
{
    NsSpill    *spillPtr = *spillPtrPtr;
    NsRingSink *slotPtr = spillPtr->slotPtr;

    atomic_store(&slotPtr->hasSpill, 0u);
    NsSpillHeadNoteSlot(spillPtr->fd, spillPtr->ringPtr, slotPtr);
    unlink(spillPtr->path);
    if (spillPtr->keptPtr != NULL) {
        /*
         * If the process is killed here, it leaves a file that no mapping
         * names.
         */
        const NsRingSink *keptPtr = spillPtr->keptPtr->slotPtr;

        Reset(slotPtr);
        slotPtr->spillNumber = keptPtr->spillNumber;
        slotPtr->spillEnd = keptPtr->spillEnd;
        slotPtr->nSpilled = keptPtr->nSpilled;
        atomic_store(&slotPtr->hasSpill, atomic_load(&keptPtr->hasSpill));
    }
    NsSpillClose(spillPtrPtr);
}

void
NsSpillClose(NsSpill **spillPtrPtr)
{
    NsSpill *spillPtr = *spillPtrPtr;

    *spillPtrPtr = NULL;
    if (spillPtr->keptPtr != NULL) {
        NsSpillClose(&spillPtr->keptPtr);
    }
    if (spillPtr->isOfKept) {
        ns_free(spillPtr->slotPtr);
    }
    if (spillPtr->packerPtr != NULL) {
        NsSpillPackerDestroy(&spillPtr->packerPtr);
    }
    if (spillPtr->unpackerPtr != NULL) {
        NsSpillUnpackerDestroy(&spillPtr->unpackerPtr);
    }
    close(spillPtr->fd);
    ns_free(spillPtr->isKept);
    ns_free(spillPtr->path);
    ns_free(spillPtr->out);
    ns_free(spillPtr->in);
    ns_free(spillPtr);
}

void
NsSpillDeleteOf(NsRing *ringPtr, NsRingSink *slotPtr)
{
    if (atomic_load(&slotPtr->hasSpill) != 0) {
        char *path = PathOfNext(ringPtr, slotPtr);

        unlink(path);
        ns_free(path);
        atomic_store(&slotPtr->hasSpill, 0u);
        path = NsSpillPath(ringPtr, slotPtr);
        unlink(path);
        ns_free(path);
    }
}

uint64_t
NsSpillCount(const NsRingSink *slotPtr)
{
    return atomic_load(&slotPtr->hasSpill) != 0
        ? atomic_load(&slotPtr->nSpilled)
        : 0;
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
    size_t        size = NsSpillFrameBytes(framePtr);
    size_t        length = framePtr->record.length;
    NsSpillFrame *toPtr;

    if (spillPtr->outRoom < spillPtr->nOut + size) {
        spillPtr->outRoom = MAX(spillPtr->nOut + size, 2 * spillPtr->outRoom);
        spillPtr->out = ns_realloc(spillPtr->out, spillPtr->outRoom);
    }
    toPtr = (NsSpillFrame *) (void *) (spillPtr->out + spillPtr->nOut);
    *toPtr = *framePtr;
    toPtr->record.epoch = (uint32_t) spillPtr->ringPtr->headerPtr->epoch;
    if (!HasBlocks(spillPtr)) {
        toPtr->record.checksum = Checksum(toPtr, bytes);
    }
    memcpy(toPtr + 1, bytes, length);
    memset((char *) (toPtr + 1) + length, 0, size - sizeof(*toPtr) - length);
    spillPtr->nOut += size;
    spillPtr->nOutRecords += framePtr->record.kind == NS_RING_WHOLE;
}

bool
NsSpillWrite(NsSpill *spillPtr, bool isRead)
{
    NsRingSink *slotPtr = spillPtr->slotPtr;
    uint64_t    begin = spillPtr->end;
    uint64_t    offset = NsSpillOffset(spillPtr->form, begin);
    bool        isOk;

    NsAssert(!isRead || spillPtr->read == begin);
    isOk = NsSpillHeadNoteLanes(&spillPtr->head, spillPtr->fd,
                                spillPtr->ringPtr)
        && (HasBlocks(spillPtr) ? WriteBlocks(spillPtr, &offset)
                                : WriteOut(spillPtr, &offset));
    spillPtr->nOut = 0;
    if (!isOk) {
        spillPtr->nOutRecords = 0;
        return false;
    }
    spillPtr->end = PositionOf(spillPtr, offset);
    if (isRead) {
        spillPtr->read = spillPtr->end;
        /*
         * Before the addition counts; a value beyond the end means all of it.
         */
        atomic_store(&slotPtr->spillAhead, spillPtr->end);
        spillPtr->nRead += spillPtr->nOutRecords;
    }
    atomic_fetch_add(&slotPtr->nSpilled, spillPtr->nOutRecords);
    spillPtr->nOutRecords = 0;
    atomic_store(&slotPtr->spillBatch, begin);
    atomic_store(&slotPtr->spillEnd, spillPtr->end);
    NsSpillHeadNoteSlot(spillPtr->fd, spillPtr->ringPtr, slotPtr);
    NsSpillCheck(spillPtr);
    return true;
}

static bool
HasBlocks(const NsSpill *spillPtr)
{
    return spillPtr->form != NS_SPILL_PLAIN;
}

/*
 * Of the first frame there; all offsets where something begins or ends are
 * multiples of 8.
 */
static uint64_t
PositionOf(const NsSpill *spillPtr, uint64_t offset)
{
    return HasBlocks(spillPtr) ? offset << 16 : offset;
}

/*
 * The addition as it is.  *offsetPtr moves behind it.
 */
static bool
WriteOut(const NsSpill *spillPtr, uint64_t *offsetPtr)
{
    off_t at = spillPtr->base + (off_t) *offsetPtr;

    *offsetPtr += spillPtr->nOut;
    return NsWriteAllAt(spillPtr->fd, spillPtr->out, spillPtr->nOut, at);
}

static bool
WriteBlocks(NsSpill *spillPtr, uint64_t *offsetPtr)
{
    size_t at = 0;

    if (spillPtr->packerPtr == NULL) {
        spillPtr->packerPtr = NsSpillPackerCreate();
    }
    while (at < spillPtr->nOut) {
        const NsSpillBlock *blockPtr;
        size_t              begin = at;
        uint64_t            bytes;

        while (at < spillPtr->nOut && at - begin < NS_SPILL_BLOCK_BYTES) {
            at += NsSpillFrameBytes(
                (const NsSpillFrame *) (const void *) (spillPtr->out + at));
        }
        blockPtr = NsSpillPack(spillPtr->packerPtr, spillPtr->out + begin,
                               at - begin,
                               spillPtr->form == NS_SPILL_COMPRESSED);
        bytes = NsSpillBlockBytes(blockPtr);
        if (!NsWriteAllAt(spillPtr->fd, blockPtr, bytes,
                          spillPtr->base + (off_t) *offsetPtr)) {
            return false;
        }
        *offsetPtr += bytes;
    }
    return true;
}

NsSpillRoom
NsSpillRoomFor(const NsSpill *spillPtr, uint64_t recordBytes, uint64_t most)
{
    uint64_t need = sizeof(NsSpillFrame) + NS_RING_ALIGN(recordBytes)
        + (HasBlocks(spillPtr) ? NS_SPILL_BLOCK_EXTRA : 0);

    if (NsSpillBytes(spillPtr) + need <= most) {
        return NS_SPILL_FITS;
    }
    return HasBlocks(spillPtr) && spillPtr->nOut >= LEAST_BYTES
        ? NS_SPILL_WRITE_FIRST
        : NS_SPILL_FULL;
}

const NsSpillFrame *
NsSpillHead(NsSpill *spillPtr)
{
    if (spillPtr->read >= spillPtr->end) {
        return NULL;
    }
    return HasBlocks(spillPtr) ? HeadInBlock(spillPtr) : PlainHead(spillPtr);
}

static const NsSpillFrame *
PlainHead(NsSpill *spillPtr)
{
    const NsRingHeader *headerPtr = spillPtr->ringPtr->headerPtr;
    const NsSpillFrame *framePtr;
    uint64_t            left = spillPtr->end - spillPtr->read;
    size_t              size;

    if (left < sizeof(*framePtr)
        || !Fill(spillPtr, spillPtr->read, sizeof(*framePtr))) {
        return NULL;
    }
    framePtr = (const NsSpillFrame *) (const void *) (spillPtr->in
                                                      + (spillPtr->read
                                                         - spillPtr->inStart));
    size = NsSpillFrameBytes(framePtr);
    if (size > left || framePtr->record.epoch != (uint32_t) headerPtr->epoch
        || framePtr->record.lane >= headerPtr->maxLanes
        || !Fill(spillPtr, spillPtr->read, size)) {
        return NULL;
    }
    framePtr = (const NsSpillFrame *) (const void *) (spillPtr->in
                                                      + (spillPtr->read
                                                         - spillPtr->inStart));
    return framePtr->record.checksum == Checksum(framePtr, framePtr + 1)
        ? framePtr
        : NULL;
}

static uint32_t
Checksum(const NsSpillFrame *framePtr, const void *bytes)
{
    const NsRingRecord *recordPtr = &framePtr->record;
    uint64_t            seed = framePtr->start ^ framePtr->next << 1
        ^ (uint64_t) recordPtr->pad << 62;

    return NsRingChecksum(recordPtr, NsRingSum(seed, bytes, recordPtr->length));
}

static const NsSpillFrame *
HeadInBlock(NsSpill *spillPtr)
{
    if ((spillPtr->frames == NULL || spillPtr->framePosition != spillPtr->read)
        && !UnpackBlock(spillPtr)) {
        return NULL;
    }
    return (const NsSpillFrame *) (const void *) (spillPtr->frames
                                                  + spillPtr->frameAt);
}

/*
 * Have the frames of the block at `read`.  False: it is damaged.
 */
static bool
UnpackBlock(NsSpill *spillPtr)
{
    uint64_t            offset = NsSpillOffset(spillPtr->form, spillPtr->read);
    const NsSpillBlock *blockPtr = BlockHead(spillPtr, 0);
    size_t              at = 0;

    spillPtr->frames = NULL;
    if (blockPtr != NULL) {
        blockPtr = BlockHead(spillPtr, (size_t) NsSpillBlockBytes(blockPtr));
    }
    if (blockPtr == NULL || (spillPtr->read & 0xffff) >= blockPtr->nFrames) {
        return false;
    }
    if (spillPtr->unpackerPtr == NULL) {
        spillPtr->unpackerPtr = NsSpillUnpackerCreate();
    }
    spillPtr->frames = NsSpillUnpack(spillPtr->unpackerPtr, blockPtr,
                                     spillPtr->ringPtr->headerPtr->maxLanes);
    if (spillPtr->frames == NULL) {
        return false;
    }
    spillPtr->nFrameBytes = blockPtr->frameBytes;
    spillPtr->framePosition = spillPtr->read;
    spillPtr->frameEnd = offset + NsSpillBlockBytes(blockPtr);
    for (uint64_t i = spillPtr->read & 0xffff; i > 0; i--) {
        at += NsSpillFrameBytes((const NsSpillFrame
                                     *) (const void *) (spillPtr->frames + at));
    }
    NsAssert(at < spillPtr->nFrameBytes);
    spillPtr->frameAt = at;
    return true;
}

/*
 * The head of the block at `read`, followed by so much of the block in all as
 * the caller needs.  NULL: it is damaged.
 */
static const NsSpillBlock *
BlockHead(NsSpill *spillPtr, size_t need)
{
    uint64_t at = NsSpillOffset(spillPtr->form, spillPtr->read);
    uint64_t left = NsSpillOffset(spillPtr->form, spillPtr->end) - at;
    const NsSpillBlock *blockPtr;

    need = MAX(need, sizeof(*blockPtr));
    if (left < need || at % sizeof(uint64_t) != 0
        || !Fill(spillPtr, at, need)) {
        return NULL;
    }
    blockPtr =
        (const NsSpillBlock *) (const void *) (spillPtr->in
                                               + (at - spillPtr->inStart));
    return NsSpillBlockIsSound(blockPtr,
                               (uint32_t) spillPtr->ringPtr->headerPtr->epoch)
            && NsSpillBlockBytes(blockPtr) <= left
        ? blockPtr
        : NULL;
}

bool
NsSpillIsDamaged(const NsSpill *spillPtr)
{
    return spillPtr->read != spillPtr->end;
}

void
NsSpillAdvance(NsSpill *spillPtr, const NsSpillFrame *headPtr)
{
    bool   isRecord = headPtr->record.kind == NS_RING_WHOLE;
    size_t size = NsSpillFrameBytes(headPtr);

    NsAssert(spillPtr->read < spillPtr->end);
    if (!HasBlocks(spillPtr)) {
        NsAssert(spillPtr->end - spillPtr->read >= size);
        spillPtr->read += size;
    } else {
        NsAssert(spillPtr->frames != NULL
                 && spillPtr->framePosition == spillPtr->read
                 && (const char *) headPtr
                     == spillPtr->frames + spillPtr->frameAt);
        spillPtr->frameAt += size;
        spillPtr->read = spillPtr->frameAt < spillPtr->nFrameBytes
            ? spillPtr->read + 1
            : PositionOf(spillPtr, spillPtr->frameEnd);
        spillPtr->framePosition = spillPtr->read;
        if (spillPtr->frameAt == spillPtr->nFrameBytes) {
            spillPtr->frames = NULL;
        }
    }
    spillPtr->nRead += isRecord;
}

uint64_t
NsSpillSkipDamaged(NsSpill *spillPtr)
{
    const NsSpillBlock *blockPtr = HasBlocks(spillPtr)
        ? BlockHead(spillPtr, 0)
        : NULL;
    uint64_t            n = NsSpillUnread(spillPtr);

    NsAssert(NsSpillIsDamaged(spillPtr));
    if (blockPtr == NULL) {
        spillPtr->read = spillPtr->end;
    } else {
        /* Those before `read` have been read. */
        uint64_t before = MIN(spillPtr->read & 0xffff, blockPtr->nRecords);

        spillPtr->read =
            PositionOf(spillPtr,
                       NsSpillOffset(spillPtr->form, spillPtr->read)
                           + NsSpillBlockBytes(blockPtr));
        if (spillPtr->read < spillPtr->end) {
            n = MIN(n, blockPtr->nRecords - before);
        }
    }
    spillPtr->nRead += n;
    return n;
}

void
NsSpillNoteDone(NsSpill *spillPtr)
{
    uint64_t done = spillPtr->read;
    uint64_t offset = NsSpillOffset(spillPtr->form, done);

    NsAssert(done >= atomic_load(&spillPtr->slotPtr->spillDone));
    atomic_store(&spillPtr->slotPtr->nSpilled, NsSpillUnread(spillPtr));
    spillPtr->nRead = 0;
    atomic_store(&spillPtr->slotPtr->spillDone, done);
    NsSpillHeadNoteSlot(spillPtr->fd, spillPtr->ringPtr, spillPtr->slotPtr);
    if (offset - spillPtr->freed >= PUNCH_BYTES && !spillPtr->cannotPunch) {
        uint64_t n = (offset - spillPtr->freed) / PUNCH_BYTES * PUNCH_BYTES;

        if (fallocate(spillPtr->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      spillPtr->base + (off_t) spillPtr->freed, (off_t) n)
            == 0) {
            spillPtr->freed += n;
        } else {
            spillPtr->cannotPunch = true;
        }
    }
}

void
NsSpillCheck(const NsSpill *spillPtr)
{
    NsAssert(spillPtr->fd >= 0 && spillPtr->base > 0);
    NsAssert(spillPtr->form > NS_SPILL_NONE
             && spillPtr->form <= NS_SPILL_COMPRESSED);
    NsAssert(spillPtr->freed <= NsSpillOffset(spillPtr->form, spillPtr->read));
    NsAssert(spillPtr->read <= spillPtr->end);
    NsAssert(NsSpillOffset(spillPtr->form, spillPtr->end) % sizeof(uint64_t)
             == 0);
    NsAssert(PositionOf(spillPtr, NsSpillOffset(spillPtr->form, spillPtr->end))
             == spillPtr->end);
    NsAssert(spillPtr->nOut <= spillPtr->outRoom);
    NsAssert(spillPtr->nOut > 0 || spillPtr->nOutRecords == 0);
    NsAssert(spillPtr->nIn <= spillPtr->inRoom);
    NsAssert(spillPtr->keptPtr == NULL || spillPtr->isKept != NULL);
}

/*
 * Make the directory and its parent.
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
    unsigned form = atomic_load(&slotPtr->hasSpill);
    uint64_t end;

    spillPtr->ringPtr = ringPtr;
    spillPtr->slotPtr = slotPtr;
    spillPtr->path = path;
    spillPtr->fd = fd;
    spillPtr->base = NsSpillHeadBytes(ringPtr);
    spillPtr->form = form == NS_SPILL_BLOCKS || form == NS_SPILL_COMPRESSED
        ? (NsSpillForm) form
        : NS_SPILL_PLAIN;
    /* Not to trust the slot of another process. */
    end = NsSpillOffset(spillPtr->form, atomic_load(&slotPtr->spillEnd));
    spillPtr->end = PositionOf(spillPtr, end - end % sizeof(uint64_t));
    return spillPtr;
}

static bool
IsOurs(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/*
 * The process that wrote the last addition may have been killed before it moved
 * the cursors: move them.
 */
static void
Settle(NsSpill *spillPtr)
{
    NsRingSink         *slotPtr = spillPtr->slotPtr;
    const NsSpillFrame *framePtr;

    spillPtr->read = MIN(atomic_load(&slotPtr->spillBatch), spillPtr->end);
    while ((framePtr = NsSpillHead(spillPtr)) != NULL) {
        NsRingCursor *cursorPtr =
            NsRingCursorOf(spillPtr->ringPtr, framePtr->record.lane, slotPtr);

        if (cursorPtr != NULL
            && framePtr->next > atomic_load(&cursorPtr->done)) {
            atomic_store(&cursorPtr->done, framePtr->next);
        }
        NsSpillAdvance(spillPtr, framePtr);
    }
}

/*
 * Have the given number of bytes, from an offset on, in the buffer.
 */
static bool
Fill(NsSpill *spillPtr, uint64_t at, size_t need)
{
    uint64_t left = NsSpillOffset(spillPtr->form, spillPtr->end) - at;
    size_t   want;

    if (at >= spillPtr->inStart
        && at + need <= spillPtr->inStart + spillPtr->nIn) {
        return true;
    }
    want = (size_t) MIN(left, MAX(need, READ_BYTES));
    if (spillPtr->inRoom < want) {
        spillPtr->inRoom = MAX(want, READ_BYTES);
        spillPtr->in = ns_realloc(spillPtr->in, spillPtr->inRoom);
    }
    spillPtr->inStart = at;
    spillPtr->nIn = 0;
    while (spillPtr->nIn < want) {
        ssize_t n = pread(spillPtr->fd, spillPtr->in + spillPtr->nIn,
                          want - spillPtr->nIn,
                          spillPtr->base + (off_t) (at + spillPtr->nIn));

        if (n <= 0 && (n == 0 || errno != EINTR)) {
            break;
        }
        spillPtr->nIn += n > 0 ? (size_t) n : 0;
    }
    return spillPtr->nIn >= need;
}

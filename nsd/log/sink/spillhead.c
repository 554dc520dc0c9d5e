/* SPDX-License-Identifier: MPL-2.0
 * spillhead.c --
 *
 *      What a spill file says about itself; see spillhead.h.
 */

#include "log/sink/spillhead.h"

#include "base/writeall.h"
#include "log/ring/ring_int.h"
#include "nsthread.h"

/* The minimum for a mapping; here the first one holds the server's name. */
#define HEAD_SEGMENTS 2
#define SERVER_BYTES  64

static char server[SERVER_BYTES]; /* Constant after NsSpillHeadInit. */

static NsRingHeader HeaderOf(const NsRing *ringPtr);
static NsRingLayout LayoutOf(const NsRing *ringPtr);
static bool         WriteStreams(int fd, const NsRing *ringPtr, unsigned n);
static bool         IsOfThisServer(const NsRing *ringPtr);
static bool         IsSound(const NsRing *ringPtr);
static bool         IsInUse(const char *path);
static bool         HasElder(const NsRing *ringPtr, const NsRingSink *slotPtr);

void
NsSpillHeadInit(const NsRingKey *keyPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsRingAppendServer(&ds, keyPtr);
    snprintf(server, sizeof(server), "%s", Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

off_t
NsSpillHeadBytes(const NsRing *ringPtr)
{
    return (off_t) LayoutOf(ringPtr).bytes;
}

/*
 * The header of the head: the parts that are constant in the mapping and in the
 * head.
 */
static NsRingHeader
HeaderOf(const NsRing *ringPtr)
{
    NsRingHeader header = {.nStreams = 0};

    memcpy(&header, ringPtr->headerPtr, offsetof(NsRingHeader, nStreams));
    header.nSegments = HEAD_SEGMENTS;
    header.maxSinks = header.maxReaders = 1;
    return header;
}

static NsRingLayout
LayoutOf(const NsRing *ringPtr)
{
    NsRingHeader header = HeaderOf(ringPtr);

    return NsRingLayoutOf(&header);
}

bool
NsSpillHeadCreate(NsSpillHeader *headPtr, int fd, const NsRing *ringPtr,
                  const NsRingSink *slotPtr)
{
    NsRingLayout layout = LayoutOf(ringPtr);

    *headPtr = (NsSpillHeader){0};
    /* Without file locks, no later start claims the file either. */
    (void) NsRingFileLock(fd);
    if (ftruncate(fd, (off_t) layout.bytes) != 0
        || !NsWriteAllAt(fd, server, sizeof(server), (off_t) layout.segments)
        || !NsSpillHeadNoteLanes(headPtr, fd, ringPtr)) {
        return false;
    }
    NsSpillHeadNoteSlot(fd, ringPtr, slotPtr);
    return true;
}

bool
NsSpillHeadNoteLanes(NsSpillHeader *headPtr, int fd, const NsRing *ringPtr)
{
    const NsRingHeader *fromPtr = ringPtr->headerPtr;
    unsigned            nLanes = atomic_load_explicit(&fromPtr->nLanes,
                                                      memory_order_acquire);
    unsigned            nStreams = atomic_load_explicit(&fromPtr->nStreams,
                                                        memory_order_acquire);
    NsRingLayout        layout = LayoutOf(ringPtr);
    NsRingHeader        header = HeaderOf(ringPtr);
    NsRingLane         *lanes;
    bool                isOk;
    int                 reason;

    if (headPtr->nStreams > 0 && headPtr->nLanes == nLanes
        && headPtr->nStreams == nStreams) {
        return true;
    }
    header.bytes = layout.bytes;
    atomic_store(&header.nStreams, nStreams);
    atomic_store(&header.nLanes, nLanes);
    strcpy(header.spillDirectory, fromPtr->spillDirectory);
    lanes = ns_calloc(MAX(nLanes, 1), sizeof(*lanes));
    for (unsigned i = 0; i < nLanes; i++) {
        lanes[i].stream = ringPtr->lanes[i].stream;
        atomic_store(&lanes[i].first, NS_RING_NONE);
    }
    isOk = NsWriteAllAt(fd, lanes, nLanes * sizeof(*lanes),
                        (off_t) layout.lanes)
        && WriteStreams(fd, ringPtr, nStreams)
        && NsWriteAllAt(fd, &header, sizeof(header), 0);
    if (isOk) {
        *headPtr = (NsSpillHeader){.nLanes = nLanes, .nStreams = nStreams};
    }
    reason = errno;
    ns_free(lanes);
    errno = reason;
    return isOk;
}

/*
 * The slot counts as a reader of all streams.
 */
static bool
WriteStreams(int fd, const NsRing *ringPtr, unsigned n)
{
    NsRingLayout layout = LayoutOf(ringPtr);
    char        *streams = ns_calloc(MAX(n, 1), layout.streamBytes);
    bool         isOk;
    int          reason;

    for (unsigned i = 0; i < n; i++) {
        NsRingStream *streamPtr =
            (NsRingStream *) (void *) (streams + i * layout.streamBytes);

        strcpy(streamPtr->name, NsRingStreamAt(ringPtr, i)->name);
        atomic_store(&streamPtr->isBlocking,
                     atomic_load(&NsRingStreamAt(ringPtr, i)->isBlocking));
        atomic_store(&streamPtr->readers[0], 1);
    }
    isOk = NsWriteAllAt(fd, streams, n * layout.streamBytes,
                        (off_t) layout.streams);
    reason = errno;
    ns_free(streams);
    errno = reason;
    return isOk;
}

/*
 * A failure is ignored: records are written twice only if the mapping is lost
 * as well.
 */
void
NsSpillHeadNoteSlot(int fd, const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    NsRingSink copy;

    memcpy(&copy, slotPtr, sizeof(copy));
    (void) NsWriteAllAt(fd, &copy, sizeof(copy),
                        (off_t) LayoutOf(ringPtr).sinks);
}

/*
 * The mapping's epoch makes the name unique.
 */
char *
NsSpillPath(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    Ns_DString          ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s/nsd-%016" PRIx64 "-%d.%u",
                     headerPtr->spillDirectory, headerPtr->epoch,
                     (int) headerPtr->pid, slotPtr->spillNumber);
    return Ns_DStringExport(&ds);
}

NsRing *
NsSpillHeadOpen(const char *path, const char **reasonPtr)
{
    NsRing     *ringPtr = NsRingOpen(path, true, reasonPtr);
    NsRingSink *slotPtr;
    char       *ownPath;

    if (ringPtr == NULL) {
        if (*reasonPtr == nsRingEmpty) {
            *reasonPtr = NULL; /* Its process has only just made it. */
        }
        return NULL;
    }
    *reasonPtr = NULL;
    if (!IsSound(ringPtr)) {
        *reasonPtr = "damaged head";
    } else if (IsOfThisServer(ringPtr) && !IsInUse(path)) {
        slotPtr = NsRingSinkAt(ringPtr, 0);
        ownPath = NsSpillPath(ringPtr, slotPtr);
        if (!STREQ(ownPath, path)) {
            *reasonPtr = "it was made under another name";
        } else if (!HasElder(ringPtr, slotPtr)) {
            ns_free(ownPath);
            return ringPtr;
        }
        ns_free(ownPath);
    }
    NsRingClose(&ringPtr, false);
    return NULL;
}

bool
NsSpillIsHead(const NsRing *ringPtr)
{
    return ringPtr->headerPtr->nSegments == HEAD_SEGMENTS;
}

static bool
IsSound(const NsRing *ringPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    const NsRingSink   *slotPtr;

    if (!NsSpillIsHead(ringPtr) || headerPtr->maxSinks != 1
        || headerPtr->maxReaders != 1 || ringPtr->siblingPtr != NULL) {
        return false;
    }
    for (uint32_t i = 0; i < headerPtr->maxStreams; i++) {
        if (atomic_load(&NsRingStreamAt(ringPtr, i)->readers[0]) > 1) {
            return false;
        }
    }
    for (unsigned i = 0; i < atomic_load(&headerPtr->nLanes); i++) {
        if (atomic_load(&ringPtr->lanes[i].first) != NS_RING_NONE
            || ringPtr->lanes[i].stream >= atomic_load(&headerPtr->nStreams)) {
            return false;
        }
    }
    slotPtr = NsRingSinkAt(ringPtr, 0);
    return memchr(slotPtr->name, '\0', sizeof(slotPtr->name)) != NULL
        && memchr(slotPtr->type, '\0', sizeof(slotPtr->type)) != NULL
        && memchr(slotPtr->table, '\0', sizeof(slotPtr->table)) != NULL
        && memchr(slotPtr->file, '\0', sizeof(slotPtr->file)) != NULL;
}

static bool
IsOfThisServer(const NsRing *ringPtr)
{
    return strncmp(ringPtr->segments, server, SERVER_BYTES) == 0;
}

/*
 * True also if it belongs to another user.
 */
static bool
IsInUse(const char *path)
{
    int         fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    bool isInUse = fd < 0 || fstat(fd, &st) != 0 || st.st_uid != geteuid()
        || !NsRingFileLock(fd);

    if (fd >= 0) {
        close(fd);
    }
    return isInUse;
}

/*
 * The file that this one was made from still exists, so this one may be
 * unfinished.
 */
static bool
HasElder(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    NsRingSink elder = {.spillNumber = 0};
    char      *path;
    bool       isThere;

    if (slotPtr->spillNumber < NS_SPILL_GENERATION) {
        return false;
    }
    elder.spillNumber = slotPtr->spillNumber - NS_SPILL_GENERATION;
    path = NsSpillPath(ringPtr, &elder);
    isThere = access(path, F_OK) == 0;
    ns_free(path);
    return isThere;
}

/*
 * spillhead.c --
 *
 *      What a spill file says of itself; see spillhead.h.
 */

#include "log/spillhead.h"

#include "base/writeall.h"
#include "log/ring_int.h"
#include "nsthread.h"

/* A mapping has at least so many; here the first has the server's name. */
#define HEAD_SEGMENTS 2
#define SERVER_BYTES  64

static char server[SERVER_BYTES];   /* Constant after NsSpillHeadInit. */

static NsRingLayout LayoutOf(const NsRing *ringPtr);
static bool IsOfThisServer(const NsRing *ringPtr);
static bool IsSound(const NsRing *ringPtr);
static bool IsInUse(const char *path);
static bool HasElder(const NsRing *ringPtr, const NsRingSink *slotPtr);


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

static NsRingLayout
LayoutOf(const NsRing *ringPtr)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;

    return NsRingLayoutOf(headerPtr->segmentBytes, HEAD_SEGMENTS,
                          headerPtr->maxLanes, 1);
}

bool
NsSpillHeadCreate(NsSpillHeader *headPtr, int fd, const NsRing *ringPtr,
                  const NsRingSink *slotPtr)
{
    NsRingLayout layout = LayoutOf(ringPtr);

    *headPtr = (NsSpillHeader){0};
    if (!NsRingFileLock(fd) || ftruncate(fd, (off_t) layout.bytes) != 0
            || !NsWriteAllAt(fd, server, sizeof(server),
                             (off_t) layout.segments)
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
    unsigned      nLanes = atomic_load_explicit(&fromPtr->nLanes,
                                                memory_order_acquire);
    unsigned      nStreams = atomic_load_explicit(&fromPtr->nStreams,
                                                  memory_order_acquire);
    NsRingLayout  layout = LayoutOf(ringPtr);
    NsRingHeader *headerPtr;
    NsRingLane   *lanes;
    bool          isOk;
    int           reason;

    if (headPtr->nStreams > 0 && headPtr->nLanes == nLanes
            && headPtr->nStreams == nStreams) {
        return true;
    }
    headerPtr = ns_calloc(1u, sizeof(*headerPtr));
    memcpy(headerPtr, fromPtr, offsetof(NsRingHeader, nStreams));
    headerPtr->nSegments = HEAD_SEGMENTS;
    headerPtr->maxSinks = 1;
    headerPtr->bytes = layout.bytes;
    atomic_store(&headerPtr->nStreams, nStreams);
    atomic_store(&headerPtr->nLanes, nLanes);
    strcpy(headerPtr->spillDirectory, fromPtr->spillDirectory);
    memcpy(headerPtr->streams, fromPtr->streams,
           nStreams * sizeof(headerPtr->streams[0]));
    lanes = ns_calloc(MAX(nLanes, 1), sizeof(*lanes));
    for (unsigned i = 0; i < nLanes; i++) {
        lanes[i].stream = ringPtr->lanes[i].stream;
        atomic_store(&lanes[i].first, NS_RING_NONE);
    }
    isOk = NsWriteAllAt(fd, lanes, nLanes * sizeof(*lanes),
                        (off_t) layout.lanes)
        && NsWriteAllAt(fd, headerPtr, offsetof(NsRingHeader, streams)
                        + nStreams * sizeof(headerPtr->streams[0]), 0);
    if (isOk) {
        *headPtr = (NsSpillHeader){.nLanes = nLanes, .nStreams = nStreams};
    }
    reason = errno;
    ns_free(headerPtr);
    ns_free(lanes);
    errno = reason;
    return isOk;
}

/*
 * But for what it wants: others change that, and it concerns no record here.
 * Where the old words cannot be replaced, records may come twice if the mapping
 * is lost besides.
 */
void
NsSpillHeadNoteSlot(int fd, const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    const size_t  rest = offsetof(NsRingSink, intent);
    const size_t  end = offsetof(NsRingSink, cursors);
    NsRingSink   *copyPtr = ns_calloc(1u, sizeof(*copyPtr));

    memcpy(copyPtr, slotPtr, offsetof(NsRingSink, wants));
    memcpy((char *) copyPtr + rest, (const char *) slotPtr + rest, end - rest);
    (void) NsWriteAllAt(fd, copyPtr, end, (off_t) LayoutOf(ringPtr).sinks);
    ns_free(copyPtr);
}

/*
 * The time in the mapping tells the file from others.
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
            *reasonPtr = NULL;      /* Its process has just made it. */
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
            || ringPtr->siblingPtr != NULL) {
        return false;
    }
    for (unsigned i = 0; i < atomic_load(&headerPtr->nLanes); i++) {
        if (atomic_load(&ringPtr->lanes[i].first) != NS_RING_NONE
                || ringPtr->lanes[i].stream
                   >= atomic_load(&headerPtr->nStreams)) {
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
 * Or belongs to another user.
 */
static bool
IsInUse(const char *path)
{
    int  fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    bool isInUse = fd < 0 || fstat(fd, &st) != 0 || st.st_uid != geteuid()
        || !NsRingFileLock(fd);

    if (fd >= 0) {
        close(fd);
    }
    return isInUse;
}

/*
 * The file that this one was made from is still there; so it may be unfinished.
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

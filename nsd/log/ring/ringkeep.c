/* SPDX-License-Identifier: MPL-2.0
 * ringkeep.c --
 *
 *      What dead processes left in mappings: the parts that are still needed,
 *      in as little memory as can be.
 */

#include "log/ring/ring_int.h"

#include <sys/mman.h>

#include "base/writeall.h"
#include "nsthread.h"

#define PAGE_BYTES 4096u

/*
 * A file that mappings are collected in, one behind the other.
 */
typedef struct Output {
    int   fd;
    off_t base; /* Of the one at hand. */
} Output;

static uint64_t          NeededFrom(const NsRing *ringPtr, uint32_t lane);
static bool              HasName(const NsRingSink *slotPtr);
static const NsRingSink *ReaderOf(const NsRing *ringPtr, uint32_t stream,
                                  uint32_t rank);
static NsRingSegment    *FirstNeeded(NsRing *ringPtr, uint32_t lane);
static NsRingSegment    *NextOf(const NsRing        *ringPtr,
                                const NsRingSegment *segmentPtr);
static bool              WriteRing(Output *outputPtr, NsRing *ringPtr);
static bool WriteStreams(const Output *outputPtr, const NsRing *ringPtr,
                         size_t to);
static bool WritePart(const Output *outputPtr, const void *part, size_t length,
                      size_t to);

bool
NsRingIsNeeded(const NsRing *ringPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);

    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (HasName(slotPtr)
            && (NsRingMissing(slotPtr) > 0
                || (atomic_load(&slotPtr->hasSpill) != 0
                    && atomic_load(&slotPtr->spillDone)
                        < atomic_load(&slotPtr->spillEnd)))) {
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
    for (uint32_t i = 0; i < ringPtr->headerPtr->maxReaders; i++) {
        if (ReaderOf(ringPtr, ringPtr->lanes[lane].stream, i) != NULL) {
            uint64_t done =
                atomic_load(&NsRingCursorAt(ringPtr, lane, (int) i)->done);

            if (done < end) {
                least = MIN(least, done);
            }
        }
    }
    return least == UINT64_MAX ? least : NsRingNumberOf(least);
}

/*
 * NULL: none that still needs anything.
 */
static const NsRingSink *
ReaderOf(const NsRing *ringPtr, uint32_t stream, uint32_t rank)
{
    unsigned reader =
        atomic_load(&NsRingStreamAt(ringPtr, stream)->readers[rank]);
    const NsRingSink *slotPtr = reader == 0
        ? NULL
        : NsRingSinkAt(ringPtr, (int) reader - 1);

    return slotPtr != NULL && HasName(slotPtr) ? slotPtr : NULL;
}

static bool
HasName(const NsRingSink *slotPtr)
{
    return NsRingSinkIsUsed(slotPtr);
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
            /* If that cannot be done they stay. */
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
        ? NULL
        : NsRingSegmentAt(ringPtr, atomic_load(&lanePtr->first));

    while (segmentPtr != NULL && segmentPtr->number < number) {
        atomic_store(&lanePtr->first, atomic_load(&segmentPtr->next));
        segmentPtr = NextOf(ringPtr, segmentPtr);
    }
    return segmentPtr;
}

size_t
NsRingNeededBytes(NsRing *ringPtr)
{
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);
    size_t   bytes = 0;

    for (uint32_t i = 0; i < nLanes; i++) {
        const NsRingSegment *segmentPtr = FirstNeeded(ringPtr, i);

        for (; segmentPtr != NULL; segmentPtr = NextOf(ringPtr, segmentPtr)) {
            bytes += ringPtr->headerPtr->segmentBytes;
        }
    }
    return bytes;
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
    output.fd = NsRingFileBegin(keyPtr, &path);
    if (output.fd < 0) {
        Ns_DStringFree(&path);
        return NULL;
    }
    for (int i = 0; isOk && i < n; i++) {
        isOk = WriteRing(&output, rings[i]);
    }
    isOk = isOk && ftruncate(output.fd, output.base) == 0
        && NsRingFileName(keyPtr, &path);
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
    uint32_t      nLanes = atomic_load(&ringPtr->headerPtr->nLanes);
    NsRingLayout  layout;
    size_t        to;
    bool          isOk;

    memcpy(headerPtr, ringPtr->headerPtr, sizeof(*headerPtr));
    headerPtr->maxSinks = 0;
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        headerPtr->maxSinks += HasName(NsRingSinkAt(ringPtr, i));
    }
    layout = NsRingLayoutOf(headerPtr);
    headerPtr->bytes = layout.bytes;
    isOk = WritePart(outputPtr, headerPtr, sizeof(*headerPtr), 0)
        && WriteStreams(outputPtr, ringPtr, layout.streams)
        && WritePart(outputPtr, ringPtr->cursors,
                     (size_t) nLanes * headerPtr->maxReaders
                         * sizeof(NsRingCursor),
                     layout.cursors);
    to = layout.sinks;
    for (int i = 0; isOk && i < (int) ringPtr->headerPtr->maxSinks; i++) {
        const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (HasName(slotPtr)) {
            isOk = WritePart(outputPtr, slotPtr, sizeof(*slotPtr), to);
            to += sizeof(*slotPtr);
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
    isOk = isOk
        && WritePart(outputPtr, ringPtr->lanes, nLanes * sizeof(NsRingLane),
                     layout.lanes);
    outputPtr->base += (off_t) layout.bytes;
    ns_free(headerPtr);
    return isOk;
}

/*
 * With the slots that their readers have in the collection.
 */
static bool
WriteStreams(const Output *outputPtr, const NsRing *ringPtr, size_t to)
{
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    unsigned short     *slotOf = ns_calloc(headerPtr->maxSinks + 1,
                                           sizeof(*slotOf)),
                   n = 0;
    NsRingStream *streamPtr = ns_malloc(ringPtr->streamBytes);
    uint32_t      nStreams = atomic_load(&headerPtr->nStreams);
    bool          isOk = true;

    for (int i = 0; i < (int) headerPtr->maxSinks; i++) {
        if (HasName(NsRingSinkAt(ringPtr, i))) {
            slotOf[i + 1] = ++n;
        }
    }
    for (uint32_t i = 0; isOk && i < nStreams; i++) {
        memcpy(streamPtr, NsRingStreamAt(ringPtr, i), ringPtr->streamBytes);
        for (uint32_t j = 0; j < headerPtr->maxReaders; j++) {
            atomic_store(&streamPtr->readers[j],
                         slotOf[atomic_load(&streamPtr->readers[j])]);
        }
        isOk = WritePart(outputPtr, streamPtr, ringPtr->streamBytes,
                         to + i * ringPtr->streamBytes);
    }
    ns_free(streamPtr);
    ns_free(slotOf);
    return isOk;
}

static bool
WritePart(const Output *outputPtr, const void *part, size_t length, size_t to)
{
    return NsWriteAllAt(outputPtr->fd, part, length,
                        outputPtr->base + (off_t) to);
}

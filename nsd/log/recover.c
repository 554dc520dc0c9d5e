/*
 * recover.c --
 *
 *      What an earlier process of this server handed over and did not write.
 *
 *      A process that ends in order deletes its mapping.  One that was killed
 *      leaves it, and the next start finds it.  As soon as a sink of the same
 *      name is made, it gets the records behind its cursors, exactly once:
 *
 *      - No write was under way: the cursors tell what was written.
 *      - One was under way: the mapping says where and how much.  The bytes are
 *        all there: the cursors move on.  Some are there: the file is cut back
 *        to where the write began.  None are: the cursors stand.
 *
 *      While they are delivered the old mapping's cursors move like those of
 *      the present one, so a process killed here is continued by the next.
 *
 *      A database may not be there during the start, and a file system may be
 *      full.  The sink then claims the records; its log thread writes them as
 *      soon as it can, before anything else.  A database itself knows how far the
 *      earlier process got.
 */

#include "log/sink_int.h"

#include <sys/mman.h>

#include "log/systemlog.h"
#include "nslog.h"
#include "nsthread.h"

/* How far behind the place of a write it is looked for. */
#define SEARCH_BYTES ((uint64_t) 64 << 20)

typedef struct Leftover {
    struct Leftover *nextPtr;
    NsRing          *ringPtr;
    bool             isClaimed[NS_RING_SINKS];
    atomic_int       nUsers;            /* The start, and claims. */
    atomic_bool      isKept;            /* Something stays in the mapping. */
} Leftover;

/*
 * What a sink has still to write.  A list, guarded by the sink's lock; only
 * its log thread takes from it.
 */
struct NsClaim {
    NsClaim    *nextPtr;
    Leftover   *leftoverPtr;
    NsRingSink *slotPtr;
};

static Leftover *firstPtr;      /* Used by the main thread, during the start. */

static void     Release(Leftover *leftoverPtr, bool isDone);
static void     Claim(Ns_LogSink sink, Leftover *leftoverPtr,
                      NsRingSink *slotPtr);
static bool     WriteClaim(Ns_LogSink sink, const NsClaim *claimPtr);
static void     DropFirstClaim(Ns_LogSink sink, bool isDone);
static void     AddCounts(Ns_LogSink to, Ns_LogSink from);
static bool     RecoverFrom(Ns_LogSink sink, NsRing *ringPtr,
                            NsRingSink *slotPtr);
static bool     DeliverOrphan(NsRing *ringPtr, NsRingSink *slotPtr);
static bool     AreFormatsKnown(const NsRing *ringPtr,
                                const NsRingSink *slotPtr);
static NsRingSink *FindSlot(const NsRing *ringPtr, const char *name);
static void     SettleIntent(NsRing *ringPtr, NsRingSink *slotPtr);
static bool     IsInFile(const NsRing *ringPtr, const NsRingSink *slotPtr,
                         uint64_t *keepPtr);
static bool     IsShared(const NsRing *ringPtr, const NsRingSink *slotPtr);
static uint64_t NextLine(int fd, uint64_t offset, uint64_t size);
static bool     HasChecksum(int fd, const NsRingSink *slotPtr, uint64_t offset);
static bool     ReadAt(int fd, char *bytes, size_t length, uint64_t offset);
static bool     DeliverLeftover(Ns_LogSink sink, NsRing *ringPtr,
                                NsRingSink *slotPtr, uint64_t *nPtr);
static bool     DeliverFrom(Ns_LogSink sink, const NsRing *ringPtr,
                            const NsPlace *placePtr, uint64_t *nPtr);
static bool     OpenPlace(NsRing *ringPtr, NsRingSink *slotPtr, uint32_t lane,
                          NsPlace *placePtr);


void
NsSinkFindLeftovers(const NsRingKey *keyPtr)
{
    Leftover  *leftoverPtr, **linkPtr = &firstPtr;
    char     **paths;
    int        n = NsRingList(keyPtr, &paths);

    for (int i = 0; i < n; i++) {
        const char *reason;
        NsRing     *ringPtr = NsRingOpen(paths[i], false, &reason);

        if (ringPtr != NULL) {
            NsRingCommitPrepared(ringPtr);
            leftoverPtr = ns_calloc(1u, sizeof(*leftoverPtr));
            leftoverPtr->ringPtr = ringPtr;
            atomic_store(&leftoverPtr->nUsers, 1);
            *linkPtr = leftoverPtr;
            linkPtr = &leftoverPtr->nextPtr;
        } else if (!STREQ(reason, "in use")) {
            Ns_Log(Warning, "log: cannot read what an earlier process left in "
                   "'%s': %s", paths[i], reason);
        }
        ns_free(paths[i]);
    }
    ns_free(paths);
}

void
NsSinkEndRecovery(void)
{
    while (firstPtr != NULL) {
        Leftover *leftoverPtr = firstPtr;
        NsRing   *ringPtr = leftoverPtr->ringPtr;
        bool      isDone = true;

        for (int i = 0; i < NS_RING_SINKS; i++) {
            NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

            if (!leftoverPtr->isClaimed[i] && slotPtr->name[0] != '\0') {
                isDone &= DeliverOrphan(ringPtr, slotPtr);
            }
        }
        firstPtr = leftoverPtr->nextPtr;
        Release(leftoverPtr, isDone);
    }
}

/*
 * The last user deletes the mapping, if nothing is left there.
 */
static void
Release(Leftover *leftoverPtr, bool isDone)
{
    if (!isDone) {
        atomic_store(&leftoverPtr->isKept, true);
    }
    if (atomic_fetch_sub(&leftoverPtr->nUsers, 1) == 1) {
        NsRingClose(&leftoverPtr->ringPtr, !atomic_load(&leftoverPtr->isKept));
        ns_free(leftoverPtr);
    }
}

void
NsRecoverSink(Ns_LogSink sink, bool hasThread)
{
    for (Leftover *p = firstPtr; p != NULL; p = p->nextPtr) {
        NsRingSink *slotPtr = FindSlot(p->ringPtr, sink->name);

        if (slotPtr != NULL) {
            Claim(sink, p, slotPtr);
        }
    }
    if (!sink->typePtr->isRemote && !NsRecoverClaims(sink)) {
        Ns_Log(Error, "log: sink '%s': cannot write what process %d had not "
               "written: '%s'; %s", sink->name,
               (int) sink->claims->leftoverPtr->ringPtr->headerPtr->pid,
               strerror(sink->failure),
               hasThread ? "trying again" : "the next start tries again");
        if (!hasThread) {
            NsRecoverDropClaims(sink);
        }
    }
}

static void
Claim(Ns_LogSink sink, Leftover *leftoverPtr, NsRingSink *slotPtr)
{
    NsClaim *claimPtr = ns_calloc(1u, sizeof(*claimPtr)), **linkPtr;

    claimPtr->leftoverPtr = leftoverPtr;
    claimPtr->slotPtr = slotPtr;
    atomic_fetch_add(&leftoverPtr->nUsers, 1);
    for (int i = 0; i < NS_RING_SINKS; i++) {
        if (NsRingSinkAt(leftoverPtr->ringPtr, i) == slotPtr) {
            leftoverPtr->isClaimed[i] = true;
        }
    }
    for (linkPtr = &sink->claims; *linkPtr != NULL;
         linkPtr = &(*linkPtr)->nextPtr) {
    }
    *linkPtr = claimPtr;
}

bool
NsRecoverClaims(Ns_LogSink sink)
{
    bool isOk;

    if (sink->claims == NULL) {
        return true;
    }
    NsSinkLock(sink);
    isOk = sink->failure == 0
        || (NsSinkIsDue(sink->retryAt, sink->retryNanos)
            && !NsSinkIsPumping());
    NsSinkUnlock(sink);
    while (isOk && sink->claims != NULL) {
        isOk = WriteClaim(sink, sink->claims);
        NsSinkLock(sink);
        if (isOk) {
            DropFirstClaim(sink, true);
            sink->retryAt = 0;
            /* The file may have been rolled. */
            isOk = !sink->typePtr->isFile || NsFileReopen(sink);
        }
        if (!isOk) {
            NsDeliverFailed(sink, errno);
        }
        NsSinkUnlock(sink);
    }
    return sink->claims == NULL;
}

/*
 * By a sink of its own to the same target, since the other reads the present
 * mapping.
 */
static bool
WriteClaim(Ns_LogSink sink, const NsClaim *claimPtr)
{
    NsSinkSpec spec = {
        .name = sink->name, .type = sink->typePtr->name, .file = sink->file,
        .connection = sink->connection, .table = sink->table,
        .settings = sink->settings
    };
    Ns_LogSink writer = NsSinkMake(&spec);
    bool       isOk = false;
    int        reason = errno;

    if (writer != NULL) {
        isOk = RecoverFrom(writer, claimPtr->leftoverPtr->ringPtr,
                           claimPtr->slotPtr);
        reason = errno;
        NsSinkLock(sink);
        AddCounts(sink, writer);
        NsSinkUnlock(sink);
        writer->typePtr->closeProc(writer);
        NsSinkUnmake(&writer);
    } else if (reason == NS_SINK_COMPLAINS) {
        NsSinkLock(sink);
        snprintf(sink->complaint, sizeof(sink->complaint), "%s",
                 NsSinkReason(reason));
        NsSinkUnlock(sink);
        reason = EIO;
    }
    errno = reason;
    return isOk;
}

/*
 * To the ledger: what was not written is still the earlier process's.
 */
static void
AddCounts(Ns_LogSink to, Ns_LogSink from)
{
    uint64_t nDone = atomic_load(&from->nDelivered)
        + atomic_load(&from->nIgnored) + atomic_load(&from->nDamaged)
        + atomic_load(&from->nRejected);

    atomic_fetch_add(&to->nDirect, nDone);
    atomic_fetch_add(&to->nDelivered, atomic_load(&from->nDelivered));
    atomic_fetch_add(&to->nIgnored, atomic_load(&from->nIgnored));
    atomic_fetch_add(&to->nDamaged, atomic_load(&from->nDamaged));
    atomic_fetch_add(&to->nRejected, atomic_load(&from->nRejected));
    atomic_fetch_add(&to->nBytes, atomic_load(&from->nBytes));
    atomic_fetch_add(&to->nWrites, atomic_load(&from->nWrites));
    atomic_fetch_add(&to->writeNanos, atomic_load(&from->writeNanos));
    to->nUnreported += from->nUnreported;
    memcpy(to->refusal, from->refusal, sizeof(to->refusal));
    memcpy(to->complaint, from->complaint, sizeof(to->complaint));
}

static void
DropFirstClaim(Ns_LogSink sink, bool isDone)
{
    NsClaim *claimPtr = sink->claims;

    sink->claims = claimPtr->nextPtr;
    Release(claimPtr->leftoverPtr, isDone);
    ns_free(claimPtr);
}

void
NsRecoverDropClaims(Ns_LogSink sink)
{
    while (sink->claims != NULL) {
        DropFirstClaim(sink, false);
    }
}

void
NsSettleCursor(NsRing *ringPtr, NsRingSink *slotPtr, int64_t lane,
               int64_t position)
{
    if (lane >= 0 && lane < ringPtr->headerPtr->maxLanes
            && (uint64_t) position
               > atomic_load(&slotPtr->cursors[lane].done)) {
        atomic_store(&slotPtr->cursors[lane].done, (uint64_t) position);
    }
}

uint64_t
NsRecoverCountUnread(NsRing *ringPtr, NsRingSink *slotPtr)
{
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);
    uint64_t n = 0;

    for (uint32_t i = 0; i < nLanes; i++) {
        NsPlace place;

        if (OpenPlace(ringPtr, slotPtr, i, &place)) {
            for (; place.headPtr != NULL; n++) {
                NsPlaceAdvance(ringPtr, &place);
            }
        }
    }
    return n;
}

/*
 * Write what the slot's sink had not written, and free the slot.  False, with
 * the reason in errno: something is left.
 */
static bool
RecoverFrom(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    int      pid = (int) ringPtr->headerPtr->pid, reason;
    uint64_t n = 0, before = atomic_load(&sink->nDelivered);
    bool     isSettled = true, isDelivered;

    NsSinkLock(sink);
    if (sink->typePtr->settleProc != NULL) {
        isSettled = sink->typePtr->settleProc(sink, ringPtr, slotPtr);
    } else {
        SettleIntent(ringPtr, slotPtr);
    }
    isDelivered = isSettled && DeliverLeftover(sink, ringPtr, slotPtr, &n);
    reason = errno;
    NsSinkUnlock(sink);
    if (isDelivered) {
        slotPtr->name[0] = '\0';
    } else {
        n = atomic_load(&sink->nDelivered) - before;
    }
    if (n > 0) {
        Ns_Log(Notice, "log: sink '%s': wrote %" PRIu64 " records that process "
               "%d had not written", sink->name, n, pid);
    }
    errno = reason;
    return isDelivered;
}

/*
 * The sink no longer exists, but its file can still get what belongs
 * there.  False: it cannot, and the records stay where they are.
 */
static bool
DeliverOrphan(NsRing *ringPtr, NsRingSink *slotPtr)
{
    uint64_t   n = NsRecoverCountUnread(ringPtr, slotPtr);
    NsSinkSpec spec = {
        .name = slotPtr->name, .type = slotPtr->type, .table = slotPtr->table,
        .file = slotPtr->file, .settings = nsSinkDefaults
    };
    Ns_LogSink sink = NULL;

    if (n == 0 && NsRingMissing(slotPtr) == 0
            && atomic_load(&slotPtr->intent) == NS_RING_IDLE) {
        return true;
    }
    spec.settings.minSeverity = slotPtr->minSeverity;
    spec.settings.slowNanos = slotPtr->slowNanos;
    spec.settings.onlyErrors = slotPtr->onlyErrors != 0;
    spec.settings.format = slotPtr->format >= 0
        && slotPtr->format < NS_LOG_NFORMATS ? slotPtr->format : NS_LOG_NATIVE;
    if ((STREQ(slotPtr->type, "file") || STREQ(slotPtr->type, "sqlite"))
            && slotPtr->file[0] == '/' && AreFormatsKnown(ringPtr, slotPtr)) {
        sink = NsSinkMake(&spec);
    }
    if (sink != NULL) {
        (void) RecoverFrom(sink, ringPtr, slotPtr);
        NsSinkLock(sink);
        sink->typePtr->closeProc(sink);
        NsSinkUnlock(sink);
        /* The rest of it is small, and other threads never saw it. */
        NsSinkUnmake(&sink);
    }
    if (slotPtr->name[0] != '\0') {
        Ns_Log(Warning, "log: '%s' holds %" PRIu64 " records for sink '%s', "
               "which no longer exists; nsd --logs prints them, "
               "ns_logsink forget gives them up",
               ringPtr->path, n, slotPtr->name);
    }
    return slotPtr->name[0] == '\0';
}

/*
 * Modules that made streams may no longer be there.
 */
static bool
AreFormatsKnown(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t     index = ringPtr->lanes[i].stream;
        Ns_LogStream stream = NsStreamFind(ringPtr->headerPtr->streams[index]);

        if (atomic_load(&slotPtr->wants[index])
                && (stream == NULL || !NsStreamHasFormat(stream))) {
            return false;
        }
    }
    return true;
}

static NsRingSink *
FindSlot(const NsRing *ringPtr, const char *name)
{
    for (int i = 0; i < NS_RING_SINKS; i++) {
        NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

        if (STREQ(slotPtr->name, name)) {
            return slotPtr;
        }
    }
    return NULL;
}

/*
 * Find out how far the last write got, so that the cursors tell the truth.
 */
static void
SettleIntent(NsRing *ringPtr, NsRingSink *slotPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nLanes);
    unsigned intent = atomic_load(&slotPtr->intent);
    uint64_t keep = UINT64_MAX;

    if (intent == NS_RING_IDLE) {
        return;
    }
    if (intent == NS_RING_WRITTEN
            || (slotPtr->intentSum == NsRingIntentSum(slotPtr)
                && IsInFile(ringPtr, slotPtr, &keep))) {
        for (uint32_t i = 0; i < n; i++) {
            NsRingCursor *cursorPtr = &slotPtr->cursors[i];
            uint64_t      ahead = atomic_load(&cursorPtr->ahead);

            if (ahead > atomic_load(&cursorPtr->done)) {
                atomic_store(&cursorPtr->done, ahead);
            }
        }
    } else if (keep != UINT64_MAX
               && truncate(slotPtr->file, (off_t) keep) != 0) {
        Ns_Log(Warning, "log: cannot cut off an incomplete line at the end of "
               "'%s': '%s'", slotPtr->file, strerror(errno));
    }
    atomic_store(&slotPtr->intent, NS_RING_IDLE);
}

/*
 * What was to be written is all there.  Else, *keepPtr: where an incomplete end
 * of the file is to be cut off.
 *
 * Other sinks may write to the same file, and their lines may stand before
 * ours, or in the place of ours: none of them is cut off.
 */
static bool
IsInFile(const NsRing *ringPtr, const NsRingSink *slotPtr, uint64_t *keepPtr)
{
    struct stat st;
    bool        isThere = false;
    int         fd = open(slotPtr->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
            && (uint64_t) st.st_ino == slotPtr->inode
            && (uint64_t) st.st_size > slotPtr->offset) {
        uint64_t size = (uint64_t) st.st_size, at = slotPtr->offset;
        uint64_t end = MIN(size, at + SEARCH_BYTES), line = at;
        bool     isShared = IsShared(ringPtr, slotPtr);

        while (!isThere && at < end && size - at >= slotPtr->length) {
            isThere = HasChecksum(fd, slotPtr, at);
            at = isShared ? NextLine(fd, at, end) : end;
        }
        if (!isThere && isShared) {
            for (at = line; at < size; at = NextLine(fd, at, size)) {
                line = at;
            }
            if (at > size) {
                *keepPtr = line;
            }
        } else if (!isThere && size - slotPtr->offset < slotPtr->length) {
            *keepPtr = slotPtr->offset;
        }
    }
    close(fd);
    return isThere;
}

static bool
IsShared(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    for (int i = 0; i < NS_RING_SINKS; i++) {
        const NsRingSink *otherPtr = NsRingSinkAt(ringPtr, i);

        if (otherPtr != slotPtr && otherPtr->inode == slotPtr->inode) {
            return true;
        }
    }
    return false;
}

/*
 * Where the line at offset ends; behind the size: it does not.
 */
static uint64_t
NextLine(int fd, uint64_t offset, uint64_t size)
{
    char bytes[4096];

    while (offset < size) {
        size_t      n = (size_t) MIN(sizeof(bytes), size - offset);
        const char *end;

        if (!ReadAt(fd, bytes, n, offset)) {
            break;
        }
        end = memchr(bytes, '\n', n);
        if (end != NULL) {
            return offset + (uint64_t) (end - bytes) + 1;
        }
        offset += n;
    }
    return size + 1;
}

static bool
HasChecksum(int fd, const NsRingSink *slotPtr, uint64_t offset)
{
    char  *bytes = ns_malloc(2 * NS_RING_END);
    size_t length = slotPtr->length;
    bool   isSame = false;

    if (length <= 2 * NS_RING_END) {
        isSame = ReadAt(fd, bytes, length, offset);
    } else {
        isSame = ReadAt(fd, bytes, NS_RING_END, offset)
            && ReadAt(fd, bytes + NS_RING_END, NS_RING_END,
                      offset + length - NS_RING_END);
    }
    isSame = isSame && slotPtr->checksum
        == (uint32_t) NsRingSumOfEnds(bytes, bytes + NS_RING_END, length);
    ns_free(bytes);
    return isSame;
}

static bool
ReadAt(int fd, char *bytes, size_t length, uint64_t offset)
{
    size_t got = 0;

    while (got < length) {
        ssize_t n = pread(fd, bytes + got, length - got,
                          (off_t) (offset + got));

        if (n <= 0) {
            return false;
        }
        got += (size_t) n;
    }
    return true;
}

/*
 * Deliver as from the present mapping, but with each record checked.  False: it
 * cannot be written; what was not is still in the mapping.
 */
static bool
DeliverLeftover(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr,
                uint64_t *nPtr)
{
    uint32_t nLanes = atomic_load(&ringPtr->headerPtr->nLanes);
    NsMerge  merge = {NULL, 0, 0};
    NsPlace *placePtr;
    bool     isOk = true;

    sink->ringPtr = ringPtr;
    sink->slotPtr = slotPtr;
    sink->places = ns_calloc(ringPtr->headerPtr->maxLanes, sizeof(NsPlace));
    sink->moved = ns_calloc(ringPtr->headerPtr->maxLanes, sizeof(uint32_t));
    for (uint32_t i = 0; i < nLanes; i++) {
        if (OpenPlace(ringPtr, slotPtr, i, &sink->places[i])) {
            NsMergeAdd(&merge, &sink->places[i]);
        }
    }
    if (NsRingMissing(slotPtr) > 0) {
        isOk = NsDeliverNote(sink, Warning, "log: up to %" PRIu64 " records "
                             "are missing here: they could not be written in "
                             "time before process %d was killed",
                             NsRingMissing(slotPtr),
                             (int) ringPtr->headerPtr->pid);
    }
    while (isOk && (placePtr = NsMergeFirst(&merge)) != NULL) {
        isOk = DeliverFrom(sink, ringPtr, placePtr, nPtr);
        if (isOk) {
            if (!placePtr->isMoved) {
                placePtr->isMoved = true;
                sink->moved[sink->nMoved++] = placePtr->lane;
            }
            NsPlaceAdvance(ringPtr, placePtr);
            if (placePtr->headPtr != NULL) {
                NsMergeFirstMoved(&merge);
            } else {
                NsMergeFirstEnded(&merge);
            }
        }
    }
    isOk = isOk && NsDeliverFlush(sink);
    if (!isOk) {
        errno = sink->failure;
    }
    NsMergeFree(&merge);
    ns_free(sink->places);
    ns_free(sink->moved);
    sink->places = NULL;
    sink->moved = NULL;
    sink->ringPtr = NULL;
    sink->slotPtr = NULL;
    return isOk;
}

/*
 * Deliver the record at a place.  One that is damaged counts as that.
 */
static bool
DeliverFrom(Ns_LogSink sink, const NsRing *ringPtr, const NsPlace *placePtr,
            uint64_t *nPtr)
{
    const void  *bytes = NsPlaceBytes(ringPtr, placePtr, true, &sink->scratch,
                                      &sink->scratchBytes);
    const char  *name = ringPtr->headerPtr->streams[
        ringPtr->lanes[placePtr->lane].stream];
    Ns_LogStream stream = NsStreamFind(name);
    Ns_LogRecord record = {
        .stream = name,
        .severity = placePtr->headPtr->severity,
        .time = placePtr->headPtr->time,
        .bytes = bytes,
        .length = placePtr->headPtr->total
    };

    atomic_fetch_add(&sink->nDirect, 1);
    if (bytes == NULL || stream == NULL) {
        atomic_fetch_add(&sink->nDamaged, 1);
        return true;
    }
    if (!NsDeliverRecord(sink, stream, &record)) {
        return false;
    }
    (*nPtr)++;
    return true;
}

/*
 * Stand at the first record that the sink has not written.
 */
static bool
OpenPlace(NsRing *ringPtr, NsRingSink *slotPtr, uint32_t lane,
          NsPlace *placePtr)
{
    memset(placePtr, 0, sizeof(*placePtr));
    placePtr->lane = lane;
    placePtr->segment = NS_RING_NONE;
    return atomic_load(&slotPtr->wants[ringPtr->lanes[lane].stream]) != 0
        && NsPlaceOpen(ringPtr, placePtr, atomic_load(
                           &slotPtr->cursors[lane].done))
        && NsPlaceHead(ringPtr, placePtr) != NULL;
}

/* SPDX-License-Identifier: MPL-2.0
 * recover.c --
 *
 *      What earlier processes of this server accepted and did not write.
 *
 *      A process that ends normally deletes its mapping.  One that was killed
 *      leaves it, and the next start finds it.  Each sink claims what is left
 *      under its name, no matter when the sink is made.  It writes these
 *      records before any others; its new ones wait.  If a log thread serves
 *      the sink, it writes the claims once all modules are loaded; otherwise
 *      the thread that makes the sink does.
 *
 *      A claim is delivered from the old mapping, from its cursors on, by a
 *      second sink with the same target: exactly once.  Those cursors move like
 *      those of the present mapping, so if this process is killed, the next one
 *      continues.  For a write that was interrupted, settle.c asks the file; a
 *      database knows the answer itself.
 *
 *      Records of a stream that no module has made cannot be formatted.  They
 *      stay where they are and hold nothing up.
 */

#include "log/sink/recover.h"

#include "base/assert.h"
#include "log/sink/deliver.h"
#include "log/sink/flush.h"
#include "log/sink/leftover.h"
#include "log/sink/settle.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkfd.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkmake.h"
#include "log/sink/sinkspill.h"
#include "log/sink/sinktable.h"
#include "log/sink/sinktype.h"
#include "log/sink/sinkwake.h"
#include "log/sink/sinkwork.h"
#include "log/sink/spill.h"
#include "log/sink/spillhead.h"
#include "log/sink/unspill.h"
#include "log/stream/knownstream.h"
#include "nslog.h"
#include "nsthread.h"

/*
 * A mapping that an earlier process left.  Guarded by NsLeftoverLock.
 */
typedef struct Leftover {
    struct Leftover *nextPtr;
    NsRing          *ringPtr;   /* Constant. */
    bool            *isClaimed; /* By slot. */
    int              nUsers;    /* The thread that opened it, and claims. */
} Leftover;

/*
 * What a sink still has to write.  A list, guarded by the sink's lock; only its
 * log thread removes from it.
 */
struct NsClaim {
    NsClaim    *nextPtr;
    Leftover   *leftoverPtr;
    NsRingSink *slotPtr;
};

typedef struct Leftovers {
    int        n;
    Leftover **all;
} Leftovers;

/*
 * What is left for a sink that does not exist.
 */
typedef struct Orphan {
    struct Orphan *nextPtr;
    char           sink[NS_RING_NAME];
    char          *path; /* Of a mapping that holds it. */
    uint64_t       nRecords;
    int            nProcesses;
} Orphan;

static Leftover   *firstPtr; /* Those in use; guarded by NsLeftoverLock. */
static Leftovers   atStart;  /* For the main thread, during the start. */
static atomic_bool isStartOver;

/*
 * A mapping is gone, so there may be room for the file of one that has none.
 */
static atomic_bool isRoomNew;

static Leftovers AddLocked(NsRing **rings, int n);
static void      EndRecovery(Leftovers *leftoversPtr);
static bool      HasSink(const NsRingSink *slotPtr);
static bool      TakeOrphan(Leftover *leftoverPtr, int index);
static void      GiveBack(Leftover *leftoverPtr, const NsRingSink *slotPtr);
static void      Release(Leftover *leftoverPtr);
static void      ReleaseLocked(Leftover *leftoverPtr);
static void      Claim(Ns_LogSink sink);
static void      ClaimLocked(Ns_LogSink sink);
static void      AddClaim(Ns_LogSink sink, Leftover *leftoverPtr,
                          NsRingSink *slotPtr);
static const NsClaim *FirstClaim(Ns_LogSink sink);
static bool           WriteClaim(Ns_LogSink sink, const NsClaim *claimPtr);
static Ns_LogSink     MakeWriter(Ns_LogSink sink, const NsRingSink *slotPtr);
static void           EndWriter(Ns_LogSink *writerPtr);
static void           AddCounts(Ns_LogSink to, Ns_LogSink from);
static void           DropFirstClaim(Ns_LogSink sink);
static void           CountClaimed(Ns_LogSink sink);
static bool RecoverFrom(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);
static void TellCompressed(Ns_LogSink sink, const NsRing *ringPtr,
                           const NsRingSink *slotPtr);
static void MakeStreams(const NsRing *ringPtr, const NsRingSink *slotPtr);
static bool AskTarget(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);
static void DeliverOrphan(NsRing *ringPtr, NsRingSink *slotPtr,
                          Orphan **firstOrphanPtr);
static void NoteOrphan(const NsRing *ringPtr, const NsRingSink *slotPtr,
                       uint64_t nRecords, Orphan **firstOrphanPtr);
static void TellOrphans(Orphan *orphanPtr);
static bool DeliverLeftover(Ns_LogSink sink, NsRing *ringPtr,
                            NsRingSink *slotPtr, uint64_t *nPtr);
static void CountCutOff(Ns_LogSink sink);
static bool DeliverAll(Ns_LogSink sink, NsMerge *mergePtr, uint64_t *nPtr);
static bool DeliverFrom(Ns_LogSink sink, NsSinkLane *lanePtr, uint64_t *nPtr);

void
NsSinkFindLeftovers(const NsRingKey *keyPtr, const char *spillDirectory)
{
    NsRing **rings;
    int      n;

    NsSpillHeadInit(keyPtr);
    n = NsLeftoverOpen(keyPtr, spillDirectory, &rings);
    NsLeftoverLock();
    atStart = AddLocked(rings, n);
    NsLeftoverUnlock();
}

void
NsSinkEndRecovery(void)
{
    EndRecovery(&atStart);
    atomic_store(&isStartOver, true);
}

bool
NsRecoverMadeRoom(void)
{
    return atomic_exchange(&isRoomNew, false);
}

void
NsRecoverLate(void)
{
    Leftovers  late;
    NsRing   **rings;
    Ns_LogSink sink;
    int        n;

    NsLeftoverLock();
    n = NsLeftoverOpenLateLocked(&rings);
    late = AddLocked(rings, n);
    NsLeftoverUnlock();
    for (int i = 0; i < late.n; i++) {
        NsLeftoverTellDamage(late.all[i]->ringPtr);
    }
    NsSinkEnter();
    for (int i = 0; late.n > 0 && (sink = NsSinkAt(i)) != NULL; i++) {
        NsSinkLock(sink);
        if (!atomic_load(&sink->isRemoved) && !sink->target->isClosed) {
            Claim(sink);
        }
        NsSinkUnlock(sink);
        if (NsSinkIsServed(sink)) {
            NsSinkKick(sink);
        } else {
            NsRecoverHere(sink, false);
        }
    }
    NsSinkLeave();
    EndRecovery(&late);
}

/*
 * Add leftovers that are in use, for now by the caller.  Frees the array.
 */
static Leftovers
AddLocked(NsRing **rings, int n)
{
    Leftovers  leftovers = {.n = n};
    Leftover **linkPtr = &firstPtr;

    NsLeftoverAssertLocked();
    if (n > 0) {
        leftovers.all = ns_malloc((size_t) n * sizeof(*leftovers.all));
    }
    while (*linkPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    for (int i = 0; i < n; i++) {
        Leftover *leftoverPtr = ns_calloc(1u, sizeof(*leftoverPtr));

        leftoverPtr->ringPtr = rings[i];
        leftoverPtr->isClaimed = ns_calloc(rings[i]->headerPtr->maxSinks + 1,
                                           sizeof(bool));
        leftoverPtr->nUsers = 1;
        leftovers.all[i] = *linkPtr = leftoverPtr;
        linkPtr = &leftoverPtr->nextPtr;
    }
    ns_free(rings);
    return leftovers;
}

/*
 * What no sink has claimed is for files and databases that this server knows
 * only from the leftover.
 */
static void
EndRecovery(Leftovers *leftoversPtr)
{
    Orphan *orphans = NULL;

    for (int i = 0; i < leftoversPtr->n; i++) {
        Leftover *leftoverPtr = leftoversPtr->all[i];
        NsRing   *ringPtr = leftoverPtr->ringPtr;

        for (int j = 0; j < (int) ringPtr->headerPtr->maxSinks; j++) {
            NsRingSink *slotPtr = NsRingSinkAt(ringPtr, j);

            if (!HasSink(slotPtr) && TakeOrphan(leftoverPtr, j)) {
                DeliverOrphan(ringPtr, slotPtr, &orphans);
                GiveBack(leftoverPtr, slotPtr);
            }
        }
        Release(leftoverPtr);
    }
    ns_free(leftoversPtr->all);
    *leftoversPtr = (Leftovers){.n = 0};
    TellOrphans(orphans);
}

/*
 * A sink that exists but has not claimed the slot has released it.
 */
static bool
HasSink(const NsRingSink *slotPtr)
{
    bool       hasSink = false;
    Ns_LogSink sink;

    NsSinkEnter();
    for (int i = 0; !hasSink && (sink = NsSinkAt(i)) != NULL; i++) {
        hasSink = !atomic_load(&sink->isRemoved)
            && NsRingSinkHasName(slotPtr, sink->name);
    }
    NsSinkLeave();
    return hasSink;
}

/*
 * True: the slot was not claimed, and cannot be until it is given back.
 */
static bool
TakeOrphan(Leftover *leftoverPtr, int index)
{
    bool isFree;

    NsLeftoverLock();
    isFree = !leftoverPtr->isClaimed[index]
        && NsRingSinkIsUsed(NsRingSinkAt(leftoverPtr->ringPtr, index));
    if (isFree) {
        leftoverPtr->isClaimed[index] = true;
    }
    NsLeftoverUnlock();
    return isFree;
}

static void
GiveBack(Leftover *leftoverPtr, const NsRingSink *slotPtr)
{
    NsLeftoverLock();
    for (int i = 0; i < (int) leftoverPtr->ringPtr->headerPtr->maxSinks; i++) {
        if (NsRingSinkAt(leftoverPtr->ringPtr, i) == slotPtr) {
            leftoverPtr->isClaimed[i] = false;
        }
    }
    NsLeftoverUnlock();
}

static void
Release(Leftover *leftoverPtr)
{
    NsLeftoverLock();
    ReleaseLocked(leftoverPtr);
    NsLeftoverUnlock();
}

/*
 * The last user deletes the mapping if nothing is left in it.
 */
static void
ReleaseLocked(Leftover *leftoverPtr)
{
    Leftover **linkPtr = &firstPtr;

    NsLeftoverAssertLocked();
    NsAssert(leftoverPtr->nUsers > 0);
    if (--leftoverPtr->nUsers > 0) {
        return;
    }
    while (*linkPtr != leftoverPtr) {
        NsAssert(*linkPtr != NULL);
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = leftoverPtr->nextPtr;
    NsRingClose(&leftoverPtr->ringPtr, !NsRingIsNeeded(leftoverPtr->ringPtr));
    ns_free(leftoverPtr->isClaimed);
    ns_free(leftoverPtr);
    atomic_store(&isRoomNew, true);
}

void
NsRecoverClaim(Ns_LogSink sink)
{
    Leftovers again = {.n = 0};
    NsRing  **rings;
    int       n;

    NsLeftoverLock();
    if (atomic_load(&isStartOver)) {
        /* Before that, all leftovers are in use anyway. */
        n = NsLeftoverOpenAgainLocked(&rings);
        again = AddLocked(rings, n);
    }
    ClaimLocked(sink);
    for (int i = 0; i < again.n; i++) {
        ReleaseLocked(again.all[i]);
    }
    NsLeftoverUnlock();
    ns_free(again.all);
    CountClaimed(sink);
}

static void
Claim(Ns_LogSink sink)
{
    NsLeftoverLock();
    ClaimLocked(sink);
    NsLeftoverUnlock();
    CountClaimed(sink);
}

static void
ClaimLocked(Ns_LogSink sink)
{
    NsLeftoverAssertLocked();
    for (Leftover *p = firstPtr; p != NULL; p = p->nextPtr) {
        for (int i = 0; i < (int) p->ringPtr->headerPtr->maxSinks; i++) {
            NsRingSink *slotPtr = NsRingSinkAt(p->ringPtr, i);

            if (!p->isClaimed[i] && NsRingSinkHasName(slotPtr, sink->name)) {
                p->isClaimed[i] = true;
                p->nUsers++;
                AddClaim(sink, p, slotPtr);
            }
        }
    }
}

void
NsRecoverHere(Ns_LogSink sink, bool getsThread)
{
    const NsClaim *claimPtr = FirstClaim(sink);

    if (claimPtr == NULL) {
        return;
    }
    if (!NsRecoverClaims(sink)) {
        Ns_Log(Error,
               "log[%s]: cannot write what process %d had not "
               "written: '%s'; %s",
               sink->name,
               (int) sink->claims->leftoverPtr->ringPtr->headerPtr->pid,
               strerror(sink->failing->reason),
               getsThread ? "trying again" : "the next start tries again");
        if (!getsThread) {
            NsRecoverDropClaims(sink);
        }
    }
    /* New records have waited meanwhile. */
    NsSinkTakeTurn(sink, NsLogClock());
}

static void
AddClaim(Ns_LogSink sink, Leftover *leftoverPtr, NsRingSink *slotPtr)
{
    NsClaim *claimPtr = ns_calloc(1u, sizeof(*claimPtr)), **linkPtr;

    claimPtr->leftoverPtr = leftoverPtr;
    claimPtr->slotPtr = slotPtr;
    for (linkPtr = &sink->claims; *linkPtr != NULL;
         linkPtr = &(*linkPtr)->nextPtr) {
    }
    *linkPtr = claimPtr;
}

bool
NsRecoverClaims(Ns_LogSink sink)
{
    const NsClaim *claimPtr = FirstClaim(sink);
    bool           isOk;

    if (claimPtr == NULL) {
        return true;
    }
    NsSinkLock(sink);
    isOk = sink->failing->reason == 0
        || (NsSinkIsDue(sink->failing->retryAt, sink->failing->retryNanos)
            && !atomic_load(&sink->sleep.mustStop));
    NsSinkUnlock(sink);
    while (isOk && claimPtr != NULL) {
        isOk = WriteClaim(sink, claimPtr);
        NsSinkLock(sink);
        NsAssert(sink->claims == claimPtr);
        if (isOk) {
            DropFirstClaim(sink);
            sink->failing->retryAt = 0;
            /* The writer may have rolled the file. */
            isOk = sink->typePtr->filePtr == NULL || NsSinkFdReopen(sink);
        }
        if (!isOk) {
            NsDeliverFailed(sink, errno);
        }
        CountClaimed(sink);
        NsSinkUnlock(sink);
        claimPtr = FirstClaim(sink);
    }
    return claimPtr == NULL;
}

/*
 * The claim stays the first until the caller, which works for the sink, drops
 * it.
 */
static const NsClaim *
FirstClaim(Ns_LogSink sink)
{
    const NsClaim *claimPtr;

    NsSinkLock(sink);
    claimPtr = sink->claims;
    NsSinkUnlock(sink);
    return claimPtr;
}

static bool
WriteClaim(Ns_LogSink sink, const NsClaim *claimPtr)
{
    Ns_LogSink writer = MakeWriter(sink, claimPtr->slotPtr);
    bool       isOk = false;
    int        reason = errno;

    if (writer != NULL) {
        isOk = RecoverFrom(writer, claimPtr->leftoverPtr->ringPtr,
                           claimPtr->slotPtr);
        reason = errno;
        NsSinkLock(sink);
        AddCounts(sink, writer);
        NsSinkUnlock(sink);
        EndWriter(&writer);
    } else if (reason == NS_SINK_COMPLAINS) {
        NsSinkLock(sink);
        NsDeliverComplain(sink, NsSinkReason(reason));
        NsSinkUnlock(sink);
        reason = EIO;
    }
    errno = reason;
    return isOk;
}

/*
 * Make a second sink for the same target, because the first one reads the
 * present mapping.  Two servers may have sinks with the same name and be each
 * other's successors, so records go to the file that they were meant for,
 * unless its directory is gone.
 */
static Ns_LogSink
MakeWriter(Ns_LogSink sink, const NsRingSink *slotPtr)
{
    NsSinkSpec spec = {.name = sink->name,
                       .type = sink->typePtr->name,
                       .file = sink->target->file,
                       .values = sink->values,
                       .settings = sink->settings};
    Ns_LogSink writer = NULL;

    if (STREQ(slotPtr->type, spec.type) && sink->typePtr->outlivesSink
        && slotPtr->file[0] == '/' && spec.file != NULL
        && !STREQ(slotPtr->file, spec.file)) {
        spec.file = slotPtr->file;
        writer = NsSinkMake(&spec);
        spec.file = sink->target->file;
        if (writer == NULL && errno != ENOENT && errno != ENOTDIR
            && errno != EACCES) {
            return NULL;
        }
    }
    return writer != NULL ? writer : NsSinkMake(&spec);
}

static void
EndWriter(Ns_LogSink *writerPtr)
{
    NsSinkLock(*writerPtr);
    (*writerPtr)->typePtr->closeProc(*writerPtr);
    NsSinkUnlock(*writerPtr);
    NsSinkUnmake(writerPtr);
}

/*
 * Add the writer's counts to the ledger; what was not written remains claimed.
 */
static void
AddCounts(Ns_LogSink to, Ns_LogSink from)
{
    uint64_t nDone = atomic_load(&from->counts.nDelivered)
        + atomic_load(&from->counts.nIgnored)
        + atomic_load(&from->counts.nDamaged)
        + atomic_load(&from->counts.nRejected);

    NsAssertLocked(&to->lock);
    NsAssert(from->claims == NULL);
    atomic_fetch_add(&to->counts.nRecovered, nDone);
    atomic_fetch_add(&to->counts.nDelivered,
                     atomic_load(&from->counts.nDelivered));
    atomic_fetch_add(&to->counts.nIgnored, atomic_load(&from->counts.nIgnored));
    atomic_fetch_add(&to->counts.nDamaged, atomic_load(&from->counts.nDamaged));
    atomic_fetch_add(&to->counts.nRejected,
                     atomic_load(&from->counts.nRejected));
    atomic_fetch_add(&to->counts.nBytes, atomic_load(&from->counts.nBytes));
    atomic_fetch_add(&to->counts.nWrites, atomic_load(&from->counts.nWrites));
    atomic_fetch_add(&to->counts.writeNanos,
                     atomic_load(&from->counts.writeNanos));
    to->refusals->nUnreported += from->refusals->nUnreported;
    memcpy(to->refusals->text, from->refusals->text,
           sizeof(to->refusals->text));
    memcpy(to->failing->complaint, from->failing->complaint,
           sizeof(to->failing->complaint));
}

static void
DropFirstClaim(Ns_LogSink sink)
{
    NsClaim *claimPtr = sink->claims;

    sink->claims = claimPtr->nextPtr;
    GiveBack(claimPtr->leftoverPtr, claimPtr->slotPtr);
    Release(claimPtr->leftoverPtr);
    ns_free(claimPtr);
}

void
NsRecoverDropClaims(Ns_LogSink sink)
{
    while (sink->claims != NULL) {
        DropFirstClaim(sink);
    }
    CountClaimed(sink);
}

/*
 * Count the claimed records for the ledger.
 */
static void
CountClaimed(Ns_LogSink sink)
{
    uint64_t n = 0, bytes = 0;
    int64_t  oldest = 0;

    for (const NsClaim *p = sink->claims; p != NULL; p = p->nextPtr) {
        NsLeftoverSize size = NsLeftoverMeasure(p->leftoverPtr->ringPtr,
                                                p->slotPtr);

        n += size.nRecords;
        bytes += size.bytes;
        if (size.oldest != 0 && (oldest == 0 || size.oldest < oldest)) {
            oldest = size.oldest;
        }
    }
    atomic_store(&sink->counts.nClaimed, n);
    atomic_store(&sink->counts.claimedBytes, bytes);
    atomic_store(&sink->counts.claimedSince, oldest);
}

/*
 * Write what the slot's sink had not written, and free the slot, unless it
 * holds records of streams that no module has made.  False: something is left
 * for another reason, which is in errno.
 */
static bool
RecoverFrom(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    int      pid = (int) ringPtr->headerPtr->pid, reason;
    uint64_t n = 0, before = atomic_load(&sink->counts.nDelivered), nDamaged,
             nLeft;
    bool isDelivered;

    MakeStreams(ringPtr, slotPtr);
    NsSinkLock(sink);
    NsSinkMeetLeftover(sink, ringPtr, slotPtr);
    isDelivered = (sink->typePtr->settleProc == NULL
                   || AskTarget(sink, ringPtr, slotPtr))
        && NsSinkTakeSpill(sink, ringPtr, slotPtr)
        && DeliverLeftover(sink, ringPtr, slotPtr, &n);
    reason = errno;
    if (!isDelivered && reason == ENOTSUP
        && atomic_load(&slotPtr->hasSpill) == NS_SPILL_COMPRESSED
        && !NsSpillCompresses()) {
        TellCompressed(sink, ringPtr, slotPtr);
    }
    NsSinkFreeLanes(sink);
    NsSinkUnlock(sink);
    nLeft = NsLeftoverMeasure(ringPtr, slotPtr).nRecords;
    if (!isDelivered) {
        n = atomic_load(&sink->counts.nDelivered) - before;
    } else if (nLeft == 0) {
        NsRingSinkUnname(slotPtr);
    }
    if (n > 0) {
        Ns_Log(Notice,
               "log[%s]: wrote %" PRIu64 " records that process "
               "%d had not written",
               sink->name, n, pid);
    }
    nDamaged = atomic_load(&sink->counts.nDamaged);
    if (nDamaged > 0) {
        Ns_Log(Error,
               "log[%s]: at least %" PRIu64 " records of process "
               "%d are lost: the memory that it left is damaged",
               sink->name, nDamaged, pid);
    }
    if (isDelivered && nLeft > 0) {
        Ns_Log(Warning,
               "log[%s]: '%s' holds %" PRIu64
               " records for this sink of streams that no module has created; "
               "'nsd --logs' prints them, 'ns_logsink forget' discards them",
               sink->name, ringPtr->path, nLeft);
    }
    errno = reason;
    return isDelivered;
}

/*
 * The reason for which the sink waits, instead of errno's text.
 */
static void
TellCompressed(Ns_LogSink sink, const NsRing *ringPtr,
               const NsRingSink *slotPtr)
{
    char      *path = NsSpillPath(ringPtr, slotPtr);
    Ns_DString ds;

    NsAssertLocked(&sink->lock);
    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds,
                     "'%s' is compressed, and this server was built without "
                     "libzstd",
                     path);
    NsDeliverComplain(sink, Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
    ns_free(path);
}

/*
 * Make the streams that need no module.  Call with no sink locked.
 */
static void
MakeStreams(const NsRing *ringPtr, const NsRingSink *slotPtr)
{
    uint32_t n = atomic_load(&ringPtr->headerPtr->nStreams);

    for (uint32_t i = 0; i < n; i++) {
        if (NsRingRank(ringPtr, i, slotPtr) >= 0
            && NsRingNewestLane(ringPtr, i) != NS_RING_NONE) {
            (void) NsStreamOfLeftover(NsRingStreamAt(ringPtr, i)->name);
        }
    }
}

/*
 * Ask the target how far it got in each lane.
 */
static bool
AskTarget(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    NsAssertLocked(&sink->lock);
    /*
     * Only in these lanes: elsewhere the mapping may have a hole, and writing
     * there is fatal when the file system is full.
     */
    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        atomic_store(&sink->reader->lanes[i]->cursorPtr->ahead, 0);
    }
    if (!sink->typePtr->settleProc(sink, ringPtr, slotPtr)) {
        return false;
    }
    sink->reader->hasSettled = true;
    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        sink->reader->lanes[i]->settled =
            atomic_load(&sink->reader->lanes[i]->cursorPtr->ahead);
    }
    return true;
}

/*
 * The sink no longer exists, but its records can still go to its file.  If not,
 * they stay where they are.
 */
static void
DeliverOrphan(NsRing *ringPtr, NsRingSink *slotPtr, Orphan **firstOrphanPtr)
{
    uint64_t          n = NsLeftoverMeasure(ringPtr, slotPtr).nRecords;
    NsSinkSpec        spec = {.name = slotPtr->name,
                              .type = slotPtr->type,
                              .table = slotPtr->table,
                              .file = slotPtr->file,
                              .settings = nsSinkDefaults};
    const NsSinkType *typePtr;
    Ns_LogSink        sink = NULL;
    bool              isDelivered = false;

    if (n == 0 && NsRingMissing(slotPtr) == 0) {
        /* Or its records cannot be read. */
        NsRingSinkUnname(slotPtr);
        return;
    }
    spec.settings.minSeverity = slotPtr->minSeverity;
    spec.settings.slowNanos = slotPtr->slowNanos;
    spec.settings.onlyErrors = slotPtr->onlyErrors != 0;
    spec.settings.format = slotPtr->format >= 0
            && slotPtr->format < NS_LOG_NFORMATS
        ? slotPtr->format
        : NS_LOG_NATIVE;
    typePtr = NsSinkTypeFind(slotPtr->type);
    if (typePtr != NULL && typePtr->outlivesSink && slotPtr->file[0] == '/') {
        sink = NsSinkMake(&spec);
    }
    if (sink != NULL) {
        isDelivered = RecoverFrom(sink, ringPtr, slotPtr);
        EndWriter(&sink);
    }
    if (!isDelivered) {
        NoteOrphan(ringPtr, slotPtr, n, firstOrphanPtr);
    }
}

static void
NoteOrphan(const NsRing *ringPtr, const NsRingSink *slotPtr, uint64_t nRecords,
           Orphan **firstOrphanPtr)
{
    Orphan **linkPtr = firstOrphanPtr, *orphanPtr;

    while (*linkPtr != NULL && !STREQ((*linkPtr)->sink, slotPtr->name)) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    if (*linkPtr == NULL) {
        orphanPtr = ns_calloc(1u, sizeof(*orphanPtr));
        strcpy(orphanPtr->sink, slotPtr->name);
        orphanPtr->path = ns_strdup(ringPtr->path);
        *linkPtr = orphanPtr;
    }
    (*linkPtr)->nRecords += nRecords;
    (*linkPtr)->nProcesses++;
}

/*
 * One line for each sink, however many processes there were.  Frees the list.
 */
static void
TellOrphans(Orphan *orphanPtr)
{
    while (orphanPtr != NULL) {
        Orphan *nextPtr = orphanPtr->nextPtr;
        char    others[60] = "";

        if (orphanPtr->nProcesses > 1) {
            snprintf(others, sizeof(others), ", of %d processes",
                     orphanPtr->nProcesses);
        }
        Ns_Log(Warning,
               "log[%s]: '%s' holds %" PRIu64 " records for this sink, which "
               "no longer exists%s; 'nsd --logs' prints them, 'nsd ctl log "
               "forget %s' discards them",
               orphanPtr->sink, orphanPtr->path, orphanPtr->nRecords, others,
               orphanPtr->sink);
        ns_free(orphanPtr->path);
        ns_free(orphanPtr);
        orphanPtr = nextPtr;
    }
}

/*
 * Deliver as from the present mapping, but check each record.  False: it cannot
 * be written; what was not written is still in the mapping.
 */
static bool
DeliverLeftover(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr,
                uint64_t *nPtr)
{
    NsMerge merge = {NULL, 0, 0};
    bool    isOk;

    NsAssertLocked(&sink->lock);
    NsAssert(sink->reader->ringPtr == NULL && ringPtr != NsSinkRing());
    sink->reader->ringPtr = ringPtr;
    sink->reader->slotPtr = slotPtr;
    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        NsSinkLane *lanePtr = sink->reader->lanes[i];

        if (!NsLeftoverOpenPlace(ringPtr, lanePtr->cursorPtr, &lanePtr->place)
            || lanePtr->stream == NULL) {
            lanePtr->place.headPtr = NULL;
        }
    }
    isOk = NsSettleWrite(sink, nPtr);
    sink->reader->nTaken = 0;
    isOk = isOk && NsSinkUnspill(sink);
    *nPtr += sink->reader->nTaken;
    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        if (sink->reader->lanes[i]->place.headPtr != NULL) {
            NsMergeAdd(&merge, &sink->reader->lanes[i]->place);
        }
    }
    if (isOk && NsRingMissing(slotPtr) > 0) {
        isOk = NsDeliverNote(sink, Warning,
                             "log: up to %" PRIu64 " records "
                             "are missing here: they could not be written in "
                             "time before process %d was killed",
                             NsRingMissing(slotPtr),
                             (int) ringPtr->headerPtr->pid);
    }
    isOk = isOk && DeliverAll(sink, &merge, nPtr) && NsDeliverFlush(sink);
    if (isOk) {
        CountCutOff(sink);
    }
    if (!isOk && sink->failing->reason != 0) {
        errno = sink->failing->reason;
    }
    NsMergeFree(&merge);
    if (sink->loan->spillPtr != NULL) {
        NsSpillClose(&sink->loan->spillPtr);
    }
    sink->reader->ringPtr = NULL;
    sink->reader->slotPtr = NULL;
    return isOk;
}

/*
 * Count lanes that do not end with a record: nobody knows how many records
 * there were.
 */
static void
CountCutOff(Ns_LogSink sink)
{
    const NsRing *ringPtr = sink->reader->ringPtr;

    for (uint32_t i = 0; i < sink->reader->nLanes; i++) {
        const NsPlace *placePtr = &sink->reader->lanes[i]->place;

        if (placePtr->isMoved
            && placePtr->offset
                < atomic_load(&NsRingSegmentAt(ringPtr, placePtr->segment)
                                   ->committed)) {
            atomic_fetch_add(&sink->counts.nDamaged, 1);
        }
    }
}

static bool
DeliverAll(Ns_LogSink sink, NsMerge *mergePtr, uint64_t *nPtr)
{
    NsPlace *placePtr;
    bool     isOk = true;

    while (isOk && (placePtr = NsMergeFirst(mergePtr)) != NULL) {
        NsSinkLane *lanePtr = NsSinkLaneOf(placePtr);

        isOk = DeliverFrom(sink, lanePtr, nPtr);
        if (isOk) {
            lanePtr->upTo = 0;
            NsSinkNoteMoved(sink, lanePtr);
            NsPlaceAdvance(sink->reader->ringPtr, placePtr);
            if (placePtr->headPtr != NULL) {
                NsMergeFirstMoved(mergePtr);
            } else {
                NsMergeFirstEnded(mergePtr);
            }
        }
    }
    return isOk;
}

/*
 * Deliver the record at a lane's place.  A damaged record is counted, and so
 * are those missing before it.
 */
static bool
DeliverFrom(Ns_LogSink sink, NsSinkLane *lanePtr, uint64_t *nPtr)
{
    const NsPlace *placePtr = &lanePtr->place;
    uint64_t      *nextPtr = &lanePtr->nextSequence;
    const void    *bytes = NsPlaceBytes(sink->reader->ringPtr, placePtr, true,
                                        &sink->buffer->scratch,
                                        &sink->buffer->scratchBytes);
    Ns_LogRecord   record = {.stream = NsStreamName(lanePtr->stream),
                             .severity = placePtr->headPtr->severity,
                             .time = placePtr->headPtr->time,
                             .bytes = bytes,
                             .length = placePtr->headPtr->total};
    uint64_t       sequence = placePtr->headPtr->sequence;

    if (bytes == NULL) {
        atomic_fetch_add(&sink->counts.nDamaged, 1);
        return true;
    }
    if (*nextPtr != NS_PLACE_UNKNOWN && sequence > *nextPtr) {
        atomic_fetch_add(&sink->counts.nDamaged, sequence - *nextPtr);
    }
    *nextPtr = sequence + 1;
    if (!NsDeliverRecord(sink, lanePtr->stream, &record)) {
        return false;
    }
    (*nPtr)++;
    return true;
}

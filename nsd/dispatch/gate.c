/* SPDX-License-Identifier: MPL-2.0
 * gate.c --
 *
 *      A limit for requests that belong together, in whichever pools they are.
 */

#include "dispatch/gate.h"
#include "base/episode.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "dispatch/pool_int.h"

struct NsGate {
    struct NsGate *nextPtr; /* Constant, both. */
    const char    *name;

    Ns_Mutex     lock; /* Guards: */
    NsGateLimits limits;
    int          nRunning;
    int          nWaiting;
    NsWorkQueue  waiting;
    uint64_t     nTimeouts;
    uint64_t     nDropped;
    NsStamp      logStamp; /* The log has named it; 0: never. */
};

static _Atomic(NsGate *) firstPtr; /* Only grows, at its head. */

static NsWork  *TakeLateLocked(NsGate *gatePtr, NsPool *poolPtr, NsStamp limit,
                               NsStamp *oldestPtr);
static bool     HasRoomLocked(const NsGate *gatePtr);
static NsWork **PassLocked(NsGate *gatePtr, NsWork *workPtr, NsWork **linkPtr);
static NsWork  *FillLocked(NsGate *gatePtr);
static void     CheckLocked(const NsGate *gatePtr);

NsGate *
NsGateCreate(const char *name)
{
    NsGate *gatePtr = ns_calloc(1, sizeof(*gatePtr));
    NsGate *nextPtr = atomic_load(&firstPtr);

    gatePtr->name = ns_strdup(name);
    NsMutexSetup(&gatePtr->lock, NS_RANK_GATE, "nsd:gate", name);
    do {
        gatePtr->nextPtr = nextPtr;
    } while (!atomic_compare_exchange_weak(&firstPtr, &nextPtr, gatePtr));
    return gatePtr;
}

NsWork *
NsGateSetLimits(NsGate *gatePtr, const NsGateLimits *limitsPtr)
{
    NsWork *listPtr;

    NsAssert(limitsPtr->maxRun >= 0 && limitsPtr->maxWait >= 0);
    Ns_MutexLock(&gatePtr->lock);
    gatePtr->limits = *limitsPtr;
    listPtr = FillLocked(gatePtr);
    CheckLocked(gatePtr);
    Ns_MutexUnlock(&gatePtr->lock);
    return listPtr;
}

void
NsGateRead(NsGate *gatePtr, NsGateFigures *figuresPtr)
{
    Ns_MutexLock(&gatePtr->lock);
    *figuresPtr = (NsGateFigures){.nRunning = gatePtr->nRunning,
                                  .nWaiting = gatePtr->nWaiting,
                                  .nTimeouts = gatePtr->nTimeouts,
                                  .nDropped = gatePtr->nDropped};
    Ns_MutexUnlock(&gatePtr->lock);
}

NsGateFate
NsGateEnter(NsWork *workPtr)
{
    NsGate      *gatePtr = workPtr->gatePtr;
    NsGateFate   fate = NS_GATE_PASS;
    bool         isNews = false;
    NsGateLimits limits;

    NsAssert(gatePtr != NULL && !workPtr->hasPassed);
    Ns_MutexLock(&gatePtr->lock);
    limits = gatePtr->limits;
    if (HasRoomLocked(gatePtr) || workPtr->poolPtr->isDraining) {
        (void) PassLocked(gatePtr, workPtr, NULL);
    } else if (gatePtr->nWaiting < limits.maxWait) {
        fate = NS_GATE_WAIT;
        if (workPtr->heldStamp == 0) {
            workPtr->heldStamp = NsClockNow();
        }
        NsWorkAppend(&gatePtr->waiting, workPtr);
        gatePtr->nWaiting++;
        NsWorkCountHeld(workPtr, 1);
    } else {
        fate = NS_GATE_REFUSE;
        gatePtr->nDropped++;
        isNews = NsLineIsDue(&gatePtr->logStamp, NsClockNow(), NS_LINE_REST);
    }
    CheckLocked(gatePtr);
    Ns_MutexUnlock(&gatePtr->lock);

    if (isNews) {
        Ns_Log(Warning,
               "limits[%s]: requests are refused with 503: %d run and %d wait;"
               " see maxrun and maxwait",
               gatePtr->name, limits.maxRun, limits.maxWait);
    }
    return fate;
}

NsWork *
NsGateLeave(NsWork *workPtr)
{
    NsGate *gatePtr = workPtr->gatePtr;
    NsWork *listPtr;

    NsAssert(workPtr->hasPassed);
    Ns_MutexLock(&gatePtr->lock);
    workPtr->hasPassed = false;
    gatePtr->nRunning--;
    listPtr = FillLocked(gatePtr);
    CheckLocked(gatePtr);
    Ns_MutexUnlock(&gatePtr->lock);
    return listPtr;
}

void
NsGateCountTimeout(NsGate *gatePtr)
{
    Ns_MutexLock(&gatePtr->lock);
    gatePtr->nTimeouts++;
    Ns_MutexUnlock(&gatePtr->lock);
}

/*
 * Those of other pools go back to the queue, in their order.
 */
NsWork *
NsGateTakeLate(NsPool *poolPtr, NsStamp limit, NsStamp *oldestPtr)
{
    NsWork *listPtr = NULL, **linkPtr = &listPtr;

    for (NsGate *gatePtr = atomic_load(&firstPtr); gatePtr != NULL;
         gatePtr = gatePtr->nextPtr) {
        bool isNews;

        Ns_MutexLock(&gatePtr->lock);
        *linkPtr = TakeLateLocked(gatePtr, poolPtr, limit, oldestPtr);
        isNews = *linkPtr != NULL
            && NsLineIsDue(&gatePtr->logStamp, NsClockNow(), NS_LINE_REST);
        while (*linkPtr != NULL) {
            gatePtr->nTimeouts++;
            linkPtr = &(*linkPtr)->nextPtr;
        }
        CheckLocked(gatePtr);
        Ns_MutexUnlock(&gatePtr->lock);
        if (isNews) {
            Ns_Log(Warning,
                   "limits[%s]: requests that have waited for queuetimeout get"
                   " 503; see maxrun",
                   gatePtr->name);
        }
    }
    return listPtr;
}

static NsWork *
TakeLateLocked(NsGate *gatePtr, NsPool *poolPtr, NsStamp limit,
               NsStamp *oldestPtr)
{
    NsWork *listPtr = NULL, **linkPtr = &listPtr;

    NsAssertLocked(&gatePtr->lock);
    for (int n = gatePtr->nWaiting; n > 0; n--) {
        NsWork *workPtr = NsWorkRemoveFirst(&gatePtr->waiting);

        if (workPtr->poolPtr == poolPtr && workPtr->heldStamp <= limit) {
            gatePtr->nWaiting--;
            poolPtr->nDropped++;
            poolPtr->nTimeouts++;
            NsWorkCountHeld(workPtr, -1);
            workPtr->nextPtr = NULL;
            *linkPtr = workPtr;
            linkPtr = &workPtr->nextPtr;
            continue;
        }
        if (workPtr->poolPtr == poolPtr) {
            *oldestPtr = MIN(*oldestPtr, workPtr->heldStamp);
        }
        NsWorkAppend(&gatePtr->waiting, workPtr);
    }
    return listPtr;
}

NsWork *
NsGateDrain(NsPool *poolPtr)
{
    NsWork *listPtr = NULL, **linkPtr = &listPtr;

    NsAssert(poolPtr->isDraining);
    for (NsGate *gatePtr = atomic_load(&firstPtr); gatePtr != NULL;
         gatePtr = gatePtr->nextPtr) {
        Ns_MutexLock(&gatePtr->lock);
        for (int n = gatePtr->nWaiting; n > 0; n--) {
            NsWork *workPtr = NsWorkRemoveFirst(&gatePtr->waiting);

            if (workPtr->poolPtr == poolPtr) {
                gatePtr->nWaiting--;
                NsWorkCountHeld(workPtr, -1);
                linkPtr = PassLocked(gatePtr, workPtr, linkPtr);
            } else {
                NsWorkAppend(&gatePtr->waiting, workPtr);
            }
        }
        CheckLocked(gatePtr);
        Ns_MutexUnlock(&gatePtr->lock);
    }
    return listPtr;
}

static bool
HasRoomLocked(const NsGate *gatePtr)
{
    NsAssertLocked(&gatePtr->lock);
    return gatePtr->limits.maxRun == 0
        || gatePtr->nRunning < gatePtr->limits.maxRun;
}

/*
 * The work passes; appended to a list, if there is one, whose new end it is.
 */
static NsWork **
PassLocked(NsGate *gatePtr, NsWork *workPtr, NsWork **linkPtr)
{
    NsAssertLocked(&gatePtr->lock);
    NsAssert(!workPtr->hasPassed);
    workPtr->hasPassed = true;
    atomic_store_explicit(&workPtr->timeLimit, gatePtr->limits.maxRuntime,
                          memory_order_relaxed);
    gatePtr->nRunning++;
    if (linkPtr == NULL) {
        return NULL;
    }
    workPtr->nextPtr = NULL;
    *linkPtr = workPtr;
    return &workPtr->nextPtr;
}

/*
 * Those that have room now.
 */
static NsWork *
FillLocked(NsGate *gatePtr)
{
    NsWork *listPtr = NULL, **linkPtr = &listPtr;

    NsAssertLocked(&gatePtr->lock);
    while (gatePtr->nWaiting > 0 && HasRoomLocked(gatePtr)) {
        NsWork *workPtr = NsWorkRemoveFirst(&gatePtr->waiting);

        gatePtr->nWaiting--;
        NsWorkCountHeld(workPtr, -1);
        linkPtr = PassLocked(gatePtr, workPtr, linkPtr);
    }
    return listPtr;
}

/*
 * Nobody waits for whom no end of a request would make room.
 */
static void
CheckLocked(const NsGate *gatePtr)
{
    NsAssertLocked(&gatePtr->lock);
    NsAssert(gatePtr->nRunning >= 0);
    NsAssert((gatePtr->nWaiting == 0) == (gatePtr->waiting.firstPtr == NULL));
    NsAssert(gatePtr->nWaiting == 0 || gatePtr->nRunning > 0);
}

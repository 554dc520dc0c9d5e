/* SPDX-License-Identifier: MPL-2.0
 * share.c --
 *
 *      Each client's share of a pool.
 *
 *      A client is in the table as long as it has requests that are counted or
 *      parked, and for a minute after the log has complained about it.
 */

#include "dispatch/share.h"
#include "nslog.h"
#include "nsthread.h"
#include "base/episode.h"
#include "net/peers.h"

/*
 * Guarded by the lock of the pool's share, but for one number.
 */
typedef struct NsShareClient {
    struct NsShare *sharePtr; /* Constant. */
    Tcl_HashEntry  *entryPtr; /* Constant. */
    int             nEntered; /* In the pool. */
    atomic_int      nRunning; /* Of these; raised without the lock. */
    int             nParked;
    NsWorkQueue     parked;
    NsStamp         logStamp; /* The log has named it; 0: never. */
} Client;

struct NsShare {
    Ns_Mutex      lock;    /* Guards: */
    Tcl_HashTable clients; /* Address or network -> Client. */
    NsStamp       sweepStamp;
    bool          isStopping;
};

static Client  *FindClientLocked(struct NsShare *sharePtr, const char *peer);
static bool     WouldWait(NsPool *poolPtr);
static void     LogRefusal(const NsPool *poolPtr, const char *peer);
static void     EnterLocked(Client *clientPtr, NsWork *workPtr);
static void     ParkLocked(Client *clientPtr, NsWork *workPtr);
static NsWork  *UnparkLocked(Client *clientPtr);
static NsWork **FillLocked(const NsPool *poolPtr, Client *clientPtr,
                           NsWork **linkPtr);
static void     SweepLocked(struct NsShare *sharePtr);
static void     CheckClientLocked(const Client *clientPtr);

void
NsShareInit(NsPool *poolPtr)
{
    struct NsShare *sharePtr = ns_calloc(1, sizeof(*sharePtr));

    NsAssert(poolPtr->sharePtr == NULL);
    NsMutexSetup(&sharePtr->lock, NS_RANK_POOL_SHARE, poolPtr->lockArea,
                 "share");
    Tcl_InitHashTable(&sharePtr->clients, TCL_STRING_KEYS);
    poolPtr->sharePtr = sharePtr;
}

NsShareFate
NsShareEnter(NsPool *poolPtr, NsWork *workPtr)
{
    struct NsShare *sharePtr = poolPtr->sharePtr;
    int             maxRun = poolPtr->maxRunPerPeer;
    int             maxWait = poolPtr->maxWaitPerPeer;
    bool            wouldWait = maxWait > 0 && WouldWait(poolPtr);
    const char     *peer = workPtr->peer;
    bool            isFull, isNews = false;
    NsShareFate     fate = NS_SHARE_ENTER;
    Client         *clientPtr;

    NsAssert(peer != NULL && workPtr->clientPtr == NULL);
    Ns_MutexLock(&sharePtr->lock);
    if (!sharePtr->isStopping) {
        clientPtr = FindClientLocked(sharePtr, peer);
        isFull = maxRun > 0 && clientPtr->nEntered >= maxRun;
        if (maxWait > 0 && (isFull || wouldWait)
            && clientPtr->nEntered - clientPtr->nRunning + clientPtr->nParked
                >= maxWait) {
            fate = NS_SHARE_REFUSE;
            isNews = NsLineIsDue(&clientPtr->logStamp, NsClockNow(),
                                 NS_LINE_REST);
        } else if (isFull) {
            fate = NS_SHARE_PARK;
            ParkLocked(clientPtr, workPtr);
        } else {
            EnterLocked(clientPtr, workPtr);
        }
        CheckClientLocked(clientPtr);
    }
    Ns_MutexUnlock(&sharePtr->lock);

    if (fate == NS_SHARE_REFUSE) {
        poolPtr->nUnfair++;
        poolPtr->nDropped++;
    }
    if (isNews) {
        LogRefusal(poolPtr, peer);
    }
    return fate;
}

void
NsShareBegin(NsWork *workPtr)
{
    if (unlikely(workPtr->clientPtr != NULL) && !workPtr->isShareRunning) {
        workPtr->isShareRunning = true;
        atomic_fetch_add(&workPtr->clientPtr->nRunning, 1);
    }
}

NsWork *
NsShareLeave(NsWork *workPtr)
{
    NsPool         *poolPtr = workPtr->poolPtr;
    struct NsShare *sharePtr = poolPtr->sharePtr;
    Client         *clientPtr = workPtr->clientPtr;
    NsWork         *listPtr = NULL;

    Ns_MutexLock(&sharePtr->lock);
    workPtr->clientPtr = NULL;
    clientPtr->nEntered--;
    if (workPtr->isShareRunning) {
        clientPtr->nRunning--;
    }
    (void) FillLocked(poolPtr, clientPtr, &listPtr);
    CheckClientLocked(clientPtr);
    if (clientPtr->nEntered == 0 && clientPtr->logStamp == 0) {
        NsAssert(clientPtr->nParked == 0);
        Tcl_DeleteHashEntry(clientPtr->entryPtr);
        ns_free(clientPtr);
    }
    Ns_MutexUnlock(&sharePtr->lock);
    return listPtr;
}

NsWork *
NsShareFill(NsPool *poolPtr, bool isStopping)
{
    struct NsShare *sharePtr = poolPtr->sharePtr;
    NsWork         *listPtr = NULL, **linkPtr = &listPtr;
    Tcl_HashSearch  search;

    Ns_MutexLock(&sharePtr->lock);
    sharePtr->isStopping = sharePtr->isStopping || isStopping;
    for (Tcl_HashEntry *entryPtr =
             Tcl_FirstHashEntry(&sharePtr->clients, &search);
         entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        Client *clientPtr = Tcl_GetHashValue(entryPtr);

        linkPtr = FillLocked(poolPtr, clientPtr, linkPtr);
        CheckClientLocked(clientPtr);
    }
    Ns_MutexUnlock(&sharePtr->lock);
    return listPtr;
}

NsWork *
NsShareTakeLate(NsPool *poolPtr, NsStamp limit, NsStamp *oldestPtr)
{
    struct NsShare *sharePtr = poolPtr->sharePtr;
    NsWork         *listPtr = NULL, **linkPtr = &listPtr;
    Tcl_HashSearch  search;

    Ns_MutexLock(&sharePtr->lock);
    for (Tcl_HashEntry *entryPtr =
             Tcl_FirstHashEntry(&sharePtr->clients, &search);
         entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        Client *clientPtr = Tcl_GetHashValue(entryPtr);

        while (clientPtr->nParked > 0
               && clientPtr->parked.firstPtr->heldStamp <= limit) {
            *linkPtr = UnparkLocked(clientPtr);
            linkPtr = &(*linkPtr)->nextPtr;
            poolPtr->nDropped++;
            poolPtr->nTimeouts++;
        }
        if (clientPtr->nParked > 0) {
            *oldestPtr = MIN(*oldestPtr, clientPtr->parked.firstPtr->heldStamp);
        }
    }
    Ns_MutexUnlock(&sharePtr->lock);
    return listPtr;
}

/*
 * Whether no thread is free for a request that comes now.
 */
static bool
WouldWait(NsPool *poolPtr)
{
    bool isBusy;

    Ns_MutexLock(&poolPtr->tqueue);
    isBusy = poolPtr->nIdle == 0;
    Ns_MutexUnlock(&poolPtr->tqueue);
    return isBusy;
}

static Client *
FindClientLocked(struct NsShare *sharePtr, const char *peer)
{
    char           buffer[INET6_ADDRSTRLEN];
    Tcl_HashEntry *entryPtr;
    Client        *clientPtr;
    int            isNew;

    NsAssertLocked(&sharePtr->lock);
    SweepLocked(sharePtr);
    entryPtr = Tcl_CreateHashEntry(&sharePtr->clients, NsPeerKey(peer, buffer),
                                   &isNew);
    if (!isNew) {
        return Tcl_GetHashValue(entryPtr);
    }
    clientPtr = ns_calloc(1, sizeof(*clientPtr));
    clientPtr->sharePtr = sharePtr;
    clientPtr->entryPtr = entryPtr;
    Tcl_SetHashValue(entryPtr, clientPtr);
    return clientPtr;
}

static void
LogRefusal(const NsPool *poolPtr, const char *peer)
{
    Ns_Log(
        Warning,
        "pool[%s%s%s]: requests from %s are refused with 429: %d of them are "
        "waiting; see maxwaitperpeer",
        poolPtr->serverPtr->name, *poolPtr->name != '\0' ? " " : "",
        poolPtr->name, peer, (int) poolPtr->maxWaitPerPeer);
}

static void
EnterLocked(Client *clientPtr, NsWork *workPtr)
{
    NsAssertLocked(&clientPtr->sharePtr->lock);
    NsAssert(workPtr->clientPtr == NULL);
    workPtr->clientPtr = clientPtr;
    workPtr->isShareRunning = false;
    clientPtr->nEntered++;
}

static void
ParkLocked(Client *clientPtr, NsWork *workPtr)
{
    NsAssertLocked(&clientPtr->sharePtr->lock);
    workPtr->heldStamp = NsClockNow();
    NsWorkAppend(&clientPtr->parked, workPtr);
    clientPtr->nParked++;
    NsWorkCountHeld(workPtr, 1);
}

static NsWork *
UnparkLocked(Client *clientPtr)
{
    NsWork *workPtr = NsWorkRemoveFirst(&clientPtr->parked);

    NsAssertLocked(&clientPtr->sharePtr->lock);
    NsAssert(clientPtr->nParked > 0);
    clientPtr->nParked--;
    workPtr->nextPtr = NULL;
    NsWorkCountHeld(workPtr, -1);
    return workPtr;
}

/*
 * Append those that have room now to a list; its new end.
 */
static NsWork **
FillLocked(const NsPool *poolPtr, Client *clientPtr, NsWork **linkPtr)
{
    int maxRun = poolPtr->maxRunPerPeer;

    NsAssertLocked(&poolPtr->sharePtr->lock);
    while (clientPtr->nParked > 0
           && (poolPtr->sharePtr->isStopping || maxRun == 0
               || clientPtr->nEntered < maxRun)) {
        *linkPtr = UnparkLocked(clientPtr);
        EnterLocked(clientPtr, *linkPtr);
        linkPtr = &(*linkPtr)->nextPtr;
    }
    return linkPtr;
}

/*
 * Forget clients that are here for the log alone.
 */
static void
SweepLocked(struct NsShare *sharePtr)
{
    NsStamp        now = NsClockNow();
    Tcl_HashSearch search;

    NsAssertLocked(&sharePtr->lock);
    if (now - sharePtr->sweepStamp < NS_LINE_REST) {
        return;
    }
    sharePtr->sweepStamp = now;
    for (Tcl_HashEntry *entryPtr =
             Tcl_FirstHashEntry(&sharePtr->clients, &search);
         entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        Client *clientPtr = Tcl_GetHashValue(entryPtr);

        if (clientPtr->nEntered == 0 && clientPtr->nParked == 0
            && now - clientPtr->logStamp >= NS_LINE_REST) {
            Tcl_DeleteHashEntry(entryPtr);
            ns_free(clientPtr);
        }
    }
}

/*
 * Nobody is parked whom no end of a request would fetch.
 */
static void
CheckClientLocked(const Client *clientPtr)
{
    NsAssertLocked(&clientPtr->sharePtr->lock);
    NsAssert(clientPtr->nRunning >= 0
             && clientPtr->nRunning <= clientPtr->nEntered);
    NsAssert((clientPtr->nParked == 0) == (clientPtr->parked.firstPtr == NULL));
    NsAssert(clientPtr->nParked == 0 || clientPtr->nEntered > 0);
}

/* SPDX-License-Identifier: MPL-2.0
 * httpkept.c --
 *
 *      Connections to other servers that are kept open for the next request.
 *
 *      Each waits as a task until it becomes readable: then the peer has closed
 *      it or sent something unexpected.  A request that takes a connection gets
 *      a duplicate of the descriptor, so the task may end at any time.
 */

#include "net/httpkept.h"

#include "base/assert.h"
#include "base/lock.h"
#include "net/task.h"
#include "nsstring.h"
#include "nsthread.h"

#define MAX_KEPT 256

/*
 * While listed, guarded by the lock.  After that it belongs to the task's
 * thread.
 */
typedef struct Kept {
    struct Kept     *nextPtr;
    int              slot; /* Constant. */
    char            *key;  /* Constant. */
    char            *peer; /* Constant. */
    NsHttpConnection connection;
    NsStamp          expires; /* Constant. */
    Ns_Task         *task;
    bool             isListed; /* Guarded by the lock. */
} Kept;

static Ns_Mutex lock; /* Guards what follows. */
static Kept    *firstPtr;
static int      nKept;
static int      lastSlot;

static Ns_TaskProc Wait;
static Kept       *FindLocked(const char *key);
static bool        IsUsable(const Kept *keptPtr);
static void        UnlistLocked(Kept *keptPtr);
static void        End(Kept *keptPtr);

void
NsHttpKeptInit(void)
{
    NsMutexSetup(&lock, NS_RANK_HTTP_KEPT, "nsd:httpkept", NULL);
}

void
NsHttpKeptPut(const NsHttpConnection *connectionPtr, const char *key,
              const char *peer, NsStamp span, Ns_TaskQueue *queue)
{
    Kept *keptPtr = ns_calloc(1u, sizeof(Kept));
    bool  isKept = false;

    NsAssert(connectionPtr->sock != NS_INVALID_SOCKET && span > 0);
    keptPtr->connection = *connectionPtr;
    keptPtr->key = ns_strdup(key);
    keptPtr->peer = ns_strdup(peer);
    keptPtr->expires = NsClockNow() + span;
    Ns_MutexLock(&lock);
    if (nKept < MAX_KEPT) {
        keptPtr->slot = lastSlot++;
        keptPtr->task = NsTaskStart(connectionPtr->sock, Wait, keptPtr, queue);
        isKept = keptPtr->task != NULL;
    }
    if (isKept) {
        keptPtr->isListed = true;
        keptPtr->nextPtr = firstPtr;
        firstPtr = keptPtr;
        nKept++;
    }
    Ns_MutexUnlock(&lock);
    if (!isKept) {
        End(keptPtr);
    }
}

static void
Wait(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    Kept   *keptPtr = arg;
    Ns_Time left;

    NsAssert(sock == keptPtr->connection.sock);
    if (why == NS_SOCK_INIT) {
        left = NsClockSpan(NsClockNow(), keptPtr->expires);
        Ns_TaskCallback(task, NS_SOCK_READ, &left);
        return;
    }
    if (why == NS_SOCK_DONE) {
        End(keptPtr);
        return;
    }
    Ns_MutexLock(&lock);
    if (keptPtr->isListed) {
        UnlistLocked(keptPtr);
    }
    Ns_MutexUnlock(&lock);
    Ns_TaskDone(task);
}

bool
NsHttpKeptTake(const char *key, NsHttpConnection *connectionPtr)
{
    Kept *keptPtr;
    bool  isTaken = false;

    Ns_MutexLock(&lock);
    while (!isTaken && (keptPtr = FindLocked(key)) != NULL) {
        UnlistLocked(keptPtr);
        if (IsUsable(keptPtr)) {
            connectionPtr->sock = fcntl(keptPtr->connection.sock,
                                        F_DUPFD_CLOEXEC, 0);
            isTaken = connectionPtr->sock != NS_INVALID_SOCKET;
        }
        if (isTaken) {
            connectionPtr->tls = keptPtr->connection.tls;
            keptPtr->connection.tls = NULL;
        }
        /* The task ends only after this, because we have unlisted it. */
        (void) Ns_TaskCancel(keptPtr->task);
    }
    Ns_MutexUnlock(&lock);
    if (isTaken && connectionPtr->tls != NULL) {
        NsTlsClientSetSock(connectionPtr->tls, connectionPtr->sock);
    }
    return isTaken;
}

static Kept *
FindLocked(const char *key)
{
    Kept *keptPtr = firstPtr;

    NsAssertLocked(&lock);
    while (keptPtr != NULL && !STREQ(keptPtr->key, key)) {
        keptPtr = keptPtr->nextPtr;
    }
    return keptPtr;
}

static bool
IsUsable(const Kept *keptPtr)
{
    char    byte;
    ssize_t n = recv(keptPtr->connection.sock, &byte, 1u,
                     MSG_PEEK | MSG_DONTWAIT);

    return n < 0 && errno == EAGAIN && keptPtr->expires > NsClockNow();
}

static void
UnlistLocked(Kept *keptPtr)
{
    Kept **linkPtrPtr = &firstPtr;

    NsAssertLocked(&lock);
    NsAssert(keptPtr->isListed && nKept > 0);
    while (*linkPtrPtr != keptPtr) {
        linkPtrPtr = &(*linkPtrPtr)->nextPtr;
    }
    *linkPtrPtr = keptPtr->nextPtr;
    keptPtr->isListed = false;
    nKept--;
}

/*
 * No other thread has it any more.
 */
static void
End(Kept *keptPtr)
{
    NsTlsClient *tls;

    /* Fields that were written under the lock must be read under it. */
    Ns_MutexLock(&lock);
    NsAssert(!keptPtr->isListed);
    tls = keptPtr->connection.tls;
    Ns_MutexUnlock(&lock);
    if (tls != NULL) {
        NsTlsClientDestroy(&tls);
    }
    ns_sockclose(keptPtr->connection.sock);
    ns_free(keptPtr->key);
    ns_free(keptPtr->peer);
    ns_free(keptPtr);
}

void
NsHttpKeptList(Ns_DString *dsPtr)
{
    Ns_MutexLock(&lock);
    for (const Kept *keptPtr = firstPtr; keptPtr != NULL;
         keptPtr = keptPtr->nextPtr) {
        Ns_Time left = NsClockSpan(NsClockNow(), keptPtr->expires);

        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringPrintf(dsPtr,
                         "slot %d state waiting expire %ld.%06ld peer %s"
                         " sock %d",
                         keptPtr->slot, (long) left.sec, (long) left.usec,
                         keptPtr->peer, keptPtr->connection.sock);
        Tcl_DStringEndSublist(dsPtr);
    }
    Ns_MutexUnlock(&lock);
}

/* SPDX-License-Identifier: MPL-2.0
 * handover.c --
 *
 *      Where complete requests go, and until when.
 */

#include "net/handover.h"
#include "net/hostmap.h"
#include "net/readthread.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/lock.h"

/*
 * While calls are deferred: how long the first may have to wait.
 */
#define MAX_DEFER_NS INT64_C(50000)

static NsReadyProc               *readyProc;
static _Atomic(NsBodyLimitProc *) bodyLimitProc;

static void CallDeferred(NsDriverThread *threadPtr);

/*
 * Driver threads that stop and may still hand over requests.
 */
static struct {
    Ns_Mutex lock; /* Guards the number. */
    Ns_Cond  changed;
    int      nThreads;
} undrained;

void
NsHandOverInit(void)
{
    NsMutexSetup(&undrained.lock, NS_RANK_DRIVERS, "nsd", "drivers");
    Ns_CondInit(&undrained.changed);
}

void
NsDriverSetReadyProc(NsReadyProc *proc)
{
    readyProc = proc;
}

void
NsDriverSetBodyLimitProc(NsBodyLimitProc *proc)
{
    atomic_store_explicit(&bodyLimitProc, proc, memory_order_release);
}

int64_t
NsHandOverBodyLimit(const NsDriver *drvPtr, NsMessage *messagePtr)
{
    NsBodyLimitProc *proc = atomic_load_explicit(&bodyLimitProc,
                                                 memory_order_acquire);

    if (likely(proc == NULL)) {
        return INT64_MAX;
    }
    NsHostMapChoose(drvPtr, messagePtr);
    return proc(messagePtr);
}

void
NsHandOver(NsMessage *messagePtr)
{
    NsMessageCheck(messagePtr);
    readyProc(messagePtr);
}

/*
 * Else each arrival would interrupt one of those who work on what has arrived
 * before, for the sake of one more request in the queue: two switches each.
 */
void
NsDriverYield(void)
{
    NsDriverThread *threadPtr = NsReadThreadSelf();

    if (threadPtr != NULL) {
        threadPtr->mustYield = true;
    }
}

bool
NsDriverDefer(NsDeferredProc *proc, void *arg)
{
    NsDriverThread *threadPtr = NsReadThreadSelf();

    if (threadPtr == NULL || !threadPtr->mayDefer
        || threadPtr->nDeferred == NS_MAX_DEFERRED) {
        return false;
    }
    if (threadPtr->nDeferred == 0) {
        threadPtr->deferStamp = NsClockNow();
    }
    threadPtr->deferred[threadPtr->nDeferred++] = (NsDeferredCall){proc, arg};
    return true;
}

void
NsHandOverBeginDefer(NsDriverThread *threadPtr)
{
    NsAssert(threadPtr == NsReadThreadSelf());
    if (threadPtr->nDeferred == NS_MAX_DEFERRED
        || (threadPtr->nDeferred > 0
            && NsClockNow() - threadPtr->deferStamp > MAX_DEFER_NS)) {
        CallDeferred(threadPtr);
    }
    threadPtr->mayDefer = true;
}

void
NsHandOverEndDefer(NsDriverThread *threadPtr)
{
    CallDeferred(threadPtr);
    threadPtr->mayDefer = false;
}

static void
CallDeferred(NsDriverThread *threadPtr)
{
    for (int i = 0; i < threadPtr->nDeferred; i++) {
        threadPtr->deferred[i].proc(threadPtr->deferred[i].arg);
    }
    threadPtr->nDeferred = 0;
}

void
NsHandOverNoteStop(void)
{
    Ns_MutexLock(&undrained.lock);
    undrained.nThreads++;
    Ns_MutexUnlock(&undrained.lock);
}

void
NsHandOverNoteDrained(void)
{
    Ns_MutexLock(&undrained.lock);
    NsAssert(undrained.nThreads > 0);
    undrained.nThreads--;
    Ns_CondBroadcast(&undrained.changed);
    Ns_MutexUnlock(&undrained.lock);
}

Ns_ReturnCode
NsDriversDrain(const Ns_Time *deadlinePtr)
{
    Ns_Time       deadline = *deadlinePtr;
    Ns_ReturnCode result = NS_OK;

    Ns_MutexLock(&undrained.lock);
    while (undrained.nThreads > 0 && result == NS_OK) {
        result = Ns_CondTimedWait(&undrained.changed, &undrained.lock,
                                  &deadline);
    }
    if (undrained.nThreads == 0) {
        result = NS_OK;
    }
    Ns_MutexUnlock(&undrained.lock);
    return result;
}

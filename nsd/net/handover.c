/* SPDX-License-Identifier: MPL-2.0
 * handover.c --
 *
 *      Where complete requests go, and until when.
 */

#include "net/handover.h"
#include "net/readthread.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/lock.h"

static NsReadyProc *readyProc;

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

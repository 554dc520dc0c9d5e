/* SPDX-License-Identifier: MPL-2.0
 * writer_info.c --
 *
 *      What writer threads are doing, for those who ask.
 */

#include "net/writer_info.h"
#include "net/writer_int.h"

#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"

static void    AppendJobLocked(Ns_DString *dsPtr, NsWriterJob *jobPtr,
                               bool isLong);
static int64_t Limit(const NsWriterEntry *entryPtr);

void
NsWriterAppendList(NsWriter *writerPtr, Ns_DString *dsPtr, const char *server,
                   bool isLong)
{
    Ns_MutexLock(&writerPtr->lock);
    for (NsWriterJob *jobPtr = writerPtr->firstPtr; jobPtr != NULL;
         jobPtr = jobPtr->nextPtr) {
        const NsServer *serverPtr = jobPtr->serverPtr;

        if (server == NULL
            || (serverPtr != NULL && STREQ(serverPtr->name, server))) {
            AppendJobLocked(dsPtr, jobPtr, isLong);
        }
    }
    Ns_MutexUnlock(&writerPtr->lock);
}

void
NsWriterAppendStats(NsWriter *writerPtr, Ns_DString *dsPtr)
{
    int64_t nQueued = 0;
    int     nJobs = 0;

    Ns_MutexLock(&writerPtr->lock);
    for (const NsWriterJob *jobPtr = writerPtr->firstPtr; jobPtr != NULL;
         jobPtr = jobPtr->nextPtr) {
        nJobs++;
        nQueued += atomic_load_explicit(&jobPtr->remaining,
                                        memory_order_relaxed);
    }
    Ns_MutexUnlock(&writerPtr->lock);
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringPrintf(dsPtr, "thread -writer%d- module", writerPtr->index);
    Tcl_DStringAppendElement(dsPtr, writerPtr->drvPtr->pub.module);
    Ns_DStringPrintf(dsPtr, " deliveries %d queued %" PRId64 " sent %" PRId64,
                     nJobs, nQueued,
                     atomic_load_explicit(&writerPtr->sent,
                                          memory_order_relaxed));
    Ns_DStringAppendElement(dsPtr, "aborted");
    Tcl_DStringStartSublist(dsPtr);
    NsAbortsAppend(dsPtr, writerPtr->nAborted);
    Tcl_DStringEndSublist(dsPtr);
    Tcl_DStringEndSublist(dsPtr);
}

static void
AppendJobLocked(Ns_DString *dsPtr, NsWriterJob *jobPtr, bool isLong)
{
    char thread[32];

    NsAssertLocked(&jobPtr->writerPtr->lock);
    snprintf(thread, sizeof(thread), "-writer%d-", jobPtr->writerPtr->index);
    NsWriterAppendEntry(
        dsPtr,
        &(NsWriterEntry){
            .queueStamp = jobPtr->queueStamp,
            .startStamp = jobPtr->startStamp,
            .thread = thread,
            .driver = jobPtr->sockPtr->drvPtr->procs.name,
            .pool = jobPtr->pool,
            .peer = jobPtr->sockPtr->peer,
            .fd = atomic_load_explicit(&jobPtr->fd, memory_order_relaxed),
            .remaining = atomic_load_explicit(&jobPtr->remaining,
                                              memory_order_relaxed),
            .sent = atomic_load_explicit(&jobPtr->sent, memory_order_relaxed),
            .rates = jobPtr->rates,
            .nRates = NS_WRITER_RATES,
            .clientData = jobPtr->clientData},
        isLong);
}

/*
 * {START THREAD DRIVER ?POOL? PEER FD REMAINING SENT ?RATE RATELIMIT?
 * CLIENTDATA}; rates in kB/s.
 */
void
NsWriterAppendEntry(Ns_DString *dsPtr, const NsWriterEntry *entryPtr,
                    bool isLong)
{
    Ns_Time start = NsClockWall(entryPtr->queueStamp);

    NsAssert(entryPtr->remaining >= 0 && entryPtr->sent >= 0);
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringPrintf(dsPtr, "%ld.%06ld %s ", start.sec, start.usec,
                     entryPtr->thread);
    Tcl_DStringAppendElement(dsPtr, entryPtr->driver);
    if (isLong) {
        Tcl_DStringAppendElement(dsPtr, entryPtr->pool);
    }
    Ns_DStringPrintf(dsPtr, " %s %d %" PRId64 " %" PRId64, entryPtr->peer,
                     entryPtr->fd, entryPtr->remaining, entryPtr->sent);
    if (isLong) {
        NsStamp span = MAX(NsClockNow() - entryPtr->startStamp, 1);

        Ns_DStringPrintf(dsPtr, " %.0f %" PRId64,
                         (double) entryPtr->sent / 1024.0
                             * (double) NS_STAMP_SECOND / (double) span,
                         Limit(entryPtr) / 1024);
    }
    Tcl_DStringAppendElement(dsPtr,
                             entryPtr->clientData == NULL
                                 ? ""
                                 : entryPtr->clientData);
    Tcl_DStringEndSublist(dsPtr);
}

/*
 * The tightest limit that holds for the reply, in bytes per second; 0 if none.
 */
static int64_t
Limit(const NsWriterEntry *entryPtr)
{
    int64_t least = 0;

    for (int i = 0; i < entryPtr->nRates; i++) {
        int64_t limit = entryPtr->rates[i] == NULL
            ? 0
            : atomic_load_explicit(&entryPtr->rates[i]->bytesPerSecond,
                                   memory_order_relaxed);

        if (limit > 0 && (least == 0 || limit < least)) {
            least = limit;
        }
    }
    return least;
}

/* SPDX-License-Identifier: MPL-2.0
 * writer_info.c --
 *
 *      What writer threads are doing, for those who ask.
 */

#include "net/writer_info.h"
#include "net/writer_int.h"

#include "nsstring.h"
#include "base/lock.h"

static void    AppendJobLocked(Ns_DString *dsPtr, NsWriterJob *jobPtr,
                               bool isLong);
static int64_t Limit(NsWriterJob *jobPtr);

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
    Tcl_DStringEndSublist(dsPtr);
}

/*
 * {START THREAD DRIVER ?POOL? PEER FD REMAINING SENT ?RATE RATELIMIT?
 * CLIENTDATA}; rates in kB/s.
 */
static void
AppendJobLocked(Ns_DString *dsPtr, NsWriterJob *jobPtr, bool isLong)
{
    const NsSock *sockPtr = jobPtr->sockPtr;
    Ns_Time       start = NsClockWall(jobPtr->queueStamp);
    int64_t sent = atomic_load_explicit(&jobPtr->sent, memory_order_relaxed);

    NsAssertLocked(&jobPtr->writerPtr->lock);

    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringPrintf(dsPtr, "%ld.%06ld -writer%d- ", start.sec, start.usec,
                     jobPtr->writerPtr->index);
    Tcl_DStringAppendElement(dsPtr, sockPtr->drvPtr->procs.name);
    if (isLong) {
        Tcl_DStringAppendElement(dsPtr, jobPtr->pool);
    }
    Ns_DStringPrintf(dsPtr, " %s %d %" PRId64 " %" PRId64, sockPtr->peer,
                     atomic_load_explicit(&jobPtr->fd, memory_order_relaxed),
                     atomic_load_explicit(&jobPtr->remaining,
                                          memory_order_relaxed),
                     sent);
    if (isLong) {
        NsStamp span = MAX(NsClockNow() - jobPtr->startStamp, 1);

        Ns_DStringPrintf(dsPtr, " %.0f %" PRId64,
                         (double) sent / 1024.0 * (double) NS_STAMP_SECOND
                             / (double) span,
                         Limit(jobPtr) / 1024);
    }
    Tcl_DStringAppendElement(dsPtr,
                             jobPtr->clientData == NULL ? ""
                                                        : jobPtr->clientData);
    Tcl_DStringEndSublist(dsPtr);
}

/*
 * The tightest limit that holds for the job, in bytes per second; 0 if none.
 */
static int64_t
Limit(NsWriterJob *jobPtr)
{
    NsRate *rates[NS_WRITER_RATES];
    int     nRates = NsRatesInForce(jobPtr->rates, NS_WRITER_RATES, rates);
    int64_t least = 0;

    for (int i = 0; i < nRates; i++) {
        int64_t limit = atomic_load_explicit(&rates[i]->bytesPerSecond,
                                             memory_order_relaxed);

        if (limit > 0 && (least == 0 || limit < least)) {
            least = limit;
        }
    }
    return least;
}

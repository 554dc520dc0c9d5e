/* SPDX-License-Identifier: MPL-2.0
 * writer.c --
 *
 *      Threads that send what clients do not take at once.
 *
 *      A job is the queued output of one reply.  The thread that answers
 *      appends to it, under the writer's lock; the writer thread takes what is
 *      there, sends it without holding the lock, and ends the job when it is
 *      finished and empty.  Each client gets one portion per turn, so that a
 *      fast one does not keep others waiting.
 */

#include "net/writer.h"
#include "net/sockio.h"
#include "net/sockstate.h"
#include "net/spool.h"
#include "net/writer_check.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/episode.h"
#include "base/lock.h"

/*
 * Bytes sent for one client before the others get their turn.
 */
#define PORTION ((size_t) 262144u)

/*
 * A TLS layer that could not send bytes wants to be given them again: as much
 * of that as a record holds (RFC 8446, section 5.1), whatever the limits allow
 * in the meantime.
 */
#define RECORD ((size_t) 16384u)

#define LAST_WAIT_US 100000 /* For what a stop at the deadline gives up. */

static void         GiveUpAllLocked(NsWriter *writerPtr);
static NsWriterJob *CreateJob(NsSock *sockPtr);
static void         Post(NsWriterJob *jobPtr);
static void         WriterThread(void *arg);
static void         TakeEvent(const NsPollEvent *eventPtr, void *arg);
static void         TakeJob(NsInboxNode *nodePtr, void *arg);
static bool         HasJobs(NsWriter *writerPtr);
static void         AbandonAll(NsWriter *writerPtr);
static void         MakeReady(NsWriterJob *jobPtr);
static void         ServeReady(void *arg);
static void         Serve(NsWriter *writerPtr, NsWriterJob *jobPtr);
static bool         MustPause(NsWriter *writerPtr, NsWriterJob *jobPtr);
static ssize_t      SendPortion(NsWriterJob *jobPtr);
static void         WaitForClient(NsWriter *writerPtr, NsWriterJob *jobPtr);
static bool         IsTooSlow(NsWriterJob *jobPtr, NsStamp now);
static void GiveUp(NsWriterJob *jobPtr, NsAbortReason reason, const char *text,
                   const char *parameter);
static void CountAbort(NsWriterJob *jobPtr, NsAbortReason reason);
static void EndIfFinished(NsWriter *writerPtr, NsWriterJob *jobPtr);
static void FreeJob(NsWriterJob *jobPtr);
static int64_t    Missing(const NsWriterJob *jobPtr);
static void       UnlinkLocked(NsWriter *writerPtr, NsWriterJob *jobPtr);
static void       TimeUp(NsWheelEntry *entryPtr, void *arg);
static Ns_ArgProc Describe;

static const NsLoopProcs loopProcs = {
    .eventProc = TakeEvent,
    .nodeProc = TakeJob,
    .readyProc = ServeReady,
    .timeProc = TimeUp};

NsWriter *
NsWriterCreate(NsDriver *drvPtr, int index)
{
    NsWriter *writerPtr = ns_calloc(1u, sizeof(NsWriter));

    writerPtr->drvPtr = drvPtr;
    writerPtr->index = index;
    if (NsLoopInit(&writerPtr->loop, NS_POLLER_EPOLL, &loopProcs, writerPtr)
        != NS_OK) {
        Ns_Fatal("%s: cannot create a poller: %s", drvPtr->pub.module,
                 strerror(errno));
    }
    NsMutexSetup(&writerPtr->lock, NS_RANK_WRITER, "ns:writer",
                 drvPtr->pub.module);
    Ns_CondInit(&writerPtr->changed);
    Ns_RegisterProcInfo((void *) WriterThread, "ns:writerthread", Describe);
    Ns_ThreadCreate(WriterThread, writerPtr, 0, &writerPtr->thread);
    return writerPtr;
}

void
NsWriterSetRate(NsWriterJob *jobPtr, int64_t bytesPerSecond)
{
    atomic_store_explicit(&jobPtr->rate.bytesPerSecond, bytesPerSecond,
                          memory_order_relaxed);
}

Ns_ReturnCode
NsWriterAppend(NsSock *sockPtr, const NsPiece *pieces, int nPieces, size_t skip)
{
    NsWriterJob *jobPtr = sockPtr->jobPtr;
    NsOutput     added = {0};

    NsSockAssertHandedOver(sockPtr);
    if (jobPtr == NULL) {
        jobPtr = CreateJob(sockPtr);
        sockPtr->jobPtr = jobPtr;
    }
    if (atomic_load_explicit(&jobPtr->isGone, memory_order_relaxed)) {
        NsPiecesRelease(pieces, nPieces);
        Ns_Log(Notice,
               "NsWriterQueue: writer job was already canceled;"
               " maybe user dropped connection.");
        return NS_ERROR;
    }
    if (NsOutputAppend(&added, &jobPtr->store, pieces, nPieces, skip)
        != NS_OK) {
        static NsEpisode shortage;

        NsSockCountAbort(sockPtr, NS_ABORT_ERROR);
        if (NsEpisodeBegins(&shortage)) {
            Ns_Log(
                Error,
                "%s: cannot queue output: %s; replies that clients do not take "
                "at once are cut off until it works again",
                sockPtr->drvPtr->pub.module,
                NsSpoolReason(NS_SPOOL_REPLIES, errno));
        }
        return NS_ERROR;
    }
    if (sockPtr->receiptPtr != NULL) {
        /* Nothing was queued before. */
        NsReceiptDestroy(&jobPtr->receiptPtr);
        jobPtr->receiptPtr = sockPtr->receiptPtr;
        sockPtr->receiptPtr = NULL;
    }
    Ns_MutexLock(&jobPtr->writerPtr->lock);
    NsAssert(!jobPtr->isFinished);
    atomic_fetch_add_explicit(&jobPtr->remaining, added.bytes,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&jobPtr->appended, added.bytes,
                              memory_order_relaxed);
    NsOutputMove(&jobPtr->incoming, &added);
    NsReceiptMore(jobPtr->receiptPtr);
    Ns_MutexUnlock(&jobPtr->writerPtr->lock);
    Post(jobPtr);
    return NS_OK;
}

NsReceipt *
NsWriterFollow(NsSock *sockPtr)
{
    NsReceiptFollow(sockPtr->jobPtr->receiptPtr);
    return sockPtr->jobPtr->receiptPtr;
}

void
NsWriterFinish(NsSock *sockPtr, bool keep)
{
    NsWriterJob *jobPtr = sockPtr->jobPtr;
    NsWriter    *writerPtr = jobPtr->writerPtr;
    bool         isPosted;

    Ns_MutexLock(&writerPtr->lock);
    NsAssert(!jobPtr->isFinished);
    jobPtr->isFinished = true;
    jobPtr->keep = keep;
    /* A job that is posted does not end: see EndIfFinished. */
    isPosted = atomic_exchange(&jobPtr->isPosted, true);
    Ns_MutexUnlock(&writerPtr->lock);
    if (!isPosted) {
        NsInboxPut(&writerPtr->loop.inbox, &jobPtr->inboxNode);
    }
}

Ns_ReturnCode
NsWriterDrain(NsSock *sockPtr)
{
    NsWriterJob *jobPtr = sockPtr->jobPtr;
    NsWriter    *writerPtr = jobPtr->writerPtr;
    bool         isGone;

    Ns_MutexLock(&writerPtr->lock);
    jobPtr->isDraining = true;
    Ns_MutexUnlock(&writerPtr->lock);
    NsWriterFinish(sockPtr, false);

    Ns_MutexLock(&writerPtr->lock);
    while (jobPtr->isDraining) {
        Ns_CondWait(&writerPtr->changed, &writerPtr->lock);
    }
    Ns_MutexUnlock(&writerPtr->lock);

    isGone = atomic_load(&jobPtr->isGone);
    NsReceiptDestroy(&jobPtr->receiptPtr);
    FreeJob(jobPtr);
    return isGone ? NS_ERROR : NS_OK;
}

bool
NsWriterTurns(NsWriter *writerPtr)
{
    return NsLoopAsk(&writerPtr->loop);
}

Ns_ReturnCode
NsWriterWaitEmpty(NsWriter *writerPtr, const Ns_Time *deadlinePtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_Time       deadline = *deadlinePtr;

    Ns_MutexLock(&writerPtr->lock);
    while (writerPtr->firstPtr != NULL && result == NS_OK) {
        result = Ns_CondTimedWait(&writerPtr->changed, &writerPtr->lock,
                                  &deadline);
    }
    if (writerPtr->firstPtr == NULL) {
        result = NS_OK;
    } else {
        GiveUpAllLocked(writerPtr);
    }
    Ns_MutexUnlock(&writerPtr->lock);
    if (result != NS_OK) {
        Ns_Log(Warning, "writer%d: timeout waiting for shutdown",
               writerPtr->index);
    }
    return result;
}

void
NsWriterEnd(NsWriter *writerPtr)
{
    Ns_MutexLock(&writerPtr->lock);
    NsAssert(writerPtr->firstPtr == NULL);
    Ns_MutexUnlock(&writerPtr->lock);
    NsLoopStop(&writerPtr->loop);
    Ns_ThreadJoin(&writerPtr->thread, NULL);
}

/*
 * Jobs whose request has ended are to end now: their replies get into the log,
 * with what was sent of them.
 */
static void
GiveUpAllLocked(NsWriter *writerPtr)
{
    Ns_Time limit;

    NsAssertLocked(&writerPtr->lock);
    atomic_store_explicit(&writerPtr->mustGiveUp, true, memory_order_relaxed);
    NsLoopWake(&writerPtr->loop);
    Ns_GetTime(&limit);
    Ns_IncrTime(&limit, 0, LAST_WAIT_US);
    while (writerPtr->firstPtr != NULL
           && Ns_CondTimedWait(&writerPtr->changed, &writerPtr->lock, &limit)
               == NS_OK) {
        continue;
    }
}

/*
 * A job of the next writer thread in turn.
 */
static NsWriterJob *
CreateJob(NsSock *sockPtr)
{
    NsDriver    *drvPtr = sockPtr->drvPtr;
    NsWriterJob *jobPtr = ns_calloc(1u, sizeof(NsWriterJob));
    unsigned     turn = atomic_fetch_add_explicit(&drvPtr->nextWriter, 1u,
                                                  memory_order_relaxed);
    NsWriter *writerPtr = drvPtr->writers[turn % (unsigned) drvPtr->nWriters];

    jobPtr->sockPtr = sockPtr;
    jobPtr->receiptPtr = NsReceiptCreate();
    jobPtr->writerPtr = writerPtr;
    /* The thread that answers may have begun to send. */
    jobPtr->nRefused = RECORD;
    NsOutputStoreInit(&jobPtr->store, drvPtr->params.writerMemory);
    jobPtr->serverPtr = sockPtr->serverPtr;
    jobPtr->queueStamp = sockPtr->notes.queueStamp;
    jobPtr->startStamp = NsClockNow();
    jobPtr->pool = sockPtr->notes.pool;
    jobPtr->rates[0] = &jobPtr->rate;
    jobPtr->rates[1] = NsSockGroupRate(sockPtr);
    jobPtr->rates[2] = &drvPtr->rate;
    NsWriterSetRate(jobPtr, sockPtr->notes.bytesPerSecond);
    jobPtr->clientData = ns_strcopy(sockPtr->clientData);
    atomic_store_explicit(&jobPtr->fd, -1, memory_order_relaxed);

    Ns_MutexLock(&writerPtr->lock);
    jobPtr->prevPtr = writerPtr->lastPtr;
    if (writerPtr->lastPtr != NULL) {
        writerPtr->lastPtr->nextPtr = jobPtr;
    } else {
        writerPtr->firstPtr = jobPtr;
    }
    writerPtr->lastPtr = jobPtr;
    Ns_MutexUnlock(&writerPtr->lock);
    return jobPtr;
}

/*
 * Tell the writer thread that the job has something new.
 */
static void
Post(NsWriterJob *jobPtr)
{
    if (!atomic_exchange(&jobPtr->isPosted, true)) {
        NsInboxPut(&jobPtr->writerPtr->loop.inbox, &jobPtr->inboxNode);
    }
}

static void
WriterThread(void *arg)
{
    NsWriter *writerPtr = arg;

    Ns_ThreadSetName("-writer%d-", writerPtr->index);
    while (!NsLoopIsStopping(&writerPtr->loop) || HasJobs(writerPtr)) {
        NsLoopTurn(&writerPtr->loop, writerPtr->firstReadyPtr != NULL ? 1 : 0);
        if (atomic_load_explicit(&writerPtr->mustGiveUp,
                                 memory_order_relaxed)) {
            atomic_store_explicit(&writerPtr->mustGiveUp, false,
                                  memory_order_relaxed);
            AbandonAll(writerPtr);
        }
    }
}

static bool
HasJobs(NsWriter *writerPtr)
{
    bool hasJobs;

    Ns_MutexLock(&writerPtr->lock);
    hasJobs = writerPtr->firstPtr != NULL;
    Ns_MutexUnlock(&writerPtr->lock);
    return hasJobs;
}

static void
TakeEvent(const NsPollEvent *eventPtr, void *arg)
{
    MakeReady(eventPtr->data);
}

static void
TakeJob(NsInboxNode *nodePtr, void *arg)
{
    NsWriterJob *jobPtr = (NsWriterJob *) nodePtr;

    atomic_store(&jobPtr->isPosted, false);
    MakeReady(jobPtr);
}

static void
AbandonAll(NsWriter *writerPtr)
{
    Ns_MutexLock(&writerPtr->lock);
    for (NsWriterJob *jobPtr = writerPtr->firstPtr; jobPtr != NULL;
         jobPtr = jobPtr->nextPtr) {
        atomic_store_explicit(&jobPtr->isGone, true, memory_order_relaxed);
        MakeReady(jobPtr);
    }
    Ns_MutexUnlock(&writerPtr->lock);
}

static void
MakeReady(NsWriterJob *jobPtr)
{
    NsWriter *writerPtr = jobPtr->writerPtr;

    if (jobPtr->isReady) {
        return;
    }
    jobPtr->isReady = true;
    jobPtr->nextReadyPtr = NULL;
    if (writerPtr->firstReadyPtr == NULL) {
        writerPtr->firstReadyPtr = jobPtr;
    } else {
        writerPtr->lastReadyPtr->nextReadyPtr = jobPtr;
    }
    writerPtr->lastReadyPtr = jobPtr;
}

/*
 * One portion for each client that is ready now; those that take all of it are
 * ready again in the next turn.
 */
static void
ServeReady(void *arg)
{
    NsWriter    *writerPtr = arg;
    NsWriterJob *jobPtr = writerPtr->firstReadyPtr;

    NsAssert((jobPtr == NULL) == (writerPtr->lastReadyPtr == NULL));
    writerPtr->firstReadyPtr = NULL;
    writerPtr->lastReadyPtr = NULL;
    while (jobPtr != NULL) {
        NsWriterJob *nextPtr = jobPtr->nextReadyPtr;

        NsAssert(jobPtr->isReady && jobPtr->writerPtr == writerPtr);
        jobPtr->isReady = false;
        Serve(writerPtr, jobPtr);
        jobPtr = nextPtr;
    }
}

static void
Serve(NsWriter *writerPtr, NsWriterJob *jobPtr)
{
    ssize_t sent;
    bool    mayBeAll;

    if (jobPtr->output.bytes == 0) {
        /* Only the time counts during which something waits. */
        jobPtr->windowStamp = NsClockNow();
        jobPtr->windowBytes = 0;
    }
    Ns_MutexLock(&writerPtr->lock);
    NsOutputMove(&jobPtr->output, &jobPtr->incoming);
    jobPtr->sawEnd = jobPtr->isFinished && !jobPtr->isDraining;
    NsWriterCheckJobLocked(jobPtr);
    Ns_MutexUnlock(&writerPtr->lock);

    if (atomic_load_explicit(&jobPtr->isGone, memory_order_relaxed)) {
        NsOutputClear(&jobPtr->output);
    }
    if (jobPtr->output.bytes > 0 && MustPause(writerPtr, jobPtr)) {
        return;
    }
    mayBeAll = jobPtr->output.bytes <= (int64_t) PORTION;
    if (jobPtr->output.bytes > 0 && mayBeAll
        && !NsReceiptBegin(jobPtr->receiptPtr)) {
        MakeReady(jobPtr);
        return;
    }
    if (jobPtr->output.bytes > 0) {
        sent = SendPortion(jobPtr);
        NsAssert(sent <= jobPtr->output.bytes);
        if (mayBeAll && sent < jobPtr->output.bytes) {
            NsReceiptPause(jobPtr->receiptPtr);
        }
        if (sent < 0) {
            GiveUp(jobPtr, NsSockAbortReason(jobPtr->sockPtr), NULL, NULL);
        } else if (sent > 0) {
            NsOutputConsume(&jobPtr->output, (size_t) sent);
            jobPtr->windowBytes += sent;
            atomic_fetch_add_explicit(&jobPtr->sent, sent,
                                      memory_order_relaxed);
            atomic_fetch_add_explicit(&writerPtr->sent, sent,
                                      memory_order_relaxed);
            atomic_fetch_sub_explicit(&jobPtr->remaining, sent,
                                      memory_order_relaxed);
            atomic_store_explicit(&jobPtr->fd, NsOutputFd(&jobPtr->output),
                                  memory_order_relaxed);
            if (jobPtr->output.bytes > 0) {
                MakeReady(jobPtr);
            }
        }
        if (sent >= 0) {
            WaitForClient(writerPtr, jobPtr);
        }
        NsWriterCheckServed(jobPtr);
    }
    if (jobPtr->output.bytes == 0) {
        EndIfFinished(writerPtr, jobPtr);
    }
}

/*
 * As long as a limit forbids to send, the client is not blamed for it.
 */
static bool
MustPause(NsWriter *writerPtr, NsWriterJob *jobPtr)
{
    NsRate *rates[NS_WRITER_RATES];
    int     nRates = NsRatesInForce(jobPtr->rates, NS_WRITER_RATES, rates);
    NsStamp now = nRates > 0 ? NsClockNow() : 0, until = now;

    for (int i = 0; i < nRates; i++) {
        until = MAX(until, NsRateWhen(rates[i], now));
    }
    jobPtr->isPaused = until > now;
    if (jobPtr->isPaused) {
        jobPtr->windowStamp = now;
        jobPtr->windowBytes = 0;
        NsWheelSet(&writerPtr->loop.wheel, &jobPtr->wheelEntry, until);
    }
    return jobPtr->isPaused;
}

static ssize_t
SendPortion(NsWriterJob *jobPtr)
{
    Ns_FileVec vecs[NS_OUTPUT_PIECES];
    NsRate    *rates[NS_WRITER_RATES];
    int        nRates = NsRatesInForce(jobPtr->rates, NS_WRITER_RATES, rates);
    size_t     portion = PORTION;
    ssize_t    sent;

    for (int i = 0; i < nRates; i++) {
        portion = NsRatePortion(rates[i], portion);
    }
    portion = MAX(portion, MIN(jobPtr->nRefused, RECORD));
    sent = NsSockSendNow(jobPtr->sockPtr, vecs,
                         NsOutputPeek(&jobPtr->output, vecs, NS_OUTPUT_PIECES,
                                      portion));
    jobPtr->nRefused = portion - MIN(portion, (size_t) MAX(sent, 0));
    for (int i = 0; i < nRates && sent > 0; i++) {
        NsRateCount(rates[i], (size_t) sent, NsClockNow());
    }
    return sent;
}

/*
 * The rest goes when the client takes more, or not at all.
 */
static void
WaitForClient(NsWriter *writerPtr, NsWriterJob *jobPtr)
{
    NsStamp now = NsClockNow();

    if (jobPtr->output.bytes == 0) {
        NsWheelCancel(&writerPtr->loop.wheel, &jobPtr->wheelEntry);
        return;
    }
    if (!jobPtr->isRegistered && jobPtr->nRefused > 0) {
        /* Both directions: a TLS layer may have to read before it can write. */
        if (NsPollerAdd(writerPtr->loop.pollerPtr, jobPtr->sockPtr->pub.sock,
                        NS_POLL_READ | NS_POLL_WRITE | NS_POLL_EDGE, jobPtr)
            != NS_OK) {
            GiveUp(jobPtr, NS_ABORT_ERROR, strerror(errno), NULL);
            return;
        }
        jobPtr->isRegistered = true;
    }
    if (IsTooSlow(jobPtr, now)) {
        GiveUp(jobPtr, NS_ABORT_SLOW, "the client is too slow", "minsendrate");
        return;
    }
    NsWheelSet(&writerPtr->loop.wheel, &jobPtr->wheelEntry,
               now + writerPtr->drvPtr->params.sendWait);
}

/*
 * In each period of sendwait the client must have taken at least the
 * minimum rate.
 */
static bool
IsTooSlow(NsWriterJob *jobPtr, NsStamp now)
{
    const NsDriver *drvPtr = jobPtr->writerPtr->drvPtr;
    NsStamp         elapsed = now - jobPtr->windowStamp;

    if (drvPtr->params.minSendRate == 0 || elapsed < drvPtr->params.sendWait) {
        return false;
    }
    if (jobPtr->windowBytes
        < NsRateBytes(drvPtr->params.minSendRate, elapsed)) {
        return true;
    }
    jobPtr->windowStamp = now;
    jobPtr->windowBytes = 0;
    return false;
}

/*
 * The client is gone, or too slow by a parameter (NULL: none): drop what is
 * queued.
 */
static void
GiveUp(NsWriterJob *jobPtr, NsAbortReason reason, const char *text,
       const char *parameter)
{
    CountAbort(jobPtr, reason);
    if (text != NULL) {
        Ns_Time span = NsClockSpan(jobPtr->startStamp, NsClockNow());

        Ns_Log(Notice,
               "%s: stopped sending to %s: %s: %" PRId64 " of %" PRId64
               " bytes sent in %" PRId64 ".%ld s%s%s",
               jobPtr->writerPtr->drvPtr->pub.module, jobPtr->sockPtr->peer,
               text, atomic_load(&jobPtr->sent), atomic_load(&jobPtr->appended),
               (int64_t) span.sec, span.usec / 100000,
               parameter == NULL ? "" : "; see ",
               parameter == NULL ? "" : parameter);
    }
    atomic_store_explicit(&jobPtr->isGone, true, memory_order_relaxed);
    NsOutputClear(&jobPtr->output);
    atomic_store_explicit(&jobPtr->remaining, 0, memory_order_relaxed);
    NsWheelCancel(&jobPtr->writerPtr->loop.wheel, &jobPtr->wheelEntry);
}

static void
CountAbort(NsWriterJob *jobPtr, NsAbortReason reason)
{
    atomic_fetch_add_explicit(&jobPtr->writerPtr->nAborted[reason], 1,
                              memory_order_relaxed);
    NsSockCountAbort(jobPtr->sockPtr, reason);
}

/*
 * End a job whose producer has finished and of which nothing is left.
 *
 * One that is posted, or in the list of those to be served, is left alone: it
 * comes up once more.
 */
static void
EndIfFinished(NsWriter *writerPtr, NsWriterJob *jobPtr)
{
    NsSock *sockPtr = jobPtr->sockPtr;
    bool    keep;

    if (jobPtr->isReady) {
        return;
    }
    if (jobPtr->sawEnd && jobPtr->receiptPtr != NULL) {
        if (!NsReceiptEnd(jobPtr->receiptPtr, Missing(jobPtr))) {
            MakeReady(jobPtr);
            return;
        }
        jobPtr->receiptPtr = NULL;
    }
    Ns_MutexLock(&writerPtr->lock);
    if (!jobPtr->isFinished && jobPtr->incoming.firstPtr == NULL
        && !atomic_load_explicit(&jobPtr->isGone, memory_order_relaxed)) {
        NsReceiptSent(jobPtr->receiptPtr);
    }
    if (!jobPtr->isFinished || jobPtr->incoming.firstPtr != NULL
        || atomic_load(&jobPtr->isPosted)) {
        Ns_MutexUnlock(&writerPtr->lock);
        return;
    }
    UnlinkLocked(writerPtr, jobPtr);
    Ns_CondBroadcast(&writerPtr->changed);
    Ns_MutexUnlock(&writerPtr->lock);

    NsWheelCancel(&writerPtr->loop.wheel, &jobPtr->wheelEntry);
    if (jobPtr->isRegistered) {
        NsPollerRemove(writerPtr->loop.pollerPtr, sockPtr->pub.sock);
    }
    if (jobPtr->isDraining) {
        /* NsWriterDrain waits, and frees the job. */
        Ns_MutexLock(&writerPtr->lock);
        jobPtr->isDraining = false;
        Ns_CondBroadcast(&writerPtr->changed);
        Ns_MutexUnlock(&writerPtr->lock);
        return;
    }
    if (atomic_load_explicit(&jobPtr->isGone, memory_order_relaxed)) {
        sockPtr->isBroken = true;
    }
    keep = jobPtr->keep;
    NsAssert(jobPtr->receiptPtr == NULL);
    FreeJob(jobPtr);
    NsSockGiveBack(sockPtr, keep);
}

/*
 * The job is in no list, and its socket no longer has it.
 */
static void
FreeJob(NsWriterJob *jobPtr)
{
    NsAssert(!jobPtr->isReady && jobPtr->wheelEntry.nextPtr == NULL);
    NsAssert(jobPtr->output.bytes == 0 && jobPtr->incoming.bytes == 0);
    NsAssert(jobPtr->sockPtr->jobPtr == jobPtr);
    jobPtr->sockPtr->jobPtr = NULL;
    NsOutputStoreFree(&jobPtr->store);
    ns_free(jobPtr->clientData);
    ns_free(jobPtr);
}

/*
 * Bytes that were appended and did not go out.
 */
static int64_t
Missing(const NsWriterJob *jobPtr)
{
    return atomic_load_explicit(&jobPtr->appended, memory_order_relaxed)
        - atomic_load_explicit(&jobPtr->sent, memory_order_relaxed);
}

static void
UnlinkLocked(NsWriter *writerPtr, NsWriterJob *jobPtr)
{
    NsAssertLocked(&writerPtr->lock);
    if (jobPtr->prevPtr != NULL) {
        jobPtr->prevPtr->nextPtr = jobPtr->nextPtr;
    } else {
        NsAssert(writerPtr->firstPtr == jobPtr);
        writerPtr->firstPtr = jobPtr->nextPtr;
    }
    if (jobPtr->nextPtr != NULL) {
        jobPtr->nextPtr->prevPtr = jobPtr->prevPtr;
    } else {
        NsAssert(writerPtr->lastPtr == jobPtr);
        writerPtr->lastPtr = jobPtr->prevPtr;
    }
}

static void
TimeUp(NsWheelEntry *entryPtr, void *arg)
{
    NsWriterJob *jobPtr = (NsWriterJob *) ((char *) entryPtr
                                           - offsetof(NsWriterJob, wheelEntry));

    if (jobPtr->isPaused) {
        MakeReady(jobPtr);
        return;
    }
    GiveUp(jobPtr, NS_ABORT_SENDWAIT, "the client takes nothing", "sendwait");
    EndIfFinished(arg, jobPtr);
}

/*
 * The argument of WriterThread, for lists of threads.
 */
static void
Describe(Ns_DString *dsPtr, void *arg)
{
    const NsWriter *writerPtr = arg;

    Tcl_DStringAppendElement(dsPtr, writerPtr->drvPtr->pub.module);
}

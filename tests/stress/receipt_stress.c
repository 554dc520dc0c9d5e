/* SPDX-License-Identifier: MPL-2.0
 * receipt_stress.c --
 *
 *      Pairs of threads, one that answers and one that sends, change hands over
 *      the log record of each reply at any moment.  In the end each record must
 *      be in the file once, with the bytes that were sent.
 *
 *      receipt_stress ?PAIRS REPLIES?
 */

#include "base/lock.h"
#include "log/init.h"
#include "log/stream/receipt.h"
#include "ns.h"

#define MAX_PAIRS   8
#define MAX_PIECES  4 /* Of a reply, of 100 bytes each. */
#define PIECE_BYTES 100

typedef struct Record {
    uint32_t pair;
    uint32_t number;
    int64_t  bytesSent;
} Record;

/*
 * What the two threads of a pair share.
 */
typedef struct Pair {
    uint32_t index;
    int64_t *total;   /* Bytes of each reply; the answerer's. */
    int64_t *missing; /* Those not sent; the sender's. */

    Ns_Mutex   lock;       /* Guards the rest. */
    NsReceipt *receiptPtr; /* Of the reply under way. */
    int        nWaiting;   /* Pieces. */
    bool       isFinished;
    bool       isDone; /* There is no further reply. */
} Pair;

static int          nPairs = 3;
static int          nReplies = 30000;
static char         directory[] = "/tmp/receipt_stress.XXXXXX";
static Ns_LogStream stream;

static Ns_ThreadProc Answer, Send;
static void     SendReply(Pair *pairPtr, NsReceipt *receiptPtr, uint32_t number,
                          uint32_t *seedPtr);
static uint32_t Dice(uint32_t *seedPtr);
static bool     Check(const char *file, Pair *pairs);

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    const Record *r = recordPtr->bytes;

    return (size_t) snprintf(buffer, room, "%u %u %" PRId64 "\n", r->pair,
                             r->number, r->bytesSent);
}

/*
 * Replies of some pieces.  The record is prepared before the last one is there
 * to be sent, as for a real reply.
 */
static void
Answer(void *arg)
{
    Pair    *pairPtr = arg;
    uint32_t seed = pairPtr->index * 2 + 1;

    for (int i = 0; i < nReplies; i++) {
        int    nPieces = 1 + (int) (Dice(&seed) % MAX_PIECES);
        Record record = {pairPtr->index, (uint32_t) i, nPieces * PIECE_BYTES};
        struct iovec piece = {&record, sizeof(record)};
        NsReceipt   *receiptPtr = NsReceiptCreate();

        pairPtr->total[i] = record.bytesSent;
        for (int k = 0; k < nPieces; k++) {
            (void) Ns_LogStreamPrepare(stream, Notice, &piece, 1);
            Ns_MutexLock(&pairPtr->lock);
            pairPtr->receiptPtr = receiptPtr;
            pairPtr->nWaiting++;
            NsReceiptMore(receiptPtr);
            Ns_MutexUnlock(&pairPtr->lock);
            if (Dice(&seed) % 4 == 0) {
                Ns_ThreadYield();
            }
        }
        NsReceiptFollow(receiptPtr);
        Ns_MutexLock(&pairPtr->lock);
        pairPtr->isFinished = true;
        Ns_MutexUnlock(&pairPtr->lock);
        if (Dice(&seed) % 2 == 0) {
            Ns_ThreadYield();
        }
        NsReceiptCollect(receiptPtr);
        (void) Ns_LogStreamPut(stream, Notice, &piece, 1);
        NsReceiptLeave(receiptPtr);

        for (bool isSent = false; !isSent;) {
            Ns_MutexLock(&pairPtr->lock);
            isSent = pairPtr->receiptPtr == NULL;
            Ns_MutexUnlock(&pairPtr->lock);
            if (!isSent) {
                Ns_ThreadYield();
            }
        }
    }
    Ns_MutexLock(&pairPtr->lock);
    pairPtr->isDone = true;
    Ns_MutexUnlock(&pairPtr->lock);
}

static void
Send(void *arg)
{
    Pair    *pairPtr = arg;
    uint32_t seed = pairPtr->index * 2 + 2, number = 0;
    bool     isDone = false;

    while (!isDone) {
        NsReceipt *receiptPtr;

        Ns_MutexLock(&pairPtr->lock);
        receiptPtr = pairPtr->receiptPtr;
        isDone = pairPtr->isDone;
        Ns_MutexUnlock(&pairPtr->lock);
        if (receiptPtr != NULL) {
            SendReply(pairPtr, receiptPtr, number++, &seed);
        } else {
            Ns_ThreadYield();
        }
    }
}

/*
 * What a writer thread does: see Serve and EndIfFinished in net/writer.c.  Some
 * clients break off.
 */
static void
SendReply(Pair *pairPtr, NsReceipt *receiptPtr, uint32_t number,
          uint32_t *seedPtr)
{
    int  nPieces = 0, nSent = 0;
    bool isFinished = false, isGone = false;

    for (;;) {
        Ns_MutexLock(&pairPtr->lock);
        nPieces += pairPtr->nWaiting;
        pairPtr->nWaiting = 0;
        isFinished = pairPtr->isFinished;
        Ns_MutexUnlock(&pairPtr->lock);
        if (!isGone && nSent < nPieces) {
            if (!NsReceiptBegin(receiptPtr)) {
                continue;
            }
            isGone = Dice(seedPtr) % 16 == 0;
            nSent += isGone
                ? 0
                : 1 + (int) (Dice(seedPtr) % (unsigned) (nPieces - nSent));
            if (isGone || nSent < nPieces) {
                NsReceiptPause(receiptPtr);
            }
        }
        if (!isGone && nSent < nPieces) {
            continue;
        }
        if (!isFinished) {
            Ns_MutexLock(&pairPtr->lock);
            if (pairPtr->nWaiting == 0 && !pairPtr->isFinished && !isGone) {
                NsReceiptSent(receiptPtr);
            }
            Ns_MutexUnlock(&pairPtr->lock);
            Ns_ThreadYield();
            continue;
        }
        pairPtr->missing[number] = (nPieces - nSent) * PIECE_BYTES;
        if (NsReceiptEnd(receiptPtr, pairPtr->missing[number])) {
            break;
        }
    }
    Ns_MutexLock(&pairPtr->lock);
    pairPtr->isFinished = false;
    pairPtr->receiptPtr = NULL;
    Ns_MutexUnlock(&pairPtr->lock);
}

static uint32_t
Dice(uint32_t *seedPtr)
{
    *seedPtr = *seedPtr * 1664525u + 1013904223u;
    return *seedPtr >> 16;
}

/*
 * One that broke off in the last portion may count as sent, see
 * NsReceiptLeave.
 */
static bool
Check(const char *file, Pair *pairs)
{
    FILE    *fp = fopen(file, "r");
    int     *counts[MAX_PAIRS];
    unsigned pair, number;
    int64_t  bytes;
    int      nLines = 0, nWhole = 0, nBroken = 0, nTold = 0, nWrong = 0;

    for (int i = 0; i < nPairs; i++) {
        counts[i] = ns_calloc((size_t) nReplies, sizeof(int));
    }
    while (fp != NULL
           && fscanf(fp, "%u %u %" SCNd64 "\n", &pair, &number, &bytes) == 3) {
        int64_t total, missing;

        if (pair >= (unsigned) nPairs || number >= (unsigned) nReplies
            || ++counts[pair][number] > 1) {
            nWrong++;
            continue;
        }
        nLines++;
        total = pairs[pair].total[number];
        missing = pairs[pair].missing[number];
        nBroken += missing > 0;
        nWhole += missing == 0;
        nTold += missing > 0 && bytes == total - missing;
        nWrong += bytes != total - missing && bytes != total;
    }
    if (fp != NULL) {
        fclose(fp);
    }
    for (int i = 0; i < nPairs; i++) {
        ns_free(counts[i]);
    }
    printf("%d lines of %d replies, %d sent, %d broken off, %d of these told, "
           "%d wrong\n",
           nLines, nPairs * nReplies, nWhole, nBroken, nTold, nWrong);
    return nLines == nPairs * nReplies && nWrong == 0 && nTold > nBroken / 2
        && nWhole > 0;
}

int
main(int argc, char **argv)
{
    Ns_Thread threads[2 * MAX_PAIRS];
    Pair      pairs[MAX_PAIRS] = {{0}};
    char      logFile[256], file[256];
    bool      isOk;

    if (argc > 2) {
        nPairs = MIN(atoi(argv[1]), MAX_PAIRS);
        nReplies = atoi(argv[2]);
    }
    Tcl_FindExecutable(argv[0]);
    if (mkdtemp(directory) == NULL) {
        return 1;
    }
    snprintf(logFile, sizeof(logFile), "%s/nsd.log", directory);
    snprintf(file, sizeof(file), "%s/stream.log", directory);
    NsLogInit();
    NsLogConfigure(&(NsLogSettings){
        .notice = true,
        .sanitize = 2,
        .isAsync = true,
        .memoryBytes = NS_LOG_MEMORY_MIN,
        .home = directory});
    stream = Ns_LogStreamCreate("stress", Format, NULL);
    Ns_LogStreamSetBytesSent(stream, offsetof(Record, bytesSent));
    (void) Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "stress",
        .stream = stream,
        .file = file,
        .bufferBytes = 65536});
    NsLogStart();
    for (int i = 0; i < nPairs; i++) {
        pairs[i].index = (uint32_t) i;
        pairs[i].total = ns_calloc((size_t) nReplies, sizeof(int64_t));
        pairs[i].missing = ns_calloc((size_t) nReplies, sizeof(int64_t));
        NsMutexSetup(&pairs[i].lock, NS_RANK_WRITER, "stress", "pair");
        Ns_ThreadCreate(Answer, &pairs[i], 0, &threads[2 * i]);
        Ns_ThreadCreate(Send, &pairs[i], 0, &threads[2 * i + 1]);
    }
    for (int i = 0; i < 2 * nPairs; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    NsLogStop();
    NsLogFinish();
    isOk = Check(file, pairs);
    for (int i = 0; i < nPairs; i++) {
        ns_free(pairs[i].total);
        ns_free(pairs[i].missing);
        Ns_MutexDestroy(&pairs[i].lock);
    }
    printf("%d passed, %d failed\n", isOk, !isOk);
    unlink(file);
    unlink(logFile);
    rmdir(directory);
    return isOk ? 0 : 1;
}

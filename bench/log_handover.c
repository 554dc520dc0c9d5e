/* SPDX-License-Identifier: MPL-2.0
 * log_handover.c --
 *
 *      What handing one record to the log costs the caller: the log engine, and
 *      a log with a mutex and a queue for comparison.
 *
 *      log_handover DIRECTORY CALLS THREADS RATE ?-histogram?
 *
 *      Rate 0: flat out.  One line for each of record (256 bytes), line (what
 *      ns_log hands over: a message that makes a line of 105 bytes), mutex (256
 *      bytes).
 */

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "engine.h"
#include "log/stream/entry.h"
#include "producers.h"

#define RECORD_BYTES  256
#define MESSAGE_BYTES 30 /* The time and the thread's name fill up. */
#define QUEUE_BATCH   256

/*
 * The log for comparison: records are copied to the heap, and one thread writes
 * what it finds in the queue.
 */
typedef struct Entry {
    struct Entry *nextPtr;
    char          bytes[RECORD_BYTES];
} Entry;

static struct {
    pthread_mutex_t lock;   /* Guards the rest. */
    pthread_cond_t  wakeup; /* There is an entry, or the end. */
    Entry          *firstPtr;
    Entry         **lastPtrPtr;
    bool            isDone;
    int             fd; /* Constant while the thread runs. */
} queue = {PTHREAD_MUTEX_INITIALIZER,
           PTHREAD_COND_INITIALIZER,
           NULL,
           &queue.firstPtr,
           false,
           -1};

static char record[RECORD_BYTES];
static char message[MESSAGE_BYTES + 1];

static void  PutRecord(void *arg);
static void  PutLine(void *arg);
static void  PutMutex(void *arg);
static void *WriteQueue(void *arg);
static void  WriteBatch(Entry **entryPtrPtr);
static void  RunMutex(FILE *fp, const char *directory, BenchRun *run, int all);

int
main(int argc, char **argv)
{
    char     file[512];
    BenchRun run = {0};
    BenchLog log;
    FILE    *report = fdopen(dup(STDOUT_FILENO), "w");
    int      showsAll = argc > 5;

    if (argc < 5) {
        fprintf(stderr,
                "usage: log_handover DIRECTORY CALLS THREADS RATE"
                " ?-histogram?\n");
        return 1;
    }
    run.nCalls = atoll(argv[2]);
    run.nThreads = MIN(MAX(atoi(argv[3]), 1), BENCH_MAX_THREADS);
    run.rate = atof(argv[4]);
    memset(record, 'r', sizeof(record) - 1);
    record[sizeof(record) - 1] = '\n';
    memset(message, 'm', MESSAGE_BYTES);
    snprintf(file, sizeof(file), "%s/records", argv[1]);
    log = BenchOpenLog(argv[1], file, BenchCopy, 0);
    NsLogStart();

    run.put = PutRecord;
    run.arg = log.stream;
    BenchProduceAll(report, "record", &run, showsAll);
    Ns_LogSinkFlush(log.sink);
    run.put = PutLine;
    BenchProduceAll(report, "line", &run, showsAll);
    NsLogStop();
    RunMutex(report, argv[1], &run, showsAll);
    fclose(report);
    NsLogFinish();
    return 0;
}

static void
PutRecord(void *arg)
{
    struct iovec piece = {record, sizeof(record)};

    Ns_LogStreamPut(arg, Notice, &piece, 1);
}

static void
PutLine(void *arg)
{
    NsEntryLog(Notice, message, MESSAGE_BYTES);
}

static void
PutMutex(void *arg)
{
    Entry *entryPtr = malloc(sizeof(Entry));
    bool   wasEmpty;

    entryPtr->nextPtr = NULL;
    memcpy(entryPtr->bytes, record, sizeof(record));
    pthread_mutex_lock(&queue.lock);
    wasEmpty = queue.firstPtr == NULL;
    *queue.lastPtrPtr = entryPtr;
    queue.lastPtrPtr = &entryPtr->nextPtr;
    pthread_mutex_unlock(&queue.lock);
    if (wasEmpty) {
        pthread_cond_signal(&queue.wakeup);
    }
}

static void *
WriteQueue(void *arg)
{
    Entry *entryPtr;

    pthread_mutex_lock(&queue.lock);
    while (queue.firstPtr != NULL || !queue.isDone) {
        if (queue.firstPtr == NULL) {
            pthread_cond_wait(&queue.wakeup, &queue.lock);
            continue;
        }
        entryPtr = queue.firstPtr;
        queue.firstPtr = NULL;
        queue.lastPtrPtr = &queue.firstPtr;
        pthread_mutex_unlock(&queue.lock);
        while (entryPtr != NULL) {
            WriteBatch(&entryPtr);
        }
        pthread_mutex_lock(&queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
    return arg;
}

/*
 * Write and free the first entries of a list.
 */
static void
WriteBatch(Entry **entryPtrPtr)
{
    char   buffer[QUEUE_BATCH * RECORD_BYTES];
    size_t length = 0;

    while (*entryPtrPtr != NULL && length < sizeof(buffer)) {
        Entry *entryPtr = *entryPtrPtr;

        memcpy(buffer + length, entryPtr->bytes, RECORD_BYTES);
        length += RECORD_BYTES;
        *entryPtrPtr = entryPtr->nextPtr;
        free(entryPtr);
    }
    if (write(queue.fd, buffer, length) != (ssize_t) length) {
        perror("log_handover: write");
        exit(1);
    }
}

static void
RunMutex(FILE *fp, const char *directory, BenchRun *run, int showsAll)
{
    char      file[512];
    pthread_t thread;

    snprintf(file, sizeof(file), "%s/mutex", directory);
    queue.fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (queue.fd < 0 || pthread_create(&thread, NULL, WriteQueue, NULL) != 0) {
        perror(file);
        exit(1);
    }
    run->put = PutMutex;
    BenchProduceAll(fp, "mutex", run, showsAll);
    pthread_mutex_lock(&queue.lock);
    queue.isDone = true;
    pthread_mutex_unlock(&queue.lock);
    pthread_cond_signal(&queue.wakeup);
    pthread_join(thread, NULL);
    close(queue.fd);
}

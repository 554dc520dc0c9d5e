/* SPDX-License-Identifier: MPL-2.0
 * log_end_to_end.c --
 *
 *      Lines through the log engine into a file, until the last one is synced.
 *
 *      log_end_to_end DIRECTORY KIND LINES THREADS IDLE
 *
 *      KIND: lines (256 bytes, ready to be written), access (the records of the
 *      access log, which become lines in the log thread), write (the same
 *      lines, but by plain writes and one sync, from one thread: what the
 *      file system has to give).  IDLE: seconds over which to count wakeups
 *      afterwards.
 */

#include <pthread.h>

#include "engine.h"
#include "lines.h"
#include "log/sink/sink.h"
#include "nsaccessline.h"

#define WRITE_BYTES ((size_t) 65536)
#define TIME_BYTES  (sizeof("127.0.0.1 - - [21/Nov/2026:00:07:00 +0000] ") - 1)
#define PEER        "127.0.0.1"
#define REFERER     "http://www.example.com/index.html"
#define AGENT                                                  \
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101" \
    " Firefox/128.0"

typedef struct Writer {
    pthread_t    thread;
    BenchLine    line;
    Ns_LogStream stream;
    long         nLines;
    double       seconds; /* Of processor time. */
} Writer;

static Writer    writers[BENCH_MAX_WRITERS];
static BenchLine expected[BENCH_MAX_WRITERS];

static void  InitLine(BenchLine *linePtr, int writer, bool isAccess);
static void *PutLines(void *arg);
static void *PutAccess(void *arg);
static void  WritePlain(const char *file, BenchEnd *endPtr);
static void  RunLog(const char *directory, const char *file, bool isAccess,
                    int nThreads, BenchEnd *endPtr);

int
main(int argc, char **argv)
{
    char     file[512];
    FILE    *report = fdopen(dup(STDOUT_FILENO), "w");
    BenchEnd end = {.name = "write"};
    bool     isAccess;
    int      nThreads;
    long     nLines;

    if (argc != 6) {
        fprintf(stderr,
                "usage: log_end_to_end DIRECTORY lines|access|write"
                " LINES THREADS IDLE\n");
        return 1;
    }
    isAccess = strcmp(argv[2], "access") == 0;
    nThreads = MIN(MAX(atoi(argv[4]), 1), BENCH_MAX_WRITERS);
    nLines = atol(argv[3]) / nThreads;
    snprintf(file, sizeof(file), "%s/lines", argv[1]);
    for (int i = 0; i < nThreads; i++) {
        InitLine(&writers[i].line, i, isAccess);
        expected[i] = writers[i].line;
        writers[i].nLines = nLines;
    }
    BenchWarm(file, (size_t) (nLines * nThreads) * BENCH_LINE_BYTES);
    if (strcmp(argv[2], "write") == 0) {
        nThreads = 1;
        WritePlain(file, &end);
    } else {
        end.name = argv[2];
        RunLog(argv[1], file, isAccess, nThreads, &end);
    }
    end.peakKb = BenchPeakKb();
    end.nLines = BenchVerify(file, expected, nThreads, nLines,
                             isAccess ? TIME_BYTES : 0, &end.sum);
    unlink(file);
    if (end.nLines < 0) {
        return 1;
    }
    BenchPrintEnd(report, &end, atoi(argv[5]));
    fclose(report);
    if (strcmp(argv[2], "write") != 0) {
        NsLogStop();
        NsLogFinish();
    }
    return 0;
}

static void
RunLog(const char *directory, const char *file, bool isAccess, int nThreads,
       BenchEnd *endPtr)
{
    BenchLog log = BenchOpenLog(directory, file,
                                isAccess ? Ns_LogAccessLine : BenchCopy, 0);
    double   all;
    int64_t  start;

    NsLogStart();
    all = BenchCpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    start = BenchNow();
    for (int i = 0; i < nThreads; i++) {
        writers[i].stream = log.stream;
        if (pthread_create(&writers[i].thread, NULL,
                           isAccess ? PutAccess : PutLines, &writers[i])
            != 0) {
            perror("thread");
            exit(1);
        }
    }
    for (int i = 0; i < nThreads; i++) {
        pthread_join(writers[i].thread, NULL);
        endPtr->putSeconds += writers[i].seconds;
    }
    if (NsSinkSync(log.sink) != NS_OK) {
        perror(file);
        exit(1);
    }
    endPtr->nanos = BenchNow() - start;
    endPtr->logSeconds = BenchCpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - all
        - endPtr->putSeconds;
}

static void
InitLine(BenchLine *linePtr, int writer, bool isAccess)
{
    if (isAccess) {
        BenchLineInit(linePtr, writer, "\"GET /page",
                      " HTTP/1.1\" 200 1234 \"" REFERER "\" \"" AGENT "\"\n");
    } else {
        BenchLineInitPlain(linePtr, writer);
    }
}

static void *
PutLines(void *arg)
{
    Writer      *w = arg;
    struct iovec piece = {w->line.text, w->line.length};

    for (long i = 0; i < w->nLines; i++) {
        Ns_LogStreamPut(w->stream, Notice, &piece, 1);
        BenchLineNext(&w->line);
    }
    w->seconds = BenchCpuSeconds(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

/*
 * As the access log does at the end of a request.
 */
static void *
PutAccess(void *arg)
{
    Writer         *w = arg;
    const char     *request = w->line.text + 1;
    Ns_AccessRecord r = {
        .flags = NS_ACCESS_COMBINED | NS_ACCESS_FMTTIME,
        .status = 200,
        .bytesSent = 1234,
        .peerLength = sizeof(PEER) - 1,
        .requestLength = (uint32_t) (strchr(request, '"') - request),
        .refererLength = sizeof(REFERER) - 1,
        .agentLength = sizeof(AGENT) - 1};
    struct iovec pieces[] = {
        {&r, sizeof(r)},
        {(void *) PEER, r.peerLength},
        {NULL, 0},
        {(void *) request, r.requestLength},
        {(void *) REFERER, r.refererLength},
        {(void *) AGENT, r.agentLength},
        {NULL, 0}};

    for (long i = 0; i < w->nLines; i++) {
        Ns_LogStreamPut(w->stream, Notice, pieces, Ns_NrElements(pieces));
        BenchLineNext(&w->line);
    }
    w->seconds = BenchCpuSeconds(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static void
WritePlain(const char *file, BenchEnd *endPtr)
{
    static char buffer[WRITE_BYTES];
    Writer     *w = &writers[0];
    int64_t     start = BenchNow();
    int    fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    double before = BenchCpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    size_t n = 0;

    for (long i = 1; i <= w->nLines; i++) {
        memcpy(buffer + n, w->line.text, w->line.length);
        n += w->line.length;
        BenchLineNext(&w->line);
        if ((n == sizeof(buffer) || i == w->nLines)
            && write(fd, buffer, n) != (ssize_t) n) {
            perror(file);
            exit(1);
        }
        n %= sizeof(buffer);
    }
    if (fdatasync(fd) != 0) {
        perror(file);
        exit(1);
    }
    endPtr->nanos = BenchNow() - start;
    close(fd);
    endPtr->logSeconds = BenchCpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - before;
}

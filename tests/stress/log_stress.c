/* SPDX-License-Identifier: MPL-2.0
 * log_stress.c --
 *
 *      Many threads log through lanes while sinks roll, reopen, change their
 *      settings, are slow, or are stalled until all threads have ended.  Each
 *      record carries its thread and a number; at the end every record must be
 *      in each sink's files once, those of one thread in order.
 *
 *      log_stress ?THREADS RECORDS?
 */

#include "base/fatal.h"
#include "log/init.h"
#include "log/sink/sink.h"
#include "log/stream/stream.h"
#include "ns.h"

#define MAX_THREADS 64

typedef struct Record {
    uint32_t thread;
    uint32_t number;
} Record;

static int          nThreads = 6;
static int          nRecords = 40000;
static char         directory[] = "/tmp/log_stress.XXXXXX";
static Ns_LogStream stream;
static atomic_int   nRunning;
static atomic_bool  isPipeOpen;
static FILE        *report; /* Standard output becomes the log file. */

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    const Record *r = recordPtr->bytes;
    char          line[64];
    int n = snprintf(line, sizeof(line), "%u %u %zu\n", r->thread, r->number,
                     recordPtr->length);

    if ((size_t) n <= room) {
        memcpy(buffer, line, (size_t) n);
    }
    return (size_t) n;
}

static void
Producer(void *arg)
{
    Record       record = {(uint32_t) (intptr_t) arg, 0};
    static char  filler[200000];
    struct iovec pieces[2] = {{&record, sizeof(record)}, {filler, 0}};

    for (int i = 0; i < nRecords; i++) {
        record.number = (uint32_t) i;
        pieces[1].iov_len = i % 5000 == 4999
            ? sizeof(filler)
            : (size_t) (i * 7 % 300);
        Ns_LogStreamPut(stream, Notice, pieces, 2);
        if (i % 1000 == 0) {
            Ns_Log(Notice, "thread %u at %d", record.thread, i);
        }
    }
    atomic_fetch_sub(&nRunning, 1);
}

static int
Move(const char *file, void *arg)
{
    int *nPtr = arg;
    char name[256];

    snprintf(name, sizeof(name), "%s.%d", file, ++*nPtr);
    return rename(file, name);
}

static bool
CheckFile(const char *name, uint32_t *next)
{
    FILE    *fp = fopen(name, "r");
    unsigned thread, number, size;
    bool     isOk = true;

    while (fp != NULL && isOk
           && fscanf(fp, "%u %u %u\n", &thread, &number, &size) == 3) {
        if (thread >= MAX_THREADS || number != next[thread]) {
            fprintf(report, "%s: thread %u: record %u where %u was expected\n",
                    name, thread, number,
                    next[thread < MAX_THREADS ? thread : 0]);
            isOk = false;
        }
        next[thread]++;
    }
    if (fp != NULL) {
        fclose(fp);
        unlink(name);
    }
    return isOk;
}

static bool
Check(const char *sink, int nRolls)
{
    uint32_t next[MAX_THREADS] = {0};
    char     name[256];
    bool     isOk = true;

    for (int i = 1; i <= nRolls; i++) {
        snprintf(name, sizeof(name), "%s/%s.%d", directory, sink, i);
        isOk &= CheckFile(name, next);
    }
    snprintf(name, sizeof(name), "%s/%s", directory, sink);
    isOk &= CheckFile(name, next);
    for (int i = 0; i < nThreads; i++) {
        if (next[i] != (uint32_t) nRecords) {
            fprintf(report, "%s: thread %d: %u of %d records\n", sink, i,
                    next[i], nRecords);
            isOk = false;
        }
    }
    return isOk;
}

/*
 * Read the pipe into a file when the threads have ended.
 */
static void
ReadPipe(void *arg)
{
    char    from[256], to[256], bytes[65536];
    ssize_t n;
    int     in, out;

    snprintf(from, sizeof(from), "%s/stalled", directory);
    snprintf(to, sizeof(to), "%s/stalled.read", directory);
    in = open(from, O_RDONLY | O_NONBLOCK);
    out = open(to, O_WRONLY | O_CREAT, 0600);
    atomic_store(&isPipeOpen, true);
    while (atomic_load(&nRunning) > 0) {
        select(0, NULL, NULL, NULL, &(struct timeval){0, 1000});
    }
    (void) fcntl(in, F_SETFL, 0);
    while ((n = read(in, bytes, sizeof(bytes))) > 0) {
        if (write(out, bytes, (size_t) n) != n) {
            break;
        }
    }
    close(in);
    close(out);
    rename(to, from);
}

static Ns_LogSink
Open(const char *name, size_t bufferBytes)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = name,
        .stream = stream,
        .file = path,
        .bufferBytes = bufferBytes});
}

static bool
Balances(Ns_LogSink sink)
{
    NsSinkStats s;

    NsSinkGetStats(sink, &s);
    fprintf(report,
            "%s: accepted %" PRIu64 " delivered %" PRIu64 " pending %" PRIu64
            " writes %" PRIu64 " bytes %" PRIu64 " wakeups %" PRIu64
            " longest %.1f ms\n",
            NsSinkName(sink), s.accepted, s.delivered, s.pending, s.writes,
            s.bytes, s.wakeups, (double) s.longestWrite / 1e6);
    return s.accepted == s.delivered && s.pending == 0;
}

/*
 * The log that it would go to is deleted in the end.
 */
static void
PrintFatal(const char *message)
{
    fprintf(report, "fatal: %s\n", message);
    fflush(report);
}

int
main(int argc, char **argv)
{
    Ns_Thread  threads[MAX_THREADS];
    Ns_Thread  reader;
    Ns_LogSink fast, rolling, stalled;
    Ns_Time    start, end, span;
    char       logFile[256], spill[256], pipe[256];
    int        nRolls = 0;
    bool       isOk = true;

    if (argc > 2) {
        nThreads = MIN(atoi(argv[1]), MAX_THREADS);
        nRecords = atoi(argv[2]);
    }
    report = fdopen(dup(STDOUT_FILENO), "w");
    Tcl_FindExecutable(argv[0]);
    if (mkdtemp(directory) == NULL) {
        return 1;
    }
    snprintf(logFile, sizeof(logFile), "%s/nsd.log", directory);
    snprintf(spill, sizeof(spill), "%s/spill", directory);
    snprintf(pipe, sizeof(pipe), "%s/stalled", directory);
    if (mkfifo(pipe, 0600) != 0) {
        return 1;
    }
    atomic_store(&nRunning, nThreads);
    Ns_ThreadCreate(ReadPipe, NULL, 0, &reader);
    while (!atomic_load(&isPipeOpen)) {
        select(0, NULL, NULL, NULL, &(struct timeval){0, 1000});
    }
    NsLogInit();
    NsFatalSetProc(PrintFatal);
    NsLogConfigure(&(NsLogSettings){
        .file = logFile,
        .notice = true,
        .sanitize = 2,
        .isAsync = true,
        .maxBackup = 10,
        .memoryBytes = NS_LOG_MEMORY_MIN,
        .home = directory,
        .spillDirectory = spill});
    stream = Ns_LogStreamCreate("stress", Format, NULL);
    NsStreamSetOverflow(stream, NS_OVERFLOW_BLOCK);
    NsStreamSetOverflow(nsSystemStream, NS_OVERFLOW_BLOCK);
    fast = Open("fast", 65536);
    rolling = Open("rolling", 4096);
    stalled = Open("stalled", 65536);
    NsLogStart();

    Ns_GetTime(&start);
    for (int i = 0; i < nThreads; i++) {
        Ns_ThreadCreate(Producer, (void *) (intptr_t) i, 0, &threads[i]);
    }
    while (atomic_load(&nRunning) > 0) {
        struct timeval pause = {0, 2000};

        NsSinkSettings settings;

        Ns_LogSinkRoll(rolling, Move, &nRolls);
        NsSinkGetSettings(rolling, &settings);
        settings.bufferBytes = settings.bufferBytes == 0 ? 4096
            : settings.bufferBytes > 100000
            ? 0
            : settings.bufferBytes * 3;
        NsSinkConfigure(rolling, &settings);
        NsSinkFreeSettings(&settings);
        Ns_LogSinkFlush(fast);
        Ns_LogRoll();
        select(0, NULL, NULL, NULL, &pause);
    }
    for (int i = 0; i < nThreads; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    isOk &= Ns_LogSinkFlush(stalled) == NS_OK;
    NsLogStop();
    Ns_GetTime(&end);
    Ns_DiffTime(&end, &start, &span);
    isOk &= Balances(fast);
    isOk &= Balances(rolling);
    isOk &= Balances(stalled);
    isOk &= Balances(NsSinkFind("system"));
    Ns_LogSinkClose(stalled);
    NsLogFinish();
    Ns_ThreadJoin(&reader, NULL);
    isOk &= Check("fast", 0);
    isOk &= Check("stalled", 0);
    isOk &= rmdir(spill) == 0;
    isOk &= Check("rolling", nRolls);
    fprintf(report, "%d threads, %d records each, %d rolls: %ld.%03ld s: %s\n",
            nThreads, nRecords, nRolls, span.sec, span.usec / 1000,
            isOk ? "ok" : "FAILED");
    fprintf(report, "%d passed, %d failed\n", isOk, !isOk);
    fclose(report);
    for (int i = -1; i < 10; i++) {
        char name[300];

        snprintf(name, sizeof(name), i < 0 ? "%s" : "%s.%03d", logFile, i);
        unlink(name);
    }
    rmdir(directory);
    return isOk ? 0 : 1;
}

/* SPDX-License-Identifier: MPL-2.0
 * log_audit.c --
 *
 *      Threads that do a fixed piece of work and write an audit record, by
 *      turns.
 *
 *      log_audit DIRECTORY WAY THREADS SECONDS WORK
 *
 *      WAY: none (no record), direct (the thread writes it to the file),
 *      buffered (a log thread does, after 1000 records or 20 s), durable (as
 *      buffered, but each is waited for until it is on disk).  WORK: steps of
 *      arithmetic.  Prints operations per second until the last record is in
 *      the file, how many there were, microseconds of one operation (mean and
 *      99 %) and of its record alone, and the lines found in the file.
 */

#include <stdbool.h>
#include <unistd.h>

#include "log/init.h"
#include "log/sink/sink.h"
#include "log/stream/audit.h"
#include "log/stream/stream.h"
#include "measure.h"
#include "ns.h"

#define MAX_THREADS  1024
#define START_NANOS  INT64_C(200000000) /* Until all threads are there. */
#define LINE_BYTES   200                /* Of a record in the file. */
#define BUFFER_LINES 1000
#define BUFFER_NANOS INT64_C(20000000000)
#define STACK_BYTES  131072

typedef enum { NONE, DIRECT, BUFFERED, DURABLE } Way;

typedef struct Worker {
    Ns_Thread      thread;
    int            number;
    uint64_t       state;       /* Of the work. */
    int64_t        nanos;       /* Of all operations. */
    int64_t        recordNanos; /* Their records' part. */
    BenchHistogram histogram;
} Worker;

static Way     way;
static int64_t start, end;
static long    nSteps;
static Worker  workers[MAX_THREADS];

static bool          FindWay(const char *name);
static Ns_LogSink    StartLog(const char *directory, const char *file);
static Ns_ThreadProc RunWorker;
static void          WriteRecord(int number, uint64_t value);
static long          CountLines(const char *file);

int
main(int argc, char **argv)
{
    static BenchHistogram sum;
    FILE                 *report = fdopen(dup(STDOUT_FILENO), "w");
    char                  file[512];
    Ns_LogSink            sink;
    int                   nThreads;
    int64_t               nanos = 0, recordNanos = 0, elapsed;

    if (argc != 6 || !FindWay(argv[2])) {
        fprintf(stderr,
                "usage: log_audit DIRECTORY none|direct|buffered|durable"
                " THREADS SECONDS WORK\n");
        return 1;
    }
    nThreads = MIN(MAX(atoi(argv[3]), 1), MAX_THREADS);
    nSteps = atol(argv[5]);
    snprintf(file, sizeof(file), "%s/audit.log", argv[1]);
    sink = StartLog(argv[1], file);

    start = BenchNow() + START_NANOS;
    end = start + (int64_t) (atof(argv[4]) * 1e9);
    for (int i = 0; i < nThreads; i++) {
        workers[i].number = i;
        workers[i].state = (uint64_t) i + 1;
        Ns_ThreadCreate(RunWorker, &workers[i], STACK_BYTES,
                        &workers[i].thread);
    }
    for (int i = 0; i < nThreads; i++) {
        Ns_ThreadJoin(&workers[i].thread, NULL);
        BenchAdd(&sum, &workers[i].histogram);
        nanos += workers[i].nanos;
        recordNanos += workers[i].recordNanos;
    }
    Ns_LogSinkFlush(sink);
    elapsed = BenchNow() - start;
    fprintf(report,
            "rate %.1f mean %.1f p99 %.1f record %.2f count %llu"
            " lines %ld\n",
            (double) sum.count * 1e9 / (double) elapsed,
            (double) nanos / 1000 / (double) sum.count,
            BenchPercentile(&sum, 99) / 1000,
            (double) recordNanos / 1000 / (double) sum.count,
            (unsigned long long) sum.count, CountLines(file));
    fclose(report);
    NsLogStop();
    NsLogFinish();
    return 0;
}

static bool
FindWay(const char *name)
{
    static const char *const names[] = {
        "none", "direct", "buffered", "durable"};

    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (STREQ(name, names[i])) {
            way = (Way) i;
            return true;
        }
    }
    return false;
}

static Ns_LogSink
StartLog(const char *directory, const char *file)
{
    static const char *const stream = "audit";
    char                     systemLog[512];
    NsSinkSpec               spec = {
                      .name = "bench",
                      .type = "file",
                      .streams = &stream,
                      .nStreams = 1,
                      .file = file,
                      .isAwaited = way == DIRECT,
                      .settings = nsSinkDefaults};
    Ns_LogSink sink;

    snprintf(systemLog, sizeof(systemLog), "%s/system.log", directory);
    Tcl_FindExecutable("log_audit");
    Nsthreads_LibInit();
    NsLogInit();
    NsLogConfigure(&(NsLogSettings){
        .file = systemLog,
        .notice = true,
        .sanitize = 2,
        .isAsync = way != DIRECT,
        .home = directory});
    if (way == DIRECT) {
        spec.settings.bufferBytes = 0;
    } else {
        spec.settings.bufferBytes = BUFFER_LINES * LINE_BYTES;
        spec.settings.bufferNanos = BUFFER_NANOS;
    }
    sink = NsSinkCreate(&spec);
    if (sink == NULL) {
        perror(file);
        exit(1);
    }
    NsLogStart();
    return sink;
}

static void
RunWorker(void *arg)
{
    Worker *w = arg;
    int64_t before = start, after;

    /* Who gets a processor late has waited for it since the start. */
    Ns_ThreadSetName("-worker:%d-", w->number);
    BenchSleepUntil(start);
    do {
        int64_t worked;

        for (long i = 0; i < nSteps; i++) {
            w->state ^= w->state << 13;
            w->state ^= w->state >> 7;
            w->state ^= w->state << 17;
        }
        worked = BenchNow();
        if (way != NONE) {
            WriteRecord(w->number, w->state);
        }
        after = BenchNow();
        w->nanos += after - before;
        w->recordNanos += after - worked;
        BenchRecord(&w->histogram, (uint64_t) (after - before));
        before = after;
    } while (before < end);
}

static void
WriteRecord(int number, uint64_t value)
{
    Ns_LogSink        failed;
    char              user[32], row[32], amount[32];
    const char *const words[] = {
        "table", "accounts", "row", row, "old", "100.00", "new", amount};

    snprintf(user, sizeof(user), "user%04d", number);
    snprintf(row, sizeof(row), "%06u", (unsigned) (value % 1000000));
    snprintf(amount, sizeof(amount), "%06.2f", (double) (value % 99999) / 100);
    if (NsAuditWrite(&(NsAuditRecord){
            .kind = "update",
            .server = "bench",
            .peer = "192.168.100.200",
            .user = user,
            .nWords = Ns_NrElements(words),
            .words = words})
            != NS_OK
        || (way == DURABLE
            && NsSinkSyncStream(nsAuditStream, &failed) != NS_OK)) {
        perror("log_audit: record");
        exit(1);
    }
}

static long
CountLines(const char *file)
{
    FILE *fp = fopen(file, "r");
    long  n = 0;
    int   c;

    while (fp != NULL && (c = getc_unlocked(fp)) != EOF) {
        n += c == '\n';
    }
    if (fp != NULL) {
        fclose(fp);
    }
    return n;
}

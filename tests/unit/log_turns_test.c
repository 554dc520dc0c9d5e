/* SPDX-License-Identifier: MPL-2.0
 * log_turns_test.c --
 *
 *      Threads that log where no log thread writes for them: they take turns.
 *
 *      Each test runs in a child, since the log lives as long as its process.
 */

#include "unit.h"
#include "log_settings.h"
#include "log_child.h"

#include "log/init.h"
#include "log/sink/sink_int.h"
#include "log/stream/stream.h"
#include "ns.h"

#define MAX_THREADS 8
#define PER_THREAD  100
#define MAX_LINES   10
/* So many fit into the memory at least, and not twice as many. */
#define LARGE_BYTES  250000
#define LEAST_COMERS 3

typedef struct Writer {
    Ns_Thread thread;
    int       number;
    int       nRecords;
    bool      looks; /* For its lines, each time. */
} Writer;

static char         file[96];
static Ns_LogStream stream;
static Ns_LogSink   sink;
static Writer       writers[MAX_THREADS];

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    PassGate();
    return CopyRecord(buffer, room, recordPtr);
}

static void
Start(int bufferLines)
{
    static char systemLog[96];

    snprintf(systemLog, sizeof(systemLog), "%s/nsd.log", directory);
    snprintf(file, sizeof(file), "%s/test.log", directory);
    NsLogInit();
    ConfigureLog(directory, systemLog, false, NS_LOG_MEMORY_MIN);
    stream = Ns_LogStreamCreate("test", Format, NULL);
    sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "test",
        .stream = stream,
        .file = file,
        .bufferBytes = 65536,
        .bufferLines = bufferLines});
    NsLogStart();
}

/*
 * What is in the file by now, on the heap.
 */
static char *
FileText(void)
{
    FILE  *fp = fopen(file, "r");
    size_t room = 64 * MAX_THREADS * PER_THREAD, n;
    char  *text = ns_calloc(1u, room + 1);

    MUST(fp != NULL, 2);
    n = fread(text, 1, room, fp);
    MUST(n < room, 3);
    fclose(fp);
    return text;
}

static void
Write(void *arg)
{
    const Writer *writerPtr = arg;

    for (int i = 0; i < writerPtr->nRecords; i++) {
        char         line[64];
        struct iovec piece = {
            line,
            (size_t) snprintf(line, sizeof(line), "writer %d record %d\n",
                              writerPtr->number, i)};

        MUST(Ns_LogStreamPut(stream, Notice, &piece, 1) == NS_OK, 4);
        if (writerPtr->looks) {
            char *text = FileText();

            MUST(strstr(text, line) != NULL, 5);
            ns_free(text);
        }
    }
}

static void
StartWriter(int number, int nRecords, bool looks)
{
    writers[number] = (Writer){
        .number = number, .nRecords = nRecords, .looks = looks};
    Ns_ThreadCreate(Write, &writers[number], 0, &writers[number].thread);
}

static void
JoinWriters(int n)
{
    for (int i = 0; i < n; i++) {
        Ns_ThreadJoin(&writers[i].thread, NULL);
    }
}

static void
AwaitComers(uint64_t n)
{
    while (atomic_load(&sink->turns.nComers) < n) {
        struct timeval pause = {0, 5000};

        select(0, NULL, NULL, NULL, &pause);
    }
}

static void
WaitForOne(void)
{
    NsSinkStats stats;

    Start(0);
    SetGate(true);
    StartWriter(0, 1, false);
    AwaitComers(1);
    for (int i = 1; i < MAX_THREADS; i++) {
        StartWriter(i, 1, false);
    }
    AwaitComers(MAX_THREADS);
    SetGate(false);
    JoinWriters(MAX_THREADS);
    NsSinkGetStats(sink, &stats);
    MUST(stats.delivered == MAX_THREADS && stats.pending == 0, 6);
    /* That of the first, and one for all who came while it was at it. */
    MUST(stats.writes <= 2, 7);
    NsLogStop();
    NsLogFinish();
}

static void
WriteAndLook(void)
{
    Start(0);
    for (int i = 0; i < 4; i++) {
        StartWriter(i, PER_THREAD, true);
    }
    JoinWriters(4);
    NsLogStop();
    NsLogFinish();
}

/*
 * Requests that change nothing, until all have written.
 */
static void
Request(void *arg)
{
    const atomic_bool *isDonePtr = arg;

    while (!atomic_load(isDonePtr)) {
        MUST(Ns_LogSinkSetLines(sink, 0) == NS_OK, 6);
    }
}

static void
WriteAndLookBesideRequests(void)
{
    atomic_bool isDone = false;
    Ns_Thread   thread;

    Start(0);
    Ns_ThreadCreate(Request, &isDone, 0, &thread);
    for (int i = 0; i < 4; i++) {
        StartWriter(i, PER_THREAD, true);
    }
    JoinWriters(4);
    atomic_store(&isDone, true);
    Ns_ThreadJoin(&thread, NULL);
    NsLogStop();
    NsLogFinish();
}

static void
WriteBuffered(void)
{
    NsSinkStats stats;

    Start(MAX_LINES);
    for (int i = 0; i < 4; i++) {
        StartWriter(i, PER_THREAD + i, false);
    }
    JoinWriters(4);
    NsSinkGetStats(sink, &stats);
    MUST(stats.accepted == 4 * PER_THREAD + 6, 6);
    MUST(stats.pending <= MAX_LINES, 7);
    MUST(stats.writes <= stats.delivered / 2, 8);
    /* What a request has read into the buffer counts as well. */
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 9);
    StartWriter(0, MAX_LINES - 1, false);
    JoinWriters(1);
    MUST(Ns_LogSinkSetLines(sink, MAX_LINES) == NS_OK, 10);
    NsSinkGetStats(sink, &stats);
    MUST(stats.pending == MAX_LINES - 1, 11);
    StartWriter(0, 2, false);
    JoinWriters(1);
    NsSinkGetStats(sink, &stats);
    MUST(stats.pending == 0, 12);
    NsLogStop();
    NsLogFinish();
}

static void
WriteLarge(void *arg)
{
    static char  bytes[LARGE_BYTES];
    struct iovec piece = {bytes, sizeof(bytes)};

    MUST(Ns_LogStreamPut(stream, Notice, &piece, 1) == NS_OK, 6);
}

static void
WriteMoreThanMemory(void)
{
    NsSinkStats stats;

    Start(0);
    SetGate(true);
    for (int i = 0; i < MAX_THREADS; i++) {
        Ns_ThreadCreate(WriteLarge, NULL, 0, &writers[i].thread);
    }
    AwaitComers(LEAST_COMERS);
    SetGate(false);
    JoinWriters(MAX_THREADS);
    NsSinkGetStats(sink, &stats);
    MUST(stats.delivered == MAX_THREADS && stats.droppedMemory == 0, 7);
    NsLogStop();
    NsLogFinish();
}

static void
ThreadsThatWaitForOneAreServedByOneWrite(void **state)
{
    RunInChild(WaitForOne);
}

static void
ALineIsInTheFileWhenItsCallerGoesOn(void **state)
{
    RunInChild(WriteAndLook);
}

static void
ALineThatARequestHasReadIsInTheFileLikewise(void **state)
{
    RunInChild(WriteAndLookBesideRequests);
}

static void
SeveralWritersKeepNoMoreLinesThanTheBufferMay(void **state)
{
    RunInChild(WriteBuffered);
}

static void
RecordsThatMemoryHasNoRoomForWaitForATurn(void **state)
{
    RunInChild(WriteMoreThanMemory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ThreadsThatWaitForOneAreServedByOneWrite),
        cmocka_unit_test(ALineIsInTheFileWhenItsCallerGoesOn),
        cmocka_unit_test(ALineThatARequestHasReadIsInTheFileLikewise),
        cmocka_unit_test(SeveralWritersKeepNoMoreLinesThanTheBufferMay),
        cmocka_unit_test(RecordsThatMemoryHasNoRoomForWaitForATurn)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

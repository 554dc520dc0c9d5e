/* SPDX-License-Identifier: MPL-2.0
 * log_sink_test.c --
 *
 *      Sinks in trouble: a file that cannot grow, a sink that hangs, memory
 *      that is full; and records of any length.
 *
 *      Each test runs in a child, since the log lives as long as its process.
 */

#include "unit.h"
#include "log_settings.h"
#include "log_child.h"

#include <malloc.h>

#include <stdatomic.h>
#include <sys/resource.h>

#include "log/init.h"
#include "log/ring/lane.h"
#include "log/sink/sink_int.h"
#include "log/stream/stream.h"
#include "ns.h"

#define NRECORDS 20000

static char *
PathOf(const char *name)
{
    static char path[4][128];
    static int  next;
    char       *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", directory, name);
    return p;
}

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    if (arg != NULL) {
        PassGate();
    }
    return CopyRecord(buffer, room, recordPtr);
}

static Ns_LogSink
Start(Ns_LogStream *streamPtr)
{
    Ns_LogSink sink;

    NsLogInit();
    ConfigureLog(directory, PathOf("nsd.log"), true, NS_LOG_MEMORY_MIN);
    *streamPtr = Ns_LogStreamCreate("test", Format, NULL);
    NsStreamSetOverflow(*streamPtr, NS_OVERFLOW_BLOCK);
    sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "test",
        .stream = *streamPtr,
        .file = PathOf("test"),
        .bufferBytes = 65536});
    NsLogStart();
    return sink;
}

static void
PutLine(Ns_LogStream stream, int number)
{
    char         line[64];
    struct iovec piece = {
        line, (size_t) snprintf(line, sizeof(line), "record %d\n", number)};

    Ns_LogStreamPut(stream, Notice, &piece, 1);
}

/*
 * The records in a file, which must be in order, from 0 on without a gap.
 */
static int
CountLines(const char *name)
{
    FILE *fp = fopen(PathOf(name), "r");
    int   number, next = 0;

    while (fp != NULL && fscanf(fp, "record %d\n", &number) == 1) {
        if (number != next) {
            return -1;
        }
        next++;
    }
    if (fp != NULL) {
        fclose(fp);
    }
    return next;
}

static void
Nap(void)
{
    struct timeval pause = {0, 5000};

    select(0, NULL, NULL, NULL, &pause);
}

static void
FillDisk(void)
{
    Ns_LogStream  stream;
    Ns_LogSink    sink = Start(&stream);
    struct rlimit limit;
    NsSinkStats   stats;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 10007; /* Ends inside a line. */
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 2000; i++) {
        PutLine(stream, i);
    }
    do {
        Nap();
        NsSinkGetStats(sink, &stats);
    } while (stats.errors == 0);
    MUST(Ns_LogSinkFlush(sink) == NS_ERROR && errno == EFBIG, 2);

    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 24000 && Ns_LogSinkFlush(sink) != NS_OK; i++) {
        Nap();
    }
    MUST(CountLines("test") == 2000, 3);
    NsSinkGetStats(sink, &stats);
    MUST(stats.accepted == 2000 && stats.delivered == 2000
             && stats.pending == 0,
         4);
    NsLogStop();
    NsLogFinish();
}

static void
HangOneSink(void)
{
    Ns_LogStream stream, held;
    Ns_LogSink   sink = Start(&stream), hanging;
    NsSinkStats  stats;

    held = Ns_LogStreamCreate("held", Format, &gateLock);
    hanging = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "held",
        .stream = held,
        .file = PathOf("held"),
        .bufferBytes = 65536});
    SetGate(true);
    for (int i = 0; i < NRECORDS; i++) {
        PutLine(stream, i);
        if (i < 1000) {
            PutLine(held, i);
        }
    }
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 2);
    MUST(CountLines("test") == NRECORDS, 3);
    MUST(CountLines("held") == 0, 4);
    NsSinkGetStats(hanging, &stats);
    MUST(stats.accepted == 1000 && stats.pending == 1000, 5);

    SetGate(false);
    MUST(Ns_LogSinkFlush(hanging) == NS_OK, 6);
    MUST(CountLines("held") == 1000, 7);
    NsLogStop();
    NsLogFinish();
}

static void
FillMemory(void)
{
    Ns_LogStream stream;
    Ns_LogSink   hanging;
    Ns_LogStream held;
    NsSinkStats  stats;
    FILE        *fp;
    char         line[1000] = "";
    int          nLines = 0, nMissing = 0;

    (void) Start(&stream);
    held = Ns_LogStreamCreate("held", Format, &gateLock);
    hanging = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "held",
        .stream = held,
        .file = PathOf("held"),
        .bufferBytes = 65536});
    SetGate(true);
    for (int i = 0; i < 100000; i++) {
        PutLine(held, i);
    }
    NsSinkGetStats(hanging, &stats);
    MUST(stats.accepted == 100000 && stats.droppedMemory > 0, 2);
    /* The reserve still takes errors. */
    Ns_Log(Error, "room for an error");

    SetGate(false);
    do {
        (void) Ns_LogSinkFlush(hanging);
        NsSinkGetStats(hanging, &stats);
    } while (stats.pending > 0);
    (void) Ns_LogSinkFlush(hanging);
    MUST(stats.accepted == stats.delivered + stats.droppedMemory, 3);

    fp = fopen(PathOf("held"), "r");
    while (fgets(line, sizeof(line), fp) != NULL) {
        unsigned n;
        char    *told = strstr(line, "log: ");

        if (strncmp(line, "record ", 7) == 0) {
            nLines++;
        } else if (told != NULL
                   && sscanf(told,
                             "log: %u records of stream 'held' are "
                             "missing",
                             &n)
                       == 1) {
            nMissing += (int) n;
        }
    }
    fclose(fp);
    MUST(nLines == (int) stats.delivered, 4);
    MUST(nMissing == (int) stats.droppedMemory, 5);
    NsLogStop();
    NsLogFinish();
}

static void
OpenGateWhenFull(void *arg)
{
    while (!NsLaneIsFull()) {
        Nap();
    }
    SetGate(false);
}

/*
 * The memory is filled more than once, and records wait for it.
 */
static void
WaitForMemory(void)
{
    Ns_LogStream stream, held;
    Ns_LogSink   idle = Start(&stream), sink;
    Ns_Thread    opener;
    NsSinkStats  stats;

    held = Ns_LogStreamCreate("held", Format, &gateLock);
    NsStreamSetOverflow(held, NS_OVERFLOW_BLOCK);
    sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "held",
        .stream = held,
        .file = PathOf("held"),
        .bufferBytes = 65536});
    SetGate(true);
    Ns_ThreadCreate(OpenGateWhenFull, NULL, 0, &opener);
    for (int i = 0; i < 300000; i++) {
        PutLine(held, i);
    }
    Ns_ThreadJoin(&opener, NULL);
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 2);
    MUST(CountLines("held") == 300000, 3);
    NsSinkGetStats(idle, &stats);
    MUST(stats.wakeups <= 1, 4);
    NsLogStop();
    NsLogFinish();
}

static void
AwaitState(Ns_LogSink sink, NsSinkState state)
{
    while (atomic_load(&sink->sleep.state) != (int) state) {
        Nap();
    }
}

/*
 * The first record is written at once; what follows waits for the buffer time.
 */
static void
PutFew(void)
{
    Ns_LogStream   stream, few;
    Ns_LogSink     sink;
    uint64_t       nPasses;
    NsSinkSettings settings;

    (void) Start(&stream);
    few = Ns_LogStreamCreate("few", Format, NULL);
    sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "few",
        .stream = few,
        .file = PathOf("few"),
        .bufferBytes = 65536});
    NsSinkGetSettings(sink, &settings);
    settings.bufferNanos = 3600 * NS_STAMP_SECOND;
    MUST(NsSinkConfigure(sink, &settings) == NS_OK, 1);
    NsSinkFreeSettings(&settings);
    AwaitState(sink, NS_SINK_IDLE);
    nPasses = atomic_load(&sink->counts.nPasses);
    PutLine(few, 0);
    AwaitState(sink, NS_SINK_BATCHING);
    MUST(CountLines("few") == 1, 2);
    MUST(atomic_load(&sink->counts.nPasses) == nPasses + 1, 3);
    for (int i = 1; i < 50; i++) {
        PutLine(few, i);
    }
    MUST(atomic_load(&sink->sleep.state) == NS_SINK_BATCHING, 4);
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 5);
    MUST(CountLines("few") == 50, 6);
    NsLogStop();
    NsLogFinish();
}

static void
PutAnyLength(void)
{
    static const size_t lengths[] = {
        1,     4000,  4096,   4097,   32700,  32768,  65535,
        65536, 65537, 200000, 131072, 131073, 262144, 3000000};
    Ns_LogStream stream;
    Ns_LogSink   sink = Start(&stream);
    char        *bytes = malloc(3000001);
    FILE        *fp;

    for (int i = 0; i < Ns_NrElements(lengths); i++) {
        struct iovec piece = {bytes, lengths[i]};

        memset(bytes, 'a' + i, lengths[i]);
        bytes[lengths[i] - 1] = '\n';
        Ns_LogStreamPut(stream, Notice, &piece, 1);
    }
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 2);
    fp = fopen(PathOf("test"), "r");
    for (int i = 0; i < Ns_NrElements(lengths); i++) {
        char mark[64];

        MUST(fgets(bytes, 3000001, fp) != NULL, 3);
        if (lengths[i] > nsLaneMaxRecord) {
            snprintf(mark, sizeof(mark), "a [cut: %zu bytes]\n", lengths[i]);
            mark[0] = (char) ('a' + i);
            memmove(mark + 5, mark + 1, strlen(mark));
            memcpy(mark + 1, " ...", 4);
            MUST(strlen(bytes) <= nsLaneMaxRecord, 7);
            MUST(strlen(bytes) > nsLaneMaxRecord - 64, 8);
            MUST(strstr(bytes, mark) != NULL, 9);
            continue;
        }
        MUST(strlen(bytes) == lengths[i], 4);
        MUST(lengths[i] == 1 || bytes[lengths[i] / 2 - 1] == 'a' + i, 5);
    }
    MUST(fgets(bytes, 3000001, fp) == NULL, 6);
    fclose(fp);
    free(bytes);
    NsLogStop();
    NsLogFinish();
}

static NsOverflow overflow;

static void
PutLong(Ns_LogStream stream, char *bytes, size_t length)
{
    struct iovec piece = {bytes, length};

    memset(bytes, 'x', length);
    bytes[length - 1] = '\n';
    Ns_LogStreamPut(stream, Notice, &piece, 1);
}

/*
 * Of the lines in the file "held", those of the longest length, which must be
 * cut ones; those that are shorter are left out.
 */
static int
CountCut(void)
{
    FILE   *fp = fopen(PathOf("held"), "r");
    char   *line = NULL;
    size_t  room = 0;
    ssize_t length;
    int     n = 0;

    while ((length = getline(&line, &room, fp)) > 0) {
        MUST((size_t) length <= nsLaneMaxRecord, 20);
        n += strstr(line, " ... [cut: ") != NULL;
    }
    free(line);
    fclose(fp);
    return n;
}

/*
 * Records around the largest size, one at a time, and then more of them than
 * memory has room for, while the sink hangs.
 */
static void
PutLongWhileHanging(void)
{
    enum { MANY = 12 };
    Ns_LogStream stream, held;
    Ns_LogSink   sink;
    Ns_Thread    opener;
    NsSinkStats  stats;
    char        *bytes;

    (void) Start(&stream);
    bytes = malloc(100 * nsLaneMaxRecord);
    held = Ns_LogStreamCreate("held", Format, &gateLock);
    NsStreamSetOverflow(held, overflow);
    sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "held",
        .stream = held,
        .file = PathOf("held"),
        .bufferBytes = 65536});
    for (int i = 0; i < 4; i++) {
        size_t lengths[] = {nsLaneMaxRecord - 1, nsLaneMaxRecord,
                            nsLaneMaxRecord + 1, 100 * nsLaneMaxRecord};

        SetGate(true);
        PutLong(held, bytes, lengths[i]);
        NsSinkGetStats(sink, &stats);
        MUST(stats.pending == 1, 2);
        SetGate(false);
        MUST(Ns_LogSinkFlush(sink) == NS_OK, 3);
        MUST(CountCut() == MAX(i - 1, 0), 4);
    }

    SetGate(true);
    if (overflow == NS_OVERFLOW_BLOCK) {
        Ns_ThreadCreate(OpenGateWhenFull, NULL, 0, &opener);
    }
    for (int i = 0; i < MANY; i++) {
        PutLong(held, bytes, 2 * nsLaneMaxRecord);
    }
    NsSinkGetStats(sink, &stats);
    MUST(stats.accepted == 4 + MANY, 5);
    if (overflow == NS_OVERFLOW_BLOCK) {
        Ns_ThreadJoin(&opener, NULL);
        MUST(stats.droppedMemory == 0, 6);
    } else {
        MUST(stats.droppedMemory > 0 && stats.pending > 0, 7);
        SetGate(false);
    }
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 8);
    NsSinkGetStats(sink, &stats);
    MUST(stats.accepted == stats.delivered + stats.droppedMemory, 9);
    /* Two of the four were not cut. */
    MUST(CountCut() == (int) stats.delivered - 2, 10);
    free(bytes);
    NsLogStop();
    NsLogFinish();
}

/*
 * The same two settings by turns.
 */
static void
ChangeSettings(Ns_LogSink sink, int n)
{
    NsSinkSettings settings;

    for (int i = 0; i < n; i++) {
        NsSinkGetSettings(sink, &settings);
        settings.minSeverity = i % 2 == 0 ? Warning : -1;
        MUST(NsSinkConfigure(sink, &settings) == NS_OK, 2);
        NsSinkFreeSettings(&settings);
    }
}

static void
ConfigureOften(void)
{
    Ns_LogStream stream;
    Ns_LogSink   sink = Start(&stream);
    bool         isSteady = false;

    ChangeSettings(sink, 100);
    /* Another sink may take its buffer in one of these rounds, to tell of a
     * slow disk say; what piles up does so in each. */
    for (int i = 0; i < 3 && !isSteady; i++) {
        size_t before = mallinfo2().uordblks;

        ChangeSettings(sink, 2000);
        isSteady = mallinfo2().uordblks < before + 50000;
    }
    MUST(isSteady, 3);
    NsLogStop();
    NsLogFinish();
}

/*
 * Ever new sinks of the stream, by turns with a log thread and without.
 */
static void
AddAndRemove(int n)
{
    static const char *const streams[] = {"test"};

    for (int i = 0; i < n; i++) {
        static int number;
        char       name[32];
        NsSinkSpec spec = {
            .name = name,
            .type = "file",
            .streams = streams,
            .nStreams = 1,
            .file = PathOf("job"),
            .isAwaited = i % 2 == 0,
            .settings = nsSinkDefaults};
        Ns_LogSink sink;

        snprintf(name, sizeof(name), "job%d", number++);
        sink = NsSinkCreate(&spec);
        MUST(sink != NULL, 2);
        MUST(NsSinkRemove(sink) == NS_OK, 3);
    }
}

static atomic_bool isLogging;

static void
LogOn(void *arg)
{
    for (int i = 0; atomic_load(&isLogging); i++) {
        PutLine(arg, i);
        if (i % 100 == 0) {
            Nap();
        }
    }
}

static void
AddAndRemoveOften(void)
{
    Ns_LogStream stream;
    Ns_LogSink   sink = Start(&stream);
    Ns_Thread    logger;
    NsSinkStats  stats;
    size_t       before;

    atomic_store(&isLogging, true);
    Ns_ThreadCreate(LogOn, stream, 0, &logger);
    AddAndRemove(200);
    atomic_store(&isLogging, false);
    Ns_ThreadJoin(&logger, NULL);

    AddAndRemove(2);
    before = mallinfo2().uordblks;
    AddAndRemove(400);
    MUST(mallinfo2().uordblks < before + 400000, 4);
    MUST(Ns_LogSinkFlush(sink) == NS_OK, 5);
    NsSinkGetStats(sink, &stats);
    MUST(CountLines("test") == (int) stats.accepted, 6);
    NsLogStop();
    NsLogFinish();
}

static void
AFileThatCannotGrowLosesNothing(void **state)
{
    RunInChild(FillDisk);
}

static void
ASinkThatHangsDoesNotHoldUpOthers(void **state)
{
    RunInChild(HangOneSink);
}

static void
WhatIsDroppedIsCountedAndTold(void **state)
{
    RunInChild(FillMemory);
}

static void
ASinkWithNothingToWriteSleepsWhileMemoryIsShort(void **state)
{
    RunInChild(WaitForMemory);
}

static void
AFewRecordsAreReadOnceAndTheNextWhenItIsTimeToWrite(void **state)
{
    RunInChild(PutFew);
}

static void
RecordsArriveWholeUpToTheMaximumAndCutBeyondIt(void **state)
{
    RunInChild(PutAnyLength);
}

static void
RecordsOfAnySizeWaitForASinkThatHangsAsTheirRuleSays(void **state)
{
    for (overflow = NS_OVERFLOW_BLOCK; overflow <= NS_OVERFLOW_SAMPLE;
         overflow++) {
        RunInChild(PutLongWhileHanging);
    }
}

static void
ChangesOfSettingsDoNotPileUp(void **state)
{
    RunInChild(ConfigureOften);
}

static void
SinksThatWereRemovedDoNotPileUp(void **state)
{
    RunInChild(AddAndRemoveOften);
}

static void
AClockThatIsSetBackDoesNotDelayWhatIsDue(void **state)
{
    const int64_t second = 1000000000;
    int64_t       now = NsLogClock();

    assert_true(NsSinkIsDue(now, second));
    assert_false(NsSinkIsDue(now + 60 * second, 61 * second));
    assert_true(NsSinkIsDue(now + 3600 * second, second));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AFileThatCannotGrowLosesNothing),
        cmocka_unit_test(ASinkThatHangsDoesNotHoldUpOthers),
        cmocka_unit_test(WhatIsDroppedIsCountedAndTold),
        cmocka_unit_test(ASinkWithNothingToWriteSleepsWhileMemoryIsShort),
        cmocka_unit_test(AFewRecordsAreReadOnceAndTheNextWhenItIsTimeToWrite),
        cmocka_unit_test(RecordsArriveWholeUpToTheMaximumAndCutBeyondIt),
        cmocka_unit_test(RecordsOfAnySizeWaitForASinkThatHangsAsTheirRuleSays),
        cmocka_unit_test(ChangesOfSettingsDoNotPileUp),
        cmocka_unit_test(SinksThatWereRemovedDoNotPileUp),
        cmocka_unit_test(AClockThatIsSetBackDoesNotDelayWhatIsDue)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

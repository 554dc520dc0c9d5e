/* SPDX-License-Identifier: MPL-2.0
 * log_limits_test.c --
 *
 *      More sinks, streams, threads or records than there can be.
 */

#include "unit.h"

#include <sys/wait.h>

#include "log/init.h"
#include "log/ring/lane.h"
#include "log/ring/ring.h"
#include "log/sink/sink_int.h"
#include "log/stream/stream.h"
#include "ns.h"
#include "nsthread.h"
#include "log/sink/sinktable.h"

static char text[65536];
static char directory[64]; /* Of the child's log memory. */

/*
 * The exit status of a child that runs proc; what it logs is in text.
 */
static int
InChild(void (*proc)(void))
{
    int     ends[2], status;
    char    command[128];
    size_t  n = 0;
    ssize_t got;
    pid_t   pid;

    assert_int_equal(pipe(ends), 0);
    strcpy(directory, "/tmp/log_limits.XXXXXX");
    assert_non_null(mkdtemp(directory));
    pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        NsLogInit();
        proc();
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], text + n, sizeof(text) - n - 1)) > 0) {
        n += (size_t) got;
    }
    text[n] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    return status;
}

/*
 * So many streams and sinks, and no log threads.
 */
static void
Configure(int maxLogs)
{
    NsLogConfigure(&(NsLogSettings){
        .stayOnStderr = true,
        .isAsync = true,
        .memoryBytes = 4 << 20,
        .maxLogs = maxLogs,
        .ringDirectory = directory});
}

/*
 * Those of the server itself are among them.
 */
static void
MakeStreams(void)
{
    int n = 0;

    Configure(300);
    while (NsStreamAt(n) != NULL) {
        n++;
    }
    for (int i = n; i <= 300; i++) {
        char name[32];

        /* The last one is too many. */
        snprintf(name, sizeof(name), "stream%d", i);
        errno = 0;
        if ((Ns_LogStreamCreate(name, NULL, NULL) != NULL) != (i < 300)) {
            _exit(3);
        }
    }
    if (errno != NS_SINK_TOO_MANY
        || Ns_LogStreamCreate("stream299", NULL, NULL) == NULL) {
        _exit(4);
    }
}

static void
OneStreamTooManyIsRefused(void **state)
{
    int status = InChild(MakeStreams);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_non_null(strstr(text,
                           "Error: log: cannot create stream "
                           "'stream300': the limit is 300 streams; raise "
                           "maxlogs in ns/parameters\n"));
    assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
}

static void
MakeLongName(void)
{
    char name[NS_RING_NAME + 1];

    memset(name, 'x', NS_RING_NAME);
    name[NS_RING_NAME - 1] = '\0';
    if (Ns_LogStreamCreate(name, NULL, NULL) == NULL) {
        _exit(3);
    }
    name[NS_RING_NAME - 1] = 'x';
    name[NS_RING_NAME] = '\0';
    if (Ns_LogStreamCreate(name, NULL, NULL) != NULL) {
        _exit(4);
    }
}

static void
ANameOfAStreamIsLimited(void **state)
{
    int status = InChild(MakeLongName);

    assert_int_equal(WEXITSTATUS(status), 0);
    assert_non_null(strstr(text, ": a name has at most 127 bytes\n"));
}

static Ns_LogSink
OpenSink(int i)
{
    char        stream[32], name[32];
    const char *streams[] = {stream};

    snprintf(name, sizeof(name), "sink%d", i);
    snprintf(stream, sizeof(stream), "stream%d", i % 100);
    return NsSinkCreate(&(NsSinkSpec){
        .name = name,
        .type = "file",
        .file = "/dev/null",
        .streams = streams,
        .nStreams = 1,
        .settings = nsSinkDefaults});
}

/*
 * The system log is one of them.
 */
static void
MakeSinks(void)
{
    Configure(300);
    for (int i = 1; i <= 300; i++) {
        errno = 0;
        if ((OpenSink(i) != NULL) != (i < 300)) {
            _exit(3);
        }
    }
    if (errno != NS_SINK_TOO_MANY) {
        _exit(4);
    }
    fprintf(stderr, "%s\n", NsSinkReason(errno));
    /* One that is removed makes room. */
    if (NsSinkRemove(NsSinkFind("sink7")) != NS_OK || OpenSink(7) == NULL) {
        _exit(5);
    }
}

static void
OneSinkTooManyIsRefused(void **state)
{
    int status = InChild(MakeSinks);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_string_equal(text,
                        "the limit is 300 sinks; raise maxlogs in "
                        "ns/parameters\n");
}

/*
 * All of the same stream.
 */
static void
MakeReaders(void)
{
    const NsRing *ringPtr;
    int           max;
    Ns_LogSink    sink;

    Configure(300);
    ringPtr = NsSinkRing();
    max = (int) ringPtr->headerPtr->maxReaders;
    (void) Ns_LogStreamCreate("stream0", NULL, NULL);
    for (int i = 1; i <= max + 1; i++) {
        errno = 0;
        if ((OpenSink(100 * i) != NULL) != (i <= max)) {
            _exit(3);
        }
    }
    if (errno != NS_SINK_TOO_MANY_READERS) {
        _exit(4);
    }
    fprintf(stderr, "%d: %s\n", max, NsSinkReason(errno));
    sink = NsSinkFind("sink100");
    if (NsSinkRemove(sink) != NS_OK || OpenSink(100) == NULL) {
        _exit(5);
    }
}

static void
OneReaderOfAStreamTooManyIsRefused(void **state)
{
    int  status = InChild(MakeReaders), max = atoi(text);
    char expected[128];

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_in_range(max, 16, 299);
    snprintf(expected, sizeof(expected),
             "%d: the limit is %d sinks of one "
             "stream; raise logmemory in ns/parameters\n",
             max, max);
    assert_string_equal(text, expected);
}

#define LANE_THREADS 400

static atomic_int   nReady, nPut;
static Ns_LogStream wanted;

/*
 * One of many threads that put a record and stay, so that lanes run out.
 */
static void
PutOne(void *arg)
{
    int          i = (int) (intptr_t) arg;
    struct iovec piece = {&i, sizeof(i)};

    atomic_fetch_add(&nPut,
                     Ns_LogStreamPut(wanted, Notice, &piece, 1) == NS_OK);
    atomic_fetch_add(&nReady, 1);
    while (atomic_load(&nReady) < LANE_THREADS) {
        usleep(1000);
    }
    /* Once more, by the way that it has by now. */
    atomic_fetch_add(&nPut,
                     Ns_LogStreamPut(wanted, Notice, &piece, 1) == NS_OK);
}

static size_t
FormatNumber(char *buffer, size_t room, const Ns_LogRecord *recordPtr,
             void *arg)
{
    int i;

    memcpy(&i, recordPtr->bytes, sizeof(i));
    return (size_t) snprintf(buffer, room, "thread %d\n", i);
}

static void
RunOutOfLanes(void)
{
    static const char *const streams[] = {"many"};
    const NsRingHeader      *headerPtr;
    Ns_Thread                threads[LANE_THREADS];
    char                     file[128], line[64];
    int                      counts[LANE_THREADS] = {0}, i;
    Ns_LogSink               sink;
    FILE                    *fp;

    snprintf(file, sizeof(file), "%s/many.log", directory);
    NsLogConfigure(&(NsLogSettings){.stayOnStderr = true,
                                    .isAsync = true,
                                    .memoryBytes = 1 << 20,
                                    .ringDirectory = directory});
    headerPtr = NsSinkRing()->headerPtr;
    if (headerPtr->maxLanes - headerPtr->maxStreams >= LANE_THREADS) {
        _exit(3);
    }
    wanted = Ns_LogStreamCreate(streams[0], FormatNumber, NULL);
    sink = NsSinkCreate(&(NsSinkSpec){
        .name = "many",
        .type = "file",
        .file = file,
        .nStreams = 1,
        .streams = streams,
        .settings = nsSinkDefaults});
    for (i = 0; i < LANE_THREADS; i++) {
        Ns_ThreadCreate(PutOne, (void *) (intptr_t) i, 0, &threads[i]);
    }
    for (i = 0; i < LANE_THREADS; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    if (atomic_load(&nPut) != 2 * LANE_THREADS || sink == NULL
        || Ns_LogSinkFlush(sink) != NS_OK) {
        _exit(4);
    }
    fp = fopen(file, "r");
    while (fgets(line, sizeof(line), fp) != NULL) {
        if (sscanf(line, "thread %d\n", &i) != 1 || i < 0
            || i >= LANE_THREADS) {
            _exit(5);
        }
        counts[i]++;
    }
    fclose(fp);
    for (i = 0; i < LANE_THREADS; i++) {
        if (counts[i] != 2) {
            _exit(6);
        }
    }
    if (atomic_load(&headerPtr->nLanes)
        > headerPtr->maxLanes - headerPtr->maxStreams + 1) {
        _exit(7);
    }
}

static void
ThreadsWithoutALaneOfTheirOwnShareOne(void **state)
{
    int status = InChild(RunOutOfLanes);

    assert_string_equal(text, "");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/*
 * Many servers with five threads each: all lanes take little of the memory.
 */
static void
SegmentsAreAsSmallAsTheNumberOfLanesNeeds(void **state)
{
    static const struct {
        int64_t  bytes;
        uint32_t nStreams;
        uint32_t nLanes;
        uint32_t segmentBytes;
        uint32_t leastOwn;
    } cases[] = {{INT64_C(64) << 20, 132, 20, 32768, 720},
                 {INT64_C(64) << 20, 132, 2000, 8192, 2000},
                 {INT64_C(64) << 20, 1132, 10000, 2048, 10000},
                 {INT64_C(64) << 20, 1132, 20000, 2048, 10000},
                 {INT64_C(1) << 20, 132, 20, 4096, 60}};
    NsRingKey key = {directory, directory, NULL};

    strcpy(directory, "/tmp/log_limits.XXXXXX");
    assert_non_null(mkdtemp(directory));
    for (int i = 0; i < Ns_NrElements(cases); i++) {
        const char *reason;
        NsRing     *ringPtr =
            NsRingCreate(&key,
                         &(NsRingNeed){.bytes = cases[i].bytes,
                                       .nStreams = cases[i].nStreams,
                                       .nSinks = cases[i].nStreams,
                                       .nReaders = 8,
                                       .nLanes = cases[i].nLanes},
                         &reason);
        const NsRingHeader *headerPtr = ringPtr->headerPtr;
        uint32_t            nOwn = headerPtr->maxLanes - headerPtr->maxStreams;

        assert_null(reason);
        assert_int_equal(headerPtr->segmentBytes, cases[i].segmentBytes);
        assert_in_range(nOwn, cases[i].leastOwn, headerPtr->nSegments * 3 / 8);
        assert_true((int64_t) headerPtr->bytes <= cases[i].bytes);
        assert_int_equal(headerPtr->maxSinks, cases[i].nStreams);
        assert_in_range(headerPtr->maxReaders, 8, cases[i].nStreams);
        NsRingClose(&ringPtr, true);
    }
    assert_int_equal(rmdir(directory), 0);
}

/*
 * Critical records until there is no room for another one; nobody reads.
 */
static int
FillMemory(void)
{
    char         bytes[1024] = "";
    struct iovec piece = {bytes, sizeof(bytes)};
    NsLaneRecord record = {.class = NS_LANE_CRITICAL,
                           .overflow = NS_OVERFLOW_DROPNEWEST,
                           .pieces = &piece,
                           .nPieces = 1,
                           .length = sizeof(bytes)};
    int          n = 0;

    while (NsLanePut(0, &record)) {
        n++;
    }
    return n;
}

static void
TellInFullMemory(void)
{
    static const char *const streams[] = {"system"};
    bool                     isMuch, isLittle;

    NsLogConfigure(&(NsLogSettings){.stayOnStderr = true,
                                    .isAsync = true,
                                    .memoryBytes = 1 << 20,
                                    .ringDirectory = directory});
    (void) NsSinkCreate(&(NsSinkSpec){
        .name = "all",
        .type = "file",
        .file = "/dev/null",
        .nStreams = 1,
        .streams = streams,
        .settings = nsSinkDefaults});
    isMuch = FillMemory() > 256;
    NsLaneSetDrainer(true);
    isLittle = FillMemory() > 0;
    _exit(isMuch ? isLittle ? 0 : 3 : 4);
}

static void
ALogThreadFindsRoomInMemoryThatOthersHaveFilled(void **state)
{
    int status = InChild(TellInFullMemory);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(OneStreamTooManyIsRefused),
        cmocka_unit_test(ANameOfAStreamIsLimited),
        cmocka_unit_test(OneSinkTooManyIsRefused),
        cmocka_unit_test(OneReaderOfAStreamTooManyIsRefused),
        cmocka_unit_test(ThreadsWithoutALaneOfTheirOwnShareOne),
        cmocka_unit_test(SegmentsAreAsSmallAsTheNumberOfLanesNeeds),
        cmocka_unit_test(ALogThreadFindsRoomInMemoryThatOthersHaveFilled)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

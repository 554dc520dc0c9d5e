/* SPDX-License-Identifier: MPL-2.0
 * log_spill_test.c --
 *
 *      What a killed process had on disk for a sink is written by the next,
 *      once, whether or not there still is what it had in memory.
 *
 *      A child logs into a database that is locked, until much of it is on
 *      disk, and dies.  Others take its place.
 */

#include "unit.h"
#include "child.h"

#include <glob.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "log/init.h"
#include "log/sink/leftover.h"
#include "log/sink/sink.h"
#include "log/stream/stream.h"
#include "ns.h"
#include "process/sinkmodule.h"

#define NRECORDS     6000
#define FILLER_BYTES 200
#define NFIT         1200 /* So many take about a third of the memory. */
#define NDEATHS      10
#define LIMIT_USEC   (120 * 1000000)
#define PAUSE_USEC   1000

static char directory[64];
static char place[96]; /* Of the database. */
static char database[128];
static char nsdLog[128];

/* What the child is like. */
static bool       hasOther; /* There is the second stream, too. */
static NsOverflow overflow = NS_OVERFLOW_BLOCK;
static size_t     maxSpill; /* 0: the default. */
static int        dieAt;    /* When the database has so many rows. */

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    int number;

    memcpy(&number, recordPtr->bytes, sizeof(number));
    return (size_t) snprintf(buffer, room, "%d\n", number);
}

static int
SetUp(void **state)
{
    strcpy(directory, "/tmp/log_spill.XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    snprintf(place, sizeof(place), "%s/db", directory);
    snprintf(database, sizeof(database), "%s/rows.db", place);
    if (mkdir(place, 0700) != 0) {
        return -1;
    }
    snprintf(nsdLog, sizeof(nsdLog), "%s/nsd.log", directory);
    return 0;
}

static int
TearDown(void **state)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) == 0 ? 0 : -1;
}

static sqlite3 *
OpenDatabase(void)
{
    sqlite3 *handle;

    assert_int_equal(sqlite3_open(database, &handle), SQLITE_OK);
    sqlite3_busy_timeout(handle, LIMIT_USEC / 1000);
    return handle;
}

static Ns_LogSink
Start(Ns_LogStream *streams)
{
    static const char *const names[] = {"test", "other"};
    char                     spill[128];
    NsSinkSettings           settings = nsSinkDefaults;
    Ns_LogSink               sink;

    snprintf(spill, sizeof(spill), "%s/spill", directory);
    settings.bufferNanos = 10000000;
    settings.maxSpill = maxSpill > 0 ? maxSpill : settings.maxSpill;
    NsLogInit();
    NsSinkModuleInit();
    NsLogConfigure(&(NsLogSettings){
        .file = nsdLog,
        .notice = true,
        .sanitize = 2,
        .isAsync = true,
        .memoryBytes = NS_LOG_MEMORY_MIN,
        .ringDirectory = directory,
        .spillDirectory = spill,
        .home = directory});
    for (int i = 0; i < 1 + hasOther; i++) {
        streams[i] = Ns_LogStreamCreate(names[i], Format, NULL);
        NsStreamSetOverflow(streams[i], overflow);
    }
    sink = NsSinkCreate(&(NsSinkSpec){
        .name = "rows",
        .type = "sqlite",
        .streams = names,
        .nStreams = 2,
        .file = database,
        .table = "log",
        .mayOpenLater = true,
        .settings = settings});
    NsLogStart();
    return sink;
}

static void
Put(Ns_LogStream stream, int number)
{
    char         filler[FILLER_BYTES];
    uint32_t     random = (uint32_t) number * 2654435761u + 1;
    struct iovec pieces[] = {
        {&number, sizeof(number)}, {filler, sizeof(filler)}};

    /* On disk it takes its length: nothing in it comes again. */
    for (int i = 0; i < FILLER_BYTES; i++) {
        random = random * 1664525u + 1013904223u;
        filler[i] = (char) (random >> 24);
    }
    Ns_LogStreamPut(stream, Notice, pieces, 2);
}

static void
LogAndDie(void)
{
    Ns_LogStream streams[2];
    Ns_LogSink   sink = Start(streams);
    sqlite3     *handle = OpenDatabase();
    NsSinkStats  stats;

    if (sqlite3_exec(handle, "BEGIN EXCLUSIVE", NULL, NULL, NULL)
        != SQLITE_OK) {
        _exit(1);
    }
    for (int i = 0; i < NRECORDS; i++) {
        Put(streams[i % 2], i);
    }
    for (int i = 0; i < LIMIT_USEC / PAUSE_USEC; i++) {
        NsSinkGetStats(sink, &stats);
        if (stats.spilled >= NRECORDS / 3
            && stats.accepted == stats.delivered + stats.pending) {
            kill(getpid(), SIGKILL);
        }
        usleep(PAUSE_USEC);
    }
    _exit(1);
}

/*
 * As much as memory keeps for a sink without a move to disk.
 */
static void
FillMemoryAndDie(void)
{
    Ns_LogStream streams[2];

    (void) Start(streams);
    for (int i = 0; i < NFIT; i++) {
        Put(streams[i % 2], i);
    }
    kill(getpid(), SIGKILL);
}

static int
CountRows(const char *condition)
{
    sqlite3      *handle = OpenDatabase();
    sqlite3_stmt *statement;
    char          sql[256];
    int           n;

    snprintf(sql, sizeof(sql), "SELECT count(*) FROM log WHERE %s", condition);
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    n = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return n;
}

static void
StartAndStop(void)
{
    Ns_LogStream streams[2];
    Ns_LogSink   sink = Start(streams);
    NsSinkStats  stats;

    if (Ns_LogSinkFlush(sink) != NS_OK) {
        _exit(1);
    }
    NsSinkGetStats(sink, &stats);
    if (stats.pending != 0 || stats.accepted != stats.delivered) {
        _exit(2);
    }
    NsLogStop();
    NsLogFinish();
}

static void
StartAndDie(void)
{
    Ns_LogStream streams[2];

    (void) Start(streams);
    for (int i = 0; i < LIMIT_USEC / PAUSE_USEC; i++) {
        if (CountRows("true") >= dieAt) {
            kill(getpid(), SIGKILL);
        }
        usleep(PAUSE_USEC);
    }
    _exit(1);
}

static void
ListAndStop(void)
{
    Ns_LogStream streams[2];
    NsLeftover  *leftovers;
    int          n;

    /* Until that is done its memory is in use. */
    if (Ns_LogSinkFlush(Start(streams)) != NS_OK) {
        _exit(1);
    }
    n = NsLeftovers(&leftovers);
    if (n != 1 || leftovers[0].nRecords != NRECORDS / 2
        || strcmp(leftovers[0].sink, "rows") != 0
        || NsLeftoverForget("rows") != NRECORDS / 2) {
        _exit(1);
    }
    NsLogStop();
    NsLogFinish();
}

/*
 * As by a restart of the machine.
 */
static void
LoseMemory(void)
{
    char command[256];

    snprintf(command, sizeof(command), "rm %s/nsd-*", directory);
    assert_int_equal(system(command), 0);
}

/*
 * From 0 up, in order, each once; both streams, or every other number.  How
 * many.
 */
static int
CheckRows(int step)
{
    sqlite3      *handle = OpenDatabase();
    sqlite3_stmt *statement;
    int           n = 0;

    assert_int_equal(sqlite3_prepare_v2(handle,
                                        "SELECT record FROM log ORDER BY rowid",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(statement) == SQLITE_ROW; n++) {
        assert_int_equal(sqlite3_column_int(statement, 0), n * step);
    }
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return n;
}

static void
CheckNothingIsLeft(void)
{
    char command[256];

    snprintf(command, sizeof(command),
             "test -z \"$(ls -d %s/nsd-* "
             "%s/spill/* 2>/dev/null)\"",
             directory, directory);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command),
             "! grep -q -e damaged -e dropped -e 'are lost' %s", nsdLog);
    assert_int_equal(system(command), 0);
}

/*
 * The child could not write, and says so.
 */
static void
FillDisk(void)
{
    hasOther = true;
    assert_true(WIFSIGNALED(InChild(LogAndDie)));
    unlink(nsdLog);
}

static void
what_is_on_disk_outlives_the_memory(void **state)
{
    int n;

    FillDisk();
    LoseMemory();
    assert_int_equal(InChild(StartAndStop), 0);
    n = CheckRows(1);
    assert_true(n >= NRECORDS / 3 && n < NRECORDS);
    CheckNothingIsLeft();
}

static void
after_several_deaths_too_and_each_record_is_there_once(void **state)
{
    int n;

    FillDisk();
    LoseMemory();
    dieAt = 100;
    assert_true(WIFSIGNALED(InChild(StartAndDie)));
    /* What that one had made of it, it loses as well. */
    LoseMemory();
    dieAt = 300;
    assert_true(WIFSIGNALED(InChild(StartAndDie)));
    assert_int_equal(InChild(StartAndStop), 0);
    n = CheckRows(1);
    assert_true(n >= NRECORDS / 3 && n < NRECORDS);
    CheckNothingIsLeft();
}

static void
records_of_a_stream_that_nobody_makes_wait_and_hold_up_no_others(void **state)
{
    FillDisk();
    hasOther = false;
    dieAt = 100;
    assert_true(WIFSIGNALED(InChild(StartAndDie)));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(InChild(StartAndStop), 0);
        assert_int_equal(CheckRows(2), NRECORDS / 2);
    }
    hasOther = true;
    assert_int_equal(InChild(StartAndStop), 0);
    assert_int_equal(CountRows("stream = 'other'"), NRECORDS / 2);
    assert_int_equal(CountRows("stream = 'test'"), NRECORDS / 2);
    CheckNothingIsLeft();
}

static void
they_can_be_given_up(void **state)
{
    FillDisk();
    hasOther = false;
    assert_int_equal(InChild(StartAndStop), 0);
    assert_int_equal(InChild(ListAndStop), 0);
    assert_int_equal(CheckRows(2), NRECORDS / 2);
    CheckNothingIsLeft();
}

/*
 * So many bytes there are in files of the memory, holes left out.
 */
static long
MemoryBytes(void)
{
    char   pattern[256];
    glob_t files;
    long   blocks = 0;

    snprintf(pattern, sizeof(pattern), "%s/nsd-*", directory);
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct stat st;

        assert_int_equal(stat(files.gl_pathv[i], &st), 0);
        blocks += st.st_blocks;
    }
    globfree(&files);
    return blocks * 512;
}

static long
CountMissing(void)
{
    sqlite3      *handle = OpenDatabase();
    sqlite3_stmt *statement;
    long          sum = 0, n;

    assert_int_equal(
        sqlite3_prepare_v2(handle,
                           "SELECT record FROM log WHERE record LIKE "
                           "'%records are missing here%'",
                           -1, &statement, NULL),
        SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *note =
            strstr((const char *) sqlite3_column_text(statement, 0), "up to ");

        assert_int_equal(sscanf(note, "up to %ld", &n), 1);
        sum += n;
    }
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return sum;
}

static void
DieOften(void)
{
    hasOther = true;
    assert_int_equal(rmdir(place), 0);
    for (int i = 0; i < NDEATHS; i++) {
        assert_true(WIFSIGNALED(InChild(FillMemoryAndDie)));
        /* The last one's, and what the others left. */
        assert_true(MemoryBytes() < 3 * NS_LOG_MEMORY_MIN);
    }
    assert_int_equal(mkdir(place, 0700), 0);
    unlink(nsdLog);
}

static void
however_often_a_server_dies_memory_is_bounded_and_nothing_is_lost(void **state)
{
    DieOften();
    assert_int_equal(InChild(StartAndStop), 0);
    assert_int_equal(CountRows("true"), NDEATHS * NFIT);
    for (int i = 0; i < NFIT; i += NFIT / 10) {
        char condition[64];

        snprintf(condition, sizeof(condition), "record = '%d'", i);
        assert_int_equal(CountRows(condition), NDEATHS);
    }
    CheckNothingIsLeft();
}

static void
beyond_maxspill_the_oldest_are_given_up_and_told_of(void **state)
{
    long n;

    overflow = NS_OVERFLOW_DROPNEWEST;
    maxSpill = 600000;
    DieOften();
    assert_int_equal(InChild(StartAndStop), 0);
    overflow = NS_OVERFLOW_BLOCK;
    maxSpill = 0;
    n = CountMissing();
    assert_true(n > NFIT && n < NDEATHS * NFIT);
    assert_int_equal(CountRows("stream <> 'system'") + n, NDEATHS * NFIT);
}

static void
a_file_of_another_server_is_left_alone(void **state)
{
    char command[512];

    FillDisk();
    LoseMemory();
    /* Which server it is stands in its first records' place. */
    snprintf(command, sizeof(command),
             "sed -i 's/nsd-[0-9a-f]\\{16\\}\\x00/"
             "nsd-0000000000000000\\x00/' %s/spill/*",
             directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(InChild(StartAndStop), 0);
    assert_int_equal(CheckRows(1), 0);
    snprintf(command, sizeof(command), "test -n \"$(ls %s/spill)\"", directory);
    assert_int_equal(system(command), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_on_disk_outlives_the_memory,
                                        SetUp, TearDown),
        cmocka_unit_test_setup_teardown(
            after_several_deaths_too_and_each_record_is_there_once, SetUp,
            TearDown),
        cmocka_unit_test_setup_teardown(
            records_of_a_stream_that_nobody_makes_wait_and_hold_up_no_others,
            SetUp, TearDown),
        cmocka_unit_test_setup_teardown(they_can_be_given_up, SetUp, TearDown),
        cmocka_unit_test_setup_teardown(
            however_often_a_server_dies_memory_is_bounded_and_nothing_is_lost,
            SetUp, TearDown),
        cmocka_unit_test_setup_teardown(
            beyond_maxspill_the_oldest_are_given_up_and_told_of, SetUp,
            TearDown),
        cmocka_unit_test_setup_teardown(a_file_of_another_server_is_left_alone,
                                        SetUp, TearDown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

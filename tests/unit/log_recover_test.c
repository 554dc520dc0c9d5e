/* SPDX-License-Identifier: MPL-2.0
 * log_recover_test.c --
 *
 *      What a killed process had not written is written by the next, once.
 *
 *      Each test lets a child log and die, then another one start in its place,
 *      and reads the files.
 */

#include "unit.h"
#include "log_settings.h"
#include "child.h"

#include <pthread.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "log/init.h"
#include "log/ring/reader.h"
#include "log/ring/ring.h"
#include "log/sink/sink.h"
#include "log/stream/line.h"
#include "log/stream/stream.h"
#include "log/stream/system.h"
#include "log/stream/unit.h"
#include "ns.h"
#include "process/sinkmodule.h"

#define NRECORDS 5000

static int64_t memoryBytes = NS_LOG_MEMORY_MIN;
static char    directory[64];
static char    file[128];

typedef struct Record {
    int32_t number;
    int32_t filler;
} Record;

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    const Record *r = recordPtr->bytes;

    return (size_t) snprintf(buffer, room, "record %d\n", r->number);
}

static int
SetUp(void **state)
{
    strcpy(directory, "/tmp/log_recover.XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    snprintf(file, sizeof(file), "%s/stream.log", directory);
    return 0;
}

static int
TearDown(void **state)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) == 0 ? 0 : -1;
}

/*
 * Begin to log, in a child.  The mapping is in the test's own directory.
 */
static Ns_LogStream
Start(size_t bufferBytes, Ns_LogSink *sinkPtr)
{
    char         path[128];
    Ns_LogStream stream;

    snprintf(path, sizeof(path), "%s/nsd.log", directory);
    NsLogInit();
    ConfigureLog(directory, path, true, memoryBytes);
    stream = Ns_LogStreamCreate("test", Format, NULL);
    *sinkPtr = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "test",
        .stream = stream,
        .file = file,
        .bufferBytes = bufferBytes});
    return stream;
}

static void
Put(Ns_LogStream stream, int from, int to)
{
    for (int i = from; i < to; i++) {
        Record       record = {i, 0};
        struct iovec piece = {&record, sizeof(record)};

        Ns_LogStreamPut(stream, Notice, &piece, 1);
    }
}

static void
StartAndStop(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);

    NsLogStart();
    Put(stream, NRECORDS, NRECORDS + 1);
    NsLogStop();
    NsLogFinish();
}

/*
 * The numbers in the file are 0, 1, ... n - 1.
 */
static void
CheckFile(int n)
{
    FILE *fp = fopen(file, "r");
    int   number, next = 0;

    assert_non_null(fp);
    while (fscanf(fp, "record %d\n", &number) == 1) {
        assert_int_equal(number, next);
        next++;
    }
    assert_true(feof(fp));
    fclose(fp);
    assert_int_equal(next, n);
}

static int
CountMappings(void)
{
    NsRingKey key = {directory, directory, NULL};
    char    **paths;
    int       n = NsRingList(&key, &paths);

    for (int i = 0; i < n; i++) {
        ns_free(paths[i]);
    }
    ns_free(paths);
    return n;
}

static void
LogAndDieUnwritten(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);

    /* The log threads have not started: nothing is written. */
    Put(stream, 0, NRECORDS);
    kill(getpid(), SIGKILL);
}

static void
AllThatWasHandedOverIsWritten(void **state)
{
    assert_true(WIFSIGNALED(InChild(LogAndDieUnwritten)));
    assert_int_equal(CountMappings(), 1);
    assert_int_equal(InChild(StartAndStop), 0);
    CheckFile(NRECORDS + 1);
    assert_int_equal(CountMappings(), 0);
}

static void
LogAndDieWhileWriting(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(1000, &sink);

    NsLogStart();
    Put(stream, 0, NRECORDS);
    kill(getpid(), SIGKILL);
}

static void
NothingIsWrittenTwice(void **state)
{
    for (int i = 0; i < 20; i++) {
        assert_true(WIFSIGNALED(InChild(LogAndDieWhileWriting)));
        assert_int_equal(InChild(StartAndStop), 0);
        CheckFile(NRECORDS + 1);
        unlink(file);
    }
}

static void
Prepare(Ns_LogStream stream, int number, size_t length)
{
    Record       record = {number, 0};
    char         filler[10000] = "";
    struct iovec pieces[2] = {{&record, sizeof(record)}, {filler, length}};

    assert_int_equal(Ns_LogStreamPrepare(stream, Notice, pieces, 2), NS_OK);
}

/*
 * Each record is announced by one that must not count: short, longer than what
 * replaces it, and too long for a segment.
 */
static void
ReplaceAndDie(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);

    for (int i = 0; i < NRECORDS; i++) {
        Prepare(stream, 1000000 + i, i % 300 == 0 ? 1500 : 0);
        Put(stream, i, i + 1);
    }
    kill(getpid(), SIGKILL);
}

static void
PrepareAndDie(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);

    for (int i = 0; i < NRECORDS - 1; i++) {
        Prepare(stream, 1000000 + i, 0);
        Put(stream, i, i + 1);
    }
    Prepare(stream, 2000000, 100);
    Prepare(stream, NRECORDS - 1, 0);
    kill(getpid(), SIGKILL);
}

static void
PrepareLongAndDie(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);

    for (int i = 0; i < NRECORDS - 1; i++) {
        if (i % 1000 == 0) {
            /* It counts already; what would replace it does not. */
            Prepare(stream, i, 10000);
            Put(stream, 1000000, 1000001);
        } else {
            Put(stream, i, i + 1);
        }
    }
    Prepare(stream, NRECORDS - 1, 10000);
    kill(getpid(), SIGKILL);
}

static void
ForgetAndDie(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);

    for (int i = 0; i < NRECORDS; i++) {
        Prepare(stream, 1000000 + i, 0);
        Ns_LogStreamForget(stream);
        Put(stream, i, i + 1);
    }
    Prepare(stream, 1000000, 0);
    Ns_LogStreamForget(stream);
    kill(getpid(), SIGKILL);
}

/*
 * Prepared records of a process that dies while its log threads write.
 */
static void
PrepareWhileWritingAndDie(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(1000, &sink);

    NsLogStart();
    for (int i = 0; i < NRECORDS - 1; i++) {
        Prepare(stream, 1000000 + i, 0);
        Put(stream, i, i + 1);
    }
    Prepare(stream, NRECORDS - 1, 0);
    kill(getpid(), SIGKILL);
}

/*
 * What replaces a prepared record is made of it, but for its number.
 */
static void
CorrectAndDie(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);
    size_t       length;

    assert_null(Ns_LogStreamPrepared(stream, &length));
    for (int i = 0; i < NRECORDS; i++) {
        const char  *bytes;
        struct iovec pieces[2] = {{&i, sizeof(i)}};

        Prepare(stream, 1000000 + i, i % 300 == 0 ? 1500 : 0);
        bytes = Ns_LogStreamPrepared(stream, &length);
        assert_int_equal(length, sizeof(Record) + (i % 300 == 0 ? 1500 : 0));
        pieces[1] = (struct iovec){
            (char *) bytes + sizeof(i), length - sizeof(i)};
        assert_int_equal(Ns_LogStreamPut(stream, Notice, pieces, 2), NS_OK);
        assert_null(Ns_LogStreamPrepared(stream, &length));
    }
    Prepare(stream, 1000000, 0);
    Ns_LogStreamForget(stream);
    assert_null(Ns_LogStreamPrepared(stream, &length));
    kill(getpid(), SIGKILL);
}

static void
APreparedRecordCountsUnlessReplaced(void **state)
{
    static void (*const deaths[])(void) = {
        ReplaceAndDie,
        PrepareAndDie,
        PrepareLongAndDie,
        ForgetAndDie,
        PrepareWhileWritingAndDie,
        CorrectAndDie};

    for (size_t i = 0; i < Ns_NrElements(deaths); i++) {
        assert_true(WIFSIGNALED(InChild(deaths[i])));
        assert_int_equal(InChild(StartAndStop), 0);
        CheckFile(NRECORDS + 1);
        unlink(file);
    }
}

/*
 * What is in the file behind the place where a write was to begin.
 */
static const char *content;

/*
 * Let the mapping say that the sink writes the next records of a stream, to the
 * end of its file.  Its slot, writable.
 */
static NsRingSink *
BeginWrite(const char *sink, const char *stream, int nRecords, const char *path)
{
    NsRing       *ringPtr;
    NsRingSink   *slotPtr = NULL;
    NsRingCursor *cursorPtr;
    int           slot = 0;
    const char   *reason;
    char        **paths, *base;
    NsRingKey     key = {directory, directory, NULL};
    struct stat   st;
    NsPlace       place = {.lane = 0};

    /* A second mapping of the same memory, to write to it. */
    assert_int_equal(NsRingList(&key, &paths), 1);
    ringPtr = NsRingOpen(paths[0], true, &reason);
    assert_non_null(ringPtr);
    base = mmap(NULL, ringPtr->headerPtr->bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED, open(paths[0], O_RDWR), 0);
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        NsRingSink *otherPtr = NsRingSinkAt(ringPtr, i);

        if (STREQ(otherPtr->name, sink)) {
            slot = i;
            slotPtr =
                (NsRingSink *) (void *) (base
                                         + ((char *) otherPtr
                                            - (char *) ringPtr->headerPtr));
        }
    }
    assert_non_null(slotPtr);
    while (!STREQ(NsRingStreamOf(ringPtr, place.lane), stream)) {
        place.lane++;
    }
    cursorPtr = (void *) (base
                          + ((char *) NsRingCursorOf(ringPtr, place.lane,
                                                     ringPtr->sinks + slot)
                             - (char *) ringPtr->headerPtr));
    assert_true(NsPlaceOpen(ringPtr, &place, atomic_load(&cursorPtr->done)));
    for (int i = 0; i < nRecords; i++) {
        assert_non_null(NsPlaceHead(ringPtr, &place));
        NsPlaceAdvance(ringPtr, &place);
    }
    atomic_store(&cursorPtr->ahead, NsPlacePosition(&place));
    assert_int_equal(stat(path, &st), 0);
    slotPtr->offset = (uint64_t) st.st_size;
    slotPtr->inode = (uint64_t) st.st_ino;
    atomic_store(&slotPtr->intent, NS_RING_WRITING);
    return slotPtr;
}

static void
DieAfter(const char *bytes, size_t length)
{
    int fd = open(file, O_WRONLY | O_APPEND);

    assert_int_equal(write(fd, bytes, length), length);
    kill(getpid(), SIGKILL);
}

/*
 * Die as if in the middle of a write of record 0.
 */
static void
DieInsideWrite(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);
    const char  *line = "record 0\n";
    NsRingSink  *slotPtr;

    Put(stream, 0, 1);
    slotPtr = BeginWrite("test", "test", 1, file);
    slotPtr->length = strlen(line);
    slotPtr->checksum = (uint32_t) NsRingSum(0, line, strlen(line));
    DieAfter(content, strlen(content));
}

static void
StartAndStopAfterOne(void)
{
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(65536, &sink);

    NsLogStart();
    Put(stream, 1, 2);
    NsLogStop();
    NsLogFinish();
}

static void
CheckText(const char *expected)
{
    char  text[1024];
    FILE *fp = fopen(file, "r");

    assert_non_null(fp);
    text[fread(text, 1, sizeof(text) - 1, fp)] = '\0';
    fclose(fp);
    assert_string_equal(text, expected);
}

/*
 * Others append to the file, before, between and behind.
 */
static void
TheFileTellsHowFarAWriteGot(void **state)
{
    static const struct {
        const char *content;
        const char *expected;
    } cases[] = {
        {"", "record 0\n"},
        {"r", "record 0\n"},
        {"reco", "record 0\n"},
        {"record 0", "record 0\n"},
        {"record 0\n", "record 0\n"},
        {"other\n", "other\nrecord 0\n"},
        {"another line\n", "another line\nrecord 0\n"},
        {"other\nreco", "other\nrecord 0\n"},
        {"other\nrecord 0\n", "other\nrecord 0\n"},
        {"record 0\nother\n", "record 0\nother\n"},
        {"other\nrecord 0\nother\n", "other\nrecord 0\nother\n"},
        {"recother\n", "recother\nrecord 0\n"},
        {"recother", "recother\nrecord 0\n"},
        {"oth", "oth\nrecord 0\n"},
        {"reco\nrecord", "reco\nrecord 0\n"},
        {"other 1\nother 2\nother 3\nother 4\n",
         "other 1\nother 2\nother 3\nother 4\nrecord 0\n"},
        {"record 00\n", "record 00\nrecord 0\n"},
        {"a record 0\n", "a record 0\nrecord 0\n"}};

    for (size_t i = 0; i < Ns_NrElements(cases); i++) {
        char expected[128];
        int  status;

        content = cases[i].content;
        status = InChild(DieInsideWrite);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGKILL);
        assert_int_equal(InChild(StartAndStopAfterOne), 0);
        snprintf(expected, sizeof(expected), "%srecord 1\n", cases[i].expected);
        CheckText(expected);
        unlink(file);
    }
}

/*
 * Lines of entries that count from the start of their process, and from the
 * entry before.
 */
static void
StartSystem(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/nsd.log", directory);
    NsLogInit();
    ConfigureLog(directory, path, true, memoryBytes);
    nsLogStyle.showsSpan = nsLogStyle.isRelative = nsLogStyle.usec = true;
    (void) Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "entries",
        .stream = nsSystemStream,
        .file = file,
        .bufferBytes = 65536});
}

static size_t nWritten; /* Bytes of the lines that reach the file. */

#define FIRST_LINE "[100.500000+0.250000][7.1][t] Notice: one\n"
static const char bothLines[] = FIRST_LINE
    "[102.000000+1.500000][7.1][t] Notice: two\n";

static void
DieWritingEntries(void)
{
    const int64_t start = INT64_C(1700000000000000000);
    NsLogEntry    entry = {
           .time = start + INT64_C(100500000000),
           .severity = Notice,
           .severityName = "Notice",
           .pid = 7,
           .thread = 1,
           .threadName = "t",
           .message = "one",
           .messageLength = 3};
    NsRingSink *slotPtr;

    nsLogStyle.start = start;
    StartSystem();
    NsSystemLogWrite(&entry);
    entry.time += INT64_C(1500000000);
    entry.message = "two";
    NsSystemLogWrite(&entry);
    slotPtr = BeginWrite("entries", "system", 2, file);
    slotPtr->start = start;
    slotPtr->previous = start + INT64_C(100250000000);
    slotPtr->length = strlen(bothLines);
    slotPtr->checksum = (uint32_t) NsRingSum(0, bothLines, strlen(bothLines));
    DieAfter(bothLines, nWritten);
}

static void
StartAndStopSystem(void)
{
    StartSystem();
    NsLogStart();
    NsLogStop();
    NsLogFinish();
}

static void
LinesWithTimesSinceOthersAreFound(void **state)
{
    static const size_t ends[] = {
        1,
        20,
        sizeof(FIRST_LINE) - 2,
        sizeof(FIRST_LINE) - 1,
        sizeof(FIRST_LINE) + 12,
        sizeof(bothLines) - 2,
        sizeof(bothLines) - 1};

    for (size_t i = 0; i < Ns_NrElements(ends); i++) {
        char  text[8192];
        FILE *fp;

        nWritten = ends[i];
        assert_true(WIFSIGNALED(InChild(DieWritingEntries)));
        assert_int_equal(InChild(StartAndStopSystem), 0);
        fp = fopen(file, "r");
        assert_non_null(fp);
        text[fread(text, 1, sizeof(text) - 1, fp)] = '\0';
        fclose(fp);
        assert_memory_equal(text, bothLines, sizeof(bothLines) - 1);
        assert_null(strstr(text + sizeof(bothLines) - 1, ": one\n"));
        assert_null(strstr(text + sizeof(bothLines) - 1, ": two\n"));
        unlink(file);
    }
}

/*
 * A sink that takes every second unit.
 */
static Ns_LogSink
StartSampling(void)
{
    static const char *const streams[] = {"operation"};
    char                     path[128];
    NsSinkSpec               spec = {.name = "units",
                                     .type = "file",
                                     .streams = streams,
                                     .nStreams = 1,
                                     .file = file,
                                     .settings = nsSinkDefaults};

    snprintf(path, sizeof(path), "%s/nsd.log", directory);
    NsLogInit();
    ConfigureLog(directory, path, true, NS_LOG_MEMORY_MIN);
    spec.settings.sample = 2;
    return NsSinkCreate(&spec);
}

static void
PutUnits(int from, int to)
{
    for (int i = from; i < to; i++) {
        char line[32];

        NsUnitBegin();
        NsUnitEnd(&(Ns_Access){
            .line = line,
            .lineLength = (size_t) snprintf(line, sizeof(line), "unit %d", i),
            .stage = NS_ACCESS_FINISHED});
    }
}

#define NUNITS 60

/*
 * The second write ends in the middle, and another one is an error.
 */
static void
SampleAndDieWhileWriting(void)
{
    Ns_LogSink    sink = StartSampling();
    struct rlimit limit = {0, 0};
    struct stat   st;

    setrlimit(RLIMIT_CORE, &limit);
    NsLogStart();
    PutUnits(0, 3);
    (void) NsSinkSync(sink);
    if (stat(file, &st) != 0 || st.st_size == 0) {
        _exit(3);
    }
    limit.rlim_cur = limit.rlim_max = (rlim_t) (st.st_size + 10 * st.st_size);
    setrlimit(RLIMIT_FSIZE, &limit);
    PutUnits(3, NUNITS);
    (void) NsSinkSync(sink);
}

static void
SampleAndStop(void)
{
    (void) StartSampling();
    NsLogStart();
    NsLogStop();
    NsLogFinish();
}

static void
AThinnedOutStreamHasNoRecordTwice(void **state)
{
    int   counts[NUNITS] = {0}, status = InChild(SampleAndDieWhileWriting);
    int   nLines = 0;
    char  line[4096];
    FILE *fp;

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXFSZ);
    assert_int_equal(InChild(SampleAndStop), 0);
    fp = fopen(file, "r");
    assert_non_null(fp);
    while (fgets(line, sizeof(line), fp) != NULL) {
        const char *unit = strstr(line, "unit ");
        int         number;

        assert_non_null(unit);
        number = atoi(unit + 5);
        assert_in_range(number, 0, NUNITS - 1);
        counts[number]++;
        nLines++;
    }
    fclose(fp);
    for (int i = 0; i < NUNITS; i++) {
        assert_true(counts[i] <= 1);
    }
    assert_true(nLines >= NUNITS / 3);
}

static void
KeepRecoveringAndDie(void)
{
    Ns_LogSink sink;

    (void) Start(65536, &sink);
    NsLogStart();
    (void) Ns_LogSinkFlush(sink);
    kill(getpid(), SIGKILL);
}

static void
ARecoveryThatIsKilledIsContinued(void **state)
{
    content = "other\nreco";
    assert_true(WIFSIGNALED(InChild(DieInsideWrite)));
    for (int i = 0; i < 3; i++) {
        assert_true(WIFSIGNALED(InChild(KeepRecoveringAndDie)));
    }
    assert_int_equal(InChild(StartAndStopAfterOne), 0);
    CheckText("other\nrecord 0\nrecord 1\n");
    assert_int_equal(CountMappings(), 0);
}

/*
 * The log was renamed before the next start, as rotators do.
 */
static void
AFileThatWasRenamedStillTells(void **state)
{
    char backup[160];

    snprintf(backup, sizeof(backup), "%s.1", file);
    content = "record 0\n";
    assert_true(WIFSIGNALED(InChild(DieInsideWrite)));
    assert_int_equal(rename(file, backup), 0);
    assert_int_equal(InChild(StartAndStopAfterOne), 0);
    CheckText("record 1\n");
}

static void
StartWithoutStream(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/nsd.log", directory);
    NsLogInit();
    ConfigureLog(directory, path, true, NS_LOG_MEMORY_MIN);
    if (NsSinkCreate(&(NsSinkSpec){.name = "test",
                                   .type = "file",
                                   .file = file,
                                   .settings = nsSinkDefaults})
        == NULL) {
        _exit(2);
    }
    NsLogStart();
    NsLogStop();
    NsLogFinish();
}

static void
RecordsOfAnUnknownStreamWaitForIt(void **state)
{
    assert_true(WIFSIGNALED(InChild(LogAndDieUnwritten)));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(InChild(StartWithoutStream), 0);
        assert_int_equal(CountMappings(), 1);
    }
    assert_int_equal(InChild(StartAndStop), 0);
    CheckFile(NRECORDS + 1);
    assert_int_equal(CountMappings(), 0);
}

/*
 * The same with a database: rows and positions are one transaction.
 */
static Ns_LogStream
StartDatabase(void)
{
    static const char *const streams[] = {"test"};
    char                     path[128], database[128];
    Ns_LogStream             stream;
    NsSinkSpec               spec = {
                      .name = "rows",
                      .type = "sqlite",
                      .streams = streams,
                      .nStreams = 1,
                      .file = database,
                      .table = "rows",
                      .settings = nsSinkDefaults};

    snprintf(path, sizeof(path), "%s/nsd.log", directory);
    snprintf(database, sizeof(database), "%s/rows.db", directory);
    NsLogInit();
    NsSinkModuleInit();
    ConfigureLog(directory, path, true, NS_LOG_MEMORY_MIN);
    stream = Ns_LogStreamCreate("test", Format, NULL);
    spec.settings.bufferBytes = 2000;
    if (NsSinkCreate(&spec) == NULL) {
        _exit(2);
    }
    NsLogStart();
    return stream;
}

static int killAfterUsec;

static void
InsertAndDie(void)
{
    Ns_LogStream   stream = StartDatabase();
    struct timeval pause = {0, killAfterUsec};

    Put(stream, 0, 1000);
    select(0, NULL, NULL, NULL, &pause);
    kill(getpid(), SIGKILL);
}

static void
InsertAndStop(void)
{
    Put(StartDatabase(), 1000, 1001);
    NsLogStop();
    NsLogFinish();
}

static void
RowsAreInsertedOnce(void **state)
{
    for (int i = 0; i < 10; i++) {
        char          database[128], command[256];
        sqlite3      *handle;
        sqlite3_stmt *statement;

        snprintf(database, sizeof(database), "%s/rows.db", directory);
        killAfterUsec = i * 3000;
        assert_true(WIFSIGNALED(InChild(InsertAndDie)));
        assert_int_equal(InChild(InsertAndStop), 0);

        assert_int_equal(sqlite3_open(database, &handle), SQLITE_OK);
        assert_int_equal(
            sqlite3_prepare_v2(
                handle,
                "SELECT count(*), count(DISTINCT record), max(record) "
                "FROM rows",
                -1, &statement, NULL),
            SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(statement, 0), 1001);
        assert_int_equal(sqlite3_column_int(statement, 1), 1001);
        assert_string_equal(sqlite3_column_text(statement, 2), "record 999");
        sqlite3_finalize(statement);
        sqlite3_close(handle);
        snprintf(command, sizeof(command), "rm -f %s*", database);
        assert_int_equal(system(command), 0);
    }
}

static void
DamagedMappingsAreRefused(void **state)
{
    const char *reason;
    char        path[128];
    NsRingKey   key = {directory, directory, NULL};
    NsRing     *ringPtr = NsRingCreate(&key,
                                       &(NsRingNeed){.bytes = NS_LOG_MEMORY_MIN,
                                                     .nStreams = 4,
                                                     .nSinks = 4,
                                                     .nReaders = 4},
                                       &reason);
    int         fd;

    assert_null(reason);
    strcpy(path, ringPtr->path);
    ringPtr->headerPtr->nSegments++;
    NsRingClose(&ringPtr, false);
    assert_null(NsRingOpen(path, false, &reason));
    assert_string_equal(reason, "damaged header");

    assert_int_equal(chmod(path, 0644), 0);
    assert_null(NsRingOpen(path, false, &reason));
    assert_string_equal(reason, "others may access it");
    assert_int_equal(chmod(path, 0600), 0);

    assert_int_equal(truncate(path, 100), 0);
    assert_null(NsRingOpen(path, false, &reason));
    assert_string_equal(reason, "too short");

    fd = open(path, O_WRONLY | O_TRUNC);
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(write(fd, "nonsense", 8), 8);
    }
    close(fd);
    assert_null(NsRingOpen(path, false, &reason));
    assert_string_equal(reason, "not a log mapping");
    /* And the server starts all the same. */
    assert_int_equal(InChild(StartAndStop), 0);
    unlink(path);
    unlink(file);
}

#define NTHREADS 3
#define NEACH    200

static Ns_LogStream      threadStream;
static pthread_barrier_t barrier;

static void *
PutFrom(void *arg)
{
    int from = *(int *) arg;

    Put(threadStream, from, from + NEACH);
    /* None ends before all have a lane of their own. */
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void
LogFromThreadsAndDie(void)
{
    Ns_LogSink sink;
    pthread_t  threads[NTHREADS];
    int        from[NTHREADS];

    threadStream = Start(65536, &sink);
    pthread_barrier_init(&barrier, NULL, NTHREADS);
    for (int i = 0; i < NTHREADS; i++) {
        from[i] = i * NEACH;
        pthread_create(&threads[i], NULL, PutFrom, &from[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    kill(getpid(), SIGKILL);
}

/*
 * How many records of each thread the file has.
 */
static void
CountByThread(int counts[NTHREADS])
{
    FILE *fp = fopen(file, "r");
    int   number;

    memset(counts, 0, NTHREADS * sizeof(int));
    assert_non_null(fp);
    while (fscanf(fp, "record %d\n", &number) == 1) {
        if (number < NTHREADS * NEACH) {
            counts[number / NEACH]++;
        }
    }
    fclose(fp);
}

static bool
SystemLogHas(const char *text)
{
    char  line[1024], path[128];
    bool  isThere = false;
    FILE *fp;

    snprintf(path, sizeof(path), "%s/nsd.log", directory);
    fp = fopen(path, "r");
    assert_non_null(fp);
    while (fgets(line, sizeof(line), fp) != NULL) {
        isThere |= strstr(line, text) != NULL;
    }
    fclose(fp);
    return isThere;
}

static void
ADamagedSegmentCostsNoMoreThanItsLane(void **state)
{
    static const size_t fields[] = {
        offsetof(NsRingSegment, committed), offsetof(NsRingSegment, next),
        offsetof(NsRingSegment, lane), offsetof(NsRingSegment, number),
        offsetof(NsRingSegment, epoch)};

    for (size_t i = 0; i < Ns_NrElements(fields); i++) {
        NsRingKey   key = {directory, directory, NULL};
        char        log[128], **paths;
        const char *reason;
        NsRing     *ringPtr;
        uint32_t    lane = 0, bad = 0x7ffffff0;
        int         counts[NTHREADS], nWhole = 0, n = 0;
        char       *segment;

        assert_true(WIFSIGNALED(InChild(LogFromThreadsAndDie)));
        assert_int_equal(NsRingList(&key, &paths), 1);
        ringPtr = NsRingOpen(paths[0], false, &reason);
        assert_non_null(ringPtr);
        while (!STREQ(NsRingStreamOf(ringPtr, lane), "test")) {
            lane++;
        }
        segment = (char *)
            NsRingSegmentAt(ringPtr, atomic_load(&ringPtr->lanes[lane].first));
        memcpy(segment + fields[i], &bad, sizeof(bad));
        NsRingClose(&ringPtr, false);
        ns_free(paths[0]);
        ns_free(paths);

        assert_int_equal(InChild(StartAndStop), 0);
        CountByThread(counts);
        for (int j = 0; j < NTHREADS; j++) {
            nWhole += counts[j] == NEACH;
            n += counts[j];
        }
        assert_int_equal(nWhole, NTHREADS - 1);
        if (fields[i] == offsetof(NsRingSegment, committed)) {
            /* What is behind that segment is read. */
            assert_true(n > (NTHREADS - 1) * NEACH);
        }
        assert_true(SystemLogHas("is damaged: 1 of its parts"));
        assert_int_equal(CountMappings(), 0);
        snprintf(log, sizeof(log), "%s/nsd.log", directory);
        unlink(log);
        unlink(file);
    }
}

#define NMOVED 30000

static atomic_int nPutting;

static void *
PutMany(void *arg)
{
    int from = *(int *) arg;

    pthread_barrier_wait(&barrier);
    Put(threadStream, from, from + NMOVED);
    atomic_fetch_sub(&nPutting, 1);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void
DeleteMappingsAndDie(void)
{
    Ns_LogSink sink;
    pthread_t  threads[NTHREADS];
    int        from[NTHREADS], nMoves = 0;

    memoryBytes = 8 << 20;
    threadStream = Start(65536, &sink);
    pthread_barrier_init(&barrier, NULL, NTHREADS + 1);
    atomic_store(&nPutting, NTHREADS);
    for (int i = 0; i < NTHREADS; i++) {
        from[i] = i * NMOVED;
        pthread_create(&threads[i], NULL, PutMany, &from[i]);
    }
    pthread_barrier_wait(&barrier);
    do {
        assert_int_equal(unlink(NsSinkRingPath()), 0);
        NsSinkWatchRing();
        assert_int_equal(access(NsSinkRingPath(), F_OK), 0);
    } while (atomic_load(&nPutting) > 0 && ++nMoves < 50);
    pthread_barrier_wait(&barrier);
    kill(getpid(), SIGKILL);
}

static void
AMappingThatIsDeletedGetsANewFileUnderLoad(void **state)
{
    bool *isThere = calloc(NTHREADS * NMOVED, sizeof(bool));
    FILE *fp;
    int   number, status = InChild(DeleteMappingsAndDie);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(CountMappings(), 1);
    assert_int_equal(InChild(StartAndStopAfterOne), 0);
    fp = fopen(file, "r");
    assert_non_null(fp);
    for (int i = 0; i < NTHREADS * NMOVED; i++) {
        assert_int_equal(fscanf(fp, "record %d\n", &number), 1);
        assert_in_range(number, 0, NTHREADS * NMOVED - 1);
        assert_false(isThere[number]);
        isThere[number] = true;
    }
    fclose(fp);
    free(isThere);
    assert_true(SystemLogHas("was deleted by someone else; from now on it is"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(AllThatWasHandedOverIsWritten, SetUp,
                                        TearDown),
        cmocka_unit_test_setup_teardown(NothingIsWrittenTwice, SetUp, TearDown),
        cmocka_unit_test_setup_teardown(AThinnedOutStreamHasNoRecordTwice,
                                        SetUp, TearDown),
        cmocka_unit_test_setup_teardown(APreparedRecordCountsUnlessReplaced,
                                        SetUp, TearDown),
        cmocka_unit_test_setup_teardown(TheFileTellsHowFarAWriteGot, SetUp,
                                        TearDown),
        cmocka_unit_test_setup_teardown(LinesWithTimesSinceOthersAreFound,
                                        SetUp, TearDown),
        cmocka_unit_test_setup_teardown(ARecoveryThatIsKilledIsContinued, SetUp,
                                        TearDown),
        cmocka_unit_test_setup_teardown(AFileThatWasRenamedStillTells, SetUp,
                                        TearDown),
        cmocka_unit_test_setup_teardown(RecordsOfAnUnknownStreamWaitForIt,
                                        SetUp, TearDown),
        cmocka_unit_test_setup_teardown(RowsAreInsertedOnce, SetUp, TearDown),
        cmocka_unit_test_setup_teardown(DamagedMappingsAreRefused, SetUp,
                                        TearDown),
        cmocka_unit_test_setup_teardown(ADamagedSegmentCostsNoMoreThanItsLane,
                                        SetUp, TearDown),
        cmocka_unit_test_setup_teardown(
            AMappingThatIsDeletedGetsANewFileUnderLoad, SetUp, TearDown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

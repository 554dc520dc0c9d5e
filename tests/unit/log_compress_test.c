/* SPDX-License-Identifier: MPL-2.0
 * log_compress_test.c --
 *
 *      Backups of one log, compressed in the background.
 *
 *      1  what becomes of a backup     2  what a dead process left
 *      3  what is left alone           4  the stop
 */

#include "unit.h"

#include <sys/resource.h>
#include <zlib.h>

#include "base/clock.h"
#include "log/init.h"
#include "log/stream/severity.h"
#include "log/target/compress.h"
#include "ns.h"

#define SPARSE_BYTES ((off_t) 192 << 20) /* Half a second of work. */
#define DONE_TIME    7
#define NO_INODE     ((ino_t) UINT64_MAX)

static char directory[64];

/*
 * Those of the test that runs: the log, open, and its backups.
 */
static NsBacklog *backlogPtr;
static char       logFile[128];
static int        fd;

static int
SetUpGroup(void **state)
{
    strcpy(directory, "/tmp/log_compress_test.XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    NsLogInit();
    NsCompressStart();
    return 0;
}

static int
TearDownGroup(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

/*
 * The name of the log with something behind; valid until a few calls later.
 */
static const char *
With(const char *suffix)
{
    static char path[4][192];
    static int  next;
    char       *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s%s", logFile, suffix);
    return p;
}

/*
 * Where the work on an inode is noted.
 */
static const char *
Request(ino_t inode)
{
    static char path[192];

    snprintf(path, sizeof(path), "%s/.%s.gz-%" PRIu64, directory,
             logFile + strlen(directory) + 1, (uint64_t) inode);
    return path;
}

static ino_t
InodeOf(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static bool
Exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void
Write(const char *path, const char *text)
{
    FILE *fp = fopen(path, "w");

    assert_non_null(fp);
    fputs(text, fp);
    fclose(fp);
}

static void
AssertUnzipped(const char *path, const char *text)
{
    char   buffer[256];
    gzFile file = gzopen(path, "r");
    int    n;

    assert_non_null(file);
    n = gzread(file, buffer, sizeof(buffer) - 1);
    assert_true(n >= 0);
    buffer[n] = '\0';
    assert_string_equal(buffer, text);
    gzclose(file);
}

static void
Await(const char *path, bool isThere)
{
    NsStamp deadline = NsClockNow() + 120 * NS_STAMP_SECOND;

    while (Exists(path) != isThere && NsClockNow() < deadline) {
        usleep(1000);
    }
    assert_int_equal(Exists(path), isThere);
}

/*
 * A log of its own for each test.
 */
static int
SetUp(void **state)
{
    static NsBacklog *backlogs[16]; /* They live as long as the process. */
    static int        number;

    snprintf(logFile, sizeof(logFile), "%s/%d.log", directory, number);
    fd = open(logFile, O_RDWR | O_CREAT | O_APPEND, 0640);
    backlogPtr = backlogs[number++] = NsBacklogCreate();
    return fd >= 0 ? 0 : -1;
}

static int
TearDown(void **state)
{
    close(fd);
    return 0;
}

static void
Put(const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/*
 * Make the log a backup and open a new one, or leave that out: then the backup
 * is written to until the next time.
 */
static void
Roll(const char *suffix, bool isReopened)
{
    NsBacklogBegin(backlogPtr);
    NsBacklogAsk(backlogPtr, logFile, fd);
    assert_int_equal(rename(logFile, With(suffix)), 0);
    if (isReopened) {
        close(fd);
        fd = open(logFile, O_RDWR | O_CREAT | O_APPEND, 0640);
        assert_true(fd >= 0);
    }
    NsBacklogEnd(backlogPtr, logFile, fd);
}

static void
LookForWork(void)
{
    NsBacklogBegin(backlogPtr);
    NsBacklogEnd(backlogPtr, logFile, fd);
}

/*
 * Wait until all there is to do has been looked at: that is so when the thread
 * has come for the second time to work that it drops.
 */
static void
Settle(void)
{
    for (int i = 0; i < 2; i++) {
        Write(Request(NO_INODE), "");
        LookForWork();
        Await(Request(NO_INODE), false);
    }
}

static bool
HasBytes(const struct stat *stPtr)
{
    return stPtr->st_size > 0;
}

static bool
IsEmpty(const struct stat *stPtr)
{
    return stPtr->st_size == 0;
}

/*
 * The result gets the time of the backup when all of it has been written.
 */
static bool
IsDone(const struct stat *stPtr)
{
    return stPtr->st_mtime == DONE_TIME;
}

static void
AwaitRequest(ino_t inode, bool (*test)(const struct stat *stPtr))
{
    NsStamp     deadline = NsClockNow() + 120 * NS_STAMP_SECOND;
    struct stat st;

    do {
        usleep(1000);
        assert_int_equal(stat(Request(inode), &st), 0);
    } while (!test(&st) && NsClockNow() < deadline);
    assert_true(test(&st));
}

static void
ABackupKeepsItsBytesModeAndTime(void **state)
{
    struct timespec times[] = {{1000000000, 5000}, {1000000000, 123456000}};
    struct stat     st;
    ino_t           inode = InodeOf(logFile);

    Put("one\ntwo\n");
    assert_int_equal(fchmod(fd, 0604), 0);
    assert_int_equal(futimens(fd, times), 0);
    Roll(".000", true);
    Await(With(".000"), false);
    AssertUnzipped(With(".000.gz"), "one\ntwo\n");
    assert_int_equal(stat(With(".000.gz"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    assert_int_equal(st.st_mtim.tv_sec, times[1].tv_sec);
    assert_int_equal(st.st_mtim.tv_nsec, times[1].tv_nsec);
    assert_false(Exists(Request(inode)));
}

static void
AnEmptyBackupIsCompressedToo(void **state)
{
    Roll(".000", true);
    Await(With(".000"), false);
    AssertUnzipped(With(".000.gz"), "");
}

static void
TheResultIsNamedAsTheBackupIsByThen(void **state)
{
    ino_t inode = InodeOf(logFile);

    assert_int_equal(ftruncate(fd, SPARSE_BYTES), 0);
    Roll(".000", true);
    AwaitRequest(inode, HasBytes);
    NsBacklogBegin(backlogPtr);
    assert_int_equal(rename(With(".000"), With(".001")), 0);
    NsBacklogEnd(backlogPtr, logFile, fd);
    Await(With(".001"), false);
    assert_true(Exists(With(".001.gz")));
    assert_false(Exists(With(".000.gz")));
}

static void
ABackupThatGoesMeanwhileTakesItsResultWithIt(void **state)
{
    ino_t inode = InodeOf(logFile);

    assert_int_equal(ftruncate(fd, SPARSE_BYTES), 0);
    Roll(".000", true);
    AwaitRequest(inode, HasBytes);
    NsBacklogBegin(backlogPtr);
    assert_int_equal(unlink(With(".000")), 0);
    NsBacklogEnd(backlogPtr, logFile, fd);
    Await(Request(inode), false);
    assert_false(Exists(With(".000.gz")));
}

/*
 * The lock is taken while the work is under way, so it cannot be completed.
 */
static void
ABackupThatGrowsMeanwhileIsCompressedAnew(void **state)
{
    ino_t inode = InodeOf(logFile);

    assert_int_equal(ftruncate(fd, SPARSE_BYTES), 0);
    assert_int_equal(futimens(fd,
                              (struct timespec[]){{DONE_TIME, 0},
                                                  {DONE_TIME, 0}}),
                     0);
    Roll(".000", true);
    AwaitRequest(inode, HasBytes);
    NsBacklogBegin(backlogPtr);
    AwaitRequest(inode, IsDone);
    Write(With(".000"), "late\n");
    NsBacklogEnd(backlogPtr, logFile, fd);
    Await(With(".000"), false);
    AssertUnzipped(With(".000.gz"), "late\n");
}

static void
WorkThatIsHalfDoneIsDoneAgain(void **state)
{
    Write(With(".002"), "left\n");
    Write(Request(InodeOf(With(".002"))), "half of it, and not gzip");
    LookForWork();
    Await(With(".002"), false);
    AssertUnzipped(With(".002.gz"), "left\n");
}

static void
WorkOnABackupThatIsGoneIsForgotten(void **state)
{
    Write(Request(NO_INODE), "half of it");
    LookForWork();
    Await(Request(NO_INODE), false);
}

static void
AnOriginalBesideItsResultIsRemoved(void **state)
{
    static const char *const names[] = {".000", ".000.gz", ".001.gz", ".001"};
    const struct timespec    times[] = {{9, 0}, {9, 1}};
    const struct timespec    others[] = {{9, 0}, {9, 2}};

    for (int i = 0; i < 4; i++) {
        Write(With(names[i]), names[i]);
        assert_int_equal(utimensat(AT_FDCWD, With(names[i]),
                                   i < 3 ? times : others, 0),
                         0);
    }
    Settle();
    assert_false(Exists(With(".000")));
    assert_true(Exists(With(".000.gz")));
    assert_true(Exists(With(".001")));
    assert_true(Exists(With(".001.gz")));
}

static void
ABackupThatIsStillWrittenToWaitsForTheNextRoll(void **state)
{
    ino_t inode = InodeOf(logFile);

    Put("one\n");
    Roll(".000", false);
    Settle();
    assert_true(Exists(With(".000")));
    assert_true(Exists(Request(inode)));

    Put("two\n");
    close(fd);
    fd = open(logFile, O_RDWR | O_CREAT | O_APPEND, 0640);
    LookForWork();
    Await(With(".000"), false);
    AssertUnzipped(With(".000.gz"), "one\ntwo\n");
}

/*
 * Beside the log, and known by its inode, but no file of its name.
 */
static void
WhatIsNoBackupOfTheLogIsLeftAlone(void **state)
{
    ino_t inode;

    Write(With("-other"), "other\n");
    inode = InodeOf(With("-other"));
    assert_int_equal(symlink(With("-other"), With(".000")), 0);
    Write(Request(inode), "");
    Settle();
    assert_true(Exists(With("-other")));
    assert_true(Exists(With(".000")));
    assert_false(Exists(With("-other.gz")));
    assert_false(Exists(With(".000.gz")));
    assert_false(Exists(Request(inode)));
}

static void
WithoutRoomTheBackupStaysUntilTheNextRoll(void **state)
{
    struct rlimit limit, none;
    struct stat   st;
    ino_t         inode = InodeOf(logFile);
    uint64_t      nErrors = NsSeverityEntries(Error);
    NsStamp       deadline = NsClockNow() + 120 * NS_STAMP_SECOND;

    Put("one\n");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    none = limit;
    none.rlim_cur = 1;
    setrlimit(RLIMIT_FSIZE, &none);
    Roll(".000", true);
    while (NsSeverityEntries(Error) == nErrors && NsClockNow() < deadline) {
        usleep(1000);
    }
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(NsSeverityEntries(Error), nErrors + 1);
    assert_true(Exists(With(".000")));
    assert_false(Exists(With(".000.gz")));
    assert_int_equal(stat(Request(inode), &st), 0);
    assert_int_equal(st.st_size, 0);

    LookForWork();
    Await(With(".000"), false);
    AssertUnzipped(With(".000.gz"), "one\n");
}

/*
 * The last test: there is no way back.
 */
static void
TheStopBreaksTheWorkOffAndLeavesTheBackup(void **state)
{
    struct stat st;
    ino_t       inode = InodeOf(logFile);

    assert_int_equal(ftruncate(fd, SPARSE_BYTES), 0);
    Roll(".000", true);
    AwaitRequest(inode, HasBytes);
    NsCompressStop();
    AwaitRequest(inode, IsEmpty);
    assert_int_equal(stat(With(".000"), &st), 0);
    assert_int_equal(st.st_size, SPARSE_BYTES);
    assert_false(Exists(With(".000.gz")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, SetUp, TearDown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ABackupKeepsItsBytesModeAndTime),
        TEST(AnEmptyBackupIsCompressedToo),
        TEST(TheResultIsNamedAsTheBackupIsByThen),
        TEST(ABackupThatGoesMeanwhileTakesItsResultWithIt),
        TEST(ABackupThatGrowsMeanwhileIsCompressedAnew),
        TEST(WorkThatIsHalfDoneIsDoneAgain),
        TEST(WorkOnABackupThatIsGoneIsForgotten),
        TEST(AnOriginalBesideItsResultIsRemoved),
        TEST(ABackupThatIsStillWrittenToWaitsForTheNextRoll),
        TEST(WhatIsNoBackupOfTheLogIsLeftAlone),
        TEST(WithoutRoomTheBackupStaysUntilTheNextRoll),
        TEST(TheStopBreaksTheWorkOffAndLeavesTheBackup)};

    return cmocka_run_group_tests(tests, SetUpGroup, TearDownGroup);
}

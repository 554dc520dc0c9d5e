/*
 * log_limits_test.c --
 *
 *      More sinks, streams or records than there can be.
 */

#include "unit.h"

#include <sys/wait.h>

#include "log/init.h"
#include "log/lane.h"
#include "log/ring.h"
#include "log/sink.h"
#include "log/stream.h"
#include "ns.h"

static char text[65536];

/*
 * The exit status of a child that runs proc; what it logs is in text.
 */
static int
InChild(void (*proc) (void))
{
    int     ends[2], status;
    size_t  n = 0;
    ssize_t got;
    pid_t   pid;

    assert_int_equal(pipe(ends), 0);
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
    return status;
}

static void
MakeStreams(void)
{
    int n = 0;

    while (NsStreamAt(n) != NULL) {
        n++;
    }
    for (int i = n; i <= NS_RING_STREAMS; i++) {
        char name[32];

        /* The last one is too many. */
        snprintf(name, sizeof(name), "stream%d", i);
        (void) Ns_LogStreamCreate(name, NULL, NULL);
        if (NsStreamFind(name) == NULL) {
            _exit(3);
        }
    }
}

static void
TheServerEndsWithTooManyStreams(void **state)
{
    int status = InChild(MakeStreams);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, "Fatal: log: cannot create stream "
                           "'stream256': there are 256 streams, and can be no "
                           "more\n"));
    assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
}

static void
MakeLongName(void)
{
    char name[NS_RING_NAME + 1];

    memset(name, 'x', NS_RING_NAME);
    name[NS_RING_NAME - 1] = '\0';
    (void) Ns_LogStreamCreate(name, NULL, NULL);
    name[NS_RING_NAME - 1] = 'x';
    name[NS_RING_NAME] = '\0';
    (void) Ns_LogStreamCreate(name, NULL, NULL);
}

static void
ANameOfAStreamIsLimited(void **state)
{
    int status = InChild(MakeLongName);

    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, ": a name has at most 127 bytes\n"));
}

/*
 * The system log is one of them.
 */
static void
MakeSinks(void)
{
    Ns_LogStream stream = Ns_LogStreamCreate("test", NULL, NULL);

    for (int i = 1; i <= NS_RING_SINKS; i++) {
        char       name[32];
        Ns_LogSink sink;

        snprintf(name, sizeof(name), "sink%d", i);
        sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
            .name = name, .stream = stream, .file = "/dev/null"
        });
        if ((sink != NULL) != (i < NS_RING_SINKS)) {
            _exit(3);
        }
    }
    if (errno != NS_SINK_TOO_MANY) {
        _exit(4);
    }
    /* One that is removed makes room. */
    if (NsSinkRemove(NsSinkFind("sink7")) != NS_OK
            || Ns_LogSinkOpen(&(Ns_LogSinkSpec){
                .name = "new", .stream = stream, .file = "/dev/null"
            }) == NULL) {
        _exit(5);
    }
}

static void
OneSinkTooManyIsRefused(void **state)
{
    int status = InChild(MakeSinks);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_non_null(strstr(text, "Error: log: cannot make sink 'sink128': "
                           "there are 128 sinks, and can be no more\n"));
    assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
}

/*
 * Critical records until there is no room for another one; nobody reads.
 */
static int
FillMemory(void)
{
    char         bytes[1024] = "";
    struct iovec piece = {bytes, sizeof(bytes)};
    NsLaneRecord record = {
        .class = NS_LANE_CRITICAL, .overflow = NS_OVERFLOW_DROPNEWEST,
        .pieces = &piece, .nPieces = 1, .length = sizeof(bytes)
    };
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
    bool isMuch, isLittle;

    NsLogConfigure(&(NsLogSettings){
        .stayOnStderr = true, .isAsync = true, .memoryBytes = 1 << 20
    });
    (void) NsSinkCreate(&(NsSinkSpec){
        .name = "all", .type = "file", .file = "/dev/null", .nStreams = 1,
        .streams = streams, .settings = nsSinkDefaults
    });
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
        cmocka_unit_test(TheServerEndsWithTooManyStreams),
        cmocka_unit_test(ANameOfAStreamIsLimited),
        cmocka_unit_test(OneSinkTooManyIsRefused),
        cmocka_unit_test(ALogThreadFindsRoomInMemoryThatOthersHaveFilled)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0
 * log_kinds_test.c --
 *
 *      Lists of event kinds, and log units without events of some kinds.
 */

#include "unit.h"

#include "log/init.h"
#include "log/sink/sink.h"
#include "log/stream/kinds.h"
#include "log/stream/stream.h"
#include "log/stream/unit.h"
#include "ns.h"

static bool
Has(const char *list, const char *kind)
{
    NsKinds kinds;
    bool    hasKind;

    assert_true(NsKindsInit(&kinds, list));
    hasKind = NsKindsHave(&kinds, kind, strlen(kind));
    NsKindsFree(&kinds);
    return hasKind;
}

static void
AKindIsInAListWhenItStandsThereAsAWhole(void **state)
{
    assert_true(Has("login", "login"));
    assert_true(Has("a login b", "login"));
    assert_true(Has("{two words} {}", "two words"));
    assert_true(Has("{two words} {}", ""));
    assert_false(Has("login", "log"));
    assert_false(Has("log", "login"));
    assert_false(Has("Login", "login"));
    assert_false(Has("", "login"));
    assert_false(Has("", ""));
    assert_false(Has(NULL, "login"));
}

static void
WhatIsNoListIsRefused(void **state)
{
    NsKinds kinds;

    assert_false(NsKindsInit(&kinds, "a {b"));
    NsKindsFree(&kinds);
}

static void
OnlyWhatIsInBothListsIsCommon(void **state)
{
    char *common = NsKindsCommon("a {b c} d", "{b c} e a");

    assert_string_equal(common, "a {b c}");
    ns_free(common);
    assert_null(NsKindsCommon("a b", "c"));
    assert_null(NsKindsCommon("a b", NULL));
    assert_null(NsKindsCommon(NULL, "a"));
}

static char directory[64]; /* Of the log memory. */

/*
 * Keeps the bytes of the last record, in place of a format.
 */
static char   unit[4096];
static size_t unitBytes;

static size_t
Capture(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    assert_true(recordPtr->length <= sizeof(unit));
    memcpy(unit, recordPtr->bytes, recordPtr->length);
    unitBytes = recordPtr->length;
    return 0;
}

/*
 * A unit with four events; all of it reaches Capture.
 */
static int
SetUp(void **state)
{
    static const char *const streams[] = {"operation"};
    NsSinkSpec               spec = {.name = "capture",
                                     .type = "stdout",
                                     .streams = streams,
                                     .nStreams = 1,
                                     .isAwaited = true,
                                     .settings = nsSinkDefaults};

    strcpy(directory, "/tmp/log_kinds.XXXXXX");
    assert_non_null(mkdtemp(directory));
    NsLogInit();
    NsLogConfigure(&(NsLogSettings){.stayOnStderr = true,
                                    .memoryBytes = NS_LOG_MEMORY_MIN,
                                    .ringDirectory = directory});
    (void) Ns_LogStreamAddFormat(nsOperationStream, "common", Capture, NULL);
    spec.settings.format = NS_LOG_COMMON;
    assert_non_null(NsSinkCreate(&spec));
    NsUnitBegin();
    NsUnitEvent("step", "one", 3);
    NsUnitEvent("Notice", "", 0);
    NsUnitEvent("step", "two", 3);
    NsUnitEvent("other", "three", 5);
    NsUnitEnd(&(Ns_Access){
        .server = "s",
        .driver = "d",
        .peer = "127.0.0.1",
        .line = "GET / HTTP/1.1",
        .lineLength = 14,
        .user = "ann",
        .status = 200});
    assert_true(unitBytes > 0);
    return 0;
}

static int
TearDown(void **state)
{
    NsLogFinish();
    return rmdir(directory);
}

/*
 * The first bytes of the unit without events of these kinds, as JSON.
 */
static const char *
Without(const char *list, size_t length)
{
    static char  line[4096];
    Ns_LogRecord record = {.stream = "operation", .length = length};
    char        *bytes = ns_malloc(length + 1), *buffer = NULL;
    size_t       bufferBytes = 0, n;
    NsKinds      kinds;

    memcpy(bytes, unit, length);
    record.bytes = bytes;
    assert_true(NsKindsInit(&kinds, list));
    record = NsUnitWithout(&record, &kinds, &buffer, &bufferBytes);
    n = NsStreamFormat(nsOperationStream, NS_LOG_JSON, &record, line,
                       sizeof(line) - 1);
    assert_true(n < sizeof(line));
    line[n] = '\0';
    NsKindsFree(&kinds);
    ns_free(buffer);
    ns_free(bytes);
    return line;
}

static void
EventsOfKindsInTheListAreLeftOutOfAUnitAndNothingElse(void **state)
{
    const char *line = Without("step", unitBytes);

    assert_non_null(strstr(line,
                           "\"user\":\"ann\","
                           "\"request\":\"GET / HTTP/1.1\""));
    assert_null(strstr(line, "\"kind\":\"step\""));
    assert_non_null(strstr(line, "\"kind\":\"Notice\",\"text\":\"\"},{"));
    assert_non_null(strstr(line, "\"kind\":\"other\",\"text\":\"three\"}]}"));

    assert_non_null(strstr(Without("step Notice other", unitBytes),
                           "\"events\":[]}\n"));
    assert_non_null(strstr(Without("", unitBytes), "\"text\":\"one\""));
}

static void
AUnitThatIsCutOffAnywhereYieldsWhatIsThere(void **state)
{
    for (size_t n = 0; n < unitBytes; n++) {
        assert_null(strstr(Without("other", n), "\"kind\":\"other\""));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AKindIsInAListWhenItStandsThereAsAWhole),
        cmocka_unit_test(WhatIsNoListIsRefused),
        cmocka_unit_test(OnlyWhatIsInBothListsIsCommon),
        cmocka_unit_test(EventsOfKindsInTheListAreLeftOutOfAUnitAndNothingElse),
        cmocka_unit_test(AUnitThatIsCutOffAnywhereYieldsWhatIsThere)};

    return cmocka_run_group_tests(tests, SetUp, TearDown);
}

/* SPDX-License-Identifier: MPL-2.0
 * process_options_test.c --
 *
 *      The command line, addresses to bind, and the watchdog's patience.
 *
 *      1  options     2  addresses     3  delays
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "process/options.h"
#include "process/prebind.h"
#include "process/watchdog.h"

#define MAX_WORDS 16

/*
 * Parse words separated by blanks, behind the program's name.
 */
static bool
Parse(const char *words, NsOptions *optionsPtr, const char **errorPtr)
{
    static char copy[256];
    char       *argv[MAX_WORDS], *word, *rest = copy;
    int         argc = 0;

    snprintf(copy, sizeof(copy), "nsd %s", words);
    while ((word = strsep(&rest, " ")) != NULL && argc < MAX_WORDS) {
        if (*word != '\0') {
            argv[argc++] = word;
        }
    }
    *errorPtr = NULL;
    return NsOptionsParse(argc, argv, optionsPtr, errorPtr);
}

static void
LongOptionsAreNotLetters(void **state)
{
    NsOptions   options;
    const char *error;

    assert_true(Parse("--development -f --init dir", &options, &error));
    assert_true(options.isDevelopment);
    assert_int_equal(options.mode, NS_MODE_NEW_SITE);
    assert_string_equal(options.site, "dir");
}

static void
ParsingEndsAtTheFirstWordWithoutDash(void **state)
{
    NsOptions   options;
    const char *error;

    assert_true(Parse("-c -t a.tcl script.tcl -x", &options, &error));
    assert_int_equal(options.mode, NS_MODE_COMMAND);
    assert_int_equal(options.optind, 4);
}

static void
AllOptionsWithAValueTakeTheNextWord(void **state)
{
    NsOptions   options;
    const char *error;

    assert_true(Parse("-u U -g G -r R -b B -B F -s S -t T -d -p -z", &options,
                      &error));
    assert_int_equal(options.mode, NS_MODE_BACKGROUND);
    assert_string_equal(options.user, "U");
    assert_string_equal(options.group, "G");
    assert_string_equal(options.root, "R");
    assert_string_equal(options.bind, "B");
    assert_string_equal(options.bindFile, "F");
    assert_string_equal(options.server, "S");
    assert_string_equal(options.configFile, "T");
    assert_true(options.isDebugged);
}

static void
EveryMistakeHasItsText(void **state)
{
    static const struct {
        const char *words;
        const char *error;
    } mistakes[] = {
        {"-x", "invalid option: -x"},
        {"stop now",
         "unknown command: stop; to ask a running server, use 'ctl stop'"},
        {"-s", "no parameter for -s option"},
        {"-f -t", "no parameter for -t option"},
        {"-B", "no parameter for -B option"},
        {"-s a -s b", "multiple -s <server> options"},
        {"-t a -t b", "multiple -t <file> options"},
        {"-f -i", "only one of -c, -f, -i, or -w options may be specified"},
        {"-V -c", "only one of -c, -f, -i, or -w options may be specified"},
        {"--nonsense", "invalid option: --nonsense"},
        {"--", "invalid option: --"},
        {"--init", "no directory for --init"},
        {"--developement",
         "invalid option: --developement; did you mean --development?"},
        {"-help", "invalid option: -help; did you mean --help?"},
        {"-force",
         "invalid option: -force: one-letter options cannot be combined"},
        {"-tfile a.tcl",
         "invalid option: -tfile: one-letter options cannot be combined"}};
    NsOptions   options;
    const char *error;

    for (int i = 0; i < Ns_NrElements(mistakes); i++) {
        assert_false(Parse(mistakes[i].words, &options, &error));
        assert_string_equal(error, mistakes[i].error);
    }
}

static void
CheckingGoesWithAnyMode(void **state)
{
    NsOptions   options;
    const char *error;

    assert_true(Parse("-T -f -t a", &options, &error));
    assert_int_equal(options.mode, NS_MODE_CHECK);
    assert_true(Parse("-f -T -t a", &options, &error));
    assert_int_equal(options.mode, NS_MODE_CHECK);
    assert_false(options.isStrict || options.mustBind
                 || options.isFromNaviserver);
    assert_true(Parse("--strict --bind -f -t a", &options, &error));
    assert_int_equal(options.mode, NS_MODE_CHECK);
    assert_true(options.isStrict && options.mustBind);
    assert_true(Parse("-t a --from-naviserver b", &options, &error));
    assert_int_equal(options.mode, NS_MODE_CHECK);
    assert_true(options.isFromNaviserver);
}

static void
HelpMayHaveATopic(void **state)
{
    NsOptions   options;
    const char *error;

    assert_true(Parse("--help", &options, &error));
    assert_int_equal(options.mode, NS_MODE_HELP);
    assert_null(options.topic);
    assert_true(Parse("--help signals", &options, &error));
    assert_int_equal(options.mode, NS_MODE_HELP);
    assert_string_equal(options.topic, "signals");
}

static void
TheReaderOfLogsHasItsOwnOptions(void **state)
{
    NsOptions   options;
    const char *error;

    assert_true(Parse("--logs file --follow", &options, &error));
    assert_int_equal(options.mode, NS_MODE_LOGS);
    assert_int_equal(options.optind, 2);
}

static void
AnAddressMayBeShortOrLong(void **state)
{
    static const struct {
        const char   *text;
        NsPrebindSpec spec;
    } good[] = {
        {"80", {NS_PREBIND_TCP, "0.0.0.0", 80, NS_BIND_USUAL}},
        {"127.0.0.1:8080", {NS_PREBIND_TCP, "127.0.0.1", 8080, NS_BIND_USUAL}},
        {"127.0.0.1:8080/tcp",
         {NS_PREBIND_TCP, "127.0.0.1", 8080, NS_BIND_USUAL}},
        {"53/udp", {NS_PREBIND_UDP, "0.0.0.0", 53, NS_BIND_USUAL}},
        {"[::1]:443", {NS_PREBIND_TCP, "::1", 443, NS_BIND_USUAL}},
        {"icmp", {NS_PREBIND_ICMP, "", 1, NS_BIND_USUAL}},
        {"icmp/5", {NS_PREBIND_ICMP, "", 5, NS_BIND_USUAL}},
        {"/tmp/s", {NS_PREBIND_UNIX, "/tmp/s", 0, NS_BIND_USUAL}},
        {"/tmp/s|0660", {NS_PREBIND_UNIX, "/tmp/s", 0660, NS_BIND_USUAL}}};
    static const char *const bad[] = {
        "",         "x",      "1.2.3.4",   ":80",     "80/sctp", "70000",
        "1.2.3.4:", "icmp/0", "/tmp/s|rw", "/tmp/s|", "80x"};
    NsPrebindSpec spec;

    for (int i = 0; i < Ns_NrElements(good); i++) {
        assert_true(NsPrebindParse(good[i].text, &spec));
        assert_int_equal(spec.kind, good[i].spec.kind);
        assert_string_equal(spec.address, good[i].spec.address);
        assert_int_equal(spec.port, good[i].spec.port);
    }
    for (int i = 0; i < Ns_NrElements(bad); i++) {
        assert_false(NsPrebindParse(bad[i], &spec));
    }
}

static void
APathThatFitsNoSocketIsRefused(void **state)
{
    char          path[200];
    NsPrebindSpec spec;

    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_false(NsPrebindParse(path, &spec));
}

static void
TheDelayDoublesUpTo64SecondsAndALongRunResetsIt(void **state)
{
    static const int expected[] = {1, 2, 4, 8, 16, 32, 64, 64};
    NsWatchdogDelay  next = {0, 0};

    for (int i = 0; i < Ns_NrElements(expected); i++) {
        NsWatchdogAdvance(&next, 3);
        assert_int_equal(next.delay, expected[i]);
        assert_int_equal(next.nStarts, i + 1);
    }
    NsWatchdogAdvance(&next, 129);
    assert_int_equal(next.delay, 1);
    assert_int_equal(next.nStarts, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(LongOptionsAreNotLetters),
        cmocka_unit_test(ParsingEndsAtTheFirstWordWithoutDash),
        cmocka_unit_test(AllOptionsWithAValueTakeTheNextWord),
        cmocka_unit_test(EveryMistakeHasItsText),
        cmocka_unit_test(CheckingGoesWithAnyMode),
        cmocka_unit_test(HelpMayHaveATopic),
        cmocka_unit_test(TheReaderOfLogsHasItsOwnOptions),
        cmocka_unit_test(AnAddressMayBeShortOrLong),
        cmocka_unit_test(APathThatFitsNoSocketIsRefused),
        cmocka_unit_test(TheDelayDoublesUpTo64SecondsAndALongRunResetsIt)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0
 * process_config_test.c --
 *
 *      The configuration store, and the file it is read from.
 *
 *      1  reading values          4  listings
 *      2  ranges and units        5  checking
 *      3  after the start         6  the file
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ns.h"
#include "nsset.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/config_check.h"
#include "process/config_file.h"

static char *const noArgs[] = {(char *) "nsd", NULL};

static int
SetUp(void **state)
{
    Nsd_LibInit();
    NsConfigReset();
    return 0;
}

static Ns_ReturnCode
Eval(const char *text, int argc, char *const *argv, int firstWord)
{
    NsConfigText config = {.file = (char *) "test.tcl", .text = (char *) text};

    return NsConfigEval(&config, argc, argv, firstWord);
}

static void
Read(const char *text)
{
    assert_int_equal(Eval(text, 1, noArgs, 1), NS_OK);
}

/*
 * What nsd -T says about a text; the caller frees it.
 */
static char *
Check(const char *text, int *nProblemsPtr)
{
    char  *report = NULL;
    size_t length;
    int    nErrors = 0;
    FILE  *file = open_memstream(&report, &length);

    Read(text);
    *nProblemsPtr = NsConfigCheckPrint(file, &nErrors);
    fclose(file);
    return report;
}

static void
NamesIgnoreCaseAndBackslashes(void **state)
{
    Read("ns_section { NS\\Server/One }\nns_param Key value");
    assert_string_equal(Ns_ConfigGetValue("ns/server/one", "kEY"), "value");
    assert_string_equal(Ns_ConfigGetValue(" NS/SERVER\\ONE ", "key"), "value");
    assert_null(Ns_ConfigGetValueExact("ns/server/one", "key"));
    assert_string_equal(Ns_ConfigGetValueExact("ns/server/one", "Key"),
                        "value");
}

static void
TheFirstOfEqualKeysCounts(void **state)
{
    Ns_DString ds;

    Read("ns_section a; ns_param map 1; ns_param map {2 3}\n"
         "ns_section b; ns_section a; ns_param map 4");
    assert_string_equal(Ns_ConfigGetValue("a", "map"), "1");
    Tcl_DStringInit(&ds);
    assert_int_equal(NsConfigQueryAll("a", "MAP", &ds), 3);
    assert_string_equal(ds.string, "1 {2 3} 4");
    Tcl_DStringFree(&ds);
}

static void
APathIsNullWhenTheSectionIsMissing(void **state)
{
    Read("ns_section ns/server/S/module/M; ns_section ns/module/G");
    assert_string_equal(Ns_ConfigGetPath("s", "m", NULL),
                        "ns/server/s/module/m");
    assert_string_equal(Ns_ConfigGetPath(NULL, "G", NULL), "ns/module/g");
    assert_null(Ns_ConfigGetPath("s", "other", NULL));
    assert_null(Ns_ConfigGetPath("s", "m", "more", NULL));
}

static void
AMissingSectionGivesTheDefaultAndStaysMissing(void **state)
{
    Read("ns_section a");
    assert_int_equal(Ns_ConfigInt("nowhere", "n", 3), 3);
    assert_null(Ns_ConfigGetSection("nowhere"));
    assert_null(Ns_ConfigGetSection(NULL));
}

static void
ADefaultIsRecordedInAnExistingSection(void **state)
{
    Read("ns_section a; ns_param other x");
    assert_int_equal(Ns_ConfigInt("a", "n", 20), 20);
    assert_true(Ns_ConfigBool("a", "flag", 1));
    assert_string_equal(Ns_SetGet(Ns_ConfigGetSection("a"), "n"), "20");
    assert_string_equal(Ns_SetGet(Ns_ConfigGetSection("a"), "flag"), "true");
    assert_string_equal(Ns_ConfigGetValue("a", "n"), "20");
}

static void
AQueryWithoutDefaultDoesNotHideALaterDefault(void **state)
{
    Read("ns_section a");
    assert_null(NsConfigLookup("a", "n", false, NULL));
    assert_string_equal(Ns_SetGet(Ns_ConfigGetSection("a"), "n"), "");
    assert_int_equal(Ns_ConfigInt("a", "n", 7), 7);
    assert_string_equal(Ns_SetGet(Ns_ConfigGetSection("a"), "n"), "7");
}

static void
ANumberOutOfRangeIsClamped(void **state)
{
    Read("ns_section a; ns_param low -5; ns_param high 500; ns_param bad x");
    assert_int_equal(Ns_ConfigIntRange("a", "low", 10, 0, 100), 0);
    assert_int_equal(Ns_ConfigIntRange("a", "high", 10, 0, 100), 100);
    assert_int_equal(Ns_ConfigIntRange("a", "bad", 10, 0, 100), 10);
    assert_int_equal(Ns_ConfigWideInt("a", "high", 0), 500);
}

static void
SizesAndTimesMayHaveUnits(void **state)
{
    Ns_Time time;

    Read("ns_section a; ns_param size 2MB; ns_param wait 2m; ns_param p 250ms");
    assert_int_equal(Ns_ConfigInt("a", "wait", 0), 120);
    assert_int_equal(Ns_ConfigMemUnitRange("a", "size", "1MB", 0, 0, INT64_MAX),
                     2097152);
    assert_int_equal(Ns_ConfigMemUnitRange("a", "no", "1MB", 0, 0, INT64_MAX),
                     1048576);
    Ns_ConfigTimeUnitRange("a", "p", "1s", 0, 0, 10, 0, &time);
    assert_int_equal(time.usec, 250000);
    Ns_ConfigTimeUnitRange("a", "none", "0.1s", 0, 0, 10, 0, &time);
    assert_int_equal(time.usec, 100000);
    Ns_ConfigTimeUnitRange("a", "wait", "0.1s", 0, 0, 10, 0, &time);
    assert_int_equal(time.sec, 10);
}

static void
GettersSayWhetherThereIsAValidValue(void **state)
{
    int     number = 9, flag = 9, flags = 1;
    int64_t wide;

    Read("ns_section a; ns_param n 5; ns_param big 5000000000; ns_param x y");
    assert_true(Ns_ConfigGetInt("a", "n", &number));
    assert_int_equal(number, 5);
    assert_false(Ns_ConfigGetInt("a", "big", &number));
    assert_int_equal(number, 0);
    assert_true(Ns_ConfigGetInt64("a", "big", &wide));
    assert_int_equal(wide, 5000000000);
    assert_true(Ns_ConfigGetBool("a", "x", &flag));
    assert_int_equal(flag, NS_TRUE);
    flag = 9;
    assert_false(Ns_ConfigGetBool("a", "missing", &flag));
    assert_int_equal(flag, 9);
    assert_true(Ns_ConfigFlag("a", "x", 4, 0, &flags));
    assert_int_equal(flags, 5);
    assert_false(Ns_ConfigFlag("a", "missing2", 8, 1, &flags));
    assert_int_equal(flags, 13);
}

static void
AfterTheStartTheSetStaysAsItIs(void **state)
{
    Ns_Set *setPtr, *copyPtr;
    int     size;

    Read("ns_section a; ns_param n 1");
    NsConfigFreeze();
    setPtr = Ns_ConfigGetSection("a");
    size = Ns_SetSize(setPtr);
    assert_int_equal(Ns_ConfigInt("a", "late", 5), 5);
    assert_int_equal(Ns_SetSize(setPtr), size);
    assert_string_equal(Ns_ConfigGetValue("a", "late"), "5");
    copyPtr = NsConfigDupSection("a", NS_CONFIG_ALL);
    assert_string_equal(Ns_SetGet(copyPtr, "late"), "5");
    Ns_SetFree(copyPtr);
    assert_null(Ns_ConfigCreateSection("b"));
    assert_int_equal(NsConfigSet("a", "n", "2"), NS_ERROR);
    assert_string_equal(Ns_ConfigGetValue("a", "n"), "1");
}

static void
AScriptCannotGrowTheStoreWithoutBound(void **state)
{
    Ns_Set *copyPtr;
    char    key[32];

    Read("ns_section a");
    NsConfigFreeze();
    for (int i = 0; i < 10000; i++) {
        snprintf(key, sizeof(key), "key%d", i);
        assert_string_equal(Ns_ConfigString("a", key, "v"), "v");
    }
    copyPtr = NsConfigDupSection("a", NS_CONFIG_ALL);
    assert_true(Ns_SetSize(copyPtr) <= 1000);
    Ns_SetFree(copyPtr);
}

#define N_THREADS 4

static void
ReadMany(void *arg)
{
    char key[32];

    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof(key), "key%d", i % 50);
        assert_int_equal(Ns_ConfigInt("a", key, i % 50), i % 50);
        assert_int_equal(Ns_ConfigInt("a", "n", 0), 1);
    }
}

static void
ThreadsReadAndRecordAtTheSameTime(void **state)
{
    Ns_Thread threads[N_THREADS];
    Ns_Set   *copyPtr;

    Read("ns_section a; ns_param n 1");
    NsConfigFreeze();
    for (int i = 0; i < N_THREADS; i++) {
        Ns_ThreadCreate(ReadMany, NULL, 0, &threads[i]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    copyPtr = NsConfigDupSection("a", NS_CONFIG_DEFAULTED);
    assert_int_equal(Ns_SetSize(copyPtr), 50);
    Ns_SetFree(copyPtr);
}

static void
FiltersTellConfiguredFromDefault(void **state)
{
    Ns_Set *setPtr;

    Read("ns_section a; ns_param read 1; ns_param unread 2");
    (void) Ns_ConfigInt("a", "read", 3);
    (void) Ns_ConfigInt("a", "absent", 4);
    setPtr = NsConfigDupSection("a", NS_CONFIG_UNREAD);
    assert_int_equal(Ns_SetSize(setPtr), 1);
    assert_string_equal(Ns_SetKey(setPtr, 0), "unread");
    Ns_SetFree(setPtr);
    setPtr = NsConfigDupSection("a", NS_CONFIG_DEFAULTED);
    assert_int_equal(Ns_SetSize(setPtr), 1);
    assert_string_equal(Ns_SetKey(setPtr, 0), "absent");
    Ns_SetFree(setPtr);
    setPtr = NsConfigDupSection("a", NS_CONFIG_DEFAULTS);
    assert_int_equal(Ns_SetSize(setPtr), 2);
    assert_string_equal(Ns_SetGet(setPtr, "read"), "3");
    assert_string_equal(Ns_SetGet(setPtr, "absent"), "4");
    Ns_SetFree(setPtr);
}

static void
SectionsAreListedInTheOrderOfTheFile(void **state)
{
    Ns_Set **sets;

    Read("ns_section z; ns_section a; ns_section m; ns_section z");
    sets = Ns_ConfigGetSections();
    assert_string_equal(Ns_SetName(sets[0]), "z");
    assert_string_equal(Ns_SetName(sets[1]), "a");
    assert_string_equal(Ns_SetName(sets[2]), "m");
    assert_null(sets[3]);
    ns_free(sets);
}

static void
AMisspelledParameterIsReportedWithItsLineAndTheNearestName(void **state)
{
    int   n;
    char *report = Check("ns_section ns/parameters\n\n"
                         "ns_param asynlogcwriter true\n",
                         &n);

    assert_int_equal(n, 1);
    assert_string_equal(
        report,
        "test.tcl:3: warning: unknown parameter "
        "\"asynlogcwriter\" in section \"ns/parameters\"; the nearest known "
        "one is \"asynclogwriter\"\n");
    free(report);
}

static void
AMisspelledSectionIsReported(void **state)
{
    int   n;
    char *report = Check("ns_section ns/parameter\nns_param a b\n"
                         "ns_section ns/server/s/fastpaht\n",
                         &n);

    assert_int_equal(n, 2);
    assert_non_null(
        strstr(report,
               "test.tcl:1: warning: unknown section "
               "\"ns/parameter\"; the nearest known one is \"ns/parameters\""));
    assert_non_null(strstr(report, "test.tcl:3: warning: unknown section"));
    assert_non_null(strstr(report, "ns/server/S/fastpath"));
    free(report);
}

static void
ValuesOutOfRangeAreReported(void **state)
{
    int   n;
    char *report = Check("ns_section ns/servers; ns_param s S; "
                         "ns_section ns/server/s\n"
                         "ns_param compresslevel 11\n"
                         "ns_param maxthreads many\n"
                         "ns_param threadtimeout 2m\n"
                         "ns_param headercase ToLower\n"
                         "ns_param headercase sideways\n"
                         "ns_param noticedetail perhaps\n"
                         "ns_param queuepatience -1\n",
                         &n);

    assert_int_equal(n, 5);
    assert_non_null(
        strstr(report,
               ":2: warning: parameter \"compresslevel\" in section "
               "\"ns/server/s\": 11 is out of range (1 to 9)"));
    assert_non_null(strstr(report, ":3: "));
    assert_null(strstr(report, ":4: "));
    assert_null(strstr(report, ":5: "));
    assert_non_null(strstr(report, ":6: "));
    assert_non_null(strstr(report, ":7: "));
    assert_non_null(strstr(report, ":8: "));
    free(report);
}

static void
OtherPeoplesSectionsAreTheirBusiness(void **state)
{
    int   n;
    char *report = Check("ns_section my/app; ns_param anything 1\n"
                         "ns_section ns/servers; ns_param s S\n"
                         "ns_section ns/modules; ns_param nsshop nsshop\n"
                         "ns_section ns/module/nsshop; ns_param user x\n"
                         "ns_section ns/server/s/modules; ns_param db nsdbpg\n"
                         "ns_section ns/server/s/module/db; ns_param q 1\n",
                         &n);

    assert_int_equal(n, 0);
    assert_string_equal(report, "");
    free(report);
}

static void
ASectionThatResemblesNothingIsNoted(void **state)
{
    static const char *const sections[] = {
        "ns/acs", "ns/server/s/tdav", "ns/server/s/acs",
        "ns/server/s/acs/acs-kernel"};

    for (int i = 0; i < Ns_NrElements(sections); i++) {
        char  text[200];
        char *report;
        int   n;

        snprintf(text, sizeof(text),
                 "ns_section ns/servers; ns_param s S\n"
                 "ns_section %s; ns_param a b\n",
                 sections[i]);
        report = Check(text, &n);
        assert_int_equal(n, 0);
        assert_non_null(strstr(report, "test.tcl:2: note: section"));
        free(report);
        NsConfigReset();
    }
}

static void
WhatNothingDefinesIsReported(void **state)
{
    int   n;
    char *report = Check("ns_section ns/servers; ns_param main M\n"
                         "ns_section ns/server/mian\n"
                         "ns_section ns/server/main/pools; ns_param slow S\n"
                         "ns_section ns/server/main/pool/slwo\n"
                         "ns_section ns/server/main/module/nssock\n"
                         "ns_section ns/limit/upload\n"
                         "ns_section ns/logsink/audit\n"
                         "ns_section ns/module/nssock\n"
                         "ns_section ns/server/main/module/own\n",
                         &n);

    /* Sections of modules that are not listed are only mentioned. */
    assert_int_equal(n, 4);
    assert_non_null(strstr(
        report,
        ":2: warning: section \"ns/server/mian\": there is no "
        "server \"mian\" in section ns/servers; the nearest one is \"main\""));
    assert_non_null(strstr(
        report,
        ":4: warning: section \"ns/server/main/pool/slwo\": there is no pool "
        "\"slwo\" in section ns/server/main/pools; the nearest one is "
        "\"slow\""));
    for (int line = 5; line <= 9; line++) {
        char place[16];

        snprintf(place, sizeof(place), ":%d: ", line);
        assert_non_null(strstr(report, place));
    }
    free(report);
}

static void
AModuleIsKnownByTheFileItIsLoadedFrom(void **state)
{
    int   n;
    char *report = Check("ns_section ns/servers; ns_param s S; "
                         "ns_section ns/server/s/modules\n"
                         "ns_param http /lib/nssock.so\n"
                         "ns_section ns/server/s/module/http\n"
                         "ns_param prot 80\n"
                         "ns_section ns/modules; ns_param nssock nssock; "
                         "ns_section ns/module/nssock/servers\n"
                         "ns_param s www.example.com\n",
                         &n);

    assert_int_equal(n, 1);
    assert_non_null(strstr(report, ":4: warning: unknown parameter \"prot\""));
    assert_non_null(strstr(report, "\"port\""));
    free(report);
}

static void
LinesInsideABlockCountFromTheTopOfTheFile(void **state)
{
    int   n;
    char *report = Check("\nns_section ns/threads {\n"
                         "  ns_param stacksize 1MB\n"
                         "  ns_param nonsense 1\n}\n",
                         &n);

    assert_int_equal(n, 1);
    assert_non_null(strstr(report, "test.tcl:4: "));
    free(report);
}

static void
AParameterNeedsASection(void **state)
{
    assert_int_equal(Eval("ns_param a b", 1, noArgs, 1), NS_ERROR);
    assert_int_equal(Eval("if {", 1, noArgs, 1), NS_ERROR);
}

static void
TheFileSeesTheCommandLine(void **state)
{
    char *const args[] = {(char *) "nsd", (char *) "-f", (char *) "x y", NULL};

    assert_int_equal(Eval("ns_section a; ns_param n [list $argc "
                          "$optind [lindex $argv 2]]",
                          3, args, 2),
                     NS_OK);
    assert_string_equal(Ns_ConfigGetValue("a", "n"), "3 2 {x y}");
}

static void
APathIsOfASectionThatIsMadeWhereItIsMissing(void **state)
{
    Ns_Set     *setPtr = NULL, *againPtr = NULL;
    const char *path;

    Read("ns_section ns/server/S/module/M\nns_param a b");
    path = Ns_ConfigSectionPath(&setPtr, "s", "m", (char *) NULL);
    assert_string_equal(Ns_SetGet(setPtr, "a"), "b");
    assert_ptr_equal(path, Ns_SetName(setPtr));
    assert_null(Ns_ConfigGetPath("s", "m", "Sub", (char *) NULL));
    path = Ns_ConfigSectionPath(&setPtr, "s", "m", "Sub", (char *) NULL);
    assert_string_equal(path, "ns/server/s/module/m/sub");
    assert_non_null(Ns_ConfigGetPath("s", "m", "sub", (char *) NULL));
    assert_non_null(Ns_ConfigSectionPath(NULL, NULL, NULL, "more",
                                         (char *) NULL));
    assert_non_null(Ns_ConfigGetSection("ns/more"));

    NsConfigFreeze();
    assert_string_equal(Ns_ConfigSectionPath(&againPtr, "s", "m", "sub",
                                             (char *) NULL),
                        path);
    assert_ptr_equal(againPtr, setPtr);
    assert_null(Ns_ConfigSectionPath(&againPtr, "x", NULL, (char *) NULL));
    assert_null(againPtr);
}

static void
ASectionCanBeLookedAtWithoutUse(void **state)
{
    Ns_Set *unreadPtr;

    Read("ns_section one\nns_param a b");
    assert_null(Ns_ConfigGetSection2("two", false));
    assert_null(Ns_ConfigGetSection2(NULL, true));
    assert_string_equal(Ns_SetGet(Ns_ConfigGetSection2("ONE", false), "a"),
                        "b");
    assert_ptr_equal(Ns_ConfigGetSection2("one", true),
                     Ns_ConfigGetSection("one"));
    unreadPtr = NsConfigDupSection("one", NS_CONFIG_UNREAD);
    assert_int_equal(Ns_SetSize(unreadPtr), 1);
    Ns_SetFree(unreadPtr);
}

static void
WhatTheFileHasIsProvided(void **state)
{
    Read("ns_section one\nns_param Given {}");
    assert_int_equal(Ns_ConfigInt("one", "other", 5), 5);
    (void) NsConfigSet("one", "made", "1");
    assert_true(Ns_ConfigParameterProvided("one", "given"));
    assert_false(Ns_ConfigParameterProvided("one", "other"));
    assert_false(Ns_ConfigParameterProvided("one", "made"));
    assert_false(Ns_ConfigParameterProvided("two", "given"));
    assert_false(Ns_ConfigParameterProvided(NULL, "given"));
}

static void
AKeywordHasANumber(void **state)
{
    static const Ns_ObjvTable table[] = {{"none", 0}, {"full", 7}, {NULL, 0}};

    Read("ns_section one\nns_param a FULL\nns_param b half");
    assert_int_equal(Ns_ConfigGetEnum("one", "a", table, 0), 7);
    assert_int_equal(Ns_ConfigGetEnum("one", "b", table, 7), 7);
    assert_int_equal(Ns_ConfigGetEnum("one", "c", table, 7), 7);
    assert_string_equal(Ns_ConfigGetValue("one", "c"), "full");
    assert_int_equal(Ns_ConfigGetEnum("one", "d", table, 99), 99);
    assert_int_equal(Ns_ConfigGetEnum("two", "a", table, 7), 7);
}

static void
AListOfPairsIsASet(void **state)
{
    Ns_Set *setPtr;

    Read("ns_section one\nns_param a {x 1 y {2 3}}\nns_param b {x 1 y}\n"
         "ns_param c \"\\{\"\nns_param d {}");
    setPtr = Ns_ConfigSet("one", "a", "name");
    assert_string_equal(Ns_SetName(setPtr), "name");
    assert_int_equal(Ns_SetSize(setPtr), 2);
    assert_string_equal(Ns_SetGet(setPtr, "y"), "2 3");
    Ns_SetFree(setPtr);
    assert_null(Ns_ConfigSet("one", "b", NULL));
    assert_null(Ns_ConfigSet("one", "c", NULL));
    assert_null(Ns_ConfigSet("one", "none", NULL));
    setPtr = Ns_ConfigSet("one", "d", NULL);
    assert_int_equal(Ns_SetSize(setPtr), 0);
    Ns_SetFree(setPtr);
}

static void
AFileNameIsBelowItsDirectory(void **state)
{
    static const struct {
        const char *key;
        int         length;
        const char *defaultValue;
        bool        isNormalized;
        const char *path; /* NULL: none. */
    } cases[] = {
        {"a", -1, NULL, true, "/dir/file"},
        {"abc", 1, NULL, true, "/dir/file"},
        {"b", -1, NULL, true, "/etc/x"},
        {"c", -1, NULL, true, "/up"},
        {"c", -1, NULL, false, "/dir/../up"},
        {"d", -1, "logs", true, "/dir/logs"},
        {"e", -1, NULL, true, NULL},
    };

    Read("ns_section one\nns_param a file\nns_param b /etc//x\n"
         "ns_param c ../up");
    for (int i = 0; i < Ns_NrElements(cases); i++) {
        const char *path = Ns_ConfigFilename("one", cases[i].key,
                                             cases[i].length, "/dir",
                                             cases[i].defaultValue,
                                             cases[i].isNormalized, false);

        if (cases[i].path == NULL) {
            assert_null(path);
        } else {
            assert_string_equal(path, cases[i].path);
        }
        ns_free((char *) path);
    }
    ns_free((char *) Ns_ConfigFilename("one", "a", -1, "/dir", NULL, true,
                                       true));
    assert_string_equal(Ns_ConfigGetValue("one", "a"), "/dir/file");
    NsConfigFreeze();
    ns_free((char *) Ns_ConfigFilename("one", "c", -1, "/dir", NULL, true,
                                       true));
    assert_string_equal(Ns_ConfigGetValue("one", "c"), "../up");
}

#define TEST(name) cmocka_unit_test_setup(name, SetUp)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(NamesIgnoreCaseAndBackslashes),
        TEST(TheFirstOfEqualKeysCounts),
        TEST(APathIsNullWhenTheSectionIsMissing),
        TEST(AMissingSectionGivesTheDefaultAndStaysMissing),
        TEST(ADefaultIsRecordedInAnExistingSection),
        TEST(AQueryWithoutDefaultDoesNotHideALaterDefault),
        TEST(ANumberOutOfRangeIsClamped),
        TEST(SizesAndTimesMayHaveUnits),
        TEST(GettersSayWhetherThereIsAValidValue),
        TEST(AfterTheStartTheSetStaysAsItIs),
        TEST(AScriptCannotGrowTheStoreWithoutBound),
        TEST(ThreadsReadAndRecordAtTheSameTime),
        TEST(FiltersTellConfiguredFromDefault),
        TEST(SectionsAreListedInTheOrderOfTheFile),
        TEST(AMisspelledParameterIsReportedWithItsLineAndTheNearestName),
        TEST(AMisspelledSectionIsReported),
        TEST(ValuesOutOfRangeAreReported),
        TEST(OtherPeoplesSectionsAreTheirBusiness),
        TEST(ASectionThatResemblesNothingIsNoted),
        TEST(WhatNothingDefinesIsReported),
        TEST(AModuleIsKnownByTheFileItIsLoadedFrom),
        TEST(LinesInsideABlockCountFromTheTopOfTheFile),
        TEST(AParameterNeedsASection),
        TEST(APathIsOfASectionThatIsMadeWhereItIsMissing),
        TEST(ASectionCanBeLookedAtWithoutUse),
        TEST(WhatTheFileHasIsProvided),
        TEST(AKeywordHasANumber),
        TEST(AListOfPairsIsASet),
        TEST(AFileNameIsBelowItsDirectory),
        TEST(TheFileSeesTheCommandLine)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

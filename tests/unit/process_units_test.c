/* SPDX-License-Identifier: MPL-2.0
 * process_units_test.c --
 *
 *      How numbers, sizes, durations and truth are written.
 *
 *      1  booleans     3  times
 *      2  numbers      4  nearest names
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nsstring.h"
#include "process/units.h"

static void
ATruthIsAWordOrANumber(void **state)
{
    static const char *const yes[] = {"1", "y", "Yes", "ON", "t", "TRUE", "7"};
    static const char *const no[] = {"0", "n", "NO", "off", "F", "false", "00"};
    static const char *const bad[] = {"", "maybe", "1.5", "tr ue", "yess"};
    bool                     value;

    for (int i = 0; i < Ns_NrElements(yes); i++) {
        assert_true(NsUnitsBool(yes[i], &value));
        assert_true(value);
    }
    for (int i = 0; i < Ns_NrElements(no); i++) {
        assert_true(NsUnitsBool(no[i], &value));
        assert_false(value);
    }
    for (int i = 0; i < Ns_NrElements(bad); i++) {
        assert_false(NsUnitsBool(bad[i], &value));
    }
}

static void
ANumberMayHaveBlanksASignAndAUnit(void **state)
{
    static const struct {
        const char *text;
        Tcl_WideInt value;
    } good[] = {{"0", 0},           {" 12 ", 12},
                {"-3", -3},         {"+4", 4},
                {"0x10", 16},       {"010", 10},
                {"10MB", 10485760}, {"10 mb", 10485760},
                {"64KiB", 65536},   {"5s", 5},
                {"2m", 120},        {"1h", 3600},
                {"1d", 86400},      {"500ms", 1},
                {"1.5kB", 1536},    {"9223372036854775807", INT64_MAX}};
    Tcl_WideInt value;

    for (int i = 0; i < Ns_NrElements(good); i++) {
        assert_true(NsUnitsInteger(good[i].text, &value));
        assert_int_equal(value, good[i].value);
    }
}

static void
WhatIsNoNumberLeavesTheValueAlone(void **state)
{
    static const char *const bad[] = {
        "",       " ", "ten", "1.5", "5 apples", "9223372036854775808",
        "1e30GB", "-", "0x",  "nan", "infs",     "10MBs"};
    Tcl_WideInt value = 42;

    for (int i = 0; i < Ns_NrElements(bad); i++) {
        assert_false(NsUnitsInteger(bad[i], &value));
        assert_int_equal(value, 42);
    }
}

static void
UnitsOfSizeArePowersOf1024WithAndWithoutTheI(void **state)
{
    static const char *const names[][4] = {
        {"kB", "KB", "KiB", "kib"},
        {"MB", "mb", "MiB", "mib"},
        {"GB", "gb", "GiB", "gib"},
        {"TB", "tb", "TiB", "tib"}};
    Tcl_WideInt value, bytes = 1;

    for (int i = 0; i < Ns_NrElements(names); i++) {
        bytes *= 1024;
        for (int j = 0; j < Ns_NrElements(names[i]); j++) {
            char text[16];

            snprintf(text, sizeof(text), "3%s", names[i][j]);
            assert_true(NsUnitsSize(text, &value));
            assert_int_equal(value, 3 * bytes);
        }
    }
}

static void
ASizeIsNoTime(void **state)
{
    Tcl_WideInt value;

    assert_true(NsUnitsSize("1GiB", &value));
    assert_int_equal(value, 1073741824);
    assert_false(NsUnitsSize("5s", &value));
}

static void
ATimeIsExactToTheMicrosecond(void **state)
{
    static const struct {
        const char *text;
        long        sec, usec;
    } good[] = {{"0", 0, 0},           {"2", 2, 0},
                {"0.1s", 0, 100000},   {"1.25", 1, 250000},
                {"1500ms", 1, 500000}, {"7us", 0, 7},
                {"7\u00b5s", 0, 7},    {"1y", 31536000, 0},
                {"2m", 120, 0},        {"10:500000", 10, 500000},
                {" 3 s ", 3, 0},       {"0.9999999", 1, 0}};
    static const char *const bad[] = {
        "", "-1", "1MB", "soon", "1:1000000", "1.5:3"};
    Ns_Time time;

    for (int i = 0; i < Ns_NrElements(good); i++) {
        assert_true(NsUnitsTime(good[i].text, &time));
        assert_int_equal(time.sec, good[i].sec);
        assert_int_equal(time.usec, good[i].usec);
    }
    for (int i = 0; i < Ns_NrElements(bad); i++) {
        assert_false(NsUnitsTime(bad[i], &time));
    }
}

static void
AnExchangeOfNeighboursCountsOnce(void **state)
{
    assert_int_equal(NsUnitsDistance("asynclogwriter", "asynlogcwriter"), 2);
    assert_int_equal(NsUnitsDistance("ab", "ba"), 1);
    assert_int_equal(NsUnitsDistance("port", "PORT"), 0);
    assert_int_equal(NsUnitsDistance("", "abc"), 3);
    assert_int_equal(NsUnitsDistance("kitten", "sitting"), 3);
}

static void
ALongNameIsNearToNothing(void **state)
{
    char name[200];

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_true(NsUnitsDistance(name, name) >= 64);
}

static void
ASizeOfMemoryHasAUnitInItsOwnCaseAndIsNotNegative(void **state)
{
    static const struct {
        const char *text;
        Tcl_WideInt bytes; /* -1: refused. */
    } cases[] = {
        {"0", 0},
        {"4096", 4096},
        {"1kB", 1024},
        {"1.5 MiB", 1572864},
        {"10MB", 10485760},
        {"2GiB", INT64_C(2147483648)},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", -1},
        {"8589934592GB", -1},
        {"-1", -1},
        {"-1kB", -1},
        {"1mb", -1},
        {"1TB", -1},
        {"1kBx", -1},
        {"kB", -1},
        {"", -1},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Tcl_WideInt bytes = -1;

        assert_int_equal(Ns_StrToMemUnit(cases[i].text, &bytes),
                         cases[i].bytes < 0 ? NS_ERROR : NS_OK);
        assert_int_equal(bytes, cases[i].bytes);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ATruthIsAWordOrANumber),
        cmocka_unit_test(ANumberMayHaveBlanksASignAndAUnit),
        cmocka_unit_test(WhatIsNoNumberLeavesTheValueAlone),
        cmocka_unit_test(UnitsOfSizeArePowersOf1024WithAndWithoutTheI),
        cmocka_unit_test(ASizeIsNoTime),
        cmocka_unit_test(ASizeOfMemoryHasAUnitInItsOwnCaseAndIsNotNegative),
        cmocka_unit_test(ATimeIsExactToTheMicrosecond),
        cmocka_unit_test(AnExchangeOfNeighboursCountsOnce),
        cmocka_unit_test(ALongNameIsNearToNothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

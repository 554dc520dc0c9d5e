/* SPDX-License-Identifier: MPL-2.0
 * log_rollname_test.c --
 *
 *      The names that rolled files get by a format.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "log/target/rollname.h"

static bool
Matches(const char *format, const char *suffix)
{
    regex_t pattern;
    bool    isMatch;

    assert_true(NsRollPattern(&pattern, format));
    isMatch = regexec(&pattern, suffix, 0, NULL, 0) == 0;
    regfree(&pattern);
    return isMatch;
}

static void
EveryFormatMatchesWhatItMakes(void **state)
{
    char letters[] = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%";
    char format[16], suffix[256];

    for (int i = 0; letters[i] != '\0'; i++) {
        static const char *const forms[] = {"%%%c", "%%-%c", "old.%c-x+(%%Ey"};

        for (size_t j = 0; j < sizeof(forms) / sizeof(forms[0]); j++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(format, sizeof(format), forms[j], letters[i]);
#pragma GCC diagnostic pop
            for (int day = 0; day < 366; day += 5) {
                time_t    when = (time_t) day * 90000 + 1770000000;
                struct tm tm;

                localtime_r(&when, &tm);
                assert_true(NsRollSuffix(suffix, sizeof(suffix), format, &tm)
                            > 0);
                if (!Matches(format, suffix)) {
                    print_error("%s: %s\n", format, suffix);
                    fail();
                }
            }
        }
    }
}

static void
NumbersAndCompressedOnesAreBackupsToo(void **state)
{
    assert_true(Matches("%Y%m%d", "20261122"));
    assert_true(Matches("%Y%m%d", "20261122.000"));
    assert_true(Matches("%Y%m%d", "20261122.gz"));
    assert_true(Matches("%Y%m%d", "20261122.017.gz"));
}

static void
OtherNamesAreNone(void **state)
{
    static const char *const others[] = {
        "",
        "json",
        "bak",
        "2026",
        "20261122x",
        "x20261122",
        "20261122.1",
        "20261122.0000",
        "20261122.gz.000",
        "20261122.gz.gz",
        "2026112a",
        "20261122-101010",
        "20261122.json",
        "000",
        "gz"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(Matches("%Y%m%d", others[i]));
    }
    assert_false(Matches("a.b", "a-b"));
    assert_true(Matches("%d/%m", "22-11"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryFormatMatchesWhatItMakes),
        cmocka_unit_test(NumbersAndCompressedOnesAreBackupsToo),
        cmocka_unit_test(OtherNamesAreNone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0
 * log_addresses_test.c --
 *
 *      Numeric addresses in the text of messages.
 */

#include "unit.h"
#include "log/stream/addresses.h"

typedef struct Case {
    const char *text;
    const char *hidden; /* NULL: the same. */
} Case;

static void
addresses_lose_their_last_part_and_all_else_stays(void **state)
{
    static const Case cases[] = {
        {"", NULL},
        {"no address", NULL},
        {"192.0.2.77", "192.0.2.0"},
        {"from 192.0.2.77: reason", "from 192.0.2.0: reason"},
        {"192.0.2.77:8080 and 192.0.2.78.", "192.0.2.0:8080 and 192.0.2.0."},
        {"'192.0.2.77','10.1.2.3'", "'192.0.2.0','10.1.2.0'"},
        {"peer=192.0.2.77/32", "peer=192.0.2.0/32"},
        {"for%3A192.0.2.77", "for%3A192.0.2.0"},
        {"x192.0.2.77y", "x192.0.2.0y"},
        {"192.0.2.77.example", "192.0.2.0.example"},
        {"192.0.2.0777", NULL},
        {"1192.0.2.77", NULL},
        {"300.1.2.3", NULL},
        {"1.2.3", NULL},
        {"4.99.5 8.6.13", NULL},
        {"192.0.2.", NULL},
        {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
        {"from 2001:db8:1:2:3:4:5:6: reason", "from 2001:db8:1:2::: reason"},
        {"[2001:db8:1:2::7]:8080", "[2001:db8:1:2::]:8080"},
        {"fe80::1%eth0", "fe80::%eth0"},
        {"FE80::ABCD,", "fe80::,"},
        {"::1", "::"},
        {"from ::1: reason", "from ::: reason"},
        {"::ffff:192.0.2.77", "::ffff:192.0.2.0"},
        {"2001:db8::192.0.2.77", "2001:db8::192.0.2.0"},
        {"2001:db8:1:2::", "2001:db8:1:2::"},
        {"[28/Nov/2026:01:48:23]", NULL},
        {"10:20:30", NULL},
        {"01:23:45:67:89:ab", NULL},
        {"::add ::bad::cafe nsstats::fade ::ns_add", NULL},
        {"a::b c::1x _2::3", "a:: c::1x _2::3"},
        {"driver::nssock:", NULL},
        {"::", NULL},
        {":", NULL},
        {"1:2:3:4:5:6:7:8:9:a:b:c:d:e:f:1:2:3:4:5:6:7:8:9", NULL}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const Case *casePtr = &cases[i];
        size_t      length = strlen(casePtr->text);
        /* Nothing behind the end is looked at. */
        char      *exact = memcpy(test_malloc(length + 1), casePtr->text,
                                  length + 1);
        Ns_DString ds;

        Ns_DStringInit(&ds);
        NsAddressesHide(&ds, exact, length);
        assert_string_equal(Ns_DStringValue(&ds),
                            casePtr->hidden == NULL ? casePtr->text
                                                    : casePtr->hidden);
        Ns_DStringSetLength(&ds, 0);
        memmove(exact + 1, exact, length);
        NsAddressesHide(&ds, exact + 1, length);
        assert_string_equal(Ns_DStringValue(&ds),
                            casePtr->hidden == NULL ? casePtr->text
                                                    : casePtr->hidden);
        Ns_DStringFree(&ds);
        test_free(exact);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_lose_their_last_part_and_all_else_stays)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

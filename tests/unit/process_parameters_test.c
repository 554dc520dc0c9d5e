/* SPDX-License-Identifier: MPL-2.0
 * process_parameters_test.c --
 *
 *      Rows of parameters, and the structs that they fill.
 *
 *      1  registration        3  all rows of the server
 *      2  values
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>

#include "base/clock.h"
#include "ns.h"
#include "process/config.h"
#include "process/parameters.h"

#define SECTION    "ns/things"
#define MAX_STRUCT 65536

typedef enum { RED, GREEN } Colour;

typedef struct Thing {
    const char *name;
    bool        isLarge;
    int         nParts;
    int         nSpare;
    int64_t     bytes;
    size_t      room;
    NsStamp     life;
    Colour      colour;
} Thing;

static NsParameterAdjustProc AdjustSpare;

static const NsParameter rows[] = {
    NS_TEXT(Thing, name, "name", "", "Its name."),
    NS_BOOL(Thing, isLarge, "large", "true", "Whether it is large."),
    NS_INT(Thing, nParts, "parts", "4", 1, 8, "Its parts."),
    NS_INT(Thing, nSpare, "spare", "2", 0, 100, "No more than parts.",
           .adjustProc = AdjustSpare),
    NS_SIZE(Thing, bytes, "bytes", "1KB", 0, NS_PARAM_NO_LIMIT, "Its bytes."),
    NS_SIZE(Thing, room, "room", "1MB", 0, NS_PARAM_NO_LIMIT, "Its room."),
    NS_TIME(Thing, life, "life", "0.5", 10, NS_PARAM_NO_LIMIT, "Its life."),
    NS_CHOICE(Thing, colour, "colour", "green", "red green", "Its colour."),
    NS_LISTED("map", NS_PARAM_STRING, "", "Read in a way of its own."),
    NS_PARAM_END};

static void
AdjustSpare(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const Thing *thingPtr = valuesPtr;

    limitsPtr->max = thingPtr->nParts;
    limitsPtr->maxName = "parts";
}

static int
SetUp(void **state)
{
    Nsd_LibInit();
    NsConfigReset();
    return 0;
}

static Thing
Fill(void)
{
    Thing thing;

    memset(&thing, 0, sizeof(thing));
    NsParametersFill(rows, SECTION, &thing);
    return thing;
}

static const char *
Problem(NsParameter row)
{
    NsParameter two[] = {rows[2], row, NS_PARAM_END};

    return NsParametersProblem(two, sizeof(Thing));
}

static void
rows_that_are_wrong_in_themselves_are_found(void **state)
{
    NsParameter row = NS_INT(Thing, nSpare, "x", "5", 1, 9, "");

    assert_null(NsParametersProblem(rows, sizeof(Thing)));
    assert_null(Problem(row));
    row.defaultText = "10";
    assert_string_equal(Problem(row), "x");
    row.defaultText = "";
    assert_string_equal(Problem(row), "x");
    row.defaultText = "5";
    row.key = "Parts";
    assert_string_equal(Problem(row), "Parts");
    row.key = "x";
    row.offset = offsetof(Thing, nParts);
    assert_string_equal(Problem(row), "x");
    row.offset = sizeof(Thing);
    assert_string_equal(Problem(row), "x");
    row.offset = offsetof(Thing, nSpare) + 1;
    assert_string_equal(Problem(row), "x");
    row.offset = offsetof(Thing, nSpare);
    row.type = NS_PARAM_TIME;
    assert_string_equal(Problem(row), "x");
    row.type = NS_PARAM_SIZE;
    assert_null(Problem(row));
    row.max = NS_PARAM_NO_LIMIT;
    assert_string_equal(Problem(row), "x");
}

static void
without_a_word_in_the_configuration_the_defaults_hold(void **state)
{
    Thing thing = Fill();

    assert_null(thing.name);
    assert_true(thing.isLarge);
    assert_int_equal(thing.nParts, 4);
    assert_int_equal(thing.nSpare, 2);
    assert_int_equal(thing.bytes, 1024);
    assert_int_equal(thing.room, 1 << 20);
    assert_int_equal(thing.life, NS_STAMP_SECOND / 2);
    assert_int_equal(thing.colour, GREEN);
}

static void
values_have_units_and_fractions(void **state)
{
    Thing thing;

    NsConfigSet(SECTION, "name", "");
    NsConfigSet(SECTION, "large", "off");
    NsConfigSet(SECTION, "bytes", "1.5kB");
    NsConfigSet(SECTION, "life", "200us");
    NsConfigSet(SECTION, "colour", "Red");
    thing = Fill();
    assert_string_equal(thing.name, "");
    assert_false(thing.isLarge);
    assert_int_equal(thing.bytes, 1536);
    assert_int_equal(thing.life, NS_STAMP_SECOND / 100);
    assert_int_equal(thing.colour, RED);

    NsConfigSet(SECTION, "life", "250ms");
    assert_int_equal(Fill().life, NS_STAMP_SECOND / 4);
}

static void
what_cannot_be_read_gives_way_to_the_default(void **state)
{
    Thing thing;

    NsConfigSet(SECTION, "large", "perhaps");
    NsConfigSet(SECTION, "parts", "1.5s");
    NsConfigSet(SECTION, "bytes", "much");
    NsConfigSet(SECTION, "life", "-1");
    NsConfigSet(SECTION, "colour", "blue");
    thing = Fill();
    assert_true(thing.isLarge);
    assert_int_equal(thing.nParts, 4);
    assert_int_equal(thing.bytes, 1024);
    assert_int_equal(thing.life, NS_STAMP_SECOND / 2);
    assert_int_equal(thing.colour, GREEN);
}

static void
a_limit_can_be_the_value_of_a_row_above(void **state)
{
    NsConfigSet(SECTION, "parts", "6");
    NsConfigSet(SECTION, "spare", "7");
    assert_int_equal(Fill().nSpare, 6);
    NsConfigSet(SECTION, "parts", "7");
    assert_int_equal(Fill().nSpare, 7);
    NsConfigReset();
    NsConfigSet(SECTION, "parts", "1");
    assert_int_equal(Fill().nSpare, 1); /* The default, too. */
}

/*
 * As the member holds it.
 */
static int64_t
Stored(const NsParameter *rowPtr, const void *structPtr)
{
    const char *at = (const char *) structPtr + rowPtr->offset;

    switch (rowPtr->member) {
    case NS_MEMBER_INT:
        return *(const int *) at;
    case NS_MEMBER_SIZE:
        return (int64_t) * (const size_t *) at;
    default:
        return *(const int64_t *) at;
    }
}

/*
 * One value in a section of its own: whether the check reports it, and whether
 * it is what the struct has afterwards.
 */
static void
Compare(const NsParameter *firstPtr, const NsParameter *rowPtr, int64_t number)
{
    static char values[MAX_STRUCT];
    bool        isTime = rowPtr->type == NS_PARAM_TIME, isBad, isKept;
    char        text[32], problem[256];

    snprintf(text, sizeof(text), "%" PRId64 "%s", number, isTime ? "ms" : "");
    NsConfigReset();
    NsConfigSet(SECTION, rowPtr->key, text);
    memset(values, 0, sizeof(values));
    isBad = NsParameterIsBad(rowPtr, SECTION, text, problem, sizeof(problem));
    NsParametersFill(firstPtr, SECTION, values);
    isKept = Stored(rowPtr, values)
        == (isTime ? number * (NS_STAMP_SECOND / 1000) : number);
    if (isBad == isKept) {
        fail_msg("%s %s is %s and %s", rowPtr->key, text,
                 isBad ? "reported" : "accepted", isKept ? "kept" : "changed");
    }
    if (rowPtr->adjustProc == NULL) {
        assert_int_equal(isBad, number < rowPtr->min || number > rowPtr->max);
    }
}

static void
the_check_reports_what_a_start_would_change_and_nothing_else(void **state)
{
    const NsParameterSection *sectionPtr;
    int                       nCompared = 0;

    for (int j = 0; (sectionPtr = NsParameterSectionAt(j)) != NULL; j++) {
        const NsParameter *firstPtr = NULL, *lastPtr = NULL, *rowPtr;

        for (int i = 0; (rowPtr = NsParameterAt(sectionPtr, i)) != NULL; i++) {
            if (firstPtr == NULL || rowPtr != lastPtr + 1) {
                firstPtr = rowPtr; /* Another table of rows. */
            }
            lastPtr = rowPtr;
            if (rowPtr->member == NS_MEMBER_NONE
                || (rowPtr->type != NS_PARAM_INT
                    && rowPtr->type != NS_PARAM_SIZE
                    && rowPtr->type != NS_PARAM_TIME)) {
                continue;
            }
            nCompared++;
            Compare(firstPtr, rowPtr, rowPtr->min - 1);
            Compare(firstPtr, rowPtr, rowPtr->min);
            if (rowPtr->adjustProc != NULL) {
                /* Beyond what other parameters allow by default. */
                Compare(firstPtr, rowPtr, INT_MAX);
            }
            if (rowPtr->max != NS_PARAM_NO_LIMIT) {
                Compare(firstPtr, rowPtr, rowPtr->max);
                Compare(firstPtr, rowPtr, rowPtr->max + 1);
            }
        }
    }
    assert_true(nCompared > 10);
}

#define TEST(name) cmocka_unit_test_setup(name, SetUp)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        /* 1 */
        TEST(rows_that_are_wrong_in_themselves_are_found),
        /* 2 */
        TEST(without_a_word_in_the_configuration_the_defaults_hold),
        TEST(values_have_units_and_fractions),
        TEST(what_cannot_be_read_gives_way_to_the_default),
        TEST(a_limit_can_be_the_value_of_a_row_above),
        /* 3 */
        TEST(the_check_reports_what_a_start_would_change_and_nothing_else)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

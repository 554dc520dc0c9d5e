/* SPDX-License-Identifier: MPL-2.0
 * log_otlprecord_test.c --
 *
 *      What a collector says of the records that it got; attributes.
 */

#include "unit.h"

#include "log/target/otlprecord.h"
#include "nsstring.h"

#include <string.h>

static uint64_t
Rejected(const char *text, char reason[64])
{
    return NsOtlpRejected(text, strlen(text), reason, 64);
}

static void
WhatIsRejectedIsANumberOrAStringOfDigits(void **state)
{
    char reason[64];

    assert_int_equal(Rejected("{\"partialSuccess\":{\"rejectedLogRecords\":"
                              "\"12\",\"errorMessage\":\"too old\"}}",
                              reason),
                     12);
    assert_string_equal(reason, "too old");
    assert_int_equal(Rejected("{\"partialSuccess\":{\"errorMessage\":\"late\","
                              "\"rejectedLogRecords\":3}}",
                              reason),
                     3);
    assert_string_equal(reason, "late");
}

static void
WithoutAWordAllAreTaken(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "{\"partialSuccess\":{}}",
        "{\"partialSuccess\":{\"rejectedLogRecords\":\"0\"}}",
        "{\"partialSuccess\":{\"rejectedLogRecords\":\"-1\"}}",
        "{\"partialSuccess\":{\"rejectedLogRecords\":null}}",
        "<html>rejectedLogRecords: 5</html>",
        "\"rejectedLogRecords\""};
    char reason[64];

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        assert_int_equal(Rejected(texts[i], reason), 0);
        assert_true(strlen(reason) > 0);
    }
}

static void
ALongReasonIsCut(void **state)
{
    char text[400], reason[64];

    snprintf(text, sizeof(text),
             "{\"partialSuccess\":{\"rejectedLogRecords\":1,"
             "\"errorMessage\":\"%0200d\"}}",
             7);
    assert_int_equal(Rejected(text, reason), 1);
    assert_int_equal(strlen(reason), 63);
}

static void
AnAnswerThatFailsTellsItsMessage(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } answers[] = {
        {"{\"code\":14, \"message\":\"data refused\"}", "data refused"},
        {"{\"message\":\"a much longer one\"}", "a much longer"},
        {"{\"code\":14}", ""},
        {"{\"message\":5}", ""},
        {"<p>message", ""},
        {"", ""}};

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        char message[14];

        NsOtlpMessage(answers[i].text, strlen(answers[i].text), message,
                      sizeof(message));
        assert_string_equal(message, answers[i].message);
    }
}

static void
AnAttributeIsEscapedAndCounted(void **state)
{
    char     buffer[128];
    NsLogOut none = {NULL, 0, 0}, out = {buffer, sizeof(buffer), 0};

    NsOtlpPutText(&none, "a\"b", "\n", 1, false);
    NsOtlpPutText(&out, "a\"b", "\n", 1, false);
    assert_int_equal(none.length, out.length);
    assert_int_equal(out.length,
                     strlen(",{\"key\":\"a\\\"b\",\"value\":"
                            "{\"stringValue\":\"\\n\"}}"));
    assert_memory_equal(buffer,
                        ",{\"key\":\"a\\\"b\",\"value\":"
                        "{\"stringValue\":\"\\n\"}}",
                        out.length);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsRejectedIsANumberOrAStringOfDigits),
        cmocka_unit_test(WithoutAWordAllAreTaken),
        cmocka_unit_test(ALongReasonIsCut),
        cmocka_unit_test(AnAnswerThatFailsTellsItsMessage),
        cmocka_unit_test(AnAttributeIsEscapedAndCounted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

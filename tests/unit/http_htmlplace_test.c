/* SPDX-License-Identifier: MPL-2.0
 * http_htmlplace_test.c --
 *
 *      Where something can be put into a document of HTML.  In the texts, a bar
 *      marks the place.
 */

#include "unit.h"

#include <string.h>

#include "http/htmlplace.h"

static void
Check(const char *marked, bool isWhole)
{
    char        html[256], *end = html;
    const char *mark = strchr(marked, '|'), *place;

    for (const char *p = marked; *p != '\0'; p++) {
        if (p != mark) {
            *end++ = *p;
        }
    }
    place = NsHtmlHeadPlace((NsSpan){html, (size_t) (end - html)}, isWhole);
    if (mark == NULL) {
        assert_null(place);
    } else {
        assert_non_null(place);
        assert_int_equal(place - html, mark - marked);
    }
}

static void
it_is_before_the_end_of_the_head_or_before_the_body(void **statePtr)
{
    static const char *const texts[] = {
        "<html><head><title>x</title>|</head><body></body></html>",
        "<!DOCTYPE html><HTML><HEAD>|</HEAD ><BODY>",
        "<!doctype html><title>x</title>|<body class='</head>'><p>y",
        "<html><head><!-- </head> --><script>'</head>'</script>|</head>",
        "<html><head><style></head><body></style>|</head>",
        "|</head>"};

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        Check(texts[i], true);
        Check(texts[i], false);
    }
}

static void
a_document_without_these_tags_has_it_at_the_end_if_all_is_there(void **statePtr)
{
    Check("<!DOCTYPE html><title>x</title><p>y|", true);
    Check("<!-- x -->\n<!-- y --> <!DOCTYPE html><p>y|</html>", true);
    Check("<html><p>y|</body></html>\n", true);
    Check("<head><title>x</title><p>y|", true);
    Check("<!DOCTYPE html><title>x</title><p>y", false);
}

static void
a_part_of_a_document_has_none(void **statePtr)
{
    static const char *const texts[] = {
        "",
        "<",
        "text",
        "<p>x</p>",
        "<header>x</header>",
        "<!-- <html><head></head> -->",
        "<!-- open <html></head>",
        "<!DOCTYP",
        "<!doctype",
        "<script><html></script>",
        "&lt;html>"};

    for (int i = 0; i < Ns_NrElements(texts); i++) {
        Check(texts[i], true);
        Check(texts[i], false);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_before_the_end_of_the_head_or_before_the_body),
        cmocka_unit_test(
            a_document_without_these_tags_has_it_at_the_end_if_all_is_there),
        cmocka_unit_test(a_part_of_a_document_has_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

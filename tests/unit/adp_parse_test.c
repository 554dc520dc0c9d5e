/* SPDX-License-Identifier: MPL-2.0
 * adp_parse_test.c --
 *
 *      1. inline blocks    2. server scripts    3. registered tags
 *      4. modes            5. lines
 *
 * A parsed page is shown as its blocks, T(text) or S(script), one after the
 * other.
 */

#include "unit.h"
#include "adp/parse.h"

#define SAFE   1
#define SINGLE 2
#define TCL    4

typedef struct Case {
    const char *page;
    const char *blocks;
} Case;

static const NsAdpTag *
FindTag(const char *name, void *arg)
{
    static const struct {
        const char *name;
        NsAdpTag    tag;
    } tags[] = {
        {"alone", {NS_ADP_TAG_PROC, NULL, "Alone"}},
        {"self/", {NS_ADP_TAG_PROC, NULL, "self"}},
        {"pair", {NS_ADP_TAG_PROC, "/pair", "pair"}},
        {"script1", {NS_ADP_TAG_SCRIPT, "/script1", "cmd"}},
        {"single", {NS_ADP_TAG_SCRIPT, NULL, "cmd"}},
        {"adp", {NS_ADP_TAG_ADP, "/adp", "<b><%= [ns_adp_argv 1] %>"}},
    };

    for (int i = 0; i < Ns_NrElements(tags); i++) {
        if (STREQ(tags[i].name, name)) {
            return &tags[i].tag;
        }
    }
    return NULL;
}

static void
Parse(NsAdpCode *codePtr, const char *page, int mode)
{
    NsAdpCodeInit(codePtr);
    NsAdpParse(codePtr, page,
               &(NsAdpParseSpec){.isSafe = (mode & SAFE) != 0,
                                 .isSingle = (mode & SINGLE) != 0,
                                 .isTcl = (mode & TCL) != 0,
                                 .findTagProc = FindTag});
}

static void
Check(const char *page, int mode, const char *blocks)
{
    NsAdpCode   code;
    Tcl_DString shown;

    Parse(&code, page, mode);
    Tcl_DStringInit(&shown);
    for (int i = 0; i < code.nBlocks; i++) {
        const NsAdpBlock *blockPtr = &code.blocks[i];

        Tcl_DStringAppend(&shown, blockPtr->isScript ? "S(" : "T(", 2);
        Tcl_DStringAppend(&shown,
                          Tcl_DStringValue(&code.text) + blockPtr->offset,
                          blockPtr->length);
        Tcl_DStringAppend(&shown, ")", 1);
    }
    assert_string_equal(Tcl_DStringValue(&shown), blocks);
    Tcl_DStringFree(&shown);
    NsAdpCodeFree(&code);
}

static void
CheckAll(const Case *cases, int nCases, int mode)
{
    for (int i = 0; i < nCases; i++) {
        Check(cases[i].page, mode, cases[i].blocks);
    }
}

static void
a_script_block_stands_between_texts(void **state)
{
    static const Case cases[] = {
        {"", ""},
        {"text", "T(text)"},
        {"a<% set x 1 %>b", "T(a)S( set x 1 )T(b)"},
        {"<%a%><%b%>", "S(a)S(b)"},
        {"a<%b%>\nc\n", "T(a)S(b)T(\nc\n)"},
        {"<!-- <%x%> -->", "T(<!-- )S(x)T( -->)"},
        {"a < b <c> <", "T(a < b <c> <)"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
an_output_block_appends_its_words(void **state)
{
    static const Case cases[] = {
        {"<%= a b %>", "S(ns_adp_append  a b )"},
        {"<%=$x%>", "S(ns_adp_append $x)"},
        {"<%=%>", ""},
        {"<%%>", ""},
        {"a<%%>b", "T(a)T(b)"},
        {"<% =x %>", "S( =x )"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
blocks_nest_to_any_depth(void **state)
{
    static const Case cases[] = {
        {"<%= [ns_adp_eval {a<% set x 1 %>b}] %>",
         "S(ns_adp_append  [ns_adp_eval {a<% set x 1 %>b}] )"},
        {"<%a<%b<%c%>d%>e%>f", "S(a<%b<%c%>d%>e)T(f)"},
        {"<% set x \"%>\" %>", "S( set x \")T(\" %>)"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
what_cannot_be_a_block_is_text(void **state)
{
    static const Case cases[] = {
        {"<%>", "T(<%>)"},
        {"a<%>b<%c%>", "T(a<%>b)S(c)"},
        {"<% a <% set x 1 %> b", "T(<% a )S( set x 1 )T( b)"},
        {"a<%", "T(a<%)"},
        {"<%=", "T(<%=)"},
        {"a %> b", "T(a %> b)"},
        {"<% a <alone>", "T(<% a )S(ns_adp_append [ Alone])"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
a_server_script_is_a_block(void **state)
{
    static const Case cases[] = {
        {"a<script runat=server>x</script>b", "T(a)S(x)T(b)"},
        {"<SCRIPT RunAt='Server' language=\"TCL\">x</Script>", "S(x)"},
        {"<script language = tcl runat = server >x</script >y", "S(x)T(y)"},
        {"<script runat=server>a<script>b</script>c</script>d",
         "S(a<script>b</script>c)T(d)"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
other_scripts_are_text(void **state)
{
    static const Case cases[] = {
        {"<script>x</script>", "T(<script>x</script>)"},
        {"<script runat=client>x</script>",
         "T(<script runat=client>x</script>)"},
        {"<script runat=server language=perl>x</script>",
         "T(<script runat=server language=perl>x</script>)"},
        {"<script>a<%b%></script>", "T(<script>a)S(b)T(</script>)"},
        {"a<script runat=server>b<%c%>", "T(a<script runat=server>b<%c%>)"},
        {"<scripts runat=server>x</scripts>",
         "T(<scripts runat=server>x</scripts>)"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
a_server_script_may_start_streaming(void **state)
{
    NsAdpCode code;

    Parse(&code, "a<script runat=server stream=ON>x</script><%y%>", 0);
    assert_int_equal(code.nBlocks, 3);
    assert_true(code.blocks[1].startsStream);
    assert_false(code.blocks[2].startsStream);
    NsAdpCodeFree(&code);
}

static void
a_tag_becomes_a_call(void **state)
{
    static const Case cases[] = {
        {"a<alone>b", "T(a)S(ns_adp_append [ Alone])T(b)"},
        {"<ALONE>", "S(ns_adp_append [ Alone])"},
        {"< alone x=1>", "S(ns_adp_append [ Alone 1])"},
        {"<self/>", "S(ns_adp_append [ self])"},
        {"<alone/>", "T(<alone/>)"},
        {"<pair>in<%x%></pair>", "S(ns_adp_append [ pair in<%x%>])"},
        {"<pair></pair>", "S(ns_adp_append [ pair {}])"},
        {"<Pair>a<pair>b</PAIR>c</pair>d",
         "S(ns_adp_append [ pair a<pair>b</PAIR>c])T(d)"},
        {"<single>", "S(ns_adp_append [ cmd [ns_set create single]])"},
        {"<adp>in</adp>",
         "S(ns_adp_append [_ns_adp_tag "
         "{<b><%= [ns_adp_argv 1] %>} in [ns_set create adp]])"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
attributes_are_separated_by_white_space(void **state)
{
    static const Case cases[] = {
        {"<alone a=1 b = 2\tc='v w' d=\"x y\" e>",
         "S(ns_adp_append [ Alone 1 2 {v w} {x y} e])"},
        {"<alone \"q w\">", "S(ns_adp_append [ Alone {\"q w\"}])"},
        {"<alone a= b>", "S(ns_adp_append [ Alone b])"},
        {"<alone $x [y]>", "S(ns_adp_append [ Alone {$x} {[y]}])"},
        {"<single Name=V>",
         "S(ns_adp_append [ cmd [ns_set create single Name V]])"},
        {"<script1 a=1>c d</script1>",
         "S(ns_adp_append [ cmd {c d} [ns_set create script1 a 1]])"},
    };

    CheckAll(cases, Ns_NrElements(cases), 0);
}

static void
a_tag_ends_at_the_first_angle_bracket(void **state)
{
    Check("<alone a='x>y'>", 0, "S(ns_adp_append [ Alone x])T(y'>)");
}

static void
without_its_end_tag_the_rest_is_text(void **state)
{
    Check("a<pair x=1>b<%c%>", 0, "T(a<pair x=1>b<%c%>)");
    Check("a<%b%>c<pair>d", 0, "T(a)S(b)T(c<pair>d)");
}

static void
safe_mode_removes_inline_scripts(void **state)
{
    Check("a<%b%>c<%=d%>e<script runat=server>f</script>g<alone>", SAFE,
          "T(a)T(c)T(e)T(g)S(ns_adp_append [ Alone])");
}

static void
a_single_script_may_span_blocks(void **state)
{
    Check("<% foreach i {1 2} { %>x y<% } %>", SINGLE,
          "S( foreach i {1 2} { \nns_adp_append {x y}\n } \n)");
    Check("", SINGLE, "");
}

static void
a_tcl_page_is_one_script(void **state)
{
    Check("set x <%y%>\n", TCL, "S(set x <%y%>\n)");
}

static void
blocks_know_their_line(void **state)
{
    static const int lines[] = {1, 3, 4, 6};
    NsAdpCode        code;

    Parse(&code, "one\ntwo\n<% three\nfour %>five\nsix\n<%= six %>", 0);
    assert_int_equal(code.nBlocks, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(code.blocks[i].line, lines[i]);
    }
    assert_int_equal(code.nScripts, 2);
    NsAdpCodeFree(&code);
}

static void
openings_without_an_end_leave_those_behind_them_their_own(void **state)
{
    static const Case cases[] = {
        {"a<% b <% c %>d", "T(a<% b )S( c )T(d)"},
        {"<% a <% b %> <% c %>", "T(<% a )S( b )T( )S( c )"},
        {"<% <% <% a <% b %> %> c", "T(<% <% )S( a <% b %> )T( c)"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Check(cases[i].page, 0, cases[i].blocks);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_block_stands_between_texts),
        cmocka_unit_test(an_output_block_appends_its_words),
        cmocka_unit_test(blocks_nest_to_any_depth),
        cmocka_unit_test(what_cannot_be_a_block_is_text),
        cmocka_unit_test(a_server_script_is_a_block),
        cmocka_unit_test(other_scripts_are_text),
        cmocka_unit_test(a_server_script_may_start_streaming),
        cmocka_unit_test(a_tag_becomes_a_call),
        cmocka_unit_test(attributes_are_separated_by_white_space),
        cmocka_unit_test(a_tag_ends_at_the_first_angle_bracket),
        cmocka_unit_test(without_its_end_tag_the_rest_is_text),
        cmocka_unit_test(safe_mode_removes_inline_scripts),
        cmocka_unit_test(a_single_script_may_span_blocks),
        cmocka_unit_test(a_tcl_page_is_one_script),
        cmocka_unit_test(blocks_know_their_line),
        cmocka_unit_test(
            openings_without_an_end_leave_those_behind_them_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

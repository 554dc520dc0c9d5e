/* SPDX-License-Identifier: MPL-2.0
 * text_steps_test.c --
 *
 *      How much is read of text that clients may supply.
 *
 *      The text stands on pages of which only those that were read last can be
 *      read again without a fault, and each fault is counted.  So the count
 *      tells how often the text is gone through, on any machine.
 *
 *      1. pages of the template engine    2. HTML
 */

#include "unit.h"
#include "adp/parse.h"
#include "nsprocess.h"
#include "nstcl.h"

#include <sys/mman.h>

#define N_OPEN     4  /* A string function may read two pages at once. */
#define N_PAGES    20 /* Of the shorter text. */
#define MAX_PASSES 10

typedef void ReadProc(char *text);

static char        *area;
static size_t       pageBytes, nAreaPages;
static int          openPages[N_OPEN];
static volatile int nFaults, maxFaults;

/*
 * Beyond the limit all can be read, so that a test fails and ends.
 */
static void
OpenPage(int sig, siginfo_t *infoPtr, void *context)
{
    uintptr_t page = ((uintptr_t) infoPtr->si_addr - (uintptr_t) area)
        / pageBytes;
    int *slotPtr = &openPages[nFaults % N_OPEN];

    if (page >= nAreaPages) {
        signal(SIGSEGV, SIG_DFL);
        return;
    }
    if (++nFaults >= maxFaults) {
        mprotect(area, nAreaPages * pageBytes, PROT_READ);
        return;
    }
    if (*slotPtr >= 0) {
        mprotect(area + (size_t) *slotPtr * pageBytes, pageBytes, PROT_NONE);
    }
    *slotPtr = (int) page;
    mprotect(area + page * pageBytes, pageBytes, PROT_READ);
}

/*
 * How many pages are opened while a text of so many is read: one piece, again
 * and again, then another one up to its middle, if any, and an end.
 */
static int
CountFaults(ReadProc *proc, size_t nPages, const char *first,
            const char *second, const char *end)
{
    struct sigaction action = {.sa_sigaction = OpenPage,
                               .sa_flags = SA_SIGINFO},
                     previous;
    size_t room, half, used = 0;

    nAreaPages = nPages;
    area = mmap(NULL, nPages * pageBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(area != MAP_FAILED);
    room = nPages * pageBytes - strlen(end) - 1;
    half = *second != '\0' ? room / 2 : room;
    while (used + strlen(first) <= half) {
        used = (size_t) (stpcpy(area + used, first) - area);
    }
    while (*second != '\0' && used + strlen(second) <= room) {
        used = (size_t) (stpcpy(area + used, second) - area);
    }
    strcpy(area + used, end);

    for (int i = 0; i < N_OPEN; i++) {
        openPages[i] = -1;
    }
    nFaults = 0;
    maxFaults = 100 * (int) nPages;
    assert_int_equal(mprotect(area, nPages * pageBytes, PROT_NONE), 0);
    assert_int_equal(sigaction(SIGSEGV, &action, &previous), 0);
    proc(area);
    assert_int_equal(sigaction(SIGSEGV, &previous, NULL), 0);
    assert_int_equal(munmap(area, nPages * pageBytes), 0);
    return nFaults;
}

static void
AssertFewPasses(ReadProc *proc, const char *first, const char *second,
                const char *end)
{
    for (int nPages = N_PAGES; nPages <= 2 * N_PAGES; nPages += N_PAGES) {
        int n = CountFaults(proc, (size_t) nPages, first, second, end);

        if (n > MAX_PASSES * nPages) {
            fail_msg("%d times '%s...%s%s' of %d pages is read", n / nPages,
                     first, second, end, nPages);
        }
    }
}

static const NsAdpTag *
FindTag(const char *name, void *arg)
{
    static const NsAdpTag alone = {NS_ADP_TAG_PROC, NULL, "Alone"};
    static const NsAdpTag pair = {NS_ADP_TAG_PROC, "/pair", "pair"};

    return STREQ(name, "alone") ? &alone : STREQ(name, "pair") ? &pair : NULL;
}

static void
ParsePage(char *text)
{
    NsAdpCode code;

    NsAdpCodeInit(&code);
    NsAdpParse(&code, text, &(NsAdpParseSpec){.findTagProc = FindTag});
    NsAdpCodeFree(&code);
}

static void
a_page_that_is_all_openings_is_read_a_few_times_at_most(void **state)
{
    static const char *const cases[][2] = {
        {"<% ", ""},           {"<% ", "%>"},     {"<% ", "<%= x %> <% y %>"},
        {"<script ", ""},      {"<script ", ">"}, {"<script runat=server>", ""},
        {"<alone ", ""},       {"<pair ", ""},    {"<pair>", ""},
        {"<pair>", "</pair>"}, {"< ", ""},        {"%> ", ""}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        AssertFewPasses(ParsePage, cases[i][0], "", cases[i][1]);
    }
    AssertFewPasses(ParsePage, "<pair>", "</pair ", ">");
    AssertFewPasses(ParsePage, "<% ", "%> ", "");
}

static Tcl_Interp *interp;

/*
 * The command with the text itself as its argument.
 */
static void
Evaluate(const char *command, char *text)
{
    Tcl_Obj *words[2] = {Tcl_NewStringObj(command, -1), Tcl_NewObj()};
    char    *empty = words[1]->bytes;
    int      status;

    words[1]->bytes = text;
    words[1]->length = (int) strlen(text);
    for (int i = 0; i < 2; i++) {
        Tcl_IncrRefCount(words[i]);
    }
    status = Tcl_EvalObjv(interp, 2, words, TCL_EVAL_GLOBAL);
    words[1]->bytes = empty;
    words[1]->length = 0;
    for (int i = 0; i < 2; i++) {
        Tcl_DecrRefCount(words[i]);
    }
    assert_int_equal(status, TCL_OK);
}

static void
FindLinks(char *text)
{
    Evaluate("ns_hrefs", text);
}

static void
Strip(char *text)
{
    Evaluate("ns_striphtml", text);
}

static void
html_that_is_all_openings_is_read_a_few_times_at_most(void **state)
{
    static const char *const links[][2] = {
        {"<a href=", ""},   {"<a href='", ""}, {"<a href=\"", "'>"},
        {"<a x= ", ">"},    {"<a ", ""},       {"<a", ""},
        {"<a href=x>", ""}, {" =", ""}};
    static const char *const texts[] = {"<&", "&x", "<", "&", "<a", "&amp"};

    for (int i = 0; i < Ns_NrElements(links); i++) {
        AssertFewPasses(FindLinks, links[i][0], "", links[i][1]);
    }
    AssertFewPasses(FindLinks, "<a href='", " = ", ">");
    for (int i = 0; i < Ns_NrElements(texts); i++) {
        AssertFewPasses(Strip, texts[i], "", "");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_page_that_is_all_openings_is_read_a_few_times_at_most),
        cmocka_unit_test(
            html_that_is_all_openings_is_read_a_few_times_at_most)};

    Nsd_LibInit();
    interp = Ns_TclCreateInterp();
    pageBytes = (size_t) sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

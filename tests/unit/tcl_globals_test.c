/* SPDX-License-Identifier: MPL-2.0
 * tcl_globals_test.c --
 *
 *      The end of the globals of a script, both by a look at Tcl's tables and
 *      in the plain way for versions of Tcl whose tables are not known.
 *
 *      1  what goes, what stays
 *      2  errorInfo and errorCode
 *      3  traces
 */

#include "unit.h"

#include <string.h>

#include "nsprocess.h"
#include "tcl/globals.h"

/*
 * The library has the one, this file the other.
 */
static const struct {
    void (*cleanupProc)(NsInterp *itPtr);
    void (*freeProc)(NsInterp *itPtr);
} fast = {NsGlobalsCleanup, NsGlobalsFree};

#define NS_PLAIN_GLOBALS
#define NsGlobalsCleanup PlainCleanup
#define NsGlobalsFree    PlainFree
static void PlainCleanup(NsInterp *itPtr);
static void PlainFree(NsInterp *itPtr);
#include "../../nsd/tcl/globals.c"

static NsInterp it;
static bool     isPlain;

static int
setup(void **state)
{
    isPlain = *state != NULL;
    memset(&it, 0, sizeof(it));
    it.interp = Tcl_CreateInterp();
    assert_int_equal(Tcl_Init(it.interp), TCL_OK);
    return 0;
}

static int
teardown(void **state)
{
    (isPlain ? PlainFree : fast.freeProc)(&it);
    Tcl_DeleteInterp(it.interp);
    return 0;
}

static void
clean(void)
{
    (isPlain ? PlainCleanup : fast.cleanupProc)(&it);
}

static void
expect(const char *script, const char *result)
{
    if (Tcl_EvalEx(it.interp, script, -1, TCL_EVAL_GLOBAL) != TCL_OK) {
        print_message("%s\n",
                      Tcl_GetVar(it.interp, "errorInfo", TCL_GLOBAL_ONLY));
    }
    assert_string_equal(Tcl_GetStringResult(it.interp), result);
}

static void
what_a_script_has_set_goes(void **state)
{
    clean();
    expect("set ::before [lsort [info globals]]; llength {}", "0");
    for (int i = 0; i < 3; i++) {
        expect("unset -nocomplain ::before; set ::known [info globals]; "
               "set a 1; array set b {x 1 y 2}; upvar #0 a c; "
               "for {set i 0} {$i < 100} {incr i} {set v$i $i}; set i",
               "100");
        clean();
        expect("lmap n {a b c i v0 v99 known} {info exists ::$n}",
               "0 0 0 0 0 0 0");
    }
}

static void
what_tcl_has_set_stays(void **state)
{
    expect("set argv x; set tcl_mine 1; set auto_mine 1; set env(MINE) 1", "1");
    clean();
    expect(
        "list $argv $tcl_mine $auto_mine $env(MINE) [info exists tcl_version]",
        "x 1 1 1 1");
}

static void
errors_are_empty_afterwards(void **state)
{
    expect("catch {error oops trace CODE}; set errorCode", "CODE");
    clean();
    expect("list $errorInfo $errorCode", "{} {}");
    clean();
    expect("list $errorInfo $errorCode", "{} {}");
}

static void
even_if_the_script_makes_arrays_of_them(void **state)
{
    expect("unset -nocomplain errorInfo; array set errorInfo {a 1}; set a 1",
           "1");
    clean();
    expect("list $errorInfo $errorCode", "{} {}");
}

static void
a_trace_that_sets_its_variable_again_does_not_hold_it_up(void **state)
{
    expect("proc again {name args} {set ::$name 1; "
           "trace add variable ::$name unset {again}}; "
           "set x 1; set y 1; trace add variable ::x unset {again}",
           "");
    clean();
    expect("list [info exists x] [info exists y]", "1 0");
}

#define BOTH(test)                                       \
    {#test ", fast", test, setup, teardown, NULL},       \
    {                                                    \
#test ", plain", test, setup, teardown, &isPlain \
    }

int
main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(what_a_script_has_set_goes), BOTH(what_tcl_has_set_stays),
        BOTH(errors_are_empty_afterwards),
        BOTH(even_if_the_script_makes_arrays_of_them),
        BOTH(a_trace_that_sets_its_variable_again_does_not_hold_it_up)};

    Nsd_LibInit();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

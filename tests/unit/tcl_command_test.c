/* SPDX-License-Identifier: MPL-2.0
 * tcl_command_test.c --
 *
 *      Tables of commands and subcommands.
 *
 *      1  number of words
 *      2  names of subcommands
 *      3  what a procedure learns of its row
 */

#include "unit.h"

#include <string.h>

#include "nsprocess.h"
#include "tcl/command.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc Words, Flags, Data;
static Tcl_Interp    *interp;

static const NsTclCommand commands[] = {
    {"any", Words, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"none", Words, 0, 0, NULL, NS_TCL_BASIC},
    {"some", Words, 1, 2, "a ?b?", NS_TCL_BASIC},
    {"serves", Words, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC | NS_TCL_CONN},
    {"served", Words, 0, NS_TCL_ANY, NULL, 0},
    {"first", Data, 0, 0, NULL, NS_TCL_BASIC | NS_TCL_DATA(1)},
    {"second", Data, 0, 0, NULL, NS_TCL_BASIC | NS_TCL_DATA(2)},
    NS_TCL_END};

static const NsTclCommand subcmds[] = {
    {"open", Words, 1, 1, "file", 0},         {"order", Flags, 0, 0, NULL, 7},
    {"close", Flags, 0, 0, NULL, 8},          NS_TCL_END,
    {"opera", Words, 0, NS_TCL_ANY, NULL, 0}, NS_TCL_END};

static const NsTclEnsemble door = {
    "door", "verb ?arg?", "verb", NS_TCL_BASIC, subcmds};

static const NsTclEnsemble gate = {
    "gate", "verb ?arg?", "verb", NS_TCL_BASIC | NS_TCL_EXACT, subcmds};

static int
Words(ClientData clientData, Tcl_Interp *ip, int objc, Tcl_Obj *const *objv)
{
    return NsTclReturn(ip, Tcl_NewIntObj(objc));
}

/*
 * After another subcommand has run, to see that the row was asked for in time.
 */
static int
Flags(ClientData clientData, Tcl_Interp *ip, int objc, Tcl_Obj *const *objv)
{
    unsigned flags = NsTclRow(clientData)->flags;

    assert_int_equal(Tcl_Eval(ip, "door open x"), TCL_OK);
    return NsTclReturn(ip, Tcl_NewIntObj((int) flags));
}

static int
Data(ClientData clientData, Tcl_Interp *ip, int objc, Tcl_Obj *const *objv)
{
    return NsTclReturn(ip, Tcl_NewIntObj(NsTclData(clientData)));
}

static void
expect(const char *script, const char *result)
{
    (void) Tcl_Eval(interp, script);
    assert_string_equal(Tcl_GetStringResult(interp), result);
}

static void
a_wrong_number_of_words_leaves_the_usage(void **state)
{
    expect("none", "1");
    expect("none x", "wrong # args: should be \"none\"");
    expect("some", "wrong # args: should be \"some a ?b?\"");
    expect("some 1", "2");
    expect("some 1 2", "3");
    expect("some 1 2 3", "wrong # args: should be \"some a ?b?\"");
    expect("any 1 2 3 4 5 6 7 8", "9");
}

static void
a_command_for_requests_fails_without_one(void **state)
{
    expect("serves", "no connection");
}

static void
a_command_for_servers_is_not_in_a_basic_interpreter(void **state)
{
    expect("served", "invalid command name \"served\"");
}

static void
subcommands_can_be_abbreviated(void **state)
{
    expect("door", "wrong # args: should be \"door verb ?arg?\"");
    expect("door c", "8");
    expect("door op", "wrong # args: should be \"door open file\"");
    expect("door o",
           "ambiguous verb \"o\": must be open, order, close, or opera");
    expect("door x", "bad verb \"x\": must be open, order, close, or opera");
}

static void
subcommands_of_an_exact_command_cannot(void **state)
{
    expect("gate close", "8");
    expect("gate clos",
           "bad verb \"clos\": must be open, order, close, or opera");
}

static void
a_row_behind_the_table_has_its_whole_name_only(void **state)
{
    expect("door opera 1", "3");
    expect("door oper",
           "bad verb \"oper\": must be open, order, close, or opera");
    expect("gate opera", "2");
}

static void
a_procedure_sees_the_flags_of_its_row(void **state)
{
    expect("door order", "7");
    expect("door close", "8");
    expect("first", "1");
    expect("second", "2");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_number_of_words_leaves_the_usage),
        cmocka_unit_test(a_command_for_requests_fails_without_one),
        cmocka_unit_test(a_command_for_servers_is_not_in_a_basic_interpreter),
        cmocka_unit_test(subcommands_can_be_abbreviated),
        cmocka_unit_test(subcommands_of_an_exact_command_cannot),
        cmocka_unit_test(a_row_behind_the_table_has_its_whole_name_only),
        cmocka_unit_test(a_procedure_sees_the_flags_of_its_row)};

    Nsd_LibInit();
    NsTclAddCommands(commands);
    NsTclAddEnsemble(&door);
    NsTclAddEnsemble(&gate);
    interp = Ns_TclCreateInterp();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0
 * tcl_objv_test.c --
 *
 *      Words of a command parsed by tables.
 *
 *      1  usage messages
 *      2  options
 *      3  arguments
 *      4  times
 *      5  sets and JSON
 */

#include "unit.h"

#include <string.h>

#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nstcl.h"
#include "tcl/objv.h"
#include "tcl/result.h"

static Tcl_Interp *interp;

/*
 * Tables of a command `cmd ?-flag? ?-opt opt? ?--? a ?b?`.
 */
static int   flag, number, nRest;
static char *text, *a, *b;

static Ns_ObjvSpec opts[] = {{"-flag", Ns_ObjvBool, &flag, INT2PTR(1)},
                             {"-opt", Ns_ObjvString, &text, NULL},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
static Ns_ObjvSpec args[] = {{"a", Ns_ObjvString, &a, NULL},
                             {"?b", Ns_ObjvString, &b, NULL},
                             {NULL, NULL, NULL, NULL}};

/*
 * Parse the words of a list, the first being the command.
 */
static int
ParseWith(Ns_ObjvSpec *optSpecs, Ns_ObjvSpec *argSpecs, const char *list)
{
    static Tcl_Obj *listPtr = NULL;
    Tcl_Obj       **objv;
    int             objc;

    if (listPtr != NULL) {
        Tcl_DecrRefCount(listPtr);
    }
    listPtr = Tcl_NewStringObj(list, -1);
    Tcl_IncrRefCount(listPtr);
    assert_int_equal(Tcl_ListObjGetElements(interp, listPtr, &objc, &objv),
                     TCL_OK);
    flag = number = nRest = 0;
    text = a = b = NULL;
    Tcl_ResetResult(interp);
    return Ns_ParseObjv(optSpecs, argSpecs, interp, 1, objc, objv);
}

static int
Parse(const char *list)
{
    return ParseWith(opts, args, list);
}

static void
AssertResult(const char *expected)
{
    assert_string_equal(Tcl_GetStringResult(interp), expected);
}

#define USAGE "wrong # args: should be \"cmd ?-flag? ?-opt opt? ?--? a ?b?\""

/* objv-1.1: too few words give the usage made of the tables */
static void
TooFewWords(void **state)
{
    assert_int_equal(Parse("cmd"), NS_ERROR);
    AssertResult(USAGE);
    assert_int_equal(Parse("cmd -flag -opt x"), NS_ERROR);
    AssertResult(USAGE);
}

/* objv-1.2: too many words give the usage as well */
static void
TooManyWords(void **state)
{
    assert_int_equal(Parse("cmd 1 2 3"), NS_ERROR);
    AssertResult(USAGE);
}

/* objv-1.3: a command without tables takes no words */
static void
NoTables(void **state)
{
    assert_int_equal(ParseWith(NULL, NULL, "cmd"), NS_OK);
    assert_int_equal(ParseWith(NULL, NULL, "cmd x"), NS_ERROR);
    AssertResult("wrong # args: should be \"cmd\"");
}

/* objv-2.1: options come in any order before the arguments */
static void
OptionsInAnyOrder(void **state)
{
    assert_int_equal(Parse("cmd -opt x -flag y"), NS_OK);
    assert_int_equal(flag, 1);
    assert_string_equal(text, "x");
    assert_string_equal(a, "y");
    assert_null(b);
}

/* objv-2.2: a word that is no option is the first argument, dash or not */
static void
UnknownOption(void **state)
{
    assert_int_equal(Parse("cmd -fla -flag"), NS_OK);
    assert_int_equal(flag, 0);
    assert_string_equal(a, "-fla");
    assert_string_equal(b, "-flag");
}

/* objv-2.3: -- ends the options */
static void
Break(void **state)
{
    assert_int_equal(Parse("cmd -- -flag"), NS_OK);
    assert_int_equal(flag, 0);
    assert_string_equal(a, "-flag");
}

/* objv-2.4: an option as the last word lacks its value */
static void
MissingValue(void **state)
{
    assert_int_equal(Parse("cmd -opt"), NS_ERROR);
    AssertResult("missing argument to -opt");
}

/* objv-2.5: the value of an option may look like an option */
static void
ValueLikeOption(void **state)
{
    assert_int_equal(Parse("cmd -opt -- -flag x"), NS_OK);
    assert_string_equal(text, "--");
    assert_int_equal(flag, 1);
}

/* objv-3.1: a value of the wrong type gives Tcl's message */
static void
WrongType(void **state)
{
    Ns_ObjvSpec specs[] = {
        {"n", Ns_ObjvInt, &number, NULL}, {NULL, NULL, NULL, NULL}};

    assert_int_equal(ParseWith(NULL, specs, "cmd 0x10"), NS_OK);
    assert_int_equal(number, 16);
    assert_int_equal(ParseWith(NULL, specs, "cmd x"), NS_ERROR);
    AssertResult("expected integer but got \"x\"");
    assert_int_equal(ParseWith(NULL, specs, "cmd -2147483648"), NS_OK);
    assert_int_equal(number, INT_MIN);
    assert_int_equal(ParseWith(NULL, specs, "cmd 2147483648"), NS_ERROR);
    AssertResult("integer value too large to represent");
}

/* objv-3.2: keywords match exactly; flags are ORed */
static void
Keywords(void **state)
{
    static Ns_ObjvTable table[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
    Ns_ObjvSpec         index[] = {
                {"word", Ns_ObjvIndex, &number, table}, {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec flags[] = {
        {"words", Ns_ObjvFlags, &number, table}, {NULL, NULL, NULL, NULL}};

    assert_int_equal(ParseWith(NULL, index, "cmd two"), NS_OK);
    assert_int_equal(number, 2);
    assert_int_equal(ParseWith(NULL, index, "cmd tw"), NS_ERROR);
    AssertResult("bad word \"tw\": must be one or two");
    assert_int_equal(ParseWith(NULL, flags, "cmd {one two}"), NS_OK);
    assert_int_equal(number, 3);
    assert_int_equal(ParseWith(NULL, flags, "cmd {one x}"), NS_ERROR);
    AssertResult("bad flag \"x\": must be one or two");
    assert_int_equal(ParseWith(NULL, flags, "cmd {}"), NS_ERROR);
}

/* objv-3.4: an option of a few words, or of a truth value, shows them in the
 * usage, and a bad one is a bad option */
static void
WordsInUsage(void **state)
{
    static Ns_ObjvTable table[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
    int                 isSecure = 0;
    Ns_ObjvSpec         specs[] = {{"-a", Ns_ObjvIndex, &number, table},
                                   {"-b", NsObjvWord, &number, table},
                                   {"-secure", Ns_ObjvBool, &isSecure, NULL},
                                   {NULL, NULL, NULL, NULL}};

    assert_int_equal(ParseWith(specs, args, "cmd -b two -secure yes x"), NS_OK);
    assert_int_equal(number, 2);
    assert_int_equal(isSecure, 1);
    assert_int_equal(ParseWith(specs, args, "cmd"), NS_ERROR);
    AssertResult("wrong # args: should be \"cmd ?-a one|two? ?-b one|two? "
                 "?-secure true|false? a ?b?\"");
    assert_int_equal(ParseWith(specs, args, "cmd -b tw x"), NS_ERROR);
    AssertResult("bad option \"tw\": must be one or two");
}

/* objv-3.5: a word of bytes stays one while options are looked for */
static void
BytesStay(void **state)
{
    Tcl_Obj    *words[2], *obj = NULL;
    Ns_ObjvSpec specs[] = {
        {"a", Ns_ObjvObj, &obj, NULL}, {NULL, NULL, NULL, NULL}};

    words[0] = Tcl_NewStringObj("cmd", -1);
    words[1] = Tcl_NewByteArrayObj((const unsigned char *) "-f\xff", 3);
    assert_int_equal(Ns_ParseObjv(opts, specs, interp, 1, 2, words), NS_OK);
    assert_ptr_equal(obj, words[1]);
    assert_true(NsTclIsByteArray(obj));
    for (int i = 0; i < 2; i++) {
        Tcl_IncrRefCount(words[i]);
        Tcl_DecrRefCount(words[i]);
    }
}

/* objv-3.3: the rest takes all remaining words, or none */
static void
Rest(void **state)
{
    Ns_ObjvSpec specs[] = {{"a", Ns_ObjvString, &a, NULL},
                           {"?arg", Ns_ObjvArgs, &nRest, NULL},
                           {NULL, NULL, NULL, NULL}};

    assert_int_equal(ParseWith(NULL, specs, "cmd 1"), NS_OK);
    assert_int_equal(nRest, 0);
    assert_int_equal(ParseWith(NULL, specs, "cmd 1 2 3"), NS_OK);
    assert_int_equal(nRest, 2);
}

/* objv-4.1: a time is written without a fraction of zero, and normalized */
static void
Times(void **state)
{
    static const struct {
        Ns_Time     time;
        const char *string;
    } cases[] = {{{0, 0}, "0"},
                 {{10, 500}, "10:500"},
                 {{-1, 500000}, "-1:500000"},
                 {{1, 1000000}, "2"},
                 {{1, -1}, "0:999999"}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_Time  time = cases[i].time;
        Tcl_Obj *objPtr = Ns_TclNewTimeObj(&time);

        Tcl_IncrRefCount(objPtr);
        assert_string_equal(Tcl_GetString(objPtr), cases[i].string);
        Tcl_DecrRefCount(objPtr);
    }
}

/* objv-4.2: a bad time names its bad part */
static void
BadTimes(void **state)
{
    Ns_Time    *timePtr;
    Ns_ObjvSpec specs[] = {
        {"time", Ns_ObjvTime, &timePtr, NULL}, {NULL, NULL, NULL, NULL}};

    assert_int_equal(ParseWith(NULL, specs, "cmd 1:2"), NS_OK);
    assert_int_equal(timePtr->sec, 1);
    assert_int_equal(timePtr->usec, 2);
    assert_int_equal(ParseWith(NULL, specs, "cmd 1:x"), NS_ERROR);
    AssertResult("expected integer but got \"x\"");
    assert_int_equal(ParseWith(NULL, specs, "cmd y:1"), NS_ERROR);
    AssertResult("expected integer but got \"y\"");
}

/* objv-4.3: an address is given back for its own type alone */
static void
Addresses(void **state)
{
    static const char type[] = "test:a", other[] = "test:b";
    Tcl_Obj          *objPtr = Tcl_NewObj(), *copyPtr;
    void             *addr;

    Tcl_IncrRefCount(objPtr);
    Ns_TclSetAddrObj(objPtr, type, &flag);
    assert_int_equal(Ns_TclGetAddrFromObj(interp, objPtr, type, &addr), TCL_OK);
    assert_ptr_equal(addr, &flag);
    assert_int_equal(Ns_TclGetAddrFromObj(interp, objPtr, other, &addr),
                     TCL_ERROR);
    copyPtr = Tcl_NewStringObj(Tcl_GetString(objPtr), -1);
    Tcl_IncrRefCount(copyPtr);
    assert_int_equal(Ns_TclGetAddrFromObj(interp, copyPtr, type, &addr),
                     TCL_OK);
    assert_ptr_equal(addr, &flag);
    Tcl_DecrRefCount(copyPtr);
    Tcl_DecrRefCount(objPtr);
}

static void
TimesFromStrings(void **state)
{
    Ns_ObjvTimeRange range = {{1, 0}, {1, 500000}};
    Ns_Time          time = {7, 7};

    assert_int_equal(Ns_GetTimeFromString(interp, "1.5", &time), TCL_OK);
    assert_int_equal(time.sec, 1);
    assert_int_equal(time.usec, 500000);
    assert_int_equal(Ns_CheckTimeRange(interp, "t", &range, &time), TCL_OK);
    assert_int_equal(Ns_CheckTimeRange(interp, "t", NULL, &time), TCL_OK);
    time.usec++;
    assert_int_equal(Ns_CheckTimeRange(interp, "t", &range, &time), TCL_ERROR);
    assert_string_equal(Tcl_GetStringResult(interp),
                        "expected time value in range [1,1.5] for 't', but got "
                        "1.500001");
    time = (Ns_Time){0, 999999};
    assert_int_equal(Ns_CheckTimeRange(NULL, "t", &range, &time), TCL_ERROR);

    assert_int_equal(Ns_GetTimeFromString(interp, "200ms", &time), TCL_OK);
    assert_int_equal(time.usec, 200000);
    assert_int_equal(Ns_GetTimeFromString(interp, "1h30m", &time), TCL_ERROR);
    assert_string_equal(Tcl_GetStringResult(interp),
                        "expected time value but got \"1h30m\"");
    assert_int_equal(Ns_GetTimeFromString(NULL, "", &time), TCL_ERROR);
    assert_int_equal(time.usec, 200000);
}

static void
Ranges(void **state)
{
    static Ns_ObjvValueRange range = {-1, 5}, sizes = {1, 2048};
    static Ns_ObjvTimeRange  times = {{0, 0}, {2, 0}};
    int                      i = 0;
    long                     l = 0;
    Tcl_WideInt              w = 0, size = 0;
    Ns_Time                 *timePtr = NULL;
    Ns_ObjvSpec              specs[] = {
                     {"-int", Ns_ObjvInt, &i, &range},
                     {"-long", Ns_ObjvLong, &l, &range},
                     {"-wide", Ns_ObjvWideInt, &w, &range},
                     {"-size", Ns_ObjvMemUnit, &size, &sizes},
                     {"-time", Ns_ObjvTime, &timePtr, &times},
                     {NULL, NULL, NULL, NULL}};
    static const struct {
        const char *words;
        const char *message; /* NULL: all right. */
    } cases[] = {
        {"cmd -int -1 -long 5 -wide 0 -size 2kB -time 2", NULL},
        {"cmd -int 6",
         "expected integer in range [-1,5] for '-int', but got 6"},
        {"cmd -long -2",
         "expected integer in range [-1,5] for '-long', but got -2"},
        {"cmd -wide 9223372036854775807",
         "expected integer in range [-1,5] for '-wide', but got "
         "9223372036854775807"},
        {"cmd -size 2049",
         "expected integer in range [1,2048] for '-size', but got 2049"},
        {"cmd -size 1mb",
         "invalid memory unit 'mb'; valid units kB, MB, GB, KiB, MiB, and GiB"},
        {"cmd -size -1", "invalid memory size '-1': it is negative"},
        {"cmd -time 2.1",
         "expected time value in range [0,2] for '-time', but got 2.1"},
    };

    for (int n = 0; n < Ns_NrElements(cases); n++) {
        int result = ParseWith(specs, NULL, cases[n].words);

        assert_int_equal(result, cases[n].message == NULL ? NS_OK : NS_ERROR);
        if (cases[n].message != NULL) {
            assert_string_equal(Tcl_GetStringResult(interp), cases[n].message);
        }
    }
    assert_int_equal(i, 6);
}

static void
NoSuchServer(void **state)
{
    void       *server = NULL;
    Ns_ObjvSpec specs[] = {
        {"-server", Ns_ObjvServer, &server, NULL}, {NULL, NULL, NULL, NULL}};

    assert_int_equal(ParseWith(specs, NULL, "cmd -server none"), NS_ERROR);
    assert_string_equal(Tcl_GetStringResult(interp), "no such server: none");
    assert_null(server);
}

static void
TablesPrinted(void **state)
{
    static const Ns_ObjvTable table[] = {{"a", 1}, {"b", 2}, {NULL, 0}};
    Ns_DString                ds;

    Tcl_DStringInit(&ds);
    assert_string_equal(Ns_ObjvTablePrint(&ds, table), "a|b");
    assert_string_equal(Ns_ObjvTablePrint(&ds, table + 2), "a|b");
    Tcl_DStringFree(&ds);
}

static int
Answer(ClientData clientData, Tcl_Interp *itPtr, int objc, Tcl_Obj *const *objv)
{
    Tcl_SetObjResult(itPtr,
                     Tcl_ObjPrintf("%s %d %s", (char *) clientData, objc,
                                   Tcl_GetString(objv[objc - 1])));
    return TCL_RETURN;
}

static void
Subcommands(void **state)
{
    static const Ns_SubCmdSpec table[] = {{"one", Answer}, {NULL, NULL}};
    static char                data[] = "data";
    static const struct {
        const char *words;
        int         result;
        const char *text;
        const char *deeper; /* Of the second word. */
    } cases[] = {{"cmd one x", TCL_RETURN, "data 3 x",
                  "bad subcommand \"x\": must be one"},
                 {"cmd on x", TCL_ERROR, "bad subcommand \"on\": must be one",
                  "bad subcommand \"x\": must be one"},
                 {"cmd", TCL_ERROR,
                  "wrong # args: should be \"cmd subcommand ?arg ...?\"", NULL},
                 {"cmd one", TCL_RETURN, "data 2 one",
                  "wrong # args: should be \"cmd one subcommand ?arg ...?\""},
                 {"cmd one one", TCL_RETURN, "data 3 one", "data 3 one"}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Tcl_Obj *listObj = Tcl_NewStringObj(cases[i].words, -1), **objv;
        int      objc;

        Tcl_IncrRefCount(listObj);
        assert_int_equal(Tcl_ListObjGetElements(NULL, listObj, &objc, &objv),
                         TCL_OK);
        Tcl_ResetResult(interp);
        assert_int_equal(Ns_SubcmdObjv(table, data, interp, objc, objv),
                         cases[i].result);
        assert_string_equal(Tcl_GetStringResult(interp), cases[i].text);
        if (cases[i].deeper != NULL) {
            Tcl_ResetResult(interp);
            (void) Ns_SubsubcmdObjv(table, data, interp, objc, objv);
            assert_string_equal(Tcl_GetStringResult(interp), cases[i].deeper);
        }
        Tcl_DecrRefCount(listObj);
    }
}

static void
SetsOfLists(void **state)
{
    Tcl_Obj *good = Tcl_NewStringObj("A 1 b {2 3} a 4", -1);
    Tcl_Obj *odd = Tcl_NewStringObj("a 1 b", -1);
    Tcl_Obj *bad = Tcl_NewStringObj("{", -1), *none = Tcl_NewObj();
    Ns_Set  *setPtr = Ns_SetCreateFromDict(interp, "name", good);

    assert_string_equal(Ns_SetName(setPtr), "name");
    assert_int_equal(Ns_SetSize(setPtr), 3);
    assert_string_equal(Ns_SetGet(setPtr, "a"), "4");
    Ns_SetFree(setPtr);
    setPtr = Ns_SetCreateFromDict_50(interp, NULL, good, NS_SET_OPTION_NOCASE);
    assert_string_equal(Ns_SetGet(setPtr, "a"), "1");
    Ns_SetFree(setPtr);
    assert_null(Ns_SetCreateFromDict(interp, NULL, odd));
    assert_string_equal(
        Tcl_GetStringResult(interp),
        "list 'a 1 b' has to consist of an even number of elements");
    assert_null(Ns_SetCreateFromDict(interp, NULL, bad));
    assert_null(Ns_SetCreateFromDict(NULL, NULL, odd));
    setPtr = Ns_SetCreateFromDict(interp, NULL, none);
    assert_int_equal(Ns_SetSize(setPtr), 0);
    Ns_SetFree(setPtr);
    for (int i = 0; i < 4; i++) {
        Tcl_Obj *objs[] = {good, odd, bad, none};

        Tcl_IncrRefCount(objs[i]);
        Tcl_DecrRefCount(objs[i]);
    }
}

static void
Json(void **state)
{
    static const struct {
        const char   *text;
        size_t        length;
        Ns_JsonOutput output;
        int           result;
        const char   *expected;
    } cases[] = {
        {"{\"a\":[1,true,null]}", 19, NS_JSON_AS_VALUE, TCL_OK,
         "a {1 true {}}"},
        {"{\"a\":[1,true,null]}", 19, NS_JSON_AS_TRIPLES, TCL_OK,
         "{} object {a array {0 number 1 1 boolean true 2 null {}}}"},
        /* What is behind the length does not count. */
        {"12 x", 2, NS_JSON_AS_VALUE, TCL_OK, "12"},
        {"12 x", 4, NS_JSON_AS_VALUE, TCL_ERROR,
         "ns_json parse: trailing data at byte 3"},
        {"", 0, NS_JSON_AS_TRIPLES, TCL_ERROR,
         "ns_json: parse error at byte 0: unexpected end of input"},
        {"\"\0\"", 3, NS_JSON_AS_VALUE, TCL_ERROR,
         "ns_json: parse error at byte 1: unescaped control character in "
         "string"},
        {"\"\xc3(\"", 4, NS_JSON_AS_SET, TCL_ERROR,
         "ns_json: parse error at byte 1: invalid UTF-8 in string"}};
    Tcl_Interp *plain = Tcl_CreateInterp();
    Ns_Set     *setPtr;

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_int_equal(Ns_JsonParse(interp, cases[i].text, cases[i].length,
                                      cases[i].output),
                         cases[i].result);
        assert_string_equal(Tcl_GetStringResult(interp), cases[i].expected);
        if (cases[i].result == TCL_ERROR) {
            Tcl_Obj *optionsObj = Tcl_GetReturnOptions(interp, TCL_ERROR);

            Tcl_IncrRefCount(optionsObj);
            assert_non_null(strstr(Tcl_GetString(optionsObj),
                                   "-errorcode NS_INVALID_JSON"));
            Tcl_DecrRefCount(optionsObj);
        }
    }
    assert_int_equal(Ns_JsonParse(interp, "{\"a\":\"x\"}", 9, NS_JSON_AS_SET),
                     TCL_OK);
    setPtr = Ns_TclGetSet(interp, Tcl_GetStringResult(interp));
    assert_string_equal(Ns_SetGet(setPtr, "a"), "x");
    assert_string_equal(Ns_SetGet(setPtr, "a.type"), "string");
    assert_int_equal(Ns_JsonParse(plain, "{}", 2, NS_JSON_AS_SET), TCL_ERROR);
    assert_int_equal(Ns_JsonParse(plain, "{}", 2, NS_JSON_AS_VALUE), TCL_OK);
    Tcl_DeleteInterp(plain);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TooFewWords),
        cmocka_unit_test(TooManyWords),
        cmocka_unit_test(NoTables),
        cmocka_unit_test(OptionsInAnyOrder),
        cmocka_unit_test(UnknownOption),
        cmocka_unit_test(Break),
        cmocka_unit_test(MissingValue),
        cmocka_unit_test(ValueLikeOption),
        cmocka_unit_test(WrongType),
        cmocka_unit_test(Keywords),
        cmocka_unit_test(Rest),
        cmocka_unit_test(WordsInUsage),
        cmocka_unit_test(BytesStay),
        cmocka_unit_test(Times),
        cmocka_unit_test(BadTimes),
        cmocka_unit_test(Addresses),
        cmocka_unit_test(TimesFromStrings),
        cmocka_unit_test(Ranges),
        cmocka_unit_test(NoSuchServer),
        cmocka_unit_test(TablesPrinted),
        cmocka_unit_test(Subcommands),
        cmocka_unit_test(SetsOfLists),
        cmocka_unit_test(Json)};

    Nsd_LibInit();
    interp = Ns_TclCreateInterp();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

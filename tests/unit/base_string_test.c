/* SPDX-License-Identifier: MPL-2.0
 * base_string_test.c --
 *
 *      1. growing strings    2. plain strings    3. the C library
 *      4. random numbers, password hashes    5. names of callbacks    6. memory
 */

#include "unit.h"
#include "base/fatal.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"

#include <sys/wait.h>

static Ns_DString ds;

static int
Setup(void **state)
{
    Tcl_DStringInit(&ds);
    return 0;
}

static int
Teardown(void **state)
{
    Tcl_DStringFree(&ds);
    return 0;
}

static void
printf_appends_output_of_any_length(void **state)
{
    char *large = ns_malloc(100001);

    memset(large, 'x', 100000);
    large[100000] = '\0';

    Ns_DStringAppend(&ds, "start");
    for (int length = 0; length < 1000; length++) {
        Tcl_DStringSetLength(&ds, 5);
        Ns_DStringPrintf(&ds, "%.*s", length, large);
        assert_int_equal(Ns_DStringLength(&ds), 5 + length);
        assert_int_equal(strlen(Ns_DStringValue(&ds)), 5 + length);
    }
    Ns_DStringPrintf(&ds, "[%s]", large);
    assert_int_equal(Ns_DStringLength(&ds), 5 + 999 + 100002);
    assert_memory_equal(ds.string, "startxxx", 8);
    assert_string_equal(ds.string + Ns_DStringLength(&ds) - 2, "x]");
    ns_free(large);
}

static void
varappend_appends_all_up_to_null(void **state)
{
    assert_string_equal(Ns_DStringVarAppend(&ds, "a", "", "bc", NULL), "abc");
    assert_string_equal(Ns_DStringVarAppend(&ds, NULL), "abc");
}

static void
export_hands_the_content_over(void **state)
{
    char *content;

    Tcl_DStringAppend(&ds, "a\0b", 3);
    content = Ns_DStringExport(&ds);
    assert_memory_equal(content, "a\0b\0", 4);
    assert_int_equal(Ns_DStringLength(&ds), 0);
    Ns_DStringAppend(&ds, "again");
    assert_string_equal(content, "a");
    ns_free(content);
}

static void
an_argv_points_to_every_string_empty_ones_too(void **state)
{
    char **argv = Ns_DStringAppendArgv(&ds);

    assert_null(argv[0]);
    for (int n = 1; n < 60; n++) {
        char text[20];

        Tcl_DStringSetLength(&ds, 0);
        for (int i = 0; i < n; i++) {
            snprintf(text, sizeof(text), "%.*d", i % 10, i);
            Ns_DStringAppendArg(&ds, i % 7 == 3 ? "" : text);
        }
        argv = Ns_DStringAppendArgv(&ds);
        assert_int_equal((uintptr_t) argv % sizeof(char *), 0);
        for (int i = 0; i < n; i++) {
            snprintf(text, sizeof(text), "%.*d", i % 10, i);
            assert_string_equal(argv[i], i % 7 == 3 ? "" : text);
        }
        assert_null(argv[n]);
    }
}

static void
an_argv_needs_no_null_byte_behind_the_last_string(void **state)
{
    char **argv;

    Tcl_DStringAppend(&ds, "one\0two four", 12);
    argv = Ns_DStringAppendArgv(&ds);
    assert_string_equal(argv[0], "one");
    assert_string_equal(argv[1], "two four");
    assert_null(argv[2]);
}

static void
a_popped_string_is_empty(void **state)
{
    Ns_DString *dsPtr = Ns_DStringPop();

    assert_int_equal(Ns_DStringLength(dsPtr), 0);
    Ns_DStringAppend(dsPtr, "text");
    Ns_DStringPush(dsPtr);
}

static void
trimming_removes_white_space_at_the_ends_only(void **state)
{
    char text[] = " \t\r\n a b \v\f", blank[] = "  ", empty[] = "";
    char left[] = " x ", right[] = " x ", high[] = "\xa0 \x85";

    assert_string_equal(Ns_StrTrim(text), "a b");
    assert_string_equal(Ns_StrTrim(blank), "");
    assert_string_equal(Ns_StrTrim(empty), "");
    assert_string_equal(Ns_StrTrimLeft(left), "x ");
    assert_string_equal(Ns_StrTrimRight(right), " x");
    assert_string_equal(Ns_StrTrim(high), "\xa0 \x85");
}

static void
case_changes_for_ascii_letters_only(void **state)
{
    char text[] = "aZ@[`{\xc3\x84 1";

    assert_string_equal(Ns_StrToUpper(text), "AZ@[`{\xc3\x84 1");
    assert_string_equal(Ns_StrToLower(text), "az@[`{\xc3\x84 1");
}

static void
numbers_are_decimal_or_hexadecimal_and_complete(void **state)
{
    static const struct {
        const char *string;
        int         value;
    } good[] = {
        {"0", 0},
        {"010", 10},
        {"-5", -5},
        {"+7", 7},
        {" 12 ", 12},
        {"0x1F", 31},
        {"-0X10", -16},
        {"2147483647", INT_MAX},
        {"-2147483648", INT_MIN},
    };
    static const char *const bad[] = {
        "",
        " ",
        "-",
        "x",
        "1x",
        "1 2",
        "0x",
        "0xg",
        "2147483648",
        "-2147483649",
        "99999999999999999999",
        "1.5",
        "--1",
        "+-1",
    };
    int         value;
    Tcl_WideInt wide;

    for (int i = 0; i < Ns_NrElements(good); i++) {
        assert_int_equal(Ns_StrToInt(good[i].string, &value), NS_OK);
        assert_int_equal(value, good[i].value);
        assert_int_equal(Ns_StrToWideInt(good[i].string, &wide), NS_OK);
        assert_int_equal(wide, good[i].value);
    }
    for (int i = 0; i < Ns_NrElements(bad); i++) {
        value = 99;
        assert_int_equal(Ns_StrToInt(bad[i], &value), NS_ERROR);
        assert_int_equal(value, 99);
    }
    assert_int_equal(Ns_StrToWideInt("9223372036854775807", &wide), NS_OK);
    assert_true(wide == INT64_MAX);
    assert_int_equal(Ns_StrToWideInt("9223372036854775808", &wide), NS_ERROR);
}

static void
words_and_parts_are_found_ignoring_case(void **state)
{
    const char *text = "The Quick fox";

    assert_string_equal(Ns_Match("AB", "abc"), "abc");
    assert_string_equal(Ns_Match("abcd", "aBc"), "aBc");
    assert_string_equal(Ns_Match("", "x"), "x");
    assert_null(Ns_Match("abd", "abc"));
    assert_null(Ns_Match(NULL, "abc"));
    assert_null(Ns_Match("abc", NULL));

    assert_string_equal(Ns_NextWord(text), "Quick fox");
    assert_string_equal(Ns_NextWord("one  \t two"), "two");
    assert_string_equal(Ns_NextWord("one"), "");

    assert_ptr_equal(Ns_StrCaseFind(text, "qUICK"), text + 4);
    assert_ptr_equal(Ns_StrNStr(text, "FOX"), text + 10);
    assert_null(Ns_StrCaseFind(text, "dog"));
}

static void
results_of_the_c_library_belong_to_the_thread(void **state)
{
    time_t         zero = 0;
    struct in_addr address = {htonl(0x7f000001)};
    char           text[] = "a,b;c";
    struct tm      far = {.tm_year = INT_MAX - 1900, .tm_mday = 1};

    assert_int_equal(ns_gmtime(&zero)->tm_year, 70);
    assert_string_equal(ns_asctime(ns_gmtime(&zero)),
                        "Thu Jan  1 00:00:00 1970\n");
    assert_non_null(ns_ctime(&zero));
    assert_non_null(ns_localtime(&zero));
    assert_non_null(ns_asctime(&far));
    assert_string_equal(ns_inet_ntoa(address), "127.0.0.1");
    assert_string_equal(ns_strtok(text, ",;"), "a");
    assert_string_equal(ns_strtok(NULL, ",;"), "b");
    assert_string_equal(ns_strtok(NULL, ",;"), "c");
    assert_null(ns_strtok(NULL, ",;"));
}

static void
random_numbers_fill_their_range(void **state)
{
    double        sum = 0, smallest = 1, largest = 0;
    unsigned long seeds[2] = {0, 0};

    for (int i = 0; i < 10000; i++) {
        double number = Ns_DRand();

        assert_true(number >= 0 && number < 1);
        sum += number;
        smallest = MIN(smallest, number);
        largest = MAX(largest, number);
    }
    assert_true(sum > 4700 && sum < 5300);
    assert_true(smallest < 0.01 && largest > 0.99);
    Ns_GenSeeds(seeds, 2);
    assert_true(seeds[0] != seeds[1]);
    Ns_GenSeeds(seeds, 0);
}

static void
encrypt_gives_the_systems_hash(void **state)
{
    char hash[NS_ENCRYPT_BUFSIZE];

    assert_string_equal(Ns_Encrypt("foo", "ba", hash), "ba4TuD1iozTxw");
    assert_string_equal(Ns_Encrypt("", "12", hash), "12UFlHxel6uMM");
    assert_memory_equal(Ns_Encrypt("foo", "$6$salt$", hash), "$6$salt$", 8);
    assert_string_equal(Ns_Encrypt("foo", "", hash), "");
    assert_string_not_equal(Ns_Encrypt("foo", "*0", hash), "*0");
}

static void
Named(void *arg)
{
}

static void
Unnamed(void *arg)
{
}

static void
a_registered_callback_shows_its_name_and_argument(void **state)
{
    Ns_RegisterProcInfo((void *) Named, "ns:named", Ns_StringArgProc);
    Ns_GetProcInfo(&ds, (void *) Named, (void *) "an arg");
    assert_string_equal(ds.string, "ns:named {an arg}");
    Tcl_DStringSetLength(&ds, 0);
    Ns_GetProcInfo(&ds, (void *) Named, NULL);
    assert_string_equal(ds.string, "ns:named {}");

    Ns_RegisterProcInfo((void *) Named, "ns:renamed", NULL);
    Tcl_DStringSetLength(&ds, 0);
    Ns_GetProcInfo(&ds, (void *) Named, (void *) 0x1f);
    assert_string_equal(ds.string, "ns:renamed a:0x1f");
}

static void
an_unknown_callback_shows_addresses(void **state)
{
    char expected[100];

    Ns_GetProcInfo(&ds, (void *) Unnamed, NULL);
    snprintf(expected, sizeof(expected), "p:0x%" PRIxPTR " a:(nil)",
             (uintptr_t) Unnamed);
    assert_string_equal(ds.string, expected);
}

static void
memory_of_no_bytes_is_memory(void **state)
{
    void *a = ns_malloc(0), *b = ns_calloc(0, 5), *c = ns_realloc(NULL, 0);

    assert_true(a != NULL && b != NULL && c != NULL);
    c = ns_realloc(c, 0);
    assert_non_null(c);
    ns_free(a);
    ns_free(b);
    ns_free(c);
    ns_free(NULL);
}

static void
copies_accept_null_and_a_length(void **state)
{
    char *copy = ns_strncopy("hello", 3);

    assert_string_equal(copy, "hel");
    ns_free(copy);
    copy = ns_strncopy("hello", 0);
    assert_string_equal(copy, "hello");
    ns_free(copy);
    assert_null(ns_strcopy(NULL));
    assert_null(ns_strncopy(NULL, 5));
}

static void
WriteToPipe(const char *message)
{
    dprintf(3, "last words: %s", message);
}

/*
 * Run proc, which ends its process, and return what that wrote before.
 */
static const char *
LastWords(void (*proc)(void))
{
    static char text[200];
    int         fds[2], status;
    ssize_t     n;
    pid_t       pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        dup2(fds[1], 3);
        close(2);
        signal(SIGABRT, SIG_DFL);
        NsFatalSetProc(WriteToPipe);
        proc();
        _exit(0);
    }
    close(fds[1]);
    n = read(fds[0], text, sizeof(text) - 1);
    text[MAX(n, 0)] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_not_equal(status, 0);
    return text;
}

static void
Die(void)
{
    NsFatal("%s %d", "of reason", 5);
}

static void
AskForTooMuch(void)
{
    volatile size_t bytes = SIZE_MAX / 4;

    (void) ns_malloc(bytes);
}

static void
a_fatal_error_is_told_before_the_process_ends(void **state)
{
    assert_string_equal(LastWords(Die), "last words: of reason 5");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_string_equal(LastWords(AskForTooMuch),
                        "last words: out of memory:"
                        " cannot allocate 4611686018427387903 bytes");
#else
    (void) LastWords(AskForTooMuch); /* The sanitizer is faster. */
#endif
}

static void
times_are_appended_without_zeros_at_the_end(void **state)
{
    static const struct {
        Ns_Time     time;
        const char *text;
    } cases[] = {{{0, 0}, "0"},
                 {{7200, 0}, "7200"},
                 {{1, 500000}, "1.5"},
                 {{1, 5}, "1.000005"},
                 {{-1, 750000}, "-0.25"},
                 {{0, -500000}, "-0.5"},
                 {{-2, 0}, "-2"},
                 {{1, 2500000}, "3.5"},
                 {{LONG_MIN, 0}, "-9223372036854775808"}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Tcl_DStringSetLength(&ds, 0);
        assert_string_equal(Ns_DStringAppendTime(&ds, &cases[i].time),
                            cases[i].text);
    }
}

static void
a_string_becomes_an_object_and_is_empty(void **state)
{
    Tcl_Obj *obj;

    Tcl_DStringAppend(&ds, "a\300\200b", 4);
    obj = Ns_DStringToObj(&ds);
    assert_int_equal(obj->length, 4);
    assert_int_equal(obj->refCount, 0);
    assert_string_equal(Tcl_GetString(obj), "a\300\200b");
    assert_int_equal(Tcl_DStringLength(&ds), 0);
    Tcl_IncrRefCount(obj);
    Tcl_DecrRefCount(obj);
}

static void
what_cannot_be_shown_is_appended_as_hexadecimal_digits(void **state)
{
    Tcl_DStringAppend(&ds, ">", 1);
    assert_string_equal(Ns_DStringAppendPrintable(&ds, false,
                                                  "a\n\033\303\244\377\0", 7),
                        ">a\\x0a\\x1b\303\244\\xff\\x00");
    Tcl_DStringSetLength(&ds, 0);
    assert_string_equal(Ns_DStringAppendPrintable(&ds, true, "a\nb", 3),
                        "a\n:    b");
    Tcl_DStringSetLength(&ds, 0);
    assert_string_equal(Ns_DStringAppendPrintable(&ds, true, NULL, 0), "");
}

static void
results_have_names(void **state)
{
    assert_string_equal(Ns_ReturnCodeString(NS_OK), "NS_OK");
    assert_string_equal(Ns_ReturnCodeString(NS_ERROR), "NS_ERROR");
    assert_string_equal(Ns_ReturnCodeString(NS_TIMEOUT), "NS_TIMEOUT");
    assert_string_equal(Ns_ReturnCodeString(NS_FILTER_RETURN),
                        "NS_FILTER_RETURN");
    assert_string_equal(Ns_ReturnCodeString((Ns_ReturnCode) 99), "unknown");
    assert_string_equal(Ns_TclReturnCodeString(TCL_OK), "TCL_OK");
    assert_string_equal(Ns_TclReturnCodeString(TCL_CONTINUE), "TCL_CONTINUE");
    assert_string_equal(Ns_TclReturnCodeString(5), "unknown");
    assert_string_equal(Ns_TclReturnCodeString(-1), "unknown");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, Setup, Teardown)

int
main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        TEST(printf_appends_output_of_any_length),
        TEST(varappend_appends_all_up_to_null),
        TEST(export_hands_the_content_over),
        TEST(results_have_names),
        TEST(times_are_appended_without_zeros_at_the_end),
        TEST(a_string_becomes_an_object_and_is_empty),
        TEST(what_cannot_be_shown_is_appended_as_hexadecimal_digits),
        TEST(an_argv_points_to_every_string_empty_ones_too),
        TEST(an_argv_needs_no_null_byte_behind_the_last_string),
        TEST(a_popped_string_is_empty),
        TEST(trimming_removes_white_space_at_the_ends_only),
        TEST(case_changes_for_ascii_letters_only),
        TEST(numbers_are_decimal_or_hexadecimal_and_complete),
        TEST(words_and_parts_are_found_ignoring_case),
        TEST(results_of_the_c_library_belong_to_the_thread),
        TEST(random_numbers_fill_their_range),
        TEST(encrypt_gives_the_systems_hash),
        TEST(a_registered_callback_shows_its_name_and_argument),
        TEST(an_unknown_callback_shows_addresses),
        TEST(memory_of_no_bytes_is_memory),
        TEST(copies_accept_null_and_a_length),
        TEST(a_fatal_error_is_told_before_the_process_ends),
    };

    Tcl_FindExecutable(argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

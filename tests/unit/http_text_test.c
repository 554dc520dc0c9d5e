/* SPDX-License-Identifier: MPL-2.0
 * http_text_test.c --
 *
 *      Charsets, media types, HTML, base64, digests.
 *
 *      1  names                 4  HTML
 *      2  charsets              5  base64
 *      3  media types           6  digests
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nsstring.h"
#include "nsthread.h"

#include "http/base64.h"
#include "http/charset.h"
#include "http/html.h"
#include "http/mimetype.h"
#include "http/names.h"

/*
 * 1. Names.
 */

static void
CountName(const char *name, const void *value, void *arg)
{
    ++*(int *) arg;
}

static void
LaterValuesHideEarlierOnes(void **state)
{
    static NsNameTable table, exact = {.isExact = true};
    int                n = 0;

    assert_null(NsNameGet(&table, "a", 1));
    NsNamePut(&table, "Name", 4, "one");
    NsNamePut(&table, "nAME", 4, "two");
    NsNamePut(&table, "other", 5, "three");
    assert_string_equal(NsNameGet(&table, "nameless", 4), "two");
    assert_null(NsNameGet(&table, "nam", 3));
    NsNameEach(&table, CountName, &n);
    assert_int_equal(n, 2);

    NsNamePut(&exact, "Name", 4, "one");
    assert_string_equal(NsNameGet(&exact, "Name", 4), "one");
    assert_null(NsNameGet(&exact, "name", 4));
}

#define N_THREADS 4
#define N_NAMES   500

static NsNameTable shared;

static void
AddNames(void *arg)
{
    for (int i = 0; i < N_NAMES; i++) {
        char name[32];

        snprintf(name, sizeof(name), "%s-%d", (const char *) arg, i);
        NsNamePut(&shared, name, strlen(name), arg);
        assert_ptr_equal(NsNameGet(&shared, name, strlen(name)), arg);
    }
}

static void
ThreadsMayAddAtTheSameTime(void **state)
{
    static const char *const names[N_THREADS] = {"a", "b", "c", "d"};
    Ns_Thread                threads[N_THREADS];
    int                      n = 0;

    for (int i = 0; i < N_THREADS; i++) {
        Ns_ThreadCreate(AddNames, (void *) (uintptr_t) names[i], 0,
                        &threads[i]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        Ns_ThreadJoin(&threads[i], NULL);
    }
    NsNameEach(&shared, CountName, &n);
    assert_int_equal(n, N_THREADS * N_NAMES);
}

/*
 * 2. Charsets.
 */

static void
CharsetsLeadToEncodings(void **state)
{
    static const struct {
        const char *charset, *encoding, *reverse;
    } cases[] = {
        {"utf-8", "utf-8", "utf-8"},
        {" UTF-8 ", "utf-8", "utf-8"},
        {"iso-8859-1", "iso8859-1", "iso-8859-1"},
        {"iso8859-1", "iso8859-1", "iso-8859-1"},
        {"ISO-8859-9", "iso8859-9", "iso-8859-9"},
        {"us-ascii", "ascii", "us-ascii"},
        {"ascii", "ascii", "us-ascii"},
        {"Windows-1252", "cp1252", "windows-1252"},
        {"shift_jis", "shiftjis", "shift_jis"},
        {"ksc_5601", "ksc5601", "korean"},
        {"macintosh", "macRoman", "mac"},
        {"x-mac-roman", "macRoman", "mac"},
        {"macCyrillic", "macCyrillic", "mac-cyrillic"},
        {"x-mac-centraleupore", "macCentEuro", "mac-centeuro"},
        {"big5", "big5", "big5"},
        {"euc-jp", "euc-jp", "euc-jp"},
        {"iso-2022-jp", "iso2022-jp", "iso-2022-jp"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Tcl_Encoding encoding = Ns_GetCharsetEncoding(cases[i].charset);

        assert_non_null(encoding);
        assert_string_equal(Tcl_GetEncodingName(encoding), cases[i].encoding);
        assert_string_equal(Ns_GetEncodingCharset(encoding), cases[i].reverse);
    }
    assert_ptr_equal(Ns_GetCharsetEncodingEx("utf-8;x", 5),
                     Ns_GetCharsetEncoding("utf-8"));
}

static void
UnknownCharsetsHaveNoEncoding(void **state)
{
    static const char *const neverLookedFor[] = {
        "../../etc/passwd", "/tmp/x", "..", "a b", "", ".hidden", "a\nb"};

    assert_null(Ns_GetCharsetEncoding("no-such-charset"));
    assert_null(Ns_GetCharsetEncoding("No-Such-Charset"));
    for (int i = 0; i < Ns_NrElements(neverLookedFor); i++) {
        assert_null(Ns_GetCharsetEncoding(neverLookedFor[i]));
    }
}

static void
ThereAreSixtyFourAliasesAndMoreOnDemand(void **state)
{
    int n = 0;

    NsCharsetEach(CountName, &n);
    assert_int_equal(n, 64);
    NsCharsetAdd("My-Charset", "iso8859-2");
    assert_string_equal(
        Tcl_GetEncodingName(Ns_GetCharsetEncoding("my-charset")), "iso8859-2");
    assert_string_equal(
        Ns_GetEncodingCharset(Ns_GetCharsetEncoding("my-charset")),
        "iso-8859-2");
}

static const char *
Name(Tcl_Encoding encoding)
{
    return encoding == NULL ? "(none)" : Tcl_GetEncodingName(encoding);
}

static void
TypesAndFilesHaveEncodings(void **state)
{
    assert_string_equal(Name(Ns_GetTypeEncoding("text/html; charset=utf-8")),
                        "utf-8");
    assert_string_equal(
        Name(Ns_GetTypeEncoding("image/gif;charset=iso-8859-2")), "iso8859-2");
    assert_string_equal(Name(Ns_GetTypeEncoding("text/plain")), "iso8859-1");
    assert_string_equal(Name(Ns_GetTypeEncoding("image/gif")), "(none)");

    assert_string_equal(Name(Ns_GetFileEncoding("/a.b/c.html")), "iso8859-1");
    assert_string_equal(Name(Ns_GetFileEncoding("/a/c.txt")), "ascii");
    assert_string_equal(Name(Ns_GetFileEncoding("/a/c.HTML")), "utf-8");
    assert_string_equal(Name(Ns_GetFileEncoding("/a.txt/c")), "utf-8");
    NsCharsetAddExtension(".HTML", "iso-8859-5");
    assert_string_equal(Name(Ns_GetFileEncoding("/a/c.HTML")), "iso8859-5");
    assert_string_equal(Name(Ns_GetFileEncoding("/a/c.html")), "iso8859-1");
}

static Tcl_Encoding
ConnEncoding(void)
{
    return Ns_GetCharsetEncoding("iso-8859-5");
}

static void
UrlEncodingFallsBack(void **state)
{
    assert_string_equal(Name(Ns_GetUrlEncoding("iso-8859-2")), "iso8859-2");
    assert_string_equal(Name(Ns_GetUrlEncoding(NULL)), "utf-8");
    NsCharsetSetConnProc(ConnEncoding);
    assert_string_equal(Name(Ns_GetUrlEncoding(NULL)), "iso8859-5");
    assert_string_equal(Name(Ns_GetUrlEncoding("no-such-charset")),
                        "iso8859-5");
    NsCharsetSetConnProc(NULL);
}

/*
 * 3. Media types.
 */

static void
ExtensionsTellTheType(void **state)
{
    static const struct {
        const char *file, *type;
    } cases[] = {
        {"a.html", "text/html"},
        {"/x.y/a.HTML", "text/html"},
        {"a.tar.gz", "application/x-gzip"},
        {"a.adp", "text/html"},
        {"a.tcl", "text/plain"},
        {".txt", "text/plain"},
        {"a.c++", "text/plain"},
        {"a.x-png", "image/png"},
        {"a.json", "application/json"},
        {"a.mp4", "video/mp4"},
        {"a.js", "text/javascript"},
        {"a.mjs", "text/javascript"},
        {"a", "*/*"},
        {"a.", "*/*"},
        {"/a.html/b", "*/*"},
        {"", "*/*"},
        {"a.nosuchtype", "*/*"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        assert_string_equal(Ns_GetMimeType(cases[i].file), cases[i].type);
    }
}

static void
TypesCanBeAddedAndReplaced(void **state)
{
    NsMimeTypeAdd(".mine", "x/mine");
    NsMimeTypeAdd("HTML", "x/html");
    assert_string_equal(Ns_GetMimeType("a.MINE"), "x/mine");
    assert_string_equal(Ns_GetMimeType("a.html"), "x/html");
    NsMimeTypeAdd("default", "x/default");
    assert_string_equal(Ns_GetMimeType("a.nosuchtype"), "x/default");
    assert_string_equal(Ns_GetMimeType("a"), "x/default");
    NsMimeTypeAdd("noextension", "x/none");
    assert_string_equal(Ns_GetMimeType("a"), "x/none");
}

/*
 * 4. HTML.
 */

static void
MarkupIsQuoted(void **state)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_QuoteHtml(&ds, "<a href=\"x\">'&amp;'</a>");
    Ns_QuoteHtml(&ds, "");
    Ns_QuoteHtml(&ds, " plain");
    assert_string_equal(
        Ns_DStringValue(&ds),
        "&lt;a href=&#34;x&#34;&gt;&#39;&amp;amp;&#39;&lt;/a&gt; plain");
    Ns_DStringFree(&ds);
}

static void
MarkupIsStripped(void **state)
{
    static const struct {
        const char *html, *text;
    } cases[] = {
        {"", ""},
        {"a<b>c</b>d", "acd"},
        {"a<b", "a"},
        {"<", ""},
        {"a>b", "a>b"},
        {"&lt;x&gt;", "<x>"},
        {"a & b;", "a & b;"},
        {"a&b&amp;c", "a&b&c"},
        {"a&", "a&"},
        {"a&b", "a&b"},
        {"<a title=\"&amp;\">x</a>", "x"},
        {"a&<b>;c", "a&;c"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        NsHtmlStrip(&ds, cases[i].html, strlen(cases[i].html));
        assert_string_equal(Ns_DStringValue(&ds), cases[i].text);
        Ns_DStringFree(&ds);
    }
}

/*
 * 5. Base64.
 */

static void
BytesSurviveBase64(void **state)
{
    unsigned char bytes[200], decoded[NsBase64DecodedBytes(400)];
    char          text[NsBase64EncodedBytes(200)];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char) (i * 7);
    }
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        size_t length = Ns_HtuuEncode(bytes, n, text);

        assert_int_equal(strlen(text), length);
        assert_true(length + 1 <= NsBase64EncodedBytes(n));
        assert_int_equal(Ns_HtuuDecode(text, decoded, sizeof(decoded)), n);
        assert_memory_equal(decoded, bytes, n);
    }
}

static void
EncodedLinesHaveSixtyCharacters(void **state)
{
    unsigned char bytes[91] = {0};
    char          text[NsBase64EncodedBytes(91)];

    assert_int_equal(Ns_HtuuEncode(bytes, 45, text), 60);
    assert_int_equal(Ns_HtuuEncode(bytes, 46, text), 65);
    assert_int_equal(text[60], '\n');
    assert_int_equal(Ns_HtuuEncode(bytes, 90, text), 121);
    assert_int_equal(Ns_HtuuEncode(bytes, 91, text), 126);
    assert_int_equal(300000 / 3 * 4 + (300000 / 45 + 1 - 1), 406666);
}

static void
DecodingSkipsWhatIsNotBase64(void **state)
{
    static const struct {
        const char *text, *bytes;
    } cases[] = {
        {"QA==", "@"},    {"QA", "@"},
        {"Q A\n=", "@"},  {"Q", ""},
        {"", ""},         {"dGhpcyBpcyBhIHRlc3QK", "this is a test\n"},
        {"QUJDR", "ABC"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        unsigned char bytes[32];
        size_t        length = strlen(cases[i].bytes);

        assert_int_equal(Ns_HtuuDecode(cases[i].text, bytes, sizeof(bytes)),
                         length);
        assert_string_equal((char *) bytes, cases[i].bytes);
    }
}

static void
DecodingStaysInItsBuffer(void **state)
{
    unsigned char bytes[8] = "xxxxxxx";

    assert_int_equal(Ns_HtuuDecode("QUJD\nREVGRw==", bytes, 5), 5);
    assert_memory_equal(bytes, "ABCDExx", 8);
    assert_int_equal(Ns_HtuuDecode("QUJD", bytes, 0), 0);
}

/*
 * 6. Digests.
 */

static void
DigestsMatchTheirStandards(void **state)
{
    Ns_CtxMD5     md5;
    Ns_CtxSHA1    sha;
    unsigned char digest[20];
    char          text[41];

    Ns_CtxMD5Init(&md5);
    Ns_CtxMD5Update(&md5, (const unsigned char *) "a", 1);
    Ns_CtxMD5Update(&md5, (const unsigned char *) "bc", 2);
    Ns_CtxMD5Final(&md5, digest);
    Ns_CtxString(digest, text, 16);
    assert_string_equal(text, "900150983CD24FB0D6963F7D28E17F72");

    Ns_CtxSHAInit(&sha);
    Ns_CtxSHAUpdate(&sha, (const unsigned char *) "foo", 3);
    Ns_CtxSHAFinal(&sha, digest);
    Ns_CtxString(digest, text, 20);
    assert_string_equal(text, "0BEEC7B5EA3F0FDBC95D0DD47F3C5BC275DA8A33");
}

static void
Base64HasLinesAndAlphabetsToChoose(void **state)
{
    static const unsigned char bytes[] = {0xfb, 0xff, 0xfe, 'a', 'b', 'c', 'd'};
    char                       text[64];
    static const struct {
        size_t      nBytes;
        size_t      maxLine;
        int         isUrl;
        const char *text;
    } cases[] = {
        {0, 0, 0, ""},
        {0, 60, 1, ""},
        {7, 0, 0, "+//+YWJjZA=="},
        {7, 0, 1, "-__-YWJjZA"},
        {7, 4, 0, "+//+\nYWJj\nZA=="},
        {7, 1, 0, "+//+\nYWJj\nZA=="},
        {7, 11, 0, "+//+YWJj\nZA=="},
        {6, 8, 1, "-__-YWJj"},
        {7, SIZE_MAX, 0, "+//+YWJjZA=="},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        size_t n = Ns_Base64Encode(bytes, cases[i].nBytes, text,
                                   cases[i].maxLine, cases[i].isUrl);

        assert_string_equal(text, cases[i].text);
        assert_int_equal(n, strlen(text));
    }
}

static void
BytesHaveTwoHexadecimalDigits(void **state)
{
    static const unsigned char bytes[] = {0x00, 0xab, 0xff};
    char                       text[7] = "......";

    assert_ptr_equal(Ns_HexString(bytes, text, 3, false), text);
    assert_string_equal(text, "00abff");
    assert_string_equal(Ns_HexString(bytes, text, 3, true), "00ABFF");
    assert_string_equal(Ns_HexString(bytes, text, 0, true), "");
}

int
main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(LaterValuesHideEarlierOnes),
        cmocka_unit_test(ThreadsMayAddAtTheSameTime),
        cmocka_unit_test(CharsetsLeadToEncodings),
        cmocka_unit_test(UnknownCharsetsHaveNoEncoding),
        cmocka_unit_test(ThereAreSixtyFourAliasesAndMoreOnDemand),
        cmocka_unit_test(TypesAndFilesHaveEncodings),
        cmocka_unit_test(UrlEncodingFallsBack),
        cmocka_unit_test(ExtensionsTellTheType),
        cmocka_unit_test(TypesCanBeAddedAndReplaced),
        cmocka_unit_test(MarkupIsQuoted),
        cmocka_unit_test(MarkupIsStripped),
        cmocka_unit_test(BytesSurviveBase64),
        cmocka_unit_test(EncodedLinesHaveSixtyCharacters),
        cmocka_unit_test(DecodingSkipsWhatIsNotBase64),
        cmocka_unit_test(DecodingStaysInItsBuffer),
        cmocka_unit_test(DigestsMatchTheirStandards),
        cmocka_unit_test(Base64HasLinesAndAlphabetsToChoose),
        cmocka_unit_test(BytesHaveTwoHexadecimalDigits),
    };

    Tcl_FindExecutable(argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

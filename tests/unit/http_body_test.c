/* SPDX-License-Identifier: MPL-2.0
 * http_body_test.c --
 *
 *      Bodies: chunked coding, forms, gzip.
 *
 *      1  chunks                3  multipart forms
 *      2  URL-encoded forms     4  gzip
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <zlib.h>

#include "nsconn.h"
#include "nsset.h"
#include "nsstring.h"

#include "http/chunk.h"
#include "http/form.h"
#include "http/multipart.h"

/*
 * 1. Chunks in.
 */

typedef struct {
    const char   *coded;
    NsChunkStatus status;
    const char   *body; /* Decoded so far. */
    const char   *rest; /* What belongs to the next request. */
} ChunkCase;

static const ChunkCase chunkCases[] = {
    {"0\r\n\r\n", NS_CHUNK_DONE, "", ""},
    {"5\r\nhello\r\n0\r\n\r\n", NS_CHUNK_DONE, "hello", ""},
    {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", NS_CHUNK_DONE, "hello world",
     ""},
    {"a\r\n0123456789\r\nA\r\n0123456789\r\n00\r\n\r\n", NS_CHUNK_DONE,
     "01234567890123456789", ""},
    {"4;x=y\r\nabcd\r\n0;z=\" ;\\\"\303\244\";b\r\n\r\n", NS_CHUNK_DONE, "abcd",
     ""},
    {"0\r\nTrailer: x\ty \r\nB:\r\nHosts: a\r\n\r\n", NS_CHUNK_DONE, "", ""},
    {"0\r\nAVeryLongNameOfAFieldInTheTrailer: x\r\n\r\n", NS_CHUNK_DONE, "",
     ""},
    {"0000000000000004\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_DONE, "abcd", ""},
    {"1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\n", NS_CHUNK_DONE, "a",
     "GET / HTTP/1.1\r\n"},
    {"2\r\n\r\n\r\n0\r\n\r\n", NS_CHUNK_DONE, "\r\n", ""},
    {"", NS_CHUNK_MORE, "", ""},
    {"5\r\nhel", NS_CHUNK_MORE, "hel", ""},
    {"5\r\nhello\r\n0\r\n", NS_CHUNK_MORE, "hello", ""},
    {"5\r\nhello\r\n0\r\nA: b\r\n", NS_CHUNK_MORE, "hello", ""},
    {"\r\n", NS_CHUNK_BAD, "", NULL},
    {"x\r\n", NS_CHUNK_BAD, "", NULL},
    {";a\r\n", NS_CHUNK_BAD, "", NULL},
    {"-1\r\n", NS_CHUNK_BAD, "", NULL},
    {"0x4\r\n", NS_CHUNK_BAD, "", NULL},
    {" 4\r\n", NS_CHUNK_BAD, "", NULL},
    {"4 4\r\n", NS_CHUNK_BAD, "", NULL},
    {"4\rx", NS_CHUNK_BAD, "", NULL},
    {"4\r\nabcde\r\n", NS_CHUNK_BAD, "abcd", NULL},
    {"4\r\nabcd0\r\n\r\n", NS_CHUNK_BAD, "abcd", NULL},
    {"10000000000000000\r\n", NS_CHUNK_BAD, "", NULL},
    {"ffffffffffffffff\r\n", NS_CHUNK_BAD, "", NULL},
    {"8000000000000000\r\n", NS_CHUNK_BAD, "", NULL},
    {"00000000000000004\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"5\nhello\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"5\r\nhello\n0\r\n\r\n", NS_CHUNK_BAD, "hello", NULL},
    {"0\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\n\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\n\rx", NS_CHUNK_BAD, "", NULL},
    {"4 \r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4 ;x=y\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4;\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4; x\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4;x=\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4;x=y=z\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4;x=\"a\"b\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4;x=\"a\tb\"\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"4;x=\"\r\n\"\r\nabcd\r\n0\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nA: b\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nA: b\rc\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nA: b\001\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nA : b\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\n A: b\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\n: b\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nA\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nhOST: b\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nA: b\r\nContent-Length: 4\r\n\r\n", NS_CHUNK_BAD, "", NULL},
    {"0\r\nTransfer-Encoding: chunked\r\n\r\n", NS_CHUNK_BAD, "", NULL},
};

static void
ChunkedBodiesAreDecodedInPieces(void **state)
{
    for (int i = 0; i < Ns_NrElements(chunkCases); i++) {
        const ChunkCase *casePtr = &chunkCases[i];
        size_t           total = strlen(casePtr->coded);

        for (size_t step = 1; step <= total + 1; step++) {
            NsChunkDecoder decoder;
            NsChunkStatus  status = NS_CHUNK_MORE;
            char           body[200];
            size_t         nBody = 0, at = 0;

            NsChunkInit(&decoder, 1000);
            while (at < total && status == NS_CHUNK_MORE) {
                size_t n = MIN(step, total - at), decoded, consumed;
                char   piece[200];

                memcpy(piece, casePtr->coded + at, n);
                status = NsChunkDecode(&decoder, piece, n, &decoded, &consumed);
                memcpy(body + nBody, piece, decoded);
                nBody += decoded;
                at += consumed;
            }
            assert_int_equal(status, casePtr->status);
            assert_int_equal(nBody, strlen(casePtr->body));
            assert_memory_equal(body, casePtr->body, nBody);
            assert_int_equal(decoder.bodyBytes, nBody);
            assert_int_equal(decoder.reason != NULL, status == NS_CHUNK_BAD);
            if (casePtr->rest != NULL) {
                assert_string_equal(casePtr->coded + at, casePtr->rest);
            }
        }
    }
}

static void
ReasonNamesTheByteThatIsWrong(void **state)
{
    static const struct {
        const char *coded;
        int         bad; /* -1: no single byte. */
    } cases[] = {
        {"+3\r\n", '+'},           {"3\n", '\n'},     {"3\rx", 'x'},
        {"3\r\nabcd", 'd'},        {"3;a=\x01", 1},   {"0\r\nA B: c", ' '},
        {"0\r\nA: \x7f", 0x7f},    {"0\r\n\rx", 'x'}, {"0\r\nHost:", -1},
        {"00000000000000003", -1},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        NsChunkDecoder decoder;
        char           piece[40];
        size_t         decoded, consumed;

        NsChunkInit(&decoder, 1000);
        snprintf(piece, sizeof(piece), "%s", cases[i].coded);
        assert_int_equal(NsChunkDecode(&decoder, piece, strlen(piece), &decoded,
                                       &consumed),
                         NS_CHUNK_BAD);
        assert_int_equal(decoder.hasBadByte, cases[i].bad >= 0);
        assert_int_equal(decoder.badByte, MAX(cases[i].bad, 0));
    }
}

static void
BodyOverTheLimitIsReadToItsEnd(void **state)
{
    char           coded[] = "4\r\nabcd\r\n4\r\nefgh\r\n0\r\n\r\nrest";
    NsChunkDecoder decoder;
    size_t         decoded, consumed;

    NsChunkInit(&decoder, 8);
    assert_int_equal(NsChunkDecode(&decoder, coded, strlen(coded), &decoded,
                                   &consumed),
                     NS_CHUNK_DONE);
    assert_int_equal(decoded, 8);

    strcpy(coded, "4\r\nabcd\r\n4\r\nefgh\r\n0\r\n\r\nrest");
    NsChunkInit(&decoder, 7);
    assert_int_equal(NsChunkDecode(&decoder, coded, 16, &decoded, &consumed),
                     NS_CHUNK_TOO_LARGE);
    assert_int_equal(decoded, 4);
    assert_int_equal(NsChunkDecode(&decoder, coded + 16, strlen(coded + 16),
                                   &decoded, &consumed),
                     NS_CHUNK_TOO_LARGE);
    assert_int_equal(decoded, 0);
    assert_int_equal(decoder.bodyBytes, 8);
    assert_string_equal(coded + 16 + consumed, "rest");
}

static void
EndlessFramingIsRefused(void **state)
{
    static const char *const starts[] = {"1;", "0\r\nA:"};

    for (int i = 0; i < Ns_NrElements(starts); i++) {
        NsChunkDecoder decoder;
        NsChunkStatus  status;
        size_t         decoded, consumed;
        char           piece[1000];
        int            nPieces = 0;

        NsChunkInit(&decoder, 1000);
        strcpy(piece, starts[i]);
        status = NsChunkDecode(&decoder, piece, strlen(piece), &decoded,
                               &consumed);
        while (status == NS_CHUNK_MORE && nPieces++ < 1000) {
            memset(piece, 'x', sizeof(piece));
            status = NsChunkDecode(&decoder, piece, sizeof(piece), &decoded,
                                   &consumed);
        }
        assert_int_equal(status, NS_CHUNK_BAD);
    }
}

/*
 * 2. URL-encoded forms.
 */

static void
QueriesBecomeFields(void **state)
{
    static const struct {
        const char *query;
        int         n;
        const char *fields[6]; /* Names and values in turn. */
    } cases[] = {
        {"a=b", 1, {"a", "b"}},
        {"a=b&c=d&a=e", 3, {"a", "b", "c", "d", "a", "e"}},
        {"", 1, {"", NULL}},
        {"&", 2, {"", NULL, "", NULL}},
        {"a", 1, {"a", NULL}},
        {"a=", 1, {"a", ""}},
        {"=b", 1, {"", "b"}},
        {"a=b=c", 1, {"a", "b=c"}},
        {"a=b;c=d", 1, {"a", "b;c=d"}},
        {"a+b=%20+%2b%26%3D", 1, {"a b", "  +&="}},
        {"a=%&b=%e4%4", 2, {"a", "%", "b", "\303\244%4"}},
        {"%c3%a4=%E2%82%AC", 1, {"\303\244", "\342\202\254"}},
        {"@page=2", 1, {"@page", "2"}},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_Set *setPtr = Ns_SetCreate(NULL);

        NsFormParseQuery(cases[i].query, strlen(cases[i].query), NULL, setPtr);
        assert_int_equal(Ns_SetSize(setPtr), cases[i].n);
        for (int j = 0; j < cases[i].n; j++) {
            const char *value = cases[i].fields[2 * j + 1];

            assert_string_equal(Ns_SetKey(setPtr, j), cases[i].fields[2 * j]);
            if (value == NULL) {
                assert_null(Ns_SetValue(setPtr, j));
            } else {
                assert_string_equal(Ns_SetValue(setPtr, j), value);
            }
        }
        Ns_SetFree(setPtr);
    }
}

static void
QueryToSetConvertsNoCharset(void **state)
{
    Ns_Set *setPtr = Ns_SetCreate(NULL);

    assert_int_equal(Ns_QueryToSet("a+b=%e4&c", setPtr), NS_OK);
    assert_string_equal(Ns_SetKey(setPtr, 0), "a b");
    assert_string_equal(Ns_SetValue(setPtr, 0), "\344");
    assert_null(Ns_SetValue(setPtr, 1));
    Ns_SetFree(setPtr);
}

static void
QueriesHaveACharset(void **state)
{
    Ns_Set *setPtr = Ns_SetCreate(NULL);

    NsFormParseQuery("a=%e4", 5, Ns_GetCharsetEncoding("iso-8859-5"), setPtr);
    assert_string_equal(Ns_SetValue(setPtr, 0), "\321\204");
    Ns_SetFree(setPtr);
}

/*
 * 3. Multipart forms.
 */

static void
AppendPart(const NsFormPart *partPtr, void *arg)
{
    Ns_DString *dsPtr = arg;

    Ns_DStringPrintf(dsPtr, "[%s|%s|%.*s]", partPtr->name,
                     partPtr->fileName == NULL ? "-" : partPtr->fileName,
                     (int) partPtr->contentLength, partPtr->content);
}

static void
AssertMultipart(const char *type, const char *body, const char *expected)
{
    NsFormSource source = {.data = body, .length = strlen(body)};
    Ns_DString   ds;

    Ns_DStringInit(&ds);
    assert_int_equal(NsFormParseMultipart(&source, type, NULL, AppendPart, &ds),
                     NS_OK);
    assert_string_equal(Ns_DStringValue(&ds), expected);
    Ns_DStringFree(&ds);
}

static const char multipartType[] = "multipart/form-data; boundary=XX";

#define NAMED(name) "Content-Disposition: form-data; name=" name "\r\n\r\n"

static void
PartsBecomeFieldsAndFiles(void **state)
{
    AssertMultipart(
        multipartType,
        "preamble\r\n--XX\r\n" NAMED(
            "\"a\"") "1\r\n"
                     "--XX\r\n" NAMED(
                         "b; filename=\"f.txt\"") "line\r\nline\r\n\r\n"
                                                  "--XX\r\n" NAMED(
                                                      "c; filename=\"\"") "\r\n"
                                                                          "--XX--\r\nepilogue",
        "[a|-|1][b|f.txt|line\r\nline\r\n][c||]");
}

static void
PartsMayEndLinesWithLf(void **state)
{
    AssertMultipart(
        multipartType,
        "--XX\ncontent-disposition: form-data; name=a\n\n1\n2\n--XX--\n",
        "[a|-|1\n2]");
}

static void
PartsWithoutNameAreSkipped(void **state)
{
    AssertMultipart(
        multipartType,
        "--XX\r\nContent-Disposition: form-data; filename=x\r\n\r\n1\r\n"
        "--XX\r\nContent-Type: text/plain\r\n\r\n2\r\n"
        "--XX\r\n\r\n3\r\n"
        "--XX\r\n" NAMED("a") "4\r\n--XX--",
        "[a|-|4]");
}

static void
NamesMayBeQuotedEitherWayOrNot(void **state)
{
    static const struct {
        const char *parameter, *fileName;
    } cases[] = {
        {"\"error \\\"x\\\".log\"", "error \"x\".log"},
        {"'it is \"x\"'", "it is \"x\""},
        {"\"it's\"", "it's"},
        {"error test.log", "error"},
        {"error.log; x=y", "error.log"},
        {"\"C:\\dir\\f.txt\"", "C:\\dir\\f.txt"},
        {"\"a\\\\\"", "a\\\\"},
        {"\"\303\244\"", "\303\244"},
        {"\"open", "open"},
    };

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        char body[200], expected[100];

        snprintf(body, sizeof(body),
                 "--XX\r\n"
                 "Content-Disposition: form-data; "
                 "filename=%s\r\ncontent-type: x\r\n\r\nv\r\n--XX--\r\n",
                 cases[i].parameter);
        AssertMultipart(multipartType, body, "");

        snprintf(body, sizeof(body),
                 "--XX\r\n"
                 "Content-Disposition: form-data; "
                 "NAME=n; FileName=%s\r\n\r\nv\r\n--XX--\r\n",
                 cases[i].parameter);
        snprintf(expected, sizeof(expected), "[n|%s|v]", cases[i].fileName);
        AssertMultipart(multipartType, body, expected);
    }
}

static void
OnlyWholeBoundariesDivide(void **state)
{
    AssertMultipart(multipartType,
                    "--XX\r\n" NAMED("a") "x--XX\r\n--XXY\r\n--X\r\n--XX--",
                    "[a|-|x--XX\r\n--XXY\r\n--X]");
}

static void
BrokenOffBodyEndsItsLastPart(void **state)
{
    AssertMultipart(multipartType, "--XX\r\n" NAMED("a") "12", "[a|-|12]");
    AssertMultipart(multipartType, "--XX\r\n" NAMED("a"), "[a|-|]");
    AssertMultipart(multipartType, "--XX\r\n", "");
    AssertMultipart(multipartType, "--XX", "");
    AssertMultipart(multipartType, "", "");
}

static void
BoundaryMayBeQuoted(void **state)
{
    static const char *const types[] = {
        "multipart/form-data; boundary=\"XX\"",
        "Multipart/Form-Data; Boundary=XX; charset=utf-8",
        "multipart/form-data; charset=utf-8; boundary=XX "};

    for (int i = 0; i < Ns_NrElements(types); i++) {
        AssertMultipart(types[i], "--XX\r\n" NAMED("a") "1\r\n--XX--",
                        "[a|-|1]");
    }
    assert_false(NsFormIsMultipart(NULL));
    assert_false(NsFormIsMultipart("multipart/form-data"));
    assert_false(NsFormIsMultipart("multipart/form-data; boundary="));
    assert_false(NsFormIsMultipart("text/plain; boundary=XX"));
}

static void
FilesAreSourcesToo(void **state)
{
    static const char body[] = "--XX\r\n" NAMED("a") "1\r\n--XX--";
    char              path[] = "/tmp/nsd-form-XXXXXX";
    int               fd = mkstemp(path);
    NsFormSource      source;
    Ns_DString        ds;

    Ns_DStringInit(&ds);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(NsFormSourceOpen(&source, fd), NS_OK);
    assert_int_equal(source.length, 0);
    NsFormSourceClose(&source);

    assert_int_equal(write(fd, body, sizeof(body) - 1), sizeof(body) - 1);
    assert_int_equal(NsFormSourceOpen(&source, fd), NS_OK);
    NsFormParseMultipart(&source, multipartType, NULL, AppendPart, &ds);
    assert_string_equal(Ns_DStringValue(&ds), "[a|-|1]");
    NsFormSourceClose(&source);
    close(fd);
    assert_int_equal(NsFormSourceOpen(&source, -1), NS_ERROR);
    Ns_DStringFree(&ds);
}

/*
 * 4. Gzip.
 */

static void
AssertUnzips(const Ns_DString *zippedPtr, const char *expected, size_t length,
             int expectedStatus)
{
    z_stream z = {0};
    char    *text = malloc(length + 1);

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = (Bytef *) zippedPtr->string;
    z.avail_in = (uInt) zippedPtr->length;
    z.next_out = (Bytef *) text;
    z.avail_out = (uInt) length + 1;
    assert_int_equal(inflate(&z, Z_SYNC_FLUSH), expectedStatus);
    assert_int_equal(z.total_out, length);
    assert_memory_equal(text, expected, length);
    inflateEnd(&z);
    free(text);
}

static void
GzipHeaderTellsTheLevel(void **state)
{
    static const struct {
        int level, byte;
    } cases[] = {{1, 4}, {4, 0}, {6, 0}, {9, 2}};

    for (int i = 0; i < Ns_NrElements(cases); i++) {
        Ns_DString     ds;
        unsigned char *bytes;

        Ns_DStringInit(&ds);
        assert_int_equal(Ns_CompressGzip("hello", 5, &ds, cases[i].level),
                         NS_OK);
        bytes = (unsigned char *) Ns_DStringValue(&ds);
        assert_memory_equal(bytes, "\037\213\010\0\0\0\0\0", 8);
        assert_int_equal(bytes[8], cases[i].byte);
        assert_int_equal(bytes[9], 3);
        AssertUnzips(&ds, "hello", 5, Z_STREAM_END);
        Ns_DStringFree(&ds);
    }
}

static void
LargeAndEmptyBodiesAreCompressed(void **state)
{
    size_t     length = 5 * 1000 * 1000;
    char      *text = malloc(length);
    Ns_DString ds;
    unsigned   random = 1;

    for (size_t i = 0; i < length; i++) {
        random = random * 1103515245u + 12345u;
        text[i] = (char) (random >> 16);
    }
    Ns_DStringInit(&ds);
    assert_int_equal(Ns_CompressGzip(text, (int) length, &ds, 1), NS_OK);
    AssertUnzips(&ds, text, length, Z_STREAM_END);
    Ns_DStringSetLength(&ds, 0);
    assert_int_equal(Ns_CompressGzip("", 0, &ds, 1), NS_OK);
    AssertUnzips(&ds, "", 0, Z_STREAM_END);
    Ns_DStringFree(&ds);
    free(text);
}

static void
EachPieceOfAStreamCanBeReadAtOnce(void **state)
{
    Ns_CompressStream stream;
    struct iovec      one[2] = {{(char *) "he", 2}, {(char *) "llo", 3}};
    struct iovec      two = {(char *) " world", 6};
    Ns_DString        ds;

    assert_int_equal(Ns_CompressInit(&stream), NS_OK);
    for (int round = 0; round < 2; round++) {
        Ns_DStringInit(&ds);
        assert_int_equal(Ns_CompressBufsGzip(&stream, one, 2, &ds, 4, 0),
                         NS_OK);
        AssertUnzips(&ds, "hello", 5, Z_OK);
        assert_int_equal(Ns_CompressBufsGzip(&stream, &two, 1, &ds, 4, 0),
                         NS_OK);
        AssertUnzips(&ds, "hello world", 11, Z_OK);
        assert_int_equal(Ns_CompressBufsGzip(&stream, NULL, 0, &ds, 4, 1),
                         NS_OK);
        AssertUnzips(&ds, "hello world", 11, Z_STREAM_END);
        Ns_DStringFree(&ds);
    }
    Ns_CompressFree(&stream);
    Ns_CompressFree(&stream);
}

int
main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ChunkedBodiesAreDecodedInPieces),
        cmocka_unit_test(ReasonNamesTheByteThatIsWrong),
        cmocka_unit_test(BodyOverTheLimitIsReadToItsEnd),
        cmocka_unit_test(EndlessFramingIsRefused),
        cmocka_unit_test(QueriesBecomeFields),
        cmocka_unit_test(QueryToSetConvertsNoCharset),
        cmocka_unit_test(QueriesHaveACharset),
        cmocka_unit_test(PartsBecomeFieldsAndFiles),
        cmocka_unit_test(PartsMayEndLinesWithLf),
        cmocka_unit_test(PartsWithoutNameAreSkipped),
        cmocka_unit_test(NamesMayBeQuotedEitherWayOrNot),
        cmocka_unit_test(OnlyWholeBoundariesDivide),
        cmocka_unit_test(BrokenOffBodyEndsItsLastPart),
        cmocka_unit_test(BoundaryMayBeQuoted),
        cmocka_unit_test(FilesAreSourcesToo),
        cmocka_unit_test(GzipHeaderTellsTheLevel),
        cmocka_unit_test(LargeAndEmptyBodiesAreCompressed),
        cmocka_unit_test(EachPieceOfAStreamCanBeReadAtOnce),
    };

    Tcl_FindExecutable(argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

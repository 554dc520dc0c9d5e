/* SPDX-License-Identifier: MPL-2.0
 * http_requests_test.c --
 *
 *      A hundred thousand requests, right and wrong, as a second judge sees
 *      them.  NSD_TEST_REQUESTS: another number; NSD_TEST_SEED: others.
 */

#include "unit.h"

#include "http/chunk.h"
#include "http/parse.h"

#include "../fuzz/requests.h"

static const RequestLimits limits = {
    .maxLine = 256, .maxHead = 600, .maxFields = 12, .maxBody = INT64_MAX};

typedef struct {
    NsArena    arena;
    NsHttpHead head;
    int        status; /* 0: valid. */
    bool       isIncomplete;
    size_t     end;
} Reading;

/*
 * As a driver thread reads: piece by piece, and the body behind the head.
 */
static void
Read(Reading *readingPtr, char *bytes, size_t length, size_t step)
{
    const NsParseLimits parseLimits = {.maxLineBytes = limits.maxLine,
                                       .maxHeadBytes = limits.maxHead,
                                       .maxFields = limits.maxFields};
    NsHttpHead         *headPtr = &readingPtr->head;
    NsParseStatus       status = NS_PARSE_MORE;
    NsHttpParser        parser;
    size_t              n = 0;

    NsHttpParserInit(&parser, headPtr, &readingPtr->arena, &parseLimits);
    while (status == NS_PARSE_MORE && n < length) {
        n = MIN(n + step, length);
        status = NsHttpParse(&parser, bytes, n);
    }
    readingPtr->isIncomplete = status == NS_PARSE_MORE;
    readingPtr->status = status == NS_PARSE_REFUSED ? headPtr->status : 0;
    if (status == NS_PARSE_DONE && headPtr->isChunked) {
        NsChunkDecoder decoder;
        NsChunkStatus  chunkStatus = NS_CHUNK_MORE;
        size_t         at = headPtr->headBytes, nDecoded, nConsumed;

        NsChunkInit(&decoder, INT64_MAX);
        while (chunkStatus == NS_CHUNK_MORE && at < length) {
            chunkStatus = NsChunkDecode(&decoder, bytes + at,
                                        MIN(step, length - at), &nDecoded,
                                        &nConsumed);
            at += nConsumed;
        }
        readingPtr->isIncomplete = chunkStatus == NS_CHUNK_MORE;
        readingPtr->status = chunkStatus == NS_CHUNK_BAD ? 400 : 0;
        readingPtr->end = at;
    } else if (status == NS_PARSE_DONE) {
        uint64_t nBody = (uint64_t) MAX(headPtr->contentLength, 0);

        readingPtr->isIncomplete = nBody > length - headPtr->headBytes;
        readingPtr->end = headPtr->headBytes + (size_t) nBody;
    }
}

static bool
Agrees(const Reading *readingPtr, const Verdict *verdictPtr)
{
    if (verdictPtr->nFaults > 0) {
        return readingPtr->status != 0
            && HasFault(verdictPtr, readingPtr->status);
    }
    return readingPtr->status == 0
        && readingPtr->isIncomplete == verdictPtr->isIncomplete
        && (verdictPtr->isIncomplete || readingPtr->end == verdictPtr->end);
}

static void
Explain(uint64_t seed, const Request *requestPtr, const Reading *readingPtr,
        const Verdict *verdictPtr)
{
    fprintf(stderr,
            "request %" PRIu64 ": server: status %d (%s), %s, end %zu;"
            " judge: status %d, %s, end %zu\n",
            seed, readingPtr->status,
            readingPtr->head.status == 0 ? "" : readingPtr->head.reason,
            readingPtr->isIncomplete ? "incomplete" : "complete",
            readingPtr->end,
            verdictPtr->nFaults == 0 ? 0 : verdictPtr->faults[0],
            verdictPtr->isIncomplete ? "incomplete" : "complete",
            verdictPtr->end);
    for (size_t i = 0; i < requestPtr->length; i++) {
        char c = requestPtr->bytes[i];

        if ((c >= ' ' && c < 0x7f) || c == '\n') {
            fputc(c, stderr);
        } else {
            fprintf(stderr, "\\x%02x", (unsigned char) c);
        }
    }
    fputc('\n', stderr);
}

static uint64_t
Setting(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);

    return value == NULL ? otherwise : strtoull(value, NULL, 10);
}

static void
no_invalid_request_is_accepted_no_valid_one_refused(void **state)
{
    static const char next[] = "GET /next HTTP/1.1\r\nHost: next\r\n\r\n";
    uint64_t          n = Setting("NSD_TEST_REQUESTS", 100000);
    uint64_t          first = Setting("NSD_TEST_SEED", 1) * 1000000000u;
    int               nValid = 0, nRefused = 0, nDifferent = 0;

    for (uint64_t seed = first; seed < first + n && nDifferent < 10; seed++) {
        static Request request;
        static char    bytes[REQUEST_ROOM];
        Reading        reading = {.status = 0};
        Verdict        verdict;

        MakeRequest(&request, seed);
        memcpy(request.bytes + request.length, next, sizeof(next) - 1);
        request.length += sizeof(next) - 1;
        memcpy(bytes, request.bytes, request.length);
        verdict = JudgeRequest(request.bytes, request.length, &limits);
        NsArenaInit(&reading.arena, 1024);
        Read(&reading, bytes, request.length,
             seed % 4 == 0 ? 1 + (size_t) seed % 23 : request.length);
        nValid += verdict.nFaults == 0 && !verdict.isIncomplete;
        nRefused += verdict.nFaults > 0;
        if (!Agrees(&reading, &verdict)) {
            Explain(seed, &request, &reading, &verdict);
            nDifferent++;
        }
        NsArenaFree(&reading.arena);
    }
    assert_int_equal(nDifferent, 0);
    /* Neither is rare. */
    assert_true((uint64_t) nValid > n / 5 && (uint64_t) nRefused > n / 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_invalid_request_is_accepted_no_valid_one_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

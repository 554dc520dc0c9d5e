/* SPDX-License-Identifier: MPL-2.0
 * fuzz_parse.c --
 *
 *      The request parser: pieces give the same as the whole, every string is
 *      inside the buffer and ends with a null byte, every head is judged, and a
 *      request can be made of it.
 */

#include "fuzz.h"

#include "http/judge.h"
#include "http/parse.h"
#include "http/request_line.h"

static const NsParseLimits limits = {
    .maxLineBytes = 64,
    .maxHeadBytes = 2048,
    .maxFields = 40,
    .allowsHttp09 = true};

typedef struct {
    char         *buffer;
    size_t        length;
    NsArena       arena;
    NsHttpHead    head;
    NsHttpParser  parser;
    NsParseStatus status;
} Run;

static void ParseWhole(Run *runPtr, const uint8_t *data, size_t length);
static void ParsePieces(Run *runPtr, const uint8_t *data, size_t length);
static void Compare(const Run *aPtr, const Run *bPtr);
static void CheckHead(Run *runPtr);
static void CheckJudgement(const NsHttpHead *headPtr);
static void CheckInside(const Run *runPtr, const char *text, size_t length);
static void EndRun(Run *runPtr);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    Run whole = {0}, pieces = {0};

    ParseWhole(&whole, data, length);
    ParsePieces(&pieces, data, length);
    Compare(&whole, &pieces);
    if (whole.status == NS_PARSE_DONE) {
        CheckHead(&whole);
        CheckHead(&pieces);
    }
    EndRun(&whole);
    EndRun(&pieces);
    return 0;
}

static void
ParseWhole(Run *runPtr, const uint8_t *data, size_t length)
{
    NsArenaInit(&runPtr->arena, 512);
    NsHttpParserInit(&runPtr->parser, &runPtr->head, &runPtr->arena, &limits);
    runPtr->buffer = FuzzDup(data, length);
    runPtr->length = length;
    runPtr->status = NsHttpParse(&runPtr->parser, runPtr->buffer, length);
}

/*
 * The first byte of the input decides about the size of the pieces.  Each call
 * sees a buffer of its own.
 */
static void
ParsePieces(Run *runPtr, const uint8_t *data, size_t length)
{
    size_t step = length == 0 ? 1 : 1 + data[0] % 7;

    NsArenaInit(&runPtr->arena, 512);
    NsHttpParserInit(&runPtr->parser, &runPtr->head, &runPtr->arena, &limits);
    runPtr->buffer = FuzzDup(data, 0);
    do {
        size_t next = MIN(runPtr->length + step, length);
        char  *grown = FuzzDup(data, next);

        memcpy(grown, runPtr->buffer, runPtr->length);
        free(runPtr->buffer);
        runPtr->buffer = grown;
        runPtr->length = next;
        runPtr->status = NsHttpParse(&runPtr->parser, grown, next);
    } while (runPtr->status == NS_PARSE_MORE && runPtr->length < length);
}

static void
Compare(const Run *aPtr, const Run *bPtr)
{
    const NsHttpHead *a = &aPtr->head, *b = &bPtr->head;

    FuzzAssert(aPtr->status == bPtr->status);
    FuzzAssert(a->status == b->status);
    FuzzAssert((a->status == 0) == (aPtr->status != NS_PARSE_REFUSED));
    if (aPtr->status == NS_PARSE_REFUSED) {
        FuzzAssert(a->reason[0] != '\0' && a->method != NULL);
    }
    if (aPtr->status != NS_PARSE_DONE) {
        return;
    }
    FuzzAssert(a->headBytes == b->headBytes);
    FuzzAssert(strcmp(a->line, b->line) == 0);
    FuzzAssert(a->methodLength == b->methodLength);
    FuzzAssert(a->targetLength == b->targetLength);
    FuzzAssert(a->nFields == b->nFields);
    FuzzAssert(memcmp(a->known, b->known, sizeof(a->known)) == 0);
    FuzzAssert(a->contentLength == b->contentLength);
    FuzzAssert(a->isChunked == b->isChunked);
    FuzzAssert(a->version == b->version);
    FuzzAssert(NsHttpAsksKeep(a) == NsHttpAsksKeep(b));
    FuzzAssert(NsHttpAsksContinue(a) == NsHttpAsksContinue(b));
    for (int i = 0; i < a->nFields; i++) {
        FuzzAssert(a->fields[i].valueLength == b->fields[i].valueLength);
        FuzzAssert(memcmp(a->fields[i].value, b->fields[i].value,
                          a->fields[i].valueLength)
                   == 0);
    }
}

static void
CheckHead(Run *runPtr)
{
    NsHttpHead *headPtr = &runPtr->head;
    Ns_Request  request;

    CheckInside(runPtr, headPtr->line, headPtr->lineLength);
    FuzzAssert(headPtr->nFields <= limits.maxFields + 1);
    FuzzAssert(headPtr->targetLength > 0);
    FuzzAssert(!headPtr->isChunked || headPtr->contentLength < 0);
    for (int i = 0; i < headPtr->nFields; i++) {
        const NsHttpField *fieldPtr = &headPtr->fields[i];

        FuzzAssert(strlen(fieldPtr->name) == fieldPtr->nameLength);
        FuzzAssert(strlen(fieldPtr->value) == fieldPtr->valueLength);
        if (headPtr->target[0] == '/') {
            CheckInside(runPtr, fieldPtr->name, fieldPtr->nameLength);
            CheckInside(runPtr, fieldPtr->value, fieldPtr->valueLength);
        }
    }
    CheckJudgement(headPtr);
    NsRequestFromHead(&runPtr->arena, headPtr, &request);
    FuzzAssert(request.url[0] == '/');
    FuzzAssert(request.urlc >= 1 && request.urlv[request.urlc] == NULL);
}

/*
 * A head that passes says which host it is for, once, in lines of the allowed
 * length; what is new in HTTP/1.1 is for those that speak it.
 */
static void
CheckJudgement(const NsHttpHead *headPtr)
{
    int nHosts = 0;

    for (int i = 0; i < headPtr->nFields; i++) {
        nHosts += strcasecmp(headPtr->fields[i].name, "Host") == 0;
    }
    FuzzAssert(nHosts == 1 || (nHosts == 0 && headPtr->version < NS_HTTP_1_1));
    FuzzAssert(headPtr->lineLength <= limits.maxLineBytes);
    FuzzAssert(!headPtr->isChunked || headPtr->version == NS_HTTP_1_1);
    if (headPtr->version == NS_HTTP_0_9) {
        FuzzAssert(!NsHttpAsksKeep(headPtr) && !NsHttpAsksContinue(headPtr));
    }
}

static void
CheckInside(const Run *runPtr, const char *text, size_t length)
{
    FuzzAssert(text >= runPtr->buffer);
    FuzzAssert(text + length < runPtr->buffer + runPtr->length);
    FuzzAssert(text[length] == '\0');
}

static void
EndRun(Run *runPtr)
{
    free(runPtr->buffer);
    NsArenaFree(&runPtr->arena);
}

/* SPDX-License-Identifier: MPL-2.0
 * parse.c --
 *
 *      Incremental parser for the request line and the header fields.
 *
 *      A call takes line after line, from lineStart to the next LF, which
 *      memchr finds from scanned on.  A line is worked on only when it is
 *      complete:
 *
 *          request line (TakeRequestLine) -> fields (TakeField)
 *          -> empty line (NsHttpJudge)
 *
 *      The head's pointers always point into the buffer of the last call; a
 *      buffer that has moved costs one pass over the fields found so far.
 *      Here each line is judged by itself, in judge.c all of them together.
 */

#include "http/parse.h"

#include "base/assert.h"
#include "base/chars.h"
#include "http/judge.h"
#include "http/refusal.h"
#include "http/token.h"

#define MAX_HEAD_BYTES   ((size_t) 1 << 30)
#define MAX_FIELDS       INT16_MAX
#define MAX_BLANK_LINES  8
#define MAX_METHOD_BYTES 32

typedef struct {
    const char *name;
    size_t      length;
} KnownName;

#define KNOWN(name)            \
    {                          \
        name, sizeof(name) - 1 \
    }

static const KnownName knownNames[NS_FIELD_COUNT] = {
    [NS_FIELD_HOST] = KNOWN("host"),
    [NS_FIELD_CONNECTION] = KNOWN("connection"),
    [NS_FIELD_CONTENT_LENGTH] = KNOWN("content-length"),
    [NS_FIELD_CONTENT_TYPE] = KNOWN("content-type"),
    [NS_FIELD_TRANSFER_ENCODING] = KNOWN("transfer-encoding"),
    [NS_FIELD_EXPECT] = KNOWN("expect"),
    [NS_FIELD_AUTHORIZATION] = KNOWN("authorization"),
    [NS_FIELD_ACCEPT_ENCODING] = KNOWN("accept-encoding"),
    [NS_FIELD_RANGE] = KNOWN("range"),
    [NS_FIELD_IF_RANGE] = KNOWN("if-range"),
    [NS_FIELD_IF_MATCH] = KNOWN("if-match"),
    [NS_FIELD_IF_NONE_MATCH] = KNOWN("if-none-match"),
    [NS_FIELD_IF_MODIFIED_SINCE] = KNOWN("if-modified-since"),
    [NS_FIELD_IF_UNMODIFIED_SINCE] = KNOWN("if-unmodified-since"),
    [NS_FIELD_COOKIE] = KNOWN("cookie"),
    [NS_FIELD_REFERER] = KNOWN("referer"),
    [NS_FIELD_USER_AGENT] = KNOWN("user-agent"),
    [NS_FIELD_X_FORWARDED_FOR] = KNOWN("x-forwarded-for"),
    [NS_FIELD_TRACEPARENT] = KNOWN("traceparent"),
};

static NsParseStatus TakeLine(NsHttpParser *parserPtr, char *line, char *lf);
static NsParseStatus TakeUnfinishedLine(NsHttpParser *parserPtr, char *line,
                                        size_t length);
static NsParseStatus TakeRequestLine(NsHttpParser *parserPtr, char *line,
                                     char *end);
static NsParseStatus RefuseLine(NsHttpParser *parserPtr, char *line, char *end);
static NsParseStatus TooLong(NsHttpParser *parserPtr, char *line,
                             size_t length);
static bool TakeMethod(NsHttpHead *headPtr, const char **pPtr, const char *end);
static bool RefuseMissing(NsHttpHead *headPtr, const char *line,
                          const char *end);
static bool TakeTarget(NsHttpHead *headPtr, const char **pPtr, const char *end);
static bool TakeVersion(NsHttpHead *headPtr, const char *text, const char *end);
static NsParseStatus TakeField(NsHttpParser *parserPtr, char *line, char *end);
static NsParseStatus RefuseName(NsHttpHead *headPtr, const char *line,
                                const char *at, const char *end);
static void          GrowFields(NsHttpParser *parserPtr);
static void          NoteKnown(NsHttpHead *headPtr, const NsHttpField *fieldPtr,
                               int known);
static void NoteConnection(NsHttpHead *headPtr, const NsHttpField *fieldPtr);
static bool IsOption(const char *text, size_t length, const char *option,
                     size_t nOption);
static int  FindKnown(const char *name, size_t length);

void
NsHttpParserInit(NsHttpParser *parserPtr, NsHttpHead *headPtr,
                 NsArena *arenaPtr, const NsParseLimits *limitsPtr)
{
    *parserPtr = (NsHttpParser){.headPtr = headPtr,
                                .arenaPtr = arenaPtr,
                                .limits = *limitsPtr,
                                .maxFields = NS_HTTP_USUAL_FIELDS};
    parserPtr->limits.maxHeadBytes = MIN(limitsPtr->maxHeadBytes,
                                         MAX_HEAD_BYTES);
    parserPtr->limits.maxFields = MIN(limitsPtr->maxFields, MAX_FIELDS);

    /* All but usualFields, which nFields covers. */
    memset(headPtr, 0, offsetof(NsHttpHead, usualFields));
    headPtr->fields = headPtr->usualFields;
    headPtr->contentLength = -1;
    for (int i = 0; i < NS_FIELD_COUNT; i++) {
        headPtr->known[i] = -1;
    }
}

NsParseStatus
NsHttpParse(NsHttpParser *parserPtr, char *buffer, size_t length)
{
    NsParseStatus status = NS_PARSE_MORE;

    NsAssert(length >= parserPtr->scanned);

    if (unlikely(parserPtr->buffer != buffer)) {
        if (parserPtr->buffer != NULL) {
            NsHttpHeadMove(parserPtr->headPtr, parserPtr->buffer, buffer);
        }
        parserPtr->buffer = buffer;
    }

    while (status == NS_PARSE_MORE) {
        char *line = buffer + parserPtr->lineStart;
        char *lf = memchr(buffer + parserPtr->scanned, '\n',
                          length - parserPtr->scanned);

        if (lf == NULL) {
            parserPtr->scanned = length;
            return TakeUnfinishedLine(parserPtr, line,
                                      (size_t) (buffer + length - line));
        }
        parserPtr->lineStart = (size_t) (lf + 1 - buffer);
        parserPtr->scanned = parserPtr->lineStart;
        status = TakeLine(parserPtr, line, lf);
    }
    if (likely(status == NS_PARSE_DONE)) {
        NsHttpHead *headPtr = parserPtr->headPtr;

        headPtr->headBytes = parserPtr->lineStart;
        if (NsHttpJudge(headPtr, parserPtr->arenaPtr) != 0) {
            return NS_PARSE_REFUSED;
        }
    }
    return status;
}

void
NsHttpParserRefuse(NsHttpParser *parserPtr, int status, const char *reason)
{
    NsHttpRefuse(parserPtr->headPtr, status, "%s", reason);
    if (!parserPtr->hasLine) {
        char *line = (char *) parserPtr->buffer + parserPtr->lineStart;

        (void) RefuseLine(parserPtr, line,
                          (char *) parserPtr->buffer + parserPtr->scanned);
    }
}

bool
NsHttpParserHasBegun(const NsHttpParser *parserPtr, size_t length)
{
    return parserPtr->hasLine || length > parserPtr->lineStart;
}

void
NsHttpHeadMove(NsHttpHead *headPtr, const char *from, char *to)
{
    uintptr_t old = (uintptr_t) from;

    /* Not from - to: from may have been freed. */
#define MOVE(pointer) ((pointer) = to + ((uintptr_t) (pointer) -old))

    if (headPtr->line != NULL) {
        MOVE(headPtr->line);
        MOVE(headPtr->method);
        MOVE(headPtr->target);
    }
    for (int i = 0; i < headPtr->nFields; i++) {
        MOVE(headPtr->fields[i].name);
        MOVE(headPtr->fields[i].value);
    }
#undef MOVE
}

const char *
NsHttpFind(const NsHttpHead *headPtr, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < headPtr->nFields; i++) {
        const NsHttpField *fieldPtr = &headPtr->fields[i];

        if (fieldPtr->nameLength == length
            && NsIsSameNoCase(fieldPtr->name, name, length)) {
            return fieldPtr->value;
        }
    }
    return NULL;
}

/*
 * One line, up to its LF.
 */
static NsParseStatus
TakeLine(NsHttpParser *parserPtr, char *line, char *lf)
{
    NsHttpHead *headPtr = parserPtr->headPtr;
    char       *end = lf;

    if (unlikely((size_t) (lf - line) > parserPtr->limits.maxLineBytes
                 || parserPtr->lineStart > parserPtr->limits.maxHeadBytes)) {
        return TooLong(parserPtr, line, (size_t) (lf - line));
    }
    if (likely(end > line && end[-1] == '\r')) {
        end--;
    } else if (parserPtr->limits.isLfStrict) {
        NsHttpRefuse(headPtr, 400, "line %d: ends with LF alone",
                     headPtr->nFields + parserPtr->hasLine + 1);
        return parserPtr->hasLine ? NS_PARSE_REFUSED
                                  : RefuseLine(parserPtr, line, end);
    }
    if (unlikely(!parserPtr->hasLine)) {
        return TakeRequestLine(parserPtr, line, end);
    }
    return line == end ? NS_PARSE_DONE : TakeField(parserPtr, line, end);
}

/*
 * What can be said of a line before its LF is here: whether it is too long.
 */
static NsParseStatus
TakeUnfinishedLine(NsHttpParser *parserPtr, char *line, size_t length)
{
    if (unlikely(length > parserPtr->limits.maxLineBytes
                 || parserPtr->scanned > parserPtr->limits.maxHeadBytes)) {
        return TooLong(parserPtr, line, length);
    }
    return NS_PARSE_MORE;
}

static NsParseStatus
TooLong(NsHttpParser *parserPtr, char *line, size_t length)
{
    const NsParseLimits *limitsPtr = &parserPtr->limits;
    NsHttpHead          *headPtr = parserPtr->headPtr;

    if (!parserPtr->hasLine) {
        NsHttpRefuse(headPtr, 414,
                     "request line: more than maxline (%" PRIuz
                     " bytes) or maxhead (%" PRIuz ")",
                     limitsPtr->maxLineBytes, limitsPtr->maxHeadBytes);
        return RefuseLine(parserPtr, line,
                          line + MIN(length, limitsPtr->maxLineBytes));
    }
    NsHttpRefuse(headPtr, 431,
                 "header line %d: more than maxline (%" PRIuz
                 " bytes), or the head than maxhead (%" PRIuz ")",
                 headPtr->nFields + 1, limitsPtr->maxLineBytes,
                 limitsPtr->maxHeadBytes);
    return NS_PARSE_REFUSED;
}

static NsParseStatus
TakeRequestLine(NsHttpParser *parserPtr, char *line, char *end)
{
    NsHttpHead *headPtr = parserPtr->headPtr;

    if (unlikely(line == end)) {
        if (++parserPtr->nBlankLines <= MAX_BLANK_LINES) {
            return NS_PARSE_MORE;
        }
        NsHttpRefuse(headPtr, 400,
                     "request line: more than %d empty lines before it",
                     MAX_BLANK_LINES);
        return RefuseLine(parserPtr, line, end);
    }
    if (unlikely(!NsHttpSplitLine(headPtr, line, (size_t) (end - line)))) {
        return RefuseLine(parserPtr, line, end);
    }
    if (unlikely(headPtr->version == NS_HTTP_0_9
                 && (!parserPtr->limits.allowsHttp09
                     || headPtr->methodLength != 3u
                     || memcmp(headPtr->method, "GET", 3u) != 0))) {
        NsHttpRefuse(headPtr, 400, "request line: no version in \"%.*s\"",
                     (int) MIN(end - line, 60), line);
        return RefuseLine(parserPtr, line, end);
    }
    *end = '\0';
    parserPtr->hasLine = true;
    return headPtr->version == NS_HTTP_0_9 ? NS_PARSE_DONE : NS_PARSE_MORE;
}

/*
 * The line stays as it came, for the log; nothing that it asks for counts.
 */
static NsParseStatus
RefuseLine(NsHttpParser *parserPtr, char *line, char *end)
{
    NsHttpHead *headPtr = parserPtr->headPtr;

    NsAssert(headPtr->status >= 400);
    parserPtr->hasLine = true;
    headPtr->line = NsArenaDup(parserPtr->arenaPtr, line,
                               (size_t) (end - line));
    headPtr->lineLength = (uint32_t) (end - line);
    headPtr->method = "BAD";
    headPtr->methodLength = 3u;
    headPtr->target = "/";
    headPtr->targetLength = 1u;
    headPtr->version = NS_HTTP_1_1;
    headPtr->sentVersion = 1.1;
    return NS_PARSE_REFUSED;
}

/*
 * METHOD blank URL blank HTTP/version
 */
bool
NsHttpSplitLine(NsHttpHead *headPtr, char *line, size_t length)
{
    const char *p = line, *end = line + length;

    headPtr->line = line;
    headPtr->lineLength = (uint32_t) length;
    return TakeMethod(headPtr, &p, end) && TakeTarget(headPtr, &p, end)
        && TakeVersion(headPtr, p, end);
}

static bool
TakeMethod(NsHttpHead *headPtr, const char **pPtr, const char *end)
{
    const char *start = *pPtr, *p = start;

    while (p < end && NsIsTokenChar(*p)) {
        p++;
    }
    headPtr->method = start;
    headPtr->methodLength = (uint32_t) (p - start);
    if (unlikely(p == end)) {
        return RefuseMissing(headPtr, start, end);
    }
    if (unlikely(*p != ' ' || p == start)) {
        NsHttpRefuseByte(headPtr, "method", start, p, end);
        return false;
    }
    if (unlikely(p - start > MAX_METHOD_BYTES)) {
        NsHttpRefuse(headPtr, 501, "method: longer than %d bytes",
                     MAX_METHOD_BYTES);
        return false;
    }
    *pPtr = p + 1;
    return true;
}

static bool
RefuseMissing(NsHttpHead *headPtr, const char *line, const char *end)
{
    NsHttpRefuse(headPtr, 400, "request line: no URL in \"%.*s\"",
                 (int) MIN(end - line, 60), line);
    return false;
}

/*
 * Printable bytes but #.  One line without version may end with it.
 */
static bool
TakeTarget(NsHttpHead *headPtr, const char **pPtr, const char *end)
{
    const char *start = *pPtr, *p = start;

    while (p<end && * p> ' ' && *p < '\x7f' && *p != '#') {
        p++;
    }
    headPtr->target = start;
    headPtr->targetLength = (uint32_t) (p - start);
    if (unlikely(p == start || (p < end && *p != ' '))) {
        NsHttpRefuseByte(headPtr, "URL", start, p, end);
        return false;
    }
    *pPtr = p;
    return true;
}

/*
 * A blank and HTTP/digit.digit, or nothing at all.
 */
static bool
TakeVersion(NsHttpHead *headPtr, const char *text, const char *end)
{
    /* Exactly what the compiler makes of the literal. */
    static const double minors[] = {
        1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9};
    static const char prefix[] = " HTTP/";
    const size_t      nPrefix = sizeof(prefix) - 1u;
    int               minor;

    if (text == end) {
        headPtr->version = NS_HTTP_0_9;
        return headPtr->targetLength < nPrefix - 1u
            || memcmp(headPtr->target, prefix + 1, nPrefix - 1u) != 0
            || RefuseMissing(headPtr, headPtr->line, end);
    }
    if (unlikely((size_t) (end - text) != nPrefix + 3u
                 || memcmp(text, prefix, nPrefix) != 0
                 || !NsIsDigit(text[nPrefix]) || text[nPrefix + 1u] != '.'
                 || !NsIsDigit(text[nPrefix + 2u]))) {
        NsHttpRefuse(headPtr, 400, "version: malformed: \"%.*s\"",
                     (int) MIN(end - text - 1, 60), text + 1);
        return false;
    }
    minor = text[nPrefix + 2u] - '0';
    if (unlikely(text[nPrefix] != '1')) {
        NsHttpRefuse(headPtr, 505, "version: not supported: \"%.*s\"",
                     (int) (end - text - 1), text + 1);
        return false;
    }
    headPtr->sentVersion = minors[minor];
    headPtr->version = minor == 0 ? NS_HTTP_1_0 : NS_HTTP_1_1;
    return true;
}

/*
 * name: value, from line to end.  There is a byte at end, to be overwritten.
 */
static NsParseStatus
TakeField(NsHttpParser *parserPtr, char *line, char *end)
{
    NsHttpHead  *headPtr = parserPtr->headPtr;
    NsHttpField *fieldPtr;
    char        *colon = line;
    char        *value;
    const char  *bad;
    int          known;

    while (colon < end && NsIsTokenChar(*colon)) {
        colon++;
    }
    if (unlikely(colon == line || colon == end || *colon != ':')) {
        return RefuseName(headPtr, line, colon, end);
    }
    if (unlikely(headPtr->nFields >= parserPtr->limits.maxFields)) {
        NsHttpRefuse(headPtr, 431, "header: more fields than maxheaders (%d)",
                     parserPtr->limits.maxFields);
        return NS_PARSE_REFUSED;
    }
    if (headPtr->nFields == parserPtr->maxFields) {
        GrowFields(parserPtr);
    }
    value = colon + 1;
    while (value < end && NsIsBlank(*value)) {
        value++;
    }
    while (end > value && NsIsBlank(end[-1])) {
        end--;
    }
    bad = NsFindControl(value, end);
    if (unlikely(bad != NULL)) {
        NsHttpRefuse(headPtr, 400, "header value: byte 0x%02x in %.*s",
                     (unsigned char) *bad, (int) MIN(colon - line, 40), line);
        return NS_PARSE_REFUSED;
    }
    *colon = '\0';
    *end = '\0';

    fieldPtr = &headPtr->fields[headPtr->nFields];
    fieldPtr->name = line;
    fieldPtr->nameLength = (uint32_t) (colon - line);
    fieldPtr->value = value;
    fieldPtr->valueLength = (uint32_t) (end - value);
    known = FindKnown(line, fieldPtr->nameLength);
    if (known >= 0) {
        NoteKnown(headPtr, fieldPtr, known);
    }
    headPtr->nFields++;
    return NS_PARSE_MORE;
}

/*
 * The name, from line, ends at a byte that is no colon; or it is empty.
 */
static NsParseStatus
RefuseName(NsHttpHead *headPtr, const char *line, const char *at,
           const char *end)
{
    if (at == end) {
        NsHttpRefuse(headPtr, 400, "header: no colon in \"%.*s\"",
                     (int) MIN(end - line, 60), line);
    } else if (at == line && NsIsBlank(*at)) {
        NsHttpRefuse(headPtr, 400,
                     "header line %d: begins with a blank (folded line)",
                     headPtr->nFields + 1);
    } else {
        NsHttpRefuseByte(headPtr, "header name", line, at, end);
    }
    return NS_PARSE_REFUSED;
}

static void
GrowFields(NsHttpParser *parserPtr)
{
    NsHttpHead  *headPtr = parserPtr->headPtr;
    NsHttpField *fields;
    size_t       bytes = sizeof(NsHttpField) * (size_t) headPtr->nFields;

    parserPtr->maxFields *= 2;
    fields = NsArenaAlloc(parserPtr->arenaPtr, bytes * 2);
    memcpy(fields, headPtr->fields, bytes);
    headPtr->fields = fields;
}

static void
NoteKnown(NsHttpHead *headPtr, const NsHttpField *fieldPtr, int known)
{
    if (known == NS_FIELD_CONNECTION) {
        NoteConnection(headPtr, fieldPtr);
    }
    if (likely(headPtr->known[known] < 0)) {
        headPtr->known[known] = (int16_t) headPtr->nFields;
    } else if (known == NS_FIELD_CONTENT_LENGTH
               || known == NS_FIELD_TRANSFER_ENCODING) {
        headPtr->isFramingRepeated = true;
    } else if (known == NS_FIELD_HOST) {
        headPtr->isHostRepeated = true;
    } else if (known == NS_FIELD_EXPECT) {
        headPtr->isExpectRepeated = true;
    }
}

/*
 * A list of options, perhaps in several fields (RFC 9110 7.6.1).
 */
static void
NoteConnection(NsHttpHead *headPtr, const NsHttpField *fieldPtr)
{
    const char *p = fieldPtr->value;

    while (*p != '\0') {
        size_t length;

        p += strspn(p, ", \t");
        length = strcspn(p, ",");
        if (IsOption(p, length, "close", 5u)) {
            headPtr->asksClose = true;
        } else if (IsOption(p, length, "keep-alive", 10u)) {
            headPtr->asksKeepAlive = true;
        }
        p += length;
    }
}

/*
 * Blanks may stand behind an option.
 */
static bool
IsOption(const char *text, size_t length, const char *option, size_t nOption)
{
    if (length < nOption || !NsIsSameNoCase(text, option, nOption)) {
        return false;
    }
    while (nOption < length && NsIsBlank(text[nOption])) {
        nOption++;
    }
    return nOption == length;
}

/*
 * The known field of that name, or -1.  Length and one letter leave at most one
 * candidate.
 */
static int
FindKnown(const char *name, size_t length)
{
    int known = -1;

    switch (length) {
    case 4:
        known = NS_FIELD_HOST;
        break;
    case 5:
        known = NS_FIELD_RANGE;
        break;
    case 6:
        known = NsToLower(*name) == 'c' ? NS_FIELD_COOKIE : NS_FIELD_EXPECT;
        break;
    case 7:
        known = NS_FIELD_REFERER;
        break;
    case 8:
        known = NsToLower(name[3]) == 'r'
            ? NS_FIELD_IF_RANGE
            : NS_FIELD_IF_MATCH;
        break;
    case 10:
        known = NsToLower(*name) == 'c'
            ? NS_FIELD_CONNECTION
            : NS_FIELD_USER_AGENT;
        break;
    case 11:
        known = NS_FIELD_TRACEPARENT;
        break;
    case 12:
        known = NS_FIELD_CONTENT_TYPE;
        break;
    case 13:
        known = NsToLower(*name) == 'a'
            ? NS_FIELD_AUTHORIZATION
            : NS_FIELD_IF_NONE_MATCH;
        break;
    case 14:
        known = NS_FIELD_CONTENT_LENGTH;
        break;
    case 15:
        known = NsToLower(*name) == 'a'
            ? NS_FIELD_ACCEPT_ENCODING
            : NS_FIELD_X_FORWARDED_FOR;
        break;
    case 17:
        known = NsToLower(*name) == 'i'
            ? NS_FIELD_IF_MODIFIED_SINCE
            : NS_FIELD_TRANSFER_ENCODING;
        break;
    case 19:
        known = NS_FIELD_IF_UNMODIFIED_SINCE;
        break;
    default:
        return -1;
    }
    NsAssert(knownNames[known].length == length);
    return NsIsSameNoCase(name, knownNames[known].name, length) ? known : -1;
}

/* SPDX-License-Identifier: MPL-2.0
 * parse.c --
 *
 *      Incremental parser for the request line and the header fields.
 *
 *      A call takes line after line, from lineStart to the next LF, which
 *      memchr finds from scanned on.  A line is worked on only when it is
 *      complete:
 *
 *          request line (TakeRequestLine) -> fields (TakeField,
 *          TakeContinuation) -> empty line (FinishHead)
 *
 *      The head's pointers always point into the buffer of the last call; a
 *      buffer that has moved costs one pass over the fields found so far.
 *      What values mean together is judged at the end, because a continuation
 *      line can still change a value.
 */

#include "http/parse.h"

#include "base/assert.h"
#include "base/chars.h"

#define MAX_HEAD_BYTES  ((size_t) 1 << 30)
#define MAX_FIELDS      INT16_MAX
#define MAX_BLANK_LINES 2

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
    [NS_FIELD_EXPECTED_ENTITY_LENGTH] = KNOWN("x-expected-entity-length"),
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
};

#define BARE(line) "HTTP/1.0 " line "\r\n\r\n"

static const struct {
    int         status; /* 0: close without a word. */
    const char *reply;
    const char *reason;
} parseReplies[] = {
    [NS_PARSE_DONE] = {0, "", "complete"},
    [NS_PARSE_MORE] = {0, "", "incomplete"},
    [NS_PARSE_BLANK_LINES] = {0, "", "blank lines instead of a request"},
    [NS_PARSE_HEAD_TOO_LARGE] = {0, "", "request line and header too large"},
    [NS_PARSE_NO_URL] = {400, BARE("400 Bad Request"),
                         "request line without URL"},
    [NS_PARSE_BAD_FIELD] = {400, BARE("400 Bad Request"),
                            "header line without colon"},
    [NS_PARSE_BAD_BYTE] = {400, BARE("400 Bad Request"),
                           "null byte or bare CR in a line"},
    [NS_PARSE_BAD_LENGTH] = {400, BARE("400 Bad Request"),
                             "body length invalid or ambiguous"},
    [NS_PARSE_BAD_CODING] = {501, BARE("501 Not Implemented"),
                             "Transfer-Encoding other than chunked"},
    [NS_PARSE_TOO_MANY_FIELDS] = {414, BARE("414 URI Too Long"),
                                  "too many header fields"},
};

static NsParseStatus TakeLine(NsHttpParser *parserPtr, char *line, char *end,
                              size_t lineBytes);
static NsParseStatus TakeRequestLine(NsHttpParser *parserPtr, char *line,
                                     char *end);
static const char   *SplitVersion(NsHttpHead *headPtr, const char *start,
                                  const char *end);
static bool ParseVersion(const char *text, const char *end, double *versionPtr);
static NsParseStatus TakeField(NsHttpParser *parserPtr, char *line, char *end);
static void          GrowFields(NsHttpParser *parserPtr);
static void NoteKnown(NsHttpHead *headPtr, const NsHttpField *fieldPtr);
static void NoteConnection(NsHttpHead *headPtr, const NsHttpField *fieldPtr);
static int  FindKnown(const char *name, size_t length);
static NsParseStatus TakeContinuation(NsHttpHead *headPtr, char *line,
                                      char *end);
static NsParseStatus FinishHead(NsHttpHead *headPtr);
static NsParseStatus JudgeContentLength(NsHttpHead *headPtr);
static NsParseStatus JudgeTransferEncoding(NsHttpHead *headPtr);
static bool IsKnown(const NsHttpField *fieldPtr, NsHttpKnownField known);
static bool ParseLength(const NsHttpField *fieldPtr, int64_t *lengthPtr);

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
        char  *line = buffer + parserPtr->lineStart;
        char  *lf = memchr(buffer + parserPtr->scanned, '\n',
                           length - parserPtr->scanned);
        char  *end = lf;
        size_t next;

        next = lf == NULL ? length : (size_t) (lf + 1 - buffer);
        parserPtr->scanned = next;
        if (next > parserPtr->limits.maxHeadBytes) {
            return NS_PARSE_HEAD_TOO_LARGE;
        }
        if (lf == NULL) {
            return NS_PARSE_MORE;
        }
        parserPtr->lineStart = next;
        if (end > line && end[-1] == '\r') {
            end--;
        }
        status = TakeLine(parserPtr, line, end, (size_t) (lf - line));
    }
    if (status == NS_PARSE_DONE) {
        parserPtr->headPtr->headBytes = parserPtr->lineStart;
        status = FinishHead(parserPtr->headPtr);
    }
    return status;
}

bool
NsHttpParserHasBegun(const NsHttpParser *parserPtr, size_t length)
{
    return parserPtr->hasLine || length > parserPtr->lineStart;
}

const char *
NsParseBareReply(NsParseStatus status, size_t *lengthPtr)
{
    *lengthPtr = strlen(parseReplies[status].reply);
    return parseReplies[status].reply;
}

int
NsParseReplyStatus(NsParseStatus status)
{
    return parseReplies[status].status;
}

const char *
NsParseReason(NsParseStatus status)
{
    return parseReplies[status].reason;
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
 * One line, from line to end without its line break; lineBytes counts all
 * bytes before the LF.  There is a byte at end, to be overwritten.
 */
static NsParseStatus
TakeLine(NsHttpParser *parserPtr, char *line, char *end, size_t lineBytes)
{
    NsHttpHead *headPtr = parserPtr->headPtr;
    size_t      length = (size_t) (end - line);

    /* Others may take these for the end of a line or of a value: RFC 9112,
     * section 2.2, and RFC 9110, section 5.5. */
    if (unlikely(memchr(line, '\r', length) != NULL
                 || memchr(line, '\0', length) != NULL)) {
        return NS_PARSE_BAD_BYTE;
    }
    if (likely(parserPtr->hasLine)) {
        if (line == end) {
            return NS_PARSE_DONE;
        }
        if (unlikely(lineBytes > parserPtr->limits.maxLineBytes)) {
            headPtr->isFieldTooLong = true;
        }
        if (unlikely(NsIsSpace(*line))) {
            return TakeContinuation(headPtr, line, end);
        }
        return TakeField(parserPtr, line, end);
    }
    headPtr->isLineTooLong = lineBytes > parserPtr->limits.maxLineBytes;
    return TakeRequestLine(parserPtr, line, end);
}

/*
 * METHOD blanks URL ?blanks HTTP/version?  Blanks inside the URL are kept.
 */
static NsParseStatus
TakeRequestLine(NsHttpParser *parserPtr, char *line, char *end)
{
    NsHttpHead *headPtr = parserPtr->headPtr;

    while (line < end && NsIsSpace(*line)) {
        line++;
    }
    while (end > line && NsIsSpace(end[-1])) {
        end--;
    }
    if (line == end) {
        parserPtr->nBlankLines++;
        return parserPtr->nBlankLines > MAX_BLANK_LINES
            ? NS_PARSE_BLANK_LINES
            : NS_PARSE_MORE;
    }
    *end = '\0';
    parserPtr->hasLine = true;
    return NsHttpSplitLine(headPtr, line, (size_t) (end - line))
        ? (headPtr->hasVersion ? NS_PARSE_MORE : NS_PARSE_DONE)
        : NS_PARSE_NO_URL;
}

bool
NsHttpSplitLine(NsHttpHead *headPtr, char *line, size_t length)
{
    const char *end = line + length;
    const char *method = line;
    const char *target;

    while (line < end && !NsIsSpace(*line)) {
        line++;
    }
    headPtr->line = (char *) method;
    headPtr->lineLength = (uint32_t) length;
    headPtr->method = method;
    headPtr->methodLength = (uint32_t) (line - method);
    while (line < end && NsIsSpace(*line)) {
        line++;
    }
    target = line;
    end = SplitVersion(headPtr, target, end);
    headPtr->version = headPtr->sentVersion < 1.0 ? NS_HTTP_0_9
        : headPtr->sentVersion < 1.05
        ? NS_HTTP_1_0
        : NS_HTTP_1_1;
    headPtr->target = target;
    headPtr->targetLength = (uint32_t) (end - target);
    return end > target;
}

/*
 * Look for the version, the last word of start ... end.  Where the URL ends.
 */
static const char *
SplitVersion(NsHttpHead *headPtr, const char *start, const char *end)
{
    static const char prefix[] = "HTTP/";
    const size_t      prefixLength = sizeof(prefix) - 1;
    const char       *word = end;

    while (word > start && !NsIsSpace(word[-1])) {
        word--;
    }
    if ((size_t) (end - word) < prefixLength
        || memcmp(word, prefix, prefixLength) != 0) {
        return end;
    }
    for (const char *p = word + prefixLength; p < end; p++) {
        if (!NsIsDigit(*p) && *p != '.') {
            return end;
        }
    }
    headPtr->hasVersion = ParseVersion(word + prefixLength, end,
                                       &headPtr->sentVersion);
    while (word > start && NsIsSpace(word[-1])) {
        word--;
    }
    return word;
}

/*
 * Digits with at most one dot that counts; false without a digit.
 */
static bool
ParseVersion(const char *text, const char *end, double *versionPtr)
{
    double value = 0.0, weight = 1.0;
    bool   hasDigit = false, hasDot = false;

    if (end - text == 3 && text[0] == '1' && text[1] == '.'
        && NsIsDigit(text[2])) {
        /* Exactly what the compiler makes of the literal. */
        static const double minors[] = {
            1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9};
        *versionPtr = minors[text[2] - '0'];
        return true;
    }
    for (; text < end; text++) {
        if (*text == '.') {
            if (hasDot) {
                break;
            }
            hasDot = true;
        } else {
            hasDigit = true;
            value = value * 10.0 + (*text - '0');
            weight *= hasDot ? 10.0 : 1.0;
            if (weight > 1e15 || value > 1e15) {
                break;
            }
        }
    }
    *versionPtr = hasDigit ? value / weight : 0.0;
    return hasDigit;
}

static NsParseStatus
TakeField(NsHttpParser *parserPtr, char *line, char *end)
{
    NsHttpHead  *headPtr = parserPtr->headPtr;
    NsHttpField *fieldPtr;
    char        *colon = memchr(line, ':', (size_t) (end - line));
    char        *value;

    if (colon == NULL) {
        return NS_PARSE_BAD_FIELD;
    }
    if (headPtr->nFields >= parserPtr->limits.maxFields) {
        return NS_PARSE_TOO_MANY_FIELDS;
    }
    if (headPtr->nFields == parserPtr->maxFields) {
        GrowFields(parserPtr);
    }
    value = colon + 1;
    while (value < end && NsIsSpace(*value)) {
        value++;
    }
    *colon = '\0';
    *end = '\0';

    fieldPtr = &headPtr->fields[headPtr->nFields];
    fieldPtr->name = line;
    fieldPtr->nameLength = (uint32_t) (colon - line);
    fieldPtr->value = value;
    fieldPtr->valueLength = (uint32_t) (end - value);
    NoteKnown(headPtr, fieldPtr);
    headPtr->nFields++;
    return NS_PARSE_MORE;
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
NoteKnown(NsHttpHead *headPtr, const NsHttpField *fieldPtr)
{
    int known = FindKnown(fieldPtr->name, fieldPtr->nameLength);

    if (known == NS_FIELD_CONNECTION) {
        NoteConnection(headPtr, fieldPtr);
    }
    if (known >= 0) {
        if (headPtr->known[known] < 0) {
            headPtr->known[known] = (int16_t) headPtr->nFields;
        } else if (known == NS_FIELD_CONTENT_LENGTH
                   || known == NS_FIELD_TRANSFER_ENCODING) {
            headPtr->isFramingRepeated = true;
        } else if (known == NS_FIELD_HOST) {
            headPtr->isHostRepeated = true;
        }
    } else if (fieldPtr->nameLength > 0
               && NsIsSpace(fieldPtr->name[fieldPtr->nameLength - 1])) {
        /* Others may read `Content-Length : 5` as a length. */
        headPtr->isLengthUnclear = true;
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
        length = strcspn(p, ", \t");
        if (length == 5 && NsIsSameNoCase(p, "close", 5)) {
            headPtr->asksClose = true;
        } else if (length == 10 && NsIsSameNoCase(p, "keep-alive", 10)) {
            headPtr->asksKeepAlive = true;
        }
        p += length;
    }
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
    case 24:
        known = NS_FIELD_EXPECTED_ENTITY_LENGTH;
        break;
    default:
        return -1;
    }
    NsAssert(knownNames[known].length == length);
    return NsIsSameNoCase(name, knownNames[known].name, length) ? known : -1;
}

/*
 * Append to the last value, with one blank between.  The text moves to the left
 * over the old line break, so there is always room.
 */
static NsParseStatus
TakeContinuation(NsHttpHead *headPtr, char *line, char *end)
{
    NsHttpField *fieldPtr;
    char        *valueEnd;
    size_t       length;

    if (headPtr->nFields == 0) {
        return NS_PARSE_BAD_FIELD;
    }
    while (line < end && NsIsSpace(*line)) {
        line++;
    }
    length = (size_t) (end - line);
    if (length > 0) {
        fieldPtr = &headPtr->fields[headPtr->nFields - 1];
        valueEnd = fieldPtr->value + fieldPtr->valueLength;
        NsAssert(valueEnd + 1 < line);
        *valueEnd = ' ';
        memmove(valueEnd + 1, line, length);
        valueEnd[1 + length] = '\0';
        fieldPtr->valueLength += 1 + (uint32_t) length;
    }
    return NS_PARSE_MORE;
}

/*
 * Find out whether and how a body follows.
 */
static NsParseStatus
FinishHead(NsHttpHead *headPtr)
{
    NsParseStatus status = NS_PARSE_DONE;

    if (headPtr->known[NS_FIELD_CONTENT_LENGTH] >= 0) {
        status = JudgeContentLength(headPtr);
    }
    if (status == NS_PARSE_DONE
        && headPtr->known[NS_FIELD_TRANSFER_ENCODING] >= 0) {
        status = JudgeTransferEncoding(headPtr);
    }
    return status;
}

static NsParseStatus
JudgeContentLength(NsHttpHead *headPtr)
{
    int     i = headPtr->known[NS_FIELD_CONTENT_LENGTH];
    int64_t other;

    if (!ParseLength(&headPtr->fields[i], &headPtr->contentLength)) {
        return NS_PARSE_BAD_LENGTH;
    }
    while (headPtr->isFramingRepeated && ++i < headPtr->nFields) {
        if (IsKnown(&headPtr->fields[i], NS_FIELD_CONTENT_LENGTH)
            && (!ParseLength(&headPtr->fields[i], &other)
                || other != headPtr->contentLength)) {
            return NS_PARSE_BAD_LENGTH;
        }
    }
    return NS_PARSE_DONE;
}

/*
 * A coding that cannot be decoded is refused: a body that others see, and we do
 * not, might be read as the next request.  HTTP/1.0 does not know this field,
 * so its sender passes on what it did not understand (RFC 9112 6.1).
 */
static NsParseStatus
JudgeTransferEncoding(NsHttpHead *headPtr)
{
    static const char  chunked[] = "chunked";
    int                i = headPtr->known[NS_FIELD_TRANSFER_ENCODING];
    const NsHttpField *fieldPtr = &headPtr->fields[i];
    size_t             length = fieldPtr->valueLength;

    if (headPtr->contentLength >= 0 || headPtr->version < NS_HTTP_1_1) {
        return NS_PARSE_BAD_LENGTH;
    }
    while (length > 0 && NsIsSpace(fieldPtr->value[length - 1])) {
        length--;
    }
    headPtr->isChunked = length == sizeof(chunked) - 1
        && NsIsSameNoCase(fieldPtr->value, chunked, length);
    while (headPtr->isFramingRepeated && ++i < headPtr->nFields) {
        if (IsKnown(&headPtr->fields[i], NS_FIELD_TRANSFER_ENCODING)) {
            headPtr->isChunked = false;
        }
    }
    return headPtr->isChunked ? NS_PARSE_DONE : NS_PARSE_BAD_CODING;
}

static bool
IsKnown(const NsHttpField *fieldPtr, NsHttpKnownField known)
{
    return fieldPtr->nameLength == knownNames[known].length
        && NsIsSameNoCase(fieldPtr->name, knownNames[known].name,
                          fieldPtr->nameLength);
}

/*
 * Digits only, but for blanks behind them.
 */
static bool
ParseLength(const NsHttpField *fieldPtr, int64_t *lengthPtr)
{
    const char *p = fieldPtr->value;
    const char *end = p + fieldPtr->valueLength;
    int64_t     length = 0;

    while (end > p && NsIsSpace(end[-1])) {
        end--;
    }
    if (p == end) {
        return false;
    }
    for (; p < end; p++) {
        if (!NsIsDigit(*p) || length > (INT64_MAX - (*p - '0')) / 10) {
            return false;
        }
        length = length * 10 + (*p - '0');
    }
    *lengthPtr = length;
    return true;
}

/* SPDX-License-Identifier: MPL-2.0
 * accessline.c --
 *
 *      An access record becomes a line.
 *
 *      How long the line may become is known from the length of the record.
 *      The buffer has room for that or is not touched, so nothing below asks
 *      for room.  Functions that put something return the next place.
 */

#include "nsaccessline.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/stream/field.h"
#include "log/stream/line.h"
#include "log/stream/stream.h"
#include "nslog.h"
#include "nsthread.h"

#define MICROS 1000000

/* Of the bytes of a record, escaped; and of all else in a line. */
#define MAX_ESCAPED      4
#define MAX_JSON_ESCAPED 6
#define MAX_REST         1024
#define MAX_TIME         80

/* What is copied at once, as far as it goes, and what that may be too much. */
#define SHORT 16
#define SLACK (4 * SHORT)

/*
 * Compared all at once where the processor can.
 */
typedef unsigned char Bytes __attribute__((vector_size(16)));
typedef signed char   Signed __attribute__((vector_size(16)));
typedef uint64_t      Words __attribute__((vector_size(16)));
#define ALL(c) ((Bytes){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c})

/*
 * A record as it is read.
 */
typedef struct Access {
    const Ns_AccessRecord *r;
    int64_t                start;    /* Microseconds since 1970. */
    uint32_t               nHeaders; /* Those that are left. */
    const char            *next;     /* They begin here ... */
    const char            *end;
    const char            *peer;
    const char            *user;
    const char            *request;
    const char            *referer;
    const char            *agent;
} Access;

static bool ReadRecord(const Ns_LogRecord *recordPtr, Access *accessPtr);
static bool TakeHeader(Access *accessPtr, const char **namePtr,
                       uint32_t *nNamePtr, const char **valuePtr,
                       uint32_t *nValuePtr);
static bool TakeFlagged(Access *accessPtr, uint32_t flag, const char **valuePtr,
                        uint32_t *nValuePtr);
static const char  *TakeCounted(Access *accessPtr, uint32_t *lengthPtr);
static char        *PutText(char *to, const char *text);
static char        *PutMember(char *to, const char *name, const char *bytes,
                              size_t length);
static char        *PutJson(char *to, const char *bytes, size_t length);
static char        *PutJsonTime(char *to, int64_t micros);
static inline char *PutQuoted(char *to, const char *bytes, size_t length,
                              bool isPlain);
static inline char *PutString(char *to, const char *bytes, size_t length,
                              bool isPlain);
static bool         IsPlain(const char *bytes, size_t length);
static char        *PutEscaped(char *to, const char *bytes, size_t length);
static char *PutUser(char *to, const char *bytes, size_t length, bool isPlain);
static char *PutNumber(char *to, int64_t number);
static char *PutMicros(char *to, int64_t micros);
static int64_t Duration(const Ns_AccessRecord *r);
static char   *PutHeaders(char *to, Access *accessPtr);
static char   *PutTimes(char *to, const Access *accessPtr);
static char   *PutTime(char *to, time_t seconds, bool isFormatted);

static size_t       PutPieces(const NsPieces     *piecesPtr,
                              const Ns_LogRecord *recordPtr, char *buffer,
                              size_t room);
static inline char *PutVariable(char *to, const NsVariable *variablePtr,
                                const Ns_LogRecord *recordPtr,
                                const char *const  *texts);
static char *PutPart(char *to, NsVariableKind kind, const char *const *texts,
                     const char *end);
static inline char *PutShort(char *to, const char *from, size_t length,
                             const char *end);
static int64_t      SpanOf(const Ns_AccessRecord *r, int index);
static bool ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr);
static bool NextHeader(NsFields *fieldsPtr, NsFieldText *namePtr,
                       NsFieldText *valuePtr);
static void ReplaceFields(NsLogOut *outPtr, const NsFields *fieldsPtr,
                          const NsFieldText *texts, NsFieldHidesProc *hidesProc,
                          const void *arg);
static NsFieldText ServerOf(const char *stream);
static uint32_t    LengthOf(const NsFieldText *textPtr);
static void        PutCounted(NsLogOut *outPtr, const NsFieldText *textPtr);

/*
 * What stands before the headers, in this order, if the record says so.
 */
static const struct {
    uint32_t         flag;
    NsFieldTextIndex index;
    const char      *name; /* In JSON. */
} flagged[] = {{NS_ACCESS_THREADNAME, NS_FIELD_THREAD, "thread"},
               {NS_ACCESS_REQUESTID, NS_FIELD_REQUEST_ID, "request_id"},
               {NS_ACCESS_TRACEID, NS_FIELD_TRACE_ID, "trace_id"},
               {NS_ACCESS_SPANID, NS_FIELD_SPAN_ID, "span_id"}};

static const NsFieldProcs fieldProcs = {
    .readProc = ReadFields,
    .nextProc = NextHeader,
    .replaceProc = ReplaceFields,
    .piecesProc = PutPieces};

Ns_LogStream
Ns_LogAccessStream(const char *name)
{
    static uint32_t commonFlags = NS_ACCESS_FMTTIME;
    static uint32_t combinedFlags = NS_ACCESS_FMTTIME | NS_ACCESS_COMBINED;
    Ns_LogStream    stream = Ns_LogStreamCreate(name, Ns_LogAccessLine, NULL);

    if (stream == NULL) {
        return NULL;
    }
    (void) Ns_LogStreamAddFormat(stream, "common", Ns_LogAccessLine,
                                 &commonFlags);
    (void) Ns_LogStreamAddFormat(stream, "combined", Ns_LogAccessLine,
                                 &combinedFlags);
    (void) Ns_LogStreamAddFormat(stream, "json", Ns_LogAccessJson, NULL);
    NsStreamSetFields(stream, &fieldProcs);
    return stream;
}

size_t
Ns_LogAccessLine(char *buffer, size_t room, const Ns_LogRecord *recordPtr,
                 void *arg)
{
    size_t      most = MAX_ESCAPED * recordPtr->length + MAX_REST;
    char       *to = buffer;
    Access      access;
    const char *value;
    uint32_t    nValue, flags;
    bool        isPlain; /* No string needs an escape. */

    if (!ReadRecord(recordPtr, &access)) {
        return 0;
    }
    if (most > room) {
        return most;
    }
    flags = arg == NULL ? access.r->flags : *(const uint32_t *) arg;
    isPlain = IsPlain(access.peer, (size_t) (access.next - access.peer));
    to = PutString(to, access.peer, access.r->peerLength, isPlain);
    *to++ = ' ';
    if ((flags & NS_ACCESS_THREADNAME) != 0
        && TakeFlagged(&access, NS_ACCESS_THREADNAME, &value, &nValue)) {
        to = PutString(to, value, nValue, IsPlain(value, nValue));
    } else {
        *to++ = '-';
    }
    *to++ = ' ';
    to = PutUser(to, access.user, access.r->userLength, isPlain);
    *to++ = ' ';
    to = PutTime(to, (time_t) (recordPtr->time / NS_STAMP_SECOND),
                 (flags & NS_ACCESS_FMTTIME) != 0);
    *to++ = ' ';
    to = PutQuoted(to, access.request, access.r->requestLength, isPlain);
    *to++ = ' ';
    to = PutNumber(to, access.r->status);
    *to++ = ' ';
    to = PutNumber(to, access.r->bytesSent);
    if ((flags & NS_ACCESS_COMBINED) != 0) {
        *to++ = ' ';
        to = PutQuoted(to, access.referer, access.r->refererLength, isPlain);
        *to++ = ' ';
        to = PutQuoted(to, access.agent, access.r->agentLength, isPlain);
    }
    if ((flags & NS_ACCESS_REQTIME) != 0) {
        *to++ = ' ';
        to = PutMicros(to, Duration(access.r));
    }
    if ((flags & NS_ACCESS_PARTIALTIMES) != 0) {
        to = PutTimes(to, &access);
    }
    if (arg == NULL) {
        to = PutHeaders(to, &access);
    }
    *to++ = '\n';
    NsAssert((size_t) (to - buffer) <= most);
    return (size_t) (to - buffer);
}

/*
 * Behind the identifiers, which the line does not have.
 */
static char *
PutHeaders(char *to, Access *accessPtr)
{
    const char *name, *value;
    uint32_t    nName, nValue;

    (void) TakeFlagged(accessPtr, NS_ACCESS_REQUESTID, &value, &nValue);
    (void) TakeFlagged(accessPtr, NS_ACCESS_TRACEID, &value, &nValue);
    (void) TakeFlagged(accessPtr, NS_ACCESS_SPANID, &value, &nValue);
    while (TakeHeader(accessPtr, &name, &nName, &value, &nValue)) {
        *to++ = ' ';
        to = PutQuoted(to, value, nValue, IsPlain(value, nValue));
    }
    return to;
}

size_t
Ns_LogAccessJson(char *buffer, size_t room, const Ns_LogRecord *recordPtr,
                 void *arg)
{
    size_t      most = MAX_JSON_ESCAPED * recordPtr->length + MAX_REST;
    char       *to = buffer;
    Access      access;
    const char *name, *value, *comma = "";
    uint32_t    nName, nValue;

    if (!ReadRecord(recordPtr, &access)) {
        return 0;
    }
    if (most > room) {
        return most;
    }
    to = PutText(to, "{\"time\":");
    to = PutJsonTime(to, recordPtr->time / 1000);
    to = PutMember(to, "peer", access.peer, access.r->peerLength);
    for (int i = 0; i < Ns_NrElements(flagged); i++) {
        if (TakeFlagged(&access, flagged[i].flag, &value, &nValue)) {
            to = PutMember(to, flagged[i].name, value, nValue);
        }
    }
    to = PutMember(to, "user", access.user, access.r->userLength);
    to = PutMember(to, "request", access.request, access.r->requestLength);
    to = PutText(to, ",\"status\":");
    to = PutNumber(to, access.r->status);
    to = PutText(to, ",\"bytes\":");
    to = PutNumber(to, access.r->bytesSent);
    to = PutMember(to, "referer", access.referer, access.r->refererLength);
    to = PutMember(to, "agent", access.agent, access.r->agentLength);
    to = PutText(to, ",\"start\":");
    to = PutJsonTime(to, access.start);
    to = PutText(to, ",\"duration\":");
    to = PutMicros(to, Duration(access.r));
    to = PutText(to, ",\"accept\":");
    to = PutMicros(to, access.r->acceptSpan);
    to = PutText(to, ",\"queue\":");
    to = PutMicros(to, access.r->queueSpan);
    to = PutText(to, ",\"filter\":");
    to = PutMicros(to, access.r->filterSpan);
    to = PutText(to, ",\"run\":");
    to = PutMicros(to, access.r->runSpan);
    to = PutText(to, ",\"headers\":{");
    while (TakeHeader(&access, &name, &nName, &value, &nValue)) {
        to = PutText(to, comma);
        to = PutJson(to, name, nName);
        *to++ = ':';
        to = PutJson(to, value, nValue);
        comma = ",";
    }
    to = PutText(to, "}}\n");
    NsAssert((size_t) (to - buffer) <= most);
    return (size_t) (to - buffer);
}

/*
 * False: it is not an access record, or it is damaged.
 */
static bool
ReadRecord(const Ns_LogRecord *recordPtr, Access *accessPtr)
{
    const Ns_AccessRecord *r = recordPtr->bytes;
    const char            *strings = (const char *) (r + 1);

    if (recordPtr->length < sizeof(*r)
        || (uint64_t) r->peerLength + r->userLength + r->requestLength
                + r->refererLength + r->agentLength
            > recordPtr->length - sizeof(*r)) {
        return false;
    }
    accessPtr->r = r;
    accessPtr->start = MIN(MAX(r->start, 0), INT64_MAX / 1000);
    accessPtr->nHeaders = r->nHeaders;
    accessPtr->peer = strings;
    accessPtr->user = accessPtr->peer + r->peerLength;
    accessPtr->request = accessPtr->user + r->userLength;
    accessPtr->referer = accessPtr->request + r->requestLength;
    accessPtr->agent = accessPtr->referer + r->refererLength;
    accessPtr->next = accessPtr->agent + r->agentLength;
    accessPtr->end = (const char *) r + recordPtr->length;
    return true;
}

/*
 * The next of the extended headers; false: there are no more.
 */
static bool
TakeHeader(Access *accessPtr, const char **namePtr, uint32_t *nNamePtr,
           const char **valuePtr, uint32_t *nValuePtr)
{
    if (accessPtr->nHeaders == 0) {
        return false;
    }
    accessPtr->nHeaders--;
    *namePtr = TakeCounted(accessPtr, nNamePtr);
    *valuePtr = TakeCounted(accessPtr, nValuePtr);
    return *namePtr != NULL && *valuePtr != NULL;
}

/*
 * What stands among the headers if the record has that flag.
 */
static bool
TakeFlagged(Access *accessPtr, uint32_t flag, const char **valuePtr,
            uint32_t *nValuePtr)
{
    const char *name;
    uint32_t    nName;

    return (accessPtr->r->flags & flag) != 0
        && TakeHeader(accessPtr, &name, &nName, valuePtr, nValuePtr);
}

/*
 * NULL if the record ends before.
 */
static const char *
TakeCounted(Access *accessPtr, uint32_t *lengthPtr)
{
    const char *bytes = accessPtr->next + sizeof(*lengthPtr);

    if ((size_t) (accessPtr->end - accessPtr->next) < sizeof(*lengthPtr)) {
        return NULL;
    }
    memcpy(lengthPtr, accessPtr->next, sizeof(*lengthPtr));
    if (*lengthPtr > (size_t) (accessPtr->end - bytes)) {
        return NULL;
    }
    accessPtr->next = bytes + *lengthPtr;
    return bytes;
}

static char *
PutText(char *to, const char *text)
{
    size_t length = strlen(text);

    memcpy(to, text, length);
    return to + length;
}

/*
 * A member of the object that is not the first.
 */
static char *
PutMember(char *to, const char *name, const char *bytes, size_t length)
{
    to = PutText(to, ",\"");
    to = PutText(to, name);
    to = PutText(to, "\":");
    return PutJson(to, bytes, length);
}

static char *
PutJson(char *to, const char *bytes, size_t length)
{
    return to
        + Ns_LogJsonString(to, MAX_JSON_ESCAPED * length + 2, bytes, length);
}

static char *
PutJsonTime(char *to, int64_t micros)
{
    NsLogOut out = {to + 1, MAX_TIME, 0};

    to[0] = '"';
    NsLogPutUtc(&out, micros);
    NsAssert(out.length <= MAX_TIME);
    to[out.length + 1] = '"';
    return to + out.length + 2;
}

static inline char *
PutQuoted(char *to, const char *bytes, size_t length, bool isPlain)
{
    *to++ = '"';
    to = PutString(to, bytes, length, isPlain);
    *to++ = '"';
    return to;
}

static inline char *
PutString(char *to, const char *bytes, size_t length, bool isPlain)
{
    if (unlikely(!isPlain)) {
        return PutEscaped(to, bytes, length);
    }
    memcpy(to, bytes, length);
    return to + length;
}

/*
 * False: some of the bytes may need an escape.  Those beyond '~', one more than
 * which is a negative number, count as below ' '.
 */
static bool
IsPlain(const char *bytes, size_t length)
{
    Words       quotes = {0, 0}, texts = ~quotes;
    const char *last;
    Bytes       v;

    if (length < sizeof(v)) {
        return length == 0;
    }
    last = bytes + length - sizeof(v);
    for (bool isLast = false; !isLast; bytes += sizeof(v)) {
        /* The last ones overlap those before them. */
        isLast = bytes >= last;
        memcpy(&v, isLast ? last : bytes, sizeof(v));
        texts &= (Words) ((Signed) (v + ALL(1)) > (Signed) ALL(' '));
        quotes |= (Words) (v == ALL('"')) | (Words) (v == ALL('\\'));
    }
    texts &= ~quotes;
    return (texts[0] & texts[1]) == UINT64_MAX;
}

/*
 * Text from a client must not end the line or the field.
 */
static char *
PutEscaped(char *to, const char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    static const char letters[] = {
        ['"'] = '"', ['\\'] = '\\', ['\r'] = 'r', ['\n'] = 'n', ['\t'] = 't'};

    while (length > 0) {
        unsigned char c = UCHAR(*bytes);
        bool          hasLetter = c < sizeof(letters) && letters[c] != '\0';
        size_t        n = hasLetter ? 0 : Ns_LogCharBytes(bytes, length);

        if (n > 0) {
            memcpy(to, bytes, n);
            to += n;
        } else if (hasLetter) {
            n = 1;
            *to++ = '\\';
            *to++ = letters[c];
        } else {
            n = 1;
            *to++ = '\\';
            *to++ = 'x';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 15];
        }
        bytes += n;
        length -= n;
    }
    return to;
}

/*
 * Fields are separated by blanks, so a name with white space needs quotes.
 */
static char *
PutUser(char *to, const char *bytes, size_t length, bool isPlain)
{
    if (length == 0) {
        *to++ = '-';
        return to;
    }
    for (size_t i = 0; i < length; i++) {
        if (isspace(UCHAR(bytes[i]))) {
            return PutQuoted(to, bytes, length, isPlain);
        }
    }
    return PutString(to, bytes, length, isPlain);
}

/*
 * The place of the last digit is found first: to read digits again that have
 * just been written would take longer.
 */
static char *
PutNumber(char *to, int64_t number)
{
    uint64_t rest = number < 0 ? 0 - (uint64_t) number : (uint64_t) number;
    char    *digit;

    *to = '-';
    to += number < 0;
    for (uint64_t more = rest; more >= 10; more /= 10) {
        to++;
    }
    for (digit = to; rest >= 10; rest /= 10) {
        *digit-- = (char) ('0' + rest % 10);
    }
    *digit = (char) ('0' + rest);
    return to + 1;
}

static char *
PutMicros(char *to, int64_t micros)
{
    micros = MAX(micros, 0);
    to = PutNumber(to, micros / MICROS);
    micros %= MICROS;
    *to = '.';
    for (int i = 6; i > 0; i--) {
        to[i] = (char) ('0' + micros % 10);
        micros /= 10;
    }
    return to + 7;
}

/*
 * Until the reply was finished or left to a writer thread.  Not until the time
 * of the record: somebody may have set the clock in between.
 */
static int64_t
Duration(const Ns_AccessRecord *r)
{
    /* Unsigned: a damaged record may have anything. */
    return (int64_t) ((uint64_t) r->queueSpan + (uint64_t) r->filterSpan
                      + (uint64_t) r->runSpan);
}

static char *
PutTimes(char *to, const Access *accessPtr)
{
    to = PutText(to, " \"");
    to = PutMicros(to, accessPtr->start);
    *to++ = ' ';
    to = PutMicros(to, accessPtr->r->acceptSpan);
    *to++ = ' ';
    to = PutMicros(to, accessPtr->r->queueSpan);
    *to++ = ' ';
    to = PutMicros(to, accessPtr->r->filterSpan);
    *to++ = ' ';
    to = PutMicros(to, accessPtr->r->runSpan);
    *to++ = '"';
    return to;
}

static char *
PutTime(char *to, time_t seconds, bool isFormatted)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static _Thread_local struct {
        time_t seconds;
        size_t length; /* 0: not used yet. */
        char   text[64];
    } last;

    if (!isFormatted) {
        *to++ = '[';
        to = PutNumber(to, seconds);
        *to++ = ']';
        return to;
    }
    if (unlikely(last.seconds != seconds || last.length == 0)) {
        struct tm tm;
        long      offset;

        localtime_r(&seconds, &tm);
        offset = labs(tm.tm_gmtoff / 60);
        last.length = (size_t)
            snprintf(last.text, sizeof(last.text),
                     "[%02d/%.3s/%04d:%02d:%02d:%02d %c%02ld%02ld]", tm.tm_mday,
                     months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour,
                     tm.tm_min, tm.tm_sec, tm.tm_gmtoff < 0 ? '-' : '+',
                     offset / 60, offset % 60);
        NsAssert(last.length < sizeof(last.text));
        last.seconds = seconds;
    }
    /* A fixed number of bytes is faster than the right one. */
    memcpy(to, last.text, sizeof(last.text));
    return to + last.length;
}

/*
 * Neither text nor number is longer than the record, whose head alone is longer
 * than any number.
 */
static size_t
PutPieces(const NsPieces *piecesPtr, const Ns_LogRecord *recordPtr,
          char *buffer, size_t room)
{
    size_t most = piecesPtr->textBytes
        + (size_t) piecesPtr->n * recordPtr->length + SLACK;
    const NsPiece *piecePtr = piecesPtr->pieces;
    char          *to = buffer;
    Access         access;
    const char    *texts[NS_FIELD_AGENT - NS_FIELD_PEER + 2];

    NsAssert(piecesPtr->isPlain);
    if (most > room || !ReadRecord(recordPtr, &access)
        || !IsPlain(access.peer, (size_t) (access.next - access.peer))) {
        return 0;
    }
    /* Each ends where the next one begins. */
    texts[0] = access.peer;
    texts[1] = access.user;
    texts[2] = access.request;
    texts[3] = access.referer;
    texts[4] = access.agent;
    texts[5] = access.next;
    for (;; piecePtr++) {
        memcpy(to, piecePtr->text, NS_PIECE_ROOM);
        if (unlikely(piecePtr->length > NS_PIECE_ROOM)) {
            memcpy(to, piecePtr->text, piecePtr->length);
        }
        to += piecePtr->length;
        if (piecePtr->variablePtr == NULL) {
            break;
        }
        to = PutVariable(to, piecePtr->variablePtr, recordPtr, texts);
    }
    *to++ = '\n';
    NsAssert((size_t) (to - buffer) <= most);
    return (size_t) (to - buffer);
}

static inline char *
PutVariable(char *to, const NsVariable *variablePtr,
            const Ns_LogRecord *recordPtr, const char *const *texts)
{
    const Ns_AccessRecord *r = recordPtr->bytes;
    const char            *end = (const char *) r + recordPtr->length;
    int                    i = variablePtr->index - NS_FIELD_PEER;

    /* Most are texts and numbers. */
    if (variablePtr->kind == NS_VARIABLE_TEXT) {
        if (texts[i] == texts[i + 1]) {
            *to = '-';
            return to + 1;
        }
        return PutShort(to, texts[i], (size_t) (texts[i + 1] - texts[i]), end);
    }
    if (variablePtr->kind == NS_VARIABLE_NUMBER) {
        return PutNumber(to,
                         variablePtr->index == NS_FIELD_STATUS ? r->status
                                                               : r->bytesSent);
    }
    switch (variablePtr->kind) {
    case NS_VARIABLE_LOCAL:
        memcpy(to,
               NsLogZonedTimeText((time_t) (MAX(recordPtr->time, 0)
                                            / NS_STAMP_SECOND)),
               NS_LOG_ZONED_TIME_LENGTH);
        return to + NS_LOG_ZONED_TIME_LENGTH;
    case NS_VARIABLE_EPOCH:
        return PutMicros(to, recordPtr->time / 1000);
    case NS_VARIABLE_SECONDS:
        return PutMicros(to, SpanOf(r, variablePtr->index));
    default:
        return PutPart(to, variablePtr->kind, texts, end);
    }
}

static char *
PutPart(char *to, NsVariableKind kind, const char *const *texts,
        const char *end)
{
    const char *const *linePtr = &texts[NS_FIELD_REQUEST - NS_FIELD_PEER];
    NsFieldText        part =
        NsPartOfRequest(kind,
                        (NsFieldText){linePtr[0],
                                      (size_t) (linePtr[1] - linePtr[0])});

    if (part.length == 0) {
        *to = '-';
        return to + 1;
    }
    return PutShort(to, part.bytes, part.length, end);
}

/*
 * A fixed number of bytes is faster than the right one, if so many can be read.
 */
static inline char *
PutShort(char *to, const char *from, size_t length, const char *end)
{
    if (likely(length <= SHORT && end - from >= SHORT)) {
        memcpy(to, from, SHORT);
    } else if (likely(length <= 2 * SHORT && end - from >= 2 * SHORT)) {
        memcpy(to, from, 2 * SHORT);
    } else if (likely(length <= 4 * SHORT && end - from >= 4 * SHORT)) {
        memcpy(to, from, 4 * SHORT);
    } else {
        memcpy(to, from, length);
    }
    return to + length;
}

static int64_t
SpanOf(const Ns_AccessRecord *r, int index)
{
    switch (index) {
    case NS_FIELD_DURATION:
        return Duration(r);
    case NS_FIELD_ACCEPT:
        return r->acceptSpan;
    case NS_FIELD_QUEUE:
        return r->queueSpan;
    case NS_FIELD_FILTER:
        return r->filterSpan;
    default:
        NsAssert(index == NS_FIELD_RUN);
        return r->runSpan;
    }
}

static bool
ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr)
{
    Access                 access;
    const Ns_AccessRecord *r;
    const char            *value;
    uint32_t               nValue;

    if (!ReadRecord(recordPtr, &access)) {
        return false;
    }
    r = access.r;
    for (int i = 0; i < Ns_NrElements(flagged); i++) {
        if (TakeFlagged(&access, flagged[i].flag, &value, &nValue)) {
            fieldsPtr->texts[flagged[i].index] = (NsFieldText){value, nValue};
        }
    }
    fieldsPtr->texts[NS_FIELD_SERVER] = ServerOf(recordPtr->stream);
    fieldsPtr->texts[NS_FIELD_PEER] = (NsFieldText){access.peer, r->peerLength};
    fieldsPtr->texts[NS_FIELD_USER] = (NsFieldText){access.user, r->userLength};
    fieldsPtr->texts[NS_FIELD_REQUEST] = (NsFieldText){
        access.request, r->requestLength};
    fieldsPtr->texts[NS_FIELD_REFERER] = (NsFieldText){
        access.referer, r->refererLength};
    fieldsPtr->texts[NS_FIELD_AGENT] = (NsFieldText){
        access.agent, r->agentLength};
    NsFieldSetNumber(fieldsPtr, NS_FIELD_STATUS, r->status);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_BYTES, r->bytesSent);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_START, access.start);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_DURATION, Duration(r));
    NsFieldSetNumber(fieldsPtr, NS_FIELD_ACCEPT, r->acceptSpan);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_QUEUE, r->queueSpan);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_FILTER, r->filterSpan);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_RUN, r->runSpan);
    fieldsPtr->pairs = access.next;
    fieldsPtr->pairsEnd = access.end;
    fieldsPtr->nPairs = access.nHeaders;
    NsAssert(fieldsPtr->pairs <= fieldsPtr->pairsEnd);
    return true;
}

/*
 * The stream is access/SERVER/MODULE.
 */
static NsFieldText
ServerOf(const char *stream)
{
    const char *first = strchr(stream, '/'), *last = strrchr(stream, '/');

    return first == NULL || last == first
        ? (NsFieldText){NULL, 0}
        : (NsFieldText){first + 1, (size_t) (last - first) - 1};
}

static bool
NextHeader(NsFields *fieldsPtr, NsFieldText *namePtr, NsFieldText *valuePtr)
{
    Access   access = {.nHeaders = fieldsPtr->nPairs,
                       .next = fieldsPtr->pairs,
                       .end = fieldsPtr->pairsEnd};
    uint32_t nName, nValue;
    bool     isThere = TakeHeader(&access, &namePtr->bytes, &nName,
                                  &valuePtr->bytes, &nValue);

    NsAssert(access.next <= access.end);
    fieldsPtr->nPairs = access.nHeaders;
    fieldsPtr->pairs = access.next;
    if (isThere) {
        namePtr->length = nName;
        valuePtr->length = nValue;
    }
    return isThere;
}

static void
ReplaceFields(NsLogOut *outPtr, const NsFields *fieldsPtr,
              const NsFieldText *texts, NsFieldHidesProc *hidesProc,
              const void *arg)
{
    static const NsFieldTextIndex order[] = {
        NS_FIELD_PEER, NS_FIELD_USER, NS_FIELD_REQUEST, NS_FIELD_REFERER,
        NS_FIELD_AGENT};
    const NsFieldText hidden = {NS_FIELD_HIDDEN, sizeof(NS_FIELD_HIDDEN) - 1};
    NsFields          rest = *fieldsPtr;
    NsFieldText       put[NS_FIELD_TEXTS], name, value;
    Ns_AccessRecord   r;

    NsAssert(fieldsPtr->recordPtr->length >= sizeof(r));
    memcpy(&r, fieldsPtr->recordPtr->bytes, sizeof(r));
    for (int i = 0; i < NS_FIELD_TEXTS; i++) {
        put[i] = texts[i].bytes != NULL ? texts[i] : fieldsPtr->texts[i];
    }
    r.peerLength = LengthOf(&put[NS_FIELD_PEER]);
    r.userLength = LengthOf(&put[NS_FIELD_USER]);
    r.requestLength = LengthOf(&put[NS_FIELD_REQUEST]);
    r.refererLength = LengthOf(&put[NS_FIELD_REFERER]);
    r.agentLength = LengthOf(&put[NS_FIELD_AGENT]);
    NsLogPut(outPtr, (const char *) &r, sizeof(r));
    for (int i = 0; i < Ns_NrElements(order); i++) {
        NsLogPut(outPtr, put[order[i]].bytes, put[order[i]].length);
    }
    for (int i = 0; i < Ns_NrElements(flagged); i++) {
        if (put[flagged[i].index].bytes != NULL) {
            PutCounted(outPtr, &(NsFieldText){"", 0});
            PutCounted(outPtr, &put[flagged[i].index]);
        }
    }
    while (NextHeader(&rest, &name, &value)) {
        PutCounted(outPtr, &name);
        PutCounted(outPtr, hidesProc(&name, arg) ? &hidden : &value);
    }
}

static uint32_t
LengthOf(const NsFieldText *textPtr)
{
    return (uint32_t) textPtr->length;
}

static void
PutCounted(NsLogOut *outPtr, const NsFieldText *textPtr)
{
    uint32_t length = LengthOf(textPtr);

    NsLogPut(outPtr, (const char *) &length, sizeof(length));
    NsLogPut(outPtr, textPtr->bytes, textPtr->length);
}

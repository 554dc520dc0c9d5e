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
#include "log/stream/stream.h"
#include "nslog.h"
#include "nsthread.h"

#define MICROS 1000000

/* Of the bytes of a record, escaped; and of all else in a line. */
#define MAX_ESCAPED      4
#define MAX_JSON_ESCAPED 6
#define MAX_REST         1024

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

static bool        ReadRecord(const Ns_LogRecord *recordPtr, Access *accessPtr);
static bool        TakeHeader(Access *accessPtr, const char **namePtr,
                              uint32_t *nNamePtr, const char **valuePtr,
                              uint32_t *nValuePtr);
static const char *TakeCounted(Access *accessPtr, uint32_t *lengthPtr);
static char       *PutText(char *to, const char *text);
static char       *PutMember(char *to, const char *name, const char *bytes,
                             size_t length);
static char       *PutJson(char *to, const char *bytes, size_t length);
static char       *PutJsonTime(char *to, int64_t micros);
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
static char   *PutTimes(char *to, const Access *accessPtr);
static char   *PutTime(char *to, time_t seconds, bool isFormatted);

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
    return stream;
}

size_t
Ns_LogAccessLine(char *buffer, size_t room, const Ns_LogRecord *recordPtr,
                 void *arg)
{
    size_t      most = MAX_ESCAPED * recordPtr->length + MAX_REST;
    char       *to = buffer;
    Access      access;
    const char *name, *value;
    uint32_t    nName, nValue, flags;
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
        && TakeHeader(&access, &name, &nName, &value, &nValue)) {
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
    while (arg == NULL && TakeHeader(&access, &name, &nName, &value, &nValue)) {
        *to++ = ' ';
        to = PutQuoted(to, value, nValue, IsPlain(value, nValue));
    }
    *to++ = '\n';
    NsAssert((size_t) (to - buffer) <= most);
    return (size_t) (to - buffer);
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
    if ((access.r->flags & NS_ACCESS_THREADNAME) != 0
        && TakeHeader(&access, &name, &nName, &value, &nValue)) {
        to = PutMember(to, "thread", value, nValue);
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
    time_t    seconds = (time_t) (micros / MICROS);
    struct tm tm;
    char      text[80];
    size_t    n;

    gmtime_r(&seconds, &tm);
    n = strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%S", &tm);
    NsAssert(n > 0);
    snprintf(text + n, sizeof(text) - n, ".%06dZ\"", (int) (micros % MICROS));
    return PutText(to, text);
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

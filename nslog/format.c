/*
 * format.c --
 *
 *      An access record becomes a line.
 */

#include "format.h"

#define MICROS 1000000

/*
 * Compared all at once where the processor can.
 */
typedef unsigned char Bytes __attribute__((vector_size(16)));
#define ALL(c) ((Bytes) {c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c})

/*
 * Pieces of the line; what does not fit is counted all the same.
 */
typedef struct Line {
    char  *buffer;
    size_t room;
    size_t length;
} Line;

/*
 * The strings of a record, taken off one by one.
 */
typedef struct Strings {
    const char *next;
    size_t      left;
} Strings;

static const char *Take(Strings *stringsPtr, size_t length);
static void Put(Line *linePtr, const char *bytes, size_t length);
static void PutEscaped(Line *linePtr, const char *bytes, size_t length);
static size_t PlainRun(const char *bytes, size_t length);
static inline bool HasSpecial(const char *bytes);
static void PutQuoted(Line *linePtr, const char *bytes, size_t length);
static void PutUser(Line *linePtr, const char *bytes, size_t length);
static void PutNumber(Line *linePtr, int64_t number);
static void PutMicros(Line *linePtr, int64_t micros);
static void PutTime(Line *linePtr, time_t seconds, bool isFormatted);


size_t
NsLogAccessLine(char *buffer, size_t room, const Ns_LogRecord *recordPtr,
                void *arg)
{
    Line         line = {buffer, room, 0};
    Strings      strings;
    AccessRecord r;
    const char  *peer, *user, *request, *referer, *agent;

    if (recordPtr->length < sizeof(r)) {
        return 0;
    }
    memcpy(&r, recordPtr->bytes, sizeof(r));
    r.start = MAX(r.start, 0);
    if (arg != NULL) {
        r.flags = *(const uint32_t *) arg;
        r.nHeaders = 0;
    }
    strings = (Strings){(const char *) recordPtr->bytes + sizeof(r),
                        recordPtr->length - sizeof(r)};
    peer = Take(&strings, r.peerLength);
    user = Take(&strings, r.userLength);
    request = Take(&strings, r.requestLength);
    referer = Take(&strings, r.refererLength);
    agent = Take(&strings, r.agentLength);
    if (agent == NULL) {
        return 0;
    }

    PutEscaped(&line, peer, r.peerLength);
    Put(&line, " - ", 3);
    PutUser(&line, user, r.userLength);
    Put(&line, " ", 1);
    PutTime(&line, (time_t) (recordPtr->time / 1000000000),
            (r.flags & LOG_FMTTIME) != 0);
    Put(&line, " ", 1);
    PutQuoted(&line, request, r.requestLength);
    Put(&line, " ", 1);
    PutNumber(&line, r.status);
    Put(&line, " ", 1);
    PutNumber(&line, r.bytesSent);
    if ((r.flags & LOG_COMBINED) != 0) {
        Put(&line, " ", 1);
        PutQuoted(&line, referer, r.refererLength);
        Put(&line, " ", 1);
        PutQuoted(&line, agent, r.agentLength);
    }
    if ((r.flags & LOG_REQTIME) != 0) {
        Put(&line, " ", 1);
        PutMicros(&line, recordPtr->time / 1000 - r.start);
    }
    if ((r.flags & LOG_PARTIALTIMES) != 0) {
        Put(&line, " \"", 2);
        PutMicros(&line, r.start);
        Put(&line, " ", 1);
        PutMicros(&line, r.acceptSpan);
        Put(&line, " ", 1);
        PutMicros(&line, r.queueSpan);
        Put(&line, " ", 1);
        PutMicros(&line, r.filterSpan);
        Put(&line, " ", 1);
        PutMicros(&line, r.runSpan);
        Put(&line, "\"", 1);
    }
    for (uint32_t i = 0; i < r.nHeaders; i++) {
        const char *header = Take(&strings, sizeof(uint32_t));
        uint32_t    length;

        if (header == NULL) {
            break;
        }
        memcpy(&length, header, sizeof(length));
        header = Take(&strings, length);
        if (header == NULL) {
            break;
        }
        Put(&line, " ", 1);
        PutQuoted(&line, header, length);
    }
    Put(&line, "\n", 1);
    return line.length;
}

/*
 * NULL if the record ends before, and ever after.
 */
static const char *
Take(Strings *stringsPtr, size_t length)
{
    const char *taken = stringsPtr->next;

    if (taken == NULL || length > stringsPtr->left) {
        stringsPtr->next = NULL;
        return NULL;
    }
    stringsPtr->next += length;
    stringsPtr->left -= length;
    return taken;
}

static void
Put(Line *linePtr, const char *bytes, size_t length)
{
    if (linePtr->length + length <= linePtr->room) {
        memcpy(linePtr->buffer + linePtr->length, bytes, length);
    }
    linePtr->length += length;
}

/*
 * What a client sent must not end the line or the field.
 */
static void
PutEscaped(Line *linePtr, const char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    size_t start = 0;

    for (size_t i = PlainRun(bytes, length); i < length;
         i += PlainRun(bytes + i, length - i)) {
        unsigned char c = UCHAR(bytes[i]);
        char   text[4] = {'\\', (char) c};
        size_t n = c < 0x80 ? 0 : Ns_LogCharBytes(bytes + i, length - i);

        if (n > 0) {
            i += n;
            continue;
        }
        n = 2;
        switch (c) {
        case '"':
        case '\\':
            break;
        case '\r':
            text[1] = 'r';
            break;
        case '\n':
            text[1] = 'n';
            break;
        case '\t':
            text[1] = 't';
            break;
        default:
            text[1] = 'x';
            text[2] = digits[c >> 4];
            text[3] = digits[c & 15];
            n = 4;
            break;
        }
        Put(linePtr, bytes + start, i - start);
        Put(linePtr, text, n);
        start = ++i;
    }
    Put(linePtr, bytes + start, length - start);
}

/*
 * How many bytes need no escape; sixteen at a time as long as none does.
 */
static size_t
PlainRun(const char *bytes, size_t length)
{
    size_t n = 0;

    while (length - n >= sizeof(Bytes) && !HasSpecial(bytes + n)) {
        n += sizeof(Bytes);
    }
    if (length >= sizeof(Bytes) && length - n < sizeof(Bytes)
            && !HasSpecial(bytes + length - sizeof(Bytes))) {
        return length;
    }
    while (n < length && UCHAR(bytes[n]) >= 0x20 && bytes[n] != '"'
           && bytes[n] != '\\' && UCHAR(bytes[n]) < 0x7f) {
        n++;
    }
    return n;
}

static inline bool
HasSpecial(const char *bytes)
{
    Bytes    v;
    uint64_t found[2];

    memcpy(&v, bytes, sizeof(v));
    v = (Bytes) ((v < ALL(0x20)) | (v == ALL('"')) | (v == ALL('\\'))
                 | (v > ALL(0x7e)));
    memcpy(found, &v, sizeof(v));
    return (found[0] | found[1]) != 0;
}

static void
PutQuoted(Line *linePtr, const char *bytes, size_t length)
{
    Put(linePtr, "\"", 1);
    PutEscaped(linePtr, bytes, length);
    Put(linePtr, "\"", 1);
}

/*
 * Fields are separated by blanks, so a name with white space needs quotes.
 */
static void
PutUser(Line *linePtr, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (isspace(UCHAR(bytes[i]))) {
            PutQuoted(linePtr, bytes, length);
            return;
        }
    }
    if (length == 0) {
        Put(linePtr, "-", 1);
    } else {
        PutEscaped(linePtr, bytes, length);
    }
}

static void
PutNumber(Line *linePtr, int64_t number)
{
    char     digits[24];
    size_t   n = sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t) number : (uint64_t) number;

    do {
        digits[--n] = (char) ('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0) {
        digits[--n] = '-';
    }
    Put(linePtr, digits + n, sizeof(digits) - n);
}

static void
PutMicros(Line *linePtr, int64_t micros)
{
    char digits[7] = ".";

    micros = MAX(micros, 0);
    PutNumber(linePtr, micros / MICROS);
    micros %= MICROS;
    for (int i = 6; i > 0; i--) {
        digits[i] = (char) ('0' + micros % 10);
        micros /= 10;
    }
    Put(linePtr, digits, sizeof(digits));
}

static void
PutTime(Line *linePtr, time_t seconds, bool isFormatted)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static _Thread_local time_t cached;
    static _Thread_local char   text[64];
    static _Thread_local size_t length;

    if (!isFormatted) {
        Put(linePtr, "[", 1);
        PutNumber(linePtr, seconds);
        Put(linePtr, "]", 1);
        return;
    }
    if (cached != seconds || length == 0) {
        struct tm tm;
        long      offset;

        localtime_r(&seconds, &tm);
        offset = labs(tm.tm_gmtoff / 60);
        length = (size_t) snprintf(
            text, sizeof(text), "[%02d/%.3s/%04d:%02d:%02d:%02d %c%02ld%02ld]",
            tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour,
            tm.tm_min, tm.tm_sec, tm.tm_gmtoff < 0 ? '-' : '+', offset / 60,
            offset % 60);
        cached = seconds;
    }
    Put(linePtr, text, length);
}

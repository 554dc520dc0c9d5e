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

/*
 * A record as it is read.
 */
typedef struct Access {
    AccessRecord r;             /* nHeaders: those that are left. */
    Strings      strings;
    const char  *peer;
    const char  *user;
    const char  *request;
    const char  *referer;
    const char  *agent;
} Access;

static bool ReadRecord(const Ns_LogRecord *recordPtr, Access *accessPtr);
static bool TakeHeader(Access *accessPtr, const char **namePtr,
                       uint32_t *nNamePtr, const char **valuePtr,
                       uint32_t *nValuePtr);
static const char *TakeCounted(Strings *stringsPtr, uint32_t *lengthPtr);
static const char *Take(Strings *stringsPtr, size_t length);
static void PutText(Line *linePtr, const char *text);
static void PutMember(Line *linePtr, const char *name, const char *bytes,
                      size_t length);
static void PutJson(Line *linePtr, const char *bytes, size_t length);
static void PutJsonTime(Line *linePtr, int64_t micros);
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
    Line        line = {buffer, room, 0};
    Access      access;
    const char *name, *value;
    uint32_t    nName, nValue, flags;

    if (!ReadRecord(recordPtr, &access)) {
        return 0;
    }
    flags = arg == NULL ? access.r.flags : *(const uint32_t *) arg;
    PutEscaped(&line, access.peer, access.r.peerLength);
    Put(&line, " - ", 3);
    PutUser(&line, access.user, access.r.userLength);
    Put(&line, " ", 1);
    PutTime(&line, (time_t) (recordPtr->time / 1000000000),
            (flags & LOG_FMTTIME) != 0);
    Put(&line, " ", 1);
    PutQuoted(&line, access.request, access.r.requestLength);
    Put(&line, " ", 1);
    PutNumber(&line, access.r.status);
    Put(&line, " ", 1);
    PutNumber(&line, access.r.bytesSent);
    if ((flags & LOG_COMBINED) != 0) {
        Put(&line, " ", 1);
        PutQuoted(&line, access.referer, access.r.refererLength);
        Put(&line, " ", 1);
        PutQuoted(&line, access.agent, access.r.agentLength);
    }
    if ((flags & LOG_REQTIME) != 0) {
        Put(&line, " ", 1);
        PutMicros(&line, recordPtr->time / 1000 - access.r.start);
    }
    if ((flags & LOG_PARTIALTIMES) != 0) {
        Put(&line, " \"", 2);
        PutMicros(&line, access.r.start);
        Put(&line, " ", 1);
        PutMicros(&line, access.r.acceptSpan);
        Put(&line, " ", 1);
        PutMicros(&line, access.r.queueSpan);
        Put(&line, " ", 1);
        PutMicros(&line, access.r.filterSpan);
        Put(&line, " ", 1);
        PutMicros(&line, access.r.runSpan);
        Put(&line, "\"", 1);
    }
    while (arg == NULL && TakeHeader(&access, &name, &nName, &value, &nValue)) {
        Put(&line, " ", 1);
        PutQuoted(&line, value, nValue);
    }
    Put(&line, "\n", 1);
    return line.length;
}

size_t
NsLogAccessJson(char *buffer, size_t room, const Ns_LogRecord *recordPtr,
                void *arg)
{
    Line        line = {buffer, room, 0};
    Access      access;
    const char *name, *value, *comma = "";
    uint32_t    nName, nValue;

    if (!ReadRecord(recordPtr, &access)) {
        return 0;
    }
    PutText(&line, "{\"time\":");
    PutJsonTime(&line, recordPtr->time / 1000);
    PutMember(&line, "peer", access.peer, access.r.peerLength);
    PutMember(&line, "user", access.user, access.r.userLength);
    PutMember(&line, "request", access.request, access.r.requestLength);
    PutText(&line, ",\"status\":");
    PutNumber(&line, access.r.status);
    PutText(&line, ",\"bytes\":");
    PutNumber(&line, access.r.bytesSent);
    PutMember(&line, "referer", access.referer, access.r.refererLength);
    PutMember(&line, "agent", access.agent, access.r.agentLength);
    PutText(&line, ",\"start\":");
    PutJsonTime(&line, access.r.start);
    PutText(&line, ",\"duration\":");
    PutMicros(&line, recordPtr->time / 1000 - access.r.start);
    PutText(&line, ",\"accept\":");
    PutMicros(&line, access.r.acceptSpan);
    PutText(&line, ",\"queue\":");
    PutMicros(&line, access.r.queueSpan);
    PutText(&line, ",\"filter\":");
    PutMicros(&line, access.r.filterSpan);
    PutText(&line, ",\"run\":");
    PutMicros(&line, access.r.runSpan);
    PutText(&line, ",\"headers\":{");
    while (TakeHeader(&access, &name, &nName, &value, &nValue)) {
        PutText(&line, comma);
        PutJson(&line, name, nName);
        PutText(&line, ":");
        PutJson(&line, value, nValue);
        comma = ",";
    }
    PutText(&line, "}}\n");
    return line.length;
}

/*
 * False: it is none, or damaged.
 */
static bool
ReadRecord(const Ns_LogRecord *recordPtr, Access *accessPtr)
{
    AccessRecord *rPtr = &accessPtr->r;
    Strings      *stringsPtr = &accessPtr->strings;

    if (recordPtr->length < sizeof(*rPtr)) {
        return false;
    }
    memcpy(rPtr, recordPtr->bytes, sizeof(*rPtr));
    rPtr->start = MIN(MAX(rPtr->start, 0), INT64_MAX / 1000);
    *stringsPtr = (Strings){(const char *) recordPtr->bytes + sizeof(*rPtr),
                            recordPtr->length - sizeof(*rPtr)};
    accessPtr->peer = Take(stringsPtr, rPtr->peerLength);
    accessPtr->user = Take(stringsPtr, rPtr->userLength);
    accessPtr->request = Take(stringsPtr, rPtr->requestLength);
    accessPtr->referer = Take(stringsPtr, rPtr->refererLength);
    accessPtr->agent = Take(stringsPtr, rPtr->agentLength);
    return accessPtr->agent != NULL;
}

/*
 * The next of the extended headers; false: there are no more.
 */
static bool
TakeHeader(Access *accessPtr, const char **namePtr, uint32_t *nNamePtr,
           const char **valuePtr, uint32_t *nValuePtr)
{
    if (accessPtr->r.nHeaders == 0) {
        return false;
    }
    accessPtr->r.nHeaders--;
    *namePtr = TakeCounted(&accessPtr->strings, nNamePtr);
    *valuePtr = TakeCounted(&accessPtr->strings, nValuePtr);
    return *valuePtr != NULL;
}

static const char *
TakeCounted(Strings *stringsPtr, uint32_t *lengthPtr)
{
    const char *length = Take(stringsPtr, sizeof(*lengthPtr));

    if (length == NULL) {
        return NULL;
    }
    memcpy(lengthPtr, length, sizeof(*lengthPtr));
    return Take(stringsPtr, *lengthPtr);
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

static void
PutText(Line *linePtr, const char *text)
{
    Put(linePtr, text, strlen(text));
}

/*
 * A member of the object that is not the first.
 */
static void
PutMember(Line *linePtr, const char *name, const char *bytes, size_t length)
{
    PutText(linePtr, ",\"");
    PutText(linePtr, name);
    PutText(linePtr, "\":");
    PutJson(linePtr, bytes, length);
}

static void
PutJson(Line *linePtr, const char *bytes, size_t length)
{
    size_t start = MIN(linePtr->length, linePtr->room);

    linePtr->length += Ns_LogJsonString(linePtr->buffer + start,
                                        linePtr->room - start, bytes, length);
}

static void
PutJsonTime(Line *linePtr, int64_t micros)
{
    time_t    seconds = (time_t) (micros / MICROS);
    struct tm tm;
    char      text[80];
    size_t    n;

    gmtime_r(&seconds, &tm);
    n = strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof(text) - n, ".%06dZ\"", (int) (micros % MICROS));
    PutText(linePtr, text);
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

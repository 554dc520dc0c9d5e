/* SPDX-License-Identifier: MPL-2.0
 * line.c --
 *
 *      How an entry of the system log looks in the file.
 */

#include "log/stream/line.h"
#include "base/assert.h"
#include "base/clock.h"
#include "log/stream/severity.h"
#include "nslog.h"
#include "nsstring.h"

#define MICROS INT64_C(1000000)

static void PutTime(NsLogOut *outPtr, int64_t time, const NsLogStyle *stylePtr);
static size_t Fraction(char *text, int64_t time);
static void   PutThread(NsLogOut *outPtr, const NsLogEntry *entryPtr,
                        const NsLogStyle *stylePtr);
static void   PutName(NsLogOut *outPtr, const char *name,
                      const NsLogStyle *stylePtr);
static void PutMessage(NsLogOut *outPtr, const NsLogEntry *entryPtr, int level);
static void PutPriority(NsLogOut *outPtr, const NsLogEntry *entryPtr);
static bool IsHidden(const unsigned char *p, size_t n);
static size_t PlainRun(const unsigned char *p, size_t length);
static size_t PutSurrogates(NsLogOut *outPtr, const unsigned char *p,
                            size_t length);
static void   PutHex(NsLogOut *outPtr, unsigned char byte);
static size_t Hex(char *buffer, uintptr_t value);

NsLogStyle                 nsLogStyle = {.sanitize = 2};
_Thread_local NsLogContext nsLogContext;

static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void
NsLogLine(NsLogOut *outPtr, const NsLogEntry *entryPtr,
          const NsLogStyle *stylePtr)
{
    NsLogStyle plain;

    if (unlikely(nsLogContext.isForJournal)) {
        plain = *stylePtr;
        plain.hidesTime = true;
        plain.isExpanded = false;
        stylePtr = &plain;
        PutPriority(outPtr, entryPtr);
    }
    if (!stylePtr->hidesTime) {
        PutTime(outPtr, entryPtr->time, stylePtr);
    }
    if (!stylePtr->hidesThread) {
        PutThread(outPtr, entryPtr, stylePtr);
    }
    if (unlikely(entryPtr->requestId != NULL)) {
        NsLogPut(outPtr, "[", 1);
        PutName(outPtr, entryPtr->requestId, stylePtr);
        NsLogPut(outPtr, "]", 1);
    }
    if (!stylePtr->hidesTime || !stylePtr->hidesThread
        || entryPtr->requestId != NULL) {
        NsLogPut(outPtr, " ", 1);
    }
    PutName(outPtr, entryPtr->severityName, stylePtr);
    NsLogPut(outPtr, ": ", 2);
    if (stylePtr->isExpanded) {
        NsLogPut(outPtr, "\n    ", 5);
    }
    PutMessage(outPtr, entryPtr, stylePtr->sanitize);
    NsLogPut(outPtr, "\n\n", stylePtr->isExpanded ? 2u : 1u);
}

/*
 * "[date.usec+span]": with isRelative, seconds since the start in place of the
 * date.
 */
static void
PutTime(NsLogOut *outPtr, int64_t time, const NsLogStyle *stylePtr)
{
    char    text[64];
    size_t  n = 0;
    int64_t span = MAX(time - nsLogContext.previous, 0);

    NsLogPut(outPtr, "[", 1);
    if (stylePtr->isRelative && nsLogContext.start != 0) {
        time = MAX(time - nsLogContext.start, 0);
        n = NsLogDigits(text, (uint64_t) (time / NS_STAMP_SECOND), 1);
    } else {
        NsLogPut(outPtr, NsLogTimeText((time_t) (time / NS_STAMP_SECOND)),
                 NS_LOG_TIME_LENGTH);
    }
    if (stylePtr->usec) {
        n += Fraction(text + n, time);
    }
    if (stylePtr->showsSpan && nsLogContext.previous != 0) {
        text[n++] = '+';
        n += NsLogDigits(text + n, (uint64_t) (span / NS_STAMP_SECOND), 1);
        n += Fraction(text + n, span);
    }
    text[n++] = ']';
    NsAssert(n <= sizeof(text));
    NsLogPut(outPtr, text, n);
}

static size_t
Fraction(char *text, int64_t time)
{
    text[0] = '.';
    return 1
        + NsLogDigits(text + 1, (uint64_t) (time % NS_STAMP_SECOND) / 1000, 6);
}

/*
 * "[pid.thread][name]"
 */
static void
PutThread(NsLogOut *outPtr, const NsLogEntry *entryPtr,
          const NsLogStyle *stylePtr)
{
    char   ids[64];
    size_t n = 0;

    ids[n++] = '[';
    n += NsLogDigits(ids + n, (uint64_t) entryPtr->pid, 1);
    ids[n++] = '.';
    n += Hex(ids + n, entryPtr->thread);
    ids[n++] = ']';
    ids[n++] = '[';
    NsAssert(n <= sizeof(ids));
    NsLogPut(outPtr, ids, n);
    PutName(outPtr, entryPtr->threadName, stylePtr);
    NsLogPut(outPtr, "]", 1);
}

/*
 * Scripts give threads and severities their names; these stay on their line.
 */
static void
PutName(NsLogOut *outPtr, const char *name, const NsLogStyle *stylePtr)
{
    NsLogSanitize(outPtr, name, strlen(name), MIN(stylePtr->sanitize, 1));
}

/*
 * The journal takes each line for an entry.
 */
static void
PutMessage(NsLogOut *outPtr, const NsLogEntry *entryPtr, int level)
{
    const char *next = entryPtr->message, *end = next + entryPtr->messageLength;
    const char *newline;

    while (unlikely(nsLogContext.isForJournal) && level != 1
           && (newline = memchr(next, '\n', (size_t) (end - next))) != NULL) {
        NsLogSanitize(outPtr, next, (size_t) (newline - next), level);
        NsLogPut(outPtr, "\n", 1);
        PutPriority(outPtr, entryPtr);
        NsLogPut(outPtr, ":    ", level == 0 ? 0 : 5);
        next = newline + 1;
    }
    NsLogSanitize(outPtr, next, (size_t) (end - next), level);
}

/*
 * "<5>"
 */
static void
PutPriority(NsLogOut *outPtr, const NsLogEntry *entryPtr)
{
    int  priority = NsSeveritySyslog(entryPtr->severity);
    char text[] = {'<', (char) ('0' + priority), '>'};

    NsAssert(priority >= 0 && priority <= 7);
    NsLogPut(outPtr, text, sizeof(text));
}

void
NsLogSanitize(NsLogOut *outPtr, const char *bytes, size_t length, int level)
{
    const unsigned char *p = (const unsigned char *) bytes;
    const unsigned char *end = p + length;

    if (level == 0) {
        NsLogPut(outPtr, bytes, length);
        return;
    }
    while (p < end) {
        size_t left = (size_t) (end - p);
        size_t run = PlainRun(p, left);

        if (run == 0) {
            run = Ns_LogCharBytes((const char *) p, left);
        }
        NsAssert(run <= left);
        if (run > 0) {
            NsLogPut(outPtr, (const char *) p, run);
            p += run;
        } else if (*p == '\t' && level == 3) {
            NsLogPut(outPtr, "    ", 4);
            p++;
        } else if (*p == '\n' && level >= 2) {
            NsLogPut(outPtr, "\n:    ", 6);
            p++;
        } else if ((run = PutSurrogates(outPtr, p, left)) > 0) {
            p += run;
        } else {
            PutHex(outPtr, *p++);
        }
    }
}

/*
 * The first pass counts.
 */
char *
Ns_DStringAppendPrintable(Ns_DString *dsPtr, bool isIndented, const char *bytes,
                          size_t length)
{
    int      level = isIndented ? 2 : 1;
    int      start = Ns_DStringLength(dsPtr);
    NsLogOut out = {NULL, 0, 0};

    NsLogSanitize(&out, bytes, length, level);
    Ns_DStringSetLength(dsPtr, start + (int) out.length);
    out = (NsLogOut){Ns_DStringValue(dsPtr) + start, out.length, 0};
    NsLogSanitize(&out, bytes, length, level);
    NsAssert(out.length == out.room);
    return Ns_DStringValue(dsPtr);
}

const char *
NsLogTimeText(time_t seconds)
{
    return NsLogZonedTimeText(seconds);
}

const char *
NsLogZonedTimeText(time_t seconds)
{
    static _Thread_local time_t cached = -1;
    static _Thread_local char   text[48];
    struct tm                   tm;
    size_t                      n;
    long                        offset;

    if (seconds == cached) {
        return text;
    }
    cached = seconds;
    localtime_r(&seconds, &tm);
    n = NsLogDigits(text, (uint64_t) tm.tm_mday, 2);
    text[n++] = '/';
    memcpy(text + n, months[tm.tm_mon], 3);
    n += 3;
    text[n++] = '/';
    n += NsLogDigits(text + n, (uint64_t) (tm.tm_year + 1900), 4);
    text[n++] = ':';
    n += NsLogDigits(text + n, (uint64_t) tm.tm_hour, 2);
    text[n++] = ':';
    n += NsLogDigits(text + n, (uint64_t) tm.tm_min, 2);
    text[n++] = ':';
    n += NsLogDigits(text + n, (uint64_t) tm.tm_sec, 2);
    text[n++] = ' ';
    offset = tm.tm_gmtoff / 60;
    text[n++] = offset < 0 ? '-' : '+';
    offset = labs(offset);
    n += NsLogDigits(text + n, (uint64_t) (offset / 60), 2);
    n += NsLogDigits(text + n, (uint64_t) (offset % 60), 2);
    NsAssert(n == NS_LOG_ZONED_TIME_LENGTH);
    text[n] = '\0';
    return text;
}

/*
 * Most records are of the same second as the one before.
 */
void
NsLogPutUtc(NsLogOut *outPtr, int64_t micros)
{
    static _Thread_local struct {
        time_t seconds;
        size_t length; /* 0: not used yet. */
        char   text[64];
    } last;
    time_t  seconds = (time_t) (micros / MICROS);
    int64_t rest = micros % MICROS;
    char    fraction[8];
    size_t  n;

    if (rest < 0) {
        seconds--;
        rest += MICROS;
    }
    if (last.length == 0 || last.seconds != seconds) {
        struct tm tm;

        gmtime_r(&seconds, &tm);
        last.length = strftime(last.text, sizeof(last.text),
                               "%Y-%m-%dT%H:%M:%S.", &tm);
        last.seconds = seconds;
        NsAssert(last.length > 0);
    }
    NsLogPut(outPtr, last.text, last.length);
    n = NsLogDigits(fraction, (uint64_t) rest, 6);
    fraction[n++] = 'Z';
    NsLogPut(outPtr, fraction, n);
}

char *
Ns_LogTime(char *timeBuf)
{
    return Ns_LogTime2(timeBuf, 1);
}

char *
Ns_LogTime2(char *timeBuf, int withOffset)
{
    const char *text = NsLogZonedTimeText(time(NULL));
    size_t      n = withOffset ? NS_LOG_ZONED_TIME_LENGTH : NS_LOG_TIME_LENGTH;

    timeBuf[0] = '[';
    memcpy(timeBuf + 1, text, n);
    timeBuf[n + 1] = ']';
    timeBuf[n + 2] = '\0';
    return timeBuf;
}

size_t
NsLogDigits(char *buffer, uint64_t value, int width)
{
    char   digits[24];
    size_t n = 0;

    NsAssert((size_t) width <= sizeof(digits));
    do {
        digits[n++] = (char) ('0' + value % 10);
        value /= 10;
    } while (value != 0 || n < (size_t) width);
    for (size_t i = 0; i < n; i++) {
        buffer[i] = digits[n - 1 - i];
    }
    return n;
}

size_t
NsLogUtf8Length(const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *) bytes;
    unsigned char        low = 0x80, high = 0xbf;
    size_t               n;

    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        n = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        n = 3;
        low = p[0] == 0xe0 ? 0xa0 : 0x80;
        high = p[0] == 0xed ? 0x9f : 0xbf;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        n = 4;
        low = p[0] == 0xf0 ? 0x90 : 0x80;
        high = p[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (length < n || p[1] < low || p[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

size_t
Ns_LogCharBytes(const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *) bytes;
    size_t               n;

    if (p[0] < 0x80) {
        return p[0] >= 0x20 && p[0] < 0x7f ? 1 : 0;
    }
    n = NsLogUtf8Length(bytes, length);
    return n > 0 && IsHidden(p, n) ? 0 : n;
}

/*
 * U+0080 to U+009F are control characters, U+2028 and U+2029 end lines, U+202A
 * to U+202E and U+2066 to U+2069 change the order of what a terminal shows;
 * U+FEFF, and U+E0000 to U+E007F, are not seen.
 */
static bool
IsHidden(const unsigned char *p, size_t n)
{
    switch (p[0]) {
    case 0xc2:
        return p[1] < 0xa0;
    case 0xe2:
        return (p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae)
            || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
    case 0xef:
        return p[1] == 0xbb && p[2] == 0xbf;
    case 0xf3:
        return n == 4 && p[1] == 0xa0 && (p[2] == 0x80 || p[2] == 0x81);
    default:
        return false;
    }
}

size_t
NsLogSurrogates(const char *bytes, size_t length, uint32_t *highPtr,
                uint32_t *lowPtr)
{
    const unsigned char *p = (const unsigned char *) bytes;

    if (length < 6 || p[0] != 0xed || (p[1] & 0xf0) != 0xa0
        || (p[2] & 0xc0) != 0x80 || p[3] != 0xed || (p[4] & 0xf0) != 0xb0
        || (p[5] & 0xc0) != 0x80) {
        return 0;
    }
    *highPtr = 0xd800 | (uint32_t) (p[1] & 0x0f) << 6 | (p[2] & 0x3f);
    *lowPtr = 0xdc00 | (uint32_t) (p[4] & 0x0f) << 6 | (p[5] & 0x3f);
    return 6;
}

static size_t
PlainRun(const unsigned char *p, size_t length)
{
    const uint64_t ones = UINT64_MAX / 255;
    size_t         n = 0;

    for (; length - n >= sizeof(uint64_t); n += sizeof(uint64_t)) {
        uint64_t word, delete;

        /* A high bit shows a byte below 0x20, 0x7f, or one above. */
        memcpy(&word, p + n, sizeof(word));
        delete = word ^ ones * 0x7f;
        if (((word - ones * 0x20) | (delete - ones) | word) & ones * 0x80) {
            break;
        }
    }
    while (n < length && p[n] >= 0x20 && p[n] < 0x7f) {
        n++;
    }
    return n;
}

/*
 * Put the character that two surrogates encode; returns how many bytes were
 * read, 0 if they are not surrogates.
 */
static size_t
PutSurrogates(NsLogOut *outPtr, const unsigned char *p, size_t length)
{
    uint32_t high, low, c;
    char     utf8[4];
    size_t   n = NsLogSurrogates((const char *) p, length, &high, &low);

    if (n > 0) {
        c = 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
        utf8[0] = (char) (0xf0 | c >> 18);
        utf8[1] = (char) (0x80 | (c >> 12 & 0x3f));
        utf8[2] = (char) (0x80 | (c >> 6 & 0x3f));
        utf8[3] = (char) (0x80 | (c & 0x3f));
        if (IsHidden((const unsigned char *) utf8, 4)) {
            return 0;
        }
        NsLogPut(outPtr, utf8, 4);
    }
    return n;
}

static void
PutHex(NsLogOut *outPtr, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    char text[4] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};

    NsLogPut(outPtr, text, sizeof(text));
}

static size_t
Hex(char *buffer, uintptr_t value)
{
    return (size_t) sprintf(buffer, "%" PRIxPTR, value);
}

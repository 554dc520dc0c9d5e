/* SPDX-License-Identifier: MPL-2.0
 * json.c --
 *
 *      Writing JSON (RFC 8259) into a line.
 */

#include "log/stream/json.h"

#include "base/assert.h"
#include "base/clock.h"
#include "nslog.h"

static size_t PutSpecial(NsLogOut *outPtr, const char *bytes, size_t length);
static void   PutControl(NsLogOut *outPtr, unsigned char c);

void
NsJsonString(NsLogOut *outPtr, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *) bytes;
    size_t               start = 0, i = 0;

    NsLogPut(outPtr, "\"", 1);
    while (i < length) {
        size_t n = p[i] == '"' || p[i] == '\\'
            ? 0
            : Ns_LogCharBytes(bytes + i, length - i);

        if (n == 0) {
            NsLogPut(outPtr, bytes + start, i - start);
            i += PutSpecial(outPtr, bytes + i, length - i);
            NsAssert(i <= length);
            start = i;
        } else {
            i += n;
        }
    }
    NsLogPut(outPtr, bytes + start, length - start);
    NsLogPut(outPtr, "\"", 1);
}

size_t
Ns_LogJsonString(char *buffer, size_t room, const char *bytes, size_t length)
{
    NsLogOut out = {buffer, room, 0};

    NsJsonString(&out, bytes, length);
    return out.length;
}

void
NsJsonName(NsLogOut *outPtr, const char *name, bool isFirst)
{
    if (!isFirst) {
        NsLogPut(outPtr, ",", 1);
    }
    NsJsonString(outPtr, name, strlen(name));
    NsLogPut(outPtr, ":", 1);
}

void
NsJsonTime(NsLogOut *outPtr, int64_t nanos)
{
    time_t    seconds = (time_t) (nanos / NS_STAMP_SECOND);
    struct tm tm;
    char      text[80];
    int       n;

    gmtime_r(&seconds, &tm);
    n = snprintf(text, sizeof(text), "\"%04d-%02d-%02dT%02d:%02d:%02d.%06dZ\"",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec, (int) (nanos % NS_STAMP_SECOND / 1000));
    NsAssert(n > 0 && (size_t) n < sizeof(text));
    NsLogPut(outPtr, text, (size_t) n);
}

void
NsJsonSeconds(NsLogOut *outPtr, int64_t micros)
{
    char text[40];
    int  n = snprintf(text, sizeof(text), "%" PRId64 ".%06d", micros / 1000000,
                      (int) (micros % 1000000));

    NsAssert(micros >= 0 && (size_t) n < sizeof(text));
    NsLogPut(outPtr, text, (size_t) n);
}

/*
 * Put an escape for what must not be put as it is; returns how many bytes were
 * read.
 */
static size_t
PutSpecial(NsLogOut *outPtr, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *) bytes;
    uint32_t             high, low;
    char                 text[16];
    size_t               n;

    if (p[0] < 0x80) {
        PutControl(outPtr, p[0]);
        return 1;
    }
    n = NsLogUtf8Length(bytes, length);
    if (n == 2) {
        snprintf(text, sizeof(text), "\\u%04x",
                 (unsigned) (p[0] & 0x1f) << 6 | (p[1] & 0x3f));
    } else if (n == 3) {
        snprintf(text, sizeof(text), "\\u%04x",
                 (unsigned) (p[0] & 0x0f) << 12 | (unsigned) (p[1] & 0x3f) << 6
                     | (p[2] & 0x3f));
    } else if (n == 4) {
        uint32_t c = ((p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12
                      | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu))
            - 0x10000;

        snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd800 | c >> 10,
                 0xdc00 | (c & 0x3ff));
    } else if ((n = NsLogSurrogates(bytes, length, &high, &low)) > 0) {
        snprintf(text, sizeof(text), "\\u%04x\\u%04x", high, low);
    } else if (length > 1 && p[0] == 0xc0 && p[1] == 0x80) {
        /* Tcl's null character. */
        strcpy(text, "\\u0000");
        n = 2;
    } else {
        strcpy(text, "\\ufffd");
        n = 1;
    }
    NsLogPut(outPtr, text, strlen(text));
    return n;
}

static void
PutControl(NsLogOut *outPtr, unsigned char c)
{
    char text[8];
    int  n;

    switch (c) {
    case '"':
    case '\\':
        n = snprintf(text, sizeof(text), "\\%c", c);
        break;
    case '\n':
        n = snprintf(text, sizeof(text), "\\n");
        break;
    case '\r':
        n = snprintf(text, sizeof(text), "\\r");
        break;
    case '\t':
        n = snprintf(text, sizeof(text), "\\t");
        break;
    default:
        n = snprintf(text, sizeof(text), "\\u%04x", c);
        break;
    }
    NsLogPut(outPtr, text, (size_t) n);
}

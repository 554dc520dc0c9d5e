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
    NsLogPut(outPtr, "\"", 1);
    NsJsonText(outPtr, bytes, length);
    NsLogPut(outPtr, "\"", 1);
}

void
NsJsonText(NsLogOut *outPtr, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *) bytes;
    size_t               start = 0, i = 0;

    while ((i += NsJsonPlainRun(bytes + i, length - i)) < length) {
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
}

size_t
NsJsonPlainRun(const char *bytes, size_t length)
{
    const uint64_t ones = UINT64_MAX / 255;
    size_t         n = 0;

    for (; length - n >= sizeof(uint64_t); n += sizeof(uint64_t)) {
        uint64_t word, delete, quote, slash;

        /* A high bit shows a byte that is none of these, or may be. */
        memcpy(&word, bytes + n, sizeof(word));
        delete = word ^ ones * 0x7f;
        quote = word ^ ones * '"';
        slash = word ^ ones * '\\';
        if (((word - ones * ' ') | (delete - ones) | (quote - ones)
             | (slash - ones) | word)
            & ones * 0x80) {
            break;
        }
    }
    while (n < length && bytes[n] >= ' ' && bytes[n] < 0x7f && bytes[n] != '"'
           && bytes[n] != '\\') {
        n++;
    }
    NsAssert(n <= length);
    return n;
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
    NsLogPut(outPtr, "\"", 1);
    NsLogPutUtc(outPtr, nanos / 1000);
    NsLogPut(outPtr, "\"", 1);
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

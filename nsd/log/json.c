/*
 * json.c --
 *
 *      Writing JSON (RFC 8259) into a line.
 */

#include "log/json.h"

static void PutControl(NsLogOut *outPtr, unsigned char c);


void
NsJsonString(NsLogOut *outPtr, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *) bytes;
    size_t start = 0, i = 0;

    NsLogPut(outPtr, "\"", 1);
    while (i < length) {
        size_t n = 1;

        if (p[i] >= 0x80) {
            n = NsLogUtf8Length(bytes + i, length - i);
        } else if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\' || p[i] == 0x7f) {
            n = 0;
        }
        if (n == 0) {
            NsLogPut(outPtr, bytes + start, i - start);
            if (p[i] >= 0x80) {
                NsLogPut(outPtr, "\\ufffd", 6);
            } else {
                PutControl(outPtr, p[i]);
            }
            start = ++i;
        } else {
            i += n;
        }
    }
    NsLogPut(outPtr, bytes + start, length - start);
    NsLogPut(outPtr, "\"", 1);
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
    time_t    seconds = (time_t) (nanos / 1000000000);
    struct tm tm;
    char      text[80];
    int       n;

    gmtime_r(&seconds, &tm);
    n = snprintf(text, sizeof(text), "\"%04d-%02d-%02dT%02d:%02d:%02d.%06dZ\"",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec, (int) (nanos % 1000000000 / 1000));
    NsLogPut(outPtr, text, (size_t) n);
}

void
NsJsonSeconds(NsLogOut *outPtr, int64_t micros)
{
    char text[40];
    int  n = snprintf(text, sizeof(text), "%" PRId64 ".%06d", micros / 1000000,
                      (int) (micros % 1000000));

    NsLogPut(outPtr, text, (size_t) n);
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

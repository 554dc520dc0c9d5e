/* SPDX-License-Identifier: MPL-2.0
 * replyfields.c --
 *
 *      The head of a reply, taken apart.
 */

#include "http/replyfields.h"

#include "base/assert.h"
#include "base/chars.h"
#include "http/token.h"

static const char start[] = "HTTP/";

static bool TakeStatus(const char *line, const char *end, int *statusPtr);
static bool TakeField(char *line, char *end, NsReplyField *fieldPtr);
static bool IsOfConnection(const NsReplyField *fieldPtr);

bool
NsReplyMayBeHead(const char *text, size_t length)
{
    return memcmp(text, start, MIN(length, sizeof(start) - 1u)) == 0;
}

int
NsReplyFieldsParse(char *text, size_t length, int *statusPtr,
                   NsReplyField *fields, int room)
{
    char *end = text + length;
    char *line = text;
    int   n = 0;

    NsAssert(room > 0);
    while (line < end) {
        char *next = memchr(line, '\n', (size_t) (end - line));
        char *stop;

        next = next == NULL ? end : next + 1;
        stop = next;
        while (stop > line && NsIsSpace(stop[-1])) {
            stop--;
        }
        if (line == text) {
            if (!TakeStatus(line, stop, statusPtr)) {
                return -1;
            }
        } else if (stop == line) {
            break; /* The empty line. */
        } else if (n == room) {
            return -1;
        } else if (TakeField(line, stop, &fields[n])) {
            n++;
        }
        line = next;
    }
    return n;
}

int64_t
NsReplyFieldBytes(const NsReplyField *fieldPtr)
{
    int64_t bytes = 0;

    if (fieldPtr->valueLength == 0u || fieldPtr->valueLength > 18u) {
        return -1;
    }
    for (size_t i = 0u; i < fieldPtr->valueLength; i++) {
        if (!isdigit(UCHAR(fieldPtr->value[i]))) {
            return -1;
        }
        bytes = bytes * 10 + (fieldPtr->value[i] - '0');
    }
    NsAssert(bytes >= 0);
    return bytes;
}

/*
 * HTTP/1.1 200 OK
 */
static bool
TakeStatus(const char *line, const char *end, int *statusPtr)
{
    const char *blank = memchr(line, ' ', (size_t) (end - line));

    if (blank == NULL || end - blank < 4 || blank[1] < '1' || blank[1] > '9'
        || !isdigit(UCHAR(blank[2])) || !isdigit(UCHAR(blank[3]))) {
        return false;
    }
    *statusPtr = (blank[1] - '0') * 100 + (blank[2] - '0') * 10
        + (blank[3] - '0');
    NsAssert(*statusPtr >= 100 && *statusPtr <= 999);
    return true;
}

static bool
TakeField(char *line, char *end, NsReplyField *fieldPtr)
{
    char *colon = memchr(line, ':', (size_t) (end - line));
    char *value;

    if (colon == NULL || colon == line) {
        return false;
    }
    for (char *next = line; next < colon; next++) {
        *next = nsTokenChars[UCHAR(*next)];
        if (*next == '\0') {
            return false;
        }
    }
    value = colon + 1;
    while (value < end && NsIsSpace(*value)) {
        value++;
    }
    NsAssert(value <= end || value == colon + 1);
    *fieldPtr = (NsReplyField){
        .name = line,
        .nameLength = (size_t) (colon - line),
        .value = value,
        .valueLength = value < end ? (size_t) (end - value) : 0u};
    return !IsOfConnection(fieldPtr);
}

static bool
IsOfConnection(const NsReplyField *fieldPtr)
{
    const char *name = fieldPtr->name;

    /* Few fields have a name as long as one of these. */
    switch (fieldPtr->nameLength) {
    case 7u:
        return memcmp(name, "upgrade", 7u) == 0;
    case 10u:
        return memcmp(name, "connection", 10u) == 0
            || memcmp(name, "keep-alive", 10u) == 0;
    case 16u:
        return memcmp(name, "proxy-connection", 16u) == 0;
    case 17u:
        return memcmp(name, "transfer-encoding", 17u) == 0;
    default:
        return false;
    }
}

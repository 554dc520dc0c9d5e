/*
 * range.c --
 *
 *      Byte ranges of a body.
 */

#include "http/range.h"

#include "http/chars.h"
#include "http/date.h"

static bool TakeRange(const char **textPtr, uint64_t length, NsRange *rangePtr,
                      bool *isOutsidePtr);
static bool TakeNumber(const char **textPtr, uint64_t *valuePtr);
static int  AddRange(NsRange *ranges, int n, const NsRange *newPtr);

NsRangeStatus
NsRangeParse(const char *value, uint64_t length,
             NsRange ranges[NS_MAX_RANGES], int *nPtr)
{
    const char *text = strstr(value, "bytes=");
    bool        isOutside = false;
    int         n = 0;

    *nPtr = 0;
    if (text == NULL) {
        return NS_RANGE_NONE;
    }
    text += strlen("bytes=");
    do {
        NsRange range;

        if (!TakeRange(&text, length, &range, &isOutside)) {
            return isOutside ? NS_RANGE_UNSATISFIABLE : NS_RANGE_NONE;
        }
        n = AddRange(ranges, n, &range);
        if (*text == ',') {
            text++;
        } else if (*text != '\0') {
            return NS_RANGE_NONE;
        }
    } while (*text != '\0' && n < NS_MAX_RANGES);
    *nPtr = n;
    return NS_RANGE_SOME;
}

bool
NsRangeIsCurrent(const char *ifRange, time_t mtime)
{
    time_t seconds;

    return ifRange == NULL
        || (NsHttpDateParse(ifRange, &seconds) && seconds >= mtime);
}

size_t
NsRangeContentRange(char *buffer, const NsRange *rangePtr, uint64_t length)
{
    int n;

    if (rangePtr == NULL) {
        n = snprintf(buffer, NS_CONTENT_RANGE_BYTES, "bytes */%" PRIu64,
                     length);
    } else {
        n = snprintf(buffer, NS_CONTENT_RANGE_BYTES,
                     "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                     rangePtr->first, rangePtr->last, length);
    }
    return (size_t) n;
}

size_t
NsRangePartHead(char *buffer, size_t bufferBytes, const char *type,
                const NsRange *rangePtr, uint64_t length)
{
    return (size_t) snprintf(buffer, buffer == NULL ? 0 : bufferBytes,
        "--" NS_RANGE_BOUNDARY "\r\n"
        "Content-type: %s\r\n"
        "Content-range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n"
        "\r\n",
        type, rangePtr->first, rangePtr->last, length);
}

uint64_t
NsRangeMultipartBytes(const char *type, const NsRange *ranges, int n,
                      uint64_t length)
{
    uint64_t bytes = strlen(NS_RANGE_TAIL);

    for (int i = 0; i < n; i++) {
        bytes += NsRangePartHead(NULL, 0, type, &ranges[i], length)
            + (ranges[i].last - ranges[i].first + 1)
            + strlen(NS_RANGE_PART_END);
    }
    return bytes;
}

/*
 * a-b, a-, or -n, cut to the body.  False for a syntax error, or, with
 * *isOutsidePtr, for a range that starts behind the body; that is judged before
 * what follows the start.
 */
static bool
TakeRange(const char **textPtr, uint64_t length, NsRange *rangePtr,
          bool *isOutsidePtr)
{
    uint64_t first, last;

    if (**textPtr == '-') {
        (*textPtr)++;
        if (!TakeNumber(textPtr, &last)) {
            return false;
        }
        if (last == 0 || length == 0) {
            *isOutsidePtr = true;
            return false;
        }
        rangePtr->first = last >= length ? 0 : length - last;
        rangePtr->last = length - 1;
        return true;
    }
    if (!TakeNumber(textPtr, &first) || **textPtr != '-') {
        return false;
    }
    (*textPtr)++;
    if (first >= length) {
        *isOutsidePtr = true;
        return false;
    }
    last = length - 1;
    if (NsIsDigit(**textPtr)) {
        TakeNumber(textPtr, &last);
    }
    if (last < first) {
        return false;
    }
    rangePtr->first = first;
    rangePtr->last = MIN(last, length - 1);
    return true;
}

/*
 * Digits; values too large become the largest.
 */
static bool
TakeNumber(const char **textPtr, uint64_t *valuePtr)
{
    const char *p = *textPtr;
    uint64_t    value = 0;

    if (!NsIsDigit(*p)) {
        return false;
    }
    for (; NsIsDigit(*p); p++) {
        uint64_t digit = (uint64_t) (*p - '0');

        value = value > (UINT64_MAX - digit) / 10
            ? UINT64_MAX : value * 10 + digit;
    }
    *textPtr = p;
    *valuePtr = value;
    return true;
}

/*
 * Append a range, or widen the last one when both overlap or touch.
 */
static int
AddRange(NsRange *ranges, int n, const NsRange *newPtr)
{
    if (n > 0) {
        NsRange *lastPtr = &ranges[n - 1];

        /* No overflow: last is less than the body's length. */
        if (newPtr->first <= lastPtr->last + 1
                && lastPtr->first <= newPtr->last + 1) {
            lastPtr->first = MIN(lastPtr->first, newPtr->first);
            lastPtr->last = MAX(lastPtr->last, newPtr->last);
            return n;
        }
    }
    ranges[n] = *newPtr;
    return n + 1;
}

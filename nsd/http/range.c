/* SPDX-License-Identifier: MPL-2.0
 * range.c --
 *
 *      Byte ranges of a body.
 */

#include "http/range.h"

#include "base/chars.h"

#define UNIT "bytes="

static bool TakeRange(const char **textPtr, uint64_t length, NsRange *rangePtr,
                      bool *isOutsidePtr);
static bool TakeNumber(const char **textPtr, uint64_t *valuePtr);
static bool AddRange(NsRange *ranges, int *nPtr, const NsRange *newPtr);

NsRangeStatus
NsRangeParse(const char *value, uint64_t length, NsRange ranges[NS_MAX_RANGES],
             int *nPtr)
{
    const char *text = value + strlen(UNIT);
    int         n = 0, nAll = 0;

    *nPtr = 0;
    if (strncasecmp(value, UNIT, strlen(UNIT)) != 0) {
        return NS_RANGE_NONE;
    }
    do {
        NsRange range;
        bool    isOutside = false;

        if (!TakeRange(&text, length, &range, &isOutside)
            || ++nAll > NS_MAX_RANGES
            || (!isOutside && !AddRange(ranges, &n, &range))) {
            return NS_RANGE_NONE;
        }
        text += strspn(text, " \t");
        if (*text == ',') {
            text++;
            text += strspn(text, " \t");
        } else if (*text != '\0') {
            return NS_RANGE_NONE;
        }
    } while (*text != '\0');
    *nPtr = n;
    return n == 0 ? NS_RANGE_UNSATISFIABLE : NS_RANGE_SOME;
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
                     "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, rangePtr->first,
                     rangePtr->last, length);
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
                             "Content-range: bytes %" PRIu64 "-%" PRIu64
                             "/%" PRIu64 "\r\n"
                             "\r\n",
                             type, rangePtr->first, rangePtr->last, length);
}

/*
 * a-b, a-, or -n, cut to the body.  False for a syntax error.  With
 * *isOutsidePtr, the range has nothing of the body.
 */
static bool
TakeRange(const char **textPtr, uint64_t length, NsRange *rangePtr,
          bool *isOutsidePtr)
{
    uint64_t first, last = UINT64_MAX;

    if (**textPtr == '-') {
        (*textPtr)++;
        if (!TakeNumber(textPtr, &last)) {
            return false;
        }
        first = last >= length ? 0 : length - last;
        *isOutsidePtr = last == 0 || length == 0;
        last = UINT64_MAX;
    } else {
        if (!TakeNumber(textPtr, &first) || **textPtr != '-') {
            return false;
        }
        (*textPtr)++;
        if (NsIsDigit(**textPtr)) {
            TakeNumber(textPtr, &last);
        }
        if (last < first) {
            return false;
        }
        *isOutsidePtr = first >= length;
    }
    if (!*isOutsidePtr) {
        rangePtr->first = first;
        rangePtr->last = MIN(last, length - 1);
    }
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
            ? UINT64_MAX
            : value * 10 + digit;
    }
    *textPtr = p;
    *valuePtr = value;
    return true;
}

/*
 * Append a range, or widen the last one when they touch.  False: the new one
 * overlaps another.
 */
static bool
AddRange(NsRange *ranges, int *nPtr, const NsRange *newPtr)
{
    NsRange *lastPtr = *nPtr == 0 ? NULL : &ranges[*nPtr - 1];

    for (int i = 0; i < *nPtr; i++) {
        if (newPtr->first <= ranges[i].last
            && ranges[i].first <= newPtr->last) {
            return false;
        }
    }
    /* No overflow: last is less than the body's length. */
    if (lastPtr != NULL && newPtr->first == lastPtr->last + 1) {
        lastPtr->last = newPtr->last;
    } else if (lastPtr != NULL && lastPtr->first == newPtr->last + 1) {
        lastPtr->first = newPtr->first;
    } else {
        ranges[(*nPtr)++] = *newPtr;
    }
    return true;
}

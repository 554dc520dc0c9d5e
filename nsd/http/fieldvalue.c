/* SPDX-License-Identifier: MPL-2.0
 * fieldvalue.c --
 *
 *      Values of header fields.
 */

#include "http/fieldvalue.h"

#include "base/chars.h"
#include "http/token.h"

static bool        IsTokenChar(char c);
static NsSpan      TakeToken(const char **pPtr);
static const char *QuoteEnd(const char *quote);

bool
NsFieldScanNext(NsFieldScan *scanPtr, NsFieldPart *partPtr)
{
    const char *p = NsSkipSpace(scanPtr->p), *equals;
    bool        isFirst = !scanPtr->isBehind;

    scanPtr->p = p;
    if (scanPtr->isBehind && *p != ',' && *p != ';') {
        return false;
    }
    for (; *p == ',' || *p == ';'; p = NsSkipSpace(p + 1)) {
        isFirst = isFirst || *p == ',';
    }
    scanPtr->p = p;
    *partPtr = (NsFieldPart){.name = TakeToken(&p), .isFirst = isFirst};
    if (partPtr->name.length == 0) {
        return false;
    }
    partPtr->value = (NsSpan){p, 0};
    equals = NsSkipSpace(p);
    if (*equals == '=') {
        p = NsSkipSpace(equals + 1);
        if (*p == '"') {
            const char *end = QuoteEnd(p);

            if (*end == '\0' && scanPtr->isStrict) {
                return false;
            }
            partPtr->value = (NsSpan){p + 1, (size_t) (end - (p + 1))};
            p = *end == '\0' ? end : end + 1;
        } else {
            partPtr->value = TakeToken(&p);
        }
    }
    scanPtr->p = p;
    scanPtr->isBehind = true;
    return true;
}

static NsSpan
TakeToken(const char **pPtr)
{
    NsSpan span = {*pPtr, 0};

    while (IsTokenChar(span.start[span.length])) {
        span.length++;
    }
    *pPtr = span.start + span.length;
    return span;
}

static bool
IsTokenChar(char c)
{
    return NsIsTokenChar(c) || c == '/';
}

/*
 * The quote that closes this one, or the end of the text.
 */
static const char *
QuoteEnd(const char *quote)
{
    const char *p = quote + 1;

    while (*p != '\0' && *p != '"') {
        p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
    }
    return p;
}

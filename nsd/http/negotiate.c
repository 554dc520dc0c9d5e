/* SPDX-License-Identifier: MPL-2.0
 * negotiate.c --
 *
 *      What a client accepts.
 *
 *      Qualities are counted in thousandths; RFC 9110 allows three decimals.
 */

#include "http/negotiate.h"

#include "base/chars.h"
#include "http/fieldvalue.h"

#define FULL   1000
#define ABSENT (-1)

static int  FindQuality(const char *list, const char *name);
static bool Is(const NsSpan *spanPtr, const char *name);
static int  ParseQuality(NsSpan text);

bool
NsAcceptsGzip(const char *acceptEncoding)
{
    int gzip, any, identity;

    if (acceptEncoding == NULL) {
        return false;
    }
    gzip = FindQuality(acceptEncoding, "gzip");
    any = FindQuality(acceptEncoding, "*");
    identity = FindQuality(acceptEncoding, "identity");
    if (gzip == ABSENT) {
        return any > 0 && (identity == ABSENT || any >= identity);
    }
    if (gzip == 0 || gzip == FULL) {
        return gzip == FULL;
    }
    if (identity != ABSENT) {
        return gzip >= identity;
    }
    return any == ABSENT || gzip >= any;
}

bool
NsAcceptsCoding(const char *acceptEncoding, const char *coding)
{
    return acceptEncoding != NULL && FindQuality(acceptEncoding, coding) > 0;
}

bool
NsAcceptsBrotli(const char *acceptEncoding)
{
    int brotli = acceptEncoding == NULL
        ? ABSENT
        : FindQuality(acceptEncoding, "br");

    return brotli > 0 && brotli >= FindQuality(acceptEncoding, "identity");
}

bool
NsPrefersBrotli(const char *acceptEncoding)
{
    int gzip;

    if (!NsAcceptsBrotli(acceptEncoding)) {
        return false;
    }
    gzip = FindQuality(acceptEncoding, "gzip");
    if (gzip == ABSENT) {
        gzip = FindQuality(acceptEncoding, "*");
    }
    return FindQuality(acceptEncoding, "br") >= gzip;
}

bool
NsPrefersJson(const char *accept)
{
    int json, html;

    if (accept == NULL) {
        return false;
    }
    json = MAX(FindQuality(accept, "application/json"),
               FindQuality(accept, "application/problem+json"));
    html = FindQuality(accept, "text/html");
    if (html != ABSENT) {
        return json > html;
    }
    html = FindQuality(accept, "text/*");
    if (html == ABSENT) {
        html = FindQuality(accept, "*/*");
    }
    return json > 0 && json >= html;
}

bool
NsListHas(const char *list, const char *name)
{
    return FindQuality(list, name) != ABSENT;
}

/*
 * The quality of a name in a list, or ABSENT.  It may stand behind parameters.
 */
static int
FindQuality(const char *list, const char *name)
{
    NsFieldScan scan = {.p = list};
    NsFieldPart part;
    int         quality = ABSENT;

    while (NsFieldScanNext(&scan, &part)) {
        if (part.isFirst) {
            if (quality != ABSENT) {
                break;
            }
            quality = Is(&part.name, name) ? FULL : ABSENT;
        } else if (quality != ABSENT && Is(&part.name, "q")) {
            return ParseQuality(part.value);
        }
    }
    return quality;
}

static bool
Is(const NsSpan *spanPtr, const char *name)
{
    return spanPtr->length == strlen(name)
        && NsIsSameNoCase(spanPtr->start, name, spanPtr->length);
}

/*
 * Anything that cannot be read counts as 1.
 */
static int
ParseQuality(NsSpan text)
{
    const char *p = text.start, *end = p + text.length;
    int         quality, weight = FULL / 10;

    if (p == end || (*p != '0' && *p != '1')) {
        return FULL;
    }
    quality = (*p++ - '0') * FULL;
    if (p < end && *p == '.') {
        for (p++; p < end && NsIsDigit(*p); p++) {
            quality += (*p - '0') * weight;
            weight /= 10;
        }
    }
    return p == end ? MIN(quality, FULL) : FULL;
}

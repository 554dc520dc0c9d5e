/* SPDX-License-Identifier: MPL-2.0
 * negotiate.c --
 *
 *      What a client accepts.
 *
 *      Qualities are counted in thousandths; RFC 9110 allows three decimals.
 */

#include "http/negotiate.h"

#include "base/chars.h"

#define FULL   1000
#define ABSENT (-1)

static int FindQuality(const char *list, const char *name);
static int ParseQuality(const char *parameters, const char *end);

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
 * The quality of a name in a list, or ABSENT.
 */
static int
FindQuality(const char *list, const char *name)
{
    size_t length = strlen(name);

    while (*list != '\0') {
        const char *end = list + strcspn(list, ",");
        const char *start = NsSkipSpaceTo(list, end);

        if ((size_t) (end - start) >= length
            && NsIsSameNoCase(start, name, length)) {
            const char *p = NsSkipSpaceTo(start + length, end);

            if (p == end || *p == ';') {
                return ParseQuality(p, end);
            }
        }
        list = *end == ',' ? end + 1 : end;
    }
    return ABSENT;
}

/*
 * `; q = 0.5`; anything that cannot be read counts as 1.
 */
static int
ParseQuality(const char *p, const char *end)
{
    int quality;

    if (p == end) {
        return FULL;
    }
    p = NsSkipSpaceTo(p + 1, end);
    if (p == end || NsToLower(*p) != 'q') {
        return FULL;
    }
    p = NsSkipSpaceTo(p + 1, end);
    if (p == end || *p != '=') {
        return FULL;
    }
    p = NsSkipSpaceTo(p + 1, end);
    if (p == end || (*p != '0' && *p != '1')) {
        return FULL;
    }
    quality = (*p++ - '0') * FULL;
    if (p < end && *p == '.') {
        int weight = FULL / 10;

        for (p++; p < end && NsIsDigit(*p) && weight > 0; p++) {
            quality += (*p - '0') * weight;
            weight /= 10;
        }
    }
    p = NsSkipSpaceTo(p, end);
    return (p == end || *p == ';') ? MIN(quality, FULL) : FULL;
}

/* SPDX-License-Identifier: MPL-2.0
 * htmlplace.c --
 *
 *      Where something can be put into a document of HTML.
 */

#include "http/htmlplace.h"

#include "base/chars.h"

static bool HasName(const NsHtmlToken *tokenPtr, const char *name);
static bool HasDoctype(NsSpan html);

const char *
NsHtmlHeadPlace(NsSpan html, bool isWhole)
{
    NsHtmlScan  scan = {.p = html.start, .end = html.start + html.length};
    NsHtmlToken token;
    const char *last = scan.end;
    bool        isDocument = HasDoctype(html);

    while (NsHtmlNext(&scan, &token)) {
        if (token.kind != NS_HTML_TAG) {
            continue;
        }
        if (HasName(&token, "/head") || HasName(&token, "body")) {
            return token.source.start;
        }
        if (HasName(&token, "html") || HasName(&token, "head")) {
            isDocument = true;
        } else if (last == scan.end
                   && (HasName(&token, "/body") || HasName(&token, "/html"))) {
            last = token.source.start;
        }
    }
    return isDocument && isWhole ? last : NULL;
}

static bool
HasName(const NsHtmlToken *tokenPtr, const char *name)
{
    return tokenPtr->name.length == strlen(name)
        && NsIsSameNoCase(tokenPtr->name.start, name, strlen(name));
}

/*
 * Before it there may be white space and comments.
 */
static bool
HasDoctype(NsSpan html)
{
    static const char mark[] = "<!doctype";
    const char       *p = html.start, *end = p + html.length;
    NsHtmlToken       token;

    while (p < end) {
        if (NsIsSpace(*p)) {
            p++;
        } else if (*p == '<' && NsHtmlMarkup(p, end, &token)
                   && token.kind == NS_HTML_COMMENT) {
            p += token.source.length;
        } else {
            break;
        }
    }
    return (size_t) (end - p) > sizeof(mark) - 1
        && NsIsSameNoCase(p, mark, sizeof(mark) - 1);
}

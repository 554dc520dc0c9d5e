/* SPDX-License-Identifier: MPL-2.0
 * fuzz_html.c --
 *
 *      HTML: tokens cover the page without a gap, attributes lie inside their
 *      tags, and stripped or quoted text has no angle brackets of its own.
 */

#include "fuzz.h"

#include "http/html.h"
#include "http/htmltoken.h"

static void CheckTokens(const char *html, size_t length);
static void CheckAttributes(const NsHtmlToken *tokenPtr);
static void CheckQuoting(const char *html, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char *html = FuzzDup(data, length);

    CheckTokens(html, length);
    CheckQuoting(html, length);
    free(html);
    return 0;
}

static void
CheckTokens(const char *html, size_t length)
{
    NsHtmlScan  scan = {.p = html, .end = html + length};
    NsHtmlToken token;
    const char *p = html;
    bool        wasText = false;

    while (NsHtmlNext(&scan, &token)) {
        bool isText = token.kind == NS_HTML_TEXT;

        FuzzAssert(token.source.start == p && token.source.length > 0);
        p += token.source.length;
        FuzzAssert(scan.p == p);
        FuzzAssert(!isText || !wasText);
        FuzzAssert(isText || (*token.source.start == '<' && p[-1] == '>'));
        if (token.kind == NS_HTML_TAG) {
            CheckAttributes(&token);
        }
        wasText = isText;
    }
    FuzzAssert(p == html + length);
}

static void
CheckAttributes(const NsHtmlToken *tokenPtr)
{
    const char *end = tokenPtr->source.start + tokenPtr->source.length;
    NsSpan      attributes = tokenPtr->attributes, name, value;

    FuzzAssert(tokenPtr->name.length > 0);
    while (NsHtmlAttribute(&attributes, &name, &value)) {
        FuzzAssert(name.length > 0 && name.start > tokenPtr->source.start);
        FuzzAssert(name.start + name.length <= value.start);
        FuzzAssert(value.start + value.length < end);
    }
}

static void
CheckQuoting(const char *html, size_t length)
{
    Ns_DString quoted, again;

    Ns_DStringInit(&quoted);
    Ns_DStringInit(&again);
    NsHtmlQuote(&quoted, html, length);
    FuzzAssert(memchr(Ns_DStringValue(&quoted), '<',
                      (size_t) Ns_DStringLength(&quoted))
               == NULL);
    NsHtmlUnquote(&again, Ns_DStringValue(&quoted),
                  (size_t) Ns_DStringLength(&quoted));
    FuzzAssert((size_t) Ns_DStringLength(&again) == length);
    FuzzAssert(length == 0
               || memcmp(Ns_DStringValue(&again), html, length) == 0);
    Ns_DStringSetLength(&again, 0);
    NsHtmlStrip(&again, html, length);
    Ns_DStringFree(&again);
    Ns_DStringFree(&quoted);
}

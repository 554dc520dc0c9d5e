/* SPDX-License-Identifier: MPL-2.0
 * html.c --
 *
 *      Text to HTML and back.
 */

#include "http/html.h"

#include "http/entity.h"
#include "http/htmltoken.h"

static const char *BehindTag(const char *tag, const char *end);

void
NsHtmlQuote(Ns_DString *dsPtr, const char *text, size_t length)
{
    const char *end = text + length;

    while (text < end) {
        const char *start = text, *stop;
        const char *entity = NULL;

        for (; text < end && entity == NULL; text++) {
            switch (*text) {
            case '<':
                entity = "&lt;";
                break;
            case '>':
                entity = "&gt;";
                break;
            case '&':
                entity = "&amp;";
                break;
            case '\'':
                entity = "&#39;";
                break;
            case '"':
                entity = "&#34;";
                break;
            default:
                break;
            }
        }
        stop = entity == NULL ? text : text - 1;
        Ns_DStringNAppend(dsPtr, start, (int) (stop - start));
        if (entity != NULL) {
            Ns_DStringAppend(dsPtr, entity);
        }
    }
}

void
NsHtmlUnquote(Ns_DString *dsPtr, const char *html, size_t length)
{
    const char *end = html + length;

    while (html < end) {
        const char *stop = memchr(html, '&', (size_t) (end - html));
        size_t      n;

        stop = stop == NULL ? end : stop;
        Ns_DStringNAppend(dsPtr, html, (int) (stop - html));
        html = stop;
        if (html < end) {
            n = NsEntityAppend(dsPtr, html, end);
            if (n == 0) {
                Ns_DStringNAppend(dsPtr, "&", 1);
                n = 1;
            }
            html += n;
        }
    }
}

void
NsHtmlStrip(Ns_DString *dsPtr, const char *html, size_t length)
{
    const char *end = html + length;

    while (html < end) {
        const char *tag = memchr(html, '<', (size_t) (end - html));

        tag = tag == NULL ? end : tag;
        NsHtmlUnquote(dsPtr, html, (size_t) (tag - html));
        html = tag == end ? end : BehindTag(tag, end);
    }
}

void
Ns_QuoteHtml(Ns_DString *dsPtr, const char *text)
{
    NsHtmlQuote(dsPtr, text, strlen(text));
}

/*
 * What only looks like a tag goes up to the next angle bracket.
 */
static const char *
BehindTag(const char *tag, const char *end)
{
    NsHtmlToken token;
    const char *stop;

    if (NsHtmlMarkup(tag, end, &token) || token.source.length > 1) {
        return tag + token.source.length;
    }
    stop = memchr(tag, '>', (size_t) (end - tag));
    return stop == NULL ? end : stop + 1;
}

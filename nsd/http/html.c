/*
 * html.c --
 *
 *      Text to HTML and back.
 */

#include "http/html.h"

static const char *EntityEnd(const char *p, const char *end);

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
NsHtmlStrip(Ns_DString *dsPtr, const char *html, size_t length)
{
    const char *end = html + length;
    const char *start = html; /* Of text not yet appended. */
    const char *p = html;

    while (p < end) {
        const char *behind = NULL;

        if (*p == '<') {
            behind = memchr(p, '>', (size_t) (end - p));
            behind = behind == NULL ? end : behind + 1;
        } else if (*p == '&') {
            behind = EntityEnd(p, end);
        }
        if (behind == NULL) {
            p++;
        } else {
            Ns_DStringNAppend(dsPtr, start, (int) (p - start));
            start = p = behind;
        }
    }
    Ns_DStringNAppend(dsPtr, start, (int) (end - start));
}

void
Ns_QuoteHtml(Ns_DString *dsPtr, const char *text)
{
    NsHtmlQuote(dsPtr, text, strlen(text));
}

/*
 * Behind the semicolon of an entity reference at p; NULL if a blank or another
 * ampersand comes first.
 */
static const char *
EntityEnd(const char *p, const char *end)
{
    for (p++; p < end && *p != ' ' && *p != '&'; p++) {
        if (*p == ';') {
            return p + 1;
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: MPL-2.0
 * htmltoken.c --
 *
 *      HTML taken apart, by the rules of the HTML standard, section 13.2.5.
 */

#include "http/htmltoken.h"

#include "base/chars.h"

/*
 * Elements whose content has no tags.
 */
static const char *const rawElements[] = {"script", "style"};

static const char *TextEnd(const NsHtmlScan *scanPtr, NsHtmlToken *nextPtr);
static bool        EndsRaw(const NsHtmlScan *scanPtr, const char *p);
static bool        IsRaw(NsSpan name);
static const char *TagEnd(const char *p, const char *end);
static const char *CommentEnd(const char *p, const char *end);
static const char *TakeAttribute(const char *p, const char *end,
                                 NsSpan *namePtr, NsSpan *valuePtr);
static const char *SkipName(const char *p, const char *end);
static NsSpan      Span(const char *start, const char *end);

bool
NsHtmlNext(NsHtmlScan *scanPtr, NsHtmlToken *tokenPtr)
{
    const char *textEnd;

    if (scanPtr->p == scanPtr->end) {
        return false;
    }
    memset(tokenPtr, 0, sizeof(*tokenPtr));
    textEnd = TextEnd(scanPtr, tokenPtr);
    if (textEnd > scanPtr->p) {
        *tokenPtr = (NsHtmlToken){
            .kind = NS_HTML_TEXT, .source = Span(scanPtr->p, textEnd)};
    } else {
        scanPtr->rawName = tokenPtr->kind == NS_HTML_TAG
                && IsRaw(tokenPtr->name)
            ? tokenPtr->name
            : (NsSpan){NULL, 0};
    }
    scanPtr->p += tokenPtr->source.length;
    return true;
}

/*
 * Where the text at scanPtr->p ends and something else begins.
 */
static const char *
TextEnd(const NsHtmlScan *scanPtr, NsHtmlToken *nextPtr)
{
    const char *p = scanPtr->p;

    while ((p = memchr(p, '<', (size_t) (scanPtr->end - p))) != NULL) {
        if (scanPtr->rawName.start != NULL && !EndsRaw(scanPtr, p)) {
            p++;
        } else if (NsHtmlMarkup(p, scanPtr->end, nextPtr)) {
            return p;
        } else {
            p += nextPtr->source.length;
        }
    }
    return scanPtr->end;
}

/*
 * Whether p is the end tag of the element that has only text.
 */
static bool
EndsRaw(const NsHtmlScan *scanPtr, const char *p)
{
    NsSpan name = scanPtr->rawName;
    size_t left = (size_t) (scanPtr->end - p);

    return left >= name.length + 3 && p[1] == '/'
        && NsIsSameNoCase(p + 2, name.start, name.length)
        && SkipName(p + 2, scanPtr->end) == p + 2 + name.length;
}

static bool
IsRaw(NsSpan name)
{
    for (int i = 0; i < Ns_NrElements(rawElements); i++) {
        if (strlen(rawElements[i]) == name.length
            && NsIsSameNoCase(name.start, rawElements[i], name.length)) {
            return true;
        }
    }
    return false;
}

bool
NsHtmlMarkup(const char *p, const char *end, NsHtmlToken *tokenPtr)
{
    const char *start = p;

    *tokenPtr = (NsHtmlToken){.kind = NS_HTML_TAG, .source = {p, 1}};
    if (end - p >= 4 && memcmp(p, "<!--", 4) == 0) {
        tokenPtr->kind = NS_HTML_COMMENT;
        p = CommentEnd(p, end);
    } else if (end - p >= 2 && p[1] == '?') {
        tokenPtr->kind = NS_HTML_PI;
        p = memchr(p, '>', (size_t) (end - p));
    } else {
        const char *name = p + 1;
        bool        isEnd = name < end && *name == '/';

        name += isEnd;
        if (name == end || !NsIsAlpha(*name)) {
            return false;
        }
        p = SkipName(name, end);
        tokenPtr->name = Span(name - isEnd, p);
        p = TagEnd(p, end);
        tokenPtr->attributes = Span(tokenPtr->name.start
                                        + tokenPtr->name.length,
                                    p == NULL ? end : p);
    }
    tokenPtr->source = Span(start, p == NULL ? end : p + 1);
    return p != NULL;
}

/*
 * The > of a tag, of which p is behind the name; NULL if it has no end.
 */
static const char *
TagEnd(const char *p, const char *end)
{
    NsSpan name, value;

    while (p != NULL && p < end && *p != '>') {
        p = TakeAttribute(p, end, &name, &value);
    }
    return p == end ? NULL : p;
}

/*
 * The > of a comment; NULL if it has no end.  Besides --> browsers know --!>,
 * and the dashes at its start may be those of its end.
 */
static const char *
CommentEnd(const char *p, const char *end)
{
    const char *dashes = p + 2;

    for (p += 4; (p = memchr(p, '>', (size_t) (end - p))) != NULL; p++) {
        if ((p - dashes >= 2 && memcmp(p - 2, "--", 2) == 0)
            || (p - dashes >= 5 && memcmp(p - 3, "--!", 3) == 0)) {
            return p;
        }
    }
    return NULL;
}

bool
NsHtmlAttribute(NsSpan *attributesPtr, NsSpan *namePtr, NsSpan *valuePtr)
{
    const char *end = attributesPtr->start + attributesPtr->length;
    const char *p = TakeAttribute(attributesPtr->start, end, namePtr, valuePtr);

    if (p == NULL || namePtr->length == 0) {
        return false;
    }
    *attributesPtr = Span(p, end);
    return true;
}

/*
 * Behind an attribute, or at the end of the tag with an empty name.  NULL: a
 * quote is not closed.
 */
static const char *
TakeAttribute(const char *p, const char *end, NsSpan *namePtr, NsSpan *valuePtr)
{
    const char *start, *equals;

    while (p < end && (NsIsSpace(*p) || *p == '/')) {
        p++;
    }
    start = p;
    /* An equals sign at the start belongs to the name. */
    for (p += p < end && *p == '=';
         p < end && *p != '=' && *p != '>' && *p != '/' && !NsIsSpace(*p);
         p++) {
        continue;
    }
    *namePtr = Span(start, p);
    *valuePtr = Span(p, p);
    equals = NsSkipSpaceTo(p, end);
    if (namePtr->length == 0 || equals == end || *equals != '=') {
        return p;
    }
    start = p = NsSkipSpaceTo(equals + 1, end);
    if (p < end && (*p == '"' || *p == '\'')) {
        p = memchr(p + 1, *p, (size_t) (end - p - 1));
        if (p == NULL) {
            return NULL;
        }
        *valuePtr = Span(start + 1, p);
        return p + 1;
    }
    while (p < end && !NsIsSpace(*p) && *p != '>') {
        p++;
    }
    *valuePtr = Span(start, p);
    return p;
}

static const char *
SkipName(const char *p, const char *end)
{
    while (p < end && !NsIsSpace(*p) && *p != '/' && *p != '>') {
        p++;
    }
    return p;
}

static NsSpan
Span(const char *start, const char *end)
{
    return (NsSpan){start, (size_t) (end - start)};
}

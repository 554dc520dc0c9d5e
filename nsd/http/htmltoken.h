/* SPDX-License-Identifier: MPL-2.0
 * htmltoken.h --
 *
 *      HTML taken apart into tags, comments and text, as browsers do it.
 *
 *      Scripts decide by this which HTML of strangers is safe.  So a text in
 *      which a browser sees a tag must never be taken for something else; what
 *      no browser takes for a tag is text.
 */

#ifndef NSD_HTTP_HTMLTOKEN_H
#define NSD_HTTP_HTMLTOKEN_H

#include "http/urlparts.h"

typedef enum {
    NS_HTML_TEXT,
    NS_HTML_TAG,
    NS_HTML_COMMENT,
    NS_HTML_PI /* A processing instruction: <? to the next >. */
} NsHtmlKind;

typedef struct NsHtmlToken {
    NsHtmlKind kind;
    NsSpan     source;     /* All of it, with angle brackets. */
    NsSpan     name;       /* Of a tag, with the slash of an end tag. */
    NsSpan     attributes; /* Of a start tag: to be read one by one. */
} NsHtmlToken;

/*
 * Begins as {html, end}.
 */
typedef struct NsHtmlScan {
    const char *p;
    const char *end;
    NsSpan      rawName; /* Of the element whose content is text. */
} NsHtmlScan;

/*
 * False at the end.  Two texts never follow each other.
 */
bool NsHtmlNext(NsHtmlScan *scanPtr, NsHtmlToken *tokenPtr);

/*
 * The tag, comment or processing instruction that begins at p, an angle
 * bracket.  False: there is none, and the source is text that has none: the
 * bracket, or all up to the end if markup begins there and never ends.
 */
bool NsHtmlMarkup(const char *p, const char *end, NsHtmlToken *tokenPtr);

/*
 * Take the next attribute off; false if there is none.  The value is as
 * written, without quotes; without a value it is empty.
 */
bool NsHtmlAttribute(NsSpan *attributesPtr, NsSpan *namePtr, NsSpan *valuePtr);

#endif

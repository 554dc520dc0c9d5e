/* SPDX-License-Identifier: MPL-2.0
 * html.h --
 *
 *      Text to HTML and back.
 */

#ifndef NSD_HTTP_HTML_H
#define NSD_HTTP_HTML_H

#include "nsstring.h"

/*
 * Append text of some length with < > & ' " escaped.
 */
void NsHtmlQuote(Ns_DString *dsPtr, const char *text, size_t length);

/*
 * Append the text with references to characters replaced by these, each once.
 */
void NsHtmlUnquote(Ns_DString *dsPtr, const char *html, size_t length);

/*
 * Append the text without tags and comments, and unquoted.
 */
void NsHtmlStrip(Ns_DString *dsPtr, const char *html, size_t length);

#endif

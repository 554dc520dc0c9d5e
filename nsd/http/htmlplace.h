/* SPDX-License-Identifier: MPL-2.0
 * htmlplace.h --
 *
 *      Where something can be put into a document of HTML.
 */

#ifndef NSD_HTTP_HTMLPLACE_H
#define NSD_HTTP_HTMLPLACE_H

#include "http/htmltoken.h"

/*
 * Where an element of the head can be put into the start of a document: before
 * the end of its head, or its body; or, if all of the document is there
 * (isWhole) and leaves these tags out, as HTML permits, where a script is
 * right: at the end of the body.  NULL: nowhere, or this is not a document but
 * a part of one, which has neither html, head nor body, nor a doctype.
 */
const char *NsHtmlHeadPlace(NsSpan html, bool isWhole);

#endif

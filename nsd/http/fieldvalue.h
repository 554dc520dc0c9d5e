/* SPDX-License-Identifier: MPL-2.0
 * fieldvalue.h --
 *
 *      Values of header fields: elements between commas, each of parts between
 *      semicolons (RFC 7230, section 7).
 *
 *      A part is a name, `name=token`, or `name="quoted"`.  A slash belongs to
 *      names and tokens, so that media types are names.  Empty elements and
 *      parts are left out.
 */

#ifndef NSD_HTTP_FIELDVALUE_H
#define NSD_HTTP_FIELDVALUE_H

#include "http/urlparts.h"

typedef struct NsFieldScan {
    const char *p;        /* Not yet read. */
    bool        isStrict; /* Quotes must be closed. */
    bool        isBehind; /* A part was read: a separator must follow. */
} NsFieldScan;

typedef struct NsFieldPart {
    NsSpan name;
    NsSpan value;   /* Without quotes, but with its backslashes. */
    bool   isFirst; /* Of an element. */
} NsFieldPart;

/*
 * Start with {.p = text}.  False: there is no further part; scanPtr->p is then
 * what could not be read, empty if all could.
 */
bool NsFieldScanNext(NsFieldScan *scanPtr, NsFieldPart *partPtr);

#endif

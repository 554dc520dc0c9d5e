/* SPDX-License-Identifier: MPL-2.0
 * token.h --
 *
 *      Bytes of tokens and of field values (RFC 9110, section 5).
 */

#ifndef NSD_HTTP_TOKEN_H
#define NSD_HTTP_TOKEN_H

#include "nstypes.h"

/*
 * Each byte that a token may have, in lower case; 0 for others.
 */
extern const char nsTokenChars[256];

static inline bool
NsIsTokenChar(char c)
{
    return nsTokenChars[(unsigned char) c] != 0;
}

static inline bool
NsIsBlank(char c)
{
    return c == ' ' || c == '\t';
}

/*
 * The first control byte, other than a tab, of a text; NULL if there is none.
 */
const char *NsFindControl(const char *text, const char *end);

#endif

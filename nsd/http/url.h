/* SPDX-License-Identifier: MPL-2.0
 * url.h --
 *
 *      Percent coding.
 *
 *      Decoded text is UTF-8 as Tcl keeps it: U+0000 is the bytes C0 80.
 *      Everything here takes lengths; the public functions of nsstring.h take
 *      null-terminated strings.
 */

#ifndef NSD_HTTP_URL_H
#define NSD_HTTP_URL_H

#include "nsstring.h"

/*
 * What the text is for decides which characters stay.  Blank is + in a query
 * and %20 elsewhere; + means a blank in a query only.
 */
typedef enum {
    NS_URL_QUERY,    /* A name or value of a query. */
    NS_URL_PATH,     /* One segment of a path. */
    NS_URL_FULLPATH, /* A path, with slashes. */
    NS_URL_FRAGMENT,
    NS_URL_COOKIE, /* The value of a cookie. */
    NS_URL_OAUTH1  /* RFC 5849, section 3.6; escapes in upper case. */
} NsUrlPart;

/*
 * How many of length bytes can be appended when each may become growth ones: a
 * Tcl string ends before 2 GiB, and its room may double.  What is beyond must
 * be left out.
 */
static inline size_t
NsFittingBytes(const Ns_DString *dsPtr, size_t length, size_t growth)
{
    size_t used = (size_t) Ns_DStringLength(dsPtr);
    size_t room = (size_t) INT_MAX / 2;

    return used >= room ? 0 : MIN(length, (room - used) / growth);
}

/*
 * Append the coded or decoded text.  NULL as encoding means UTF-8.
 */
void NsUrlEncode(Ns_DString *dsPtr, const char *text, size_t length,
                 Tcl_Encoding encoding, NsUrlPart part);
void NsUrlDecode(Ns_DString *dsPtr, const char *text, size_t length,
                 Tcl_Encoding encoding, NsUrlPart part);

/*
 * Decode text that may be wrong: bytes that are to be UTF-8 and are not are
 * read in the fallback encoding instead.  False, with nothing appended, if
 * there is none (NULL, or UTF-8 itself).  The text is a Tcl string.
 */
bool NsUrlDecodeChecked(Ns_DString *dsPtr, const char *text, size_t length,
                        Tcl_Encoding encoding, Tcl_Encoding fallback,
                        NsUrlPart part);

/*
 * Escapes of coded text in upper case.
 */
void NsUrlUpperEscapes(char *text, size_t length);

/*
 * Replace escapes by bytes, without regard to what they mean; incomplete and
 * invalid ones stay.  to has room for length bytes and may be from.  How many
 * were written.
 */
size_t NsUrlUnescape(char *to, const char *from, size_t length, NsUrlPart part);

/*
 * Bytes as UTF-8: valid sequences stay, other bytes become the characters
 * U+0080 to U+00FF, a null byte becomes C0 80.  to has room for twice the
 * length.  How many bytes were written.
 */
size_t NsUtf8FromBytes(char *to, const char *from, size_t length);

/*
 * Length of the valid UTF-8 sequence at p, which ends before end; 0 if there is
 * none.  Overlong forms and surrogates are not valid.
 */
size_t NsUtf8Sequence(const char *p, const char *end);

/*
 * Append a character as Tcl keeps it: one beyond U+FFFF as two surrogates.
 */
void NsUtf8Append(Ns_DString *dsPtr, uint32_t code);

/*
 * How many of the bytes, from the first one, are valid UTF-8: all of them, or
 * those before the first bad one.
 */
size_t NsUtf8ValidBytes(const char *bytes, size_t length);

#endif

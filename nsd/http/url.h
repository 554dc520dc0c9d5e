/*
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

typedef enum {
    NS_URL_PATH,  /* Blank is %20; + stays. */
    NS_URL_QUERY, /* Blank is +. */
    NS_URL_COOKIE /* Blank is %20; of what is printable, what the value of
                   * a cookie must not have is escaped as well. */
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

#endif

/* SPDX-License-Identifier: MPL-2.0
 * base64.h --
 *
 *      Base64 as the commands and the Authorization field use it.
 */

#ifndef NSD_HTTP_BASE64_H
#define NSD_HTTP_BASE64_H

#include "nsstring.h"

/*
 * Bytes that Ns_HtuuEncode writes at most for length ones, its line breaks and
 * null byte included; and Ns_HtuuDecode.
 */
#define NsBase64EncodedBytes(length) \
    ((((length) + 2) / 3) * 4 + (length) / 45 + 2)
#define NsBase64DecodedBytes(length) (((length) + 3) / 4 * 3 + 1)

/*
 * The alphabet: + and / with padding, or that of RFC 4648 5 for URLs, - and _
 * without.
 */
typedef enum NsBase64Kind { NS_BASE64_PLAIN, NS_BASE64_URL } NsBase64Kind;

/*
 * Encode in one line.  How many characters were written, without a null byte;
 * there is room for NsBase64EncodedBytes(length).
 */
size_t NsBase64EncodeLine(NsBase64Kind kind, const unsigned char *bytes,
                          size_t nBytes, char *to);

/*
 * Decode length characters, which may include null bytes; those outside of the
 * alphabet are skipped.  How many bytes were written; there is room for
 * NsBase64DecodedBytes(length).
 */
size_t NsBase64Decode(const char *text, size_t length, unsigned char *to);
size_t NsBase64DecodeAs(NsBase64Kind kind, const char *text, size_t length,
                        unsigned char *to);

/*
 * The first character that is neither of the alphabet, nor white space, nor
 * padding; NULL: there is none.
 */
const char *NsBase64FindStrange(NsBase64Kind kind, const char *text,
                                size_t length);

#endif

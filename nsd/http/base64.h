/*
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
 * Decode length characters, which may include null bytes.  How many bytes were
 * written; there is room for NsBase64DecodedBytes(length).
 */
size_t NsBase64Decode(const char *text, size_t length, unsigned char *to);

#endif

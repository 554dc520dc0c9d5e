/* SPDX-License-Identifier: MPL-2.0
 * digest.c --
 *
 *      MD5 and SHA-1 for modules and commands.
 *
 *      OpenSSL's context does not fit into the public structures, which the
 *      caller allocates and may drop without notice at any time.  So they hold
 *      the message digest's state itself, through the library's low-level
 *      functions.
 */

#define OPENSSL_SUPPRESS_DEPRECATED

#include "nsstring.h"

#include <openssl/md5.h>
#include <openssl/sha.h>

_Static_assert(sizeof(MD5_CTX) <= sizeof(Ns_CtxMD5), "Ns_CtxMD5 too small");
_Static_assert(sizeof(SHA_CTX) <= sizeof(Ns_CtxSHA1), "Ns_CtxSHA1 too small");

void
Ns_CtxMD5Init(Ns_CtxMD5 *ctxPtr)
{
    MD5_Init((MD5_CTX *) ctxPtr);
}

void
Ns_CtxMD5Update(Ns_CtxMD5 *ctxPtr, const unsigned char *bytes, unsigned length)
{
    MD5_Update((MD5_CTX *) ctxPtr, bytes, length);
}

void
Ns_CtxMD5Final(Ns_CtxMD5 *ctxPtr, unsigned char *digest)
{
    MD5_Final(digest, (MD5_CTX *) ctxPtr);
}

void
Ns_CtxSHAInit(Ns_CtxSHA1 *ctxPtr)
{
    SHA1_Init((SHA_CTX *) ctxPtr);
}

void
Ns_CtxSHAUpdate(Ns_CtxSHA1 *ctxPtr, const unsigned char *bytes, unsigned length)
{
    SHA1_Update((SHA_CTX *) ctxPtr, bytes, length);
}

void
Ns_CtxSHAFinal(Ns_CtxSHA1 *ctxPtr, unsigned char *digest)
{
    SHA1_Final(digest, (SHA_CTX *) ctxPtr);
}

void
Ns_CtxString(unsigned char *digest, char *text, int nBytes)
{
    (void) Ns_HexString(digest, text, nBytes, true);
}

char *
Ns_HexString(const unsigned char *bytes, char *out, TCL_SIZE_T nBytes,
             bool isUpper)
{
    const char *digits = isUpper ? "0123456789ABCDEF" : "0123456789abcdef";
    char       *to = out;

    for (TCL_SIZE_T i = 0; i < nBytes; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 0x0F];
    }
    *to = '\0';
    return out;
}

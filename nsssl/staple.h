/* SPDX-License-Identifier: MPL-2.0
 * staple.h --
 *
 *      What the authority says about a certificate (OCSP, RFC 6960), shown to
 *      clients in the handshake (RFC 6066, section 8).
 *
 *      Answers are fetched by a job of its own, never by a handshake, and kept
 *      in the directory of logs for the next start.  One is shown until it
 *      expires, and renewed when half of its time has passed.
 */

#ifndef NSSSL_STAPLE_H
#define NSSSL_STAPLE_H

#include "ns.h"

#include <openssl/ssl.h>

typedef struct SslStaple SslStaple;

/*
 * For the certificate in a file, whatever is loaded from there.  The strings
 * live as long as the process, and so does the result.
 */
SslStaple *SslStapleCreate(const char *module, const char *file);

/*
 * Have the handshakes of a context show the answer.
 */
void SslStapleUse(SslStaple *staplePtr, SSL_CTX *ctx);

/*
 * Fetch an answer about the certificate of this context, if it is time to.
 * Waits for the authority, some seconds at most.
 */
void SslStapleRefresh(SslStaple *staplePtr, SSL_CTX *ctx);

#endif

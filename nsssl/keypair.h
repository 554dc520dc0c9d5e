/* SPDX-License-Identifier: MPL-2.0
 * keypair.h --
 *
 *      A certificate with its chain and its private key, from files.
 */

#ifndef NSSSL_KEYPAIR_H
#define NSSSL_KEYPAIR_H

#include "ns.h"

#include <openssl/ssl.h>

/*
 * What to load.  One file may have both.
 */
typedef struct SslKeyPair {
    const char *module;
    const char *certificate; /* Absolute path: PEM, the chain in order. */
    const char *key;         /* Likewise. */
} SslKeyPair;

/*
 * Load them into a context, with DH parameters if the file of the certificate
 * has any.  False: one line says why; isReload makes it a Warning, else it is
 * an Error.
 */
bool SslKeyPairLoad(const SslKeyPair *pairPtr, SSL_CTX *ctx, bool isReload);

/*
 * A Warning for each thing that is wrong with a certificate that works: it has
 * expired, is not valid yet, lacks that of its issuer, or its key is there for
 * all to read.
 */
void SslKeyPairComplain(const SslKeyPair *pairPtr, SSL_CTX *ctx);

#endif

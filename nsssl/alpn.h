/* SPDX-License-Identifier: MPL-2.0
 * alpn.h --
 *
 *      The protocols that the TLS driver offers (RFC 7301).
 */

#ifndef NSSSL_ALPN_H
#define NSSSL_ALPN_H

#include <openssl/ssl.h>
#include <stdbool.h>

/*
 * Offer http/1.1, and before it h2 if withHttp2.  A client that names
 * protocols, and neither of these, gets no connection.
 */
void SslAlpnOffer(SSL_CTX *ctx, bool withHttp2);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * alpn.c --
 *
 *      The protocols that the TLS driver offers.
 */

#include "alpn.h"

#include "ns.h"

/*
 * As they stand in the client's list: with their lengths.
 */
static const unsigned char offer[] = "\x02h2\x08http/1.1";

#define HTTP2_BYTES 3

static int Select(SSL *ssl, const unsigned char **outPtr,
                  unsigned char *outLength, const unsigned char *list,
                  unsigned length, void *arg);

void
SslAlpnOffer(SSL_CTX *ctx, bool withHttp2)
{
    const unsigned char *first = withHttp2 ? offer : offer + HTTP2_BYTES;

    SSL_CTX_set_alpn_select_cb(ctx, Select, (void *) (uintptr_t) first);
}

/*
 * The first of ours that the client has, too.
 */
static int
Select(SSL *ssl, const unsigned char **outPtr, unsigned char *outLength,
       const unsigned char *list, unsigned length, void *arg)
{
    const unsigned char *own = arg;
    unsigned char       *chosen;

    if (SSL_select_next_proto(&chosen, outLength, own,
                              (unsigned) strlen((const char *) own), list,
                              length)
        != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *outPtr = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* SPDX-License-Identifier: MPL-2.0
 * tlscontext.h --
 *
 *      What every TLS connection of ours as a client needs of the library: its
 *      context, whom to ask for, and what it says when something is wrong.
 */

#ifndef NSD_BASE_TLSCONTEXT_H
#define NSD_BASE_TLSCONTEXT_H

#include "nsstring.h"

struct ssl_ctx_st;
struct ssl_st;
struct x509_store_ctx_st;

/*
 * Strings are NULL or not empty.
 */
typedef struct NsTlsContextSpec {
    const char *caFile; /* Authorities; both NULL: the system's. */
    const char *caPath;
    const char *certificate; /* Our own; NULL: none. */
    const char *key;         /* Its key; NULL: in the same file. */
    bool        isInsecure;  /* Believe whatever certificate there is. */
    int         maxDepth;    /* Of chains; 0: that of the library. */
    int (*verifyProc)(int isValid, struct x509_store_ctx_st *storePtr);
} NsTlsContextSpec;

/*
 * A client's context, for TLS 1.2 and above; the caller's.  NULL: a file is not
 * usable, and the reason is appended.
 */
struct ssl_ctx_st *NsTlsContextCreate(const NsTlsContextSpec *specPtr,
                                      Ns_DString             *errorPtr);

/*
 * Authorities and certificate of a context of any kind: NULL, or the file that
 * cannot be used.  Whom to ask for, and who must answer: false without memory.
 */
const char *NsTlsSetAuthorities(struct ssl_ctx_st *ctx, const char *caFile,
                                const char *caPath);
const char *NsTlsSetCertificate(struct ssl_ctx_st *ctx, const char *file,
                                const char *keyFile);
bool        NsTlsSetPeer(struct ssl_st *ssl, const char *host, bool isNameless);

/*
 * What the library says about its first error, or about what a handshake that
 * has failed has found in the certificate of the peer.
 */
const char *NsTlsLibraryReason(void);
const char *NsTlsHandshakeReason(const struct ssl_st *ssl);

#endif

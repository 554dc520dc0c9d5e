/* SPDX-License-Identifier: MPL-2.0
 * nstls.h --
 *
 *      TLS for sockets of a module's own: contexts and handshakes of OpenSSL.
 *
 *      What comes of these functions is the library's: a module that wants to
 *      read and write includes <openssl/ssl.h>.  Contexts may be used by any
 *      thread, a connection by one at a time.
 *
 *      Names of files and directories may be NULL or empty for none.  Results
 *      are TCL_OK, or TCL_ERROR with a message in interp, which may be NULL;
 *      then nothing is stored.
 */

#ifndef NSTLS_H
#define NSTLS_H

#include "nstypes.h"

/*
 * A context for clients, TLS 1.2 and above: with a certificate of its own (a
 * file that has the key as well).  With verify, the server has to present one
 * that the authorities in caFile or caPath have signed; without both, those of
 * the system.  The caller's, for SSL_CTX_free.
 */
NS_EXTERN int Ns_TLS_CtxClientCreate(Tcl_Interp *interp, const char *cert,
                                     const char *caFile, const char *caPath,
                                     bool verify, NS_TLS_SSL_CTX **ctxPtr);

/*
 * A context for servers, with certificate and key.  With verify, clients have
 * to show one, too.  ciphers: for TLS 1.2; ciphersuites: for TLS 1.3; NULL or
 * empty for those of the library.  protocols: a list of `!TLSv1.2`, `!TLSv1.3`
 * and so on for those not wanted; below TLS 1.2 none is, unless others are
 * listed.
 */
NS_EXTERN int Ns_TLS_CtxServerCreate(Tcl_Interp *interp, const char *cert,
                                     const char *caFile, const char *caPath,
                                     bool verify, const char *ciphers,
                                     const char      *ciphersuites,
                                     const char      *protocols,
                                     NS_TLS_SSL_CTX **ctxPtr);

/*
 * TLS on a connected socket, which stays the caller's, blocking or not as it
 * was.  sni: the server's name, which is asked for, and which its certificate
 * must have if the context verifies; NULL: none.  The later form takes
 * authorities that count for this connection instead of the context's, and a
 * limit for the whole handshake (NULL: 60 s): NS_OK, NS_TIMEOUT, NS_ERROR.
 *
 * *sslPtr is the caller's, for SSL_shutdown and SSL_free.
 */
#if NS_API_LEVEL >= 50000
#define Ns_TLS_SSLConnect Ns_TLS_SSLConnect_50
#else
NS_EXTERN int Ns_TLS_SSLConnect(Tcl_Interp *interp, NS_SOCKET sock,
                                NS_TLS_SSL_CTX *ctx, const char *sni,
                                NS_TLS_SSL **sslPtr);
#endif
NS_EXTERN Ns_ReturnCode
Ns_TLS_SSLConnect_50(Tcl_Interp *interp, NS_SOCKET sock, NS_TLS_SSL_CTX *ctx,
                     const char *sni, const char *caFile, const char *caPath,
                     const Ns_Time *timeoutPtr, NS_TLS_SSL **sslPtr);

/*
 * The server's side of the same; a client that is silent for too long is given
 * up after 60 s.
 */
NS_EXTERN int Ns_TLS_SSLAccept(Tcl_Interp *interp, NS_SOCKET sock,
                               NS_TLS_SSL_CTX *ctx, NS_TLS_SSL **sslPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * cryptokey.h --
 *
 *      What the commands of cryptography share: digests by name, keys from PEM,
 *      failures.
 *
 *      The library keeps errors in a list of the thread, where a TLS connection
 *      would find them.  So each failure goes through NsCryptoFail, or ends
 *      with NsCryptoForget.
 */

#ifndef NSD_TCL_CRYPTOKEY_H
#define NSD_TCL_CRYPTOKEY_H

#include "tcl/bytes.h"

#include <openssl/evp.h>

/*
 * Bytes that a script may ask for at once.
 */
#define NS_CRYPTO_MAX_BYTES (1 << 24)

/*
 * Leave the message and forget the library's errors; TCL_ERROR.
 */
int NsCryptoFail(Tcl_Interp *interp, const char *format, ...)
    NS_GNUC_PRINTF(2, 3);
void NsCryptoForget(void);

/*
 * The digest of a name; NULL gives SHA-256.  To be freed by EVP_MD_free.  NULL:
 * there is none, and the message lists those that there are.
 */
EVP_MD *NsCryptoDigest(Tcl_Interp *interp, Tcl_Obj *nameObj);

/*
 * Append the names of all digests.
 */
void NsCryptoDigests(Ns_DString *dsPtr, const char *separator);

/*
 * A key from PEM, which is the name of a file or the text itself; the public
 * one is taken from a private key where that is what the text has.  The
 * passphrase may be NULL.  To be freed by EVP_PKEY_free.  NULL: there is none,
 * and the message says so without the text.
 */
EVP_PKEY *NsCryptoPrivateKey(Tcl_Interp *interp, Tcl_Obj *pemObj,
                             const char *passphrase);
EVP_PKEY *NsCryptoPublicKey(Tcl_Interp *interp, Tcl_Obj *pemObj,
                            const char *passphrase);

/*
 * An option that must be there; TCL_ERROR with `no -salt specified`.
 */
int NsCryptoNeed(Tcl_Interp *interp, const char *option, const Tcl_Obj *obj);

/*
 * A number within limits; TCL_ERROR with a message.
 */
int NsCryptoCheckRange(Tcl_Interp *interp, const char *name, Tcl_WideInt value,
                       Tcl_WideInt min, Tcl_WideInt max);

#endif

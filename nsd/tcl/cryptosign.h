/* SPDX-License-Identifier: MPL-2.0
 * cryptosign.h --
 *
 *      Signatures by keys from PEM.
 */

#ifndef NSD_TCL_CRYPTOSIGN_H
#define NSD_TCL_CRYPTOSIGN_H

#include "tcl/cryptowords.h"

/*
 * Return the signature of the message, by a key from PEM.  isRaw: the two
 * numbers of an ECDSA signature side by side, as JWS requires.
 */
int NsCryptoSign(Tcl_Interp *interp, const NsCryptoWords *wordsPtr,
                 Tcl_Obj *pemObj, bool isRaw);

/*
 * Return whether the signature of -signature is that of the message by the key
 * of -verify: 1 or 0; a malformed one counts as wrong.
 */
int NsCryptoVerify(Tcl_Interp *interp, const NsCryptoWords *wordsPtr);

#endif

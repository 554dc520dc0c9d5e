/* SPDX-License-Identifier: MPL-2.0
 * cryptocontext.h --
 *
 *      Digests and message authentication codes that are computed piece by
 *      piece.  A script may keep one under a name.
 */

#ifndef NSD_TCL_CRYPTOCONTEXT_H
#define NSD_TCL_CRYPTOCONTEXT_H

#include "tcl/cryptowords.h"
#include "tcl/interp.h"

typedef enum { NS_CRYPTO_MD, NS_CRYPTO_HMAC } NsCryptoKind;

typedef struct NsCryptoContext {
    EVP_MD_CTX  *mdPtr;  /* One of the two */
    EVP_MAC_CTX *macPtr; /* is NULL. */
} NsCryptoContext;

/*
 * Begin one, with the digest and for an HMAC the key of the words.  A digest of
 * variable length cannot be used for an HMAC.  TCL_ERROR with a message, and
 * nothing to free.
 */
int  NsCryptoContextInit(Tcl_Interp *interp, NsCryptoContext *contextPtr,
                         NsCryptoKind kind, const NsCryptoWords *wordsPtr);
void NsCryptoContextFree(NsCryptoContext *contextPtr);

void NsCryptoUpdate(const NsCryptoContext *contextPtr, const void *bytes,
                    size_t length);

/*
 * Return what has been computed.  It finishes a copy, so that more can be added
 * afterwards.
 */
int NsCryptoReturnDigest(Tcl_Interp *interp, const NsCryptoContext *contextPtr,
                         int form);

/*
 * Keep one, and return its name, which no context of the interpreter had
 * before: a stale name never refers to another context.
 */
int NsCryptoContextReturn(NsInterp *itPtr, NsCryptoKind kind,
                          NsCryptoContext context);

/*
 * The entry with a pointer to the context; NULL with a message: there is none.
 */
Tcl_HashEntry *NsCryptoContextFind(NsInterp *itPtr, NsCryptoKind kind,
                                   Tcl_Obj *nameObj);

#endif

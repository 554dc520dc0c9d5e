/* SPDX-License-Identifier: MPL-2.0
 * cryptowords.h --
 *
 *      The words of the commands of cryptography, most of which take the same
 *      options.
 */

#ifndef NSD_TCL_CRYPTOWORDS_H
#define NSD_TCL_CRYPTOWORDS_H

#include "tcl/cryptokey.h"

/*
 * What a command does not set, and the call does not have, is 0 or NULL.
 */
typedef struct NsCryptoWords {
    int      isBinary;
    int      form;   /* NsBytesForm. */
    int      format; /* The command's own, from formats. */
    int      length;
    char    *curve;
    char    *outFile;
    char    *passphrase;
    Tcl_Obj *aadObj, *cipherObj, *contextObj, *digestObj, *infoObj, *inputObj,
        *ivObj, *keyObj, *messageObj, *pemObj, *publicObj, *saltObj, *secretObj,
        *signObj, *signatureObj, *tagObj, *verifyObj, *xObj, *yObj;
    const Ns_ObjvTable *formats; /* For -format. */
} NsCryptoWords;

/*
 * Parse the words from objv[offset] on.  Options and arguments are names with
 * blanks between them, options with a `!` behind them if they must be there:
 *
 *      NsCryptoParse(&words, interp, 2, objc, objv, "-encoding -pem! --",
 *      "key")
 *
 * TCL_ERROR with a message, as Ns_ParseObjv and NsCryptoNeed leave it.
 */
int NsCryptoParse(NsCryptoWords *wordsPtr, Tcl_Interp *interp, int offset,
                  int objc, Tcl_Obj *const *objv, const char *options,
                  const char *args);

#endif

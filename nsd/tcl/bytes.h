/* SPDX-License-Identifier: MPL-2.0
 * bytes.h --
 *
 *      Words as bytes, for commands that digest, encrypt and encode, and bytes
 *      as results.
 *
 *      A word that is a byte array is taken as bytes.  Any other is text, whose
 *      bytes are those of UTF-8; with `-binary` each of its characters is one
 *      byte.
 */

#ifndef NSD_TCL_BYTES_H
#define NSD_TCL_BYTES_H

#include "nsstring.h"
#include "nstcl.h"

/*
 * Owned by the command.
 */
typedef struct NsBytes {
    const unsigned char *bytes;
    size_t               length;
    Ns_DString           text; /* What had to be encoded. */
} NsBytes;

/*
 * The bytes of a word; none if it is NULL.  They are borrowed from the word
 * where it has them, and valid until NsBytesFree, which overwrites what was
 * copied: it may be a secret.
 */
void NsBytesInit(NsBytes *bytesPtr, Tcl_Obj *obj, bool isBinary);
void NsBytesFree(NsBytes *bytesPtr);

/*
 * The form of bytes in results: the option `-encoding`, an int for NsObjvWord.
 */
typedef enum NsBytesForm {
    NS_BYTES_HEX,
    NS_BYTES_BASE64URL,
    NS_BYTES_BASE64,
    NS_BYTES_BINARY
} NsBytesForm;

extern const Ns_ObjvTable nsBytesForms[];

#define NS_OBJV_ENCODING(dest)                                 \
    {                                                          \
        "-encoding", NsObjvWord, (dest), (void *) nsBytesForms \
    }
#define NS_OBJV_BINARY(dest)                       \
    {                                              \
        "-binary", Ns_ObjvBool, (dest), INT2PTR(1) \
    }

Tcl_Obj *NsBytesObj(const unsigned char *bytes, size_t length, int form);

/*
 * Bytes as text when they are valid UTF-8, else as a byte array.
 */
Tcl_Obj *NsBytesTextObj(const unsigned char *bytes, size_t length);

#endif

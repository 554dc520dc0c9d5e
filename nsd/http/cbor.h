/* SPDX-License-Identifier: MPL-2.0
 * cbor.h --
 *
 *      CBOR read strictly (RFC 8949), one event after the other.
 *
 *      Nothing recurses.  Tags are passed over.
 */

#ifndef NSD_HTTP_CBOR_H
#define NSD_HTTP_CBOR_H

#include "nsstring.h"

typedef enum {
    NS_CBOR_DONE, /* The item is complete; more bytes may follow. */
    NS_CBOR_ERROR,
    NS_CBOR_INTEGER, /* Digits in value, beyond 64 bits with a minus, too. */
    NS_CBOR_BYTES,   /* In value. */
    NS_CBOR_TEXT,    /* In value, as a Tcl string. */
    NS_CBOR_ARRAY,
    NS_CBOR_MAP, /* Keys and values follow in turn. */
    NS_CBOR_END, /* Of the innermost array or map. */
    NS_CBOR_REAL,
    NS_CBOR_BOOLEAN, /* `true` or `false` in value. */
    NS_CBOR_NULL     /* Or undefined. */
} NsCborEvent;

#define NS_CBOR_MAX_DEPTH 1000

typedef struct NsCborReader {
    const unsigned char *bytes;
    const unsigned char *p; /* Not yet read. */
    const unsigned char *end;
    bool                 isStarted;
    Ns_DString           stack; /* Of the containers at p. */
    Ns_DString           value; /* Of the last event. */
    double               real;
    const char          *error; /* What is wrong at p; NULL: nothing. */
} NsCborReader;

void NsCborInit(NsCborReader *readerPtr, const void *bytes, size_t length);
void NsCborFree(NsCborReader *readerPtr);

/*
 * After NS_CBOR_DONE and NS_CBOR_ERROR there is nothing more to ask for.
 */
NsCborEvent NsCborNext(NsCborReader *readerPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * insert.h --
 *
 *      An element that is put into the head of the page that a request gets,
 *      whoever makes the page: a file, a script, another server.
 *
 *      For development: such a page is neither compressed nor kept by the
 *      browser, and the client gets it whole.
 */

#ifndef NSD_REQUEST_INSERT_H
#define NSD_REQUEST_INSERT_H

#include "request/conn.h"

/*
 * In the flags of a connection: the page gets an element.  No reply that is
 * without it asks more than before.
 */
#define NS_CONN_HAS_INSERT 0x1000000

/*
 * Before anything of the reply was sent: html is put into it if it turns out to
 * be a document of HTML in a charset that has ASCII, and not too long.
 */
void NsConnInsert(NsConn *connPtr, const char *html);

/*
 * For the request's output, before its header is made.  In place of the pieces,
 * which it takes over, others that have the element; or the same.
 */
typedef struct NsInsertOutput {
    const NsPiece *pieces;
    int            n;
    int64_t        bytes;
    bool           isWhole; /* No more will follow. */
} NsInsertOutput;

void NsConnInsertInto(NsConn *connPtr, NsInsertOutput *outputPtr);

#endif

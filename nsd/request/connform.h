/* SPDX-License-Identifier: MPL-2.0
 * connform.h --
 *
 *      The form of a request: its query, or the body of a POST.
 */

#ifndef NSD_REQUEST_CONNFORM_H
#define NSD_REQUEST_CONNFORM_H

#include "request/conn.h"

/*
 * The form.  One that is not in the charset that it should be in, UTF-8, is
 * read in another, with a Warning: in fallback, else in the server's
 * formfallbackcharset, else, when it is a body, in iso-8859-1.  NULL: it is a
 * query, and there is no other charset.
 *
 * A field _charset_ says in what charset the form is.
 *
 * A body of JSON, of a type application/json or ...+json, is a form with the
 * fields of NsJsonReadSet.  NULL: it is not JSON.
 *
 * Ns_ConnGetQuery takes what is not UTF-8 bytewise in that last case, and of
 * JSON what could be read.
 */
Ns_Set *NsConnGetForm(NsConn *connPtr, Tcl_Encoding fallback);

/*
 * What is wrong with the body of JSON; NULL: nothing, or it is not one.
 */
const char *NsConnFormJsonProblem(const NsConn *connPtr);

/*
 * Uploaded files of the form, in their order in it.  The form is not parsed for
 * it: none before Ns_ConnGetQuery.
 */
typedef struct NsConnFile {
    struct NsConnFile *nextPtr;
    const char        *field;    /* Name of the form field. */
    const char        *fileName; /* As sent by the client. */
    Ns_Set            *headers;  /* Of the part; names in lower case. */
    size_t             offset;   /* In the body. */
    size_t             length;
} NsConnFile;

const NsConnFile *NsConnFiles(const NsConn *connPtr);

/*
 * Counts up with each form that Ns_ConnClearQuery forgot.
 */
int NsConnFormEpoch(const NsConn *connPtr);

#endif

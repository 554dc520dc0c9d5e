/*
 * connform.h --
 *
 *      The form of a request: its query, or the body of a POST.
 */

#ifndef NSD_REQUEST_CONNFORM_H
#define NSD_REQUEST_CONNFORM_H

#include "request/conn.h"

/*
 * Uploaded files of the form, in the order of the fields' first files.  The
 * form is not parsed for it: none before Ns_ConnGetQuery.
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

/* SPDX-License-Identifier: MPL-2.0
 * multipart.h --
 *
 *      Forms as multipart/form-data (RFC 7578): the parts of a body.
 */

#ifndef NSD_HTTP_MULTIPART_H
#define NSD_HTTP_MULTIPART_H

#include "nsstring.h"

/*
 * A body in memory, or a file made to look like it.
 */
typedef struct NsFormSource {
    const char *data;
    size_t      length;
    bool        isMapped;
} NsFormSource;

/*
 * Map a whole file.  NS_ERROR: it cannot be read; nothing to close.  The file
 * must not be cut while it is mapped.
 */
Ns_ReturnCode NsFormSourceOpen(NsFormSource *sourcePtr, int fd);
void          NsFormSourceClose(NsFormSource *sourcePtr);

/*
 * One part of a multipart body.  Name and file name are decoded; the other
 * strings are parts of the source and not null terminated.
 */
#define NS_FORM_MAX_HEADERS 32

typedef struct NsFormHeader {
    const char *name;
    size_t      nameLength;
    const char *value;
    size_t      valueLength;
} NsFormHeader;

typedef struct NsFormPart {
    const char  *name;
    const char  *fileName; /* As sent; NULL without one. */
    const char  *content;
    size_t       contentLength;
    size_t       contentOffset;                /* In the source. */
    NsFormHeader headers[NS_FORM_MAX_HEADERS]; /* Further ones are dropped. */
    int          nHeaders;
} NsFormPart;

typedef void NsFormPartProc(const NsFormPart *partPtr, void *arg);

/*
 * Whether a content type is multipart/form-data with a boundary.
 */
bool NsFormIsMultipart(const char *contentType);

/*
 * Call proc for each part that has a name, not the server's.  A body that
 * breaks off ends its last part there.  NS_ERROR: the type is not
 * multipart/form-data.
 */
Ns_ReturnCode NsFormParseMultipart(const NsFormSource *sourcePtr,
                                   const char         *contentType,
                                   Tcl_Encoding encoding, NsFormPartProc *proc,
                                   void *arg);

#endif

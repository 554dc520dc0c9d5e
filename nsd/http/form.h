/*
 * form.h --
 *
 *      Forms: queries, URL-encoded bodies, multipart/form-data (RFC 7578).
 *
 *      The server adds the keys NAME.tmpfile and NAME.content-type for each
 *      uploaded file, and scripts trust them.  So no parser here takes a field
 *      of such a name from the client, in whatever case: it is dropped.
 */

#ifndef NSD_HTTP_FORM_H
#define NSD_HTTP_FORM_H

#include "nsset.h"
#include "nsstring.h"

/*
 * Append the fields of `a=b&c=d`, decoded, to a set.  A field without an equals
 * sign has a NULL value.  NULL as encoding means UTF-8.  A value that no Tcl
 * string can hold, hundreds of megabytes long, is cut.
 */
void NsFormParseQuery(const char *text, size_t length, Tcl_Encoding encoding,
                      Ns_Set *setPtr);

/*
 * Whether the server alone may add a field of this name.
 */
bool NsFormIsServerKey(const char *name);

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
    const char  *fileName;      /* As sent; NULL without one. */
    const char  *content;
    size_t       contentLength;
    size_t       contentOffset; /* In the source. */
    NsFormHeader headers[NS_FORM_MAX_HEADERS];  /* Further ones are dropped. */
    int          nHeaders;
} NsFormPart;

typedef void (NsFormPartProc)(const NsFormPart *partPtr, void *arg);

/*
 * Whether a content type is multipart/form-data with a boundary.
 */
bool NsFormIsMultipart(const char *contentType);

/*
 * Call proc for each part that has a name, not the server's.  A body that breaks off ends its
 * last part there.  NS_ERROR: the type is not multipart/form-data.
 */
Ns_ReturnCode NsFormParseMultipart(const NsFormSource *sourcePtr,
                                   const char *contentType,
                                   Tcl_Encoding encoding,
                                   NsFormPartProc *proc, void *arg);

/*
 * Append bytes of a part, read in the encoding.
 */
void NsFormDecode(Ns_DString *dsPtr, const char *bytes, size_t length,
                  Tcl_Encoding encoding);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * return.h --
 *
 *      Whole replies whose body may be asked for in ranges.
 */

#ifndef NSD_REQUEST_RETURN_H
#define NSD_REQUEST_RETURN_H

#include "http/precondition.h"
#include "request/conn.h"

typedef struct NsBody {
    int          fd;   /* -1: memory. */
    const void  *base; /* Memory. */
    size_t       length;
    NsValidators validators;        /* For If-Range. */
    void (*releaseProc)(void *arg); /* Called once, also on failure; */
    void *arg;                      /* without one, the body is the caller's. */
} NsBody;

/*
 * Answer with a body, or with the ranges of it that the client wants, and
 * finish the reply.  type NULL: no Content-Type.
 */
int NsReturnBody(NsConn *connPtr, int status, const char *type,
                 const NsBody *bodyPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * replybody.h --
 *
 *      The body of a reply as it comes in: decompressed, counted, and kept in
 *      memory or, when it is large, in a file.
 *
 *      Owned by one thread at a time.
 */

#ifndef NSD_NET_REPLYBODY_H
#define NSD_NET_REPLYBODY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "nsstring.h"

/*
 * Called with decoded bytes.  False from the first one: they are not kept.  An
 * error is a text that lives on; NULL: none.
 */
typedef const char *NsReplyDataProc(const char *data, size_t length,
                                    bool *isKeptPtr, void *arg);

typedef struct NsReplyBodySpec {
    int64_t          maxInMemory; /* Above, all goes to a file; -1: no limit. */
    uint64_t         maxBytes;    /* Of the decoded body; 0: no limit. */
    const char      *file;        /* NULL: a new temporary one. */
    bool             isRaw;       /* Do not decompress. */
    NsReplyDataProc *dataProc;    /* Sees all; or NULL. */
    NsReplyDataProc *largeProc;   /* Gets what would go to the file; or NULL. */
    void            *arg;
} NsReplyBodySpec;

typedef struct NsReplyBody NsReplyBody;

/*
 * The file's name is copied.  Destroy removes the file, unless it was taken.
 */
NsReplyBody *NsReplyBodyCreate(const NsReplyBodySpec *specPtr);
void         NsReplyBodyDestroy(NsReplyBody **bodyPtrPtr);

/*
 * Before the first byte: it is compressed.  Put: NULL, or what went wrong; the
 * text lives as long as the body.  End: the last byte was put.
 */
void        NsReplyBodySetGzip(NsReplyBody *bodyPtr);
const char *NsReplyBodyPut(NsReplyBody *bodyPtr, const char *data,
                           size_t length);
const char *NsReplyBodyEnd(NsReplyBody *bodyPtr);

/*
 * What is in memory; NULL: all of it is in a file, or went elsewhere.
 */
const char *NsReplyBodyBytes(const NsReplyBody *bodyPtr, size_t *lengthPtr);

/*
 * The file, or NULL.  Take: it stays when the body is destroyed.
 */
const char *NsReplyBodyFile(const NsReplyBody *bodyPtr);
void        NsReplyBodyTakeFile(NsReplyBody *bodyPtr);

/*
 * Decoded bytes so far.  Any thread.
 */
uint64_t NsReplyBodyLength(const NsReplyBody *bodyPtr);

#endif

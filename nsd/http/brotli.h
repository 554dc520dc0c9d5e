/* SPDX-License-Identifier: MPL-2.0
 * brotli.h --
 *
 *      Bodies as Brotli data (RFC 7932), in one run or as a stream.
 */

#ifndef NSD_HTTP_BROTLI_H
#define NSD_HTTP_BROTLI_H

#include "nsstring.h"

/*
 * The state of one body; it does not serve for another.
 */
typedef struct NsBrotli NsBrotli;

/*
 * Whether this build can make Brotli data.
 */
bool NsBrotliIsBuiltIn(void);

/*
 * Begin a body of so many bytes, 0 when that is not known, at a level from 1
 * to 9.  NULL: not built in.
 */
NsBrotli *NsBrotliCreate(int level, size_t bytes);
void      NsBrotliDestroy(NsBrotli **brotliPtrPtr);

/*
 * Append compressed bytes, so that all given so far can be read; with isLast
 * the body ends.
 */
Ns_ReturnCode NsBrotliAppend(NsBrotli *brotliPtr, const struct iovec *bufs,
                             int nBufs, Ns_DString *dsPtr, bool isLast);

#endif

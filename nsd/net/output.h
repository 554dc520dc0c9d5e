/* SPDX-License-Identifier: MPL-2.0
 * output.h --
 *
 *      Pieces of output that wait for a client to take them.
 *
 *      A list of memory and file ranges, in order.  Borrowed pieces stay where
 *      they are; other memory is copied, and moves to an unlinked temporary
 *      file when more than a bound would be held.
 */

#ifndef NSD_NET_OUTPUT_H
#define NSD_NET_OUTPUT_H

#include "net/sock.h"

#define NS_OUTPUT_PIECES 16 /* Pieces of one send, at most. */

typedef struct NsOutputNode NsOutputNode;

/*
 * Owned by one thread, or guarded by its user's lock.
 */
typedef struct NsOutput {
    NsOutputNode *firstPtr;
    NsOutputNode *lastPtr;
    int64_t       bytes; /* Not yet consumed. */
} NsOutput;

/*
 * The place for copies.  Owned by the thread that produces the output.
 */
typedef struct NsOutputStore {
    int64_t memoryBytes;    /* Copied so far. */
    int64_t maxMemoryBytes; /* Constant. */
    int     fd;             /* The temporary file, or -1. */
    off_t   fileBytes;
} NsOutputStore;

void NsOutputStoreInit(NsOutputStore *storePtr, int64_t maxMemoryBytes);

/*
 * Close the file; all pieces that were made with the store must be gone.
 */
void NsOutputStoreFree(NsOutputStore *storePtr);

/*
 * Append the pieces without their first skip bytes.  NS_ERROR when the
 * temporary file cannot be written or a descriptor not be duplicated, or when
 * all temporary files together would exceed their limit; then nothing is
 * appended, but all borrowed pieces are released.
 */
Ns_ReturnCode NsOutputAppend(NsOutput *outputPtr, NsOutputStore *storePtr,
                             const NsPiece *pieces, int nPieces, size_t skip);

/*
 * Append all of fromPtr, and empty it.
 */
void NsOutputMove(NsOutput *outputPtr, NsOutput *fromPtr);

/*
 * The first pieces, at most maxVecs of them and about maxBytes; their number.
 */
int NsOutputPeek(const NsOutput *outputPtr, Ns_FileVec *vecs, int maxVecs,
                 size_t maxBytes);

/*
 * The first bytes are sent: release what is complete.
 */
void NsOutputConsume(NsOutput *outputPtr, size_t bytes);

/*
 * The descriptor of the first piece; -1 for memory, or when empty.
 */
int NsOutputFd(const NsOutput *outputPtr);

/*
 * Release all.
 */
void NsOutputClear(NsOutput *outputPtr);

/*
 * Release borrowed pieces that were not appended anywhere.
 */
void NsPiecesRelease(const NsPiece *pieces, int nPieces);

#endif

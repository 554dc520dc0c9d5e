/* SPDX-License-Identifier: MPL-2.0
 * output.c --
 *
 *      A list of pieces; see output.h.
 */

#include "net/output.h"
#include "net/budget.h"
#include "net/spool.h"
#include "nslog.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/episode.h"

struct NsOutputNode {
    NsOutputNode *nextPtr;
    NsPiece       piece; /* The rest of it. */
    bool          ownsFd;
    int64_t       budgetBytes; /* Of NS_BUDGET_REPLIES. */
    char          copy[];      /* Bytes of a copied piece. */
};

static NsOutputNode *MakeNode(NsOutputStore *storePtr, const NsPiece *piecePtr,
                              size_t skip);
static NsOutputNode *Copy(const char *bytes, size_t length);
static NsOutputNode *CopyToFile(NsOutputStore *storePtr, const char *bytes,
                                size_t length);
static NsOutputNode *CopyInstead(const char *bytes, size_t length);
static void          FreeNode(NsOutputNode *nodePtr);

void
NsOutputStoreInit(NsOutputStore *storePtr, int64_t maxMemoryBytes)
{
    *storePtr = (NsOutputStore){.maxMemoryBytes = maxMemoryBytes, .fd = -1};
}

void
NsOutputStoreFree(NsOutputStore *storePtr)
{
    if (storePtr->fd >= 0) {
        NsClose(storePtr->fd);
        storePtr->fd = -1;
    }
    NsAssert(storePtr->fileBytes >= 0);
    NsSpoolGive(NS_SPOOL_REPLIES, storePtr->fileBytes);
    storePtr->fileBytes = 0;
}

Ns_ReturnCode
NsOutputAppend(NsOutput *outputPtr, NsOutputStore *storePtr,
               const NsPiece *pieces, int nPieces, size_t skip)
{
    NsOutput added = {0};

    for (int i = 0; i < nPieces; i++) {
        NsOutputNode *nodePtr;

        if (skip >= pieces[i].length) {
            skip -= pieces[i].length;
            NsPiecesRelease(&pieces[i], 1);
            continue;
        }
        nodePtr = MakeNode(storePtr, &pieces[i], skip);
        if (nodePtr == NULL) {
            NsPiecesRelease(&pieces[i], nPieces - i);
            NsOutputClear(&added);
            return NS_ERROR;
        }
        skip = 0u;
        if (added.lastPtr != NULL) {
            added.lastPtr->nextPtr = nodePtr;
        } else {
            added.firstPtr = nodePtr;
        }
        added.lastPtr = nodePtr;
        added.bytes += (int64_t) nodePtr->piece.length;
    }
    NsOutputMove(outputPtr, &added);
    return NS_OK;
}

void
NsOutputMove(NsOutput *outputPtr, NsOutput *fromPtr)
{
    NsAssert((fromPtr->firstPtr == NULL) == (fromPtr->bytes == 0));
    if (fromPtr->firstPtr == NULL) {
        return;
    }
    NsAssert(fromPtr->lastPtr->nextPtr == NULL);
    if (outputPtr->lastPtr != NULL) {
        outputPtr->lastPtr->nextPtr = fromPtr->firstPtr;
    } else {
        outputPtr->firstPtr = fromPtr->firstPtr;
    }
    outputPtr->lastPtr = fromPtr->lastPtr;
    outputPtr->bytes += fromPtr->bytes;
    *fromPtr = (NsOutput){0};
}

int
NsOutputPeek(const NsOutput *outputPtr, Ns_FileVec *vecs, int maxVecs,
             size_t maxBytes)
{
    int n = 0;

    for (const NsOutputNode *nodePtr = outputPtr->firstPtr;
         nodePtr != NULL && n < maxVecs && maxBytes > 0u;
         nodePtr = nodePtr->nextPtr) {
        const NsPiece *piecePtr = &nodePtr->piece;
        size_t         length = MIN(piecePtr->length, maxBytes);

        if (piecePtr->fd >= 0) {
            Ns_SetFileVec(vecs, n, piecePtr->fd, NULL, piecePtr->offset,
                          length);
        } else {
            Ns_SetFileVec(vecs, n, -1, piecePtr->base, 0, length);
        }
        maxBytes -= length;
        n++;
    }
    return n;
}

void
NsOutputConsume(NsOutput *outputPtr, size_t bytes)
{
    NsAssert((int64_t) bytes <= outputPtr->bytes);
    outputPtr->bytes -= (int64_t) bytes;
    while (outputPtr->firstPtr != NULL) {
        NsOutputNode *nodePtr = outputPtr->firstPtr;

        if (bytes < nodePtr->piece.length) {
            nodePtr->piece.length -= bytes;
            if (nodePtr->piece.fd >= 0) {
                nodePtr->piece.offset += (off_t) bytes;
            } else {
                nodePtr->piece.base = (const char *) nodePtr->piece.base
                    + bytes;
            }
            return;
        }
        bytes -= nodePtr->piece.length;
        NsAssert(nodePtr->nextPtr != NULL || outputPtr->lastPtr == nodePtr);
        outputPtr->firstPtr = nodePtr->nextPtr;
        if (outputPtr->firstPtr == NULL) {
            outputPtr->lastPtr = NULL;
        }
        FreeNode(nodePtr);
    }
}

int
NsOutputFd(const NsOutput *outputPtr)
{
    return outputPtr->firstPtr == NULL ? -1 : outputPtr->firstPtr->piece.fd;
}

void
NsOutputClear(NsOutput *outputPtr)
{
    while (outputPtr->firstPtr != NULL) {
        NsOutputNode *nodePtr = outputPtr->firstPtr;

        outputPtr->firstPtr = nodePtr->nextPtr;
        FreeNode(nodePtr);
    }
    *outputPtr = (NsOutput){0};
}

void
NsPiecesRelease(const NsPiece *pieces, int nPieces)
{
    for (int i = 0; i < nPieces; i++) {
        if (pieces[i].releaseProc != NULL) {
            pieces[i].releaseProc(pieces[i].arg);
        }
    }
}

/*
 * A node for the piece without its first bytes; NULL when that fails.  The
 * node then releases a borrowed piece; else it stays the caller's.
 */
static NsOutputNode *
MakeNode(NsOutputStore *storePtr, const NsPiece *piecePtr, size_t skip)
{
    NsOutputNode *nodePtr;
    bool          isBorrowed = piecePtr->releaseProc != NULL;
    size_t        length = piecePtr->length - skip;

    NsAssert(skip < piecePtr->length);
    if (piecePtr->fd < 0 && !isBorrowed) {
        const char *bytes = (const char *) piecePtr->base + skip;

        if (storePtr->memoryBytes + (int64_t) length
            <= storePtr->maxMemoryBytes) {
            storePtr->memoryBytes += (int64_t) length;
            return Copy(bytes, length);
        }
        nodePtr = CopyToFile(storePtr, bytes, length);
        return nodePtr != NULL ? nodePtr : CopyInstead(bytes, length);
    }
    nodePtr = ns_calloc(1u, sizeof(NsOutputNode));
    nodePtr->piece = *piecePtr;
    nodePtr->piece.length = length;
    if (piecePtr->fd < 0) {
        nodePtr->piece.base = (const char *) piecePtr->base + skip;
        return nodePtr;
    }
    nodePtr->piece.offset += (off_t) skip;
    if (!isBorrowed) {
        nodePtr->piece.fd = fcntl(piecePtr->fd, F_DUPFD_CLOEXEC, 0);
        nodePtr->ownsFd = true;
        if (nodePtr->piece.fd < 0) {
            ns_free(nodePtr);
            nodePtr = NULL;
        }
    }
    return nodePtr;
}

static NsOutputNode *
Copy(const char *bytes, size_t length)
{
    NsOutputNode *nodePtr = ns_malloc(sizeof(NsOutputNode) + length);

    *nodePtr = (NsOutputNode){
        .piece = {.fd = -1, .base = nodePtr->copy, .length = length}};
    memcpy(nodePtr->copy, bytes, length);
    return nodePtr;
}

static NsOutputNode *
CopyToFile(NsOutputStore *storePtr, const char *bytes, size_t length)
{
    NsOutputNode *nodePtr;

    if (storePtr->fd < 0) {
        storePtr->fd = NsSpoolOpen(NULL);
    }
    if (storePtr->fd < 0
        || !NsSpoolWrite(NS_SPOOL_REPLIES, storePtr->fd, bytes, length,
                         storePtr->fileBytes)) {
        return NULL;
    }
    nodePtr = ns_calloc(1u, sizeof(NsOutputNode));
    nodePtr->piece.fd = storePtr->fd;
    nodePtr->piece.offset = storePtr->fileBytes;
    nodePtr->piece.length = length;
    storePtr->fileBytes += (off_t) length;
    return nodePtr;
}

/*
 * In memory, since a full disk, or a lack of descriptors, is no reason to cut
 * the reply of a client that takes it soon.  A limit that was set is one.
 */
static NsOutputNode *
CopyInstead(const char *bytes, size_t length)
{
    static NsEpisode shortage;
    int              reason = errno;
    const char      *directory = NsSpoolDirectory(NULL);
    NsOutputNode    *nodePtr;

    if (reason == EDQUOT
        || !NsBudgetTake(NS_BUDGET_REPLIES, (int64_t) length)) {
        errno = reason;
        return NULL;
    }
    if (NsEpisodeBegins(&shortage)) {
        Ns_Log(Warning,
               "driver: cannot write replies to a temporary file%s%s: %s; up "
               "to 64 MB wait in memory instead",
               directory == NULL ? "" : " in ",
               directory == NULL ? "" : directory,
               NsSpoolReason(NS_SPOOL_REPLIES, reason));
    }
    nodePtr = Copy(bytes, length);
    nodePtr->budgetBytes = (int64_t) length;
    return nodePtr;
}

static void
FreeNode(NsOutputNode *nodePtr)
{
    NsBudgetGive(NS_BUDGET_REPLIES, nodePtr->budgetBytes);
    if (nodePtr->ownsFd) {
        NsClose(nodePtr->piece.fd);
    }
    NsPiecesRelease(&nodePtr->piece, 1);
    ns_free(nodePtr);
}

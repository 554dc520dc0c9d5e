/* SPDX-License-Identifier: MPL-2.0
 * arena.c --
 *
 *      Memory that lives as long as one request.
 *
 *      Blocks form a list, the current one first and the one that a reset keeps
 *      last.  Each new block is twice as large as the one before, so their
 *      number stays small.
 */

#include "base/arena.h"
#include "nsthread.h"

#include <stdalign.h>

#define ALIGN      alignof(max_align_t)
#define MIN_BYTES  256
#define MAX_GROWTH ((size_t) 1 << 20) /* Blocks do not double beyond this. */

struct NsArenaBlock {
    NsArenaBlock *olderPtr;
    size_t        bytes;
    alignas(max_align_t) char memory[];
};

static void *AllocFromNewBlock(NsArena *arenaPtr, size_t bytes)
    __attribute__((noinline));
static void PushBlock(NsArena *arenaPtr, size_t bytes);

/*
 * The first block comes with the first piece: an idle connection's arena costs
 * nothing.
 */
void
NsArenaInit(NsArena *arenaPtr, size_t firstBytes)
{
    *arenaPtr = (NsArena){.firstBytes = MAX(firstBytes, MIN_BYTES)};
}

void
NsArenaFree(NsArena *arenaPtr)
{
    NsArenaBlock *blockPtr = arenaPtr->blockPtr;

    while (blockPtr != NULL) {
        NsArenaBlock *olderPtr = blockPtr->olderPtr;

        ns_free(blockPtr);
        blockPtr = olderPtr;
    }
    NsArenaInit(arenaPtr, arenaPtr->firstBytes);
}

void
NsArenaReset(NsArena *arenaPtr)
{
    NsArenaBlock *blockPtr = arenaPtr->blockPtr;

    if (blockPtr == NULL) {
        return;
    }
    while (blockPtr->olderPtr != NULL) {
        NsArenaBlock *olderPtr = blockPtr->olderPtr;

        ns_free(blockPtr);
        blockPtr = olderPtr;
    }
    arenaPtr->blockPtr = blockPtr;
    arenaPtr->next = blockPtr->memory;
    arenaPtr->end = blockPtr->memory + blockPtr->bytes;
}

void *
NsArenaAlloc(NsArena *arenaPtr, size_t bytes)
{
    void  *piece = arenaPtr->next;
    size_t room = (size_t) (arenaPtr->end - arenaPtr->next);

    /* Rounding up cannot overflow: larger requests fail in ns_malloc. */
    if (unlikely(bytes > room || room - bytes < ALIGN)) {
        return AllocFromNewBlock(arenaPtr, bytes);
    }
    arenaPtr->next += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return piece;
}

void *
NsArenaZalloc(NsArena *arenaPtr, size_t bytes)
{
    return memset(NsArenaAlloc(arenaPtr, bytes), 0, bytes);
}

char *
NsArenaDup(NsArena *arenaPtr, const char *string, size_t length)
{
    char *copy = NsArenaAlloc(arenaPtr, length + 1);

    memcpy(copy, string, length);
    copy[length] = '\0';
    return copy;
}

/*
 * Apart from Alloc, which each request calls twenty times.
 */
static void *
AllocFromNewBlock(NsArena *arenaPtr, size_t bytes)
{
    size_t last = arenaPtr->blockPtr != NULL
        ? MIN(arenaPtr->blockPtr->bytes, MAX_GROWTH) * 2
        : arenaPtr->firstBytes;

    if (bytes > SIZE_MAX / 2) {
        (void) ns_malloc(bytes); /* Fatal. */
    }
    if (arenaPtr->blockPtr == NULL && bytes + ALIGN > last) {
        /* A huge first piece must not become the block that a reset keeps. */
        PushBlock(arenaPtr, arenaPtr->firstBytes);
    }
    PushBlock(arenaPtr, MAX(last, bytes + ALIGN));
    return NsArenaAlloc(arenaPtr, bytes);
}

static void
PushBlock(NsArena *arenaPtr, size_t bytes)
{
    NsArenaBlock *blockPtr;

    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    blockPtr = ns_malloc(sizeof(NsArenaBlock) + bytes);
    blockPtr->bytes = bytes;
    blockPtr->olderPtr = arenaPtr->blockPtr;
    arenaPtr->blockPtr = blockPtr;
    arenaPtr->next = blockPtr->memory;
    arenaPtr->end = blockPtr->memory + bytes;
}

/* SPDX-License-Identifier: MPL-2.0
 * arena.h --
 *
 *      Memory that lives as long as one request.
 *
 *      Pieces are taken from a block and released all at once.  A reset keeps
 *      the first block, so that a request of usual size allocates nothing.
 */

#ifndef NSD_BASE_ARENA_H
#define NSD_BASE_ARENA_H

#include "nstypes.h"

typedef struct NsArenaBlock NsArenaBlock;

/*
 * Owned by one thread at a time; no lock.
 */
typedef struct NsArena {
    char         *next;       /* First free byte of the current block. */
    char         *end;        /* Behind its last one. */
    NsArenaBlock *blockPtr;   /* Current block; the others hang on it. */
    size_t        firstBytes; /* Size of the block that a reset keeps. */
} NsArena;

void NsArenaInit(NsArena *arenaPtr, size_t firstBytes);
void NsArenaFree(NsArena *arenaPtr);

/*
 * Release all pieces; keep the first block.
 */
void NsArenaReset(NsArena *arenaPtr);

/*
 * Memory aligned for any type, not initialized; Zalloc clears it.  Never NULL.
 */
void *NsArenaAlloc(NsArena *arenaPtr, size_t bytes);
void *NsArenaZalloc(NsArena *arenaPtr, size_t bytes);

/*
 * A copy of length bytes with a null byte behind them.
 */
char *NsArenaDup(NsArena *arenaPtr, const char *string, size_t length);

#endif

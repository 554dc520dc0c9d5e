/* SPDX-License-Identifier: MPL-2.0
 * memory.h --
 *
 *      What the allocator knows about itself.
 */

#ifndef NSD_BASE_MEMORY_H
#define NSD_BASE_MEMORY_H

#include "nsthread.h"

typedef struct NsMemoryStats {
    const char *allocator; /* "tcmalloc" or "libc". */
    size_t      allocated; /* Bytes that are in use. */
    size_t      heap;      /* Bytes that it has taken from the system. */
    size_t      unmapped;  /* Of these, given back but for their addresses. */
} NsMemoryStats;

void NsMemoryGetStats(NsMemoryStats *statsPtr);

/*
 * Give what is not in use back to the system.
 */
void NsMemoryRelease(void);

/*
 * The allocator's version; "unknown" if it does not report one.
 */
const char *NsMemoryVersion(void);

#endif

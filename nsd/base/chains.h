/* SPDX-License-Identifier: MPL-2.0
 * chains.h --
 *
 *      A hash table of items that bring their own link.
 *
 *      There are about as many chains as items.  With each item that is added,
 *      at most one chain is split in two, so growing never takes longer for one
 *      item than for another.  Not thread-safe.
 */

#ifndef NSD_BASE_CHAINS_H
#define NSD_BASE_CHAINS_H

#include "nstypes.h"

/*
 * The first member of an item; nobody else changes it while the item is in the
 * table.
 */
typedef struct NsChainLink {
    struct NsChainLink *nextPtr;
    uint32_t            hash;
} NsChainLink;

typedef struct NsChains {
    NsChainLink **heads;
    uint32_t      nHeads; /* Chains in use. */
    uint32_t      mask;   /* Room for one chain more than this. */
    uint32_t      nItems;
} NsChains;

void NsChainsInit(NsChains *chainsPtr);

/*
 * The items, if there are any, remain the caller's.
 */
void NsChainsFree(NsChains *chainsPtr);

/*
 * Add an item, the hash of which is set; remove one that is there.
 */
void NsChainsAdd(NsChains *chainsPtr, NsChainLink *linkPtr);
void NsChainsRemove(NsChains *chainsPtr, NsChainLink *linkPtr);

/*
 * The chain in which items of this hash are, among others.
 */
static inline NsChainLink **
NsChainsHead(const NsChains *chainsPtr, uint32_t hash)
{
    uint32_t i = hash & chainsPtr->mask;

    if (i >= chainsPtr->nHeads) {
        i &= chainsPtr->mask >> 1;
    }
    return &chainsPtr->heads[i];
}

#endif

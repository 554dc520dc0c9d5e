/* SPDX-License-Identifier: MPL-2.0
 * chains.c --
 *
 *      A hash table that grows by one chain at a time.
 *
 *      The number of a chain is the end of the hash of its items: as many bits
 *      as the mask has, or one less for chains that have not been split yet in
 *      this round, and for those that come from them.
 */

#include "base/chains.h"

#include "nsthread.h"
#include "base/assert.h"

#define FIRST_HEADS 256u

static void Split(NsChains *chainsPtr);

void
NsChainsInit(NsChains *chainsPtr)
{
    *chainsPtr = (NsChains){
        .heads = ns_calloc(FIRST_HEADS, sizeof(NsChainLink *)),
        .nHeads = FIRST_HEADS,
        .mask = FIRST_HEADS - 1u};
}

void
NsChainsFree(NsChains *chainsPtr)
{
    ns_free(chainsPtr->heads);
    chainsPtr->heads = NULL;
}

void
NsChainsAdd(NsChains *chainsPtr, NsChainLink *linkPtr)
{
    NsChainLink **headPtr;

    if (chainsPtr->nItems >= chainsPtr->nHeads) {
        Split(chainsPtr);
    }
    headPtr = NsChainsHead(chainsPtr, linkPtr->hash);
    linkPtr->nextPtr = *headPtr;
    *headPtr = linkPtr;
    chainsPtr->nItems++;
}

void
NsChainsRemove(NsChains *chainsPtr, NsChainLink *linkPtr)
{
    NsChainLink **nextPtr = NsChainsHead(chainsPtr, linkPtr->hash);

    NsAssert(chainsPtr->nItems > 0);
    while (*nextPtr != linkPtr) {
        NsAssert(*nextPtr != NULL);
        nextPtr = &(*nextPtr)->nextPtr;
    }
    *nextPtr = linkPtr->nextPtr;
    linkPtr->nextPtr = NULL;
    chainsPtr->nItems--;
}

/*
 * Divide the next chain by one bit more.
 */
static void
Split(NsChains *chainsPtr)
{
    NsChainLink *linkPtr, *nextPtr, **headPtr;
    uint32_t new = chainsPtr->nHeads;

    if (new > chainsPtr->mask) {
        NsAssert(new == chainsPtr->mask + 1u && new <= UINT32_MAX / 2u);
        chainsPtr->mask = 2u * new - 1u;
        chainsPtr->heads = ns_realloc(chainsPtr->heads,
                                      ((size_t) chainsPtr->mask + 1u)
                                          * sizeof(NsChainLink *));
    }
    chainsPtr->heads[new] = NULL;
    headPtr = &chainsPtr->heads[new &(chainsPtr->mask >> 1)];
    linkPtr = *headPtr;
    *headPtr = NULL;
    chainsPtr->nHeads++;
    for (; linkPtr != NULL; linkPtr = nextPtr) {
        nextPtr = linkPtr->nextPtr;
        headPtr = NsChainsHead(chainsPtr, linkPtr->hash);
        linkPtr->nextPtr = *headPtr;
        *headPtr = linkPtr;
    }
}

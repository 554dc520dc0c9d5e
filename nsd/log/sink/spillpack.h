/* SPDX-License-Identifier: MPL-2.0
 * spillpack.h --
 *
 *      Frames of a spill file, packed into blocks.
 *
 *      A block stands for itself: it needs no other to be read, and it says how
 *      long it is, how many frames it has, and how each part is written.  Its
 *      sums show when it was changed.
 *
 *      What is alike in all records goes into columns: the times, the lanes,
 *      the members of access records, their addresses, requests, referers, and
 *      so on.  A number is the difference from the record before; a text that
 *      the block has already is the number of that one.  Then each column is
 *      compressed, if the library is there: numbers among texts would hide that
 *      the texts repeat.
 */

#ifndef NSD_LOG_SPILLPACK_H
#define NSD_LOG_SPILLPACK_H

#include "log/ring/ring.h"

/*
 * A whole record in the file; its bytes follow.
 */
typedef struct NsSpillFrame {
    uint64_t     start;  /* The record's position in its lane, */
    uint64_t     next;   /* and the one behind it. */
    NsRingRecord record; /* With kind and pad as below. */
} NsSpillFrame;

/* Besides NS_RING_WHOLE: the bytes are a structure of the sink. */
#define NS_SPILL_NOTE 2u
/* In pad: the record has passed the sink's settings. */
#define NS_SPILL_JUDGED 1u

static inline size_t
NsSpillFrameBytes(const NsSpillFrame *framePtr)
{
    return sizeof(*framePtr) + NS_RING_ALIGN((size_t) framePtr->record.length);
}

/*
 * The start of a block; its content and up to 7 null bytes follow.
 */
typedef struct NsSpillBlock {
    uint32_t magic;
    uint32_t epoch;      /* Low bits of the mapping's. */
    uint32_t bytes;      /* Of the content. */
    uint32_t nFrames;    /* At least 1, at most NS_SPILL_MAX_FRAMES. */
    uint32_t nRecords;   /* Those of them that are not notes. */
    uint32_t frameBytes; /* Of all frames, unpacked. */
    uint64_t sum;        /* Of the content. */
    uint64_t headSum;    /* Of the members above. */
} NsSpillBlock;

/* More makes a block smaller, but takes more memory. */
#define NS_SPILL_BLOCK_BYTES ((size_t) 1 << 20)
#define NS_SPILL_MAX_FRAMES  65535u
/* A block with one record takes at most so many bytes more than the frame. */
#define NS_SPILL_BLOCK_EXTRA 256u

static inline uint64_t
NsSpillBlockBytes(const NsSpillBlock *blockPtr)
{
    return sizeof(*blockPtr) + NS_RING_ALIGN((uint64_t) blockPtr->bytes);
}

/*
 * Whether this build compresses, and can read what is compressed.
 */
bool NsSpillCompresses(void);

/*
 * Memory for packing or unpacking one block after the other.
 */
typedef struct NsSpillPacker   NsSpillPacker;
typedef struct NsSpillUnpacker NsSpillUnpacker;

NsSpillPacker   *NsSpillPackerCreate(void);
void             NsSpillPackerDestroy(NsSpillPacker **packerPtrPtr);
NsSpillUnpacker *NsSpillUnpackerCreate(void);
void             NsSpillUnpackerDestroy(NsSpillUnpacker **unpackerPtrPtr);

/*
 * Make a block of the frames, which fill `length` bytes, are all of one epoch,
 * and no more than NS_SPILL_MAX_FRAMES.  Their checksums and sequences are left
 * out, and so is `total`, which is `length` or, in a note, 0.  The block is
 * valid until the next call; NsSpillBlockBytes tells its length.
 */
const NsSpillBlock *NsSpillPack(NsSpillPacker *packerPtr, const void *frames,
                                size_t length, bool isCompressed);

/*
 * What is at a block's head is one, of this epoch.
 */
bool NsSpillBlockIsSound(const NsSpillBlock *blockPtr, uint32_t epoch);

/*
 * The frames of a block whose head is sound and is followed by its content:
 * frameBytes bytes, valid until the next call.  Their lanes are below nLanes.
 * NULL: the content is damaged.
 */
const char *NsSpillUnpack(NsSpillUnpacker    *unpackerPtr,
                          const NsSpillBlock *blockPtr, uint32_t nLanes);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * fuzz_spill.c --
 *
 *      Blocks of spill files: what comes out of one is whole frames, and what
 *      they are packed into comes out as it was.
 *
 *      An input is the number of frames, a byte that says in how many bytes
 *      they are, and the content of the block, whose sums are right; or, read
 *      the other way, the bytes of records.
 */

#include "fuzz.h"

#include "log/sink/spillpack.h"

#define NLANES 100u

static void Unpack(const uint8_t *data, size_t length);
static void PackAndUnpack(const uint8_t *data, size_t length);
static void CheckSame(const char *frames, size_t length, bool isCompressed);

static NsSpillPacker   *packerPtr;
static NsSpillUnpacker *unpackerPtr;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (packerPtr == NULL) {
        packerPtr = NsSpillPackerCreate();
        unpackerPtr = NsSpillUnpackerCreate();
    }
    if (length >= 3) {
        Unpack(data, length);
        PackAndUnpack(data, length);
    }
    return 0;
}

static void
Unpack(const uint8_t *data, size_t length)
{
    size_t       n = length - 2;
    NsSpillBlock block = {
        .bytes = (uint32_t) n, .nFrames = 1 + data[0] % 16u, .epoch = 1};
    char       *copy;
    const char *frames;
    char       *own;
    size_t      at = 0;

    /* The magic word, from a block of our own. */
    block.magic = NsSpillPack(packerPtr,
                              &(NsSpillFrame){.record = {.epoch = 1}},
                              sizeof(NsSpillFrame), false)
                      ->magic;
    block.frameBytes = block.nFrames * (uint32_t) sizeof(NsSpillFrame)
        + data[1] * 8u;
    block.sum = NsRingSum(block.nFrames, data + 2, n);
    block.headSum = NsRingSum(0, &block, offsetof(NsSpillBlock, headSum));
    copy = malloc(sizeof(block) + n);
    memcpy(copy, &block, sizeof(block));
    memcpy(copy + sizeof(block), data + 2, n);
    FuzzAssert(NsSpillBlockIsSound((const void *) copy, 1));
    frames = NsSpillUnpack(unpackerPtr, (const void *) copy, NLANES);
    if (frames != NULL) {
        for (unsigned i = 0; i < block.nFrames; i++) {
            const NsSpillFrame *framePtr = (const void *) (frames + at);

            FuzzAssert(framePtr->record.lane < NLANES);
            at += NsSpillFrameBytes(framePtr);
            FuzzAssert(at <= block.frameBytes);
        }
        FuzzAssert(at == block.frameBytes);
        own = malloc(at);
        memcpy(own, frames, at);
        CheckSame(own, at, false);
        free(own);
    }
    free(copy);
}

/*
 * Each record begins with a byte that says what it is like, and one with its
 * length, in units of 4.
 */
static void
PackAndUnpack(const uint8_t *data, size_t length)
{
    size_t   room = (length / 2 + 1) * (sizeof(NsSpillFrame) + 8) + length;
    char    *frames = calloc(1, room);
    size_t   at = 0;
    uint64_t position = 64;

    while (length >= 2) {
        size_t       n = data[1] * (size_t) 4;
        NsSpillFrame frame = {.record = {.epoch = 1}};

        n = n < length - 2 ? n : length - 2;
        frame.start = position;
        position += sizeof(NsRingRecord) + NS_RING_ALIGN(n) + (data[0] & 1);
        frame.next = position;
        frame.record.length = (uint32_t) n;
        frame.record.kind = (data[0] & 2) != 0 ? NS_SPILL_NOTE : NS_RING_WHOLE;
        frame.record.total = (data[0] & 2) != 0 ? 0 : n;
        frame.record.pad = data[0] >> 2 & 1;
        frame.record.lane = data[0] >> 4;
        frame.record.severity = data[0];
        frame.record.time = (int64_t) (UINT64_MAX / 7 * data[0]);
        memcpy(frames + at, &frame, sizeof(frame));
        memcpy(frames + at + sizeof(frame), data + 2, n);
        at += NsSpillFrameBytes(&frame);
        FuzzAssert(at <= room);
        data += 2 + n;
        length -= 2 + n;
    }
    CheckSame(frames, at, NsSpillCompresses());
    free(frames);
}

static void
CheckSame(const char *frames, size_t length, bool isCompressed)
{
    const NsSpillBlock *blockPtr = NsSpillPack(packerPtr, frames, length,
                                               isCompressed);
    const char         *back = NsSpillUnpack(unpackerPtr, blockPtr, NLANES);

    FuzzAssert(back != NULL && blockPtr->frameBytes == length);
    FuzzAssert(memcmp(back, frames, length) == 0);
}

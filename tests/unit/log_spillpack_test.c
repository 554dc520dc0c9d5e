/* SPDX-License-Identifier: MPL-2.0
 * log_spillpack_test.c --
 *
 *      What is packed into a block of a spill file comes out as it was, takes
 *      little room, and a block that was changed is found out.
 */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "log/sink/spillpack.h"
#include "nsaccessline.h"
#include "nsthread.h"

#define EPOCH  12345u
#define NLANES 70000u /* More than a record can name. */

/*
 * Frames, one behind the other.
 */
typedef struct Frames {
    char  *bytes;
    size_t n;
} Frames;

static NsSpillPacker   *packerPtr;
static NsSpillUnpacker *unpackerPtr;

static int
SetUp(void **state)
{
    packerPtr = NsSpillPackerCreate();
    unpackerPtr = NsSpillUnpackerCreate();
    return 0;
}

static int
TearDown(void **state)
{
    NsSpillPackerDestroy(&packerPtr);
    NsSpillUnpackerDestroy(&unpackerPtr);
    return 0;
}

static void
Add(Frames *framesPtr, NsSpillFrame frame, const void *bytes, size_t length)
{
    char *to;

    frame.record.length = (uint32_t) length;
    frame.record.total = frame.record.kind == NS_SPILL_NOTE ? 0 : length;
    frame.record.epoch = EPOCH;
    framesPtr->bytes = ns_realloc(framesPtr->bytes,
                                  framesPtr->n + NsSpillFrameBytes(&frame));
    to = framesPtr->bytes + framesPtr->n;
    memset(to, 0, NsSpillFrameBytes(&frame));
    memcpy(to, &frame, sizeof(frame));
    memcpy(to + sizeof(frame), bytes, length);
    framesPtr->n += NsSpillFrameBytes(&frame);
}

/*
 * As long as that record would be in a lane, behind the one before.
 */
static NsSpillFrame
At(uint64_t *positionPtr, size_t length)
{
    NsSpillFrame frame = {
        .start = *positionPtr,
        .record = {.time = 1700000000000000000, .pad = NS_SPILL_JUDGED}};

    *positionPtr += sizeof(NsRingRecord) + NS_RING_ALIGN(length);
    frame.next = *positionPtr;
    return frame;
}

/*
 * The length of an access record in the buffer.
 */
static size_t
Access(char *buffer, const char *const *texts, const char *const *counted,
       uint32_t nCounted, int i)
{
    uint32_t        lengths[5];
    Ns_AccessRecord r = {
        .flags = NS_ACCESS_COMBINED,
        .status = 200,
        .bytesSent = 1000 + i % 7,
        .start = 1700000000000000 + i * 13,
        .acceptSpan = i % 11,
        .runSpan = 90 + i % 23,
        .nHeaders = nCounted / 2};
    size_t n = sizeof(r);

    for (int j = 0; j < 5; j++) {
        lengths[j] = (uint32_t) strlen(texts[j]);
        memcpy(buffer + n, texts[j], lengths[j]);
        n += lengths[j];
    }
    for (uint32_t j = 0; j < nCounted; j++) {
        uint32_t length = (uint32_t) strlen(counted[j]);

        memcpy(buffer + n, &length, sizeof(length));
        memcpy(buffer + n + sizeof(length), counted[j], length);
        n += sizeof(length) + length;
    }
    r.peerLength = lengths[0];
    r.userLength = lengths[1];
    r.requestLength = lengths[2];
    r.refererLength = lengths[3];
    r.agentLength = lengths[4];
    memcpy(buffer, &r, sizeof(r));
    return n;
}

/*
 * The block's length.
 */
static size_t
CheckPacked(const Frames *framesPtr, bool isCompressed)
{
    const NsSpillBlock *blockPtr = NsSpillPack(packerPtr, framesPtr->bytes,
                                               framesPtr->n, isCompressed);
    size_t              n = NsSpillBlockBytes(blockPtr);
    /* Exactly as long, so that a sanitizer sees each byte beyond it. */
    NsSpillBlock *copyPtr = malloc(n);
    const char   *frames;

    memcpy(copyPtr, blockPtr, n);
    assert_int_equal(n % sizeof(uint64_t), 0);
    assert_true(NsSpillBlockIsSound(copyPtr, EPOCH));
    assert_false(NsSpillBlockIsSound(copyPtr, EPOCH + 1));
    assert_int_equal(copyPtr->frameBytes, framesPtr->n);
    frames = NsSpillUnpack(unpackerPtr, copyPtr, NLANES);
    assert_non_null(frames);
    assert_memory_equal(frames, framesPtr->bytes, framesPtr->n);
    free(copyPtr);
    return n;
}

static void
Check(Frames *framesPtr)
{
    (void) CheckPacked(framesPtr, false);
    if (NsSpillCompresses()) {
        (void) CheckPacked(framesPtr, true);
    }
    ns_free(framesPtr->bytes);
    *framesPtr = (Frames){0};
}

static void
one_record_of_any_length_comes_out_as_it_was(void **state)
{
    static const size_t lengths[] = {
        0,  1,  7,  8,  9,    63,    64,    79,      80,
        81, 88, 84, 83, 4095, 65535, 65536, 1 << 20, 16 << 20};
    char *bytes = malloc(16 << 20);

    for (int i = 0; i < Ns_NrElements(lengths); i++) {
        Frames   frames = {0};
        uint64_t position = 123456;

        for (size_t j = 0; j < lengths[i]; j++) {
            bytes[j] = (char) (j * j >> 3);
        }
        Add(&frames, At(&position, lengths[i]), bytes, lengths[i]);
        Check(&frames);
    }
    free(bytes);
}

static void
members_of_any_value_come_out_as_they_were(void **state)
{
    Frames frames = {0};

    for (unsigned i = 0; i < 64; i++) {
        uint64_t     big = UINT64_C(1) << i;
        NsSpillFrame frame = {
            .start = big,
            .next = i % 3 == 0 ? UINT64_MAX - big : big + i,
            .record = {.time = (int64_t) (i % 2 == 0 ? big : 0 - big),
                       .lane = (uint16_t) (big | i * 1021),
                       .severity = (uint16_t) (UINT16_MAX - i * 1000),
                       .kind = i % 5 == 0 ? NS_SPILL_NOTE : NS_RING_WHOLE,
                       .pad = i % 2}};

        Add(&frames, frame, "some bytes", i % 10);
    }
    Check(&frames);
}

static void
access_records_come_out_as_they_were(void **state)
{
    static const char *const texts[] = {
        "192.0.2.1", "", "GET /a HTTP/1.1", "https://example.com/", "Agent/1"};
    static const char *const counted[] = {"", "name", "X-Id", "", "last"};
    char                     buffer[512];
    Frames                   frames = {0};
    uint64_t                 position = 64;

    for (uint32_t n = 0; n <= Ns_NrElements(counted); n++) {
        for (int i = 0; i < 4; i++) {
            size_t length = Access(buffer, texts, counted, n, i);

            Add(&frames, At(&position, length), buffer, length);
        }
    }
    Check(&frames);
}

/*
 * Whatever a module puts into a stream of its own.
 */
static void
what_only_looks_like_an_access_record_comes_out_as_it_was(void **state)
{
    static const char *const texts[] = {"::1", "", "GET / HTTP/1.1", "", ""};
    static const char *const counted[] = {"a", "b"};
    char                     buffer[512];
    uint32_t                 n;
    uint64_t                 position = 64;
    Frames                   frames = {0};
    size_t                   length;

    /* Its texts are longer than it, in each way that sums could miss. */
    for (size_t at = offsetof(Ns_AccessRecord, peerLength);
         at < offsetof(Ns_AccessRecord, nHeaders); at += sizeof(n)) {
        static const uint32_t values[] = {200, UINT32_MAX, UINT32_MAX - 79};

        for (int i = 0; i < Ns_NrElements(values); i++) {
            length = Access(buffer, texts, counted, 2, 1);
            memcpy(buffer + at, &values[i], sizeof(n));
            Add(&frames, At(&position, length), buffer, length);
        }
    }
    /* What follows is cut off, or counts too many. */
    length = Access(buffer, texts, counted, 2, 1);
    for (size_t i = 1; i < 12; i++) {
        Add(&frames, At(&position, length - i), buffer, length - i);
    }
    n = UINT32_MAX;
    memcpy(buffer + length - 5, &n, sizeof(n));
    Add(&frames, At(&position, length), buffer, length);
    Check(&frames);
}

/*
 * More than are looked up again.
 */
static void
any_number_of_texts_comes_out_as_it_was(void **state)
{
    char        peer[32], request[32], buffer[512];
    const char *texts[] = {peer, "u", request, "", "agent"};
    Frames      frames = {0};
    uint64_t    position = 64;

    for (int i = 0; i < 12000; i++) {
        size_t length;

        snprintf(peer, sizeof(peer), "peer %d", i % 9000);
        snprintf(request, sizeof(request), "GET /%d", i % 5000);
        length = Access(buffer, texts, NULL, 0, i);
        Add(&frames, At(&position, length), buffer, length);
    }
    Check(&frames);
    /* And the next block knows nothing of it. */
    position = 64;
    Add(&frames, At(&position, 80), buffer, 80);
    Check(&frames);
}

/*
 * 200 clients, which come again, with the page that they had before.
 */
static Frames
MakeVisits(int n)
{
    char        peer[32], request[64], referer[64], agent[160], id[40];
    char        buffer[1024];
    const char *texts[] = {peer, "", request, referer, agent};
    const char *counted[] = {"", id};
    Frames      frames = {0};
    uint64_t    positions[4] = {64, 64, 64, 64};
    uint32_t    random = 1;
    int         pages[200] = {0};

    for (int i = 0; i < n; i++) {
        unsigned     client, lane;
        size_t       length;
        NsSpillFrame frame;

        random = random * 1103515245 + 12345;
        client = random >> 16 & 127;
        lane = random >> 10 & 3;
        snprintf(peer, sizeof(peer), "10.%u.%u.7", client, client * 7 % 250);
        snprintf(referer, sizeof(referer), "https://www.example.com/page/%d",
                 pages[client]);
        pages[client] = (int) (random >> 20 & 255);
        snprintf(request, sizeof(request), "GET /page/%d HTTP/1.1",
                 pages[client]);
        snprintf(agent, sizeof(agent),
                 "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, "
                 "like Gecko) Chrome/%u.0.0.0 Safari/537.36",
                 90 + client % 30);
        snprintf(id, sizeof(id), "-conn:server:%u", lane);
        length = Access(buffer, texts, counted, 2, i);
        frame = At(&positions[lane], length);
        frame.record.lane = (uint16_t) lane;
        frame.record.time += (int64_t) i * 12345 + (random >> 8) % 12345;
        Add(&frames, frame, buffer, length);
    }
    return frames;
}

static void
access_records_of_visitors_take_few_bytes(void **state)
{
    Frames frames = MakeVisits(3000);
    size_t plain = CheckPacked(&frames, false);

    assert_true(plain < 3000 * 45);
    if (NsSpillCompresses()) {
        assert_true(CheckPacked(&frames, true) < 3000 * 22);
    }
    ns_free(frames.bytes);
}

/*
 * A block of a few records takes not much more than they.
 */
static void
a_small_block_is_small(void **state)
{
    for (size_t length = 0; length < 200; length++) {
        char     bytes[200];
        Frames   frames = {0};
        uint64_t position = 64;

        memset(bytes, 'a' + (int) length % 26, sizeof(bytes));
        Add(&frames, At(&position, length), bytes, length);
        assert_true(CheckPacked(&frames, NsSpillCompresses())
                    <= frames.n + NS_SPILL_BLOCK_EXTRA);
        ns_free(frames.bytes);
    }
}

static void
MakeSums(NsSpillBlock *blockPtr)
{
    blockPtr->sum = NsRingSum(blockPtr->nFrames, blockPtr + 1, blockPtr->bytes);
    blockPtr->headSum = NsRingSum(0, blockPtr, offsetof(NsSpillBlock, headSum));
}

/*
 * One byte after the other; with the sums made right, the frames that come out
 * are other ones at worst.
 */
static void
DamageEach(bool isCompressed, bool hasSums)
{
    Frames              frames = MakeVisits(16);
    const NsSpillBlock *blockPtr = NsSpillPack(packerPtr, frames.bytes,
                                               frames.n, isCompressed);
    size_t              n = NsSpillBlockBytes(blockPtr);
    size_t              end = sizeof(*blockPtr) + blockPtr->bytes;
    NsSpillBlock       *copyPtr = malloc(n);

    for (size_t at = 0; at < end; at++) {
        for (int bit = 0; bit < 8; bit++) {
            const char *out = NULL;

            memcpy(copyPtr, blockPtr, n);
            ((unsigned char *) copyPtr)[at] ^= (unsigned char) (1 << bit);
            if (hasSums && copyPtr->bytes == blockPtr->bytes) {
                MakeSums(copyPtr);
            }
            if (NsSpillBlockIsSound(copyPtr, EPOCH)) {
                out = NsSpillUnpack(unpackerPtr, copyPtr, NLANES);
            }
            if (!hasSums) {
                assert_null(out);
            }
            for (size_t i = 0; out != NULL && i < copyPtr->frameBytes;) {
                const NsSpillFrame *framePtr = (const void *) (out + i);

                assert_true(framePtr->record.lane < NLANES);
                i += NsSpillFrameBytes(framePtr);
                assert_true(i <= copyPtr->frameBytes);
            }
        }
    }
    free(copyPtr);
    ns_free(frames.bytes);
}

static void
a_changed_bit_is_found_out(void **state)
{
    DamageEach(false, false);
    if (NsSpillCompresses()) {
        DamageEach(true, false);
    }
}

static void
behind_right_sums_nothing_is_trusted(void **state)
{
    DamageEach(false, true);
    if (NsSpillCompresses()) {
        DamageEach(true, true);
    }
}

static void
a_lane_that_the_reader_lacks_is_damage(void **state)
{
    Frames       frames = {0};
    uint64_t     position = 64;
    NsSpillFrame frame = At(&position, 1);

    frame.record.lane = 7;
    Add(&frames, frame, "x", 1);
    assert_non_null(NsSpillUnpack(unpackerPtr,
                                  NsSpillPack(packerPtr, frames.bytes, frames.n,
                                              false),
                                  8));
    assert_null(NsSpillUnpack(unpackerPtr,
                              NsSpillPack(packerPtr, frames.bytes, frames.n,
                                          false),
                              7));
    assert_null(NsSpillUnpack(unpackerPtr,
                              NsSpillPack(packerPtr, frames.bytes, frames.n,
                                          false),
                              0));
    ns_free(frames.bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_record_of_any_length_comes_out_as_it_was),
        cmocka_unit_test(members_of_any_value_come_out_as_they_were),
        cmocka_unit_test(access_records_come_out_as_they_were),
        cmocka_unit_test(
            what_only_looks_like_an_access_record_comes_out_as_it_was),
        cmocka_unit_test(any_number_of_texts_comes_out_as_it_was),
        cmocka_unit_test(access_records_of_visitors_take_few_bytes),
        cmocka_unit_test(a_small_block_is_small),
        cmocka_unit_test(a_changed_bit_is_found_out),
        cmocka_unit_test(behind_right_sums_nothing_is_trusted),
        cmocka_unit_test(a_lane_that_the_reader_lacks_is_damage)};

    return cmocka_run_group_tests(tests, SetUp, TearDown);
}

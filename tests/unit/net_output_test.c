/* SPDX-License-Identifier: MPL-2.0
 * net_output_test.c --
 *
 *      1. copies    2. borrowed pieces    3. files    4. consuming
 */

#include "unit.h"
#include "net/output.h"
#include "net/spool.h"
#include "base/tempfile.h"
#include "base/writeall.h"

static int nReleased;

static void
Release(void *arg)
{
    nReleased++;
}

/*
 * All that is queued, as text in a buffer that lasts until the next call.
 */
static const char *
Contents(const NsOutput *outputPtr)
{
    static char text[65536];
    Ns_FileVec  vecs[NS_OUTPUT_PIECES];
    int         n = NsOutputPeek(outputPtr, vecs, NS_OUTPUT_PIECES, 65535);
    size_t      length = 0;

    for (int i = 0; i < n; i++) {
        if (vecs[i].fd < 0) {
            memcpy(text + length, INT2PTR(vecs[i].offset), vecs[i].length);
        } else {
            assert_int_equal(pread(vecs[i].fd, text + length, vecs[i].length,
                                   vecs[i].offset),
                             vecs[i].length);
        }
        length += vecs[i].length;
    }
    text[length] = '\0';
    return text;
}

static void
memory_without_release_is_copied(void **state)
{
    char          bytes[] = "hello world";
    NsPiece       piece = {.fd = -1, .base = bytes, .length = 11};
    NsOutput      output = {0};
    NsOutputStore store;

    NsOutputStoreInit(&store, 1000);
    assert_int_equal(NsOutputAppend(&output, &store, &piece, 1, 6), NS_OK);
    memset(bytes, 'x', 11);
    assert_int_equal(output.bytes, 5);
    assert_string_equal(Contents(&output), "world");
    NsOutputClear(&output);
    NsOutputStoreFree(&store);
}

static void
memory_beyond_the_bound_goes_to_a_file(void **state)
{
    NsPiece       piece = {.fd = -1, .base = "0123456789", .length = 10};
    NsOutput      output = {0};
    NsOutputStore store;

    NsOutputStoreInit(&store, 25);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(NsOutputAppend(&output, &store, &piece, 1, 0), NS_OK);
    }
    assert_true(store.fd >= 0);
    assert_int_equal(store.memoryBytes, 20);
    assert_int_equal(store.fileBytes, 20);
    assert_string_equal(Contents(&output),
                        "0123456789012345678901234567890123456789");
    NsOutputConsume(&output, 25);
    assert_string_equal(Contents(&output), "567890123456789");
    NsOutputConsume(&output, 15);
    assert_null(output.firstPtr);
    assert_int_equal(output.bytes, 0);
    NsOutputStoreFree(&store);
}

static void
borrowed_pieces_are_released_when_sent_skipped_or_dropped(void **state)
{
    NsPiece       pieces[3];
    NsOutput      output = {0};
    NsOutputStore store;

    for (int i = 0; i < 3; i++) {
        pieces[i] = (NsPiece){
            .fd = -1, .base = "abcd", .length = 4, .releaseProc = Release};
    }
    nReleased = 0;
    NsOutputStoreInit(&store, 0);
    assert_int_equal(NsOutputAppend(&output, &store, pieces, 3, 5), NS_OK);
    assert_int_equal(nReleased, 1);
    assert_string_equal(Contents(&output), "bcdabcd");
    NsOutputConsume(&output, 3);
    assert_int_equal(nReleased, 2);
    NsOutputClear(&output);
    assert_int_equal(nReleased, 3);
    assert_int_equal(store.fd, -1);
}

static void
files_of_all_stores_share_a_limit_and_give_it_back(void **state)
{
    NsPiece       piece = {.fd = -1, .base = "0123456789", .length = 10};
    NsOutput      outputs[2] = {{0}, {0}};
    NsOutputStore stores[2];

    NsSpoolSetLimit(NS_SPOOL_REPLIES, 25);
    for (int i = 0; i < 2; i++) {
        NsOutputStoreInit(&stores[i], 0);
        assert_int_equal(NsOutputAppend(&outputs[i], &stores[i], &piece, 1, 0),
                         NS_OK);
    }
    for (int i = 0; i < 2; i++) {
        errno = 0;
        assert_int_equal(NsOutputAppend(&outputs[i], &stores[i], &piece, 1, 0),
                         NS_ERROR);
        assert_int_equal(errno, EDQUOT);
        assert_string_equal(Contents(&outputs[i]), "0123456789");
    }
    NsOutputClear(&outputs[0]);
    NsOutputStoreFree(&stores[0]);
    assert_int_equal(NsOutputAppend(&outputs[1], &stores[1], &piece, 1, 0),
                     NS_OK);
    NsOutputClear(&outputs[1]);
    NsOutputStoreFree(&stores[1]);
    NsOutputStoreInit(&stores[0], 0);
    piece = (NsPiece){
        .fd = -1, .base = "0123456789012345678901234", .length = 25};
    assert_int_equal(NsOutputAppend(&outputs[0], &stores[0], &piece, 1, 0),
                     NS_OK);
    NsOutputClear(&outputs[0]);
    NsOutputStoreFree(&stores[0]);
}

static void
a_file_piece_survives_the_closing_of_its_descriptor(void **state)
{
    int           fd = NsTempFileOpen(NULL);
    NsPiece       piece = {.fd = fd, .offset = 2, .length = 6};
    NsOutput      output = {0};
    NsOutputStore store;

    assert_true(NsWriteAll(fd, "0123456789", 10));
    NsOutputStoreInit(&store, 0);
    assert_int_equal(NsOutputAppend(&output, &store, &piece, 1, 1), NS_OK);
    close(fd);
    assert_true(NsOutputFd(&output) >= 0);
    assert_string_equal(Contents(&output), "34567");
    NsOutputConsume(&output, 2);
    assert_string_equal(Contents(&output), "567");
    NsOutputClear(&output);
}

static void
a_peek_is_bounded_by_number_and_bytes(void **state)
{
    NsPiece       piece = {.fd = -1, .base = "abcd", .length = 4};
    NsOutput      output = {0};
    NsOutputStore store;
    Ns_FileVec    vecs[NS_OUTPUT_PIECES];

    NsOutputStoreInit(&store, 1000);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(NsOutputAppend(&output, &store, &piece, 1, 0), NS_OK);
    }
    assert_int_equal(NsOutputPeek(&output, vecs, NS_OUTPUT_PIECES, 10000),
                     NS_OUTPUT_PIECES);
    assert_int_equal(NsOutputPeek(&output, vecs, NS_OUTPUT_PIECES, 10), 3);
    assert_int_equal(vecs[2].length, 2);
    NsOutputClear(&output);
}

static void
a_bad_descriptor_fails_and_releases_everything(void **state)
{
    NsPiece pieces[2] = {
        {.fd = 9999, .length = 5},
        {.fd = -1, .base = "x", .length = 1, .releaseProc = Release}};
    NsOutput      output = {0};
    NsOutputStore store;

    nReleased = 0;
    NsOutputStoreInit(&store, 1000);
    assert_int_equal(NsOutputAppend(&output, &store, pieces, 2, 0), NS_ERROR);
    assert_int_equal(nReleased, 1);
    assert_null(output.firstPtr);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_without_release_is_copied),
        cmocka_unit_test(memory_beyond_the_bound_goes_to_a_file),
        cmocka_unit_test(
            borrowed_pieces_are_released_when_sent_skipped_or_dropped),
        cmocka_unit_test(files_of_all_stores_share_a_limit_and_give_it_back),
        cmocka_unit_test(a_file_piece_survives_the_closing_of_its_descriptor),
        cmocka_unit_test(a_peek_is_bounded_by_number_and_bytes),
        cmocka_unit_test(a_bad_descriptor_fails_and_releases_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

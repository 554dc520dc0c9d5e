/* SPDX-License-Identifier: MPL-2.0
 * base_writeall_test.c --
 *
 *      All bytes are written, or the caller hears why not.
 */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/writeall.h"

#define MANY ((size_t) 1 << 20)

/*
 * Read from a pipe as many bytes as were to come, and compare.
 */
static void *
ReadMany(void *arg)
{
    int    fd = *(int *) arg;
    char  *bytes = malloc(MANY);
    size_t got = 0;

    while (got < MANY) {
        ssize_t n = read(fd, bytes + got, MANY - got);

        if (n <= 0) {
            break;
        }
        got += (size_t) n;
    }
    for (size_t i = 0; i < got; i++) {
        if (bytes[i] != (char) (i % 251)) {
            got = i;
        }
    }
    free(bytes);
    return (void *) got;
}

static char *
Many(void)
{
    char *bytes = malloc(MANY);

    for (size_t i = 0; i < MANY; i++) {
        bytes[i] = (char) (i % 251);
    }
    return bytes;
}

static void
more_than_a_pipe_takes_is_written_in_parts_also_without_blocking(void **state)
{
    for (int isBlocking = 0; isBlocking < 2; isBlocking++) {
        pthread_t thread;
        void     *got;
        char     *bytes = Many();
        int       fds[2];

        assert_int_equal(pipe(fds), 0);
        if (!isBlocking) {
            assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
        }
        assert_int_equal(pthread_create(&thread, NULL, ReadMany, &fds[0]), 0);
        assert_true(NsWriteAll(fds[1], bytes, MANY));
        close(fds[1]);
        pthread_join(thread, &got);
        assert_int_equal((size_t) got, MANY);
        close(fds[0]);
        free(bytes);
    }
}

static void
nothing_is_written_at_once(void **state)
{
    assert_true(NsWriteAll(-1, "", 0));
    assert_true(NsWriteAllAt(-1, "", 0, 0));
}

static void
bytes_stand_from_their_offset_on(void **state)
{
    char path[] = "/tmp/writeall_test.XXXXXX", got[8];
    int  fd = mkstemp(path);

    unlink(path);
    assert_true(NsWriteAllAt(fd, "abcdef", 6, 0));
    assert_true(NsWriteAllAt(fd, "XY", 2, 3));
    assert_int_equal(pread(fd, got, sizeof(got), 0), 6);
    assert_memory_equal(got, "abcXYf", 6);
    close(fd);
}

static void
what_cannot_be_written_has_a_reason(void **state)
{
    int full = open("/dev/full", O_WRONLY), fds[2];

    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_false(NsWriteAll(fds[1], "x", 1));
    assert_int_equal(errno, EPIPE);
    close(fds[1]);
    assert_false(NsWriteAll(fds[1], "x", 1));
    assert_int_equal(errno, EBADF);
    assert_false(NsWriteAllAt(fds[1], "x", 1, 0));
    assert_int_equal(errno, EBADF);
    assert_false(NsWriteAll(full, "x", 1));
    assert_int_equal(errno, ENOSPC);
    close(full);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            more_than_a_pipe_takes_is_written_in_parts_also_without_blocking),
        cmocka_unit_test(nothing_is_written_at_once),
        cmocka_unit_test(bytes_stand_from_their_offset_on),
        cmocka_unit_test(what_cannot_be_written_has_a_reason)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

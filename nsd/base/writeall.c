/* SPDX-License-Identifier: MPL-2.0
 * writeall.c --
 *
 *      Write all bytes, however often that takes.
 */

#include "base/writeall.h"

#include <poll.h>

static bool MayGoOn(int fd, ssize_t n);

bool
NsWriteAll(int fd, const void *bytes, size_t length)
{
    const char *next = bytes;

    while (length > 0) {
        ssize_t n = write(fd, next, length);

        if (n > 0) {
            next += n;
            length -= (size_t) n;
        } else if (!MayGoOn(fd, n)) {
            return false;
        }
    }
    return true;
}

bool
NsWriteAllAt(int fd, const void *bytes, size_t length, off_t offset)
{
    const char *next = bytes;

    while (length > 0) {
        ssize_t n = pwrite(fd, next, length, offset);

        if (n > 0) {
            next += n;
            offset += n;
            length -= (size_t) n;
        } else if (!MayGoOn(fd, n)) {
            return false;
        }
    }
    return true;
}

static bool
MayGoOn(int fd, ssize_t n)
{
    if (n == 0) {
        errno = ENOSPC;
        return false;
    }
    if (errno == EAGAIN) {
        struct pollfd target = {.fd = fd, .events = POLLOUT};

        return poll(&target, 1, -1) >= 0 || errno == EINTR;
    }
    return errno == EINTR;
}

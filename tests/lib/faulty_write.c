/* SPDX-License-Identifier: MPL-2.0
 * faulty_write.c --
 *
 *      To be preloaded: writes to files whose name has "faulty" in it are
 *      interrupted one time in four, and short most of the other times.  Each
 *      such deed adds a byte to the file faulty.count in the current directory.
 *
 *      While there is a file "trouble" in the current directory, such writes
 *      fail two times in three for lack of space, after a part of the bytes;
 *      and half of the time such files cannot be renamed, nor opened.
 *
 *      Writes to files whose name has "stuck" in it wait, where a FIFO "gate"
 *      is in the current directory, until somebody opens that for writing.
 *      Each that waits adds a byte to the file stuck.count there.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static bool     IsFaulty(int fd);
static bool     HasName(int fd, const char *name);
static bool     IsTrouble(void);
static void     WaitAtGate(void);
static unsigned Dice(void);
static void     Count(const char *file);
static ssize_t  RealWrite(int fd, const void *bytes, size_t length);
static int      RealOpen(const char *path, int flags, int mode);

ssize_t
write(int fd, const void *bytes, size_t length)
{
    static atomic_bool isShort;

    if (length > 1 && IsFaulty(fd)) {
        if (IsTrouble()
            && (atomic_exchange(&isShort, false) || Dice() % 3 == 0)) {
            Count("faulty.count");
            errno = ENOSPC;
            return -1;
        }
        atomic_store(&isShort, IsTrouble());
        if (Dice() % 4 == 0) {
            Count("faulty.count");
            errno = EINTR;
            return -1;
        }
        Count("faulty.count");
        length = 1 + Dice() % length;
    } else if (HasName(fd, "/stuck")) {
        WaitAtGate();
    }
    return RealWrite(fd, bytes, length);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);

    if (HasName(fd, "/stuck")) {
        WaitAtGate();
    }
    if (real == NULL) {
        *(void **) &real = dlsym(RTLD_NEXT, "pwrite");
    }
    return real(fd, bytes, length, offset);
}

/*
 * The first piece alone, and of it maybe a part only.
 */
ssize_t
writev(int fd, const struct iovec *pieces, int n)
{
    static ssize_t (*real)(int, const struct iovec *, int);

    if (n > 0 && pieces[0].iov_len > 0 && IsFaulty(fd)) {
        return write(fd, pieces[0].iov_base, pieces[0].iov_len);
    }
    if (real == NULL) {
        *(void **) &real = dlsym(RTLD_NEXT, "writev");
    }
    return real(fd, pieces, n);
}

int
rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);

    if (strstr(from, "/faulty") != NULL && IsTrouble() && Dice() % 2 == 0) {
        Count("faulty.count");
        errno = EIO;
        return -1;
    }
    if (real == NULL) {
        *(void **) &real = dlsym(RTLD_NEXT, "rename");
    }
    return real(from, to);
}

int
open(const char *path, int flags, ...)
{
    va_list ap;
    int     mode;

    va_start(ap, flags);
    mode = va_arg(ap, int);
    va_end(ap);
    if (strstr(path, "/faulty") != NULL && IsTrouble() && Dice() % 2 == 0) {
        Count("faulty.count");
        errno = EMFILE;
        return -1;
    }
    return RealOpen(path, flags, mode);
}

static bool
IsTrouble(void)
{
    return access("trouble", F_OK) == 0;
}

static bool
IsFaulty(int fd)
{
    return HasName(fd, "/faulty");
}

static bool
HasName(int fd, const char *name)
{
    char    link[64], path[4096];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    return n > 0 && memmem(path, (size_t) n, name, strlen(name)) != NULL;
}

static void
WaitAtGate(void)
{
    int fd;

    if (access("gate", F_OK) == 0) {
        Count("stuck.count");
    }
    fd = RealOpen("gate", O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        close(fd);
    }
}

static unsigned
Dice(void)
{
    static atomic_uint state = 1;
    unsigned           x = atomic_fetch_add(&state, 0x9e3779b9u);

    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static void
Count(const char *file)
{
    int fd = RealOpen(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    (void) RealWrite(fd, ".", 1);
    close(fd);
}

static ssize_t
RealWrite(int fd, const void *bytes, size_t length)
{
    static ssize_t (*real)(int, const void *, size_t);

    if (real == NULL) {
        *(void **) &real = dlsym(RTLD_NEXT, "write");
    }
    return real(fd, bytes, length);
}

static int
RealOpen(const char *path, int flags, int mode)
{
    static int (*real)(const char *, int, ...);

    if (real == NULL) {
        *(void **) &real = dlsym(RTLD_NEXT, "open");
    }
    return real(path, flags, mode);
}

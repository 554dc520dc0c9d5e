/* SPDX-License-Identifier: MPL-2.0
 * faults.c --
 *
 *      To be preloaded: system calls fail, now and then, in the ways that the
 *      file named by NSD_FAULTS asks for.  That file is mapped, so whoever runs
 *      the process can begin and end each kind of fault at any time, and see
 *      how often it came.
 *
 *      The file is an array of 32-bit words: first the seed, then two words for
 *      each kind: how many calls of 65,536 fail, and how many have failed.  The
 *      kinds stand in faults.tcl in the same order.
 *
 *      A short read or write of a socket cannot be had by returning less: who
 *      waits for edges may take it, by epoll(7), that the kernel has no more.
 *      So a socket gets a small buffer instead, and the client sends in pieces.
 *
 *      Which call fails is drawn from the seed and the number of the call, so
 *      that a single thread meets the same faults again.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

typedef enum {
    ACCEPT_LIMIT,   /* EMFILE, ENFILE, ENOMEM of accept */
    ACCEPT_ABORTED, /* ECONNABORTED */
    OPEN_LIMIT,     /* EMFILE, ENFILE of open */
    SOCKET_LIMIT,   /* the same of sockets, pipes, polls, events */
    MAP_MEMORY,     /* ENOMEM of mmap */
    THREAD_LIMIT,   /* EAGAIN of pthread_create */
    WRITE_SPACE,    /* ENOSPC of writes to files */
    WRITE_ERROR,    /* EIO */
    WRITE_SHORT,    /* a part of what was to be written */
    READ_ERROR,     /* EIO of reads from files */
    READ_SHORT,     /* a part of what was to be read from them */
    SEND_SMALL,     /* a connection takes little at a time, from accept
                     * on */
    INTERRUPTED,    /* EINTR of any of these */
    SYNC_SLOW,      /* fsync takes 50 ms */
    SYNC_ERROR,     /* EIO */
    RENAME_ERROR,   /* EACCES of rename, link, unlink */
    WATCH_LIMIT,    /* ENOMEM of epoll_ctl, ENOSPC of inotify_add_watch */
    NAME_ERROR,     /* EAI_AGAIN, EAI_MEMORY, EAI_SYSTEM of getaddrinfo */
    CONNECT_ERROR,  /* ECONNREFUSED, ENETUNREACH, ETIMEDOUT */
    N_KINDS
} Kind;

typedef struct Control {
    atomic_uint seed;
    struct {
        atomic_uint rate;
        atomic_uint count;
    } kinds[N_KINDS];
} Control;

static Control    *controlPtr;
static atomic_uint nCalls;

static unsigned Dice(void);
static bool     Fails(Kind kind);
static int      Limit(void);
static unsigned TypeOf(int fd);
static bool     IsInterrupted(int fd, unsigned type);
static size_t   Part(size_t length);
static bool     MayPass(int fd, size_t *lengthPtr, bool isWrite);

/*
 * The function of the C library that one here stands before.
 */
#define REAL(result, name, ...)                    \
    static result (*real)(__VA_ARGS__);            \
    if (real == NULL) {                            \
        *(void **) &real = dlsym(RTLD_NEXT, name); \
    }

__attribute__((constructor)) static void
MapControl(void)
{
    const char *name = getenv("NSD_FAULTS");
    void       *address = MAP_FAILED;
    int         fd;

    REAL(void *, "mmap", void *, size_t, int, int, int, off_t)
    if (name != NULL && (fd = open(name, O_RDWR | O_CLOEXEC)) >= 0) {
        address = real(NULL, sizeof(Control), PROT_READ | PROT_WRITE,
                       MAP_SHARED, fd, 0);
        close(fd);
    }
    if (address != MAP_FAILED) {
        controlPtr = address;
    }
}

static unsigned
Dice(void)
{
    unsigned x = atomic_fetch_add(&nCalls, 1u) * 0x9e3779b9u
        + atomic_load(&controlPtr->seed);

    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static bool
Fails(Kind kind)
{
    unsigned rate = controlPtr != NULL
        ? atomic_load(&controlPtr->kinds[kind].rate)
        : 0;

    if (rate == 0 || Dice() % 65536 >= rate) {
        return false;
    }
    atomic_fetch_add(&controlPtr->kinds[kind].count, 1u);
    return true;
}

static int
Limit(void)
{
    static const int limits[] = {EMFILE, ENFILE, ENOMEM};

    return limits[Dice() % 3];
}

static unsigned
TypeOf(int fd)
{
    struct stat st;

    return controlPtr != NULL && fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

/*
 * Of what never waits nothing is: event counters (type 0), and what is asked
 * not to wait.
 */
static bool
IsInterrupted(int fd, unsigned type)
{
    return type != 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0
        && Fails(INTERRUPTED);
}

static size_t
Part(size_t length)
{
    return length > 1 ? 1 + Dice() % (length - 1) : length;
}

/*
 * False: the call fails, with errno set.  Else, so much of the length is taken.
 */
static bool
MayPass(int fd, size_t *lengthPtr, bool isWrite)
{
    unsigned type = TypeOf(fd);
    bool     isFile = type == S_IFREG;
    int      reason = 0;

    if (IsInterrupted(fd, type)) {
        reason = EINTR;
    } else if (isFile && isWrite && Fails(WRITE_SPACE)) {
        reason = ENOSPC;
    } else if (isFile && Fails(isWrite ? WRITE_ERROR : READ_ERROR)) {
        reason = EIO;
    } else if (isFile && Fails(isWrite ? WRITE_SHORT : READ_SHORT)) {
        *lengthPtr = Part(*lengthPtr);
    }
    errno = reason != 0 ? reason : errno;
    return reason == 0;
}

/*
 * Descriptors.
 */
int
accept4(int fd, struct sockaddr *address, socklen_t *lengthPtr, int flags)
{
    int small = 2048, accepted;

    REAL(int, "accept4", int, struct sockaddr *, socklen_t *, int)
    if (Fails(ACCEPT_LIMIT)) {
        errno = Limit();
        return -1;
    }
    if (Fails(ACCEPT_ABORTED)) {
        /* The connection is gone, as the error says. */
        int gone = real(fd, address, lengthPtr, flags);

        if (gone >= 0) {
            close(gone);
            errno = ECONNABORTED;
        }
        return -1;
    }
    if (Fails(INTERRUPTED)) {
        errno = EINTR;
        return -1;
    }
    accepted = real(fd, address, lengthPtr, flags);
    if (accepted >= 0 && Fails(SEND_SMALL)) {
        (void) setsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &small,
                          sizeof(small));
    }
    return accepted;
}

int
accept(int fd, struct sockaddr *address, socklen_t *lengthPtr)
{
    return accept4(fd, address, lengthPtr, 0);
}

#define ALL(...) __VA_ARGS__
#define OPENS(function, parameters, arguments)         \
    int function(ALL parameters, int flags, ...)       \
    {                                                  \
        va_list args;                                  \
        mode_t  mode;                                  \
                                                       \
        REAL(int, #function, ALL parameters, int, ...) \
        va_start(args, flags);                         \
        mode = (flags & (O_CREAT | O_TMPFILE)) != 0    \
            ? va_arg(args, mode_t)                     \
            : 0;                                       \
        va_end(args);                                  \
        if (Fails(OPEN_LIMIT)) {                       \
            errno = Dice() % 2 == 0 ? EMFILE : ENFILE; \
            return -1;                                 \
        }                                              \
        return real(ALL arguments, flags, mode);       \
    }
OPENS(open, (const char *path), (path))
OPENS(open64, (const char *path), (path))
OPENS(openat, (int directory, const char *path), (directory, path))
OPENS(openat64, (int directory, const char *path), (directory, path))

/*
 * A call that makes a descriptor, with its parameters and arguments.
 */
#define MAKES_DESCRIPTOR(function, parameters, ...)         \
    int function parameters                                 \
    {                                                       \
        static int(*real) parameters;                       \
                                                            \
        if (real == NULL) {                                 \
            *(void **) &real = dlsym(RTLD_NEXT, #function); \
        }                                                   \
        if (Fails(SOCKET_LIMIT)) {                          \
            errno = Limit();                                \
            return -1;                                      \
        }                                                   \
        return real(__VA_ARGS__);                           \
    }
MAKES_DESCRIPTOR(socket, (int domain, int type, int protocol), domain, type,
                 protocol)
MAKES_DESCRIPTOR(socketpair, (int domain, int type, int protocol, int fds[2]),
                 domain, type, protocol, fds)
MAKES_DESCRIPTOR(pipe, (int fds[2]), fds)
MAKES_DESCRIPTOR(pipe2, (int fds[2], int flags), fds, flags)
MAKES_DESCRIPTOR(eventfd, (unsigned n, int flags), n, flags)
MAKES_DESCRIPTOR(epoll_create1, (int flags), flags)
MAKES_DESCRIPTOR(inotify_init1, (int flags), flags)
MAKES_DESCRIPTOR(dup, (int fd), fd)

int
connect(int fd, const struct sockaddr *address, socklen_t length)
{
    static const int reasons[] = {ECONNREFUSED, ENETUNREACH, ETIMEDOUT};

    REAL(int, "connect", int, const struct sockaddr *, socklen_t)
    if (Fails(CONNECT_ERROR)) {
        errno = reasons[Dice() % 3];
        return -1;
    }
    return real(fd, address, length);
}

int
getaddrinfo(const char *node, const char *service,
            const struct addrinfo *hintsPtr, struct addrinfo **listPtrPtr)
{
    static const int reasons[] = {EAI_AGAIN, EAI_MEMORY, EAI_SYSTEM};

    REAL(int, "getaddrinfo", const char *, const char *,
         const struct addrinfo *, struct addrinfo **)
    if (Fails(NAME_ERROR)) {
        errno = Limit();
        return reasons[Dice() % 3];
    }
    return real(node, service, hintsPtr, listPtrPtr);
}

int
epoll_ctl(int poll, int what, int fd, struct epoll_event *eventPtr)
{
    REAL(int, "epoll_ctl", int, int, int, struct epoll_event *)
    if (what == EPOLL_CTL_ADD && Fails(WATCH_LIMIT)) {
        errno = ENOMEM;
        return -1;
    }
    return real(poll, what, fd, eventPtr);
}

int
inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    REAL(int, "inotify_add_watch", int, const char *, uint32_t)
    if (Fails(WATCH_LIMIT)) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, path, mask);
}

/*
 * Memory and threads.
 */
#define MMAP(function, name)                                                \
    void *function(void *address, size_t length, int protection, int flags, \
                   int fd, off_t offset)                                    \
    {                                                                       \
        REAL(void *, name, void *, size_t, int, int, int, off_t)            \
        if (Fails(MAP_MEMORY)) {                                            \
            errno = ENOMEM;                                                 \
            return MAP_FAILED;                                              \
        }                                                                   \
        return real(address, length, protection, flags, fd, offset);        \
    }
MMAP(mmap, "mmap")
MMAP(mmap64, "mmap64")

int
pthread_create(pthread_t *threadPtr, const pthread_attr_t *attributesPtr,
               void *(*proc)(void *), void                *arg)
{
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *,
         void *(*) (void *), void *)
    return Fails(THREAD_LIMIT) ? EAGAIN
                               : real(threadPtr, attributesPtr, proc, arg);
}

/*
 * Reads and writes.
 */
ssize_t
write(int fd, const void *bytes, size_t length)
{
    REAL(ssize_t, "write", int, const void *, size_t)
    return MayPass(fd, &length, true) ? real(fd, bytes, length) : -1;
}

#define PWRITE(function, name)                                               \
    ssize_t function(int fd, const void *bytes, size_t length, off_t offset) \
    {                                                                        \
        REAL(ssize_t, name, int, const void *, size_t, off_t)                \
        return MayPass(fd, &length, true)                                    \
            ? real(fd, bytes, length, offset)                                \
            : -1;                                                            \
    }
PWRITE(pwrite, "pwrite")
PWRITE(pwrite64, "pwrite64")

/*
 * The first pieces alone, and of the last of them maybe a part.
 */
static int
Shorten(struct iovec *copy, const struct iovec *pieces, int n, size_t length)
{
    int i = 0;

    while (i < n && length > 0) {
        copy[i] = pieces[i];
        if (copy[i].iov_len > length) {
            copy[i].iov_len = length;
        }
        length -= copy[i].iov_len;
        i++;
    }
    return i;
}

static size_t
Total(const struct iovec *pieces, int n)
{
    size_t length = 0;

    for (int i = 0; i < n; i++) {
        length += pieces[i].iov_len;
    }
    return length;
}

ssize_t
writev(int fd, const struct iovec *pieces, int n)
{
    size_t       total = Total(pieces, n), length = total;
    struct iovec copy[n > 0 ? n : 1];

    REAL(ssize_t, "writev", int, const struct iovec *, int)
    if (!MayPass(fd, &length, true)) {
        return -1;
    }
    return length == total ? real(fd, pieces, n)
                           : real(fd, copy, Shorten(copy, pieces, n, length));
}

ssize_t
send(int fd, const void *bytes, size_t length, int flags)
{
    REAL(ssize_t, "send", int, const void *, size_t, int)
    return MayPass(fd, &length, true) ? real(fd, bytes, length, flags) : -1;
}

ssize_t
sendmsg(int fd, const struct msghdr *messagePtr, int flags)
{
    size_t        n = messagePtr->msg_iovlen;
    size_t        total = Total(messagePtr->msg_iov, (int) n), length = total;
    struct iovec  copy[n > 0 ? n : 1];
    struct msghdr message = *messagePtr;

    REAL(ssize_t, "sendmsg", int, const struct msghdr *, int)
    if (!MayPass(fd, &length, true)) {
        return -1;
    }
    if (length < total) {
        message.msg_iov = copy;
        message.msg_iovlen = (size_t) Shorten(copy, messagePtr->msg_iov,
                                              (int) n, length);
    }
    return real(fd, &message, flags);
}

#define SENDFILE(function, name)                                        \
    ssize_t function(int to, int from, off_t *offsetPtr, size_t length) \
    {                                                                   \
        REAL(ssize_t, name, int, int, off_t *, size_t)                  \
        return MayPass(to, &length, true)                               \
            ? real(to, from, offsetPtr, length)                         \
            : -1;                                                       \
    }
SENDFILE(sendfile, "sendfile")
SENDFILE(sendfile64, "sendfile64")

ssize_t
read(int fd, void *bytes, size_t length)
{
    REAL(ssize_t, "read", int, void *, size_t)
    return MayPass(fd, &length, false) ? real(fd, bytes, length) : -1;
}

#define PREAD(function, name)                                          \
    ssize_t function(int fd, void *bytes, size_t length, off_t offset) \
    {                                                                  \
        REAL(ssize_t, name, int, void *, size_t, off_t)                \
        return MayPass(fd, &length, false)                             \
            ? real(fd, bytes, length, offset)                          \
            : -1;                                                      \
    }
PREAD(pread, "pread")
PREAD(pread64, "pread64")

ssize_t
readv(int fd, const struct iovec *pieces, int n)
{
    size_t       total = Total(pieces, n), length = total;
    struct iovec copy[n > 0 ? n : 1];

    REAL(ssize_t, "readv", int, const struct iovec *, int)
    if (!MayPass(fd, &length, false)) {
        return -1;
    }
    return length == total ? real(fd, pieces, n)
                           : real(fd, copy, Shorten(copy, pieces, n, length));
}

ssize_t
recv(int fd, void *bytes, size_t length, int flags)
{
    REAL(ssize_t, "recv", int, void *, size_t, int)
    return MayPass(fd, &length, false) ? real(fd, bytes, length, flags) : -1;
}

int
poll(struct pollfd *fds, nfds_t n, int ms)
{
    REAL(int, "poll", struct pollfd *, nfds_t, int)
    if (Fails(INTERRUPTED)) {
        errno = EINTR;
        return -1;
    }
    return real(fds, n, ms);
}

int
epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
    REAL(int, "epoll_wait", int, struct epoll_event *, int, int)
    if (Fails(INTERRUPTED)) {
        errno = EINTR;
        return -1;
    }
    return real(fd, events, n, ms);
}

/*
 * Files as a whole.
 */
#define SYNC(function)            \
    int function(int fd)          \
    {                             \
        REAL(int, #function, int) \
        if (Fails(SYNC_SLOW)) {   \
            usleep(50000);        \
        }                         \
        if (Fails(SYNC_ERROR)) {  \
            errno = EIO;          \
            return -1;            \
        }                         \
        return real(fd);          \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(function, name)       \
    int function(int fd, off_t length) \
    {                                  \
        REAL(int, name, int, off_t)    \
        if (Fails(WRITE_ERROR)) {      \
            errno = EIO;               \
            return -1;                 \
        }                              \
        return real(fd, length);       \
    }
TRUNCATE(ftruncate, "ftruncate")
TRUNCATE(ftruncate64, "ftruncate64")

#define ALLOCATE(function, name)                               \
    int function(int fd, int mode, off_t offset, off_t length) \
    {                                                          \
        REAL(int, name, int, int, off_t, off_t)                \
        if (Fails(WRITE_SPACE)) {                              \
            errno = ENOSPC;                                    \
            return -1;                                         \
        }                                                      \
        return real(fd, mode, offset, length);                 \
    }
ALLOCATE(fallocate, "fallocate")
ALLOCATE(fallocate64, "fallocate64")

#define TWO_PATHS(function)                              \
    int function(const char *from, const char *to)       \
    {                                                    \
        REAL(int, #function, const char *, const char *) \
        if (Fails(RENAME_ERROR)) {                       \
            errno = EACCES;                              \
            return -1;                                   \
        }                                                \
        return real(from, to);                           \
    }
TWO_PATHS(rename)
TWO_PATHS(link)

int
unlink(const char *path)
{
    REAL(int, "unlink", const char *)
    if (Fails(RENAME_ERROR)) {
        errno = EACCES;
        return -1;
    }
    return real(path);
}

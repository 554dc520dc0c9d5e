/* SPDX-License-Identifier: MPL-2.0
 * binder.c --
 *
 *      The helper that keeps root's rights during the start, and binds what the
 *      unprivileged server may not.
 *
 *      A request is an NsPrebindSpec; the answer is an errno, with the socket
 *      as ancillary data when that is 0.  The helper ends with the connection.
 */

#include "process/binder.h"
#include "process/prebind.h"

#include "base/lock.h"
#include "nslog.h"
#include "nsthread.h"

#include <sys/wait.h>

static struct {
    Ns_Mutex lock; /* One request at a time; guards the rest. */
    pid_t    pid;
    int      fd; /* -1: no helper. */
} binder = {.fd = -1};

static void Serve(int fd) NS_GNUC_NORETURN;
static bool SendAnswer(int fd, int error, int socketFd);
static int  ReceiveAnswer(int fd);

void
NsBinderInit(void)
{
    NsMutexSetup(&binder.lock, NS_RANK_PROCESS_MISC, "ns:binder", NULL);
}

void
NsBinderStart(void)
{
    int   ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        Ns_Fatal("binder: socketpair() failed: '%s'", strerror(errno));
    }
    pid = fork();
    if (pid < 0) {
        Ns_Fatal("binder: fork() failed: '%s'", strerror(errno));
    }
    if (pid == 0) {
        close(ends[0]);
        Serve(ends[1]);
    }
    close(ends[1]);
    binder.pid = pid;
    binder.fd = ends[0];
}

int
NsBinderBind(const NsPrebindSpec *specPtr)
{
    int fd = -1;

    Ns_MutexLock(&binder.lock);
    if (binder.fd < 0) {
        errno = ENOTCONN;
    } else if (send(binder.fd, specPtr, sizeof(*specPtr), MSG_NOSIGNAL)
               == (ssize_t) sizeof(*specPtr)) {
        fd = ReceiveAnswer(binder.fd);
    }
    Ns_MutexUnlock(&binder.lock);
    if (fd >= 0) {
        Ns_Log(Notice, "Ns_SockBinderListen: listen(%s,%d) = %d",
               specPtr->address, specPtr->port, fd);
    }
    return fd;
}

void
NsBinderStop(void)
{
    int fd;

    Ns_MutexLock(&binder.lock);
    fd = binder.fd;
    binder.fd = -1;
    Ns_MutexUnlock(&binder.lock);
    if (fd < 0) {
        return;
    }
    close(fd);
    while (waitpid(binder.pid, NULL, 0) < 0 && errno == EINTR) {
        continue;
    }
    Ns_Log(Notice, "binder: stopped");
}

static void
Serve(int fd)
{
    NsPrebindSpec spec;

    while (recv(fd, &spec, sizeof(spec), 0) == (ssize_t) sizeof(spec)) {
        int  socketFd, error;
        bool isSent;

        spec.address[sizeof(spec.address) - 1] = '\0';
        socketFd = NsPrebindBind(&spec);
        error = socketFd < 0 ? errno : 0;
        isSent = SendAnswer(fd, error, socketFd);
        if (socketFd >= 0) {
            close(socketFd);
        }
        if (!isSent) {
            break;
        }
    }
    _exit(0);
}

static bool
SendAnswer(int fd, int error, int socketFd)
{
    union {
        struct cmsghdr header;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec  iov = {&error, sizeof(error)};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

    if (socketFd >= 0) {
        struct cmsghdr *headerPtr;

        memset(&control, 0, sizeof(control));
        message.msg_control = &control;
        message.msg_controllen = sizeof(control.bytes);
        headerPtr = CMSG_FIRSTHDR(&message);
        headerPtr->cmsg_level = SOL_SOCKET;
        headerPtr->cmsg_type = SCM_RIGHTS;
        headerPtr->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(headerPtr), &socketFd, sizeof(int));
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t) sizeof(error);
}

static int
ReceiveAnswer(int fd)
{
    union {
        struct cmsghdr header;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control;
    int             error = EPIPE, socketFd = -1;
    struct iovec    iov = {&error, sizeof(error)};
    struct msghdr   message = {.msg_iov = &iov,
                               .msg_iovlen = 1,
                               .msg_control = &control,
                               .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *headerPtr;
    ssize_t         n;

    do {
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t) sizeof(error)) {
        errno = n < 0 ? errno : EPIPE;
        return -1;
    }
    headerPtr = CMSG_FIRSTHDR(&message);
    if (headerPtr != NULL && headerPtr->cmsg_type == SCM_RIGHTS) {
        memcpy(&socketFd, CMSG_DATA(headerPtr), sizeof(int));
    }
    errno = error;
    return socketFd;
}

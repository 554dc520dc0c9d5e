/* SPDX-License-Identifier: MPL-2.0
 * kill_after_send.c --
 *
 *      To be preloaded: the process is killed as soon as so many bytes have
 *      left through sockets as the file send.limit in the current directory
 *      says, in the call that sent the last of them.
 *
 *      Counting begins when that file appears.
 */

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name)                 \
    static __typeof__(name) *real; \
    if (real == NULL)              \
    *(void **) &real = dlsym(RTLD_NEXT, #name)

static ssize_t Count(ssize_t sent);

ssize_t
send(int fd, const void *bytes, size_t length, int flags)
{
    REAL(send);
    return Count(real(fd, bytes, length, flags));
}

ssize_t
sendto(int fd, const void *bytes, size_t length, int flags,
       const struct sockaddr *to, socklen_t toLength)
{
    REAL(sendto);
    return Count(real(fd, bytes, length, flags, to, toLength));
}

ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
    REAL(sendmsg);
    return Count(real(fd, message, flags));
}

ssize_t
sendfile(int to, int from, off_t *offset, size_t length)
{
    REAL(sendfile);
    return Count(real(to, from, offset, length));
}

ssize_t
sendfile64(int to, int from, off64_t *offset, size_t length)
{
    REAL(sendfile64);
    return Count(real(to, from, offset, length));
}

static ssize_t
Count(ssize_t sent)
{
    static atomic_llong total;
    long long           limit = 0;
    FILE               *file = fopen("send.limit", "re");

    if (file != NULL) {
        if (fscanf(file, "%lld", &limit) != 1) {
            limit = 0;
        }
        fclose(file);
        if (limit > 0 && sent > 0
            && atomic_fetch_add(&total, sent) + sent >= limit) {
            kill(getpid(), SIGKILL);
        }
    }
    return sent;
}

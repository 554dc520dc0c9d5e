/* SPDX-License-Identifier: MPL-2.0
 * filevec.c --
 *
 *      Vectors of memory and file ranges, and sending them.
 */

#include "net/driver_int.h"
#include "nssocket.h"

#include <netinet/tcp.h>
#include <sys/sendfile.h>

#define MAX_VECS 64

static ssize_t SendFile(NS_SOCKET sock, const Ns_FileVec *vecPtr);
static int GatherMemory(const Ns_FileVec *vecs, int nVecs, struct iovec *iov,
                        size_t *lengthPtr);

size_t
Ns_SetFileVec(Ns_FileVec *vecs, int i, int fd, const void *base, off_t offset,
              size_t length)
{
    vecs[i].fd = fd;
    vecs[i].length = length;
    vecs[i].offset = fd < 0 ? (off_t) ((intptr_t) base + offset) : offset;
    return length;
}

int
Ns_ResetFileVec(Ns_FileVec *vecs, int nVecs, size_t sent)
{
    int i = 0;

    while (i < nVecs && sent >= vecs[i].length) {
        sent -= vecs[i].length;
        vecs[i].length = 0u;
        vecs[i].fd = -1;
        vecs[i].offset = 0;
        i++;
    }
    if (i < nVecs) {
        vecs[i].offset += (off_t) sent;
        vecs[i].length -= sent;
    }
    return i;
}

size_t
Ns_SetVec(struct iovec *vecs, int i, const void *base, size_t length)
{
    vecs[i].iov_base = (void *) base;
    vecs[i].iov_len = length;
    return length;
}

int
Ns_ResetVec(struct iovec *vecs, int nVecs, size_t sent)
{
    int i = 0;

    while (i < nVecs && sent >= vecs[i].iov_len) {
        sent -= vecs[i].iov_len;
        vecs[i].iov_base = NULL;
        vecs[i].iov_len = 0u;
        i++;
    }
    if (i < nVecs) {
        vecs[i].iov_base = (char *) vecs[i].iov_base + sent;
        vecs[i].iov_len -= sent;
    }
    return i;
}

size_t
Ns_SumVec(struct iovec *vecs, int nVecs)
{
    size_t sum = 0u;

    for (int i = 0; i < nVecs; i++) {
        sum += vecs[i].iov_len;
    }
    return sum;
}

/*
 * Memory before a file is announced with MSG_MORE, so that headers and content
 * share a packet.
 */
ssize_t
Ns_SockSendFileBufs(Ns_Sock *sock, const Ns_FileVec *vecs, int nVecs,
                    const Ns_Time *timeoutPtr, int flags)
{
    ssize_t total = 0;
    int     i = 0;

    while (i < nVecs) {
        size_t  asked = 0u;
        ssize_t n;
        int     nNext = i;

        if (vecs[i].length == 0u) {
            i++;
            continue;
        }
        if (vecs[i].fd < 0) {
            struct iovec iov[MAX_VECS];

            nNext = GatherMemory(&vecs[i], MIN(nVecs - i, MAX_VECS), iov,
                                 &asked);
            n = Ns_SockSendBufs(sock, iov, nNext, timeoutPtr,
                                flags | (i + nNext < nVecs ? MSG_MORE : 0));
            nNext += i;
        } else {
            asked = vecs[i].length;
            n = SendFile(sock->sock, &vecs[i]);
            nNext = i + 1;
        }
        if (n < 0) {
            return total > 0 ? total : -1;
        }
        total += n;
        if ((size_t) n < asked) {
            break;
        }
        i = nNext;
    }
    return total;
}

/*
 * Send until the socket takes no more, whatever the kernel returns in between:
 * a process that was stopped and continued gets a short count with room left,
 * and whoever waits for an edge then waits in vain.  0: the socket is full.
 */
static ssize_t
SendFile(NS_SOCKET sock, const Ns_FileVec *vecPtr)
{
    off_t   offset = vecPtr->offset;
    size_t  done = 0u;
    ssize_t n;

    do {
        n = sendfile(sock, vecPtr->fd, &offset, vecPtr->length - done);
        done += n > 0 ? (size_t) n : 0u;
    } while ((n > 0 && done < vecPtr->length) || (n < 0 && errno == EINTR));
    if (n == 0 && done == 0u) {
        /* The file is shorter than announced. */
        errno = EIO;
        return -1;
    }
    return n >= 0 || done > 0u || errno == EAGAIN ? (ssize_t) done : -1;
}

ssize_t
Ns_SockSendFileBufs_50(Ns_Sock *sock, const Ns_FileVec *vecs, int nVecs,
                       unsigned int flags)
{
    Ns_Time noWait = {0, 0};

    return Ns_SockSendFileBufs(sock, vecs, nVecs, &noWait, (int) flags);
}

int
Ns_SockCork(Ns_Sock *sock, int cork)
{
    NsSock *sockPtr = (NsSock *) sock;
    bool    isChange = cork ? sockPtr->corkDepth++ == 0
                            : sockPtr->corkDepth > 0 && --sockPtr->corkDepth == 0;

    return isChange
        && setsockopt(sock->sock, IPPROTO_TCP, TCP_CORK, &cork, sizeof(cork))
        == 0;
}

/*
 * The memory ranges at the start of vecs; their number.
 */
static int
GatherMemory(const Ns_FileVec *vecs, int nVecs, struct iovec *iov,
             size_t *lengthPtr)
{
    int n = 0;

    while (n < nVecs && vecs[n].fd < 0) {
        *lengthPtr += Ns_SetVec(iov, n, INT2PTR(vecs[n].offset),
                                vecs[n].length);
        n++;
    }
    return n;
}

/* SPDX-License-Identifier: MPL-2.0
 * frame.c --
 *
 *      Frames between server and worker: a length, followed by that many bytes.
 */

#include "proxy_int.h"

static ProxyError Transfer(int sock, char *bytes, size_t n, bool isSending,
                           int64_t deadlineMs);

int64_t
ProxyNowMs(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t
ProxyDeadline(const Ns_Time *timeoutPtr)
{
    int64_t spanMs = (int64_t) timeoutPtr->sec * 1000
        + (timeoutPtr->usec + 999) / 1000;

    return spanMs <= 0 ? -1 : ProxyNowMs() + spanMs;
}

bool
ProxyWait(int sock, int events, int64_t deadlineMs)
{
    for (;;) {
        struct pollfd pfd = {.fd = sock, .events = (short) events};
        int64_t       leftMs = deadlineMs < 0 ? -1 : deadlineMs - ProxyNowMs();
        int           n;

        n = ns_poll(&pfd, 1,
                    deadlineMs < 0 ? -1 : (int) MIN(MAX(leftMs, 0), INT_MAX));
        if (n > 0) {
            return true;
        }
        if (n == 0 && leftMs <= INT_MAX) {
            return false;
        }
    }
}

static ProxyError
Transfer(int sock, char *bytes, size_t n, bool isSending, int64_t deadlineMs)
{
    ProxyError failure = isSending ? PROXY_ESEND : PROXY_ERECV;

    while (n > 0) {
        ssize_t done = isSending
            ? send(sock, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT)
            : recv(sock, bytes, n, MSG_DONTWAIT);

        if (done > 0) {
            bytes += done;
            n -= (size_t) done;
        } else if (done == 0 || (errno != EAGAIN && errno != EINTR)
                   || !ProxyWait(sock, isSending ? POLLOUT : POLLIN,
                                 deadlineMs)) {
            return failure;
        }
    }
    return PROXY_OK;
}

ProxyError
ProxySendFrame(int sock, const Tcl_DString *bytesPtr, int64_t deadlineMs)
{
    uint32_t   length = htonl((uint32_t) bytesPtr->length);
    ProxyError error = Transfer(sock, (char *) &length, sizeof(length), true,
                                deadlineMs);

    return error != PROXY_OK
        ? error
        : Transfer(sock, bytesPtr->string, (size_t) bytesPtr->length, true,
                   deadlineMs);
}

/*
 * Memory grows with the bytes received, not with the length that a broken
 * worker may announce.
 */
ProxyError
ProxyRecvFrame(int sock, Tcl_DString *bytesPtr, int64_t deadlineMs)
{
    uint32_t   length;
    ProxyError error = Transfer(sock, (char *) &length, sizeof(length), false,
                                deadlineMs);

    if (error != PROXY_OK) {
        return error;
    }
    length = ntohl(length);
    if (length > PROXY_MAX_BYTES) {
        return PROXY_EIMPORT;
    }
    while (error == PROXY_OK && length > 0) {
        int      at = bytesPtr->length;
        uint32_t n = MIN(length, 65536u);

        Tcl_DStringSetLength(bytesPtr, at + (int) n);
        error = Transfer(sock, bytesPtr->string + at, n, false, deadlineMs);
        length -= n;
    }
    return error;
}

void
ProxyPutNumber(Tcl_DString *bytesPtr, uint32_t number)
{
    number = htonl(number);
    Tcl_DStringAppend(bytesPtr, (char *) &number, sizeof(number));
}

bool
ProxyGetNumber(const Tcl_DString *bytesPtr, int *atPtr, uint32_t *numberPtr)
{
    if (bytesPtr->length - *atPtr < (int) sizeof(*numberPtr)) {
        return false;
    }
    memcpy(numberPtr, bytesPtr->string + *atPtr, sizeof(*numberPtr));
    *numberPtr = ntohl(*numberPtr);
    *atPtr += (int) sizeof(*numberPtr);
    return true;
}

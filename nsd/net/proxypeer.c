/* SPDX-License-Identifier: MPL-2.0
 * proxypeer.c --
 *
 *      The header of the PROXY protocol on a socket.
 */

#include "net/proxypeer.h"
#include "http/proxyheader.h"
#include "net/makeroom.h"
#include "net/sockstate.h"
#include "nslog.h"
#include "base/assert.h"

static NsProxyStatus Judge(NsDriverThread *threadPtr, NsSock *sockPtr,
                           const char *bytes, size_t length,
                           NsProxyHeader *headerPtr);

NsReadStep
NsProxyTake(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsReader     *readerPtr = sockPtr->messagePtr->readerPtr;
    NsProxyHeader header;
    bool          isDrained = readerPtr->isDrained;

    NsAssert(readerPtr->phase == NS_READ_HEAD && readerPtr->used > 0u);
    switch (Judge(threadPtr, sockPtr, readerPtr->buffer, readerPtr->used,
                  &header)) {
    case NS_PROXY_MORE:
        return isDrained ? NS_STEP_WAIT : NS_STEP_AGAIN;
    case NS_PROXY_INVALID:
        return NS_STEP_GONE;
    case NS_PROXY_DONE:
        break;
    }
    readerPtr->used -= header.bytes;
    if (readerPtr->used == 0u) {
        /* No request has begun. */
        NsMessageRelease(&sockPtr->messagePtr);
        return isDrained ? NS_STEP_WAIT : NS_STEP_AGAIN;
    }
    memmove(readerPtr->buffer, readerPtr->buffer + header.bytes,
            readerPtr->used);
    return NS_STEP_AGAIN;
}

NsReadStep
NsProxyPeek(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    char          buffer[NS_PROXY_MAX_BYTES];
    NsProxyHeader header;
    ssize_t       n;

    do {
        n = recv(sockPtr->pub.sock, buffer, sizeof(buffer),
                 MSG_PEEK | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        return n < 0 && errno == EAGAIN ? NS_STEP_WAIT : NS_STEP_GONE;
    }
    switch (Judge(threadPtr, sockPtr, buffer, (size_t) n, &header)) {
    case NS_PROXY_MORE:
        return sockPtr->sawHangup ? NS_STEP_GONE : NS_STEP_WAIT;
    case NS_PROXY_INVALID:
        return NS_STEP_GONE;
    case NS_PROXY_DONE:
        break;
    }
    n = recv(sockPtr->pub.sock, buffer, header.bytes, MSG_DONTWAIT);
    return n == (ssize_t) header.bytes ? NS_STEP_AGAIN : NS_STEP_GONE;
}

/*
 * What was received counted as the proxy's so far.
 */
static NsProxyStatus
Judge(NsDriverThread *threadPtr, NsSock *sockPtr, const char *bytes,
      size_t length, NsProxyHeader *headerPtr)
{
    NsProxyStatus status = NsProxyParse(bytes, length, headerPtr);

    NsSockAssertMine(threadPtr, sockPtr);
    NsAssert(sockPtr->proxyState != NS_PROXY_NONE);
    switch (status) {
    case NS_PROXY_MORE:
        sockPtr->proxyState = NS_PROXY_BEGUN;
        break;
    case NS_PROXY_INVALID:
        Ns_Log(Notice,
               "%s: closed the connection of %s: no valid header of the PROXY "
               "protocol: %s; see proxyprotocol",
               sockPtr->drvPtr->pub.module, sockPtr->peer, headerPtr->reason);
        break;
    case NS_PROXY_DONE:
        sockPtr->proxyState = NS_PROXY_NONE;
        if (headerPtr->family != AF_UNSPEC) {
            NsSockForgetPartial(threadPtr, sockPtr);
            NsSockSetPeer(sockPtr, headerPtr);
        }
        break;
    }
    return status;
}

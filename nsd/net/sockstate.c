/* SPDX-License-Identifier: MPL-2.0
 * sockstate.c --
 *
 *      What is known of a socket, and of the request that arrives on it.
 */

#include "net/sockstate.h"
#include "http/proxyheader.h"
#include "net/peers.h"
#include "net/progress.h"
#include "net/reader.h"

/*
 * Sockets are not looked at more often than this.
 */
#define LOOK_NS INT64_C(50000000)

void
NsSockNotePeer(NsSock *sockPtr)
{
    struct sockaddr_in  *inPtr = &sockPtr->pub.sa;
    struct sockaddr_in6  in6;
    const unsigned char *bytes = (const unsigned char *) &inPtr->sin_addr;
    int                  family = AF_INET;

    sockPtr->peerPort = ntohs(inPtr->sin_port);
    if (sockPtr->pub.later_sa.ss_family == AF_INET6) {
        memcpy(&in6, &sockPtr->pub.later_sa, sizeof(in6));
        bytes = in6.sin6_addr.s6_addr;
        if (!IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
            family = AF_INET6;
        } else {
            bytes += 12;
            if (!sockPtr->isShared) {
                inPtr->sin_family = AF_INET;
                memcpy(&inPtr->sin_addr, bytes, sizeof(inPtr->sin_addr));
            }
        }
    }
    inet_ntop(family, bytes, sockPtr->peer, sizeof(sockPtr->peer));
}

void
NsSockSetPeer(NsSock *sockPtr, const NsProxyHeader *headerPtr)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons(headerPtr->port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_port = in.sin_port,
                               .sin6_addr = headerPtr->address};

    NsAssert(headerPtr->family == AF_INET || headerPtr->family == AF_INET6);
    memset(&sockPtr->pub.later_sa, 0, sizeof(sockPtr->pub.later_sa));
    if (headerPtr->family == AF_INET) {
        memcpy(&in.sin_addr, &headerPtr->address, sizeof(in.sin_addr));
        memcpy(&sockPtr->pub.later_sa, &in, sizeof(in));
    } else {
        memcpy(&sockPtr->pub.later_sa, &in6, sizeof(in6));
    }
    NsSockNotePeer(sockPtr);
}

bool
NsSockIsIdle(const NsSock *sockPtr)
{
    return sockPtr->headStamp == 0
        && (sockPtr->messagePtr == NULL || !NsSockHasBegun(sockPtr));
}

bool
NsSockHasBegun(const NsSock *sockPtr)
{
    Ns_DriverSetupProc *proc = sockPtr->drvPtr->procs.setupProc;
    const NsReader     *readerPtr;

    if (unlikely(sockPtr->proxyState == NS_PROXY_BEGUN)) {
        return true;
    }
    if (sockPtr->messagePtr == NULL) {
        /* Once per connection, before the first request. */
        return sockPtr->acceptStamp != 0 && proc != NULL && proc(&sockPtr->pub);
    }
    readerPtr = sockPtr->messagePtr->readerPtr;
    return readerPtr->phase != NS_READ_HEAD
        || NsHttpParserHasBegun(&readerPtr->parser, readerPtr->used);
}

NsStamp
NsSockBodySince(const NsSock *sockPtr)
{
    const NsMessage *messagePtr = sockPtr->messagePtr;

    return messagePtr == NULL || messagePtr->readerPtr->phase == NS_READ_HEAD
        ? 0
        : messagePtr->acceptStamp;
}

bool
NsSockHasUnread(const NsSock *sockPtr)
{
    char byte;

    return recv(sockPtr->pub.sock, &byte, 1u, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void
NsSockDropRequest(NsSock *sockPtr)
{
    if (sockPtr->messagePtr != NULL) {
        NsReader *readerPtr = sockPtr->messagePtr->readerPtr;

        NsAssert(readerPtr != NULL);
        if (readerPtr->progressPtr != NULL) {
            NsProgressEnd(&readerPtr->progressPtr);
        }
        NsMessageRelease(&sockPtr->messagePtr);
    }
}

int
NsSockCountPartial(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    NsAssert(threadPtr->peersPtr != NULL);
    if (sockPtr->isPartial) {
        return 0;
    }
    sockPtr->isPartial = true;
    atomic_fetch_add_explicit(&threadPtr->nReading, 1, memory_order_relaxed);
    return NsPeerTableAdd(threadPtr->peersPtr, sockPtr->peer);
}

void
NsSockForgetPartial(NsDriverThread *threadPtr, NsSock *sockPtr)
{
    if (sockPtr->isPartial) {
        sockPtr->isPartial = false;
        atomic_fetch_sub_explicit(&threadPtr->nReading, 1,
                                  memory_order_relaxed);
        NsPeerTableRemove(threadPtr->peersPtr, sockPtr->peer);
    }
}

NsStamp
NsSockKeptSince(const NsSock *sockPtr)
{
    NsAssert(sockPtr->mode == NS_SOCK_READING && sockPtr->acceptStamp == 0);
    return atomic_load_explicit(&sockPtr->deadline, memory_order_relaxed)
        - sockPtr->drvPtr->settings.keepWait;
}

NsStamp
NsSockShortestWait(const NsDriver *drvPtr)
{
    NsStamp keep = drvPtr->settings.keepWait, end = drvPtr->params.closeWait;

    if (keep == 0 && end == 0) {
        return NS_STAMP_SECOND;
    }
    keep = keep == 0 ? end : keep;
    end = end == 0 ? keep : end;
    return MAX(MIN(keep, end), LOOK_NS);
}

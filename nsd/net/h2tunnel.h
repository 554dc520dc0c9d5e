/* SPDX-License-Identifier: MPL-2.0
 * h2tunnel.h --
 *
 *      Streams of HTTP/2 that become tunnels: WebSockets (RFC 8441).
 *
 *      Whoever takes such a stream gets one end of a pair of sockets, and has
 *      a connection like any other.  The driver thread has the other end, and
 *      carries bytes between it and the frames of the stream: as many as the
 *      windows of the client allow, and no faster than they are taken at the
 *      other end.
 */

#ifndef NSD_NET_H2TUNNEL_H
#define NSD_NET_H2TUNNEL_H

#include "net/h2_int.h"

/*
 * Owned by the driver thread, once it has it.
 */
struct NsH2Tunnel {
    NsH2Stream *streamPtr; /* NULL: it is over. */
    int         fd;        /* Our end; -1 when it is over. */
    unsigned    watched;   /* With the poller: NS_POLL_READ and WRITE. */
    bool        isAdded;   /* With the poller. */
    bool        mustPump;  /* Something has happened. */
    bool        isHungUp;  /* The other end is closed. */
    bool        isShut;    /* It knows that the client has ended. */
    NsH2Out     outward;   /* Behind the head, read with it. */
    NsH2Tunnel *nextPtr;   /* Among those that are over. */
};

typedef enum {
    NS_TUNNEL_WAITS,
    NS_TUNNEL_OPENS,
    NS_TUNNEL_FAILS
} NsH2TunnelStep;

/*
 * A tunnel for a stream, and its other end.  NULL: errno says why.  The thread
 * that has the request; all others are for the driver thread.
 */
NsH2Tunnel *NsH2TunnelCreate(NsH2Stream *streamPtr, int *fdPtr);

/*
 * Read the head of the reply at our end.  OPENS: it is there, and can be
 * submitted.  FAILS: it will not come.
 */
NsH2TunnelStep NsH2TunnelOpen(NsH2Stream *streamPtr);

/*
 * Of a stream that asks for a tunnel: what the client has sent, after which the
 * windows open when it is taken, or dropped; what waits is to be tried again,
 * or the client has sent all.
 */
void NsH2TunnelTake(NsH2Stream *streamPtr, const char *bytes, size_t length);
void NsH2TunnelFlush(NsH2Stream *streamPtr);

/*
 * A callback of nghttp2: a frame for the client.
 */
ssize_t NsH2TunnelRead(nghttp2_session *enginePtr, int32_t id, uint8_t *buffer,
                       size_t length, uint32_t *flagsPtr,
                       nghttp2_data_source *sourcePtr, void *arg);

/*
 * Nothing more is expected of the other end, but what it left.
 */
static inline bool
NsH2TunnelIsEnding(const NsH2Stream *streamPtr)
{
    return streamPtr->tunnelPtr != NULL && streamPtr->tunnelPtr->isHungUp;
}

/*
 * Let the other end have no more of it: what it has written still goes to the
 * client, and then the tunnel ends.
 */
void NsH2TunnelStop(NsH2Stream *streamPtr);

/*
 * nghttp2 has closed the stream; nobody has it any more.
 */
void NsH2TunnelNoteClose(NsH2Stream *streamPtr);
void NsH2TunnelEnd(NsH2Stream *streamPtr);

/*
 * What the poller gives back with an event of a tunnel; socks have no such
 * addresses, and listeners others.
 */
static inline bool
NsH2TunnelIsMarked(const void *data)
{
    return ((uintptr_t) data & 2u) != 0u;
}

/*
 * Something has happened at our end of a marked tunnel, which may be over: an
 * earlier event of the same wait has ended it.
 */
void NsH2TunnelHappened(NsDriverThread *threadPtr, void *data, unsigned what);

/*
 * All events of a wait are handled: those that are over can go.
 */
void NsH2TunnelsFree(NsDriverThread *threadPtr);

#endif

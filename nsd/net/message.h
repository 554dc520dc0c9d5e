/* SPDX-License-Identifier: MPL-2.0
 * message.h --
 *
 *      One received request with the memory that lives as long as it.
 *
 *      The driver thread fills a message while it reads.  When it is complete,
 *      the ready procedure takes it over; whoever finishes the request releases
 *      it.  A message outlives the hand-back of its socket: traces and logs run
 *      when the socket may already serve the next request.
 */

#ifndef NSD_NET_MESSAGE_H
#define NSD_NET_MESSAGE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/filewatch.h"
#include "http/head.h"
#include "process/server.h"

struct NsSock;
struct NsReader;

#define NS_PEER_BYTES 64 /* Text of an IPv4 or IPv6 address. */

/*
 * Owned by one thread at a time: the driver's (or spooler's) until the ready
 * procedure, then the thread that serves it.
 */
typedef struct NsMessage {
    struct NsMessage *nextPtr; /* Free list. */
    NsArena           arena;
    struct NsSock    *sockPtr; /* NULL once the socket was given
                                * back. */
    NsServer   *serverPtr;     /* Chosen by driver and Host field. */
    const char *location;      /* Of the host map or the driver. */
    NsHttpHead  head;

    /* The body, decoded.  Exactly one of memory, anonymous file, named file. */
    char *content; /* Null terminated; NULL if in a
                    * file. */
    size_t      contentLength;
    int         contentFd;   /* -1 if in memory. */
    const char *contentFile; /* Named file of maxupload, or NULL. */

    int refusal;         /* 0, or the status that the server has to
                          * answer: that of the head, 400 (chunks), 413, or
                          * 503 (no room for the head or the body). */
    int64_t bodyLimit;   /* Of its URL, for which it is 413; 0: that is
                          * not so. */
    bool isMalformed;    /* What was refused is no request: no script sees
                          * it. */
    bool isRaw;          /* From a driver that does not let the
                          * core parse: head is empty, content
                          * holds what was received, possibly
                          * nothing. */
    bool mustClose;      /* The socket cannot be kept: unread
                          * body, or the client has said so. */
    NsStamp acceptStamp; /* First byte; or the accept, if that
                          * was there by then. */
    NsLook report;       /* Its first bytes were here by then; 0:
                          * not known, or it came in pieces. */
    char           peer[NS_PEER_BYTES];
    unsigned short peerPort;

    struct NsReader *readerPtr; /* net: while the message is
                                 * received. */
    int64_t budgetBytes;        /* net: taken from the memory budget of
                                 * bodies, and of headers. */
    int64_t headBudgetBytes;
    int64_t spoolBytes; /* net: in contentFd, as counted. */
} NsMessage;

/*
 * An empty message, from the free list when there is one.  Any thread.
 */
NsMessage *NsMessageCreate(void);

/*
 * Assert what must hold of a message that is handed over.
 */
void NsMessageCheck(const NsMessage *messagePtr);

/*
 * Give back a message: files are closed and deleted, the arena is reset.
 */
void NsMessageRelease(NsMessage **messagePtrPtr);

/*
 * Close and delete the file of the body, if it has one.  For the message's
 * owner.
 */
void NsMessageDropFile(NsMessage *messagePtr);

/*
 * Make the named file of the body one without a name.
 */
void NsMessageDropName(NsMessage *messagePtr);

/*
 * The calling thread keeps a list of free messages of its own until End.
 */
void NsMessageThreadBegin(void);
void NsMessageThreadEnd(void);

#endif

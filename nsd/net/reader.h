/* SPDX-License-Identifier: MPL-2.0
 * reader.h --
 *
 *      What is known of a request while it arrives.
 *
 *      Lives in the message's arena.  reader.c reads the head and hands over,
 *      body.c takes the body.
 */

#ifndef NSD_NET_READER_H
#define NSD_NET_READER_H

#include "http/chunk.h"
#include "net/driver_int.h"

struct NsProgress;

typedef enum {
    NS_READ_HEAD,
    NS_READ_BUFFER, /* A body that fits behind the head. */
    NS_READ_MEMORY, /* Into a piece of memory of its size. */
    NS_READ_FILE,
    NS_READ_CHUNKS /* Decoded, into memory or a file. */
} NsReadPhase;

/*
 * Owned by the driver or spooler thread that reads.
 */
typedef struct NsReader {
    NsHttpParser parser;
    NsReadPhase  phase;
    char        *buffer; /* Room for size bytes and a null byte. */
    size_t       size;
    size_t       used;
    bool         hasUnparsed; /* The buffer holds bytes that came along with
                               * the request before. */
    bool isDrained;           /* The last read took all there was. */
    int  nReads;

    int64_t        bodyBytes;  /* Announced; unused while decoding chunks. */
    int64_t        maxBytes;   /* Of the body. */
    bool           isUrlLimit; /* That is not what the driver says. */
    size_t         bodyRoom;   /* In memory, for chunks. */
    NsChunkDecoder chunks;
    const char    *rest; /* The bytes behind this request. */
    size_t         restBytes;
    const char    *unstored; /* Of a body in a file, for a spooler
                              * thread; or NULL. */
    size_t unstoredBytes;
    bool   isWhole; /* They are its last. */

    NsStamp            windowStamp; /* For the minimum rate. */
    int64_t            windowBytes;
    struct NsProgress *progressPtr;
} NsReader;

/*
 * The next step after bytes were taken.
 */
typedef enum {
    NS_STEP_WAIT,    /* Nothing left to read. */
    NS_STEP_AGAIN,   /* There may be more. */
    NS_STEP_REQUEST, /* To be handed over. */
    NS_STEP_SPOOL,   /* A spooler thread has to read on. */
    NS_STEP_SESSION, /* It is one of HTTP/2 from now on. */
    NS_STEP_GONE,    /* The connection is of no further use. */
} NsReadStep;

/*
 * Read until nothing is left, and hand over complete requests.  Then the socket
 * belongs to another thread, or waits, or is destroyed.
 */
void NsReadSock(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * Do what the socket's mode asks for: read, discard what comes, or destroy;
 * later, when mustYield says so.
 */
void NsReadComeBack(NsDriverThread *threadPtr, NsSock *sockPtr, bool mustYield);

/*
 * Hand over a connection from which the driver wants nothing to be read.
 */
void NsReadQueueUnread(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The client has taken too long for its request.
 */
void NsReadTimeUp(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * See NsReadKind, for driver threads: what the socket waits for may have
 * changed.
 */
bool NsReadNoteProgress(NsDriverThread *threadPtr, NsSock *sockPtr);

#endif

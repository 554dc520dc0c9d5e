/*
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
    NS_READ_BUFFER,             /* A body that fits behind the head. */
    NS_READ_MEMORY,             /* Into a piece of memory of its size. */
    NS_READ_FILE,
    NS_READ_CHUNKS              /* Decoded, into memory or a file. */
} NsReadPhase;

/*
 * Owned by the driver or spooler thread that reads.
 */
typedef struct NsReader {
    NsHttpParser  parser;
    NsReadPhase   phase;
    char         *buffer;       /* Room for size bytes and a null byte. */
    size_t        size;
    size_t        used;
    bool          hasUnparsed;  /* The buffer holds bytes that came along with
                                 * the request before. */
    bool          isDrained;    /* The last read took all there was. */
    int           nReads;

    int64_t       bodyBytes;    /* Announced; unused while decoding chunks. */
    size_t        bodyRoom;     /* In memory, for chunks. */
    NsChunkDecoder chunks;
    const char   *rest;         /* The bytes behind this request. */
    size_t        restBytes;

    NsStamp       windowStamp;  /* For the minimum rate. */
    int64_t       windowBytes;
    struct NsProgress *progressPtr;
} NsReader;

/*
 * The next step after bytes were taken.
 */
typedef enum {
    NS_STEP_WAIT,               /* Nothing left to read. */
    NS_STEP_AGAIN,              /* There may be more. */
    NS_STEP_REQUEST,            /* To be handed over. */
    NS_STEP_SPOOL,              /* A spooler thread has to read on. */
    NS_STEP_GONE,               /* The connection is of no further use. */
    NS_STEP_BAD_CHUNK           /* Not chunked coding. */
} NsReadStep;

/*
 * body.c: the head is complete; bytes behind it are in the buffer.
 */
NsReadStep NsBodyBegin(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The place for the next bytes of the body; and they have been read into it.
 */
struct iovec NsBodyTarget(NsDriverThread *threadPtr, NsSock *sockPtr);
NsReadStep   NsBodyTake(NsDriverThread *threadPtr, NsSock *sockPtr,
                        size_t nNew);

#endif

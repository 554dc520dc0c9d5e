/* SPDX-License-Identifier: MPL-2.0
 * replybody.c --
 *
 *      The body of a reply as it comes in.
 */

#include "net/replybody.h"

#include <fcntl.h>
#include <zlib.h>

#include "base/assert.h"
#include "base/tempfile.h"
#include "base/writeall.h"
#include "nsthread.h"

#define INFLATE_BYTES 16384
#define MAX_MEMORY    ((size_t) INT_MAX - 65536u) /* What a Tcl value holds. */

struct NsReplyBody {
    NsReplyBodySpec  spec;   /* Constant. */
    _Atomic uint64_t nBytes; /* The owner writes; relaxed. */
    z_stream         inflater;
    enum { PLAIN, GZIP, GZIP_ENDED } coding;
    char      *bytes; /* In memory. */
    size_t     used;
    size_t     room;
    int        fd;          /* -1: not in a file. */
    bool       isElsewhere; /* largeProc has it. */
    bool       isTaken;     /* The file stays. */
    Ns_DString path;
    Ns_DString error;
};

static const char *Inflate(NsReplyBody *bodyPtr, const char *data,
                           size_t length);
static const char *Store(NsReplyBody *bodyPtr, const char *data, size_t length);
static const char *KeepInMemory(NsReplyBody *bodyPtr, const char *data,
                                size_t length);
static const char *LeaveMemory(NsReplyBody *bodyPtr);
static const char *KeepElsewhere(NsReplyBody *bodyPtr, const char *data,
                                 size_t length);
static const char *FileError(NsReplyBody *bodyPtr);

NsReplyBody *
NsReplyBodyCreate(const NsReplyBodySpec *specPtr)
{
    NsReplyBody *bodyPtr = ns_calloc(1u, sizeof(NsReplyBody));

    bodyPtr->spec = *specPtr;
    bodyPtr->fd = -1;
    Ns_DStringInit(&bodyPtr->path);
    Ns_DStringInit(&bodyPtr->error);
    Ns_DStringVarAppend(&bodyPtr->path, specPtr->file, NULL);
    bodyPtr->spec.file = NULL;
    return bodyPtr;
}

void
NsReplyBodyDestroy(NsReplyBody **bodyPtrPtr)
{
    NsReplyBody *bodyPtr = *bodyPtrPtr;

    *bodyPtrPtr = NULL;
    if (bodyPtr->coding != PLAIN) {
        (void) inflateEnd(&bodyPtr->inflater);
    }
    if (bodyPtr->fd >= 0) {
        NsClose(bodyPtr->fd);
        if (!bodyPtr->isTaken) {
            (void) unlink(Ns_DStringValue(&bodyPtr->path));
        }
    }
    Ns_DStringFree(&bodyPtr->path);
    Ns_DStringFree(&bodyPtr->error);
    ns_free(bodyPtr->bytes);
    ns_free(bodyPtr);
}

void
NsReplyBodySetGzip(NsReplyBody *bodyPtr)
{
    NsAssert(bodyPtr->nBytes == 0 && bodyPtr->coding == PLAIN);
    if (!bodyPtr->spec.isRaw
        && inflateInit2(&bodyPtr->inflater, 15 + 16) == Z_OK) {
        bodyPtr->coding = GZIP;
    }
}

const char *
NsReplyBodyPut(NsReplyBody *bodyPtr, const char *data, size_t length)
{
    return bodyPtr->coding == PLAIN
        ? Store(bodyPtr, data, length)
        : Inflate(bodyPtr, data, length);
}

/*
 * RFC 1952, section 2.2: there may be several members.
 */
static const char *
Inflate(NsReplyBody *bodyPtr, const char *data, size_t length)
{
    z_stream   *streamPtr = &bodyPtr->inflater;
    char        buffer[INFLATE_BYTES];
    const char *error = NULL;

    streamPtr->next_in = (Bytef *) data;
    streamPtr->avail_in = (uInt) length;
    do {
        int status;

        if (bodyPtr->coding == GZIP_ENDED && streamPtr->avail_in > 0) {
            (void) inflateReset(streamPtr);
            bodyPtr->coding = GZIP;
        }
        streamPtr->next_out = (Bytef *) buffer;
        streamPtr->avail_out = sizeof(buffer);
        status = inflate(streamPtr, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            bodyPtr->coding = GZIP_ENDED;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            return "invalid gzip data";
        }
        error = Store(bodyPtr, buffer, sizeof(buffer) - streamPtr->avail_out);
    } while (error == NULL
             && (streamPtr->avail_in > 0 || streamPtr->avail_out == 0));
    return error;
}

const char *
NsReplyBodyEnd(NsReplyBody *bodyPtr)
{
    return bodyPtr->coding == GZIP && bodyPtr->inflater.total_in > 0
        ? "incomplete gzip data"
        : NULL;
}

static const char *
Store(NsReplyBody *bodyPtr, const char *data, size_t length)
{
    const NsReplyBodySpec *specPtr = &bodyPtr->spec;
    uint64_t               nBytes = NsReplyBodyLength(bodyPtr) + length;
    bool                   isKept = true;
    const char            *error = NULL;

    if (length == 0u) {
        return NULL;
    }
    atomic_store_explicit(&bodyPtr->nBytes, nBytes, memory_order_relaxed);
    if (specPtr->maxBytes > 0 && nBytes > specPtr->maxBytes) {
        Ns_DStringPrintf(&bodyPtr->error, "response exceeds %" PRIu64 " bytes",
                         specPtr->maxBytes);
        return Ns_DStringValue(&bodyPtr->error);
    }
    if (specPtr->dataProc != NULL) {
        error = specPtr->dataProc(data, length, &isKept, specPtr->arg);
    }
    if (error != NULL || !isKept) {
        return error;
    }
    if (bodyPtr->fd < 0 && !bodyPtr->isElsewhere && specPtr->maxInMemory >= 0
        && bodyPtr->used + length > (uint64_t) specPtr->maxInMemory) {
        error = LeaveMemory(bodyPtr);
    }
    if (error != NULL) {
        return error;
    }
    return bodyPtr->fd >= 0 || bodyPtr->isElsewhere
        ? KeepElsewhere(bodyPtr, data, length)
        : KeepInMemory(bodyPtr, data, length);
}

static const char *
KeepInMemory(NsReplyBody *bodyPtr, const char *data, size_t length)
{
    size_t needed = bodyPtr->used + length;

    NsAssert(bodyPtr->used <= bodyPtr->room);
    if (needed > MAX_MEMORY) {
        return "response is too large for memory";
    }
    if (needed > bodyPtr->room) {
        bodyPtr->room = MAX(needed, bodyPtr->room + bodyPtr->room / 2u);
        bodyPtr->bytes = ns_realloc(bodyPtr->bytes, bodyPtr->room);
    }
    memcpy(bodyPtr->bytes + bodyPtr->used, data, length);
    bodyPtr->used = needed;
    return NULL;
}

/*
 * What came so far goes to the file, too.
 */
static const char *
LeaveMemory(NsReplyBody *bodyPtr)
{
    const char *error;

    if (bodyPtr->spec.largeProc != NULL) {
        bodyPtr->isElsewhere = true;
    } else if (Ns_DStringLength(&bodyPtr->path) > 0) {
        bodyPtr->fd = open(Ns_DStringValue(&bodyPtr->path),
                           O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    } else {
        bodyPtr->fd = NsTempFileOpenNamed(NULL, &bodyPtr->path);
    }
    if (!bodyPtr->isElsewhere && bodyPtr->fd < 0) {
        return FileError(bodyPtr);
    }
    error = KeepElsewhere(bodyPtr, bodyPtr->bytes, bodyPtr->used);
    ns_free(bodyPtr->bytes);
    bodyPtr->bytes = NULL;
    bodyPtr->used = bodyPtr->room = 0u;
    return error;
}

static const char *
KeepElsewhere(NsReplyBody *bodyPtr, const char *data, size_t length)
{
    bool isKept;

    if (length == 0u) {
        return NULL;
    }
    if (bodyPtr->isElsewhere) {
        return bodyPtr->spec.largeProc(data, length, &isKept,
                                       bodyPtr->spec.arg);
    }
    return NsWriteAll(bodyPtr->fd, data, length) ? NULL : FileError(bodyPtr);
}

static const char *
FileError(NsReplyBody *bodyPtr)
{
    Ns_DStringVarAppend(&bodyPtr->error, "cannot write ",
                        Ns_DStringValue(&bodyPtr->path), ": ",
                        Tcl_ErrnoMsg(errno), NULL);
    return Ns_DStringValue(&bodyPtr->error);
}

const char *
NsReplyBodyBytes(const NsReplyBody *bodyPtr, size_t *lengthPtr)
{
    *lengthPtr = bodyPtr->used;
    if (bodyPtr->fd >= 0 || bodyPtr->isElsewhere) {
        return NULL;
    }
    return bodyPtr->bytes == NULL ? "" : bodyPtr->bytes;
}

const char *
NsReplyBodyFile(const NsReplyBody *bodyPtr)
{
    return bodyPtr->fd < 0 ? NULL : Ns_DStringValue(&bodyPtr->path);
}

void
NsReplyBodyTakeFile(NsReplyBody *bodyPtr)
{
    bodyPtr->isTaken = true;
}

uint64_t
NsReplyBodyLength(const NsReplyBody *bodyPtr)
{
    return atomic_load_explicit(&bodyPtr->nBytes, memory_order_relaxed);
}

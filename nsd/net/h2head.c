/* SPDX-License-Identifier: MPL-2.0
 * h2head.c --
 *
 *      The head of a reply, as nghttp2 wants it.
 *
 *      The replies of a thread have often the same head, but for the time once
 *      in a second: the last one is remembered with what became of it.
 */

#include "net/h2head.h"
#include "http/reply.h"
#include "http/replyfields.h"
#include "http/status.h"
#include "nsthread.h"
#include "base/assert.h"

#define MAX_FIELDS 256

/*
 * The thread's own.
 */
typedef struct Memory {
    size_t     bytes;                  /* 0: nothing is remembered. */
    char       text[NS_H2_HEAD_ROOM];  /* As it came. */
    char       names[NS_H2_HEAD_ROOM]; /* With names in lower case. */
    int        status;
    int64_t    declared;
    int        nFields;
    nghttp2_nv fields[NS_H2_FIELD_ROOM]; /* In `names`, but for the first. */
} Memory;

static _Thread_local Memory memory;

static size_t HeadBytes(const char *text, size_t length);
static void   KeepHead(NsH2Stream *streamPtr, const char *bytes, size_t length);
static bool   Parse(NsH2Stream *streamPtr, int *statusPtr);
static bool   AnswerConnect(NsH2Stream *streamPtr, int *statusPtr);
static void   Copy(NsH2Stream *streamPtr, const Memory *fromPtr);
static void   Remember(const NsH2Stream *streamPtr, int status);
static void   SetStatus(NsH2Stream *streamPtr, int status);
static nghttp2_nv MakePair(const char *name, size_t nameLength,
                           const char *value, size_t valueLength);

size_t
NsH2HeadTake(NsH2Stream *streamPtr, const NsPiece *pieces, int nPieces)
{
    size_t taken = 0u;

    for (int i = 0; i < nPieces && !streamPtr->hasHead; i++) {
        const char *bytes = pieces[i].base;
        size_t      length = pieces[i].length;
        size_t      before = streamPtr->headBytes, end;

        if (length == 0u) {
            continue;
        }
        if (pieces[i].fd >= 0
            || (before == 0u && !NsReplyMayBeHead(bytes, length))) {
            /* A reply without a head: all is body. */
            streamPtr->hasHead = true;
            return taken;
        }
        end = before == 0u ? HeadBytes(bytes, length) : 0u;
        KeepHead(streamPtr, bytes, end > 0u ? end : length);
        if (before > 0u) {
            end = NsReplyHeadBytes(streamPtr->head, streamPtr->headBytes,
                                   before);
            end -= MIN(end, before);
        }
        streamPtr->hasHead = end > 0u || streamPtr->headBytes > NS_H2_MAX_LIST;
        taken += end > 0u ? end : length;
        if (end > 0u) {
            streamPtr->headBytes = before + end;
        }
    }
    return taken;
}

/*
 * The length of the head at the start of a text; 0: it does not end there.
 */
static size_t
HeadBytes(const char *text, size_t length)
{
    return memory.bytes > 0u && length >= memory.bytes
            && memcmp(text, memory.text, memory.bytes) == 0
        ? memory.bytes
        : NsReplyHeadBytes(text, length, 0u);
}

static void
KeepHead(NsH2Stream *streamPtr, const char *bytes, size_t length)
{
    size_t wanted = streamPtr->headBytes + length;

    if (streamPtr->head == NULL) {
        streamPtr->head = streamPtr->headRoom;
        streamPtr->headSize = sizeof(streamPtr->headRoom);
    }
    if (wanted > streamPtr->headSize) {
        char *head = ns_malloc(wanted * 2u);

        memcpy(head, streamPtr->head, streamPtr->headBytes);
        if (streamPtr->head != streamPtr->headRoom) {
            ns_free(streamPtr->head);
        }
        streamPtr->head = head;
        streamPtr->headSize = wanted * 2u;
    }
    NsAssert(wanted <= streamPtr->headSize);
    memcpy(streamPtr->head + streamPtr->headBytes, bytes, length);
    streamPtr->headBytes = wanted;
}

bool
NsH2HeadMake(NsH2Stream *streamPtr)
{
    size_t bytes = streamPtr->headBytes;
    int    status = 200;
    bool   isUnfit = false;

    NsAssert(streamPtr->fields == NULL);
    if (unlikely(streamPtr->isConnect)) {
        if (!Parse(streamPtr, &status)) {
            return false;
        }
        isUnfit = !AnswerConnect(streamPtr, &status);
    } else if (bytes > 0u && bytes == memory.bytes
               && memcmp(streamPtr->head, memory.text, bytes) == 0) {
        status = memory.status;
        Copy(streamPtr, &memory);
    } else {
        bool isShort = bytes > 0u && streamPtr->head == streamPtr->headRoom;

        memory.bytes = 0u;
        if (isShort) {
            memcpy(memory.text, streamPtr->head, bytes);
        }
        if (!Parse(streamPtr, &status)) {
            return false;
        }
        if (isShort && streamPtr->fields == streamPtr->fieldRoom) {
            Remember(streamPtr, status);
        }
    }
    SetStatus(streamPtr, status);
    streamPtr->hasNoBody = streamPtr->isHead || NsStatusHasNoBody(status)
        || isUnfit;
    return true;
}

/*
 * To a client that asks for a tunnel, a success says that it is there (RFC
 * 8441, 5).  Only the channel that has taken the stream says so, in the words
 * of HTTP/1.1.  False: a page was found instead, which nobody wants.
 */
static bool
AnswerConnect(NsH2Stream *streamPtr, int *statusPtr)
{
    int n = 1;

    if (*statusPtr >= 300) {
        return true;
    }
    streamPtr->declared = -1;
    if (*statusPtr != 101) {
        *statusPtr = 501;
        streamPtr->nFields = 1;
        return false;
    }
    NsAssert(streamPtr->tunnelPtr != NULL);
    *statusPtr = 200;
    for (int i = 1; i < streamPtr->nFields; i++) {
        const nghttp2_nv *pairPtr = &streamPtr->fields[i];

        if (pairPtr->namelen != 20u
            || memcmp(pairPtr->name, "sec-websocket-accept", 20u) != 0) {
            streamPtr->fields[n++] = *pairPtr;
        }
    }
    streamPtr->nFields = n;
    return true;
}

/*
 * All fields but that of the status.
 */
static bool
Parse(NsH2Stream *streamPtr, int *statusPtr)
{
    NsReplyField fields[MAX_FIELDS];
    int          n = 0;

    streamPtr->declared = -1;
    if (streamPtr->headBytes > 0u) {
        n = NsReplyFieldsParse(streamPtr->head, streamPtr->headBytes, statusPtr,
                               fields, MAX_FIELDS);
    }
    if (n < 0
        || (*statusPtr < 200
            && (*statusPtr != 101 || streamPtr->tunnelPtr == NULL))) {
        return false;
    }
    streamPtr->nFields = n + 1;
    streamPtr->fields = n + 1 <= NS_H2_FIELD_ROOM
        ? streamPtr->fieldRoom
        : ns_malloc((size_t) (n + 1) * sizeof(nghttp2_nv));
    for (int i = 0; i < n; i++) {
        if (fields[i].nameLength == 14u
            && memcmp(fields[i].name, "content-length", 14u) == 0) {
            streamPtr->declared = NsReplyFieldBytes(&fields[i]);
        }
        streamPtr->fields[i + 1] =
            MakePair(fields[i].name, fields[i].nameLength, fields[i].value,
                     fields[i].valueLength);
    }
    return true;
}

static void
Copy(NsH2Stream *streamPtr, const Memory *fromPtr)
{
    char *head = streamPtr->head;

    NsAssert(head == streamPtr->headRoom);
    memcpy(head, fromPtr->names, fromPtr->bytes);
    streamPtr->declared = fromPtr->declared;
    streamPtr->nFields = fromPtr->nFields;
    streamPtr->fields = streamPtr->fieldRoom;
    for (int i = 1; i < fromPtr->nFields; i++) {
        nghttp2_nv *pairPtr = &streamPtr->fieldRoom[i];

        *pairPtr = fromPtr->fields[i];
        pairPtr->name = (uint8_t *) head
            + (pairPtr->name - (const uint8_t *) fromPtr->names);
        pairPtr->value = (uint8_t *) head
            + (pairPtr->value - (const uint8_t *) fromPtr->names);
    }
}

static void
Remember(const NsH2Stream *streamPtr, int status)
{
    const uint8_t *head = (const uint8_t *) streamPtr->head;

    memory.bytes = streamPtr->headBytes;
    memcpy(memory.names, streamPtr->head, memory.bytes);
    memory.status = status;
    memory.declared = streamPtr->declared;
    memory.nFields = streamPtr->nFields;
    for (int i = 1; i < memory.nFields; i++) {
        nghttp2_nv *pairPtr = &memory.fields[i];

        *pairPtr = streamPtr->fields[i];
        pairPtr->name = (uint8_t *) memory.names + (pairPtr->name - head);
        pairPtr->value = (uint8_t *) memory.names + (pairPtr->value - head);
    }
}

static void
SetStatus(NsH2Stream *streamPtr, int status)
{
    streamPtr->statusText[0] = (char) ('0' + status / 100);
    streamPtr->statusText[1] = (char) ('0' + status / 10 % 10);
    streamPtr->statusText[2] = (char) ('0' + status % 10);
    streamPtr->fields[0] = MakePair(":status", 7u, streamPtr->statusText, 3u);
}

/*
 * Not copied by nghttp2: the text lives as long as the stream.
 */
static nghttp2_nv
MakePair(const char *name, size_t nameLength, const char *value,
         size_t valueLength)
{
    return (nghttp2_nv){
        .name = (uint8_t *) (uintptr_t) name,
        .value = (uint8_t *) (uintptr_t) value,
        .namelen = nameLength,
        .valuelen = valueLength,
        .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

/* SPDX-License-Identifier: MPL-2.0
 * row.c --
 *
 *      Records as rows of a database, in a sink's buffer.
 */

#include "log/target/row.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/stream/line.h"
#include "log/stream/severity.h"

/*
 * Stream, severity and record follow, without separators.
 */
typedef struct RowHead {
    int64_t  time;
    uint32_t streamBytes;
    uint32_t severityBytes;
    uint32_t recordBytes;
    uint32_t pad;
} RowHead;

static Ns_LogText TakeText(const char **bytesPtr, size_t length);

void
NsRowAppendServer(Ns_DString *dsPtr)
{
    char host[256] = "";

    (void) gethostname(host, sizeof(host) - 1);
    Ns_DStringVarAppend(dsPtr, host, ":", (char *) NULL);
    NsRingAppendServer(dsPtr, &nsRingKey);
}

size_t
NsRowFormat(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr,
            char *buffer, size_t room)
{
    const char *severity =
        Ns_LogSeverityName((Ns_LogSeverity) recordPtr->severity);
    NsLogOut out = {buffer, room, 0};
    RowHead  head = {.time = recordPtr->time,
                     .streamBytes = (uint32_t) strlen(recordPtr->stream),
                     .severityBytes = (uint32_t) strlen(severity)};
    size_t   n, start;

    NsLogPut(&out, (const char *) &head, sizeof(head));
    NsLogPut(&out, recordPtr->stream, head.streamBytes);
    NsLogPut(&out, severity, head.severityBytes);
    NsAssert(out.length
             == sizeof(head) + head.streamBytes + head.severityBytes);
    start = MIN(out.length, room);
    n = NsFormLine(sink->form, stream, recordPtr, sink->buffer->isNote,
                   buffer + start, room - start);
    if (n == 0) {
        return 0;
    }
    head.recordBytes = (uint32_t) (n - 1); /* Without the newline. */
    if (out.length + n <= room) {
        memcpy(buffer, &head, sizeof(head));
        return out.length + n - 1;
    }
    return out.length + n;
}

size_t
NsRowParse(const char *bytes, Ns_LogRow *rowPtr)
{
    const char *next = bytes + sizeof(RowHead);
    NsLogOut    out = {rowPtr->time, sizeof(rowPtr->time) - 1, 0};
    RowHead     head;

    memcpy(&head, bytes, sizeof(head));
    rowPtr->nanos = head.time;
    NsLogPutUtc(&out, head.time / 1000);
    NsAssert(out.length < sizeof(rowPtr->time));
    rowPtr->time[out.length] = '\0';
    rowPtr->stream = TakeText(&next, head.streamBytes);
    rowPtr->severity = TakeText(&next, head.severityBytes);
    rowPtr->record = TakeText(&next, head.recordBytes);
    return (size_t) (next - bytes);
}

static Ns_LogText
TakeText(const char **bytesPtr, size_t length)
{
    Ns_LogText text = {*bytesPtr, length};

    *bytesPtr += length;
    return text;
}

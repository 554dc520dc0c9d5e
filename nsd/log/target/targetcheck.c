/* SPDX-License-Identifier: MPL-2.0
 * targetcheck.c --
 *
 *      What must hold whenever a type of sinks gets bytes to write.
 */

#include "log/target/targetcheck.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"

void
NsTargetCheckWrite(Ns_LogSink sink, const char *bytes, size_t length)
{
    const NsSinkBuffer *bufferPtr = sink->buffer;

    NsAssertLocked(&sink->lock);
    NsAssert(bufferPtr->nWritten < bufferPtr->nBuffered);
    NsAssert(bufferPtr->nBuffered <= bufferPtr->room);
    NsAssert(bytes == bufferPtr->bytes + bufferPtr->nWritten);
    NsAssert(length == bufferPtr->nBuffered - bufferPtr->nWritten);
}

void
NsTargetCheckWritten(Ns_LogSink sink)
{
    NsAssertLocked(&sink->lock);
    NsAssert(sink->buffer->nWritten == sink->buffer->nBuffered);
}

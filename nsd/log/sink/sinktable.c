/* SPDX-License-Identifier: MPL-2.0
 * sinktable.c --
 *
 *      The table of sinks, and the mapping that they read.
 *
 *      A place in the table never becomes empty again.  A removed sink stays
 *      there until another sink takes its place, and is freed when no thread
 *      looks at sinks.
 */

#include "log/sink/sinktable.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinktarget.h"

/*
 * Written with nsSinksLock held.
 */
static _Atomic(Ns_LogSink) sinks[NS_RING_MAX_SINKS];
static atomic_int          nSinks;
static Ns_LogSink          firstUnlinked; /* No longer in the table. */
static atomic_bool         isFreeDue; /* There are unlinked sinks, or lists of
                                       * streams. */

static _Atomic(NsRing *) ring;

Ns_Mutex   nsSinksLock;
atomic_int nsSinkUsers;

void
NsSinkTableInit(void)
{
    NsMutexSetup(&nsSinksLock, NS_RANK_LOG_SINKS, "ns:log", "sinks");
}

void
NsSinkPutIntoTableLocked(Ns_LogSink sink)
{
    Ns_LogSink old = atomic_exchange(&sinks[sink->index], sink);

    NsAssertLocked(&nsSinksLock);
    NsAssert(sink->index <= atomic_load(&nSinks));
    NsAssert(old == NULL || atomic_load(&old->isDetached));
    if (old != NULL) {
        old->nextPtr = firstUnlinked;
        firstUnlinked = old;
        NsSinkFreeLater();
    }
    if (sink->index == atomic_load(&nSinks)) {
        atomic_store(&nSinks, sink->index + 1);
    }
}

void
NsSinkFreeLater(void)
{
    NsAssertLocked(&nsSinksLock);
    atomic_store(&isFreeDue, true);
}

Ns_LogSink
NsSinkTakeUnlinked(void)
{
    Ns_LogSink sink = NULL;

    if (!atomic_load(&isFreeDue)) {
        return NULL;
    }
    Ns_MutexLock(&nsSinksLock);
    if (atomic_load(&nsSinkUsers) == 0) {
        atomic_store(&isFreeDue, false);
        sink = firstUnlinked;
        firstUnlinked = NULL;
        NsStreamFreeListsLocked();
    }
    Ns_MutexUnlock(&nsSinksLock);
    return sink;
}

Ns_LogSink
NsSinkFind(const char *name)
{
    Ns_LogSink sink;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isRemoved) && STREQ(sink->name, name)) {
            return sink;
        }
    }
    return NULL;
}

Ns_LogSink
NsSinkAt(int index)
{
    return index < atomic_load_explicit(&nSinks, memory_order_acquire)
        ? atomic_load(&sinks[index])
        : NULL;
}

int
NsSinkCount(void)
{
    return atomic_load(&nSinks);
}

bool
NsSinkIsInTable(Ns_LogSink sink)
{
    return NsSinkAt(sink->index) == sink;
}

const char *
NsSinkName(Ns_LogSink sink)
{
    return sink->name;
}

const NsSinkType *
NsSinkTypeOf(Ns_LogSink sink)
{
    return sink->typePtr;
}

const char *
NsSinkFile(Ns_LogSink sink)
{
    if (sink->target->file != NULL) {
        return sink->target->file;
    }
    /* See filesink.c. */
    return sink->typePtr->filePtr != NULL ? "stderr" : sink->typePtr->name;
}

const char *
NsSinkOption(Ns_LogSink sink, int index)
{
    const char *text;

    if (index == 0) {
        return NsSinkFile(sink);
    }
    text = sink->values[index].text;
    return sink->typePtr->options[index].isSecret && *text != '\0'
        ? "***"
        : text;
}

const char *
NsSinkPattern(Ns_LogSink sink, int index)
{
    return index < sink->nPatterns ? sink->patterns[index] : NULL;
}

bool
NsSinkWants(Ns_LogSink sink, int stream)
{
    const NsSinkStream *streamPtr = atomic_load(&sink->isDetached)
        ? NULL
        : atomic_load(&sink->firstStream);

    while (streamPtr != NULL && streamPtr->index != stream) {
        streamPtr = atomic_load(&streamPtr->nextPtr);
    }
    return streamPtr != NULL;
}

bool
NsSinkIsHeard(Ns_LogSink sink)
{
    int                  index = NsStreamIndex(nsSystemStream);
    bool                 isHeard = !NsSinkWants(sink, index);
    const NsStreamSinks *sinksPtr;

    NsSinkEnter();
    sinksPtr = NsStreamGetSinks(index);
    for (int i = 0; !isHeard && i < sinksPtr->n; i++) {
        isHeard = sinksPtr->sinks[i] != sink
            && atomic_load(&sinksPtr->sinks[i]->failing->since) == 0;
    }
    NsSinkLeave();
    return isHeard;
}

bool
NsSinkIsRemoved(Ns_LogSink sink)
{
    return atomic_load(&sink->isRemoved);
}

bool
NsSinkMayRemove(Ns_LogSink sink)
{
    return !sink->isStandardOutput && !sink->isModules;
}

void
NsSinkSetRing(NsRing *ringPtr)
{
    atomic_store(&ring, ringPtr);
}

NsRing *
NsSinkRing(void)
{
    return atomic_load_explicit(&ring, memory_order_acquire);
}

const char *
NsSinkRingPath(void)
{
    NsRing *ringPtr = NsSinkRing();

    const char *path = ringPtr == NULL ? NULL : atomic_load(&ringPtr->path);

    return path != NULL ? path : "";
}

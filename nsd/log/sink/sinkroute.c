/* SPDX-License-Identifier: MPL-2.0
 * sinkroute.c --
 *
 *      Which streams go to which sinks.
 */

#include "log/sink/sinkroute.h"

#include "log/sink/sink_int.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinktable.h"
#include "log/sink/sinkwake.h"
#include "log/stream/severity.h"
#include "nslog.h"

static void        RouteLocked(Ns_LogStream stream);
static Ns_LogSink *ListOf(Ns_LogStream stream);
static void        Widen(NsStreamFilter *filterPtr, Ns_LogSink sink,
                         Ns_LogStream stream, bool isFirst);

void
NsSinkJoinStream(int index)
{
    Ns_LogStream stream = NsStreamAt(index);
    Ns_LogSink   sink;
    int          lacking = -1;
    bool         isWanted = false;

    Ns_MutexLock(&nsSinksLock);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (atomic_load(&sink->isRemoved) || !NsSinkMatches(sink, stream)) {
            continue;
        }
        if (NsSinkJoin(sink, stream)) {
            isWanted = true;
            NsSinkNoteJoined(sink);
        } else {
            lacking = sink->index;
        }
    }
    if (isWanted) {
        RouteLocked(stream);
    }
    Ns_MutexUnlock(&nsSinksLock);
    if (lacking >= 0) {
        Ns_Log(
            Error,
            "log: stream '%s' does not go to all sinks that should take it: %s",
            NsStreamName(stream), NsSinkReason(NS_SINK_TOO_MANY_READERS));
    }
}

bool
NsSinkMatches(Ns_LogSink sink, Ns_LogStream stream)
{
    for (int i = 0; i < sink->nPatterns; i++) {
        if (NsStreamMatches(stream, sink->patterns[i])) {
            return true;
        }
    }
    return false;
}

void
NsSinkRouteAgain(Ns_LogSink sink)
{
    Ns_MutexLock(&nsSinksLock);
    NsSinkRouteAllLocked(sink);
    Ns_MutexUnlock(&nsSinksLock);
}

static void
RouteLocked(Ns_LogStream stream)
{
    Ns_LogSink    *list = ListOf(stream), sink;
    int            n = 0;
    size_t         nudgeBytes = SIZE_MAX;
    NsStreamFilter filter = {0, NULL};

    NsAssertLocked(&nsSinksLock);
    for (; (sink = list[n]) != NULL; n++) {
        Widen(&filter, sink, stream, n == 0);
        nudgeBytes = MIN(nudgeBytes,
                         MAX(atomic_load(&sink->limits.wakeBytes), 4096));
    }
    if (NsStreamSetRoute(stream,
                         &(NsStreamRoute){.nSinks = n,
                                          .sinks = list,
                                          .nudgeBytes = nudgeBytes,
                                          .filter = filter})) {
        NsSinkFreeLater();
    }
    ns_free(filter.ignore);
    ns_free(list);
}

/*
 * The sinks that take the stream, as an array on the heap that ends with NULL.
 */
static Ns_LogSink *
ListOf(Ns_LogStream stream)
{
    Ns_LogSink *list = ns_calloc(1u, sizeof(*list)), sink;
    size_t      n = 0;

    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (NsSinkWants(sink, NsStreamIndex(stream))
            && !atomic_load(&sink->isRemoved)) {
            list = ns_realloc(list, (n + 2) * sizeof(*list));
            list[n++] = sink;
            list[n] = NULL;
        }
    }
    return list;
}

void
NsSinkRouteAllLocked(Ns_LogSink sink)
{
    const NsSinkStream *streamPtr = atomic_load(&sink->firstStream);

    NsAssertLocked(&nsSinksLock);
    for (; streamPtr != NULL; streamPtr = atomic_load(&streamPtr->nextPtr)) {
        RouteLocked(NsStreamAt(streamPtr->index));
    }
}

/*
 * Widen the filter so that it passes what the sink takes of the stream.
 */
static void
Widen(NsStreamFilter *filterPtr, Ns_LogSink sink, Ns_LogStream stream,
      bool isFirst)
{
    NsSinkSettings settings;
    char          *common;
    int            weight;

    NsSinkGetSettings(sink, &settings);
    weight = settings.minSeverity < 0 || stream == nsOperationStream
        ? 0
        : NsSeverityWeight(settings.minSeverity);
    common = isFirst ? ns_strcopy(settings.ignore)
                     : NsKindsCommon(filterPtr->ignore, settings.ignore);
    ns_free(filterPtr->ignore);
    filterPtr->ignore = common;
    filterPtr->minWeight = isFirst ? weight : MIN(filterPtr->minWeight, weight);
    NsSinkFreeSettings(&settings);
}

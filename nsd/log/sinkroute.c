/*
 * sinkroute.c --
 *
 *      Which streams go to which sinks.
 */

#include "log/sink_int.h"

#include "log/severity.h"

static void Widen(NsStreamFilter *filterPtr, Ns_LogSink sink,
                  Ns_LogStream stream, bool isFirst);


void
NsSinkStreamCreated(Ns_LogStream stream)
{
    Ns_LogSink sink;
    int        index = NsStreamIndex(stream);
    bool       isWanted = false;

    Ns_MutexLock(&nsSinksLock);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!atomic_load(&sink->isRemoved) && NsSinkMatches(sink, stream)) {
            atomic_store(&sink->wants[index], 1);
            if (sink->slotPtr != NULL) {
                atomic_store(&sink->slotPtr->wants[index], 1);
            }
            isWanted = true;
            /* An idle sink must come back for its new stream. */
            NsSinkKick(sink);
        }
    }
    if (isWanted) {
        NsSinkRouteLocked(stream);
    }
    Ns_MutexUnlock(&nsSinksLock);
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

void
NsSinkRouteLocked(Ns_LogStream stream)
{
    Ns_LogSink direct[NS_RING_SINKS], sink;
    int        nDirect = 0, index = NsStreamIndex(stream);
    bool       hasLane = false;
    size_t     nudgeBytes = SIZE_MAX;
    NsStreamFilter filter = {0, NULL};

    NsAssertLocked(&nsSinksLock);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (!NsSinkWants(sink, index) || atomic_load(&sink->isRemoved)) {
            continue;
        }
        Widen(&filter, sink, stream, !hasLane && nDirect == 0);
        if (atomic_load(&sink->isOnLanes)) {
            size_t most = MAX(atomic_load(&sink->wakeBytes), 4096);

            hasLane = true;
            nudgeBytes = MIN(nudgeBytes, most);
        } else {
            direct[nDirect++] = sink;
        }
    }
    NsStreamSetRoute(stream, &(NsStreamRoute){
        .hasLane = hasLane, .nDirect = nDirect, .direct = direct,
        .nudgeBytes = nudgeBytes, .filter = filter
    });
    ns_free(filter.ignore);
}

void
NsSinkRouteAllLocked(Ns_LogSink sink)
{
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        if (NsSinkWants(sink, i)) {
            NsSinkRouteLocked(NsStreamAt(i));
        }
    }
}

/*
 * Let what the sink takes of the stream pass the filter.
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
        ? 0 : NsSeverityWeight(settings.minSeverity);
    common = isFirst ? ns_strcopy(settings.ignore)
        : NsKindsCommon(filterPtr->ignore, settings.ignore);
    ns_free(filterPtr->ignore);
    filterPtr->ignore = common;
    filterPtr->minWeight = isFirst ? weight
        : MIN(filterPtr->minWeight, weight);
    NsSinkFreeSettings(&settings);
}

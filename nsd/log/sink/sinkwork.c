/* SPDX-License-Identifier: MPL-2.0
 * sinkwork.c --
 *
 *      Work for a sink, done by one thread at a time: a log thread, or, if none
 *      serves the sink, the threads that log.
 *
 *      These take turns.  A thread that puts a record gets a number and waits
 *      for the sink's lock.  A turn reads all records in the lanes, so by then
 *      the number may be served: one turn with one write serves many waiting
 *      threads.
 */

#include "log/sink/sinkwork.h"

#include "base/assert.h"
#include "log/sink/deliver.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkpass.h"
#include "log/sink/sinkwake.h"
#include "log/stream/entry.h"

#define DRAIN_SECONDS 2

static bool IsTurnDue(Ns_LogSink sink, uint64_t number);

/*
 * A sink that is not awaited may be stuck in a write.  Threads do not wait for
 * that: the thread that has it locked checks for new numbers after it unlocks.
 */
void
NsSinkTakeTurn(Ns_LogSink sink, int64_t time)
{
    uint64_t number = atomic_fetch_add(&sink->turns.nComers, 1) + 1;
    bool     mustWait = atomic_load(&sink->isAwaited);

    if (NsEntryIsDeferring() || atomic_load(&sink->isStuck)
        || !IsTurnDue(sink, number)) {
        return;
    }
    do {
        if (mustWait) {
            NsSinkLock(sink);
        } else if (!NsSinkTryLock(sink)) {
            return;
        }
        if (atomic_load(&sink->turns.nServed) < number
            || sink->turns.servedUntil < time) {
            NsSinkServeHere(sink, time);
        }
        NsAssert(atomic_load(&sink->turns.nServed) >= number);
        NsSinkUnlock(sink);
        number = atomic_load(&sink->turns.nComers);
    } while (!mustWait && atomic_load(&sink->turns.nServed) < number);
}

void
NsSinkServeHere(Ns_LogSink sink, int64_t time)
{
    NsAssertLocked(&sink->lock);
    NsSinkPass(sink, time);
    (void) NsDeliverDue(sink, NS_FLUSH_BY_CALLER);
}

/*
 * Lines that need not be written yet wait in the lanes.
 */
static bool
IsTurnDue(Ns_LogSink sink, uint64_t number)
{
    uint64_t served = atomic_load(&sink->turns.nServed);
    int      more = atomic_load(&sink->limits.turnLines)
        - atomic_load(&sink->turns.nKept);

    return more <= 0 || number > served + (uint64_t) more || NsLaneIsTight();
}

bool
NsSinkMakeRoom(void)
{
    Ns_LogSink sink;
    bool       hasServed = false;

    if (nsSinkIsAsync || NsEntryIsDeferring()) {
        return false;
    }
    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (atomic_load(&sink->sleep.state) == NS_SINK_CALLERS
            && atomic_load(&sink->isAwaited)
            && atomic_load(&sink->failing->since) == 0
            && NsSinkHeld(sink) > 0) {
            NsSinkLock(sink);
            NsSinkPass(sink, 0);
            (void) NsDeliverFlush(sink);
            NsSinkUnlock(sink);
            hasServed = true;
        }
    }
    NsSinkLeave();
    return hasServed;
}

void
NsSinkDrain(Ns_LogSink sink)
{
    Ns_Time pause = {0, 10000};

    if (NsEntryIsDeferring()) {
        return;
    }
    for (int i = 0; i < DRAIN_SECONDS * 100; i++) {
        if (NsSinkTryLock(sink)) {
            NsSinkPass(sink, 0);
            (void) NsDeliverFlush(sink);
            NsSinkUnlock(sink);
            return;
        }
        select(0, NULL, NULL, NULL, &(struct timeval){pause.sec, pause.usec});
    }
}

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
#include "base/clock.h"
#include "log/sink/deliver.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkpass.h"
#include "log/sink/sinkwake.h"
#include "log/stream/entry.h"
#include <sched.h>

#define DRAIN_SECONDS 2
#define BRIEFLY_NS    INT64_C(5000000) /* That a look at a sink may take. */

static bool     IsTurnDue(Ns_LogSink sink, uint64_t number);
static bool     TryLockBriefly(Ns_LogSink sink);
static int64_t  OldestElsewhere(Ns_LogSink sink);
static uint64_t Done(Ns_LogSink sink);

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
 * Callers of a sink that is not awaited have left it to us if they came while
 * we looked.
 */
int64_t
NsSinkOldest(Ns_LogSink sink)
{
    int64_t oldest = atomic_load(&sink->counts.claimedSince);

    if (oldest != 0) {
        return oldest;
    }
    if (!TryLockBriefly(sink)) {
        return OldestElsewhere(sink);
    }
    oldest = NsSinkFirstTime(sink);
    atomic_store(&sink->counts.oldestAt, Done(sink));
    atomic_store(&sink->counts.oldest, oldest);
    NsSinkUnlock(sink);
    if (!atomic_load(&sink->isAwaited)
        && atomic_load(&sink->sleep.state) == NS_SINK_CALLERS
        && atomic_load(&sink->turns.nServed)
            < atomic_load(&sink->turns.nComers)) {
        NsSinkTakeTurn(sink, 0);
    }
    return oldest;
}

/*
 * Who has the lock and nothing in the buffer mostly has it for a moment.
 */
static bool
TryLockBriefly(Ns_LogSink sink)
{
    NsStamp end = NsClockNow() + BRIEFLY_NS;

    while (!NsSinkTryLock(sink)) {
        if (atomic_load(&sink->counts.bufferedSince) != 0
            || NsClockNow() >= end) {
            return false;
        }
        sched_yield();
    }
    return true;
}

/*
 * Another thread has the sink: what that has in the buffer, or what was there
 * before, if nothing has been delivered since.
 */
static int64_t
OldestElsewhere(Ns_LogSink sink)
{
    int64_t buffered = atomic_load(&sink->counts.bufferedSince);

    if (buffered != 0) {
        return buffered;
    }
    return atomic_load(&sink->counts.oldestAt) == Done(sink)
        ? atomic_load(&sink->counts.oldest)
        : 0;
}

/*
 * How many records no longer wait.
 */
static uint64_t
Done(Ns_LogSink sink)
{
    return atomic_load(&sink->counts.nDelivered)
        + atomic_load(&sink->counts.nFailed)
        + atomic_load(&sink->counts.nDamaged)
        + atomic_load(&sink->counts.nRejected);
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

/*
 * Memory that is taken may not be in a lane yet: other threads are filling it,
 * or give it back because they could not get all they need.  Let them run.
 */
bool
NsSinkMakeRoom(void)
{
    Ns_LogSink sink;
    bool       isAny = false, hasServed = false;

    if (nsSinkIsAsync || NsEntryIsDeferring()) {
        return false;
    }
    NsSinkEnter();
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        if (atomic_load(&sink->sleep.state) != NS_SINK_CALLERS
            || !atomic_load(&sink->isAwaited)
            || atomic_load(&sink->failing->since) != 0) {
            continue;
        }
        isAny = true;
        if (NsSinkHeld(sink) > 0) {
            NsSinkLock(sink);
            NsSinkPass(sink, 0);
            (void) NsDeliverFlush(sink);
            NsSinkUnlock(sink);
            hasServed = true;
        }
    }
    NsSinkLeave();
    if (isAny && !hasServed) {
        sched_yield();
    }
    return isAny;
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

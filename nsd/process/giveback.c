/* SPDX-License-Identifier: MPL-2.0
 * giveback.c --
 *
 *      Memory that is not needed any longer goes back to the system.
 *
 *      The allocator keeps what was freed for the next who needs it, which
 *      after one large request is most of the process for good.  When more than
 *      half of what it has is free at two looks in a row, it is told to give it
 *      back.
 */

#include "process/giveback.h"

#include "base/assert.h"
#include "base/memory.h"
#include "nslog.h"
#include "nsprocess.h"

#define LOOK_SECONDS 15
#define LEAST_BYTES  ((size_t) 32 << 20) /* Less is not worth the work. */

/*
 * Of the scheduler's thread.
 */
static bool   wasMuch;
static size_t keptBytes; /* Free in spite of the last time, at the least. */

static Ns_Callback Look;
static size_t      FreeBytes(void);

void
NsGiveBackStart(void)
{
    Ns_RegisterProcInfo((void *) Look, "ns:giveback", NULL);
    (void) Ns_ScheduleProc(Look, NULL, 0, LOOK_SECONDS);
}

static void
Look(void *arg)
{
    NsMemoryStats stats;
    size_t        freeBytes = FreeBytes();
    bool          isMuch;

    NsMemoryGetStats(&stats);
    keptBytes = MIN(keptBytes, freeBytes);
    isMuch = freeBytes - keptBytes >= LEAST_BYTES
        && freeBytes > stats.allocated;
    if (isMuch && wasMuch) {
        NsMemoryRelease();
        keptBytes = FreeBytes();
        Ns_Log(Debug, "nsmain: %zu of %zu free bytes went back to the system",
               freeBytes - MIN(freeBytes, keptBytes), freeBytes);
        isMuch = false;
    }
    wasMuch = isMuch;
}

static size_t
FreeBytes(void)
{
    NsMemoryStats stats;

    NsMemoryGetStats(&stats);
    NsAssert(stats.unmapped <= stats.heap);
    return stats.heap - stats.unmapped
        - MIN(stats.allocated, stats.heap - stats.unmapped);
}

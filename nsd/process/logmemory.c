/*
 * logmemory.c --
 *
 *      The log memory, made when it is first needed.
 */

#include "process/logmemory.h"

#include <stdatomic.h>

#include "log/init.h"
#include "log/sink/sink.h"
#include "nsprocess.h"

/* How often to look after the log memory. */
#define WATCH_SECONDS 2

static Ns_Callback WatchMemory;

const char *
NsLogMemorySetup(void)
{
    static atomic_bool isWatched;
    const char        *reason = NsLogUseMemory();

    if (reason == NULL && !atomic_exchange(&isWatched, true)) {
        Ns_RegisterProcInfo((void *) WatchMemory, "ns:logmemory", NULL);
        (void) Ns_ScheduleProc(WatchMemory, NULL, 0, WATCH_SECONDS);
    }
    return reason;
}

static void
WatchMemory(void *arg)
{
    NsSinkWatchRing();
}

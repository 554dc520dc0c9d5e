/* SPDX-License-Identifier: MPL-2.0
 * ticks.c --
 *
 *      Decides which clock ticks come from, and converts them.
 */

#include "base/ticks.h"

#define CLOCK_SOURCE \
    "/sys/devices/system/clocksource/clocksource0/current_clocksource"

bool nsTicksAreCycles;

/*
 * Both clocks at one moment.
 */
typedef struct Moment {
    NsTicks ticks;
    NsStamp stamp;
} Moment;

static Moment start; /* Constant once main runs. */

/* Before all other constructors: they may lock. */
static void   ChooseSource(void) __attribute__((constructor(101)));
static bool   KernelTrustsCycles(void);
static Moment ReadBoth(void);

/*
 * The rate is the mean over the life of the process, which gets more exact the
 * older it is.
 */
NsStamp
NsTicksToStamp(NsTicks ticks)
{
    Moment  now;
    NsTicks allTicks;

    if (!nsTicksAreCycles) {
        return (NsStamp) ticks;
    }
    now = ReadBoth();
    allTicks = NsTicksSpan(start.ticks, now.ticks);
    if (allTicks == 0) {
        return 0;
    }
    return (NsStamp) ((double) ticks * (double) (now.stamp - start.stamp)
                      / (double) allTicks);
}

static void
ChooseSource(void)
{
    nsTicksAreCycles = KernelTrustsCycles();
    start = ReadBoth();
}

static bool
KernelTrustsCycles(void)
{
#if defined(__x86_64__)
    char    source[4] = "";
    ssize_t nRead = 0;
    int     fd = open(CLOCK_SOURCE, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        nRead = read(fd, source, sizeof(source));
        close(fd);
    }
    return nRead == sizeof(source) && memcmp(source, "tsc\n", 4) == 0;
#else
    return false;
#endif
}

/*
 * The best of some tries: this thread may be interrupted between two readings.
 */
static Moment
ReadBoth(void)
{
    Moment  best = {0, 0};
    NsTicks bestSpan = UINT64_MAX;

    for (int i = 0; i < 5; i++) {
        NsTicks before = NsTicksNow();
        NsStamp stamp = NsClockNow();
        NsTicks span = NsTicksSpan(before, NsTicksNow());

        if (span < bestSpan) {
            bestSpan = span;
            best = (Moment){.ticks = before + span / 2, .stamp = stamp};
        }
    }
    return best;
}

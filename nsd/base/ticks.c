/*
 * ticks.c --
 *
 *      Decides which clock ticks come from, and converts them.
 */

#include "base/ticks.h"

#define CLOCK_SOURCE \
    "/sys/devices/system/clocksource/clocksource0/current_clocksource"

bool nsTicksAreCycles;

/* Both clocks at the same moment; constant after start. */
static NsTicks startTicks;
static NsStamp startStamp;

static void ChooseSource(void) __attribute__((constructor));
static bool KernelTrustsCycles(void);

/*
 * The rate is the mean over the life of the process, which gets more exact the
 * older it is.  In its first moments nothing worth reporting has happened.
 */
NsStamp
NsTicksToStamp(NsTicks ticks)
{
    NsTicks allTicks;
    NsStamp allTime;

    if (!nsTicksAreCycles) {
        return (NsStamp) ticks;
    }
    allTicks = NsTicksSpan(startTicks, NsTicksNow());
    allTime = NsClockNow() - startStamp;
    if (allTicks == 0) {
        return 0;
    }
    return (NsStamp) ((double) ticks * ((double) allTime / (double) allTicks));
}

static void
ChooseSource(void)
{
    nsTicksAreCycles = KernelTrustsCycles();
    startStamp = NsClockNow();
    startTicks = NsTicksNow();
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

/* SPDX-License-Identifier: MPL-2.0
 * moved_clock.c --
 *
 *      To be preloaded: the time of day is later by as many seconds as the file
 *      clock in the current directory says.  A test may replace it while the
 *      server runs.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long
Later(void)
{
    char    text[32] = "";
    int     fd = open("clock", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0) {
        close(fd);
    }
    return n > 0 ? atol(text) : 0;
}

int
clock_gettime(clockid_t clock, struct timespec *timePtr)
{
    int (*real)(clockid_t, struct timespec *);
    int result;

    *(void **) &real = dlsym(RTLD_NEXT, "clock_gettime");
    result = real(clock, timePtr);
    if (clock == CLOCK_REALTIME) {
        timePtr->tv_sec += Later();
    }
    return result;
}

int
gettimeofday(struct timeval *timePtr, void *zone)
{
    struct timespec now;
    int             result = clock_gettime(CLOCK_REALTIME, &now);

    *timePtr = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

time_t
time(time_t *timePtr)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (timePtr != NULL) {
        *timePtr = now.tv_sec;
    }
    return now.tv_sec;
}

/* SPDX-License-Identifier: MPL-2.0
 * time.c --
 *
 *      Arithmetic on Ns_Time.
 */

#include "nsthread.h"

#define USEC_PER_SEC 1000000L

/* Smaller numbers of seconds are durations, larger ones dates (since 2001). */
#define FIRST_DATE 1000000000L

void
Ns_GetTime(Ns_Time *timePtr)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    timePtr->sec = now.tv_sec;
    timePtr->usec = now.tv_nsec / 1000;
}

void
Ns_AdjTime(Ns_Time *timePtr)
{
    long seconds = timePtr->usec / USEC_PER_SEC;

    timePtr->usec %= USEC_PER_SEC;
    if (timePtr->usec < 0) {
        timePtr->usec += USEC_PER_SEC;
        seconds--;
    }
    if (__builtin_add_overflow(timePtr->sec, seconds, &timePtr->sec)) {
        timePtr->sec = seconds > 0 ? LONG_MAX : LONG_MIN;
    }
}

int
Ns_DiffTime(Ns_Time *laterPtr, Ns_Time *earlierPtr, Ns_Time *resultPtr)
{
    Ns_Time diff = {.sec = laterPtr->sec - earlierPtr->sec,
                    .usec = laterPtr->usec - earlierPtr->usec};

    Ns_AdjTime(&diff);
    if (resultPtr != NULL) {
        *resultPtr = diff;
    }
    if (diff.sec < 0) {
        return -1;
    }
    return diff.sec > 0 || diff.usec > 0;
}

void
Ns_IncrTime(Ns_Time *timePtr, long sec, long usec)
{
    Ns_Time step = {sec, usec};

    Ns_AdjTime(&step);
    timePtr->usec += step.usec;
    if (__builtin_add_overflow(timePtr->sec, step.sec, &timePtr->sec)) {
        timePtr->sec = step.sec > 0 ? LONG_MAX : LONG_MIN;
    }
    Ns_AdjTime(timePtr);
}

Ns_Time *
Ns_AbsoluteTime(Ns_Time *absPtr, Ns_Time *timePtr)
{
    if (timePtr == NULL || timePtr->sec >= FIRST_DATE) {
        return timePtr;
    }
    Ns_GetTime(absPtr);
    Ns_IncrTime(absPtr, timePtr->sec, timePtr->usec);
    return absPtr;
}

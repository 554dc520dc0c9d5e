/* SPDX-License-Identifier: MPL-2.0
 * watchdog.h --
 *
 *      A process that starts the server again when it fails.
 */

#ifndef NSD_PROCESS_WATCHDOG_H
#define NSD_PROCESS_WATCHDOG_H

#include "nstypes.h"

/*
 * Fork the server and watch over it.  Returns in each server process that is
 * started; the watchdog itself ends in here.  One thread, signals not yet
 * blocked.
 */
void NsWatchdogRun(void);

/*
 * In the server: it runs.  When the first one ends before that, the watchdog
 * ends with its status instead of trying again.
 */
void NsWatchdogReady(void);

/*
 * In the server: log that, how often and why the watchdog has started it again,
 * if it has.
 */
void NsWatchdogNote(void);

/*
 * How often, for figures.
 */
int NsWatchdogCount(void);

/*
 * How long to wait before the next start, in seconds, and how many starts were
 * counted, after a server ran for the given number of seconds.  Pure, for
 * tests.
 */
typedef struct NsWatchdogDelay {
    int delay;   /* Before the next start; 0 at first. */
    int nStarts; /* Since the last long run. */
} NsWatchdogDelay;

void NsWatchdogAdvance(NsWatchdogDelay *delayPtr, long ranSeconds);

#endif

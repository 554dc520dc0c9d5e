/* SPDX-License-Identifier: MPL-2.0
 * crash.h --
 *
 *      What a fatal signal leaves: a line on standard error with the thread and
 *      its request, and a report with the calls in the directory of logs.
 *
 *      The process then ends by the same signal, with a core where that is
 *      configured.
 */

#ifndef NSD_PROCESS_CRASH_H
#define NSD_PROCESS_CRASH_H

void NsCrashInit(void);

/*
 * Before the first thread is made.
 */
void NsCrashCatch(void);

/*
 * Main thread, once the log is open and before other threads are there: tell of
 * the report that an earlier process has left, and keep the last one; from now
 * on, this process leaves one, and a core file if it is configured to.
 */
void NsCrashReport(void);

/*
 * How many reports were found in the directory of logs so far, those of earlier
 * processes included.
 */
int NsCrashCount(void);

#endif

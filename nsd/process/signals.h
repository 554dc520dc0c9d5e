/* SPDX-License-Identifier: MPL-2.0
 * signals.h --
 *
 *      Signals are blocked in all threads; the main thread takes them one by
 *      one.
 */

#ifndef NSD_PROCESS_SIGNALS_H
#define NSD_PROCESS_SIGNALS_H

#include "base/clock.h"
#include "nstypes.h"

/*
 * Before the first thread is made.  Interrupts (SIGINT) keep their default
 * action in a process that is being debugged.  Fatal signals are caught.
 */
void NsSignalsBlock(bool isDebugged);

/*
 * Between these two the main thread is busy with the start, and another one
 * takes the signals that end the server.  It keeps the first for NsSignalsWait;
 * if the start has not ended within the time of a shutdown then, it ends the
 * process.
 */
void NsSignalsBeginStart(void);
void NsSignalsEndStart(void);

/*
 * A process that has changed its user leaves no core otherwise, and no debugger
 * of that user may look at it.
 */
void NsSignalsAllowCore(void);

/*
 * Wait for the next signal among SIGHUP, SIGUSR1, SIGUSR2, SIGTERM, SIGINT,
 * SIGQUIT.
 */
int NsSignalsWait(void);

/*
 * The next one, or 0 when none has come for this long.
 */
int NsSignalsWaitFor(NsStamp time);

#endif

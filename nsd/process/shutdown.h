/* SPDX-License-Identifier: MPL-2.0
 * shutdown.h --
 *
 *      How long a shutdown may take, and who asked for it.
 */

#ifndef NSD_PROCESS_SHUTDOWN_H
#define NSD_PROCESS_SHUTDOWN_H

#include "base/clock.h"

/*
 * Once, before the configuration is read.
 */
void NsShutdownInit(void);

/*
 * The time that is in force; Set replaces what the configuration says when
 * timeout is above 0.  Any thread.
 */
NsStamp NsShutdownTimeout(void);

/*
 * How long the server goes on after it was told to end.
 */
NsStamp NsShutdownDrainWait(void);
NsStamp NsShutdownSetTimeout(NsStamp timeout);

/*
 * The exit status of a server that a signal ends, and the time that its
 * shutdown may take.
 */
#define NS_STATUS_FAILED 1 /* It could not start. */
int NsShutdownStatus(int number, NsStamp *timeoutPtr);

/*
 * Make the thread that ends a stop which takes too long; during the start.
 */
void NsShutdownGuardStart(void);

/*
 * From now on the process has that time to end, a second where it is 0; what
 * still hangs then does not keep it.  *deadlinePtr: when all phases are to be
 * done, so that exit callbacks and the end of the log have their share.
 * *lastCallPtr, a little later: when shutdown procedures are to be done, which
 * may have waited until the deadline, or begun only then.
 */
void NsShutdownGuard(NsStamp timeout, int status, Ns_Time *deadlinePtr,
                     Ns_Time *lastCallPtr);

/*
 * When a phase has to be done that another one follows before the deadline.
 */
Ns_Time NsShutdownShare(const Ns_Time *deadlinePtr);

/*
 * End the process now.
 */
void NsShutdownForce(int status) NS_GNUC_NORETURN;

/*
 * Begin the shutdown by a signal to the process: SIGTERM, or SIGINT, which
 * makes a watchdog start the server again.
 */
void NsShutdownRequest(bool restart);

#endif

/*
 * shutdown.h --
 *
 *      How long a shutdown may take, and who asked for it.
 */

#ifndef NSD_PROCESS_SHUTDOWN_H
#define NSD_PROCESS_SHUTDOWN_H

#include "nstypes.h"

/*
 * The time that is in force, in seconds; Set replaces what the configuration
 * says when seconds is above 0.  Any thread.
 */
int  NsShutdownTimeout(void);
int  NsShutdownSetTimeout(int seconds);

/*
 * The exit status of a server that a signal ends, and the time that its
 * shutdown may take, in seconds.
 */
#define NS_STATUS_FAILED 1      /* It could not start. */
int NsShutdownStatus(int number, int *timeoutPtr);

/*
 * End the process at the deadline, whatever still hangs then.
 */
void NsShutdownGuard(const Ns_Time *deadlinePtr, int status);

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

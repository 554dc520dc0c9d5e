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
 * Begin the shutdown by a signal to the process: SIGTERM, or SIGINT, which makes
 * a watchdog start the server again.
 */
void NsShutdownRequest(bool restart);

#endif

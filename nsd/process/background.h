/* SPDX-License-Identifier: MPL-2.0
 * background.h --
 *
 *      A server that leaves the terminal first reports there whether it has
 *      started.
 */

#ifndef NSD_PROCESS_BACKGROUND_H
#define NSD_PROCESS_BACKGROUND_H

#include "nstypes.h"

/*
 * Go on in a child without a terminal.  The parent ends in here: with status 0
 * when the child is running, else with the child's status, having written to
 * standard error what the child has logged as Error or Fatal.  With isHasty, it
 * ends at once with status 0.  One thread.
 */
void NsBackgroundEnter(bool isHasty);

/*
 * The server runs: the parent may end.  Not in the background: does nothing.
 */
void NsBackgroundReady(void);

/*
 * A process that only watches over the server has nothing to report.
 */
void NsBackgroundLeave(void);

#endif

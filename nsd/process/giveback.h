/* SPDX-License-Identifier: MPL-2.0
 * giveback.h --
 *
 *      Memory that is not needed any longer goes back to the system.
 */

#ifndef NSD_PROCESS_GIVEBACK_H
#define NSD_PROCESS_GIVEBACK_H

/*
 * Main thread, before the scheduler starts: look from time to time.
 */
void NsGiveBackStart(void);

#endif

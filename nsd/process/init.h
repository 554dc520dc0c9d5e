/* SPDX-License-Identifier: MPL-2.0
 * init.h --
 *
 *      Start of the process room.
 */

#ifndef NSD_PROCESS_INIT_H
#define NSD_PROCESS_INIT_H

/*
 * Locks and tables; once, before the configuration is read.
 */
void NsProcessInit(void);

#endif

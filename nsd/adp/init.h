/* SPDX-License-Identifier: MPL-2.0
 * init.h --
 *
 *      The start of the adp room.
 */

#ifndef NSD_ADP_INIT_H
#define NSD_ADP_INIT_H

/*
 * Add the ns_adp_* commands.  Before the first interpreter is made.
 */
void NsAdpInit(void);

#endif

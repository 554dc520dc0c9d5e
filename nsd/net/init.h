/* SPDX-License-Identifier: MPL-2.0
 * init.h --
 *
 *      Start of the room, before the configuration is read.
 */

#ifndef NSD_NET_INIT_H
#define NSD_NET_INIT_H

void NsNetInit(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * commands.h --
 *
 *      The ns_adp_* commands: one procedure per source adds them.
 */

#ifndef NSD_ADP_COMMANDS_H
#define NSD_ADP_COMMANDS_H

void NsAdpCmdInit(void);
void NsAdpFrameCmdInit(void);
void NsAdpRegisterCmdInit(void);
void NsAdpTclPageCmdInit(void);

#endif

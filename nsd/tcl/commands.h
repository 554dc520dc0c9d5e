/*
 * commands.h --
 *
 *      The families of commands: each adds its table, before the first
 *      interpreter is made.
 */

#ifndef NSD_TCL_COMMANDS_H
#define NSD_TCL_COMMANDS_H

void NsCallbackCmdInit(void);
void NsConfigCmdInit(void);
void NsFilterCmdInit(void);
void NsProcessCmdInit(void);
void NsSchedCmdInit(void);
void NsUrlCmdInit(void);

#endif

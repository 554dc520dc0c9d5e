/*
 * commands.h --
 *
 *      The families of commands: each adds its table, before the first
 *      interpreter is made.
 */

#ifndef NSD_TCL_COMMANDS_H
#define NSD_TCL_COMMANDS_H

void NsAtCloseCmdInit(void);
void NsBlueprintCmdInit(void);
void NsCacheCmdInit(void);
void NsCacheUpdateCmdInit(void);
void NsCallbackCmdInit(void);
void NsChanCmdInit(void);
void NsCharsetCmdInit(void);
void NsConfigCmdInit(void);
void NsConnCmdInit(void);
void NsConnChanCmdInit(void);
void NsCookieCmdInit(void);
void NsDigestCmdInit(void);
void NsDriverCmdInit(void);
void NsEnvCmdInit(void);
void NsFileCmdInit(void);
void NsFilterCmdInit(void);
void NsFormCmdInit(void);
void NsHttpCmdInit(void);
void NsImageCmdInit(void);
void NsInfoCmdInit(void);
void NsIpCmdInit(void);
void NsJobCmdInit(void);
void NsKeyListCmdInit(void);
void NsLockCmdInit(void);
void NsLogCmdInit(void);
void NsLogSinkCmdInit(void);
void NsNsvCmdInit(void);
void NsNsvDictCmdInit(void);
void NsParseArgsCmdInit(void);
void NsProcessCmdInit(void);
void NsReturnCmdInit(void);
void NsSchedCmdInit(void);
void NsServerCmdInit(void);
void NsSetCmdInit(void);
void NsSockCmdInit(void);
void NsStreamCmdInit(void);
void NsTextCmdInit(void);
void NsThreadCmdInit(void);
void NsTimeCmdInit(void);
void NsUrlCmdInit(void);
void NsWriterCmdInit(void);

#endif

/*
 * init.c --
 *
 *      Start of the tcl room.
 */

#include "nsstring.h"
#include "process/config_file.h"
#include "tcl/commands.h"
#include "tcl/init.h"
#include "tcl/interp.h"
#include "tcl/trace.h"


/*
 * All families of commands.
 */
static void (*const families[])(void) = {
    NsAtCloseCmdInit,
    NsBlueprintCmdInit,
    NsCacheCmdInit,
    NsCacheUpdateCmdInit,
    NsCallbackCmdInit,
    NsChanCmdInit,
    NsCharsetCmdInit,
    NsConfigCmdInit,
    NsConnCmdInit,
    NsConnChanCmdInit,
    NsCookieCmdInit,
    NsDigestCmdInit,
    NsDriverCmdInit,
    NsEnvCmdInit,
    NsFileCmdInit,
    NsFilterCmdInit,
    NsFormCmdInit,
    NsHttpCmdInit,
    NsImageCmdInit,
    NsInfoCmdInit,
    NsIpCmdInit,
    NsJobCmdInit,
    NsKeyListCmdInit,
    NsLockCmdInit,
    NsLogCmdInit,
    NsLogSinkCmdInit,
    NsNsvCmdInit,
    NsNsvDictCmdInit,
    NsParseArgsCmdInit,
    NsProcessCmdInit,
    NsReturnCmdInit,
    NsSchedCmdInit,
    NsServerCmdInit,
    NsSetCmdInit,
    NsSockCmdInit,
    NsStreamCmdInit,
    NsTextCmdInit,
    NsThreadCmdInit,
    NsTimeCmdInit,
    NsUrlCmdInit,
    NsWriterCmdInit
};


void
NsTclInit(void)
{
    static const NsConnHooks hooks = {
        .threadStartProc = NsInterpPrepare,
        .threadCheckProc = NsInterpCheck,
        .closeProc = NsInterpConnClosed,
        .cleanupProc = NsInterpConnEnded
    };

    Tcl_FindExecutable(NULL);
    (void) Tcl_SetSystemEncoding(NULL, "utf-8");
    NsInterpInit();
    NsBlueprintInit();
    NsTclCacheInit();
    NsvInit();
    NsTraceInit();
    NsTclRequestInit();
    for (int i = 0; i < Ns_NrElements(families); i++) {
        (*families[i])();
    }
    NsConnSetHooks(&hooks);
    NsConfigSetInterpProcs(Ns_TclCreateInterp, Ns_TclDestroyInterp);
}

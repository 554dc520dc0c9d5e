/* SPDX-License-Identifier: MPL-2.0
 * init.c --
 *
 *      Start of the tcl room.
 */

#include "tcl/init.h"

#include "nsstring.h"
#include "process/config_file.h"
#include "tcl/blueprint.h"
#include "tcl/cacheflush.h"
#include "tcl/commands.h"
#include "tcl/ctl.h"
#include "tcl/development.h"
#include "tcl/failure.h"
#include "tcl/interp.h"
#include "tcl/noticepage.h"
#include "tcl/nsv.h"
#include "tcl/perserver.h"
#include "tcl/request.h"
#include "tcl/stack.h"
#include "tcl/tclcache.h"
#include "tcl/trace.h"
#include "tcl/watched.h"

#define START(name) Ns##name##CmdInit();

void
NsTclInit(void)
{
    static const NsConnHooks hooks = {
        .threadStartProc = NsInterpPrepare,
        .threadCheckProc = NsInterpCheck,
        .closeProc = NsInterpConnClosed,
        .expireProc = NsStackExpire,
        .leaveProc = NsStackLookAtClient,
        .cleanupProc = NsInterpConnEnded};

    Tcl_FindExecutable(NULL);
    (void) Tcl_SetSystemEncoding(NULL, "utf-8");
    NsPerServerInit();
    NsInterpInit();
    NsInterpSetCommandsProc(NsWatchedAdd);
    NsBlueprintInit();
    NsTclCacheInit();
    NsCacheFlushInit();
    NsvInit();
    NsTraceInit();
    NsTclRequestInit();
    NsFailureInit();
    NsDevelopmentInit();
    NsNoticePageInit();
    NsCtlInit();
    NS_TCL_FAMILIES(START)
    NsConnSetHooks(&hooks);
    NsConfigSetInterpProcs(Ns_TclCreateInterp, Ns_TclDestroyInterp);
}

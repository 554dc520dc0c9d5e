/* SPDX-License-Identifier: MPL-2.0
 * init.c --
 *
 *      Start of the process room.
 */

#include "process/init.h"

#include "base/thread.h"
#include "nslog.h"
#include "process/accessparams.h"
#include "process/binder.h"
#include "process/callbacks.h"
#include "process/config.h"
#include "process/control.h"
#include "process/crash.h"
#include "process/info.h"
#include "process/logsetup.h"
#include "process/parameter_table.h"
#include "process/parameters.h"
#include "process/paths.h"
#include "process/pidfile.h"
#include "process/prebind.h"
#include "process/reload.h"
#include "process/sched.h"
#include "process/setting.h"
#include "process/shutdown.h"
#include "process/sinkmodule.h"
#include "process/sinkoptions.h"
#include "process/sinkreload.h"

#include <sys/resource.h>

static NsThreadLimitProc LogThreadLimit;

void
NsProcessInit(void)
{
    NsThreadSetLimitProc(LogThreadLimit);
    NsConfigInit();
    NsParameterTableInit();
    NsSettingInit();
    NsReloadInit();
    NsPathsInit();
    NsAccessParamsInit();
    NsPidfileInit();
    NsCrashInit();
    NsControlInit();
    NsShutdownInit();
    NsSinkModuleInit();
    NsSinkOptionsInit();
    NsSinkReloadInit();
    NsLogSetupInit();
    NsCallbacksInit();
    NsInfoInitLife();
    NsSchedInit();
    NsPrebindInit();
    NsBinderInit();
}

static void
LogThreadLimit(int error)
{
    struct rlimit limit;
    char          text[32] = "unlimited";

    if (getrlimit(RLIMIT_NPROC, &limit) == 0
        && limit.rlim_cur != RLIM_INFINITY) {
        snprintf(text, sizeof(text), "%" PRIu64, (uint64_t) limit.rlim_cur);
    }
    Ns_Log(
        Warning,
        "threads: no more can be started: %s: the server continues with those "
        "it has; raise the limit on processes (ulimit -u is %s; TasksMax= of "
        "systemd, pids.max of a container) or on memory (ulimit -v), or reduce "
        "the number of threads needed",
        strerror(error), text);
}

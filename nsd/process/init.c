/*
 * init.c --
 *
 *      Start of the process room.
 */

#include "process/init.h"

#include "process/callbacks.h"
#include "process/config.h"
#include "process/info.h"
#include "process/prebind.h"
#include "process/sched.h"

void
NsProcessInit(void)
{
    NsConfigInit();
    NsCallbacksInit();
    NsInfoInitLife();
    NsSchedInit();
    NsBinderInit();
}

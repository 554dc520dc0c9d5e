/*
 * init.c --
 *
 *      Start of the process room.
 */

#include "process/init.h"

#include "process/callbacks.h"
#include "process/config.h"
#include "process/info.h"

void
NsProcessInit(void)
{
    NsConfigInit();
    NsCallbacksInit();
    NsInfoInitLife();
}

/* SPDX-License-Identifier: MPL-2.0
 * init.c --
 *
 *      Start of the room: one call for each part.
 */

#include "net/init.h"
#include "net/dns.h"
#include "net/driver.h"
#include "net/driver_params.h"
#include "net/h2session.h"
#include "net/handover.h"
#include "net/httpclient.h"
#include "net/listen.h"
#include "net/sls.h"
#include "net/sockcallback.h"
#include "net/task.h"
#include "process/notify.h"

void
NsNetInit(void)
{
    NsNotifyAddAliveProc("a driver or writer thread", NsDriversTurn);
    NsSlsInit();
    NsSockCallbackInit();
    NsTasksInit();
    NsHttpClientInit();
    NsDnsInit();
    NsListenInit();
    NsDriverParamsInit();
    NsHandOverInit();
    NsH2Init();
}

/* SPDX-License-Identifier: MPL-2.0
 * init.c --
 *
 *      The start of the adp room.
 */

#include "adp/init.h"
#include "adp/commands.h"
#include "adp/handler.h"
#include "adp/where.h"

void
NsAdpInit(void)
{
    NsAdpCmdInit();
    NsAdpFrameCmdInit();
    NsAdpRegisterCmdInit();
    NsAdpTclPageCmdInit();
    NsAdpHandlerInit();
    NsAdpWhereInit();
}

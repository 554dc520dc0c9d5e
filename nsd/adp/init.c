/*
 * init.c --
 *
 *      The start of the adp room.
 */

#include "adp/init.h"

#include "adp/adp.h"

void
NsAdpInit(void)
{
    NsAdpCmdInit();
    NsAdpFrameCmdInit();
    NsAdpRegisterCmdInit();
    NsAdpHandlerInit();
}

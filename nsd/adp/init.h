/*
 * init.h --
 *
 *      The start of the adp room.
 */

#ifndef NSD_ADP_INIT_H
#define NSD_ADP_INIT_H

#include "process/server.h"

/*
 * Add the ns_adp_* commands.  Before the first interpreter is made.
 */
void NsAdpInit(void);

/*
 * Read the adp section of a server and register its page handlers.
 */
void NsAdpServerInit(NsServer *serverPtr);

#endif

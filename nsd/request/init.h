/* SPDX-License-Identifier: MPL-2.0
 * init.h --
 *
 *      Start of the request room.
 */

#ifndef NSD_REQUEST_INIT_H
#define NSD_REQUEST_INIT_H

#include "process/server.h"

/*
 * Once, before the configuration is read: give the drivers and the pools the
 * procedures to call.
 */
void NsRequestInit(void);

/*
 * Read the settings of a server, and register its default handlers; after
 * NsPoolsInit.
 */
void NsRequestServerInit(NsServer *serverPtr);

#endif

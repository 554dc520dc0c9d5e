/* SPDX-License-Identifier: MPL-2.0
 * development.h --
 *
 *      While a site is developed (parameter development): libraries that change
 *      are reloaded, pages that are open in a browser of this machine reload
 *      themselves, and requests that damage their thread are named.
 *
 *      Without the parameter nothing of this is there.
 */

#ifndef NSD_TCL_DEVELOPMENT_H
#define NSD_TCL_DEVELOPMENT_H

#include "process/server.h"

/*
 * Once, before the configuration is read; and for each server that is
 * initialized, after NsFailureConfigure.
 */
void NsDevelopmentInit(void);
void NsDevelopmentServerInit(NsServer *serverPtr);

#endif

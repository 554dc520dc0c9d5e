/* SPDX-License-Identifier: MPL-2.0
 * damage.h --
 *
 *      Requests that leave something behind in their thread or in the process
 *      that later requests do not expect, while a site is developed: a command
 *      ns_* that was renamed or replaced, another tcl_precision, another system
 *      encoding, another working directory.
 */

#ifndef NSD_TCL_DAMAGE_H
#define NSD_TCL_DAMAGE_H

#include "process/server.h"

/*
 * Have each use of an interpreter of the server looked at.  While the server is
 * initialized.
 */
void NsDamageServerInit(NsServer *serverPtr);

#endif

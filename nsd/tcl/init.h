/* SPDX-License-Identifier: MPL-2.0
 * init.h --
 *
 *      Start of the tcl room.
 */

#ifndef NSD_TCL_INIT_H
#define NSD_TCL_INIT_H

/*
 * Once, before the configuration is read: Tcl itself, all families of commands,
 * and what other rooms call at fixed points.
 */
void NsTclInit(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * request.h --
 *
 *      Tcl procs as request handlers.
 */

#ifndef NSD_TCL_REQUEST_H
#define NSD_TCL_REQUEST_H

/*
 * Once, before the configuration is read.
 */
void NsTclRequestInit(void);

#endif

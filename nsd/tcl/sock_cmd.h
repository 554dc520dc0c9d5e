/* SPDX-License-Identifier: MPL-2.0
 * sock_cmd.h --
 *
 *      Sockets as Tcl channels.
 */

#ifndef NSD_TCL_SOCK_CMD_H
#define NSD_TCL_SOCK_CMD_H

#include "nssocket.h"

/*
 * Register a socket as two binary channels, the second on a duplicate; a list
 * of their names.  TCL_ERROR: the socket is closed, the message in the
 * interpreter.
 */
int NsTclEnterSockPair(Tcl_Interp *interp, NS_SOCKET sock, bool isNonBlocking,
                       Tcl_Obj **listPtrPtr);

#endif

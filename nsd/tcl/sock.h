/*
 * sock.h --
 *
 *      Sockets as Tcl channels.
 */

#ifndef NSD_TCL_SOCK_H
#define NSD_TCL_SOCK_H

#include "nssocket.h"

/*
 * Register a socket as a blocking, binary channel.  TCL_ERROR: the socket is
 * closed, the message in the interpreter.
 */
int NsTclEnterSock(Tcl_Interp *interp, NS_SOCKET sock, Tcl_Channel *channelPtr);

/*
 * The same with two channels, the second on a duplicate; a list of their names.
 */
int NsTclEnterSockPair(Tcl_Interp *interp, NS_SOCKET sock, bool isNonBlocking,
                       Tcl_Obj **listPtrPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * connchan_cmd.h --
 *
 *      Connections as channels.
 */

#ifndef NSD_TCL_CONNCHAN_CMD_H
#define NSD_TCL_CONNCHAN_CMD_H

#include "request/conn.h"

/*
 * List the channel, with what is known of its request, until it is closed.
 */
void NsConnChanEnter(NsConn *connPtr, Tcl_Channel channel);

#endif

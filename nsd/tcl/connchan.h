/*
 * connchan.h --
 *
 *      Connections that scripts have taken over as channels.
 */

#ifndef NSD_TCL_CONNCHAN_H
#define NSD_TCL_CONNCHAN_H

#include "tcl/interp.h"

/*
 * List the channel, with what is known of its request, until it is closed.
 */
void NsConnChanEnter(NsConn *connPtr, Tcl_Channel channel);

#endif

/*
 * chan.h --
 *
 *      Channels that go from thread to thread.
 */

#ifndef NSD_TCL_CHAN_H
#define NSD_TCL_CHAN_H

#include "tcl/interp.h"

/*
 * Close the channels that the interpreter has taken, and forget their names.
 */
void NsChanForget(NsInterp *itPtr);

#endif

/*
 * atclose.h --
 *
 *      Scripts that run when the connection closes.
 */

#ifndef NSD_TCL_ATCLOSE_H
#define NSD_TCL_ATCLOSE_H

#include "tcl/interp.h"

/*
 * Run and forget the scripts of the present request, the latest first.  Errors
 * are logged.
 */
void NsAtCloseRun(NsInterp *itPtr);

#endif

/*
 * http.h --
 *
 *      ns_http.
 */

#ifndef NSD_TCL_HTTP_H
#define NSD_TCL_HTTP_H

#include "tcl/interp.h"

/*
 * Abort and forget all requests of the interpreter.
 */
void NsHttpForget(NsInterp *itPtr);

#endif

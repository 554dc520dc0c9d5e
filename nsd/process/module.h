/*
 * module.h --
 *
 *      Loading of modules; modules use Ns_ModuleLoad of nsprocess.h.
 */

#ifndef NSD_PROCESS_MODULE_H
#define NSD_PROCESS_MODULE_H

#include "nsprocess.h"
#include "process/server.h"

/*
 * Load what the section `modules` of a server (NULL: of the process) names, in
 * its order, then the static modules registered meanwhile.  A failure is fatal.
 * interp as in Ns_ModuleLoad.
 */
void NsModulesLoad(Tcl_Interp *interp, NsServer *serverPtr);

#endif

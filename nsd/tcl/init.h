/*
 * init.h --
 *
 *      Start of the tcl room.
 */

#ifndef NSD_TCL_INIT_H
#define NSD_TCL_INIT_H

#include "request/conn.h"

/*
 * Once, before the configuration is read: Tcl itself, all families of commands,
 * and what other rooms call at fixed points.
 */
void NsTclInit(void);

/*
 * Read section ns/server/S/tcl.
 */
void NsTclServerInit(NsServer *serverPtr);

/*
 * Run the init file in the bootstrap interpreter: load the modules, source the
 * libraries, and keep the state for all other interpreters.
 */
void NsTclServerBoot(NsServer *serverPtr);

/*
 * Parts of the above in other files: once, the rows of their parameters among
 * them; when a reply is finished; when a
 * request has ended.
 */
void NsBlueprintInit(void);
void NsTclCacheInit(void);
void NsTclRequestInit(void);
void NsvInit(void);
void NsInterpInit(void);
void NsInterpConnClosed(NsConn *connPtr);
void NsInterpConnEnded(NsConn *connPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * tclserver.h --
 *
 *      Data that the tcl room keeps for each virtual server.
 */

#ifndef NSD_TCL_TCLSERVER_H
#define NSD_TCL_TCLSERVER_H

#include <stdatomic.h>

#include "nsthread.h"
#include "process/server.h"

#define NS_TCL_TRACE_KINDS 7 /* Values of NS_TCL_TRACE_*. */

struct NsInterp;
struct NsTclTrace;

typedef struct NsTclServer {
    /* Constant after NsTclServerInit. */
    NsServer    *serverPtr;
    const char  *library; /* Private Tcl library. */
    const char  *sharedLibrary;
    const char  *initFile;
    const char  *errorPage;          /* Of simple Tcl pages; NULL: none. */
    const char  *errorLogHeaderList; /* Tcl list of the next, or NULL. */
    const char **errorLogHeaders;
    int          nErrorLogHeaders;
    bool         isInitLocked;  /* Create one interpreter at a time. */
    bool         rejectsClosed; /* A second reply is an error. */

    /* Main thread, while the server starts. */
    struct NsInterp *bootPtr;    /* The bootstrap interpreter, or NULL. */
    Ns_DString       modules;    /* Tcl list; constant after start. */
    char            *moduleName; /* Of the module being sourced, or NULL. */
    char            *modulePrivate;
    char            *moduleShared;

    /* Lists that only grow: changed under the lock, read without it. */
    _Atomic(struct NsTclTrace *) traces[NS_TCL_TRACE_KINDS];

    _Atomic int epoch; /* Counts up with each new script. */

    Ns_Mutex            lock;    /* Guards the rest. */
    struct NsStateText *textPtr; /* Makes a new interpreter equal to the
                                  * first; NULL: none yet. */
    Tcl_HashTable runOnce;       /* Texts of ns_runonce. */
} NsTclServer;

#endif

/*
 * interp.h --
 *
 *      Interpreters: one per thread and server, made from the server's blueprint.
 */

#ifndef NSD_TCL_INTERP_H
#define NSD_TCL_INTERP_H

#include "nstcl.h"
#include "request/conn.h"

struct NsAdpInterp;

/*
 * Owned by the thread of the interpreter.
 */
typedef struct NsInterp {
    Tcl_Interp         *interp;
    NsServer           *serverPtr;  /* NULL: a basic interpreter, no server. */
    NsConn             *connPtr;    /* The request being served, or NULL. */
    int                 epoch;      /* Of the blueprint it was last made from. */
    int                 nUses;      /* Nesting of allocations. */
    bool                isDoomed;   /* Delete when released. */
    Tcl_HashTable       sets;       /* Set id -> set. */
    struct NsAdpInterp *adpPtr;     /* adp's part; NULL before first use. */
} NsInterp;

/*
 * The NsInterp of an interpreter; NULL if it is none of ours.
 */
NsInterp *NsInterpOf(Tcl_Interp *interp);

/*
 * Each family of commands has a table; interp.c adds them all to a new
 * interpreter.  isBasic: also in interpreters without a server.
 */
typedef struct NsTclCommand {
    const char     *name;
    Tcl_ObjCmdProc *proc;
    bool            isBasic;
} NsTclCommand;

/*
 * Add a table that ends with a NULL name.  The command's client data is the
 * NsInterp.  Before the first interpreter is made.
 */
void NsTclAddCommands(const NsTclCommand *commands);

#endif

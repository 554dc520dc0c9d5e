/* SPDX-License-Identifier: MPL-2.0
 * interp.h --
 *
 *      Interpreters, one per thread and server, made from its blueprint.
 */

#ifndef NSD_TCL_INTERP_H
#define NSD_TCL_INTERP_H

#include "request/conn.h"
#include "tcl/current.h"

struct NsAdpInterp;
struct NsAtClose;
struct NsDeferred;
struct NsGlobals;

/*
 * Scripts of callbacks, compiled; the id of a callback determines its slot.
 */
#define NS_SCRIPT_SLOTS 64

typedef struct NsScriptSlot {
    uint64_t id; /* 0: empty. */
    Tcl_Obj *scriptPtr;
    bool     isCommand; /* A list: the words of one command. */
} NsScriptSlot;

/*
 * Owned by the thread of the interpreter.
 */
struct NsInterp {
    struct NsInterp *nextPtr; /* The thread's others. */
    Tcl_Interp      *interp;
    NsServer        *serverPtr; /* NULL: a basic interpreter, no server. */
    NsConn          *connPtr;   /* The request being served, or NULL. */
    int              epoch;     /* Of the blueprint it was made from. */
    int              nUses;     /* Nesting of allocations. */
    const struct NsTclCommand *rowPtr;     /* See NsTclRow. */
    bool                       isDoomed;   /* Delete when released. */
    bool                       isComplete; /* The blueprint was applied. */
    Tcl_HashTable              sets;       /* Set id -> set; see set.h. */
    struct NsAtClose   *atClosePtr; /* Scripts of ns_atclose, latest first. */
    struct NsDeferred  *deferredPtr;
    Tcl_Obj            *failureObj;   /* See failure.h; or NULL. */
    bool                isInTemplate; /* See noticepage.c. */
    struct NsHttpJob   *httpPtr;      /* Requests of ns_http. */
    struct NsGlobals   *globalsPtr;   /* Of the last clean-up, or NULL. */
    Tcl_HashTable      *channelsPtr; /* Tcl's own table; NULL: not known yet. */
    Tcl_HashTable      *takenPtr;    /* By ns_chan; NULL before the first. */
    struct NsAdpInterp *adpPtr;      /* adp's part; NULL before first use. */
    NsScriptSlot        scripts[NS_SCRIPT_SLOTS];
};

/*
 * The NsInterp of an interpreter; NULL if it is not one of ours.
 */
static inline NsInterp *
NsInterpOf(Tcl_Interp *interp)
{
    return likely(nsCurrentPtr != NULL && nsCurrentPtr->interp == interp)
        ? nsCurrentPtr
        : NsCurrentFind(interp);
}

/*
 * Set, once, what is called with each new interpreter when it has its commands.
 */
typedef void NsInterpCommandsProc(Tcl_Interp *interp);
void         NsInterpSetCommandsProc(NsInterpCommandsProc *proc);

/*
 * A new interpreter of a server, with its commands and after its create traces,
 * but without the blueprint's content.  From now on the calling thread's.
 * NULL: it could not be made, which is logged.
 */
NsInterp *NsInterpCreate(NsServer *serverPtr);

/*
 * Make the calling thread's interpreter for the server, so that its first
 * request need not; or see whether it is there and up to date.  NS_ERROR: it is
 * not, and could not be made so, which is logged.
 */
Ns_ReturnCode NsInterpPrepare(NsServer *serverPtr);
Ns_ReturnCode NsInterpCheck(NsServer *serverPtr);

/*
 * Once, before the configuration is read; when a reply is finished; when a
 * request has ended.
 */
void NsInterpInit(void);
void NsInterpConnClosed(NsConn *connPtr);
void NsInterpConnEnded(NsConn *connPtr);

#endif

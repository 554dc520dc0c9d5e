/*
 * interp.h --
 *
 *      Interpreters, one per thread and server, made from its blueprint.
 */

#ifndef NSD_TCL_INTERP_H
#define NSD_TCL_INTERP_H

#include "nstcl.h"
#include "request/conn.h"

struct NsAdpInterp;
struct NsAtClose;
struct NsDeferred;
struct NsGlobals;

/*
 * Scripts of callbacks, compiled; a callback's id tells its slot.
 */
#define NS_SCRIPT_SLOTS 64

typedef struct NsScriptSlot {
    uint64_t  id;                   /* 0: empty. */
    Tcl_Obj  *scriptPtr;
    bool      isCommand;            /* A list: the words of one command. */
} NsScriptSlot;

/*
 * Owned by the thread of the interpreter.
 */
typedef struct NsInterp {
    struct NsInterp    *nextPtr;    /* The thread's others. */
    Tcl_Interp         *interp;
    NsServer           *serverPtr;  /* NULL: a basic interpreter, no server. */
    NsConn             *connPtr;    /* The request being served, or NULL. */
    int                 epoch;      /* Of the blueprint it was made from. */
    int                 nUses;      /* Nesting of allocations. */
    bool                isDoomed;   /* Delete when released. */
    bool                isComplete; /* The blueprint was applied. */
    Tcl_HashTable       sets;       /* Set id -> set; see set.h. */
    struct NsAtClose   *atClosePtr; /* Scripts of ns_atclose, latest first. */
    struct NsDeferred  *deferredPtr;
    struct NsHttpRequest *httpPtr;  /* Requests of ns_http. */
    struct NsGlobals   *globalsPtr; /* Of the last clean-up, or NULL. */
    Tcl_HashTable      *channelsPtr; /* Tcl's own table; NULL: not known yet. */
    Tcl_HashTable      *takenPtr;   /* By ns_chan; NULL before the first. */
    struct NsAdpInterp *adpPtr;     /* adp's part; NULL before first use. */
    NsScriptSlot        scripts[NS_SCRIPT_SLOTS];
} NsInterp;

/*
 * The NsInterp of an interpreter; NULL if it is none of ours.
 */
NsInterp *NsInterpOf(Tcl_Interp *interp);

/*
 * A new interpreter of a server, with its commands and after its create traces,
 * but without the blueprint's content.  From now on the calling thread's.
 * NULL: it could not be made, which is logged.
 */
NsInterp *NsInterpCreate(NsServer *serverPtr);

/*
 * What the end of a request does: close channels, unset globals, forget sets.
 */
void NsInterpCleanup(NsInterp *itPtr);
void NsInterpCleanupChannels(NsInterp *itPtr);
void NsInterpCleanupVars(NsInterp *itPtr);

/*
 * The clean-up's own part of an interpreter that is being deleted.
 */
void NsInterpCleanupFree(NsInterp *itPtr);

/*
 * Run the one-shot calls of Ns_TclRegisterDeferred.
 */
void NsInterpRunDeferred(NsInterp *itPtr);

/*
 * Make the calling thread's interpreter for the server, so that its first
 * request need not; or see whether it is there and up to date.  NS_ERROR: it is
 * not, and could not be made so, which is logged.
 */
Ns_ReturnCode NsInterpPrepare(NsServer *serverPtr);
Ns_ReturnCode NsInterpCheck(NsServer *serverPtr);

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

/*
 * The row of a table that a word names, in full or abbreviated; each row begins
 * with its name.  Rows behind the first NULL must be named in full, and no
 * message names them: scripts know those texts without them.  A second NULL ends
 * the table.  NULL: there is none; the message is left, where noun says what the
 * word should have been.
 */
const void *NsTclFindRow(Tcl_Interp *interp, Tcl_Obj *wordObj,
                         const void *table, size_t rowBytes, const char *noun);

/*
 * Whether nothing follows the nNames words that name a command; if not, the
 * usage message is left.
 */
bool NsTclNoMoreWords(Tcl_Interp *interp, int nNames, int objc,
                      Tcl_Obj *const *objv);

/*
 * All of a subcommand without further words, whose result is what proc appends.
 */
int NsTclAppendedResult(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                        void (*proc)(Ns_DString *dsPtr));

#endif

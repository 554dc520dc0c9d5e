/*
 * nstcl.h --
 *
 *      Interpreters of a server, and the parsing of command arguments.
 */

#ifndef NSTCL_H
#define NSTCL_H

#include "nstypes.h"


/*
 * Run proc at interpreter events `when` (NS_TCL_TRACE_ *), FIFO; CREATE
 * and ALLOCATE also run at once in the initialising interpreter. The way
 * to add commands.
 */
NS_EXTERN int Ns_TclRegisterTrace(const char *, Ns_TclTraceProc *, void *, int);

/*
 * Old form of a CREATE trace.
 */
NS_EXTERN int Ns_TclInitInterps(const char *, Ns_TclInterpInitProc *, void *);

/*
 * Old forms for the initialising server.
 */
NS_EXTERN int Ns_TclRegisterAtCreate(Ns_TclTraceProc *, void *);
NS_EXTERN int Ns_TclRegisterAtCleanup(Ns_TclTraceProc *, void *);
NS_EXTERN int Ns_TclRegisterAtDelete(Ns_TclTraceProc *, void *);

/*
 * One-shot call when the interpreter is released. Deprecated.
 */
NS_EXTERN void Ns_TclRegisterDeferred(Tcl_Interp *, Ns_TclDeferProc *, void *);

/*
 * Source the module's Tcl library files later.
 */
NS_EXTERN int Ns_TclInitModule(const char *, const char *);

/*
 * Interpreter for server in this thread, initialised; NULL if no such
 * server.
 */
NS_EXTERN Tcl_Interp *Ns_TclAllocateInterp(const char *);

/*
 * Give it back (cleanup traces run).
 */
NS_EXTERN void Ns_TclDeAllocateInterp(Tcl_Interp *);

/*
 * Interpreter bound to the connection, released at its end.
 */
NS_EXTERN Tcl_Interp *Ns_GetConnInterp(Ns_Conn *);

/*
 * No-op. Deprecated.
 */
NS_EXTERN void Ns_FreeConnInterp(Ns_Conn *);

/*
 * Connection of an interpreter or NULL.
 */
NS_EXTERN Ns_Conn *Ns_TclGetConn(Tcl_Interp *);

/*
 * Server name or NULL.
 */
NS_EXTERN char *Ns_TclInterpServer(Tcl_Interp *);

/*
 * Library directory of server.
 */
NS_EXTERN char *Ns_TclLibrary(const char *);

/*
 * Evaluate script in server, result or error to ds; NS_OK/NS_ERROR.
 */
NS_EXTERN int Ns_TclEval(Ns_DString *, const char *, const char *);

/*
 * Run a Tcl proc as request handler.
 */
NS_EXTERN int Ns_TclRequest(Ns_Conn *, const char *);

/*
 * New stand-alone interpreter with base commands / bare.
 */
NS_EXTERN Tcl_Interp *Ns_TclCreateInterp(void);
NS_EXTERN Tcl_Interp *NS_TclCreateInterp(void);

/*
 * Add base commands.
 */
NS_EXTERN int Ns_TclInit(Tcl_Interp *);

/*
 * Delete with traces.
 */
NS_EXTERN void Ns_TclDestroyInterp(Tcl_Interp *);

/*
 * Delete at next release.
 */
NS_EXTERN void Ns_TclMarkForDelete(Tcl_Interp *);

/*
 * Set formatted result.
 */
NS_EXTERN void Ns_TclPrintfResult(Tcl_Interp *interp, const char *fmt, ...) NS_GNUC_PRINTF(2, 3);

/*
 * Log errorInfo (with extra text); returns it.
 */
NS_EXTERN const char *Ns_TclLogError(Tcl_Interp *);
NS_EXTERN const char *Ns_TclLogErrorInfo(Tcl_Interp *, const char *);
NS_EXTERN const char *Ns_TclLogErrorRequest(Tcl_Interp *, Ns_Conn *);

/*
 * Script + args object for later: ip, cbProc, script, objc, objv.
 */
NS_EXTERN Ns_TclCallback *Ns_TclNewCallback(Tcl_Interp *, Ns_Callback *, Tcl_Obj *, int, Tcl_Obj *const *);

/*
 * Evaluate script + given strings (NULL-terminated) + stored args; ip
 * NULL = allocate.
 */
NS_EXTERN int Ns_TclEvalCallback(Tcl_Interp *, Ns_TclCallback *, Ns_DString *, ...);

/*
 * Ready-made run / free / describe functions.
 */
NS_EXTERN Ns_Callback Ns_TclCallbackProc;
NS_EXTERN Ns_Callback Ns_TclFreeCallback;
NS_EXTERN Ns_ArgProc Ns_TclCallbackArgProc;

/*
 * Give set a handle (NS_TCL_SET_DYNAMIC: Tcl owns it), appended to the
 * result.
 */
NS_EXTERN int Ns_TclEnterSet(Tcl_Interp *, Ns_Set *, int);

/*
 * Handle → set (second leaves error).
 */
NS_EXTERN Ns_Set *Ns_TclGetSet(Tcl_Interp *, const char *);
NS_EXTERN int Ns_TclGetSet2(Tcl_Interp *, const char *, Ns_Set **);

/*
 * Drop handle, free if owned.
 */
NS_EXTERN int Ns_TclFreeSet(Tcl_Interp *, const char *);

/*
 * Channel / descriptor by name; check direction.
 */
NS_EXTERN int Ns_TclGetOpenChannel(Tcl_Interp *, const char *, int, int, Tcl_Channel *);
NS_EXTERN int Ns_TclGetOpenFd(Tcl_Interp *, const char *, int, int *);

/*
 * Run script in joinable / detached thread.
 */
NS_EXTERN int Ns_TclThread(Tcl_Interp *, const char *, Ns_Thread *);
NS_EXTERN int Ns_TclDetachedThread(Tcl_Interp *, const char *);

/*
 * Time object, string `sec:usec` (`sec` if no fraction).
 */
NS_EXTERN Tcl_Obj *Ns_TclNewTimeObj(Ns_Time *);
NS_EXTERN void Ns_TclSetTimeObj(Tcl_Obj *, Ns_Time *);

/*
 * Parse it.
 */
NS_EXTERN int Ns_TclGetTimeFromObj(Tcl_Interp *, Tcl_Obj *, Ns_Time *);
NS_EXTERN int Ns_TclGetTimePtrFromObj(Tcl_Interp *, Tcl_Obj *, Ns_Time **);

/*
 * Typed pointer ↔ object with string form.
 */
NS_EXTERN void Ns_TclSetAddrObj(Tcl_Obj *, const char *, void *);
NS_EXTERN int Ns_TclGetAddrFromObj(Tcl_Interp *, Tcl_Obj *, const char *, void **);

/*
 * Cache typed pointer in object without string form.
 */
NS_EXTERN void Ns_TclSetOpaqueObj(Tcl_Obj *, const char *, void *);
NS_EXTERN int Ns_TclGetOpaqueFromObj(Tcl_Obj *, const char *, void **);

/*
 * Helpers for own object types.
 */
NS_EXTERN void Ns_TclSetTwoPtrValue(Tcl_Obj *, Tcl_ObjType *, void *, void *);
NS_EXTERN void Ns_TclSetOtherValuePtr(Tcl_Obj *, Tcl_ObjType *, void *);
NS_EXTERN void Ns_TclResetObjType(Tcl_Obj *, Tcl_ObjType *);
NS_EXTERN void Ns_TclSetStringRep(Tcl_Obj *, const char *, int);
NS_EXTERN Tcl_SetFromAnyProc Ns_TclSetFromAnyError;

/*
 * TclX keyed lists.
 */
NS_EXTERN int Tcl_GetKeyedListField(Tcl_Interp *, const char *, const char *, char **);
NS_EXTERN int Tcl_GetKeyedListKeys(Tcl_Interp *, const char *, const char *, int *, char ***);
NS_EXTERN char *Tcl_SetKeyedListField(Tcl_Interp *, const char *, const char *, const char *);
NS_EXTERN char *Tcl_DeleteKeyedListField(Tcl_Interp *, const char *, const char *);

/*
 * nsv arrays from C: server, array, key, …; Get appends to ds; Unset with
 * NULL key empties; Incr returns the new value.
 */
NS_EXTERN int Ns_VarGet(const char *, const char *, const char *, Ns_DString *);
NS_EXTERN int Ns_VarExists(const char *, const char *, const char *);
NS_EXTERN int Ns_VarSet(const char *, const char *, const char *, const char *, size_t);
NS_EXTERN int Ns_VarUnset(const char *, const char *, const char *);
NS_EXTERN Tcl_WideInt Ns_VarIncr(const char *, const char *, const char *, int);
NS_EXTERN int Ns_VarAppend(const char *, const char *, const char *, const char *, size_t);

/*
 * Serve an ADP file (with cache lifetime).
 */
NS_EXTERN int Ns_AdpRequest(Ns_Conn *, const char *);
NS_EXTERN int Ns_AdpRequestEx(Ns_Conn *, const char *, Ns_Time *);

/*
 * Append to ADP output.
 */
NS_EXTERN int Ns_AdpAppend(Tcl_Interp *, const char *, int);

/*
 * Its buffer, stream flag, limit.
 */
NS_EXTERN int Ns_AdpGetOutput(Tcl_Interp *, Tcl_DString **, int *, size_t *);

/*
 * Send buffered ADP output.
 */
NS_EXTERN int Ns_AdpFlush(Tcl_Interp *, int);

/*
 * Parse objv from `offset` by option and argument tables; NS_OK, or
 * NS_ERROR with message.
 */
NS_EXTERN int Ns_ParseObjv(Ns_ObjvSpec *, Ns_ObjvSpec *, Tcl_Interp *, int, int, Tcl_Obj *const *);

/*
 * Number into dest.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvInt;
NS_EXTERN Ns_ObjvProc Ns_ObjvLong;
NS_EXTERN Ns_ObjvProc Ns_ObjvWideInt;
NS_EXTERN Ns_ObjvProc Ns_ObjvDouble;

/*
 * arg NULL: boolean argument; else store arg as flag value, consume none.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvBool;

/*
 * char ** (arg: optional int* length).
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvString;
NS_EXTERN Ns_ObjvProc Ns_ObjvByteArray;

/*
 * Tcl_Obj **.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvObj;

/*
 * Keyword of Ns_ObjvTable in arg → value; exact match.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvIndex;

/*
 * List of keywords, values ORed.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvFlags;

/*
 * Ns_Time ** / Ns_Set **.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvTime;
NS_EXTERN Ns_ObjvProc Ns_ObjvSet;

/*
 * int *: number of remaining words; consumes all.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvArgs;

/*
 * For `--`: ends options.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvBreak;

/*
 * Simple scanner: option names, converters (NULL = flag), result array;
 * index of next word.
 */
NS_EXTERN int Ns_ParseOptions(const char*[], Ns_OptionConverter*[], ClientData [], Tcl_Interp *, int, int, int *, int, Tcl_Obj *const *);

/*
 * Converters for it.
 */
NS_EXTERN Ns_OptionConverter Ns_OptionObj;
NS_EXTERN Ns_OptionConverter Ns_OptionString;
NS_EXTERN Ns_OptionConverter Ns_OptionServer;

#endif

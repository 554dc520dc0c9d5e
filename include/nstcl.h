/* SPDX-License-Identifier: MPL-2.0
 * nstcl.h --
 *
 *      Interpreters of a server, and the parsing of command arguments.
 *
 *      An interpreter belongs to one thread and one server.  Its commands are
 *      added when it is made, by procedures registered while the server starts.
 */

#ifndef NSTCL_H
#define NSTCL_H

#include "nstypes.h"

/*
 * ------------------------------------------------------------------- Traces
 */

/*
 * Call proc at the events `when` (NS_TCL_TRACE_*, ORed) of the interpreters of
 * a server (NULL: of all servers): create, allocate and getconn in the order of
 * registration, the others in reverse.  For create and allocate proc is also
 * called at once, in the interpreter that boots the server.  NS_ERROR: no such
 * server, or it has started; logged.
 */
NS_EXTERN int Ns_TclRegisterTrace(const char *server, Ns_TclTraceProc *proc,
                                  const void *arg, int when);

/*
 * A create trace; old names, the latter three for the server being initialized.
 */
NS_EXTERN int Ns_TclInitInterps(const char *server, Ns_TclInterpInitProc *proc,
                                void *arg);
NS_EXTERN int Ns_TclRegisterAtCreate(Ns_TclTraceProc *proc, void *arg);
NS_EXTERN int Ns_TclRegisterAtCleanup(Ns_TclTraceProc *proc, void *arg);
NS_EXTERN int Ns_TclRegisterAtDelete(Ns_TclTraceProc *proc, void *arg);

/*
 * Call proc once, when the interpreter is next released.  Deprecated.
 */
NS_EXTERN void Ns_TclRegisterDeferred(Tcl_Interp *interp, Ns_TclDeferProc *proc,
                                      void *arg);

/*
 * Have the module's Tcl library files sourced after all modules are loaded.
 * NS_ERROR: the server is not being initialized.
 */
NS_EXTERN int Ns_TclInitModule(const char *server, const char *module);

/*
 * ------------------------------------------------------------- Interpreters
 */

/*
 * The calling thread's interpreter for a server, up to date; made at first use.
 * Uses may be nested; each ends with DeAllocate, the outermost one cleaning up.
 * NULL: no such server.
 */
NS_EXTERN Tcl_Interp *Ns_TclAllocateInterp(const char *server);
NS_EXTERN void        Ns_TclDeAllocateInterp(Tcl_Interp *interp);

/*
 * The interpreter bound to a connection, released at the end of the request.
 * Only in the thread that serves it.
 */
NS_EXTERN Tcl_Interp *Ns_GetConnInterp(Ns_Conn *conn);

/*
 * Does nothing.  Deprecated.
 */
NS_EXTERN void Ns_FreeConnInterp(Ns_Conn *conn);

/*
 * The connection that the interpreter serves; the name of its server.  NULL if
 * there is none.
 */
NS_EXTERN Ns_Conn *Ns_TclGetConn(Tcl_Interp *interp);
NS_EXTERN char    *Ns_TclInterpServer(Tcl_Interp *interp);

/*
 * The directory of a server's own Tcl library; with NULL of the one that all
 * servers share.
 */
NS_EXTERN char *Ns_TclLibrary(const char *server);

/*
 * Evaluate a script in an interpreter of the server.  The result, or the trace
 * of the error, which is logged as well, is appended to dsPtr (NULL: dropped).
 * NS_OK or NS_ERROR.
 */
NS_EXTERN int Ns_TclEval(Ns_DString *dsPtr, const char *server,
                         const char *script);

/*
 * Answer a request by a Tcl proc without arguments.  An error is logged and
 * answered with 500, or with 503 when its code is NS_TIMEOUT.
 */
NS_EXTERN int Ns_TclRequest(Ns_Conn *conn, const char *name);

/*
 * A new interpreter that belongs to no server: with the commands that need
 * none, or, the second, without any of ours.  The caller's, for
 * Ns_TclDestroyInterp.
 */
NS_EXTERN Tcl_Interp *Ns_TclCreateInterp(void);
NS_EXTERN Tcl_Interp *NS_TclCreateInterp(void);

/*
 * Add the commands that need no server.  TCL_OK.
 */
NS_EXTERN int Ns_TclInit(Tcl_Interp *interp);

/*
 * Delete an interpreter, after its delete traces.  MarkForDelete: when the
 * present use ends.
 */
NS_EXTERN void Ns_TclDestroyInterp(Tcl_Interp *interp);
NS_EXTERN void Ns_TclMarkForDelete(Tcl_Interp *interp);

/*
 * ----------------------------------------------------------- Results, errors
 */

/*
 * Set the result.  interp may be NULL.
 */
NS_EXTERN void Ns_TclPrintfResult(Tcl_Interp *interp, const char *fmt, ...)
    NS_GNUC_PRINTF(2, 3);

/*
 * Log the error in the interpreter with its trace, and with the request if one
 * is served.  ErrorInfo appends extra (NULL: nothing) to the trace first.  The
 * trace is returned, valid until the interpreter continues.
 */
NS_EXTERN const char *Ns_TclLogError(Tcl_Interp *interp);
NS_EXTERN const char *Ns_TclLogErrorInfo(Tcl_Interp *interp, const char *extra);
NS_EXTERN const char *Ns_TclLogErrorRequest(Tcl_Interp *interp, Ns_Conn *conn);

/*
 * ------------------------------------------------------------------- Waits
 */

/*
 * The calling thread begins, and ends, a wait of which the server knows
 * nothing, for a database or another machine.  `ns_server stack` shows a
 * request that waits with the commands that have led there: Begin notes them,
 * with `what` (copied; NULL: nothing) as the innermost frame, for the thread
 * cannot be asked in its wait.
 *
 * Begin takes some ten microseconds, so call it for waits that take far longer:
 * best when what is waited for has not come at once.  In a thread that runs no
 * request, and inside of another wait, it does next to nothing.
 *
 * The thread is the one that runs the command; between the two calls it
 * evaluates no script, and uses no interpreter.  Each Begin has its End, in the
 * same command, on failure, too: the server stops when one is missing.  Locks
 * of the module may be held, unless traces of scripts on `info frame` take
 * them.
 */
NS_EXTERN void Ns_TclWaitBegin(const char *what);
NS_EXTERN void Ns_TclWaitEnd(void);

/*
 * ---------------------------------------------------------------- Callbacks
 */

/*
 * Keep a script and its arguments, copied, for later use in any thread.  cbProc
 * is who will run it, for listings.  To be freed with Ns_TclFreeCallback.
 */
NS_EXTERN Ns_TclCallback *Ns_TclNewCallback(Tcl_Interp  *interp,
                                            Ns_Callback *cbProc,
                                            Tcl_Obj *scriptPtr, int objc,
                                            Tcl_Obj *const *objv);

/*
 * Evaluate the script with the given strings, which end with NULL, and then the
 * stored arguments appended as words.  The result is appended to resultPtr
 * (NULL: dropped).  With interp NULL an interpreter of the callback's server is
 * used, and an error logged; otherwise the error stays in interp.  TCL_OK or
 * another Tcl code.
 */
NS_EXTERN int Ns_TclEvalCallback(Tcl_Interp     *interp,
                                 Ns_TclCallback *callbackPtr,
                                 Ns_DString     *resultPtr, ...);

/*
 * Run, free, and describe a callback given as arg.
 */
NS_EXTERN Ns_Callback Ns_TclCallbackProc;
NS_EXTERN Ns_Callback Ns_TclFreeCallback;
NS_EXTERN Ns_ArgProc  Ns_TclCallbackArgProc;

/*
 * --------------------------------------------------- Sets, channels, threads
 */

/*
 * Whether the interpreter owns a set: NS_TCL_SET_STATIC or NS_TCL_SET_DYNAMIC.
 */
typedef int Ns_TclSetType;

/*
 * A set from a list of keys and values; the caller's.  flags, of the later
 * form: NS_SET_OPTION_NOCASE or 0.  NULL, with a message in interp (may be
 * NULL): it is not a list, or a value is missing.
 */
#if NS_API_LEVEL >= 50000
#define Ns_SetCreateFromDict Ns_SetCreateFromDict_50
#else
NS_EXTERN Ns_Set *Ns_SetCreateFromDict(Tcl_Interp *interp, const char *name,
                                       Tcl_Obj *listObj);
#endif
NS_EXTERN Ns_Set *Ns_SetCreateFromDict_50(Tcl_Interp *interp, const char *name,
                                          Tcl_Obj *listObj, unsigned int flags);

/*
 * What becomes of JSON: dicts, lists and strings; a list of name, type and
 * value for each element; the id of a set, which belongs to the interpreter.
 */
typedef enum {
    NS_JSON_AS_VALUE,
    NS_JSON_AS_TRIPLES,
    NS_JSON_AS_SET
} Ns_JsonOutput;

/*
 * Set the result to what a text (length bytes of UTF-8) holds, as `ns_json
 * parse` does.  TCL_ERROR, with the place in the message and the error code
 * NS_INVALID_JSON: it is not JSON.  Only an interpreter of a server has sets.
 */
NS_EXTERN int Ns_JsonParse(Tcl_Interp *interp, const char *text, size_t length,
                           Ns_JsonOutput output);

/*
 * Give a set an id in the interpreter, appended as an element to the result.
 * With NS_TCL_SET_DYNAMIC the interpreter owns the set.
 */
NS_EXTERN int Ns_TclEnterSet(Tcl_Interp *interp, Ns_Set *set, int flags);

/*
 * The set of an id, borrowed; NULL or TCL_ERROR, with a message, without one.
 */
NS_EXTERN Ns_Set *Ns_TclGetSet(Tcl_Interp *interp, const char *setId);
NS_EXTERN int     Ns_TclGetSet2(Tcl_Interp *interp, const char *setId,
                                Ns_Set **setPtrPtr);

/*
 * Forget the id, and free the set if the interpreter owns it.
 */
NS_EXTERN int Ns_TclFreeSet(Tcl_Interp *interp, const char *setId);

/*
 * A channel, or its descriptor, by name, borrowed.  With check, and for the
 * descriptor always, it must be open in the direction.
 */
NS_EXTERN int Ns_TclGetOpenChannel(Tcl_Interp *interp, const char *chanId,
                                   int write, int check, Tcl_Channel *chanPtr);
NS_EXTERN int Ns_TclGetOpenFd(Tcl_Interp *interp, const char *chanId, int write,
                              int *fdPtr);

/*
 * Evaluate a script in a new thread, in an interpreter of the same server.  The
 * first one is to be joined.
 */
NS_EXTERN int Ns_TclThread(Tcl_Interp *interp, const char *script,
                           Ns_Thread *threadPtr);
NS_EXTERN int Ns_TclDetachedThread(Tcl_Interp *interp, const char *script);

/*
 * ------------------------------------------------------------------ Objects
 */

/*
 * Times: `SEC` or `SEC:USEC`.  The pointer of GetTimePtr points into the object
 * and lasts as long as that keeps its type.
 */
NS_EXTERN Tcl_Obj *Ns_TclNewTimeObj(Ns_Time *timePtr);
NS_EXTERN void     Ns_TclSetTimeObj(Tcl_Obj *objPtr, Ns_Time *timePtr);
NS_EXTERN int      Ns_TclGetTimeFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr,
                                        Ns_Time *timePtr);
NS_EXTERN int      Ns_TclGetTimePtrFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr,
                                           Ns_Time **timePtrPtr);

/*
 * The same from a string; a time that has to be within a range, the limits
 * included (NULL: any), for the option or argument `name`.  TCL_OK, or
 * TCL_ERROR with a message in interp (may be NULL).
 */
NS_EXTERN int Ns_GetTimeFromString(Tcl_Interp *interp, const char *string,
                                   Ns_Time *timePtr);
NS_EXTERN int Ns_CheckTimeRange(Tcl_Interp *interp, const char *name,
                                const Ns_ObjvTimeRange *rangePtr,
                                const Ns_Time          *timePtr);

/*
 * A size in bytes, as for Ns_StrToMemUnit.
 */
NS_EXTERN int Ns_TclGetMemUnitFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr,
                                      Tcl_WideInt *bytesPtr);

/*
 * An address with a type, which is compared by its own address, as an object
 * with a string of its own.
 */
NS_EXTERN void Ns_TclSetAddrObj(Tcl_Obj *objPtr, const char *type, void *addr);
NS_EXTERN int  Ns_TclGetAddrFromObj(Tcl_Interp *interp, Tcl_Obj *objPtr,
                                    const char *type, void **addrPtrPtr);

/*
 * An address remembered in addition to the string that an object has.
 */
NS_EXTERN void Ns_TclSetOpaqueObj(Tcl_Obj *objPtr, const char *type,
                                  void *addr);
NS_EXTERN int  Ns_TclGetOpaqueFromObj(Tcl_Obj *objPtr, const char *type,
                                      void **addrPtrPtr);

/*
 * For object types of a module's own: free the old internal form and set the
 * new type, with what it holds; set the string (length -1: strlen).
 */
NS_EXTERN void Ns_TclResetObjType(Tcl_Obj *objPtr, Tcl_ObjType *typePtr);
NS_EXTERN void Ns_TclSetTwoPtrValue(Tcl_Obj *objPtr, Tcl_ObjType *typePtr,
                                    void *ptr1, void *ptr2);
NS_EXTERN void Ns_TclSetOtherValuePtr(Tcl_Obj *objPtr, Tcl_ObjType *typePtr,
                                      void *value);
NS_EXTERN void Ns_TclSetStringRep(Tcl_Obj *objPtr, const char *bytes,
                                  int length);

/*
 * The setFromAnyProc of a type that no string can be converted to.
 */
NS_EXTERN Tcl_SetFromAnyProc Ns_TclSetFromAnyError;

/*
 * ------------------------------------------------------------- Keyed lists
 *
 * Lists of pairs {key value}, addressed by paths a.b.c.  Strings returned are
 * the caller's, for ckfree.
 */

/*
 * TCL_OK, and the value or keys stored; TCL_BREAK: no such key; TCL_ERROR.  The
 * place to store may be NULL.
 */
NS_EXTERN int Tcl_GetKeyedListField(Tcl_Interp *interp, const char *fieldName,
                                    const char *keyedList,
                                    char      **fieldValuePtr);
NS_EXTERN int Tcl_GetKeyedListKeys(Tcl_Interp *interp, const char *subFieldName,
                                   const char *keyedList, int *keysArgcPtr,
                                   char ***keysArgvPtr);

/*
 * The changed list; NULL on error.
 */
NS_EXTERN char *Tcl_SetKeyedListField(Tcl_Interp *interp, const char *fieldName,
                                      const char *fieldValue,
                                      const char *keyedList);
NS_EXTERN char *Tcl_DeleteKeyedListField(Tcl_Interp *interp,
                                         const char *fieldName,
                                         const char *keyedList);

/*
 * ------------------------------------------------------------ Shared arrays
 */

/*
 * The arrays of nsv_set and its relatives.  Get appends to dsPtr; the length -1
 * means all of value; Unset with a NULL key removes the array; Incr returns the
 * new value.  NS_ERROR: no such array or key.
 */
NS_EXTERN int Ns_VarGet(const char *server, const char *array, const char *key,
                        Ns_DString *dsPtr);
NS_EXTERN int Ns_VarExists(const char *server, const char *array,
                           const char *key);
NS_EXTERN int Ns_VarSet(const char *server, const char *array, const char *key,
                        const char *value, size_t length);
NS_EXTERN int Ns_VarUnset(const char *server, const char *array,
                          const char *key);
NS_EXTERN Tcl_WideInt Ns_VarIncr(const char *server, const char *array,
                                 const char *key, int count);
NS_EXTERN int         Ns_VarAppend(const char *server, const char *array,
                                   const char *key, const char *value, size_t length);

/*
 * ---------------------------------------------------------------- Templates
 */

/*
 * Answer a request by an ADP file; Ex: its output may be kept for a time (NULL:
 * not at all).
 */
NS_EXTERN int Ns_AdpRequest(Ns_Conn *conn, const char *file);
NS_EXTERN int Ns_AdpRequestEx(Ns_Conn *conn, const char *file,
                              Ns_Time *expiresPtr);

/*
 * Append to the output of the running page (length -1: strlen); its buffer,
 * whether it is streamed, and its limit (each pointer may be NULL); send what
 * is in the buffer.
 */
NS_EXTERN int Ns_AdpAppend(Tcl_Interp *interp, const char *text, int length);
NS_EXTERN int Ns_AdpGetOutput(Tcl_Interp *interp, Tcl_DString **dsPtrPtr,
                              int *doStreamPtr, size_t *maxBufferPtr);
NS_EXTERN int Ns_AdpFlush(Tcl_Interp *interp, int doStream);

/*
 * --------------------------------------------------- Arguments of a command
 */

/*
 * Parse the words from objv[offset] on: first options, whose words must match
 * exactly and may come in any order, then arguments in order.  Both tables end
 * with a NULL key, and may be NULL.  Arguments from the first whose key begins
 * with `?` on may be missing.  What is not given leaves its dest untouched.
 * Options after an empty key are not named in messages.
 * NS_ERROR, with a message: wrong number of words, in which case the message is
 * made of the tables, or a value that its procedure refused.
 */
NS_EXTERN int Ns_ParseObjv(Ns_ObjvSpec *optSpecs, Ns_ObjvSpec *argSpecs,
                           Tcl_Interp *interp, int offset, int objc,
                           Tcl_Obj *const *objv);

/*
 * What arg may point to where a number is parsed: both limits are included.
 */
typedef struct Ns_ObjvValueRange {
    Tcl_WideInt minValue;
    Tcl_WideInt maxValue;
} Ns_ObjvValueRange;

/*
 * A number into *dest of that type; integers within the Ns_ObjvValueRange in
 * arg, unless that is NULL.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvInt;
NS_EXTERN Ns_ObjvProc Ns_ObjvLong;
NS_EXTERN Ns_ObjvProc Ns_ObjvWideInt;
NS_EXTERN Ns_ObjvProc Ns_ObjvDouble;

/*
 * A boolean into *(int *) dest.  With arg: a switch without value, arg is
 * stored.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvBool;

/*
 * The bytes of a word into *(char **) dest or *(unsigned char **) dest, their
 * number into *(int *) arg unless that is NULL; the word itself into
 * *(Tcl_Obj **) dest.  Borrowed.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvString;
NS_EXTERN Ns_ObjvProc Ns_ObjvByteArray;
NS_EXTERN Ns_ObjvProc Ns_ObjvObj;

/*
 * A keyword of the Ns_ObjvTable in arg, its value into *(int *) dest; a list of
 * keywords, their values ORed into it.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvIndex;
NS_EXTERN Ns_ObjvProc Ns_ObjvFlags;

/*
 * A size in bytes into *(Tcl_WideInt *) dest, as for Ns_StrToMemUnit, within
 * the Ns_ObjvValueRange in arg, unless that is NULL; the server of that name
 * into *(Ns_Server **) dest.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvMemUnit;
NS_EXTERN Ns_ObjvProc Ns_ObjvServer;

/*
 * A time into *(Ns_Time **) dest, within the Ns_ObjvTimeRange in arg, unless
 * that is NULL; a set into *(Ns_Set **) dest.  Borrowed.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvTime;
NS_EXTERN Ns_ObjvProc Ns_ObjvSet;

/*
 * All remaining words: their number into *(int *) dest.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvArgs;

/*
 * For the option `--`, which ends the options.
 */
NS_EXTERN Ns_ObjvProc Ns_ObjvBreak;

/*
 * Append the words of a table as a usage message has them: `a|b|c`.  dsPtr's
 * value.
 */
NS_EXTERN const char *Ns_ObjvTablePrint(Ns_DString         *dsPtr,
                                        const Ns_ObjvTable *tablePtr);

/*
 * Call the procedure of the table, which ends with a NULL key, whose key is
 * the first word after the command, or after its subcommand, with all words;
 * its result.  TCL_ERROR, with a message: there is no such word.
 */
typedef struct Ns_SubCmdSpec {
    const char     *key;
    Tcl_ObjCmdProc *proc;
} Ns_SubCmdSpec;

NS_EXTERN int Ns_SubcmdObjv(const Ns_SubCmdSpec *tablePtr,
                            ClientData clientData, Tcl_Interp *interp,
                            TCL_SIZE_T objc, Tcl_Obj *const *objv);
NS_EXTERN int Ns_SubsubcmdObjv(const Ns_SubCmdSpec *tablePtr,
                               ClientData clientData, Tcl_Interp *interp,
                               TCL_SIZE_T objc, Tcl_Obj *const *objv);

/*
 * A simpler scanner of options, which may be abbreviated.  With max < 0 it
 * stops at the first word that is not an option; else the next max words must
 * be options and their values.  A converter of NULL marks a switch, whose value
 * is 1. *nextPtr: the word after them.  TCL_OK, or TCL_ERROR with a message.
 */
NS_EXTERN int Ns_ParseOptions(const char         *options[],
                              Ns_OptionConverter *converters[],
                              ClientData values[], Tcl_Interp *interp,
                              int offset, int max, int *nextPtr, int objc,
                              Tcl_Obj *const *objv);

/*
 * The word; its string; the server of that name (NsServer *).
 */
NS_EXTERN Ns_OptionConverter Ns_OptionObj;
NS_EXTERN Ns_OptionConverter Ns_OptionString;
NS_EXTERN Ns_OptionConverter Ns_OptionServer;

#endif

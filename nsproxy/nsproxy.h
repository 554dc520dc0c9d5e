/*
 * nsproxy.h --
 *
 *      Scripts in worker processes.
 *
 *      A handle of a pool has a process of its own that evaluates scripts, so
 *      that what crashes, hangs, or is not made for threads harms nobody.  A
 *      handle belongs to the interpreter that got it.
 */

#ifndef NSPROXY_H
#define NSPROXY_H

#include "ns.h"

typedef struct Ns_Proxy_ *PROXY;

/*
 * The main procedure of a worker program: argv is PROGRAM POOL ID.  init (may
 * be NULL) is called with the interpreter.  The result is the exit status.
 */
NS_EXTERN int Ns_ProxyMain(int argc, char *const *argv, Tcl_AppInitProc *init);

/*
 * Get a handle within a time (NULL: as the pool is configured), evaluate a
 * script in it, and give it back.  Tcl result codes; the message is in interp.
 */
NS_EXTERN int Ns_ProxyGet(Tcl_Interp *interp, const char *pool, PROXY *proxyPtr,
                          const Ns_Time *timeoutPtr);
NS_EXTERN int Ns_ProxyEval(Tcl_Interp *interp, PROXY proxy, const char *script,
                           const Ns_Time *timeoutPtr);
NS_EXTERN void Ns_ProxyPut(PROXY proxy);

/*
 * Give an interpreter the command ns_proxy; release all handles that it has.
 */
NS_EXTERN int             Ns_ProxyTclInit(Tcl_Interp *interp);
NS_EXTERN Ns_TclTraceProc Ns_ProxyCleanup;

/*
 * Entry of the library in a plain Tcl shell.
 */
NS_EXTERN int Nsproxy_Init(Tcl_Interp *interp);

/*
 * For the module: the section with the defaults of the pools that interpreters
 * of a server (NULL: of any other) mention first; workers end at the stop.
 */
NS_EXTERN void Ns_ProxySetDefaults(const char *server, const char *section);
NS_EXTERN Ns_ShutdownProc Ns_ProxyShutdown;

#endif

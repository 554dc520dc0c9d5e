/* SPDX-License-Identifier: MPL-2.0
 * nsproxy.h --
 *
 *      Scripts in worker processes.
 *
 *      A handle of a pool has its own process that evaluates scripts, so a
 *      script that crashes, hangs, or is not thread-safe does not affect the
 *      server.  A handle belongs to the interpreter that got it.
 */

#ifndef NSPROXY_H
#define NSPROXY_H

#include "ns.h"

typedef struct Ns_Proxy_ *PROXY;

/*
 * The main procedure of a worker program: argv is PROGRAM POOL ID.  init is
 * called with the interpreter; it may be NULL.  Returns the exit status.
 */
NS_EXTERN int Ns_ProxyMain(int argc, char *const *argv, Tcl_AppInitProc *init);

/*
 * Get a handle within a time (NULL: the configured one), evaluate a script in
 * it, and put it back.  They return Tcl result codes; the message is in interp.
 */
NS_EXTERN int Ns_ProxyGet(Tcl_Interp *interp, const char *pool, PROXY *proxyPtr,
                          const Ns_Time *timeoutPtr);
NS_EXTERN int Ns_ProxyEval(Tcl_Interp *interp, PROXY proxy, const char *script,
                           const Ns_Time *timeoutPtr);
NS_EXTERN void Ns_ProxyPut(PROXY proxy);

/*
 * Add the command ns_proxy to an interpreter; release all its handles.
 */
NS_EXTERN int             Ns_ProxyTclInit(Tcl_Interp *interp);
NS_EXTERN Ns_TclTraceProc Ns_ProxyCleanup;

/*
 * Entry point of the library in a plain Tcl shell.
 */
NS_EXTERN int Nsproxy_Init(Tcl_Interp *interp);

/*
 * For the module.  Defaults: the section with defaults for pools that are first
 * named by an interpreter of the server (NULL: any other server).  Shutdown:
 * end the workers when the server stops.
 */
NS_EXTERN void Ns_ProxySetDefaults(const char *server, const char *section);
NS_EXTERN Ns_ShutdownProc Ns_ProxyShutdown;

#endif

/* SPDX-License-Identifier: MPL-2.0
 * module.h --
 *
 *      Loading of modules; modules use Ns_ModuleLoad of nsprocess.h.
 */

#ifndef NSD_PROCESS_MODULE_H
#define NSD_PROCESS_MODULE_H

#include "nsprocess.h"
#include "process/server.h"

/*
 * Load the modules that the section `modules` of a server (NULL: of the
 * process) names, in its order, then the static modules registered in the
 * meantime.  A failure is fatal. interp as in Ns_ModuleLoad.
 */
void NsModulesLoad(Tcl_Interp *interp, NsServer *serverPtr);

/*
 * The process ends, before anything is touched, when modules that it will load
 * are not there (only: as below); all of them are named.
 */
void NsModulesRequire(const char *only);

/*
 * Call proc with the address of a symbol for each module of the process and of
 * the servers (only NULL: all; else of that one) which exports it.  Nothing is
 * initialized, and what cannot be opened is left out.
 */
typedef void NsModuleSymbolProc(const char *server, const char *module,
                                void *symbol, void *arg);
void         NsModulesAsk(const char *only, const char *symbol,
                          NsModuleSymbolProc *proc, void *arg);

/*
 * The file of a module, into a buffer of PATH_MAX bytes.  Relative names are
 * below home/bin; if the configuration names no bindir, those that are not
 * there are taken from the installation.  The ending .so may be left out.
 * False: errno says why, and path is the name that was tried.
 */
bool NsModuleFind(const char *file, char *path);

/*
 * Write into buffer what would keep a module from being loaded; false:
 * nothing.  Asks the module's own Ns_ModuleCheck, if it has one.
 */
bool NsModuleIsBad(const char *server, const char *module, const char *file,
                   char *buffer, size_t bytes);

/*
 * The address of a function in a module's file, which stays loaded.  NULL: why
 * not is written into buffer.
 */
void *NsModuleSymbol(const char *path, const char *symbol, char *buffer,
                     size_t bytes);

#endif

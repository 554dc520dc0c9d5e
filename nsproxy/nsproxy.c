/* SPDX-License-Identifier: MPL-2.0
 * nsproxy.c --
 *
 *      The module: ns_proxy, in the interpreters of one server or of all.
 */

#include "nsproxy.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

static Ns_TclTraceProc AddCommand;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    static bool isRegistered;
    Ns_DString  section;

    Ns_DStringInit(&section);
    if (server != NULL) {
        Ns_DStringVarAppend(&section, "ns/server/", server, "/module/", module,
                            NULL);
    } else {
        Ns_DStringVarAppend(&section, "ns/module/", module, NULL);
    }
    Ns_ProxySetDefaults(server, section.string);
    Ns_DStringFree(&section);
    if (!isRegistered) {
        (void) Ns_RegisterAtShutdown(Ns_ProxyShutdown, NULL);
        isRegistered = true;
    }
    if (Ns_TclRegisterTrace(server, AddCommand, NULL, NS_TCL_TRACE_CREATE)
        != NS_OK) {
        return NS_ERROR;
    }
    return Ns_TclRegisterTrace(server, Ns_ProxyCleanup, NULL,
                               NS_TCL_TRACE_DEALLOCATE);
}

static int
AddCommand(Tcl_Interp *interp, void *arg)
{
    return Ns_ProxyTclInit(interp);
}

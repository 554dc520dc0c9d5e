/* SPDX-License-Identifier: MPL-2.0
 * nsdb.c --
 *
 *      The module: pools of database connections for the scripts of a server.
 *      The part shared with drivers is libnsdb.
 */

#include "commands.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleCheck;

static Ns_TclTraceProc AddCommands;
static Ns_TclTraceProc Release;

static bool IsForServer(const char *server);
static bool CheckPool(const char *pool);
static bool CheckServer(const char *server);

int
Ns_ModuleInit(const char *server, const char *module)
{
    if (!IsForServer(server)) {
        return NS_ERROR;
    }
    DbPoolsInit();
    DbServerInit(server);
    Ns_RegisterProcInfo((void *) AddCommands, "nsdb:initinterp", NULL);
    Ns_RegisterProcInfo((void *) Release, "nsdb:releasehandles", NULL);
    if (Ns_TclRegisterTrace(server, AddCommands, (void *) server,
                            NS_TCL_TRACE_CREATE)
            != NS_OK
        || Ns_TclRegisterTrace(server, Release, NULL, NS_TCL_TRACE_DEALLOCATE)
            != NS_OK) {
        return NS_ERROR;
    }
    return NS_OK;
}

/*
 * For nsd -T.
 */
int
Ns_ModuleCheck(const char *server, const char *module)
{
    Ns_Set *pools = Ns_ConfigGetSection("ns/db/pools");
    bool    isOk = IsForServer(server);

    for (int i = 0; pools != NULL && i < Ns_SetSize(pools); i++) {
        isOk = CheckPool(Ns_SetKey(pools, i)) && isOk;
    }
    return isOk && CheckServer(server) ? NS_OK : NS_ERROR;
}

static bool
IsForServer(const char *server)
{
    if (server == NULL) {
        Ns_Log(Error, "nsdb: must be loaded for a server, not globally");
    }
    return server != NULL;
}

static bool
CheckPool(const char *pool)
{
    const char *section = Ns_ConfigGetPath(NULL, NULL, "db", "pool", pool,
                                           (char *) 0);
    const char *driver = section == NULL
        ? NULL
        : Ns_ConfigGetValue(section, "driver");

    if (driver == NULL) {
        Ns_Log(Error, "dbinit: no driver for pool '%s'", pool);
        return false;
    }
    if (Ns_ConfigGetValue("ns/db/drivers", driver) == NULL) {
        Ns_Log(Error, "dbdrv: no such driver '%s'", driver);
        return false;
    }
    if (Ns_ConfigGetValue(section, "datasource") == NULL) {
        Ns_Log(Error, "dbinit: missing datasource for pool '%s'", pool);
        return false;
    }
    return true;
}

static bool
CheckServer(const char *server)
{
    const char *section = Ns_ConfigGetPath(server, NULL, "db", (char *) 0);
    const char *pool = section == NULL
        ? NULL
        : Ns_ConfigGetValue(section, "defaultpool");
    Ns_Set     *pools = Ns_ConfigGetSection("ns/db/pools");

    if (pool != NULL && (pools == NULL || Ns_SetFind(pools, pool) < 0)) {
        Ns_Log(Error, "dbinit: no such default pool '%s'", pool);
        return false;
    }
    return true;
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    DbInterpInit(interp, arg);
    DbAddDbCommand(interp);
    DbAddQuoteCommands(interp);
    DbAddOtherCommands(interp);
    return TCL_OK;
}

static int
Release(Tcl_Interp *interp, void *arg)
{
    return DbInterpRelease(interp, arg);
}

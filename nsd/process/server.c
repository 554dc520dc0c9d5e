/* SPDX-License-Identifier: MPL-2.0
 * server.c --
 *
 *      The table of virtual servers.
 */

#include "process/server.h"

#include "base/assert.h"
#include "base/chars.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"

#define GROWTH 8

/*
 * Written by the main thread before the first other thread that reads it is
 * made; constant from then on.
 */
static struct {
    NsServer **servers;
    int        nServers;
    int        maxServers;
    NsChains   byName;          /* From the first server on. */
    NsServer  *initializingPtr; /* Main thread only. */
} table;

static _Thread_local const char *threadServer;

NsServer *
NsServerCreate(const char *name)
{
    NsServer  *serverPtr = ns_calloc(1, sizeof(NsServer));
    Ns_DString ds;

    NsAssert(NsServerFind(name) == NULL);
    Tcl_DStringInit(&ds);
    Tcl_DStringAppend(&ds, "ns/server/", -1);
    Tcl_DStringAppend(&ds, name, -1);
    serverPtr->name = ns_strdup(name);
    serverPtr->path = ns_strdup(ds.string);
    Tcl_DStringFree(&ds);

    if (table.nServers == 0) {
        NsChainsInit(&table.byName);
    }
    serverPtr->link.hash = NsHash(name);
    NsChainsAdd(&table.byName, &serverPtr->link);
    if (table.nServers == table.maxServers) {
        table.maxServers += MAX(table.maxServers, GROWTH);
        table.servers = ns_realloc(table.servers,
                                   (size_t) table.maxServers
                                       * sizeof(NsServer *));
    }
    serverPtr->number = table.nServers;
    table.servers[table.nServers++] = serverPtr;
    return serverPtr;
}

NsServer *
NsServerFind(const char *name)
{
    NsChainLink *linkPtr;
    uint32_t     hash;

    if (name == NULL || table.nServers == 0) {
        return NULL;
    }
    hash = NsHash(name);
    linkPtr = *NsChainsHead(&table.byName, hash);
    while (linkPtr != NULL
           && !(linkPtr->hash == hash
                && STREQ(((NsServer *) linkPtr)->name, name))) {
        linkPtr = linkPtr->nextPtr;
    }
    return (NsServer *) linkPtr;
}

int
NsServerCount(void)
{
    return table.nServers;
}

NsServer *
NsServerAt(int i)
{
    NsAssert(i >= 0 && i < table.nServers);
    return table.servers[i];
}

NsServer *
NsServerInitializing(void)
{
    return table.initializingPtr;
}

NsServer *
NsServerRegistering(const char *caller)
{
    if (table.initializingPtr == NULL) {
        Ns_Log(Error,
               "server: %s: no server is being initialized: call it when the"
               " module is loaded for a server",
               caller);
    }
    return table.initializingPtr;
}

void
NsServerSetInitializing(NsServer *serverPtr)
{
    table.initializingPtr = serverPtr;
}

void
Ns_SetThreadServer(const char *server)
{
    threadServer = server;
}

char *
Ns_GetThreadServer(void)
{
    return (char *) threadServer;
}

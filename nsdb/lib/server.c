/* SPDX-License-Identifier: MPL-2.0
 * server.c --
 *
 *      Which pools a server may use.
 */

#include "dbint.h"

/*
 * Constant after creation.
 */
typedef struct Server {
    struct Server *nextPtr;
    const char    *name;
    const char    *defaultPool; /* NULL: none. */
    char          *pools;       /* Strings; an empty one ends them. */
} Server;

static Server *firstPtr; /* Changed by the main thread until the server has
                          * started. */

static Ns_Callback CloseAtExit;

static Server *Find(const char *server);
static bool    IsWanted(const char *list, const char *pool);
static void    ReportUnknown(const char *server, const char *list);
static bool    NextName(const char **listPtr, const char **namePtr,
                        size_t *lengthPtr);

/*
 * A server's pools have the order of the list, or, for *, that of the
 * configuration.  Scripts use them in this order.
 */
void
DbServerInit(const char *server)
{
    Server     *serverPtr = ns_calloc(1u, sizeof(*serverPtr));
    Ns_DString  ds, pools;
    char       *section;
    const char *list, *rest, *name;
    size_t      length;

    Ns_DStringInit(&ds);
    Ns_DStringInit(&pools);
    Ns_DStringVarAppend(&ds, "ns/server/", server, "/db", NULL);
    section = Ns_DStringExport(&ds);
    serverPtr->name = ns_strdup(server);
    serverPtr->nextPtr = firstPtr;
    firstPtr = serverPtr;

    list = Ns_ConfigGetValue(section, "pools");
    if (list == NULL) {
        list = "";
    }
    if (IsWanted(list, "*")) {
        for (DbPool *poolPtr = DbPoolNext(NULL); poolPtr != NULL;
             poolPtr = DbPoolNext(poolPtr)) {
            Ns_DStringAppendArg(&pools, DbPoolName(poolPtr));
        }
    }
    ReportUnknown(server, list);
    for (rest = list;
         !IsWanted(list, "*") && NextName(&rest, &name, &length);) {
        Ns_DStringTrunc(&ds, 0);
        Ns_DStringNAppend(&ds, name, (int) length);
        if (DbPoolFind(ds.string) != NULL) {
            Ns_DStringAppendArg(&pools, ds.string);
        }
    }
    Ns_DStringNAppend(&pools, "", 1);
    serverPtr->pools = ns_malloc((size_t) pools.length);
    memcpy(serverPtr->pools, pools.string, (size_t) pools.length);

    serverPtr->defaultPool = Ns_ConfigGetValue(section, "defaultpool");
    if (serverPtr->defaultPool != NULL
        && DbPoolFind(serverPtr->defaultPool) == NULL) {
        Ns_Log(Error, "dbinit: no such default pool '%s'",
               serverPtr->defaultPool);
        serverPtr->defaultPool = NULL;
    }
    for (const char *pool = serverPtr->pools; *pool != '\0';
         pool += strlen(pool) + 1) {
        DbDriverServer(DbPoolDriver(DbPoolFind(pool)), serverPtr->name);
    }
    if (Ns_ConfigBool("ns/parameters", "dbcloseonexit", NS_FALSE)) {
        Ns_Log(Notice, "conf: enabling nsdb onexit handler");
        (void) Ns_RegisterAtExit(CloseAtExit, serverPtr);
    }
    ns_free(section);
    Ns_DStringFree(&ds);
    Ns_DStringFree(&pools);
}

static void
CloseAtExit(void *arg)
{
    const Server *serverPtr = arg;

    for (const char *pool = serverPtr->pools; *pool != '\0';
         pool += strlen(pool) + 1) {
        (void) Ns_DbBouncePool(pool);
    }
}

const char *
Ns_DbPoolList(const char *server)
{
    const Server *serverPtr = Find(server);

    return serverPtr == NULL ? NULL : serverPtr->pools;
}

const char *
Ns_DbPoolDefault(const char *server)
{
    const Server *serverPtr = Find(server);

    return serverPtr == NULL ? NULL : serverPtr->defaultPool;
}

bool
Ns_DbPoolAllowable(const char *server, const char *pool)
{
    const char *allowed = Ns_DbPoolList(server);

    while (allowed != NULL && *allowed != '\0') {
        if (STREQ(allowed, pool)) {
            return true;
        }
        allowed += strlen(allowed) + 1;
    }
    return false;
}

static Server *
Find(const char *server)
{
    Server *serverPtr = firstPtr;

    while (serverPtr != NULL
           && (server == NULL || !STREQ(serverPtr->name, server))) {
        serverPtr = serverPtr->nextPtr;
    }
    return serverPtr;
}

static bool
IsWanted(const char *list, const char *pool)
{
    const char *name;
    size_t      length;

    while (NextName(&list, &name, &length)) {
        if (strlen(pool) == length && strncmp(name, pool, length) == 0) {
            return true;
        }
    }
    return false;
}

static void
ReportUnknown(const char *server, const char *list)
{
    const char *name;
    size_t      length;

    while (NextName(&list, &name, &length)) {
        char *pool = ns_strncopy(name, (ssize_t) length);

        if (!STREQ(pool, "*") && DbPoolFind(pool) == NULL) {
            Ns_Log(Warning,
                   "nsdb[%s]: no such pool '%s': correct `pools` in section "
                   "ns/server/%s/db",
                   server, pool, server);
        }
        ns_free(pool);
    }
}

/*
 * The next name of a comma-separated list, without surrounding blanks.
 */
static bool
NextName(const char **listPtr, const char **namePtr, size_t *lengthPtr)
{
    const char *list = *listPtr + strspn(*listPtr, ", \t\r\n");

    *namePtr = list;
    *lengthPtr = strcspn(list, ",");
    *listPtr = list + *lengthPtr;
    while (*lengthPtr > 0 && isspace(UCHAR(list[*lengthPtr - 1]))) {
        --*lengthPtr;
    }
    return *lengthPtr > 0;
}

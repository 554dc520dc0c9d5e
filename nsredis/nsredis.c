/* SPDX-License-Identifier: MPL-2.0
 * nsredis.c --
 *
 *      The module: pools of connections to Redis for a server, ns_redis, and
 *      the carrier of what its caches and shared arrays tell other machines.
 */

#include <assert.h>

#include "redis.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

static Pool           *CreatePool(const char *server, const char *section,
                                  const char *name);
static bool            ReadEndpoint(Endpoint *endpointPtr, const char *section,
                                    const char *name);
static const char     *ReadPassword(const char *section, const char *name);
static bool            ReadTls(Endpoint *endpointPtr, const char *section,
                               const char *name);
static int64_t         ReadTime(const char *section, const char *key,
                                const char *defaultText, long min, long max);
static bool            AddPools(Server *serverPtr, const char *section,
                                const char *module);
static Ns_TclTraceProc AddCommand;
static Ns_ShutdownProc Close;
static Ns_BroadcastSendProc SendFlush;
static Ns_BroadcastJoinProc JoinChannel;
static ListenProc           HearFlush;
static Ns_Callback          Forget;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    const char *section = Ns_ConfigGetPath(server, module, NULL);
    Server     *serverPtr;

    if (!Ns_ModuleIsForServer("nsredis", server, module)) {
        return NS_ERROR;
    }
    RedisCmdInit();
    serverPtr = ns_calloc(1u, sizeof(*serverPtr));
    serverPtr->server = ns_strdup(server);
    serverPtr->firstPoolPtr = CreatePool(serverPtr->server, section, "default");
    if (serverPtr->firstPoolPtr == NULL
        || !AddPools(serverPtr, section, module)) {
        return NS_ERROR;
    }
    serverPtr->prefix = ns_strdup(Ns_ConfigString(section, "prefix", "nsd:"));
    serverPtr->carrierPtr = ListenerCreate(serverPtr->firstPoolPtr,
                                           "nsredis:flush");
    if (Ns_BroadcastCarry(server, SendFlush, JoinChannel, serverPtr) != NS_OK) {
        Ns_Log(Error,
               "nsredis[%s]: another module sends the flushes of this server",
               server);
        return NS_ERROR;
    }
    (void) Ns_RegisterAtShutdown(Close, serverPtr);
    return Ns_TclRegisterTrace(server, AddCommand, serverPtr,
                               NS_TCL_TRACE_CREATE);
}

static bool
AddPools(Server *serverPtr, const char *section, const char *module)
{
    const char  *names = Ns_ConfigString(section, "pools", "");
    Pool       **linkPtr = &serverPtr->firstPoolPtr->nextPtr;
    const char **words = NULL;
    TCL_SIZE_T   n = 0;

    if (Tcl_SplitList(NULL, names, &n, &words) != TCL_OK) {
        Ns_Log(Error, "nsredis[%s]: %s: pools must be a list of names: %s",
               serverPtr->server, section, names);
        return false;
    }
    for (TCL_SIZE_T i = 0; i < n; i++) {
        const char *poolSection = Ns_ConfigGetPath(serverPtr->server, module,
                                                   "pool", words[i], NULL);

        if (poolSection == NULL) {
            Ns_Log(Error, "nsredis[%s]: pool %s has no section %s/pool/%s",
                   serverPtr->server, words[i], section, words[i]);
        }
        *linkPtr = poolSection != NULL
            ? CreatePool(serverPtr->server, poolSection, words[i])
            : NULL;
        if (*linkPtr == NULL) {
            Tcl_Free((char *) words);
            return false;
        }
        linkPtr = &(*linkPtr)->nextPtr;
    }
    Tcl_Free((char *) words);
    return true;
}

static Pool *
CreatePool(const char *server, const char *section, const char *name)
{
    Pool *poolPtr = ns_calloc(1u, sizeof(*poolPtr));

    poolPtr->server = server;
    poolPtr->name = ns_strdup(name);
    if (!ReadEndpoint(&poolPtr->endpoint, section, name)) {
        return NULL;
    }
    poolPtr->maxLinks = Ns_ConfigIntRange(section, "connections", 10, 1, 10000);
    poolPtr->timeout = ReadTime(section, "timeout", "2s", 0, 3600);
    poolPtr->idleTimeout = ReadTime(section, "idletimeout", "5m", -1, INT_MAX);
    poolPtr->retryTime = ReadTime(section, "retrytime", "1s", -1, 3600);
    PoolInit(poolPtr);
    poolPtr->listenerPtr = ListenerCreate(poolPtr, "nsredis:listen");
    return poolPtr;
}

/*
 * min 0: a millisecond; -1: none at all is allowed, too.
 */
static int64_t
ReadTime(const char *section, const char *key, const char *defaultText,
         long min, long max)
{
    Ns_Time time;

    Ns_ConfigTimeUnitRange(section, key, defaultText, 0, min == 0 ? 1000 : 0,
                           max, 0, &time);
    return time.sec * SECOND + time.usec;
}

static bool
ReadEndpoint(Endpoint *endpointPtr, const char *section, const char *name)
{
    endpointPtr->host = ns_strdup(Ns_ConfigString(section, "host",
                                                  "127.0.0.1"));
    endpointPtr->port = Ns_ConfigIntRange(section, "port", 6379, 1, 65535);
    endpointPtr->socketPath = ns_strdup(Ns_ConfigString(section, "socket", ""));
    endpointPtr->user = ns_strdup(Ns_ConfigString(section, "user", ""));
    endpointPtr->database = Ns_ConfigIntRange(section, "database", 0, 0,
                                              INT_MAX);
    endpointPtr->maxReply = (size_t)
        Ns_ConfigMemUnitRange(section, "maxreply", "64MB", 0, 1024, INT_MAX);
    if (*endpointPtr->socketPath != '\0') {
        snprintf(endpointPtr->name, sizeof(endpointPtr->name), "%s",
                 endpointPtr->socketPath);
    } else {
        snprintf(endpointPtr->name, sizeof(endpointPtr->name),
                 strchr(endpointPtr->host, ':') != NULL ? "[%s]:%d" : "%s:%d",
                 endpointPtr->host, endpointPtr->port);
    }
    endpointPtr->password = ReadPassword(section, name);
    return endpointPtr->password != NULL && ReadTls(endpointPtr, section, name);
}

/*
 * The first line of the file, or what the configuration has; NULL: the file
 * cannot be read.
 */
static const char *
ReadPassword(const char *section, const char *name)
{
    const char *file = Ns_ConfigString(section, "passwordfile", "");
    char       *password = ns_strdup(Ns_ConfigString(section, "password", ""));
    char        line[1024] = "";
    FILE       *stream;

    if (*file == '\0') {
        return password;
    }
    ns_free(password);
    stream = fopen(file, "re");
    if (stream == NULL || fgets(line, sizeof(line), stream) == NULL) {
        Ns_Log(Error, "nsredis[%s]: could not read passwordfile %s: %s", name,
               file, stream == NULL ? strerror(errno) : "it is empty");
        password = NULL;
    } else {
        line[strcspn(line, "\r\n")] = '\0';
        password = ns_strdup(line);
    }
    if (stream != NULL) {
        (void) fclose(stream);
    }
    return password;
}

static bool
ReadTls(Endpoint *endpointPtr, const char *section, const char *name)
{
    bool        isWanted = Ns_ConfigBool(section, "tls", NS_FALSE);
    bool        isVerified = Ns_ConfigBool(section, "tlsverify", NS_TRUE);
    const char *caFile = Ns_ConfigString(section, "tlscafile", "");
    const char *certificate = Ns_ConfigString(section, "tlscertificate", "");
    Tcl_Interp *interp;
    bool        isRight;

    if (!isWanted) {
        return true;
    }
    interp = Ns_TclCreateInterp();
    isRight = Ns_TLS_CtxClientCreate(interp,
                                     *certificate != '\0' ? certificate : NULL,
                                     *caFile != '\0' ? caFile : NULL, NULL,
                                     isVerified, &endpointPtr->tlsPtr)
        == TCL_OK;
    if (!isRight) {
        Ns_Log(Error, "nsredis[%s]: TLS cannot be used: %s", name,
               Tcl_GetStringResult(interp));
    }
    Ns_TclDestroyInterp(interp);
    return isRight;
}

static int
AddCommand(Tcl_Interp *interp, void *arg)
{
    (void) Tcl_CreateObjCommand(interp, "ns_redis", RedisCmd, arg, NULL);
    return TCL_OK;
}

/*
 * Scripts may still run at the beginning of a stop.
 */
static void
Close(NS_API_CONST Ns_Time *toPtr, void *arg)
{
    const Server *serverPtr = arg;

    for (Pool *poolPtr = serverPtr->firstPoolPtr;
         toPtr != NULL && poolPtr != NULL; poolPtr = poolPtr->nextPtr) {
        PoolClose(poolPtr);
    }
}

/*
 * ------------------------------------------------- What caches and arrays tell
 */
static void
SendFlush(const char *channel, const char *message, void *arg)
{
    const Server *serverPtr = arg;
    Ns_DString    name;

    Ns_DStringInit(&name);
    Ns_DStringVarAppend(&name, serverPtr->prefix, channel, NULL);
    ListenerPublish(serverPtr->carrierPtr, name.string, message);
    Ns_DStringFree(&name);
}

static void
JoinChannel(const char *channel, void *arg)
{
    const Server *serverPtr = arg;
    Ns_DString    name;

    Ns_DStringInit(&name);
    Ns_DStringVarAppend(&name, serverPtr->prefix, channel, NULL);
    (void) ListenerAdd(serverPtr->carrierPtr, name.string, false, HearFlush,
                       Forget, arg);
    Ns_DStringFree(&name);
}

static void
HearFlush(const char *channel, const char *message, size_t length, void *arg)
{
    const Server *serverPtr = arg;

    assert(strncmp(channel, serverPtr->prefix, strlen(serverPtr->prefix)) == 0);
    channel += strlen(serverPtr->prefix);
    if (message == NULL) {
        Ns_BroadcastGap(serverPtr->server, channel);
    } else {
        Ns_BroadcastDeliver(serverPtr->server, channel, message);
    }
}

static void
Forget(void *arg)
{
    /* The server stays. */
}

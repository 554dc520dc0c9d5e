/* SPDX-License-Identifier: MPL-2.0
 * vhost.c --
 *
 *      Directories and locations that depend on the Host field.
 */

#include "request/vhost.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "http/location.h"
#include "request/proxies.h"
#include "request/conn_int.h"

static const char *HostOf(const NsConn *connPtr);
static char       *AppendHostRoot(Ns_DString            *dsPtr,
                                  const NsRequestServer *requestPtr,
                                  const char            *host);
static void        AppendParts(Ns_DString *dsPtr, va_list *apPtr);

bool
NsVhostIsEnabled(const NsServer *serverPtr)
{
    return serverPtr->requestPtr->isVhostEnabled
        || serverPtr->requestPtr->rootProc != NULL;
}

char *
NsServerRoot(Ns_DString *dsPtr, NsServer *serverPtr, const char *host)
{
    const NsRequestServer *requestPtr = serverPtr->requestPtr;
    NsConn                *connPtr = NsConnCurrent();

    if (requestPtr->rootProc != NULL) {
        if (requestPtr->rootProc(dsPtr, host, requestPtr->rootArg) != NULL) {
            return Ns_DStringValue(dsPtr);
        }
    } else if (requestPtr->isVhostEnabled) {
        if (host == NULL && connPtr != NULL) {
            host = HostOf(connPtr);
        }
        if (host != NULL && *host != '\0' && Ns_StrIsHost(host)
            && *host != '[') {
            return AppendHostRoot(dsPtr, requestPtr, host);
        }
    }
    Ns_DStringAppend(dsPtr, requestPtr->serverDir);
    return Ns_DStringValue(dsPtr);
}

char *
NsPageRoot(Ns_DString *dsPtr, NsServer *serverPtr, const char *host)
{
    const NsRequestServer *requestPtr = serverPtr->requestPtr;

    if (!NsVhostIsEnabled(serverPtr)
        || Ns_PathIsAbsolute(requestPtr->pageDir)) {
        Ns_DStringAppend(dsPtr, requestPtr->pageRoot);
        return Ns_DStringValue(dsPtr);
    }
    (void) NsServerRoot(dsPtr, serverPtr, host);
    return Ns_MakePath(dsPtr, requestPtr->pageDir, NULL);
}

char *
Ns_ServerPath(Ns_DString *dsPtr, const char *server, ...)
{
    NsServer *serverPtr = NsServerFind(server);
    va_list   ap;

    if (serverPtr == NULL) {
        return NULL;
    }
    (void) NsServerRoot(dsPtr, serverPtr, NULL);
    va_start(ap, server);
    AppendParts(dsPtr, &ap);
    va_end(ap);
    return Ns_DStringValue(dsPtr);
}

char *
Ns_PagePath(Ns_DString *dsPtr, const char *server, ...)
{
    NsServer *serverPtr = NsServerFind(server);
    va_list   ap;

    if (serverPtr == NULL) {
        return NULL;
    }
    (void) NsPageRoot(dsPtr, serverPtr, NULL);
    va_start(ap, server);
    AppendParts(dsPtr, &ap);
    va_end(ap);
    return Ns_DStringValue(dsPtr);
}

const char *
Ns_PageRoot(const char *server)
{
    NsServer *serverPtr = NsServerFind(server);

    return serverPtr == NULL ? NULL : serverPtr->requestPtr->pageRoot;
}

int
Ns_SetServerRootProc(Ns_ServerRootProc *proc, void *arg)
{
    NsServer *serverPtr = NsServerRegistering("Ns_SetServerRootProc");

    if (serverPtr == NULL) {
        return NS_ERROR;
    }
    serverPtr->requestPtr->rootProc = proc;
    serverPtr->requestPtr->rootArg = arg;
    return NS_OK;
}

int
Ns_SetConnLocationProc(Ns_ConnLocationProc *proc, void *arg)
{
    NsServer *serverPtr = NsServerRegistering("Ns_SetConnLocationProc");

    if (serverPtr == NULL) {
        return NS_ERROR;
    }
    serverPtr->requestPtr->locationProc = proc;
    serverPtr->requestPtr->locationArg = arg;
    return NS_OK;
}

void
Ns_SetLocationProc(const char *server, Ns_LocationProc *proc)
{
    NsRequestServer *requestPtr = NsRequestServerFind(server,
                                                      "Ns_SetLocationProc");

    if (requestPtr != NULL) {
        requestPtr->oldLocationProc = proc;
    }
}

char *
Ns_ConnLocation(Ns_Conn *conn)
{
    return (char *) NsConnOf(conn)->messagePtr->location;
}

char *
Ns_ConnLocationAppend(Ns_Conn *conn, Ns_DString *dsPtr)
{
    NsConn                *connPtr = NsConnOf(conn);
    const NsRequestServer *requestPtr = NsConnRequestServer(connPtr);
    const char            *host, *location = NULL;
    char                   buffer[NS_PROXIES_BYTES];

    if (requestPtr->locationProc != NULL) {
        char *result = requestPtr->locationProc(conn, dsPtr,
                                                requestPtr->locationArg);

        if (result != NULL) {
            return result;
        }
    } else if (requestPtr->oldLocationProc != NULL) {
        location = requestPtr->oldLocationProc(conn);
    } else if (requestPtr->redirectWithHost) {
        const char *protocol = connPtr->driverPtr->protocol;

        host = HostOf(connPtr);
        if (host != NULL && !NsSockIsHostKnown(connPtr->settingsPtr, host)) {
            host = NULL;
        }
        NsProxiesLocation(connPtr->messagePtr, &protocol, &host, buffer);
        if (host != NULL && NsAuthorityIsValid(host)) {
            return Ns_DStringVarAppend(dsPtr, protocol, "://", host, NULL);
        }
    }
    if (location == NULL) {
        location = connPtr->messagePtr->location;
    }
    Ns_DStringAppend(dsPtr, location);
    return Ns_DStringValue(dsPtr);
}

static const char *
HostOf(const NsConn *connPtr)
{
    return Ns_SetIGet(connPtr->pub.headers, "Host");
}

/*
 * SERVERDIR/PREFIX/h/a/s/h/HOST.
 */
static char *
AppendHostRoot(Ns_DString *dsPtr, const NsRequestServer *requestPtr,
               const char *host)
{
    Ns_DString ds;
    char      *name, *colon;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, host);
    name = Ns_StrToLower(Ns_DStringValue(&ds));
    if (requestPtr->stripWww && strncmp(name, "www.", 4) == 0) {
        name += 4;
    }
    colon = requestPtr->stripPort ? strrchr(name, ':') : NULL;
    if (colon != NULL) {
        *colon = '\0';
    }
    Ns_DStringAppend(dsPtr, requestPtr->serverDir);
    if (requestPtr->hostPrefix != NULL && *requestPtr->hostPrefix != '\0') {
        (void) Ns_MakePath(dsPtr, requestPtr->hostPrefix, NULL);
    }
    if (requestPtr->hostHashLevel > 0) {
        (void) Ns_HashPath(dsPtr, name, requestPtr->hostHashLevel);
    }
    (void) Ns_MakePath(dsPtr, name, NULL);
    Ns_DStringFree(&ds);
    return Ns_DStringValue(dsPtr);
}

static void
AppendParts(Ns_DString *dsPtr, va_list *apPtr)
{
    const char *part;

    while ((part = va_arg(*apPtr, const char *)) != NULL) {
        (void) Ns_MakePath(dsPtr, part, NULL);
    }
}

/*
 * auth.c --
 *
 *      Whether a request is allowed.
 */

#include "request/auth.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "request/conn_int.h"

static _Atomic(Ns_UserAuthorizeProc *) userAuthorizeProc;

static void AppendHook(Ns_DString *dsPtr, const char *kind, void *proc);

void
Ns_SetRequestAuthorizeProc(const char *server, Ns_RequestAuthorizeProc *proc)
{
    NsRequestServer *requestPtr =
        NsRequestServerFind(server, "Ns_SetRequestAuthorizeProc");

    if (requestPtr != NULL) {
        atomic_store(&requestPtr->authorizeProc, proc);
        NsRequestChanged();
    }
}

void
Ns_SetUserAuthorizeProc(Ns_UserAuthorizeProc *proc)
{
    atomic_store(&userAuthorizeProc, proc);
}

int
Ns_AuthorizeRequest(const char *server, const char *method, const char *url,
                    const char *user, const char *password, const char *peer)
{
    NsServer                *serverPtr = NsServerFind(server);
    Ns_RequestAuthorizeProc *proc = NULL;

    if (serverPtr != NULL) {
        proc = atomic_load(&serverPtr->requestPtr->authorizeProc);
    }
    if (proc == NULL) {
        return NS_OK;
    }
    return proc((char *) server, (char *) method, (char *) url, (char *) user,
                (char *) password, (char *) peer);
}

int
Ns_AuthorizeUser(const char *user, const char *password)
{
    Ns_UserAuthorizeProc *proc = atomic_load(&userAuthorizeProc);

    return proc == NULL ? NS_ERROR : proc((char *) user, (char *) password);
}

void
NsAuthAppendRealm(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;

    Ns_MutexLock(&requestPtr->listLock);
    NsAssert(requestPtr->realm != NULL);
    Ns_DStringAppend(dsPtr, requestPtr->realm);
    Ns_MutexUnlock(&requestPtr->listLock);
}

void
NsAuthSetRealm(NsServer *serverPtr, const char *realm)
{
    NsRequestServer *requestPtr = serverPtr->requestPtr;
    char            *newRealm = ns_strdup(realm), *oldRealm;

    Ns_MutexLock(&requestPtr->listLock);
    oldRealm = requestPtr->realm;
    requestPtr->realm = newRealm;
    Ns_MutexUnlock(&requestPtr->listLock);
    ns_free(oldRealm);
}

void
NsAuthList(Ns_DString *dsPtr, NsServer *serverPtr)
{
    void *requestProc = (void *)
        atomic_load(&serverPtr->requestPtr->authorizeProc);
    void *userProc = (void *) atomic_load(&userAuthorizeProc);

    AppendHook(dsPtr, "request", requestProc);
    AppendHook(dsPtr, "user", userProc);
}

static void
AppendHook(Ns_DString *dsPtr, const char *kind, void *proc)
{
    if (proc != NULL) {
        Tcl_DStringStartSublist(dsPtr);
        Tcl_DStringAppendElement(dsPtr, kind);
        Ns_GetProcInfo(dsPtr, proc, NULL);
        Tcl_DStringEndSublist(dsPtr);
    }
}

bool
NsAuthExists(NsServer *serverPtr)
{
    return atomic_load_explicit(&serverPtr->requestPtr->authorizeProc,
                                memory_order_acquire)
        != NULL;
}

int
NsConnAuthorize(NsConn *connPtr)
{
    Ns_Conn *conn = &connPtr->pub;

    if (!NsAuthExists(connPtr->serverPtr)) {
        return 0;
    }
    NsConnMayChangeFiles(connPtr);
    switch (Ns_AuthorizeRequest(connPtr->serverPtr->name,
                                connPtr->request.method, connPtr->request.url,
                                Ns_ConnAuthUser(conn), Ns_ConnAuthPasswd(conn),
                                Ns_ConnPeer(conn))) {
    case NS_OK:
        return 0;
    case NS_FORBIDDEN:
        return 403;
    case NS_UNAUTHORIZED:
        return 401;
    default:
        return 500;
    }
}

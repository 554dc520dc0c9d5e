/* SPDX-License-Identifier: MPL-2.0
 * auth.c --
 *
 *      Whether a request is allowed, and whether a user is known.
 *
 *      A chain only grows, and an entry is linked in when it is complete; so it
 *      is walked without a lock, and what runs may register more, for the
 *      walks that begin later.
 */

#include "request/auth.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/lock.h"
#include "request/conn_int.h"

#define HOOK_AUTHORITY "hook" /* Name of what the older functions install. */

/*
 * Constant once it is in its chain, but for the link.
 */
typedef struct NsAuthority {
    _Atomic(struct NsAuthority *) nextPtr;
    const char                   *name;
    Ns_AuthorizeRequestProc      *requestProc; /* One of the two. */
    Ns_AuthorizeUserProc         *userProc;
    void                         *arg;
} NsAuthority;

typedef _Atomic(NsAuthority *) Chain;

static _Atomic(Ns_UserAuthorizeProc *) userHook;

static Ns_AuthorizeRequestProc AskRequestHook;

static void AddLocked(NsRequestServer *requestPtr, Chain *chainPtr,
                      const NsAuthority *authorityPtr, bool isFirst);
static bool HasHookLocked(NsRequestServer *requestPtr);
static int  Walk(const Chain *chainPtr, const NsAuthQuery *queryPtr, int result,
                 const char **authorityPtr);
static const NsAuthority *LastFrom(const NsAuthority *entryPtr);
static void AppendEntry(Ns_DString *dsPtr, const char *kind, void *proc,
                        void *arg);
static void AppendChain(Ns_DString *dsPtr, const char *kind,
                        const Chain           *chainPtr,
                        const NsRequestServer *requestPtr);

int
Ns_RegisterAuthorizeRequest(const char *server, Ns_AuthorizeRequestProc *proc,
                            void *arg, const char *authority, bool first)
{
    NsRequestServer *requestPtr =
        NsRequestServerFind(server, "Ns_RegisterAuthorizeRequest");
    NsAuthority entry = {.name = authority, .requestProc = proc, .arg = arg};

    if (requestPtr == NULL) {
        return NS_ERROR;
    }
    Ns_MutexLock(&requestPtr->listLock);
    AddLocked(requestPtr, &requestPtr->requestAuthorities, &entry, first);
    Ns_MutexUnlock(&requestPtr->listLock);
    NsRequestChanged();
    return NS_OK;
}

int
Ns_RegisterAuthorizeUser(const char *server, Ns_AuthorizeUserProc *proc,
                         void *arg, const char *authority, bool first)
{
    NsRequestServer *requestPtr =
        NsRequestServerFind(server, "Ns_RegisterAuthorizeUser");
    NsAuthority entry = {.name = authority, .userProc = proc, .arg = arg};

    if (requestPtr == NULL) {
        return NS_ERROR;
    }
    Ns_MutexLock(&requestPtr->listLock);
    AddLocked(requestPtr, &requestPtr->userAuthorities, &entry, first);
    Ns_MutexUnlock(&requestPtr->listLock);
    return NS_OK;
}

void
Ns_SetRequestAuthorizeProc(const char *server, Ns_RequestAuthorizeProc *proc)
{
    NsRequestServer *requestPtr =
        NsRequestServerFind(server, "Ns_SetRequestAuthorizeProc");

    if (requestPtr == NULL) {
        return;
    }
    atomic_store(&requestPtr->authorizeHook, proc);
    Ns_MutexLock(&requestPtr->listLock);
    if (proc != NULL && !HasHookLocked(requestPtr)) {
        AddLocked(requestPtr, &requestPtr->requestAuthorities,
                  &(NsAuthority){.name = HOOK_AUTHORITY,
                                 .requestProc = AskRequestHook,
                                 .arg = requestPtr},
                  false);
    }
    Ns_MutexUnlock(&requestPtr->listLock);
    NsRequestChanged();
}

void
Ns_SetUserAuthorizeProc(Ns_UserAuthorizeProc *proc)
{
    atomic_store(&userHook, proc);
}

static void
AddLocked(NsRequestServer *requestPtr, Chain *chainPtr,
          const NsAuthority *authorityPtr, bool isFirst)
{
    NsAuthority *newPtr = ns_calloc(1u, sizeof(*newPtr));

    NsAssertLocked(&requestPtr->listLock);
    NsAssert(authorityPtr->name != NULL);
    NsAssert((authorityPtr->requestProc == NULL)
             != (authorityPtr->userProc == NULL));
    newPtr->name = ns_strdup(authorityPtr->name);
    newPtr->requestProc = authorityPtr->requestProc;
    newPtr->userProc = authorityPtr->userProc;
    newPtr->arg = authorityPtr->arg;
    if (isFirst) {
        atomic_store(&newPtr->nextPtr, atomic_load(chainPtr));
    } else {
        while (atomic_load(chainPtr) != NULL) {
            chainPtr = &atomic_load(chainPtr)->nextPtr;
        }
    }
    atomic_store(chainPtr, newPtr);
}

static bool
HasHookLocked(NsRequestServer *requestPtr)
{
    const NsAuthority *entryPtr = atomic_load(&requestPtr->requestAuthorities);

    NsAssertLocked(&requestPtr->listLock);
    while (entryPtr != NULL && entryPtr->requestProc != AskRequestHook) {
        entryPtr = atomic_load(&entryPtr->nextPtr);
    }
    return entryPtr != NULL;
}

int
NsAuthRequest(NsServer *serverPtr, const NsAuthQuery *queryPtr,
              const char **authorityPtr)
{
    *authorityPtr = NULL;
    return Walk(&serverPtr->requestPtr->requestAuthorities, queryPtr, NS_OK,
                authorityPtr);
}

int
NsAuthUser(NsServer *serverPtr, const NsAuthQuery *queryPtr,
           const char **authorityPtr)
{
    Ns_UserAuthorizeProc *hook = atomic_load(&userHook);
    int                   result = NS_UNAUTHORIZED;

    NsAssert(queryPtr->method == NULL && queryPtr->url == NULL);
    *authorityPtr = NULL;
    if (hook != NULL) {
        *authorityPtr = HOOK_AUTHORITY;
        result = hook((char *) queryPtr->user, (char *) queryPtr->password);
    }
    return serverPtr == NULL
        ? result
        : Walk(&serverPtr->requestPtr->userAuthorities, queryPtr, result,
               authorityPtr);
}

int
Ns_AuthorizeRequest(const char *server, const char *method, const char *url,
                    const char *user, const char *password, const char *peer)
{
    NsServer   *serverPtr = NsServerFind(server);
    NsAuthQuery query = {.method = method,
                         .url = url,
                         .user = user,
                         .password = password,
                         .peer = peer};
    const char *authority;

    return serverPtr == NULL ? NS_OK
                             : NsAuthRequest(serverPtr, &query, &authority);
}

int
Ns_AuthorizeUser(const char *user, const char *password)
{
    Ns_Conn    *conn = Ns_GetConn();
    const char *server = conn != NULL
        ? Ns_ConnServer(conn)
        : Ns_GetThreadServer();
    NsAuthQuery query = {.user = user, .password = password};
    const char *authority;
    int result = NsAuthUser(server == NULL ? NULL : NsServerFind(server),
                            &query, &authority);

    return authority == NULL ? NS_ERROR : result;
}

/*
 * A hook that was removed has no say.
 */
static int
AskRequestHook(void *arg, const char *method, const char *url, const char *user,
               const char *password, const char *peer, int *codePtr)
{
    NsRequestServer         *requestPtr = arg;
    Ns_RequestAuthorizeProc *hook = atomic_load(&requestPtr->authorizeHook);

    NsAssert(requestPtr->serverPtr->requestPtr == requestPtr);
    if (hook == NULL) {
        *codePtr = TCL_CONTINUE;
        return NS_OK;
    }
    return hook((char *) requestPtr->serverPtr->name, (char *) method,
                (char *) url, (char *) user, (char *) password, (char *) peer);
}

/*
 * The last one that ran decides, of those that are there now: one that
 * registers itself each time would run for ever.  result is what is true
 * without any.
 */
static int
Walk(const Chain *chainPtr, const NsAuthQuery *queryPtr, int result,
     const char **authorityPtr)
{
    const NsAuthority *entryPtr = atomic_load_explicit(chainPtr,
                                                       memory_order_acquire);
    const NsAuthority *lastPtr = LastFrom(entryPtr);
    int                code = TCL_OK;

    NsAssert((entryPtr == NULL) == (lastPtr == NULL));
    while (entryPtr != NULL && (code == TCL_OK || code == TCL_CONTINUE)) {
        int answer;

        NsAssert((entryPtr->userProc == NULL)
                 != (entryPtr->requestProc == NULL));
        code = TCL_OK;
        answer = entryPtr->userProc != NULL
            ? entryPtr->userProc(entryPtr->arg, queryPtr->user,
                                 queryPtr->password, &code)
            : entryPtr->requestProc(entryPtr->arg, queryPtr->method,
                                    queryPtr->url, queryPtr->user,
                                    queryPtr->password, queryPtr->peer, &code);
        if (code != TCL_CONTINUE) {
            result = answer;
            *authorityPtr = entryPtr->name;
        }
        NsAssert(code >= TCL_OK && code <= TCL_CONTINUE);
        entryPtr = entryPtr == lastPtr
            ? NULL
            : atomic_load_explicit(&entryPtr->nextPtr, memory_order_acquire);
    }
    if (code == TCL_RETURN) {
        return NS_FILTER_RETURN;
    }
    return code == TCL_ERROR
            || (result != NS_OK && result != NS_UNAUTHORIZED
                && result != NS_FORBIDDEN)
        ? NS_ERROR
        : result;
}

static const NsAuthority *
LastFrom(const NsAuthority *entryPtr)
{
    const NsAuthority *lastPtr = NULL;

    while (entryPtr != NULL) {
        lastPtr = entryPtr;
        entryPtr = atomic_load_explicit(&entryPtr->nextPtr,
                                        memory_order_acquire);
    }
    return lastPtr;
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
    const NsRequestServer *requestPtr = serverPtr->requestPtr;

    AppendChain(dsPtr, "request", &requestPtr->requestAuthorities, requestPtr);
    AppendEntry(dsPtr, "user", (void *) atomic_load(&userHook), NULL);
    AppendChain(dsPtr, "user", &requestPtr->userAuthorities, requestPtr);
}

static void
AppendChain(Ns_DString *dsPtr, const char *kind, const Chain *chainPtr,
            const NsRequestServer *requestPtr)
{
    const NsAuthority *entryPtr = atomic_load(chainPtr);

    for (; entryPtr != NULL; entryPtr = atomic_load(&entryPtr->nextPtr)) {
        if (entryPtr->userProc != NULL) {
            AppendEntry(dsPtr, kind, (void *) entryPtr->userProc,
                        entryPtr->arg);
        } else if (entryPtr->requestProc != AskRequestHook) {
            AppendEntry(dsPtr, kind, (void *) entryPtr->requestProc,
                        entryPtr->arg);
        } else {
            AppendEntry(dsPtr, kind,
                        (void *) atomic_load(&requestPtr->authorizeHook), NULL);
        }
    }
}

static void
AppendEntry(Ns_DString *dsPtr, const char *kind, void *proc, void *arg)
{
    if (proc != NULL) {
        Tcl_DStringStartSublist(dsPtr);
        Tcl_DStringAppendElement(dsPtr, kind);
        Ns_GetProcInfo(dsPtr, proc, arg);
        Tcl_DStringEndSublist(dsPtr);
    }
}

bool
NsAuthExists(NsServer *serverPtr)
{
    return atomic_load_explicit(&serverPtr->requestPtr->requestAuthorities,
                                memory_order_acquire)
        != NULL;
}

int
NsConnAuthorize(NsConn *connPtr)
{
    Ns_Conn    *conn = &connPtr->pub;
    NsAuthQuery query;
    const char *authority;

    if (!NsAuthExists(connPtr->serverPtr)) {
        return 0;
    }
    NsConnMayChangeFiles(connPtr);
    query = (NsAuthQuery){.method = NsConnRequest(connPtr)->method,
                          .url = NsConnRequest(connPtr)->url,
                          .user = Ns_ConnAuthUser(conn),
                          .password = Ns_ConnAuthPasswd(conn),
                          .peer = Ns_ConnPeer(conn)};
    switch (NsAuthRequest(connPtr->serverPtr, &query, &authority)) {
    case NS_OK:
        return 0;
    case NS_FORBIDDEN:
        return 403;
    case NS_UNAUTHORIZED:
        return 401;
    case NS_FILTER_RETURN:
        return NS_AUTH_ANSWERED;
    default:
        return 500;
    }
}

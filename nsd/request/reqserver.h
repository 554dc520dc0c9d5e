/* SPDX-License-Identifier: MPL-2.0
 * reqserver.h --
 *
 *      What the request room keeps for each virtual server.
 */

#ifndef NSD_REQUEST_REQSERVER_H
#define NSD_REQUEST_REQSERVER_H

#include <stdatomic.h>

#include "nsfile.h"
#include "nsthread.h"
#include "http/head.h"
#include "process/server.h"
#include "request/urltree.h"

#define NS_URL_MAX_IDS    32 /* Independent URL spaces, ... */
#define NS_URL_SCRIPT_IDS 16 /* ... and those that scripts may have. */

struct NsAuthority; /* auth.c */
struct NsFilter;    /* filter.c */
struct NsTrace;
struct NsProxyHandler; /* op.c */
struct NsErrorPage;    /* errorpage.c */
struct NsSlowest;      /* slowest.c */
struct NsRoutes;       /* routes.c */

/*
 * Which symbolic links below the page root are followed; in the order of the
 * parameter's words.
 */
enum { NS_LINKS_ALL, NS_LINKS_NONE, NS_LINKS_OWN };

typedef struct NsRequestServer {
    NsServer *serverPtr;

    /* Settings: constant after NsRequestServerInit. */
    bool                     isStealthy; /* Replies do not name the server. */
    bool                     noticeDetail;
    const char              *requestIdField; /* NULL: none. */
    uint64_t                 idStart;        /* Of request ids: random. */
    const char              *noticeAdp; /* File; NULL: the built-in pages. */
    bool                     redirectWithHost;
    bool                     relativeRedirects;
    const char              *maskParameters; /* Tcl list of the next. */
    const char             **masked;
    int                      nMasked;
    int                      maxRoutes;
    int                      errorMinSize; /* Bytes; 0: no padding. */
    bool                     checkModifiedSince;
    Ns_HeaderCaseDisposition headerCase;
    bool                     compressEnable;
    int                      compressLevel;
    int                      compressMinSize; /* Bytes. */
    Tcl_Encoding             outputEncoding;
    const char              *outputCharset; /* Its name outside. */
    Tcl_Encoding             urlEncoding;
    Tcl_Encoding             formFallback;     /* NULL: none. */
    bool                     isDriverFastPath; /* Answer from driver threads. */
    const char              *extraHeaders; /* Tcl list of names and values, or
                                            * NULL. */

    /* Static files: constant after NsRequestServerInit. */
    const char  *serverDir;     /* Absolute. */
    const char  *pageDir;       /* Absolute, or below the root. */
    const char  *pageRoot;      /* Absolute, without virtual hosts. */
    const char  *indexFileList; /* Tcl list of the next. */
    const char **indexFiles;
    int          nIndexFiles;
    int          directoryListing; /* 0: none. */
    bool         servesDotFiles;
    const char  *denyFileList; /* Tcl list of the next; or NULL. */
    const char **denyFiles;
    int          nDenyFiles;
    int          followSymlinks; /* NS_LINKS_... */
    const char  *directoryProc;  /* NULL: none. */
    const char  *directoryAdp;   /* NULL: none. */

    /* Virtual hosts: constant after NsRequestServerInit, the procedures after
     * start-up. */
    bool                 isVhostEnabled;
    const char          *hostPrefix; /* NULL, "": none. */
    int                  hostHashLevel;
    bool                 stripWww;
    bool                 stripPort;
    Ns_ServerRootProc   *rootProc;
    void                *rootArg;
    Ns_ConnLocationProc *locationProc;
    void                *locationArg;
    Ns_LocationProc     *oldLocationProc;
    Ns_UrlToFileProc    *oldUrlToFileProc;

    /* Set by modules; NULL: none. */
    _Atomic(Ns_RequestAuthorizeProc *) authorizeHook;

    atomic_int scriptUrlId; /* Of ns_urlspace, plus 1; 0: none yet. */

    Ns_RWLock urlLock; /* Guards the trees. */
    /* Each NULL before its first entry, and never again: so NULL can be read
     * without the lock. */
    _Atomic(NsUrlTree *) trees[NS_URL_MAX_IDS];

    /* Lists that only grow: changed under the lock, read without it.  What an
     * entry holds is constant once a pointer to it can be seen. */
    Ns_Mutex                         listLock;
    _Atomic(struct NsAuthority *)    requestAuthorities;
    _Atomic(struct NsAuthority *)    userAuthorities;
    _Atomic(struct NsFilter *)       filters;
    _Atomic(struct NsTrace *)        traces; /* And access procedures. */
    _Atomic(struct NsTrace *)        cleanups;
    _Atomic(struct NsProxyHandler *) proxies;
    struct NsErrorPage *_Atomic      errorPages; /* Only grows, at its head. */
    struct NsSlowest                *slowestPtr; /* Constant after creation, */
    struct NsRoutes                 *routesPtr;  /* ... as this one. */
    char *realm; /* Guarded by listLock, replaced as a
                  * whole. */
} NsRequestServer;

/*
 * The server of that name; NULL, after an Error in the log, if there is none.
 */
NsRequestServer *NsRequestServerFind(const char *server, const char *caller);

/*
 * Counts up with every change that can alter what a request meets: handlers,
 * filters, traces, authorization, files.  Answers kept from an earlier
 * generation are void.
 */
unsigned NsRequestGeneration(void);
void     NsRequestChanged(void);

#endif

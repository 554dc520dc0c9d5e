/*
 * nsrequest.h --
 *
 *      Handlers, filters, traces, authorization, URL space.
 */

#ifndef NSREQUEST_H
#define NSREQUEST_H

#include "nstypes.h"


/*
 * Handler for server, method, URL pattern; del called for arg on
 * replacement; flags NS_OP_*.
 */
NS_EXTERN void Ns_RegisterRequest(const char *, const char *, const char *, Ns_OpProc *, Ns_Callback *, void *, int);

/*
 * Remove (inherit boolean / flags).
 */
NS_EXTERN void Ns_UnRegisterRequest(const char *, const char *, const char *, int);
NS_EXTERN void Ns_UnRegisterRequestEx(const char *, const char *, const char *, int);

/*
 * Look up handler, delete function, arg, flags.
 */
NS_EXTERN void Ns_GetRequest(const char *, const char *, const char *, Ns_OpProc **, Ns_Callback **, void **, int *);

/*
 * Run the matching handler (404 if none).
 */
NS_EXTERN int Ns_ConnRunRequest(Ns_Conn *);

/*
 * Internal redirect: set URL, authorise, run.
 */
NS_EXTERN int Ns_ConnRedirect(Ns_Conn *, const char *);

/*
 * Handler for proxy requests by method and scheme.
 */
NS_EXTERN void Ns_RegisterProxyRequest(const char *, const char *, const char *, Ns_OpProc *, Ns_Callback *, void *);
NS_EXTERN void Ns_UnRegisterProxyRequest(const char *, const char *, const char *);

/*
 * Filter by server, method glob, URL glob; `when` = stages; see section
 * 4.
 */
NS_EXTERN void *Ns_RegisterFilter(const char *, const char *, const char *, Ns_FilterProc *, int, void *);

/*
 * Call after successful requests; FIFO.
 */
NS_EXTERN void *Ns_RegisterServerTrace(const char *, Ns_TraceProc *, void *);

/*
 * Call after every request; LIFO (second: initialising server).
 */
NS_EXTERN void *Ns_RegisterConnCleanup(const char *, Ns_TraceProc *, void *);
NS_EXTERN void *Ns_RegisterCleanup(Ns_TraceProc *, void *);

/*
 * Ask the request authoriser: server, method, url, user, password, peer.
 */
NS_EXTERN int Ns_AuthorizeRequest(const char *, const char *, const char *, const char *, const char *, const char *);

/*
 * Install the (single) authorisers.
 */
NS_EXTERN void Ns_SetRequestAuthorizeProc(const char *, Ns_RequestAuthorizeProc *);
NS_EXTERN void Ns_SetUserAuthorizeProc(Ns_UserAuthorizeProc *);

/*
 * Ask the user authoriser; NS_ERROR if none.
 */
NS_EXTERN int Ns_AuthorizeUser(const char *, const char *);

/*
 * Map URL to file name.
 */
NS_EXTERN int Ns_UrlToFile(Ns_DString *, const char *, const char *);

/*
 * Mapping function per URL pattern.
 */
NS_EXTERN void Ns_RegisterUrl2FileProc(const char *, const char *, Ns_Url2FileProc *, Ns_Callback *, void *, int);
NS_EXTERN void Ns_UnRegisterUrl2FileProc(const char *, const char *, int);

/*
 * Old single mapping function.
 */
NS_EXTERN void Ns_SetUrlToFileProc(const char *, Ns_UrlToFileProc *);

/*
 * Default mapping: page directory + URL.
 */
NS_EXTERN Ns_Url2FileProc Ns_FastUrl2FileProc;

/*
 * Default handler serving files.
 */
NS_EXTERN Ns_OpProc Ns_FastPathProc;

/*
 * Does the URL map to an existing file / directory.
 */
NS_EXTERN int Ns_UrlIsFile(const char *, const char *);
NS_EXTERN int Ns_UrlIsDir(const char *, const char *);

/*
 * New id = independent URL space (start-up only).
 */
NS_EXTERN int Ns_UrlSpecificAlloc(void);

/*
 * Store data for server, method, URL pattern, id; flags; destructor.
 */
NS_EXTERN void Ns_UrlSpecificSet(const char *, const char *, const char *, int, void *, int, void (*)(void *));

/*
 * Best match / without globs / without inheritance.
 */
NS_EXTERN void *Ns_UrlSpecificGet(const char *, const char *, const char *, int);
NS_EXTERN void *Ns_UrlSpecificGetFast(const char *, const char *, const char *, int);
NS_EXTERN void *Ns_UrlSpecificGetExact(const char *, const char *, const char *, int, int);

/*
 * Remove; returns data unless recursive.
 */
NS_EXTERN void *Ns_UrlSpecificDestroy(const char *, const char *, const char *, int, int);

/*
 * List all entries into ds.
 */
NS_EXTERN void Ns_UrlSpecificWalk(int, const char *, Ns_ArgProc, Ns_DString *);

/*
 * Read file behind a URL of this server into ds.
 */
NS_EXTERN int Ns_FetchPage(Ns_DString *, const char *, const char *);

/*
 * HTTP/1.0 GET of any URL; headers into set.
 */
NS_EXTERN int Ns_FetchURL(Ns_DString *, const char *, Ns_Set *);

#endif

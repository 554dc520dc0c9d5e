/* SPDX-License-Identifier: MPL-2.0
 * nsrequest.h --
 *
 *      Handlers, filters, traces, authorization, and what belongs to URLs.
 *
 *      Everything is registered per virtual server, usually while modules are
 *      initialized, but at any time by any thread.  Strings are copied.  An
 *      unknown server is logged as an Error and otherwise ignored.
 *
 *      URL patterns.  A pattern is split at slashes; empty segments do not
 *      count.  When its last segment has a wildcard (* or ?), that segment is a
 *      glob for the last segment of the URL, and the rest is a directory;
 *      otherwise all of it is a directory.  A pattern matches the URLs at and
 *      below its directory, or, with NS_OP_NOINHERIT, only that directory.  Of
 *      several matches the deepest directory wins, then the more restrictive
 *      glob.  The method is matched exactly.
 */

#ifndef NSREQUEST_H
#define NSREQUEST_H

#include "nstypes.h"

/*
 * Register the handler of a method and a URL pattern.  freeProc (NULL: none) is
 * called for arg when the handler was replaced or unregistered and no call of
 * it runs any more; at once, after an Error in the log, if there is no such
 * server.  flags: NS_OP_NOINHERIT; NS_OP_NODELETE spares the argument
 * of the handler that is replaced.
 */
NS_EXTERN void Ns_RegisterRequest(const char *server, const char *method,
                                  const char *url, Ns_OpProc *proc,
                                  Ns_Callback *freeProc, void *arg, int flags);

/*
 * Remove what was registered under exactly this pattern; the next less specific
 * match takes over.  inherit false means NS_OP_NOINHERIT.  With NS_OP_RECURSE
 * all handlers at and below the pattern's directory go.
 */
NS_EXTERN void Ns_UnRegisterRequest(const char *server, const char *method,
                                    const char *url, int inherit);
NS_EXTERN void Ns_UnRegisterRequestEx(const char *server, const char *method,
                                      const char *url, int flags);

/*
 * The handler that would answer; NULLs and 0 if there is none.
 */
NS_EXTERN void Ns_GetRequest(const char *server, const char *method,
                             const char *url, Ns_OpProc **procPtr,
                             Ns_Callback **freeProcPtr, void **argPtr,
                             int *flagsPtr);

/*
 * Run the handler of the request; without one, answer 404.  Its result.
 */
NS_EXTERN int Ns_ConnRunRequest(Ns_Conn *conn);

/*
 * Internal redirect: set the (percent-encoded) URL, ask for authorization
 * again, run the handler.  Filters do not run again.
 */
NS_EXTERN int Ns_ConnRedirect(Ns_Conn *conn, const char *url);

/*
 * Handlers of requests with an absolute URL, by method and scheme; freeProc as
 * above.
 */
NS_EXTERN void Ns_RegisterProxyRequest(const char *server, const char *method,
                                       const char *protocol, Ns_OpProc *proc,
                                       Ns_Callback *freeProc, void *arg);
NS_EXTERN void Ns_UnRegisterProxyRequest(const char *server, const char *method,
                                         const char *protocol);

/*
 * Call proc for requests whose method and whole URL match two globs (here *
 * also matches slashes), in order of registration; NS_FILTER_FIRST puts it in
 * front.  when: one or several of NS_FILTER_PRE_AUTH, POST_AUTH, TRACE,
 * VOID_TRACE. The result is only good for a comparison with NULL, which is a
 * failure.
 */
NS_EXTERN void *Ns_RegisterFilter(const char *server, const char *method,
                                  const char *url, Ns_FilterProc *proc,
                                  int when, void *arg);

/*
 * As later sources call it: in front, if the last argument is true.  It may be
 * left out.
 */
NS_EXTERN void *Ns_RegisterFilter_33(const char *server, const char *method,
                                     const char *url, Ns_FilterProc *proc,
                                     Ns_FilterType when, void *arg, bool first,
                                     ...);
#if NS_API_LEVEL >= 49933
#define Ns_RegisterFilter(server, method, url, proc, when, ...)     \
    Ns_RegisterFilter_33((server), (method), (url), (proc), (when), \
                         __VA_ARGS__, false)
#endif

/*
 * Call proc after each request unless a trace filter has failed; FIFO.
 */
NS_EXTERN void *Ns_RegisterServerTrace(const char *server, Ns_TraceProc *proc,
                                       void *arg);

/*
 * Call proc after each request whatever happened; LIFO.  The second speaks of
 * the server that is being initialized.
 */
NS_EXTERN void *Ns_RegisterConnCleanup(const char *server, Ns_TraceProc *proc,
                                       void *arg);
NS_EXTERN void *Ns_RegisterCleanup(Ns_TraceProc *proc, void *arg);

/*
 * The chain of those who decide about requests, and the one about users: each
 * server has both.  The procedures run in the order of their registration,
 * those registered with first ahead of it, with no lock held; the last one that
 * ran decides.  Each answers NS_OK, NS_UNAUTHORIZED, or NS_FORBIDDEN, all else
 * is a failure; *codePtr is TCL_OK.  TCL_BREAK there ends the chain with this
 * answer, TCL_RETURN because the procedure has answered the client, TCL_ERROR
 * because it failed, and has logged why; with TCL_CONTINUE the procedure has no
 * say.  Strings may be NULL.
 *
 * authority, copied, names who decided.  A registration lasts as long as the
 * server.  NS_ERROR: there is no such server.
 */
typedef int Ns_AuthorizeRequestProc(void *arg, const char *method,
                                    const char *url, const char *user,
                                    const char *password, const char *peer,
                                    int *codePtr);
typedef int Ns_AuthorizeUserProc(void *arg, const char *user,
                                 const char *password, int *codePtr);

NS_EXTERN int Ns_RegisterAuthorizeRequest(const char              *server,
                                          Ns_AuthorizeRequestProc *proc,
                                          void *arg, const char *authority,
                                          bool first);
NS_EXTERN int Ns_RegisterAuthorizeUser(const char           *server,
                                       Ns_AuthorizeUserProc *proc, void *arg,
                                       const char *authority, bool first);

/*
 * Ask the chain about a request; NS_OK if it is empty.  user, password and peer
 * may be NULL.  NS_FILTER_RETURN: the client has been answered.
 */
NS_EXTERN int Ns_AuthorizeRequest(const char *server, const char *method,
                                  const char *url, const char *user,
                                  const char *password, const char *peer);

/*
 * The older way: one hook for a server, and one for the users of all servers;
 * NULL removes it.  The former has its place in the chain from its first use
 * on; the latter runs ahead of the chains.
 */
NS_EXTERN void Ns_SetRequestAuthorizeProc(const char              *server,
                                          Ns_RequestAuthorizeProc *proc);
NS_EXTERN void Ns_SetUserAuthorizeProc(Ns_UserAuthorizeProc *proc);

/*
 * Ask the chain about a user of the server that the calling thread works for;
 * NS_ERROR if it is empty.
 */
NS_EXTERN int Ns_AuthorizeUser(const char *user, const char *password);

/*
 * Append the name of the file for a decoded URL, without trailing slashes.
 * NS_ERROR: no mapping, or the mapping failed.  The file need not exist.
 */
NS_EXTERN int Ns_UrlToFile(Ns_DString *dsPtr, const char *server,
                           const char *url);

/*
 * Register or remove the mapping for a URL pattern; arguments as those of
 * handlers.
 */
NS_EXTERN void Ns_RegisterUrl2FileProc(const char *server, const char *url,
                                       Ns_Url2FileProc *proc,
                                       Ns_Callback *freeProc, void *arg,
                                       int flags);
NS_EXTERN void Ns_UnRegisterUrl2FileProc(const char *server, const char *url,
                                         int flags);

/*
 * One mapping for all URLs of a server, ahead of all others.  Start-up only.
 */
NS_EXTERN void Ns_SetUrlToFileProc(const char *server, Ns_UrlToFileProc *proc);

/*
 * The default mapping: page directory, then the URL.  The default handler:
 * files.
 */
NS_EXTERN Ns_Url2FileProc Ns_FastUrl2FileProc;
NS_EXTERN Ns_OpProc       Ns_FastPathProc;

/*
 * Whether a URL is that of a regular file, of a directory.
 */
NS_EXTERN int Ns_UrlIsFile(const char *server, const char *url);
NS_EXTERN int Ns_UrlIsDir(const char *server, const char *url);

/*
 * A new id for data that belongs to URL patterns, independent of all others.
 * Start-up only; there are 32.
 */
NS_EXTERN int Ns_UrlSpecificAlloc(void);

/*
 * Store data under a pattern.  freeProc (NULL: none) is called for it when it
 * is replaced or removed, unless that call says NS_OP_NODELETE, and at once,
 * after an Error in the log, if there is no such server; no lock is held.
 */
NS_EXTERN void Ns_UrlSpecificSet(const char *server, const char *method,
                                 const char *url, int id, void *data, int flags,
                                 void (*freeProc)(void *data));

/*
 * The best match; the best of those whose pattern has no glob; what was stored
 * under exactly this pattern (flags: NS_OP_NOINHERIT or 0).  NULL if there is
 * none.  Nothing keeps another thread from freeing the data in the meantime.
 */
NS_EXTERN void *Ns_UrlSpecificGet(const char *server, const char *method,
                                  const char *url, int id);
NS_EXTERN void *Ns_UrlSpecificGetFast(const char *server, const char *method,
                                      const char *url, int id);
NS_EXTERN void *Ns_UrlSpecificGetExact(const char *server, const char *method,
                                       const char *url, int id, int flags);

/*
 * Remove the data of exactly this pattern.  It is returned, but freed unless
 * flags has NS_OP_NODELETE.  With NS_OP_RECURSE all at and below the pattern's
 * directory is removed, and the result NULL.
 */
NS_EXTERN void *Ns_UrlSpecificDestroy(const char *server, const char *method,
                                      const char *url, int id, int flags);

/*
 * Append {METHOD DIRECTORY FILTER inherit|noinherit ...} for all entries; proc
 * appends the rest.  It must not change the URL space.
 */
NS_EXTERN void Ns_UrlSpecificWalk(int id, const char *server, Ns_ArgProc proc,
                                  Ns_DString *dsPtr);

/*
 * Append the content of the file for a URL of a server.
 */
NS_EXTERN int Ns_FetchPage(Ns_DString *dsPtr, const char *url,
                           const char *server);

/*
 * Append the body of any URL, http or https, by a GET of HTTP/1.0 that waits
 * for it, at most for 60 seconds of silence; the fields of the reply's header
 * go into headers, with names in lower case (NULL: nowhere).  NS_ERROR: the
 * reason is logged.
 */
NS_EXTERN int Ns_FetchURL(Ns_DString *dsPtr, const char *url, Ns_Set *headers);

/*
 * ---------------------------------------------------- Context constraints
 *
 * What a request must be like for a registration to count: a list of header
 * fields and globs for their values, and of x-ns-ip and an address or network
 * of the client.  Parse: *specPtr is NULL for an empty list, which always
 * holds; NS_ERROR, with a message in interp (may be NULL): not such a list.
 * Free accepts NULL.
 */
typedef struct Ns_UrlSpaceContextSpec Ns_UrlSpaceContextSpec;
typedef void                          Ns_FreeProc(void *data);

NS_EXTERN Ns_ReturnCode
               Ns_UrlSpaceContextSpecParse(Tcl_Interp *interp, const char *list,
                                           Ns_UrlSpaceContextSpec **specPtr);
NS_EXTERN void Ns_UrlSpaceContextSpecFree(Ns_UrlSpaceContextSpec *spec);

/*
 * As Ns_UrlSpecificSet, Ns_RegisterRequest and Ns_RegisterFilter, for requests
 * for which the constraints hold (NULL: all), which become the registration's
 * in any case.  Of several matches at a place, the one with more constraints
 * wins.  NS_ERROR, with a message in interp (may be NULL), or NULL: no such
 * server; freeProc has been called then.
 */
NS_EXTERN Ns_ReturnCode
Ns_UrlSpecificSet2(Tcl_Interp *interp, const char *server, const char *method,
                   const char *url, int id, void *data, unsigned int flags,
                   Ns_FreeProc *freeProc, Ns_UrlSpaceContextSpec *spec);
NS_EXTERN Ns_ReturnCode
Ns_RegisterRequest2(Tcl_Interp *interp, const char *server, const char *method,
                    const char *url, Ns_OpProc *proc, Ns_Callback *freeProc,
                    void *arg, unsigned int flags,
                    Ns_UrlSpaceContextSpec *spec);
NS_EXTERN void *Ns_RegisterFilter2(const char *server, const char *method,
                                   const char *url, Ns_FilterProc *proc,
                                   int when, void *arg, bool isFirst,
                                   Ns_UrlSpaceContextSpec *spec);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * urlspace.h --
 *
 *      What belongs to a method and a URL: handlers, pools, limits, files.
 *
 *      Each use has an id and, per server, a tree of its own.  Patterns and the
 *      choice among matches are those of Ns_UrlSpecificSet in nsrequest.h.
 */

#ifndef NSD_REQUEST_URLSPACE_H
#define NSD_REQUEST_URLSPACE_H

#include "nsrequest.h"
#include "process/server.h"
#include "request/constraints.h"

/*
 * Decides whether a match is wanted; called from the most specific to the least
 * until it returns true, under the tree's read lock: it may count a reference,
 * but must not take long or change the URL space.
 */
typedef bool NsUrlAcceptProc(void *data, void *arg);

/*
 * The best match that acceptProc (NULL: any) accepts; NULL if there is none.
 */
void *NsUrlSpaceFind(NsServer *serverPtr, int id, const char *method,
                     const char *url, NsUrlAcceptProc *acceptProc, void *arg);

/*
 * The entry of exactly that pattern and inheritance (NS_OP_NOINHERIT or 0).
 */
void *NsUrlSpaceFindExact(NsServer *serverPtr, int id, const char *method,
                          const char *url, int flags,
                          NsUrlAcceptProc *acceptProc, void *arg);

/*
 * Likewise, where entries with constraints count if these hold; flags may be
 * NS_OP_NOINHERIT: entries of that kind alone, and NS_URL_ALSO_GET: an entry of
 * GET counts for HEAD as well, if that has none that is as near to the URL.
 */
#define NS_URL_ALSO_GET 0x4000
void *NsUrlSpaceFindFor(NsServer *serverPtr, int id,
                        const NsContext *contextPtr, const char *method,
                        const char *url, int flags, NsUrlAcceptProc *acceptProc,
                        void *arg);
void *NsUrlSpaceFindExactFor(NsServer *serverPtr, int id,
                             const NsContext *contextPtr, const char *method,
                             const char *url, int flags,
                             NsUrlAcceptProc *acceptProc, void *arg);

/*
 * Call a procedure with each method for which the URL has an entry, under the
 * tree's read lock.
 */
typedef void NsUrlMethodProc(const char *method, void *arg);
void NsUrlSpaceMethods(NsServer *serverPtr, int id, const NsContext *contextPtr,
                       const char *url, NsUrlMethodProc *proc, void *arg);

/*
 * Store an entry with constraints, which become the URL space's; NULL: none.
 */
void NsUrlSpaceSetFor(NsServer *serverPtr, int id,
                      NsConstraints *constraintsPtr, const char *method,
                      const char *url, void *data, int flags,
                      void (*freeProc)(void *data));

/*
 * Remove entries: of just that pattern, or more as flags say (NS_OP_RECURSE and
 * those in urltree.h).  Whether there were any; false with NS_OP_RECURSE.
 */
bool NsUrlSpaceRemove(NsServer *serverPtr, int id, const char *method,
                      const char *url, int flags);

/*
 * Whether a URL can be matched at all: a query (`?x=1`) or a fragment never is
 * a part of what is compared.  A `?` alone is a wildcard.
 */
bool NsUrlIsPlain(const char *url);

/*
 * An id for scripts; -1 when there is none left.  Whether an id is one.
 */
int  NsUrlSpaceNewId(void);
bool NsUrlSpaceIsOfScripts(int id);

/*
 * Visit all entries of a server: method, directory, filter, inherits, data.
 * More restrictive filters of a directory come first.  Under the read lock.
 */
typedef struct NsUrlEntry {
    const char *method;
    const char *directory; /* "/" or "/a/b". */
    const char *filter;    /* "*" or a glob. */
    bool        inherits;
    const char *constraints; /* List, or NULL: none. */
    void       *data;
} NsUrlEntry;

typedef void NsUrlVisitProc(const NsUrlEntry *entryPtr, void *arg);
void         NsUrlSpaceVisit(NsServer *serverPtr, int id, NsUrlVisitProc *proc,
                             void *arg);

/*
 * Append the list element {METHOD DIRECTORY FILTER inherit|noinherit
 * ?CONSTRAINTS? ...}, left open: the caller appends what it knows of the data,
 * then calls Tcl_DStringEndSublist.
 */
void NsUrlEntryStart(Ns_DString *dsPtr, const NsUrlEntry *entryPtr);

#endif

/*
 * poolmap.h --
 *
 *      Which pool serves a request.
 */

#ifndef NSD_REQUEST_POOLMAP_H
#define NSD_REQUEST_POOLMAP_H

#include "dispatch/pool.h"
#include "http/head.h"
#include "process/server.h"

void NsPoolMapInit(void);

/*
 * Read the `map` parameters of all pools of a server.
 */
void NsPoolMapServerInit(NsServer *serverPtr);

/*
 * The pool for a request; the default pool when nothing matches.  headPtr, for
 * mappings that look at a header, may be NULL.
 */
NsPool *NsPoolMapFind(NsServer *serverPtr, const char *method, const char *url,
                      const NsHttpHead *headPtr);

/*
 * Add or remove a mapping given as `METHOD URL ?{HEADER PATTERN}?`.  NS_ERROR:
 * it has another form (add), or does not exist (remove).
 */
Ns_ReturnCode NsPoolMapAdd(NsServer *serverPtr, NsPool *poolPtr,
                           const char *spec, bool inherits);
Ns_ReturnCode NsPoolMapRemove(NsServer *serverPtr, NsPool *poolPtr,
                              const char *spec, bool inherits);

/*
 * The mappings of a pool, each {METHOD URL FILTER inherit|noinherit ?CONTEXT?},
 * appended.
 */
void NsPoolMapList(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr);

#endif

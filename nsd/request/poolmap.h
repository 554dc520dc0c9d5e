/* SPDX-License-Identifier: MPL-2.0
 * poolmap.h --
 *
 *      Which pool serves a request.
 */

#ifndef NSD_REQUEST_POOLMAP_H
#define NSD_REQUEST_POOLMAP_H

#include "dispatch/connthread.h"
#include "dispatch/pool.h"
#include "net/message.h"
#include "process/server.h"

void NsPoolMapInit(void);

/*
 * Read the `map` parameters of all pools of a server.
 */
void NsPoolMapServerInit(NsServer *serverPtr);

/*
 * The pool for a request; the default pool when nothing matches.  messagePtr is
 * for mappings with a condition; when it is NULL they do not count.
 */
NsPool *NsPoolMapFind(NsServer *serverPtr, const char *method, const char *url,
                      const NsMessage *messagePtr);

/*
 * The same pool for all requests with that method and URL; NULL if it depends
 * on more than these.
 */
NsPool *NsPoolMapFindFixed(NsServer *serverPtr, const char *method,
                           const char *url);

/*
 * The pool of the mapping for just that URL, made with or without inheritance;
 * NULL if there is none.
 */
NsPool *NsPoolMapFindExact(NsServer *serverPtr, const char *method,
                           const char *url, bool inherits);

/*
 * Add or remove a mapping given as `METHOD URL ?{KEY VALUE ...}?`, where the
 * list is of constraints (see constraints.h).  NS_ERROR: the text has another
 * form (add), or there is no such mapping (remove).
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

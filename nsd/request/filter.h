/* SPDX-License-Identifier: MPL-2.0
 * filter.h --
 *
 *      What runs before and after the handler.
 *
 *      The list only grows, so a request reads it without a lock.
 */

#ifndef NSD_REQUEST_FILTER_H
#define NSD_REQUEST_FILTER_H

#include "request/conn.h"
#include "request/constraints.h"

/*
 * As Ns_RegisterFilter, for requests for which constraints hold as well; they
 * become the filter's, NULL: none.
 */
void *NsFilterRegister(const char *server, NsConstraints *constraintsPtr,
                       const char *method, const char *url, Ns_FilterProc *proc,
                       int when, void *arg);

/*
 * Run the filters of one phase (NS_FILTER_PRE_AUTH, ...) that match method and
 * URL.  NS_OK: continue (a break included).  NS_FILTER_RETURN: a filter has
 * answered.  NS_TIMEOUT, NS_ERROR: it failed, 503 or 500 is due.
 */
int NsFiltersRun(NsConn *connPtr, int phase);

/*
 * Whether there are filters at all; whether one of any phase matches.
 */
bool NsFiltersExist(NsServer *serverPtr);
bool NsFiltersMatch(NsServer *serverPtr, const char *method, const char *url);

/*
 * A procedure that is called first at every matching request of the phases, as
 * ns_shortcut_filter does: returns NS_FILTER_BREAK.
 */
Ns_FilterProc NsShortcutFilterProc;

/*
 * Result of `ns_server filters`, appended.
 */
void NsFilterList(Ns_DString *dsPtr, NsServer *serverPtr);

#endif

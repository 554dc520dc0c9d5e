/*
 * filter.h --
 *
 *      What runs before and after the handler: filters, traces, access
 *      procedures, cleanups.
 *
 *      Lists only grow, so a request reads them without a lock.
 */

#ifndef NSD_REQUEST_FILTER_H
#define NSD_REQUEST_FILTER_H

#include "nsaccess.h"
#include "request/conn.h"

/*
 * Run the filters of one phase (NS_FILTER_PRE_AUTH, ...) that match method and
 * URL.  NS_OK: go on (a break included).  NS_FILTER_RETURN: a filter has
 * answered.  NS_TIMEOUT, NS_ERROR: it failed, 503 or 500 is due.
 */
int NsFiltersRun(NsConn *connPtr, int phase);

/*
 * Whether there are filters at all; whether one of any phase matches.
 */
bool NsFiltersExist(NsServer *serverPtr);
bool NsFiltersMatch(NsServer *serverPtr, const char *method, const char *url);

/*
 * Whether server traces or cleanups exist, which need an Ns_Conn.
 */
bool NsTracesExist(NsServer *serverPtr);

void NsTracesRun(NsConn *connPtr);
void NsCleanupsRun(NsConn *connPtr);

/*
 * Tell all access procedures of the server, and the log unit.
 */
void NsAccessRun(NsServer *serverPtr, const Ns_Access *accessPtr);

/*
 * A procedure that is called first at every matching request of the phases, as
 * ns_shortcut_filter does: returns NS_FILTER_BREAK.
 */
Ns_FilterProc NsShortcutFilterProc;

/*
 * Results of `ns_server filters`, `ns_server traces`, appended.
 */
void NsFilterList(Ns_DString *dsPtr, NsServer *serverPtr);
void NsTraceList(Ns_DString *dsPtr, NsServer *serverPtr);

#endif

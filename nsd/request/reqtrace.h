/* SPDX-License-Identifier: MPL-2.0
 * reqtrace.h --
 *
 *      The procedures that are told about a request: server traces, access
 *      procedures, the log unit; and cleanups, which run last.
 *
 *      The lists only grow, so a request reads them without a lock.
 */

#ifndef NSD_REQUEST_REQTRACE_H
#define NSD_REQUEST_REQTRACE_H

#include "nsaccess.h"
#include "request/conn.h"

/*
 * Whether server traces or cleanups exist, which need an Ns_Conn.
 */
bool NsReqTraceExists(NsServer *serverPtr);

void NsReqTraceRun(NsConn *connPtr);
void NsReqTraceCleanups(NsConn *connPtr);

/*
 * Tell all access procedures of the server, and the log unit.
 */
void NsReqTraceAccess(NsServer *serverPtr, const Ns_Access *accessPtr);

/*
 * Announce to the logs a request that continues: that many bytes are about to
 * leave, and may be all that the client waits for (NS_ACCESS_SENDING); or it
 * will not be logged (NS_ACCESS_FORGOTTEN).
 */
void NsReqTraceAnnounce(NsConn *connPtr, Ns_AccessStage stage, int64_t bytes);

/*
 * Result of `ns_server traces`, appended.
 */
void NsReqTraceList(Ns_DString *dsPtr, NsServer *serverPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * httplog.h --
 *
 *      The log of requests to other servers.
 *
 *      A line for each request that has ended: time, thread, status (408: none
 *      came), method, URL in quotes, seconds, bytes sent and received, 1 if its
 *      connection was kept from an earlier one, and the reason of the end.
 */

#ifndef NSD_TCL_HTTPLOG_H
#define NSD_TCL_HTTPLOG_H

#include "net/httpclient.h"
#include "process/server.h"

typedef struct NsHttpLog NsHttpLog;

/*
 * The log of a server, with settings of the section; NULL: it has none.  Lives
 * as long as the process.
 */
void       NsHttpLogInit(void);
NsHttpLog *NsHttpLogCreate(const NsServer *serverPtr, const char *section);

/*
 * For NsHttpClientSpec; arg is the log.
 */
NsHttpClientEndProc NsHttpLogWrite;

#endif

/* SPDX-License-Identifier: MPL-2.0
 * httpwork.h --
 *
 *      The work on a request to another server.
 */

#ifndef NSD_NET_HTTPWORK_H
#define NSD_NET_HTTPWORK_H

#include "net/httpclient.h"
#include "nssocket.h"

/*
 * Does the work, as a task.
 */
Ns_TaskProc NsHttpWork;

/*
 * Call when the connection is established and nothing has been sent on it.
 */
void NsHttpConnected(NsHttpClient *clientPtr);

/*
 * Close the connection, or stop connecting.
 */
void NsHttpCloseConnection(NsHttpClient *clientPtr);

/*
 * Append why there is no connection; error 0: the name is unknown.
 */
void NsHttpAppendConnectError(const NsHttpClient *clientPtr, int error,
                              Ns_DString *dsPtr);

#endif

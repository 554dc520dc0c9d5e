/*
 * httpwork.h --
 *
 *      The work on a request to another server.
 */

#ifndef NSD_NET_HTTPWORK_H
#define NSD_NET_HTTPWORK_H

#include "net/httpclient.h"
#include "nssocket.h"

/*
 * The work, as a task.
 */
Ns_TaskProc NsHttpWork;

/*
 * There is a connection, with nothing said on it yet.
 */
void NsHttpConnected(NsHttpClient *clientPtr);

/*
 * Close the connection, or stop connecting.
 */
void NsHttpCloseConnection(NsHttpClient *clientPtr);

/*
 * Append why there is none; error 0: the name is not known.
 */
void NsHttpAppendConnectError(const NsHttpClient *clientPtr, int error,
                              Ns_DString *dsPtr);

#endif

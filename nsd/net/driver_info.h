/* SPDX-License-Identifier: MPL-2.0
 * driver_info.h --
 *
 *      What `ns_driver` and `ns_writer` show.
 */

#ifndef NSD_NET_DRIVER_INFO_H
#define NSD_NET_DRIVER_INFO_H

#include "nsstring.h"
#include "process/server.h"

/*
 * Results of `ns_driver info|names|threads|stats` and `ns_writer list`, as Tcl
 * lists appended to dsPtr; server NULL: all.  NsDriverHosts: the Host fields to
 * which a server answers at drivers that it shares, each once.
 */
void NsDriverInfo(Ns_DString *dsPtr, const char *server);
void NsDriverNames(Ns_DString *dsPtr, const char *server);
void NsDriverThreads(Ns_DString *dsPtr, const char *server);
void NsDriverStats(Ns_DString *dsPtr, const char *server);
void NsDriverHosts(Ns_DString *dsPtr, const NsServer *serverPtr);
void NsWriterList(Ns_DString *dsPtr, const char *server, bool isLong);

/*
 * Append a dict per writer thread: module, thread, deliveries, queued and sent
 * (both in bytes).
 */
void NsWriterStats(Ns_DString *dsPtr);

/*
 * Query (value NULL) or set writersize, writerstreaming of the first driver
 * whose name starts with prefix.  NS_ERROR if there is none.
 */
Ns_ReturnCode NsWriterSize(const char *prefix, int64_t *newPtr,
                           int64_t *valuePtr);
Ns_ReturnCode NsWriterStreaming(const char *prefix, bool *newPtr,
                                bool *valuePtr);

#endif

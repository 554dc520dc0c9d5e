/* SPDX-License-Identifier: MPL-2.0
 * fastpath.h --
 *
 *      Static files.
 */

#ifndef NSD_REQUEST_FASTPATH_H
#define NSD_REQUEST_FASTPATH_H

#include "request/conn.h"

/*
 * Once, before the configuration is read.
 */
void NsFastPathInit(void);

/*
 * Read section ns/server/S/fastpath.
 */
void NsFastPathServerInit(NsServer *serverPtr);

/*
 * How a directory without index file is listed: the right-hand rooms register
 * who runs a Tcl procedure (directoryproc) or an ADP file (directoryadp).  The
 * procedure answers the request and returns NS_OK, or NS_ERROR.
 */
typedef int NsDirectoryProc(Ns_Conn *conn, const char *procOrFile);
void        NsFastPathSetDirectoryProc(NsDirectoryProc *proc);
void        NsFastPathSetDirectoryAdp(NsDirectoryProc *proc);

/*
 * Figures of the static-file cache, in the form of ns_fastpath_cache_stats,
 * appended; nothing when the cache is off.
 */
void NsFastPathCacheStats(Ns_DString *dsPtr, bool withContents, bool reset);

#endif

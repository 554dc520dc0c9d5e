/* SPDX-License-Identifier: MPL-2.0
 * knownstream.h --
 *
 *      Streams whose records the server can format without their makers: access
 *      logs, and the log files of scripts.
 */

#ifndef NSD_LOG_KNOWNSTREAM_H
#define NSD_LOG_KNOWNSTREAM_H

#include "nslogstream.h"

/*
 * The stream of the n-th log file of scripts: a record is bytes for the file.
 * NULL: as Ns_LogStreamCreate.
 */
Ns_LogStream NsScriptStream(int n);

/*
 * The stream that can format records of that name, which an earlier process has
 * left; NULL: a module would have to make it.
 */
Ns_LogStream NsStreamOfLeftover(const char *name);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * spool.h --
 *
 *      Disk space of what waits: bodies of requests that are too large for
 *      memory, and output that clients do not take.
 *
 *      Both lie in temporary files.  Each kind may have a limit for all files
 *      together, and both leave some space of the file system free.
 */

#ifndef NSD_NET_SPOOL_H
#define NSD_NET_SPOOL_H

#include "nstypes.h"

typedef enum { NS_SPOOL_BODIES, NS_SPOOL_REPLIES, NS_SPOOL_COUNT } NsSpool;

/*
 * Before the drivers start: a limit in bytes, 0: none; what is left free; the
 * directory, NULL: each kind has its own.
 */
void NsSpoolSetLimit(NsSpool spool, int64_t bytes);
void NsSpoolSetMinFree(int64_t bytes);
void NsSpoolSetDirectory(const char *directory);

/*
 * Open a temporary file without a name, in the common directory, or in this one
 * if there is none; NULL: the default.  -1: errno says why.
 */
int         NsSpoolOpen(const char *directory);
const char *NsSpoolDirectory(const char *directory);

/*
 * Append bytes to the file, at that offset; false: errno says why, EDQUOT for
 * the limit and ENOSPC also for minfree, and nothing is counted.  What was
 * written is given back when the file is closed.  Any thread.
 */
bool NsSpoolWrite(NsSpool spool, int fd, const char *bytes, size_t length,
                  off_t offset);
void NsSpoolGive(NsSpool spool, int64_t bytes);

/*
 * Why it did not work, for the log.
 */
const char *NsSpoolReason(NsSpool spool, int reason);

/*
 * Append the figures as a dict.
 */
void NsSpoolAppend(Ns_DString *dsPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * linefile.h --
 *
 *      Files of scripts' own, to which the log threads append.
 *
 *      An open file has a handle: a name that is valid in all threads and is
 *      never given out twice.  Each file has a sink and a stream of its own, so
 *      the sink's promises hold.  The stream of a closed file serves another
 *      one later.
 */

#ifndef NSD_LOG_LINEFILE_H
#define NSD_LOG_LINEFILE_H

#include "nslogstream.h"

void NsLineFileInit(void);

/*
 * Open a file by its absolute path, and append its handle.  Flags: O_EXCL (it
 * must not exist), O_TRUNC, O_SYNC and O_DSYNC (each write is followed by a
 * sync).  A file that is open already is shared: it is closed with its last
 * handle.  NS_ERROR: errno says why, for NsSinkReason.
 */
Ns_ReturnCode NsLineFileOpen(const char *path, int flags, Ns_DString *dsPtr);

/*
 * Append the bytes in one piece.  NS_ERROR: there is no such handle.
 */
Ns_ReturnCode NsLineFilePut(const char *handle, const char *bytes,
                            size_t length);

/*
 * Write out what waits, and close.  NS_ERROR: there is no such handle.
 */
Ns_ReturnCode NsLineFileClose(const char *handle);

/*
 * Call proc for each handle, with the sink of its file.
 */
typedef void NsLineFileProc(const char *handle, const char *path,
                            Ns_LogSink sink, void *arg);
void         NsLineFileEach(NsLineFileProc *proc, void *arg);

#endif

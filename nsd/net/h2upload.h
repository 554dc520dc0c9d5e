/* SPDX-License-Identifier: MPL-2.0
 * h2upload.h --
 *
 *      Bodies of HTTP/2 that are too large for memory, on their way to disk.
 *
 *      A spooler thread writes what has come of a body, while the driver thread
 *      collects what comes next.  The windows of the client open only for what
 *      is written: a slow disk holds the client, never the driver thread, and
 *      of a connection no more than its window is here.
 */

#ifndef NSD_NET_H2UPLOAD_H
#define NSD_NET_H2UPLOAD_H

#include "net/h2_int.h"

/*
 * The calls of the driver thread: from now on the body is one of these; more of
 * it is there; give the spooler threads what all streams have for them, if they
 * have nothing of the stream.
 */
void NsH2UploadBegin(NsH2Stream *streamPtr);
void NsH2UploadKeep(NsH2Stream *streamPtr, const char *bytes, size_t length);
void NsH2UploadsPass(NsH2Session *sessionPtr);

/*
 * The spooler thread has written what it got: it has nothing of the stream
 * anymore, and the client may send as much again.
 */
void NsH2UploadTakeBack(NsH2Stream *streamPtr);

/*
 * Nobody wants what has come.
 */
void NsH2UploadDrop(NsH2Stream *streamPtr);

/*
 * In the spooler thread: a stream was given to it.
 */
void NsH2UploadStore(NsSock *sockPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * body.h --
 *
 *      The body of a request, while it arrives.
 */

#ifndef NSD_NET_BODY_H
#define NSD_NET_BODY_H

#include "net/reader.h"

/*
 * The head is complete; bytes behind it are in the buffer.
 */
NsReadStep NsBodyBegin(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The place for the next bytes of the body; and they have been read into it.
 */
struct iovec NsBodyTarget(NsDriverThread *threadPtr, NsSock *sockPtr);
NsReadStep NsBodyTake(NsDriverThread *threadPtr, NsSock *sockPtr, size_t nNew);

/*
 * The spooler thread that NS_STEP_SPOOL asked for has the socket.
 */
NsReadStep NsBodyGoOn(NsSock *sockPtr);

/*
 * What came is no request: it is handed over with the status that is to be
 * answered, and the reason is logged.  What the client still sends is discarded
 * after the reply.
 */
NsReadStep NsBodyRefuseMalformed(NsSock *sockPtr, int status,
                                 const char *reason);

/*
 * The same for a body in frames that are not the reader's: it begins, a part of
 * it is there, and that was the last.  NS_STEP_REQUEST: the request is
 * complete, maybe since it is refused.  NS_STEP_SPOOL: nothing was taken; this
 * part and all behind it are for NsBodyStore.
 */
NsReadStep NsBodyBeginFrames(NsSock *sockPtr);
NsReadStep NsBodyTakeFrame(NsSock *sockPtr, const char *bytes, size_t length);
NsReadStep NsBodyEndFrames(NsSock *sockPtr);

/*
 * Append to the body in its file, which may wait for the disk; false: it
 * cannot be stored.  In any thread that has the message.
 */
bool NsBodyStore(NsSock *sockPtr, const char *bytes, size_t length);

/*
 * What is there now is what scripts see of an upload.  The thread that receives
 * it.
 */
void NsBodyNoteProgress(const NsMessage *messagePtr);

/*
 * The body cannot be taken: 413, it is too large; 503, it cannot be stored.
 */
NsReadStep NsBodyRefuse(NsSock *sockPtr, int status);

#endif

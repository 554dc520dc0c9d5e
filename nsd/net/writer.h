/* SPDX-License-Identifier: MPL-2.0
 * writer.h --
 *
 *      Output that clients do not take at once, and the threads that send it.
 */

#ifndef NSD_NET_WRITER_H
#define NSD_NET_WRITER_H

#include "net/driver_int.h"

/*
 * Queued output.  Append takes the pieces over, also when it fails.
 */
NsWriter     *NsWriterCreate(NsDriver *drvPtr, int index);
void          NsWriterSetRate(NsWriterJob *jobPtr, int64_t bytesPerSecond);
Ns_ReturnCode NsWriterAppend(NsSock *sockPtr, const NsPiece *pieces,
                             int nPieces, size_t skip);
void          NsWriterFinish(NsSock *sockPtr, bool keep);
NsReceipt    *NsWriterFollow(NsSock *sockPtr); /* See receipt.h. */

/*
 * Wait until all is sent; NS_ERROR when the client is gone.  The socket has no
 * job afterwards.
 */
Ns_ReturnCode NsWriterDrain(NsSock *sockPtr);

/*
 * Whether its thread has turned since the last call.
 */
bool NsWriterTurns(NsWriter *writerPtr);

/*
 * Wait until there are no jobs; at the deadline they are abandoned.  End the
 * thread, which must have none.
 */
Ns_ReturnCode NsWriterWaitEmpty(NsWriter      *writerPtr,
                                const Ns_Time *deadlinePtr);
void          NsWriterEnd(NsWriter *writerPtr);

#endif

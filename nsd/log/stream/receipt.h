/* SPDX-License-Identifier: MPL-2.0
 * receipt.h --
 *
 *      The log records of one reply that say how many bytes of it were sent
 *      (Ns_LogStreamSetBytesSent), and who puts them.
 *
 *      They are complete when two things are done: the thread that answers has
 *      ended the request and collected them, and the reply has been sent or
 *      given up.  Whoever comes last puts them; when that is the sender, the
 *      thread that answers has left them to it.
 *
 *      Before the last bytes leave there is always exactly one thread that has
 *      the records prepared, so that they count if the process dies: the thread
 *      that answers until it leaves, then the sender.  They do not change hands
 *      while the sender sends what may be the last bytes.
 */

#ifndef NSD_LOG_RECEIPT_H
#define NSD_LOG_RECEIPT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct NsReceipt NsReceipt;

/*
 * Destroy: one that nobody follows and that has not been left.  NULL is
 * allowed.
 */
NsReceipt *NsReceiptCreate(void);
void       NsReceiptDestroy(NsReceipt **receiptPtrPtr);

/*
 * The thread that answers.  Follow, before it says that the reply has ended: it
 * will leave, and the receipt lives until then.  Collect: from now on its
 * records go into the receipt.  Leave ends that, hands the records over, and
 * ends its use of receiptPtr.
 *
 * More, under the lock that guards the output: it has added some.
 */
void NsReceiptFollow(NsReceipt *receiptPtr);
void NsReceiptMore(NsReceipt *receiptPtr);
void NsReceiptCollect(NsReceipt *receiptPtr);
void NsReceiptLeave(NsReceipt *receiptPtr);

/*
 * The sender.  Begin, before it sends what may be the last bytes; false: not
 * now, the records are changing hands at this moment.  Pause: not all has gone.
 * Sent, under the same lock: all has gone that there is so far.
 *
 * End: nothing more will come, and so many bytes were not sent.  It ends the
 * use of receiptPtr, unless it is false, which means the same as for Begin.
 */
bool NsReceiptBegin(NsReceipt *receiptPtr);
void NsReceiptPause(NsReceipt *receiptPtr);
void NsReceiptSent(NsReceipt *receiptPtr);
bool NsReceiptEnd(NsReceipt *receiptPtr, int64_t missing);

#endif

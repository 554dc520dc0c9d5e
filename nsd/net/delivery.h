/*
 * delivery.h --
 *
 *      Who logs a reply that a writer thread sends.
 *
 *      The log records of such a reply are complete when two things are done:
 *      the thread that answers has ended the request, and the writer thread
 *      has sent the reply or given it up.  Whoever comes last puts the records;
 *      when that is the writer, the other has left them to it.
 *
 *      Before the last bytes leave there is always exactly one thread that has
 *      the records prepared, so that they count if the process dies: the thread
 *      that answers until it leaves, then the writer.  They do not change hands
 *      while the writer sends what may be the last bytes.
 */

#ifndef NSD_NET_DELIVERY_H
#define NSD_NET_DELIVERY_H

#include "log/stream/held.h"

typedef struct NsDelivery NsDelivery;

NsDelivery *NsDeliveryCreate(void);
void        NsDeliveryDestroy(NsDelivery **deliveryPtrPtr);

/*
 * The thread that answers.  Give, before there is any output: it has the
 * records already, and leaves them with the writer.  Or Follow, before it says
 * that the reply has ended: it will call Leave, and the delivery lives until
 * then.  Leave hands the records over, and ends the use of deliveryPtr.
 *
 * More, under the lock that guards the output: it has added some.
 */
void NsDeliveryGive(NsDelivery *deliveryPtr, NsHeld *heldPtr);
void NsDeliveryFollow(NsDelivery *deliveryPtr);
void NsDeliveryMore(NsDelivery *deliveryPtr);
void NsDeliveryLeave(NsDelivery *deliveryPtr, NsHeld *heldPtr);

/*
 * The writer thread.  Begin, before it sends what may be the last bytes; false:
 * not now, the records are changing hands at this moment.  Pause: not all has
 * gone.  Sent, under the same lock: all has gone that there is so far.
 *
 * End: nothing more will come, and so many bytes were not sent.  It ends the
 * use of deliveryPtr, unless it is false, which means the same as for Begin.
 */
bool NsDeliveryBegin(NsDelivery *deliveryPtr);
void NsDeliveryPause(NsDelivery *deliveryPtr);
void NsDeliverySent(NsDelivery *deliveryPtr);
bool NsDeliveryEnd(NsDelivery *deliveryPtr, int64_t missing);

#endif

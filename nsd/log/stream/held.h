/*
 * held.h --
 *
 *      Records of a reply that is still being sent.
 *
 *      A thread collects the records of streams that state how many bytes were
 *      sent (Ns_LogStreamSetBytesSent), instead of putting them.  The records
 *      may go to another thread, and are put there when that number is known.
 */

#ifndef NSD_LOG_HELD_H
#define NSD_LOG_HELD_H

#include <stdbool.h>

#include "nslogstream.h"

typedef struct NsHeld NsHeld;

/*
 * Collect from now on, and end it.  NULL: there was no such record.
 */
void    NsHeldCollect(void);
NsHeld *NsHeldTake(void);

/*
 * In any one thread, with NULL, too: prepare all records as they are, see
 * Ns_LogStreamPrepare; that they do not count any more; put them with so many
 * bytes less than they say.  Put ends heldPtr.
 */
void NsHeldPrepare(NsHeld *heldPtr);
void NsHeldForget(NsHeld *heldPtr);
void NsHeldPut(NsHeld *heldPtr, int64_t missing);

#endif

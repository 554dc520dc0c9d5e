/*
 * ready.h --
 *
 *      From a complete message to an answer or to a pool.
 */

#ifndef NSD_REQUEST_READY_H
#define NSD_REQUEST_READY_H

#include "net/message.h"

/*
 * See NsReadyProc.
 */
void NsRequestReady(NsMessage *messagePtr);

#endif

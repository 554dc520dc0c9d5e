/* SPDX-License-Identifier: MPL-2.0
 * ready.h --
 *
 *      From a complete message to an answer or to a pool.
 */

#ifndef NSD_REQUEST_READY_H
#define NSD_REQUEST_READY_H

#include "dispatch/pool.h"
#include "net/message.h"

/*
 * See NsReadyProc.
 */
void NsRequestReady(NsMessage *messagePtr);

/*
 * Answer 503 instead of running the request, for lack of a thread; any thread.
 * The request is gone when this returns.
 */
void NsConnRefuse(NsWork *workPtr);

#endif

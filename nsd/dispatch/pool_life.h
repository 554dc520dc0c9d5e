/* SPDX-License-Identifier: MPL-2.0
 * pool_life.h --
 *
 *      Start and stop of the pools of a server.
 */

#ifndef NSD_DISPATCH_POOL_LIFE_H
#define NSD_DISPATCH_POOL_LIFE_H

#include "dispatch/pool.h"

/*
 * Start minthreads threads in each pool of the server; begin to stop; wait
 * until all are gone (NS_OK) or the deadline, an absolute time, has passed
 * (NS_TIMEOUT).  Stop and Wait log what they do.
 */
void          NsPoolsStart(NsServer *serverPtr);
void          NsPoolsStop(NsServer *serverPtr);
Ns_ReturnCode NsPoolsWait(NsServer *serverPtr, const Ns_Time *deadlinePtr);

/*
 * Log the requests that run, which the stop waits for.
 */
void NsPoolsTellRunning(NsServer *serverPtr);

#endif

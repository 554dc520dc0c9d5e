/* SPDX-License-Identifier: MPL-2.0
 * driver.h --
 *
 *      Drivers: threads that accept connections and read requests.
 */

#ifndef NSD_NET_DRIVER_H
#define NSD_NET_DRIVER_H

#include "net/sock.h"

/*
 * Start all registered drivers: returns when each listens.  NS_ERROR when one
 * cannot; the reason is logged.
 */
Ns_ReturnCode NsDriversStart(void);

/*
 * True from NsDriversStop on: replies say `Connection: close`.  Any thread.
 */
bool NsDriversStopping(void);

/*
 * Whether the threads of drivers and writers have turned since the last call.
 */
bool NsDriversTurn(void);

/*
 * How many connections all drivers have now.  Any thread, while the server
 * runs.
 */
int NsDriversConnections(void);

/*
 * Stop accepting.  Requests in the making, and those that come within a moment
 * on connections that were accepted, are still handed over (see handover.h).
 * Wait ends driver, spooler and writer threads when their work is done, or at
 * the deadline.
 */
void NsDriversStop(void);
void NsDriversWait(const Ns_Time *deadlinePtr);

/*
 * Writer threads alone: stop when empty or at the deadline.
 */
void NsWritersStop(const Ns_Time *deadlinePtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * driver_thread.h --
 *
 *      Driver threads: events, sockets that come back, time limits, and the
 *      end.
 */

#ifndef NSD_NET_DRIVER_THREAD_H
#define NSD_NET_DRIVER_THREAD_H

#include "net/driver_int.h"

NsDriverThread *NsDriverThreadCreate(NsDriver *drvPtr, int index);

#endif

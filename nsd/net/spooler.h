/* SPDX-License-Identifier: MPL-2.0
 * spooler.h --
 *
 *      Spooler threads: they receive large bodies for driver threads.
 */

#ifndef NSD_NET_SPOOLER_H
#define NSD_NET_SPOOLER_H

#include "net/driver_int.h"

NsDriverThread *NsSpoolerCreate(NsDriver *drvPtr, int index);

#endif

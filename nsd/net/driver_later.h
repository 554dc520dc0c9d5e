/* SPDX-License-Identifier: MPL-2.0
 * driver_later.h --
 *
 *      Drivers that are written for 4.99.33 and later.
 */

#ifndef NSD_NET_DRIVER_LATER_H
#define NSD_NET_DRIVER_LATER_H

#include "nsdriver.h"

/*
 * What a driver without those fields has.  Constant; lives as long as the
 * process.
 */
typedef struct NsDriverLater {
    Ns_DriverInitData_33 procs;     /* 0 beyond the announced version. */
    bool                 isUntimed; /* Sending takes no time limit. */
} NsDriverLater;

/*
 * The procedures of such a driver behind those of 4.99.5, which the rest of the
 * server calls.
 */
void NsDriverLaterAdapt(const NsDriverLater  *laterPtr,
                        Ns_DriverInitData_05 *procsPtr);

#endif

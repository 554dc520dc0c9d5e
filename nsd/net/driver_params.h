/* SPDX-License-Identifier: MPL-2.0
 * driver_params.h --
 *
 *      What the configuration sets for drivers.
 */

#ifndef NSD_NET_DRIVER_PARAMS_H
#define NSD_NET_DRIVER_PARAMS_H

#include "net/driver_int.h"

void NsDriverParamsInit(void);

/*
 * False: it cannot be listened, and the log says why.
 */
bool         NsDriverParamsRead(NsDriver *drvPtr);
NsPollerKind NsDriverPollerKind(void);

#endif

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

/*
 * Raise the soft limit of descriptors to what all drivers need.
 */
void NsDriverRaiseLimit(void);

/*
 * The limits of a head that begins now.
 */
static inline NsParseLimits
NsDriverParseLimits(const NsDriverParams *paramsPtr)
{
    return (NsParseLimits){.maxLineBytes = (size_t) paramsPtr->maxLineBytes,
                           .maxHeadBytes = (size_t) paramsPtr->maxHeadBytes,
                           .maxFields = paramsPtr->maxFields,
                           .isLfStrict = paramsPtr->isLfStrict,
                           .allowsHttp09 = paramsPtr->allowsHttp09};
}

#endif

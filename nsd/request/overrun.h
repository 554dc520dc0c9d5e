/* SPDX-License-Identifier: MPL-2.0
 * overrun.h --
 *
 *      What an operator has to know of a pool that is full.
 */

#ifndef NSD_REQUEST_OVERRUN_H
#define NSD_REQUEST_OVERRUN_H

#include "dispatch/pool.h"

/*
 * See NsPoolProcs.
 */
void NsRequestTellOverrun(NsPool *poolPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * binder.h --
 *
 *      The helper that binds what the process may not.
 */

#ifndef NSD_PROCESS_BINDER_H
#define NSD_PROCESS_BINDER_H

#include "process/prebind.h"

/*
 * The helper: start it as root, ask it for a bound socket (-1 with errno;
 * ENOTCONN without a helper), end it.
 */
void NsBinderInit(void);
void NsBinderStart(void);
int  NsBinderBind(const NsPrebindSpec *specPtr);
void NsBinderStop(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * sls.h --
 *
 *      Socket-local storage.
 */

#ifndef NSD_NET_SLS_H
#define NSD_NET_SLS_H

#include "net/driver_int.h"

void NsSlsInit(void);
void NsSlsFree(NsSock *sockPtr);

#endif

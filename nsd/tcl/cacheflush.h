/* SPDX-License-Identifier: MPL-2.0
 * cacheflush.h --
 *
 *      Flushing caches of scripts, here and on other machines.
 */

#ifndef NSD_TCL_CACHEFLUSH_H
#define NSD_TCL_CACHEFLUSH_H

#include "tcl/broadcast.h"
#include "tcl/tclcache.h"

/*
 * Flush, and tell it on the cache's channel, if it has one.  How many values
 * there were here.
 */
int NsCacheFlush(NsServer *serverPtr, NsTclCache *cachePtr,
                 const NsBroadcastKeys *keysPtr);

/*
 * Once, before the configuration is read.
 */
void NsCacheFlushInit(void);

#endif

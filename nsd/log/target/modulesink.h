/* SPDX-License-Identifier: MPL-2.0
 * modulesink.h --
 *
 *      Sinks of the types that modules bring; see nslogsink.h.
 */

#ifndef NSD_LOG_TARGET_MODULESINK_H
#define NSD_LOG_TARGET_MODULESINK_H

#include "nslogsink.h"

/*
 * Add the type to those of sinktype.h; both live on.  False: there is another
 * one of that name, or no room.
 */
bool NsModuleSinkAdd(const Ns_LogSinkType  *typePtr,
                     const Ns_LogSinkValue *defaults);

#endif

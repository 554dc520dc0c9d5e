/* SPDX-License-Identifier: MPL-2.0
 * filter.h --
 *
 *      Procedures that see each entry of the system log before it is written.
 */

#ifndef NSD_LOG_FILTER_H
#define NSD_LOG_FILTER_H

#include "log/stream/line.h"

void NsFilterInit(void);

/*
 * Call the filters, newest first, until one does not return NS_OK.
 */
void NsFilterRun(const NsLogEntry *entryPtr);

/*
 * True while the calling thread runs a filter.
 */
bool NsFilterIsRunning(void);

#endif

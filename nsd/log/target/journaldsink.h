/* SPDX-License-Identifier: MPL-2.0
 * journaldsink.h --
 *
 *      Sinks that hand records to journald, the log of systemd.
 */

#ifndef NSD_LOG_TARGET_JOURNALDSINK_H
#define NSD_LOG_TARGET_JOURNALDSINK_H

#include "log/sink/sinktype.h"

extern const NsSinkType nsJournaldSinkType;

#endif

/* SPDX-License-Identifier: MPL-2.0
 * target.h --
 *
 *      The types of sinks that are the server's own.
 */

#ifndef NSD_LOG_TARGET_H
#define NSD_LOG_TARGET_H

#include "log/sink/sinktype.h"

extern const NsSinkType nsFileSinkType;
extern const NsSinkType nsStdoutSinkType;
extern const NsSinkType nsStderrSinkType;
extern const NsSinkType nsSyslogSinkType;
extern const NsSinkType nsFdSinkType;

/*
 * The text of an option; NULL: it is empty.
 */
static inline const char *
NsTargetText(const Ns_LogSinkValue *valuePtr)
{
    return *valuePtr->text == '\0' ? NULL : valuePtr->text;
}

#endif

/* SPDX-License-Identifier: MPL-2.0
 * otlpsink.h --
 *
 *      Sinks that send records to a collector of OpenTelemetry.
 */

#ifndef NSD_LOG_TARGET_OTLPSINK_H
#define NSD_LOG_TARGET_OTLPSINK_H

#include "log/sink/sinktype.h"

extern const NsSinkType nsOtlpSinkType;

#endif

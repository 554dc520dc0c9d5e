/* SPDX-License-Identifier: MPL-2.0
 * targetcheck.h --
 *
 *      What must hold whenever a type of sinks gets bytes to write.
 */

#ifndef NSD_LOG_TARGETCHECK_H
#define NSD_LOG_TARGETCHECK_H

#include "nslogstream.h"

/*
 * The sink is locked, and the bytes are all of its buffer that has not been
 * written.  Of constant cost.
 */
void NsTargetCheckWrite(Ns_LogSink sink, const char *bytes, size_t length);

/*
 * All of the buffer has been written, and waits to be confirmed.
 */
void NsTargetCheckWritten(Ns_LogSink sink);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * json.h --
 *
 *      Writing JSON (RFC 8259) into a line.
 */

#ifndef NSD_LOG_JSON_H
#define NSD_LOG_JSON_H

#include "log/stream/line.h"

/*
 * A string in quotes, and without.  Bytes that are not UTF-8 become U+FFFD.
 */
void NsJsonString(NsLogOut *outPtr, const char *bytes, size_t length);
void NsJsonText(NsLogOut *outPtr, const char *bytes, size_t length);

/*
 * How many of the first bytes are ASCII that needs no escape: not even `"` and
 * `\`.
 */
size_t NsJsonPlainRun(const char *bytes, size_t length);

/*
 * "name": with a comma before it, unless it is the first of its object.
 */
void NsJsonName(NsLogOut *outPtr, const char *name, bool isFirst);

/*
 * A wall clock time as "2026-11-21T00:07:00.123456Z", and a duration in seconds
 * with six decimals.
 */
void NsJsonTime(NsLogOut *outPtr, int64_t nanos);
void NsJsonSeconds(NsLogOut *outPtr, int64_t micros);

#endif

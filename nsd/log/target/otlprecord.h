/* SPDX-License-Identifier: MPL-2.0
 * otlprecord.h --
 *
 *      Records in the JSON of OTLP, the OpenTelemetry protocol: what is called
 *      LogRecord there.
 */

#ifndef NSD_LOG_TARGET_OTLPRECORD_H
#define NSD_LOG_TARGET_OTLPRECORD_H

#include "log/stream/line.h"
#include "nslogstream.h"

/*
 * What it needs to put a record.
 */
typedef struct NsOtlpScratch {
    char  *line;
    size_t room;
} NsOtlpScratch;

/*
 * One object, without a newline.  False: the record makes none.
 */
bool NsOtlpPutRecord(Ns_LogSink sink, Ns_LogStream stream,
                     const Ns_LogRecord *recordPtr, NsOtlpScratch *scratchPtr,
                     NsLogOut *outPtr);

/*
 * An attribute whose value is a text: an object, a comma before it unless it is
 * the first.
 */
void NsOtlpPutText(NsLogOut *outPtr, const char *key, const char *bytes,
                   size_t length, bool isFirst);

/*
 * The answer to a request, in JSON: how many records the server did not take,
 * and why, as far as there is room.  0: all are taken, or the text says
 * nothing.
 */
uint64_t NsOtlpRejected(const char *text, size_t length, char *reason,
                        size_t size);

/*
 * The answer to a request that failed: what the server says of it in JSON, as
 * far as there is room; "": nothing.
 */
void NsOtlpMessage(const char *text, size_t length, char *message, size_t size);

#endif

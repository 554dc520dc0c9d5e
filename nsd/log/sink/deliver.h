/* SPDX-License-Identifier: MPL-2.0
 * deliver.h --
 *
 *      How a record gets into the buffer of a sink, and when the buffer is
 *      written.  Call with the sink locked.
 */

#ifndef NSD_LOG_DELIVER_H
#define NSD_LOG_DELIVER_H

#include "log/sink/sink_int.h"

typedef struct NsGap NsGap;

/*
 * Add one record to the buffer.  False: the buffer is full and writing fails.
 */
bool NsDeliverRecord(Ns_LogSink sink, Ns_LogStream stream,
                     const Ns_LogRecord *recordPtr);

/*
 * Add a line about entries that were left out because they were equal to the
 * one before, if there are any.  False: as above.
 */
bool NsDeliverRepeats(Ns_LogSink sink);

/*
 * Add a line about records that maxrate has left out in a period that is over,
 * if there are any.  False: as above.
 */
bool NsDeliverLeftOut(Ns_LogSink sink);

/*
 * Write the buffer and move the cursors.  False: writing failed, and the buffer
 * keeps its lines.
 */
bool NsDeliverFlush(Ns_LogSink sink);

/*
 * When the buffer may be written.
 */
typedef enum {
    NS_FLUSH_FOR_ROOM,   /* Another record is to be added. */
    NS_FLUSH_AFTER_PASS, /* A worker has read the lanes, */
    NS_FLUSH_IN_TIME,    /* or has done so because the time is up; */
    NS_FLUSH_BY_CALLER   /* or a thread that logs has, and waits. */
} NsFlushOccasion;

/*
 * Carry out what is due now.  Returns when to call again; 0: no need to.
 */
int64_t NsDeliverDue(Ns_LogSink sink, NsFlushOccasion occasion);

/*
 * Write a line about the sink's own state into the sink itself.  False: not
 * now, because writing fails.
 */
bool NsDeliverNote(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt,
                   ...) NS_GNUC_PRINTF(3, 4);

/*
 * Write a line about missing records: dropped by the stream's overflow rule,
 * or, if stream is NULL, because of the sink.
 */
bool NsDeliverNoteGap(Ns_LogSink sink, Ns_LogStream stream,
                      const NsGap *gapPtr);

#endif

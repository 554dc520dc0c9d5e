/*
 * deliver.h --
 *
 *      A record's way into the buffer of a sink, and when that is written.
 *      With the sink locked.
 */

#ifndef NSD_LOG_DELIVER_H
#define NSD_LOG_DELIVER_H

#include "log/sink/sink_int.h"

/*
 * Add one record to the buffer.  False: there is no room, writing fails.
 */
bool NsDeliverRecord(Ns_LogSink sink, Ns_LogStream stream,
                     const Ns_LogRecord *recordPtr);

/*
 * Write the buffer and move the cursors.  False: it failed, and stays.
 */
bool NsDeliverFlush(Ns_LogSink sink);

/*
 * When the buffer may be written.
 */
typedef enum {
    NS_FLUSH_FOR_ROOM,   /* Another record is to be added. */
    NS_FLUSH_AFTER_PASS, /* A worker has read the lanes, or did so */
    NS_FLUSH_IN_TIME,    /* since the time is up; */
    NS_FLUSH_BY_CALLER   /* one who logs has, and waits for that. */
} NsFlushOccasion;

/*
 * Carry out what is due now; when to come again, 0: no need to.
 */
int64_t NsDeliverDue(Ns_LogSink sink, NsFlushOccasion occasion);

/*
 * Write a line into the sink itself: about its own state.  False: not now,
 * since writing fails.
 */
bool NsDeliverNote(Ns_LogSink sink, Ns_LogSeverity severity, const char *fmt,
                   ...) NS_GNUC_PRINTF(3, 4);

/*
 * Write a line about records that are missing: dropped by the rule of the
 * stream, or, NULL, because of the sink.
 */
bool NsDeliverNoteGap(Ns_LogSink sink, Ns_LogStream stream,
                      const NsGap *gapPtr);

#endif

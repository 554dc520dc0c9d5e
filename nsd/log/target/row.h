/* SPDX-License-Identifier: MPL-2.0
 * row.h --
 *
 *      Records as rows of a database, in a sink's buffer.
 *
 *      Every sink that writes to a database has the same columns: time, stream,
 *      severity, record.
 */

#ifndef NSD_LOG_ROW_H
#define NSD_LOG_ROW_H

#include "log/stream/line.h"
#include "nslogsink.h"
#include "nslogstream.h"
#include "nsstring.h"

/*
 * Which server the positions belong to; several may write to one database.
 */
void NsRowAppendServer(Ns_DString *dsPtr);

/*
 * Put a record into the buffer, like a format procedure of a stream.
 */
size_t NsRowFormat(Ns_LogSink sink, Ns_LogStream stream,
                   const Ns_LogRecord *recordPtr, char *buffer, size_t room);

/*
 * The row at bytes; how many bytes it takes there.  Texts point into these.
 */
size_t NsRowParse(const char *bytes, Ns_LogRow *rowPtr);

#endif

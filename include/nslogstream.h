/* SPDX-License-Identifier: MPL-2.0
 * nslogstream.h --
 *
 *      Log streams and sinks for modules.
 *
 *      A stream takes records from any thread.  A record is a severity, a time,
 *      and bytes in a form of the module's own.  Each sink of the stream has
 *      the bytes turned into lines by the stream's format procedure, in its log
 *      thread, and writes the lines to its file.  Putting a record into a
 *      stream takes no lock and waits for nothing, until the log memory is
 *      full.
 *
 *      Streams and sinks live as long as the process.
 */

#ifndef NSLOGSTREAM_H
#define NSLOGSTREAM_H

#include "nstypes.h"

typedef struct Ns_LogStream_ *Ns_LogStream;
typedef struct Ns_LogSink_   *Ns_LogSink;

/*
 * The argument of a format procedure.
 */
typedef struct Ns_LogRecord {
    const char *stream;   /* Name of the stream. */
    int         severity; /* Ns_LogSeverity. */
    int64_t     time;     /* Wall clock, nanoseconds since 1970. */
    const void *bytes;    /* 8-byte aligned. */
    size_t      length;
} Ns_LogRecord;

/*
 * Write the line of a record, newline included, to buffer, and return its
 * length.  A length greater than room, which may be more than the line needs:
 * the procedure is called again with so much room, and what it wrote is not
 * used.  0: the record makes no line.
 *
 * It runs in a log thread, or in the thread that puts the record, and after a
 * crash with records of an earlier process: it must not follow pointers in
 * them.
 */
typedef size_t Ns_LogFormatProc(char *buffer, size_t room,
                                const Ns_LogRecord *recordPtr, void *arg);

/*
 * The stream of that name, created if there is none.  A sink that wants
 * `access` also gets the records of streams like `access/server/module`.  NULL,
 * with errno and an Error in the system log: there are as many streams as there
 * can be, see the parameter maxlogs; or the name has more than 127 bytes.
 */
NS_EXTERN Ns_LogStream Ns_LogStreamCreate(const char       *name,
                                          Ns_LogFormatProc *proc, void *arg);

/*
 * Another format that sinks can ask for: "common", "combined" or "json".
 * NS_ERROR: there is no format of that name.
 */
NS_EXTERN int Ns_LogStreamAddFormat(Ns_LogStream stream, const char *format,
                                    Ns_LogFormatProc *proc, void *arg);

/*
 * False: no sink wants what the stream gets.
 */
NS_EXTERN int Ns_LogStreamWanted(Ns_LogStream stream);

/*
 * Put a record made of n pieces, in this order.  NS_ERROR: the memory is full
 * and the stream's overflow rule dropped it.
 */
NS_EXTERN int Ns_LogStreamPut(Ns_LogStream stream, Ns_LogSeverity severity,
                              const struct iovec *pieces, int n);

/*
 * Leave a record that counts only if the process dies before this thread's next
 * Ns_LogStreamPut into the stream, which replaces it; or another call of this,
 * or Forget.  Of the record and its replacement, exactly one reaches the sinks
 * that log threads write.  NS_ERROR: as for Ns_LogStreamPut.
 */
NS_EXTERN int  Ns_LogStreamPrepare(Ns_LogStream stream, Ns_LogSeverity severity,
                                   const struct iovec *pieces, int n);
NS_EXTERN void Ns_LogStreamForget(Ns_LogStream stream);

/*
 * The bytes of that record, until the thread's next call of one of these or
 * Put: what replaces it may have pieces of them.  NULL: there is none.
 */
NS_EXTERN const void *Ns_LogStreamPrepared(Ns_LogStream stream,
                                           size_t      *lengthPtr);

/*
 * The records of the stream tell, as an int64_t at that offset, which is not 0,
 * how many bytes of a reply were sent.  What an access procedure puts while a
 * part of the reply still waits for the client is kept back until that is sent
 * or given up, and the number is put right then.
 */
NS_EXTERN void Ns_LogStreamSetBytesSent(Ns_LogStream stream, size_t offset);

/*
 * A sink that writes one stream to a file.  Strings are copied.
 */
typedef struct Ns_LogSinkSpec {
    const char  *name; /* Unique; identifies it after a crash. */
    Ns_LogStream stream;
    const char  *file;         /* Absolute. */
    size_t       bufferBytes;  /* Collected before a write; 0: none. */
    int          bufferLines;  /* Lines likewise; 0: no such limit. */
    bool         mayOpenLater; /* If it cannot be opened now, lines wait. */
    const char  *rollFormat;   /* See Ns_LogSinkSetBackups. */
    int          maxBackup;    /* 0: 10. */
} Ns_LogSinkSpec;

/*
 * NULL: the file could not be opened; errno says why.
 */
NS_EXTERN Ns_LogSink Ns_LogSinkOpen(const Ns_LogSinkSpec *specPtr);

/*
 * Each of these takes effect between two records: those put before by this
 * thread, and finished by others, are written the old way.  Any thread, but not
 * from a format procedure; the caller waits until it is done.  NS_ERROR: errno
 * tells why.
 *
 * Reopen: write out, and go on with another file (NULL: the same path
 * again).  If it cannot be opened, lines are dropped until it can.
 *
 * Roll: write out, call rename with the file's path, and reopen the file in any
 * case; if the last line for the old one cannot be written, as soon as it can.
 * The result is that of rename, which sets errno.
 *
 * SetBackups: how rolls by size and by the calendar name backups, and how many
 * they keep; the format as for Ns_RollFileByFormat.
 *
 * Close: write out; later lines are dropped.  NS_ERROR: that failed, and what
 * waits is tried again as long as the process lasts.
 */
typedef int Ns_LogRenameProc(const char *file, void *arg);

NS_EXTERN int Ns_LogSinkFlush(Ns_LogSink sink);
NS_EXTERN int Ns_LogSinkReopen(Ns_LogSink sink, const char *file);
NS_EXTERN int Ns_LogSinkRoll(Ns_LogSink sink, Ns_LogRenameProc *rename,
                             void *arg);
NS_EXTERN int Ns_LogSinkSetLines(Ns_LogSink sink, int bufferLines);
NS_EXTERN int Ns_LogSinkSetBackups(Ns_LogSink sink, const char *rollFormat,
                                   int maxBackup);
NS_EXTERN int Ns_LogSinkClose(Ns_LogSink sink);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * engine.h --
 *
 *      The log engine as the benchmarks use it: one stream, and one file that
 *      gets its lines.
 */

#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "log/init.h"
#include "log/stream/stream.h"
#include "ns.h"

typedef struct BenchLog {
    Ns_LogStream stream;
    Ns_LogSink   sink;
} BenchLog;

/*
 * Records that are lines.
 */
static inline size_t
BenchCopy(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    if (recordPtr->length <= room) {
        memcpy(buffer, recordPtr->bytes, recordPtr->length);
    }
    return recordPtr->length;
}

/*
 * Everything but NsLogStart.  With memoryBytes, the log memory has this size
 * and is in the directory, too.
 */
static inline BenchLog
BenchOpenLog(const char *directory, const char *file, Ns_LogFormatProc *format,
             int64_t memoryBytes)
{
    char     systemLog[512];
    BenchLog log;

    snprintf(systemLog, sizeof(systemLog), "%s/system.log", directory);
    Tcl_FindExecutable("bench");
    Nsthreads_LibInit();
    NsLogInit();
    NsLogConfigure(&(NsLogSettings){
        .file = systemLog,
        .notice = true,
        .sanitize = 2,
        .isAsync = true,
        .memoryBytes = memoryBytes,
        .ringDirectory = memoryBytes > 0 ? directory : NULL,
        .home = directory});
    log.stream = Ns_LogStreamCreate("bench", format, NULL);
    /* Whoever is faster than the disk waits: all lines count. */
    NsStreamSetOverflow(log.stream, NS_OVERFLOW_BLOCK);
    log.sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "bench",
        .stream = log.stream,
        .file = file,
        .bufferBytes = 65536});
    if (log.sink == NULL) {
        perror(file);
        exit(1);
    }
    return log;
}

#endif

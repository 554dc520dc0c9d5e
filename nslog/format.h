/*
 * format.h --
 *
 *      An access record, and the line it becomes.
 *
 *      The record says all that the line needs, the chosen layout included, so
 *      it can be turned into a line by any thread, later, or by another
 *      process.
 */

#ifndef NSLOG_FORMAT_H
#define NSLOG_FORMAT_H

#include "ns.h"

#define LOG_COMBINED      0x01
#define LOG_FMTTIME       0x02
#define LOG_REQTIME       0x04
#define LOG_PARTIALTIMES  0x08
#define LOG_CHECKFORPROXY 0x10
#define LOG_SUPPRESSQUERY 0x20

/*
 * The strings follow in the order of their lengths, then for each of nHeaders
 * its name and its value, each a uint32_t and as many bytes.
 */
typedef struct AccessRecord {
    uint32_t flags;
    int32_t  status;
    int64_t  bytesSent;
    int64_t  start;             /* Microseconds since 1970. */
    int64_t  acceptSpan;        /* Microseconds. */
    int64_t  queueSpan;
    int64_t  filterSpan;
    int64_t  runSpan;
    uint32_t peerLength;
    uint32_t userLength;
    uint32_t requestLength;
    uint32_t refererLength;
    uint32_t agentLength;
    uint32_t nHeaders;
} AccessRecord;

/*
 * Arg: NULL, or the flags (uint32_t) to use in place of the record's.
 */
Ns_LogFormatProc NsLogAccessLine;

/*
 * One object with all that the record has, whatever its flags.
 */
Ns_LogFormatProc NsLogAccessJson;

#endif

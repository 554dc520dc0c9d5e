/* SPDX-License-Identifier: MPL-2.0
 * nsaccessline.h --
 *
 *      An access record, and the line it becomes.
 *
 *      The record says all that the line needs, the chosen layout included, so
 *      it can be turned into a line by any thread, later, or by another
 *      process.
 */

#ifndef NSACCESSLINE_H
#define NSACCESSLINE_H

#include "nslogstream.h"

#define NS_ACCESS_COMBINED      0x01
#define NS_ACCESS_FMTTIME       0x02
#define NS_ACCESS_REQTIME       0x04
#define NS_ACCESS_PARTIALTIMES  0x08
#define NS_ACCESS_CHECKFORPROXY 0x10
#define NS_ACCESS_SUPPRESSQUERY 0x20
#define NS_ACCESS_THREADNAME    0x40 /* It is the first of the headers. */
#define NS_ACCESS_REQUESTID     0x80 /* The id is the next one, in records. */
#define NS_ACCESS_TRACEID       0x100
#define NS_ACCESS_SPANID        0x200

/*
 * The settings of a section of an access log; with NS_ACCESS_CHECKFORPROXY, the
 * client is the one that proxies name.  Values out of range are clamped, with a
 * Warning.
 */
typedef struct Ns_AccessParams {
    const char *file;
    int         flags;
    int         maxBuffer;  /* Lines; 0: each is written separately. */
    const char *rollFormat; /* NULL or "": numbers. */
    int         maxBackup;
    bool        rollsDaily;
    int         rollHour;
    bool        rollsOnSignal;
    bool        masksPeer;
    const char *driver; /* Pattern of drivers; NULL or "": all. */
    const char *maskIpv4;
    const char *maskIpv6;
} Ns_AccessParams;

#define NS_ACCESS_MAX_BACKUP 999 /* By number; by date, any. */

NS_EXTERN void Ns_AccessParamsRead(const char      *section,
                                   Ns_AccessParams *paramsPtr);

/*
 * Append the header fields that the format of the section asks for, as elements
 * of a list such as extendedheaders.
 */
NS_EXTERN void Ns_AccessParamsHeaders(const char *section, Ns_DString *dsPtr);

/*
 * The strings follow in the order of their lengths, then for each of nHeaders
 * its name and its value, each a uint32_t and as many bytes.
 */
typedef struct Ns_AccessRecord {
    uint32_t flags;
    int32_t  status;
    int64_t  bytesSent;
    int64_t  start;      /* Microseconds since 1970. */
    int64_t  acceptSpan; /* Microseconds. */
    int64_t  queueSpan;
    int64_t  filterSpan;
    int64_t  runSpan;
    uint32_t peerLength;
    uint32_t userLength;
    uint32_t requestLength;
    uint32_t refererLength;
    uint32_t agentLength;
    uint32_t nHeaders;
} Ns_AccessRecord;

/*
 * Arg: NULL, or the flags (uint32_t) to use in place of the record's.
 */
NS_EXTERN size_t Ns_LogAccessLine(char *buffer, size_t room,
                                  const Ns_LogRecord *recordPtr, void *arg);

/*
 * One object with all that the record has, whatever its flags.
 */
NS_EXTERN size_t Ns_LogAccessJson(char *buffer, size_t room,
                                  const Ns_LogRecord *recordPtr, void *arg);

/*
 * The stream of that name, which takes such records, in the formats native (as
 * a record says), common, combined, and json.
 */
NS_EXTERN Ns_LogStream Ns_LogAccessStream(const char *name);

#endif

/*
 * audit.h --
 *
 *      The stream `audit`: who did what.
 */

#ifndef NSD_LOG_AUDIT_H
#define NSD_LOG_AUDIT_H

#include "nslog.h"
#include "nslogstream.h"

void NsAuditInit(void);

typedef struct NsAuditRecord {
    const char        *kind;
    const char        *server;  /* These three may be NULL. */
    const char        *peer;
    const char        *user;
    int                nWords;  /* Keys and values by turns. */
    const char *const *words;
} NsAuditRecord;

/*
 * Write an audit record.  With isDurable, return when every sink of the stream
 * has it on disk, or committed.  NS_ERROR: it is not, and errno tells why; ENODEV:
 * no sink takes the stream, ENOMSG: all of its sinks ignore the record; else
 * *failedPtr is the sink that could not, ENOTSUP: and never can.
 */
Ns_ReturnCode NsAuditWrite(const NsAuditRecord *recordPtr, bool isDurable,
                           Ns_LogSink *failedPtr);

/*
 * The kind of a record of the stream; NULL: it is damaged.
 */
const char *NsAuditKind(const Ns_LogRecord *recordPtr);

#endif

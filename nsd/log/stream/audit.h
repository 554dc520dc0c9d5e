/* SPDX-License-Identifier: MPL-2.0
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
    const char        *server; /* These three may be NULL. */
    const char        *peer;
    const char        *user;
    int                nWords; /* Keys and values by turns. */
    const char *const *words;
} NsAuditRecord;

/*
 * Write an audit record.  NS_ERROR: it is lost, and errno says why; ENODEV: no
 * sink takes the stream, ENOMSG: all of its sinks ignore the record.
 */
Ns_ReturnCode NsAuditWrite(const NsAuditRecord *recordPtr);

/*
 * The kind of a record of the stream; NULL: it is damaged.
 */
const char *NsAuditKind(const Ns_LogRecord *recordPtr);

#endif

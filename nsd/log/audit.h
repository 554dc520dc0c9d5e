/*
 * audit.h --
 *
 *      The stream `audit`: who did what.
 */

#ifndef NSD_LOG_AUDIT_H
#define NSD_LOG_AUDIT_H

#include "nslog.h"

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
 * has it on disk.  NS_ERROR: it is not, or no sink takes the stream; errno
 * tells why.
 */
Ns_ReturnCode NsAuditWrite(const NsAuditRecord *recordPtr, bool isDurable);

#endif

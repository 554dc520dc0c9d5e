/* SPDX-License-Identifier: MPL-2.0
 * identity.h --
 *
 *      The ids under which logs of several programs know one request.
 */

#ifndef NSD_LOG_IDENTITY_H
#define NSD_LOG_IDENTITY_H

typedef struct NsLogIdentity {
    const char *requestId; /* NULL: none. */
    const char *traceId;   /* Likewise; 32 hexadecimal digits. */
    const char *spanId;    /* With traceId: 16 of the span before this. */
} NsLogIdentity;

/*
 * That of the request which the calling thread serves: what it logs has these
 * ids.  NULL: none.  Owned by whoever sets it.
 */
extern _Thread_local const NsLogIdentity *nsLogIdentity;

/*
 * That, or one without ids.
 */
const NsLogIdentity *NsLogIdentityGet(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * status.h --
 *
 *      Status codes: their reason phrases, and names of many of them.
 */

#ifndef NSD_HTTP_STATUS_H
#define NSD_HTTP_STATUS_H

#include "nstypes.h"

/*
 * Never NULL: `Unknown Reason` for a code without one.
 */
const char *NsStatusReason(int status);

/*
 * Whether a reply of that status ends with its head, and tells no length (RFC
 * 9110 8.6, 15.4.5): 1xx, 204, 304.
 */
static inline bool
NsStatusHasNoBody(int status)
{
    return status / 100 == 1 || status == 204 || status == 304;
}

/*
 * The statuses that a key stands for: a number from 100 to 999 for itself, 4xx
 * and 5xx for those without a key of their own (NS_STATUS_CLASS), default for
 * all other errors (NS_STATUS_DEFAULT).  False: it is none of these.
 */
#define NS_STATUS_CLASS(status) ((status) / 100)
#define NS_STATUS_DEFAULT       0

bool NsStatusKeyParse(const char *key, int *statusPtr);

#endif

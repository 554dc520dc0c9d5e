/* SPDX-License-Identifier: MPL-2.0
 * status.h --
 *
 *      Reason phrases of status codes.
 */

#ifndef NSD_HTTP_STATUS_H
#define NSD_HTTP_STATUS_H

/*
 * Never NULL: `Unknown Reason` for a code without one.
 */
const char *NsStatusReason(int status);

#endif

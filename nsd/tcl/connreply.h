/* SPDX-License-Identifier: MPL-2.0
 * connreply.h --
 *
 *      The options of ns_conn about the reply.
 */

#ifndef NSD_TCL_CONNREPLY_H
#define NSD_TCL_CONNREPLY_H

#include "tcl/connoption.h"

extern NsConnOptionProc NsConnOptionStatus, NsConnOptionKeepAlive,
    NsConnOptionCompress, NsConnOptionEncoding, NsConnOptionUrlEncoding,
    NsConnOptionContentSentLength, NsConnOptionClientData, NsConnOptionCloseNow,
    NsConnOptionFlags, NsConnOptionZipAccepted, NsConnOptionAcceptedCompression,
    NsConnOptionStart, NsConnOptionTimeout, NsConnOptionTimeLimit,
    NsConnOptionPartialTimes, NsConnOptionRateLimit, NsConnOptionChannel;

#endif

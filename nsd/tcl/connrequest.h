/* SPDX-License-Identifier: MPL-2.0
 * connrequest.h --
 *
 *      The options of ns_conn about the request's target, its host, and what
 *      its header says of the client.
 */

#ifndef NSD_TCL_CONNREQUEST_H
#define NSD_TCL_CONNREQUEST_H

#include "tcl/connoption.h"

extern NsConnOptionProc NsConnOptionTarget, NsConnOptionFragment,
    NsConnOptionUrlDict, NsConnOptionHost, NsConnOptionPort,
    NsConnOptionProtocol, NsConnOptionContentType, NsConnOptionPrivacy,
    NsConnOptionDetails, NsConnOptionClientCert, NsConnOptionCurrentAddr,
    NsConnOptionCurrentPort, NsConnOptionRequestId, NsConnOptionTraceParent;

#endif

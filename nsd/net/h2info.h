/* SPDX-License-Identifier: MPL-2.0
 * h2info.h --
 *
 *      What streams of HTTP/2 have for their clients, for those who ask: as
 *      jobs of writer threads, which streams have no need of.
 */

#ifndef NSD_NET_H2INFO_H
#define NSD_NET_H2INFO_H

#include "net/h2_int.h"

/*
 * The reply is one that may wait: show it, until it is no more.  The thread
 * that answers; and the driver thread, also if it is not shown.
 */
void NsH2InfoShow(NsH2Stream *streamPtr);
void NsH2InfoHide(NsH2Stream *streamPtr);

/*
 * Those of the thread's connections that wait now, as NsWriterAppendList.
 */
void NsH2InfoAppend(NsDriverThread *threadPtr, Ns_DString *dsPtr,
                    const char *server, bool isLong);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * writer_info.h --
 *
 *      What writer threads are doing, for those who ask.
 */

#ifndef NSD_NET_WRITER_INFO_H
#define NSD_NET_WRITER_INFO_H

#include "net/driver_int.h"

void NsWriterAppendList(NsWriter *writerPtr, Ns_DString *dsPtr,
                        const char *server, bool isLong);
void NsWriterAppendStats(NsWriter *writerPtr, Ns_DString *dsPtr);

#endif

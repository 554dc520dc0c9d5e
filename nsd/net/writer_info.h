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
/*
 * The element of a list for one reply.
 */
typedef struct NsWriterEntry {
    NsStamp        queueStamp; /* Of the request. */
    NsStamp        startStamp; /* Of the reply. */
    const char    *thread;
    const char    *driver;
    const char    *pool;
    const char    *peer;
    int            fd;
    int64_t        remaining; /* Bytes. */
    int64_t        sent;
    NsRate *const *rates;
    int            nRates;
    const char    *clientData; /* Or NULL. */
} NsWriterEntry;

void NsWriterAppendEntry(Ns_DString *dsPtr, const NsWriterEntry *entryPtr,
                         bool isLong);

void NsWriterAppendStats(NsWriter *writerPtr, Ns_DString *dsPtr);

#endif

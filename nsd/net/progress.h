/* SPDX-License-Identifier: MPL-2.0
 * progress.h --
 *
 *      How far large uploads have come, by URL.
 */

#ifndef NSD_NET_PROGRESS_H
#define NSD_NET_PROGRESS_H

#include "http/head.h"

typedef struct NsProgress NsProgress;

/*
 * Track uploads larger than this; 0: none.  Before the drivers start.
 */
void NsProgressSetMinimum(int64_t bytes);

/*
 * An upload begins; NULL when it is not tracked.  Update from the thread that
 * receives it.  End clears the pointer.
 */
NsProgress *NsProgressBegin(const NsHttpHead *headPtr);
void        NsProgressUpdate(NsProgress *progressPtr, int64_t received);
void        NsProgressEnd(NsProgress **progressPtrPtr);

/*
 * Uploads in progress: NS_OK and the two byte counts.
 */
Ns_ReturnCode NsUploadStats(const char *url, int64_t *receivedPtr,
                            int64_t *totalPtr);

#endif

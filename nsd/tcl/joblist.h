/* SPDX-License-Identifier: MPL-2.0
 * joblist.h --
 *
 *      The lists of queues, jobs and threads of ns_job.
 */

#ifndef NSD_TCL_JOBLIST_H
#define NSD_TCL_JOBLIST_H

#include "tcl/job.h"

/*
 * Append the results of
 * `ns_job jobs|joblist|queues|queuelist|stats|threadlist`.
 */
NsJobStatus NsJobIds(const char *queue, Ns_DString *dsPtr);
NsJobStatus NsJobList(const char *queue, Ns_DString *dsPtr);
void        NsJobQueues(Ns_DString *dsPtr);
void        NsJobQueueList(Ns_DString *dsPtr);
void        NsJobStats(Ns_DString *dsPtr);
void        NsJobThreadList(Ns_DString *dsPtr);

#endif

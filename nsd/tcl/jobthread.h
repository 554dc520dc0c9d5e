/* SPDX-License-Identifier: MPL-2.0
 * jobthread.h --
 *
 *      The threads that run jobs.
 */

#ifndef NSD_TCL_JOBTHREAD_H
#define NSD_TCL_JOBTHREAD_H

#include "nsprocess.h"
#include "nsthread.h"

/*
 * Whether more jobs could run now than there are threads without
 * one; then the number of a new thread, else 0.  Started with no lock held: 0,
 * or an errno, and it is no longer counted.
 */
int NsJobGrowLocked(void);
int NsJobStartThread(int thread);

/*
 * The life of a job thread; the argument is its number.
 */
Ns_ThreadProc NsJobRunThread;

/*
 * The process ends: pending jobs are dropped, running ones may finish until the
 * deadline.
 */
Ns_ShutdownProc NsJobStopThreads;

#endif

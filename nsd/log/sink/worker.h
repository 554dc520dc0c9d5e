/* SPDX-License-Identifier: MPL-2.0
 * worker.h --
 *
 *      A few threads that serve many chores, each when it is due, and never by
 *      two threads at once.
 *
 *      One thread serves and a second one watches.  A chore may not return: it
 *      is stuck in a write.  When a chore has been due for a tenth of a second
 *      and nothing makes progress, or progress is slow although processors are
 *      idle, the watcher serves it, and a third thread is started to watch.  So
 *      each stuck chore holds one thread, and delays the others only until that
 *      is noticed.  Threads that are no longer needed end after a while.
 */

#ifndef NSD_LOG_WORKER_H
#define NSD_LOG_WORKER_H

#include "base/clock.h"
#include "nsthread.h"

/*
 * Embedded in what is to be served.  Only the name is not the workers' own.
 */
typedef struct NsChore {
    const char *name;
    NsStamp     due;
    int         place;      /* In the heap of due chores, from 1; 0: none. */
    bool        isServed;   /* A thread is serving it, */
    bool        isDueAgain; /* and it is due again right after. */
} NsChore;

/*
 * Serve the chore.  Returns when to serve it again: a stamp, or one of these.
 */
typedef NsStamp NsChoreProc(NsChore *chorePtr);

#define NS_CHORE_NOW   INT64_C(0)
#define NS_CHORE_NEVER INT64_MAX   /* Until it is woken. */
#define NS_CHORE_GONE  INT64_C(-1) /* It may have been freed. */

/*
 * Threads that were not needed for the given time end.
 */
void NsWorkersInit(NsChoreProc *proc, NsStamp surplus);

/*
 * Chores can be added from Open to Close, and are served until they are gone.
 * Call Stop when they are, except the given number that hang: all threads end
 * except those stuck in a hanging chore.
 */
void NsWorkersOpen(void);
void NsWorkersClose(void);
void NsWorkersStop(int nHanging);

/*
 * Ensure that there are threads, if chores can be added.  With must: like
 * Ns_ThreadCreate.  Without: false if the system has no thread now.  Hold no
 * lock.
 */
bool NsWorkersNeed(bool must);

/*
 * Add a chore, due now.  False: none can be added.
 */
bool NsWorkersAdd(NsChore *chorePtr);

/*
 * Make the chore due now.  If it is being served, it is served once more.
 */
void NsWorkersWake(NsChore *chorePtr);

#endif

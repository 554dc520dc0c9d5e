/*
 * worker.h --
 *
 *      A few threads that serve many chores, each when it is due, and none by
 *      two threads at a time.
 *
 *      One thread serves; a second one looks on.  A chore may not return: it is
 *      in a write that does not end.  When a chore has been due for a tenth of
 *      a second and nothing moves, or too slowly while there are processors,
 *      the one that looks on serves it, and a third is started to look on.  So
 *      each chore that hangs holds one thread, and holds up others only until
 *      that is noticed.  Threads that are no longer needed end after a while.
 */

#ifndef NSD_LOG_WORKER_H
#define NSD_LOG_WORKER_H

#include "base/clock.h"
#include "nsthread.h"

/*
 * Part of what is to be served.  All but the name is the workers'.
 */
typedef struct NsChore {
    const char *name;
    NsStamp     due;
    int         place;      /* Among those that are due, from 1; 0: none. */
    bool        isServed;   /* Just now, */
    bool        isDueAgain; /* and at once again. */
} NsChore;

/*
 * Serve the chore.  When to come again: a stamp, or one of these.
 */
typedef NsStamp NsChoreProc(NsChore *chorePtr);

#define NS_CHORE_NOW   INT64_C(0)
#define NS_CHORE_NEVER INT64_MAX   /* Unless it is woken. */
#define NS_CHORE_GONE  INT64_C(-1) /* It may be freed by now. */

/*
 * Threads that have not been needed for that long end.
 */
void NsWorkersInit(NsChoreProc *proc, NsStamp surplus);

/*
 * Chores can be added from Open to Close, and are served until they are gone.
 * Stop is for when they are, except the given number that hang: all threads end
 * but those that are at one of these.
 */
void NsWorkersOpen(void);
void NsWorkersClose(void);
void NsWorkersStop(int nHanging);

/*
 * Ensure that there are threads, if chores can be added.  Must: as
 * Ns_ThreadCreate; else, false: the system has none now.  No lock held.
 */
bool NsWorkersNeed(bool must);

/*
 * A chore that is due now.  False: none can be added.
 */
bool NsWorkersAdd(NsChore *chorePtr);

/*
 * The chore is due now; if it is being served, once more.
 */
void NsWorkersWake(NsChore *chorePtr);

#endif

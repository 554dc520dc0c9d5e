/* SPDX-License-Identifier: MPL-2.0
 * sched.h --
 *
 *      Scheduled procedures; modules use nsprocess.h.
 *
 *      One thread, -schedtimer-, sleeps until something is due.  Procedures run
 *      in another, -sched-, one after the other, or in pooled threads of their
 *      own, which wait for nobody.  The next
 *      run is computed when one ends, so a procedure never overlaps itself.
 */

#ifndef NSD_PROCESS_SCHED_H
#define NSD_PROCESS_SCHED_H

#include "base/clock.h"
#include "nsprocess.h"

/*
 * Either proc and cleanupProc, which get the id, or callback and
 * cleanupCallback.  The clean-up may be NULL, or is called when arg will not be
 * used again.
 */
typedef struct NsSchedSpec {
    Ns_SchedProc *proc;
    Ns_SchedProc *cleanupProc;
    Ns_Callback  *callback;
    Ns_Callback  *cleanupCallback;
    void         *arg;
    int           flags;    /* NS_SCHED_THREAD | ONCE | DAILY | WEEKLY */
    Ns_Time       interval; /* Daily: since midnight; weekly: since the
                             * beginning of Sunday. */
} NsSchedSpec;

void NsSchedInit(void);

/*
 * The new id, or NS_ERROR: the interval is negative, or longer than the day or
 * week that it is part of, or shutdown has begun, or the first one finds no
 * thread to be had; arg is then still the caller's.
 */
int NsSchedAdd(const NsSchedSpec *specPtr);

/*
 * The first time after `now` at which a daily or weekly procedure is due.
 */
time_t NsSchedNextClock(int flags, time_t interval, time_t now);

/*
 * Let due procedures run; nothing runs before.
 */
void NsSchedStart(void);

/*
 * Run no more; wait for those that run.
 */
void          NsSchedStop(void);
Ns_ReturnCode NsSchedWait(const Ns_Time *deadlinePtr);

/*
 * Append {ID FLAGS INTERVAL NEXT LASTQUEUE LASTSTART LASTEND PROC ARG...} for
 * each.
 */
void NsSchedList(Ns_DString *dsPtr);

/*
 * Append a dict: of each id a dict of runs, errors, errortime, lasterror, and
 * history, the last runs, newest first: {START SECONDS HAS_FAILED}.
 */
void NsSchedListRuns(Ns_DString *dsPtr);

/*
 * The procedure with that id, which runs in the calling thread, fails.
 */
void NsSchedNoteError(int id, const char *message);

/*
 * Likewise {ID SECONDS PROC ARG...}: how long its runs took, all together.
 */
void NsSchedTimes(Ns_DString *dsPtr);

/*
 * Figures since the start.  A run is late when it began more than a second
 * after it was due.
 */
typedef struct NsSchedStats {
    int     nProcs; /* That can run again. */
    int     nRunning;
    int     nQueued; /* For pooled threads. */
    int64_t nRuns;
    int64_t nLate;
    NsStamp delay; /* From due to begun, of all runs together. */
} NsSchedStats;

void NsSchedGetStats(NsSchedStats *statsPtr);

#endif

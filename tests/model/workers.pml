/* SPDX-License-Identifier: MPL-2.0
 * workers.pml --
 *
 *      How the log threads serve the sinks, as nsd/log/sink/worker.c and
 *      sinkthread.c do it.  What the code does in one go under its locks is one
 *      step here, and so is each access outside of any.
 *
 *      Producers log for sinks, and wake those that they find idle.  Up to HANGS
 *      times a pass does not come back.  Which of several sinks is due first is left
 *      open, and so is how long anything takes: a thread whose timer is set may
 *      wake at any time.
 *
 *      Shown for every order of events:
 *        - no sink is served by two threads at a time;
 *        - nobody takes a sink and leaves no one to look on, as long as there
 *          are threads to be had;
 *        - when nothing happens any more, each sink has written what was logged
 *          for it, or hangs itself.
 *      All are assertions; the last one is made when no step is left.
 */

#ifndef SINKS
#define SINKS     2
#endif
#ifndef HANGS
#define HANGS     1
#endif
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef RECORDS
#define RECORDS   2             /* Of each. */
#endif
/* Two, and one for each sink that hangs. */
#define THREADS   (HANGS + 2)

#define NEVER     0
#define TIMED     1
#define CALLED    2

#define NONE      255

/* Of sinks. */
bool hasRecords[SINKS];         /* In the lanes. */
bool isIdle[SINKS];             /* [state] */
bool isDue[SINKS];              /* In the heap. */
bool isServed[SINKS];
bool isDueAgain[SINKS];
bool hangs[SINKS];              /* For ever. */

/* Of threads. */
byte stack[THREADS];
byte wakeAt[THREADS];
byte nWaiting, nStarting, nServing, nThreads;
byte nDue, nHangs;

inline callTop() {              /* [CallTopLocked] */
    if
    :: nWaiting > 0 && nDue > 0 ->
        if
        :: nWaiting - 1 + nStarting > 0 || nServing == 0 ->
            wakeAt[stack[nWaiting - 1]] = CALLED
        :: else ->
            if
            :: wakeAt[stack[nWaiting - 1]] == NEVER ->
                wakeAt[stack[nWaiting - 1]] = TIMED
            :: else -> skip
            fi
        fi
    :: else -> skip
    fi
}

inline insert(s) {
    assert(!isDue[s]);
    isDue[s] = true;
    nDue++
}

inline wake(s) {                /* [NsWorkersWake] */
    if
    :: isServed[s] -> isDueAgain[s] = true
    :: !isServed[s] && !isDue[s] -> insert(s); callTop()
    :: else -> skip
    fi
}

/* The thread leaves the stack, wherever it stands. */
inline leaveStack(me) {
    i = 0;
    do
    :: stack[i] == me -> break
    :: else -> i++
    od;
    do
    :: i + 1 < nWaiting -> stack[i] = stack[i + 1]; i++
    :: else -> break
    od;
    nWaiting--;
    stack[nWaiting] = 0;
    i = 0
}

inline take(me) {               /* [TakeLocked], [SuccessorLocked] */
    leaveStack(me);
    select (sink : 0 .. SINKS - 1);
    do
    :: isDue[sink] -> break
    :: else -> sink = (sink + 1) % SINKS
    od;
    isDue[sink] = false;
    nDue--;
    assert(!isServed[sink]);
    isServed[sink] = true;
    nServing++;
    callTop();
    wakeAt[me] = NEVER;
    if
    :: nWaiting + nStarting == 0 && nThreads < THREADS ->
        nThreads++;
        nStarting++
    :: else -> skip
    fi;
    assert(nWaiting + nStarting > 0 || nThreads == THREADS)
}

proctype Worker(byte me) {
    byte sink = NONE, i = 0;
    bool mustGoOn;

    /* Not there before it is started. */
end_unused:
    atomic {
        nThreads > me && (me < 2 || nStarting > 0);
        nStarting--;
        goto await
    };
await:                          /* [AwaitLocked] */
    atomic {
        stack[nWaiting] = me;
        nWaiting++;
look:
        if
        :: stack[nWaiting - 1] != me || nDue == 0 -> wakeAt[me] = NEVER
        :: stack[nWaiting - 1] == me && nDue > 0 &&
            (nWaiting - 1 + nStarting > 0 || nServing == 0) ->
            take(me);
            goto serve
        :: else -> wakeAt[me] = TIMED
        fi
    };
end_asleep:
    atomic {
        if
        :: wakeAt[me] == CALLED -> goto look
        :: wakeAt[me] == TIMED ->
            /* It has looked on for long enough. */
            if
            :: stack[nWaiting - 1] == me && nDue > 0 -> take(me); goto serve
            :: else -> goto look
            fi
        fi
    };
serve:                          /* [ServeSink] */
    atomic {
        isIdle[sink] = false;
        hasRecords[sink] = false;
        if
        :: nHangs < HANGS -> nHangs++; hangs[sink] = true; goto end_hangs
        :: true
        fi
    };
    isIdle[sink] = true;
    mustGoOn = hasRecords[sink];
    atomic {
        mustGoOn = mustGoOn || !isIdle[sink];
        isIdle[sink] = !mustGoOn
    };
    atomic {                    /* [GiveBackLocked] */
        nServing--;
        mustGoOn = mustGoOn || isDueAgain[sink];
        isServed[sink] = false;
        isDueAgain[sink] = false;
        if
        :: mustGoOn -> insert(sink)
        :: else -> skip
        fi;
        sink = NONE;
        mustGoOn = false;
        goto await
    };
end_hangs:
    false
}

proctype Producer() {
    byte n = 0, sink;

    do
    :: n < RECORDS ->
        select (sink : 0 .. SINKS - 1);
        hasRecords[sink] = true;
        if
        :: isIdle[sink] ->      /* [WakeFrom] */
            atomic {
                if
                :: isIdle[sink] -> isIdle[sink] = false; wake(sink)
                :: else -> skip
                fi
            }
        :: else -> skip
        fi;
        n++
    :: else -> break
    od
}

init {
    byte i;

    atomic {
        nThreads = 2;
        nStarting = 2;
        for (i : 0 .. SINKS - 1) { insert(i) }
        for (i : 0 .. THREADS - 1) { run Worker(i) }
        for (i : 1 .. PRODUCERS) { run Producer() }
    };
    timeout ->
    for (i : 0 .. SINKS - 1) {
        assert(!hasRecords[i] || hangs[i]);
        assert(!isDue[i])
    }
}

/* SPDX-License-Identifier: MPL-2.0
 * dispatch.pml --
 *
 *      The hand-over of requests to connection threads, as nsd/dispatch does it.
 *      Names in brackets are those of the comments in pool.c, wake.c,
 *      connthread.c and grow.c.  What the code does in one go under its locks is one step
 *      here, and so is each access outside of any.  That a section holds the
 *      locks which guard what it touches is checked elsewhere, by assertions
 *      and ThreadSanitizer.
 *
 *      Drivers submit requests; threads take them, become idle, and end: for
 *      having been idle too long, having served their number, or at the stop.
 *      Limits change.  With FAILURES, threads do not come, or become unable to
 *      serve.  Watermarks are left out: where the code may make a
 *      thread, the model may or may not.
 *
 *      Shown for every order of events:
 *        - a request runs once if the pool accepted it, else never; when the
 *          pool has no thread, it may be refused instead;
 *        - no slot is given a second request before the first is taken;
 *        - a thread that has work is woken, or a thread that is being woken will
 *          call it;
 *        - no request waits while a thread is idle, or outside of a pool that
 *          has room;
 *        - no request is left behind, whether the pool stops or not;
 *        - no wakeup is lost, and after the stop all threads end;
 *        - with SLOW, a request that waits while the others run on gets a
 *          thread of its own if there may be one, and one that has a thread
 *          begins.
 *      The first four are assertions; a breach of the others would be a state
 *      that is left by no step and is no valid end.
 *
 *      Four things keep the states few.  Requests are alike, so they are
 *      counted, not named: each step moves one from one place to the next, and
 *      none may appear or vanish (countRequests).  Slots are alike, so a thread
 *      that ends frees its slot in the step in which it leaves the pool: until
 *      the code frees it, a moment later, nobody looks at it, and any other slot
 *      would serve a new thread as well.  Threads, one per slot, exist from the
 *      beginning.  And any idle thread may be the one on top of the stack, any
 *      pending one the first: their order matters to speed alone.
 *
 *      A thread's own steps are joined where what others do between them would
 *      end in the same state if done before or behind.  So is what it does after
 *      a post, or having taken back that it is asleep, with the look into its
 *      slot; and before it says that it is asleep it need not look at all, since
 *      it looks behind.
 *
 *      What happens by the clock may happen at any time and any number of times,
 *      until the world becomes quiet; from then on nothing but the protocol
 *      itself can wake a thread, and the stop waits until all is served.
 */

#ifndef N_DRIVERS
#define N_DRIVERS   1
#endif
#ifndef PER_DRIVER
#define PER_DRIVER  4
#endif
#ifndef MAX_THREADS
#define MAX_THREADS 3
#endif
#ifndef PLACES
#define PLACES      3           /* maxconnections; at least MAX_THREADS */
#endif
#ifndef CHANGES
#define CHANGES     1           /* How often the limits change. */
#endif
#ifndef SLOW
#define SLOW        0           /* 1: requests run until none waits. */
#endif

#ifndef QUIET
#define QUIET       0           /* 1: quiet from the beginning. */
#endif

#ifndef LATE
#define LATE        0           /* 1: threads may take long to wake up. */
#endif

#ifndef DEFER
#define DEFER       0           /* 1: drivers may wake threads later. */
#endif

#ifndef FAILURES
#define FAILURES    0           /* How many threads fail. */
#endif

#define N_SLOTS     MAX_THREADS

/* Changed with wqueue and tqueue locked, read with tqueue or as a hint: */
byte nWaiting, nHeld;

/* Guarded by tqueue: */
byte nIdle;
bool isIdle[N_SLOTS];
bool isPending[N_SLOTS];
byte nWaking;
byte nPlaces, nCurrent, nCreating;
byte minThreads = 1;
byte maxThreads = MAX_THREADS;
bool isOpen = true;
bool isBarred;                  /* A thread has failed: none is made yet. */

/* Guarded by threads: */
bool isUsed[N_SLOTS];
byte nAlive;

/* The hand-over's slot; each access is a step of its own.  hasWork is written
 * with tqueue. */
bool hasWork[N_SLOTS];
bool mustEnd[N_SLOTS];
bool isAsleep[N_SLOTS];
byte nPosts[N_SLOTS];           /* The semaphore. */

/* The watcher of grow.c.  Of its wakeStamp it matters whether it is NEVER. */
bool isNever;
bool isPoked;
bool isWatcherAsleep;

/* The world around the pool. */
bool isQuiet;
byte nAtWork;                   /* Drivers, those who change limits or stop. */
byte nAccepted, nRan, nRefused;
byte nFailed;                   /* Threads. */

#if N_SLOTS > 2
#define isOnePending    (isPending[0] || isPending[1] || isPending[2])
#else
#define isOnePending    (isPending[0] || isPending[1])
#endif

inline countRequests() {
    i = 0;
    n = nWaiting + nHeld + nRan + nRefused;
    do
    :: i < N_SLOTS -> n = n + hasWork[i]; i++
    :: else -> break
    od;
    assert(n == nAccepted);
    i = 0;
    n = 0
}

inline check() {
    d_step {
        countRequests();
        assert(!(nIdle > 0 && nWaiting > 0));
        assert(!isOnePending || nWaking > 0);
        assert(!(nHeld > 0 && nPlaces < PLACES));
        assert(nCurrent > 0 || nWaiting + nHeld == 0);
        assert(nPlaces <= PLACES && nCurrent <= MAX_THREADS);
        assert(nCreating <= nCurrent && nIdle <= nCurrent)
    }
}

/* The new thread exists at once; it may take long to come to its first step. */
inline reserve() {
    d_step {
        i = 0;
        do
        :: isUsed[i] -> i++
        :: else -> break
        od;
        assert(!hasWork[i] && !isIdle[i] && !isPending[i]);
        assert(!isAsleep[i] && nPosts[i] == 0);
        isUsed[i] = true;
        mustEnd[i] = false;
        nAlive++;
        nCurrent++;
        nCreating++;
        i = 0
    }
}

#define isGrowable (isOpen && !isBarred && nCurrent < maxThreads)
#define mustGrow   (nCurrent < minThreads && nCreating == 0)
#define isWanted   (nWaiting > nCreating || nWaiting > 0 && nCurrent < minThreads)

inline grow() {                         /* [grow] */
    if
    :: isGrowable && (mustGrow || isWanted) -> reserve()
    :: !(isGrowable && mustGrow)
    fi
}

/* More than one at a time outside of a submission. */
inline checkSize(nLate) {
    do
    :: atomic {                         /* With tqueue. */
            isGrowable && (mustGrow || isWanted || nCreating < nLate) ->
            reserve();
            check()
       }
    :: atomic {
            !(isGrowable && (mustGrow || nCreating < nLate)) ->
            break
       }
    od
}

/* Exchange, then post: in between the thread could do nothing that it could not
 * do behind, but for waiting. */
inline wake(which) {                    /* [wake] */
    if
    :: isAsleep[which] -> isAsleep[which] = false; nPosts[which]++
    :: else -> skip
    fi
}

#if SLOW
inline poke() {                         /* [poke] */
    isPoked = true;                     /* With the watcher's lock. */
    isWatcherAsleep = false
}
#else
#define poke() skip
#endif

inline accept() {
    nPlaces++;
    nAccepted++
}

inline assign() {                       /* [assign] */
    accept();
    if
    :: isIdle[0] -> slot = 0
    :: isIdle[1] -> slot = 1
#if N_SLOTS > 2
    :: isIdle[2] -> slot = 2
#endif
    fi;
    nIdle--;
    isIdle[slot] = false;
    grow();
    assert(!hasWork[slot] && !mustEnd[slot]);                   /* [give] */
    hasWork[slot] = true;
    if
    :: nWaking == 0 -> nWaking++; mustWake = true
    :: nWaking > 0 -> isPending[slot] = true
    :: nWaking > 0 && LATE -> nWaking++; mustWake = true
    fi;
    check()
}

proctype Driver()
{
    byte nLeft = PER_DRIVER, slot, i, n;
    byte nLater, later[N_SLOTS];        /* Wakeups that are deferred. */
    bool mustWake;

submit:
    if
    :: nLater > 0 ->                    /* [later] */
        atomic {
            do
            :: later[slot] > 0 -> break
            :: else -> slot++
            od;
            later[slot]--;
            nLater--;
            wake(slot);
            slot = 0;
            goto submit
        }
    :: nLater == 0 || nLeft > 0
    fi;
    atomic {                            /* With tqueue. */
        if
        :: isBarred -> isBarred = false
        :: true
        fi;
        if
        :: nLater > 0 && !isOpen ->     /* Refused, as all that would follow. */
            nLeft = 0;
            goto submit
        :: nLater == 0 && (nLeft == 0 || !isOpen) ->
            nLeft = 0;
            nAtWork--;
            goto end_done
        :: nLeft > 0 && isOpen && nPlaces < PLACES && nIdle > 0 ->
            nLeft--;
            assign();
            goto given
        :: else ->
            nLeft--
        fi
    };
    atomic {                            /* With wqueue and tqueue. */
        if
        :: !isOpen ->
            nLeft = 0;
            goto submit
        :: isOpen && nPlaces >= PLACES ->
            nAccepted++;
            nHeld++;
            check();
            goto submit
        :: isOpen && nPlaces < PLACES && nIdle > 0 ->
            assign();
            goto given
        :: isOpen && nPlaces < PLACES && nCurrent == 0 && isBarred ->
            nAccepted++;
            nRefused++;
            goto submit
        :: isOpen && nPlaces < PLACES && nIdle == 0 &&
            !(nCurrent == 0 && isBarred) ->                 /* [enqueue] */
            accept();
            nWaiting++;
            grow();
            check();
            if
            :: SLOW && nCurrent < maxThreads -> goto watch
            :: else -> goto submit
            fi
        fi
    };
given:
    atomic {
        if
        :: mustWake -> wake(slot)
        :: mustWake && DEFER && nLeft > 0 ->
            later[slot]++;
            nLater++
        :: else -> skip
        fi;
        mustWake = false;
        slot = 0;
        goto submit
    };
watch:
    if
    :: isNever -> poke()
    :: else -> skip
    fi;
    goto submit;
end_done:
    false
}

inline pushIdle() {
    assert(!isIdle[me]);
    nIdle++;
    isIdle[me] = true
}

inline removeIdle() {
    assert(isIdle[me]);
    nIdle--;
    isIdle[me] = false
}

/* Requests that were held get places that have become free. */
inline fillPlaces() {
    do
    :: nHeld > 0 && nPlaces < PLACES ->
        nHeld--;
        nPlaces++;
        nWaiting++;
        isNews = true
    :: else -> break
    od
}

/* The request runs until the thread's next step. */
inline start() {
    nRan++;
    assert(nRan <= nAccepted);
    isServing = true
}

inline freeSlot() {
    assert(!hasWork[me] && !isIdle[me]);
    assert(!isAsleep[me] && nPosts[me] == 0);
    isUsed[me] = false;
    nAlive--
}

/* All that waits for a pool without a thread. */
inline refuseHopeless() {                                       /* [hopeless] */
    if
    :: nCurrent == 0 ->
        assert(nWaiting + nHeld == 0 || nFailed > 0);
        nRefused = nRefused + nWaiting + nHeld;
        nPlaces = nPlaces - nWaiting;
        nWaiting = 0;
        nHeld = 0
    :: nCurrent > 0
    fi
}

inline fail() {
    nFailed++;
    isBarred = true
}

inline leave() {
    nCurrent--;
    freeSlot();
    isNews = true
}

/* A pending thread is called; the caller will wake it. */
inline call() {                                                 /* [call] */
    if
    :: isPending[0] -> isPending[0] = false; calls[0]++
    :: isPending[1] -> isPending[1] = false; calls[1]++
#if N_SLOTS > 2
    :: isPending[2] -> isPending[2] = false; calls[2]++
#endif
    fi;
    nWaking++;
    nCalls++
}

/* With tqueue. */
inline begin() {                                                /* [begin] */
    hasWork[me] = false;
    if
    :: isPending[me] -> isPending[me] = false
    :: else ->
        assert(nWaking > 0);
        nWaking--;
        if
        :: isOnePending -> call()
        :: !isOnePending
        fi;
        do
        :: LATE && isOnePending -> call()
        :: break
        od
    fi;
    start();
    check()
}

/* Take the work of a pending thread; with both locks if any waits. */
inline relieve() {                                              /* [relieve] */
    if
    :: isPending[0] -> i = 0
    :: isPending[1] -> i = 1
#if N_SLOTS > 2
    :: isPending[2] -> i = 2
#endif
    fi;
    assert(hasWork[i] && i != me);
    if
    :: nWaiting > 0 -> nWaiting--
    :: nWaiting == 0 ->
        hasWork[i] = false;
        isPending[i] = false;
        assert(!isIdle[i]);
        nIdle++;
        isIdle[i] = true
    fi;
    i = 0;
    start()
}

inline look() {                                                 /* [look] */
    if
    :: hasWork[me] ->
        begin();
        goto begun
    :: !hasWork[me] && mustEnd[me] ->
        freeSlot();
        goto end_unused
    :: else -> skip
    fi
}

/* By itself: because of what it saw, or of the clock. */
inline awake() {                                                /* [awake] */
    if
    :: isAsleep[me] ->
        isAsleep[me] = false;
        look();
        goto timeout_
    :: else -> goto posted              /* Somebody posts. */
    fi
}

#define areAllBegun (!isOnePending && nWaking == 0)
#define mayFinish   (!SLOW || areAllBegun && (!isOpen || nWaiting + nHeld == 0 || nCurrent >= maxThreads))

/* With tqueue if nothing waits, else wqueue and tqueue. */
inline becomeReady() {
    fillPlaces();
    if
    :: isServing && nFailed < FAILURES ->                       /* Unfit. */
        if
        :: fail()
        :: nFailed++                    /* Another one may come at once. */
        fi;
        isServing = false;
        leave()
    :: isServing && (nWaiting == 0 || nCurrent > 1) ->          /* [limit] */
        isServing = false;
        leave()
    :: !isOpen && nWaiting == 0 ->
        isServing = false;
        leave()
    :: isOpen && isOnePending -> relieve()
    :: nWaiting > 0 && !(isOpen && isOnePending) ->             /* [take] */
        nWaiting--;
        start()
    :: isOpen && nWaiting == 0 && !isOnePending ->                               /* [idle] */
        isServing = false;
        pushIdle()
    fi;
    grow();
    refuseHopeless();
    check();
    isNews = (SLOW && isNews && nWaiting > 0 && nCurrent < maxThreads);
    if
    :: isIdle[me] -> skip
    :: isNews -> goto tell
    :: !isIdle[me] && !isNews && isServing -> goto next
    :: else -> goto end_unused
    fi
}

proctype Thread(byte me)
{
    byte i, n, nCalls, calls[N_SLOTS];
    bool isServing, isNews;

end_unused:
    atomic {
        isUsed[me] ->
        nCreating--;
        if
        :: nFailed < FAILURES ->        /* It does not come. */
            fail();
            nCurrent--;
            freeSlot();
            refuseHopeless();
            check();
            goto end_unused
        :: true
        fi;
        becomeReady();
        goto sleep
    };
begun:
    do
    :: atomic {                         /* Those that were called. */
            nCalls > 0 ->
            do
            :: calls[i] > 0 -> break
            :: else -> i++
            od;
            calls[i]--;
            nCalls--;
            wake(i);
            i = 0
       }
    :: atomic { nCalls == 0 -> goto next }
    od;
next:
    atomic {
        mayFinish ->
        nPlaces--;
        becomeReady()
    };

sleep:
    isAsleep[me] = true;                                        /* [sleep] */
    if
    :: atomic { hasWork[me] || mustEnd[me] -> awake() }
    :: else -> skip
    fi;
    if
    :: atomic { nPosts[me] > 0 -> nPosts[me]--; look(); goto sleep }
    :: atomic { !isQuiet -> awake() }
    fi;
timeout_:
    atomic {                            /* With tqueue. */
        if
        :: isIdle[me] && nCurrent > minThreads ->               /* [timeout] */
            removeIdle();
            leave();
            isNews = false;
            check();
            goto end_unused
        :: else -> goto sleep
        fi
    };

posted:
    atomic { nPosts[me] > 0 -> nPosts[me]--; look(); goto timeout_ };

tell:
    isNews = false;
    poke();
    if
    :: isServing -> goto next
    :: else -> goto end_unused
    fi
}

/* grow.c: a thread for each request that is late when it is looked at. */
#if SLOW
proctype Watcher()
{
    byte nLate, i, n;
    bool isSoon;

again:
    isNever = true;
    atomic {                            /* With wqueue. */
        do
        :: nLate < nWaiting && nCurrent + nLate < maxThreads + nCreating ->
            nLate++
        :: break
        od;
        isSoon = (nLate < nWaiting && nCurrent + nLate < maxThreads + nCreating)
    };
    checkSize(nLate);
    nLate = 0;
    isNever = !isSoon;
    atomic {                            /* With the watcher's lock. */
        if
        :: isPoked -> isPoked = false; goto again
        :: else -> isWatcherAsleep = true
        fi
    };
end_asleep:
    atomic {
        !isWatcherAsleep || isSoon ->
        isWatcherAsleep = false;
        isPoked = false;
        goto again
    }
}
#else
/* To the pool, the watcher is somebody who may make a thread at any time. */
proctype Watcher()
{
    byte i, n;

end_watching:
    do
    :: atomic {                         /* With tqueue. */
            !isQuiet && isGrowable -> reserve();
            check()
       }
    od
}
#endif

/* pool_config.c: new limits for the running pool. */
proctype Changer()
{
    byte nLeft = CHANGES, i, n;

    do
    :: atomic {                         /* With tqueue. */
            nLeft > 0 ->
            nLeft--;
            if
            :: SLOW -> maxThreads = MAX_THREADS
            :: !SLOW -> maxThreads = 1
            :: !SLOW -> minThreads = 2
            fi
       };
       checkSize(0);
       poke()
    :: atomic { nAtWork--; goto end_done }
    od;
end_done:
    false
}

proctype World()
{
    if
    :: !QUIET -> isQuiet = true
    :: else -> skip
    fi;
end_quiet:
    false
}

proctype Stopper()
{
    bool isTold[N_SLOTS];
    byte i;

    d_step {                            /* [stop], with tqueue. */
        /* In the middle of things, or when all has been served. */
        !isQuiet || (nAtWork == 1 && nRan + nRefused == nAccepted);
        isOpen = false;
        do
        :: i < N_SLOTS && isIdle[i] ->
            isTold[i] = true;
            isIdle[i] = false;
            nIdle--;
            nCurrent--;
            i++
        :: i < N_SLOTS && !isIdle[i] -> i++
        :: i == N_SLOTS -> i = 0; break
        od
    };
    do
    :: i < N_SLOTS && isTold[i] ->
        d_step {
            assert(!hasWork[i]);
            mustEnd[i] = true
        };
        d_step {
            wake(i);
            isTold[i] = false;
            i++
        }
    :: d_step { i < N_SLOTS && !isTold[i] -> i++ }
    :: atomic { i == N_SLOTS -> nAtWork--; goto end_done }
    od;
end_done:
    false
}

init
{
    byte i, n;

    atomic {
        if
        :: SLOW && CHANGES > 0 -> maxThreads = 1
        :: !SLOW || CHANGES == 0
        fi;
        reserve();
        do
        :: n < N_SLOTS -> run Thread(n); n++
        :: else -> n = 0; break
        od;
        do
        :: n < N_DRIVERS -> run Driver(); n++
        :: else -> n = 0; break
        od;
        nAtWork = N_DRIVERS + 2;
        run Watcher();
        run Changer();
        isQuiet = QUIET;
        run World();
        run Stopper()
    };
    nAtWork == 0 && nAlive == 0;
    assert(nWaiting == 0 && nHeld == 0 && nIdle == 0 && nCreating == 0);
    assert(nCurrent == 0 && nPlaces == 0);
    assert(nRan + nRefused == nAccepted)
}

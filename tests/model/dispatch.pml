/*
 * dispatch.pml --
 *
 *      The hand-over of requests to connection threads, as nsd/dispatch/pool.c
 *      and connthread.c do it.  Names in brackets are those of the comments
 *      there.  What the code does in one go under its locks is one step here, and
 *      so is each access outside of any.  That a section holds the locks which
 *      guard what it touches is checked elsewhere, by assertions and
 *      ThreadSanitizer.
 *
 *      Drivers submit requests; threads take them, become idle, and end: for
 *      having been idle too long, having served their number, or at the stop.
 *      Watermarks are left out: where the code may make a thread, the model may
 *      or may not.  How often threads end early is bounded, or they would come
 *      and go for ever.
 *
 *      Shown for every order of events:
 *        - a request runs once if the pool accepted it, else never;
 *        - no slot is given a second request before the first is taken;
 *        - no request waits while a thread is idle;
 *        - no request is left behind, whether the pool stops or not;
 *        - no wakeup is lost, and after the stop all threads end.
 *      The first three are assertions; the others would be a state that is left
 *      by no step and is no valid end.
 */

#ifndef N_DRIVERS
#define N_DRIVERS   2
#endif
#ifndef PER_DRIVER
#define PER_DRIVER  2
#endif
#ifndef MAX_THREADS
#define MAX_THREADS 3
#endif
#ifndef PLACES
#define PLACES      3           /* maxconnections */
#endif
#ifndef EARLY_STOP
#define EARLY_STOP  true        /* The stop may come before all is served. */
#endif
#ifndef LIMITS
#define LIMITS      1           /* Threads that may end by their limit. */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS    1           /* Sleeps that may end by the clock. */
#endif
#ifndef LATE
#define LATE        1           /* Threads made for a late request. */
#endif

/*
 * Mistakes that the model must find: each of these set to false.
 */
#ifndef RECHECK
#define RECHECK     true        /* Look at the stack again before queueing. */
#endif
#ifndef RECOUNT
#define RECOUNT     true        /* An exiting thread's successor is made. */
#endif
#ifndef STAY
#define STAY        true        /* The only thread stays while some wait. */
#endif
#ifndef ORDERED
#define ORDERED     true        /* Store in the slot before waking. */
#endif
#ifndef LOOK_TWICE
#define LOOK_TWICE  true        /* Look once more, having said "asleep". */
#endif

#define MIN_THREADS 1
#define N_REQUESTS  (N_DRIVERS * PER_DRIVER)
#define N_SLOTS     (MAX_THREADS + LIMITS + TIMEOUTS)
#define NONE        99

/* Guarded by wqueue: */
byte waiting[N_REQUESTS];
byte held[N_REQUESTS];
/* Changed with both locks held, read with tqueue or as a hint: */
byte nWaiting, nHeld;

/* Guarded by tqueue: */
byte stack[N_SLOTS];
byte nIdle;
bool isIdle[N_SLOTS];
byte nPlaces, nCurrent, nCreating;
bool isOpen = true;
bool isSlotUsed[N_SLOTS];       /* In the code guarded by `threads`. */

/* The hand-over's slot; each access is a step of its own: */
byte slotWork[N_SLOTS];
bool mustEnd[N_SLOTS];
bool isAsleep[N_SLOTS];
byte nPosts[N_SLOTS];           /* The semaphore. */

byte nAlive;
byte limitsLeft = LIMITS;
byte timeoutsLeft = TIMEOUTS;

/* What happened to the requests; no part of the pool. */
byte nRuns[N_REQUESTS];
bool isAccepted[N_REQUESTS];
byte nAccepted, nRan, nDriversDone;
bool hasStopped;

/* Macros, because an inline cannot be given an array. */
#define append(queue, n, request) \
    queue[n] = request; n++

#define removeFirst(queue, n, request) \
    request = queue[0]; n--; i = 0; \
    do \
    :: i < n -> queue[i] = queue[i + 1]; i++ \
    :: else -> queue[n] = 0; break \
    od; \
    i = 0

/* pushIdle and removeIdle keep the stack dense: stack[nIdle - 1] is the top. */
inline pushIdle(slot) {
    assert(!isIdle[slot]);
    stack[nIdle] = slot;
    nIdle++;
    isIdle[slot] = true
}

inline removeIdle(slot) {
    assert(isIdle[slot]);
    i = 0;
    do
    :: stack[i] != slot -> i++
    :: else -> break
    od;
    nIdle--;
    do
    :: i < nIdle -> stack[i] = stack[i + 1]; i++
    :: else -> stack[nIdle] = 0; break
    od;
    i = 0;
    isIdle[slot] = false
}

inline check() {
    assert(!(nIdle > 0 && nWaiting > 0));
    assert(!(nHeld > 0 && nPlaces < PLACES));
    assert(nPlaces <= PLACES && nCurrent <= MAX_THREADS);
    assert(nCreating <= nCurrent && nIdle <= nCurrent)
}

/* The new thread exists at once; it may take long to come to its first step. */
inline reserve() {
    newSlot = 0;
    do
    :: isSlotUsed[newSlot] -> newSlot++
    :: else -> break
    od;
    isSlotUsed[newSlot] = true;
    mustEnd[newSlot] = false;
    nCurrent++;
    nCreating++;
    nAlive++;
    run Thread(newSlot);
    newSlot = 0
}

inline grow() {                         /* [grow] */
    if
    :: isOpen && nCurrent < MAX_THREADS ->
        if
        :: nCurrent < MIN_THREADS && nCreating == 0 -> reserve()
        :: nWaiting > 0 -> reserve()
        :: !(nCurrent < MIN_THREADS && nCreating == 0) -> skip
        fi
    :: else -> skip
    fi
}

/* Requests that were held get places that have become free. */
inline fillPlaces() {
    do
    :: nHeld > 0 && nPlaces < PLACES ->
        removeFirst(held, nHeld, work);
        nPlaces++;
        append(waiting, nWaiting, work);
        work = NONE
    :: else -> break
    od
}

/* Exchange, then post: the thread can do nothing between that it could not do
 * behind, but for waiting. */
inline wake(slot) {
    d_step {
        if
        :: isAsleep[slot] -> isAsleep[slot] = false; nPosts[slot]++
        :: else -> skip
        fi
    }
}

inline give(slot, request) {
    if
    :: !ORDERED -> wake(slot)
    :: else -> skip
    fi;
    d_step {
        assert(slotWork[slot] == NONE && !mustEnd[slot]);
        slotWork[slot] = request
    };
    if
    :: ORDERED -> wake(slot)
    :: else -> skip
    fi
}

proctype Driver(byte first)
{
    byte request = first, slot, newSlot, i;
    bool mustWait;

    do
    :: request < first + PER_DRIVER ->
        atomic {                        /* With tqueue. */
            slot = NONE;
            mustWait = false;
            if
            :: isOpen && nPlaces < PLACES && nIdle > 0 ->   /* [assign] */
                slot = stack[nIdle - 1];
                removeIdle(slot);
                nPlaces++;
                isAccepted[request] = true;
                nAccepted++;
                grow()
            :: else -> mustWait = isOpen
            fi;
            check()
        };
        atomic {                        /* With wqueue and tqueue. */
            if
            :: mustWait && isOpen ->
                isAccepted[request] = true;
                nAccepted++;
                if
                :: nPlaces >= PLACES ->
                    append(held, nHeld, request)
                :: nPlaces < PLACES && nIdle > 0 && RECHECK ->  /* [assign] */
                    slot = stack[nIdle - 1];
                    removeIdle(slot);
                    nPlaces++;
                    grow()
                :: nPlaces < PLACES && !(nIdle > 0 && RECHECK) ->
                    nPlaces++;                              /* [enqueue] */
                    append(waiting, nWaiting, request);
                    grow()
                fi
            :: else -> skip
            fi;
            check()
        };
        if
        :: slot != NONE -> give(slot, request)
        :: else -> skip
        fi;
        request++
    :: else -> break
    od;
    nDriversDone++
}

/* The thread has work; it runs until the thread's next step. */
inline run_(request) {
    assert(isAccepted[request]);
    nRuns[request]++;
    assert(nRuns[request] == 1);
    nRan++;
    holdsPlace = true;
    request = NONE
}

proctype Thread(byte me)
{
    byte work = NONE, newSlot, i;
    bool isNew = true, holdsPlace, isTimedOut;

next:
    atomic {    /* With tqueue if nothing waits, else wqueue and tqueue. */
        if
        :: isNew -> isNew = false; nCreating--
        :: else -> skip
        fi;
        if
        :: holdsPlace -> holdsPlace = false; nPlaces--
        :: else -> skip
        fi;
        fillPlaces();
        if
        :: limitsLeft > 0 && (nWaiting == 0 || nCurrent > 1 || !STAY) ->
            limitsLeft--;                                       /* [limit] */
            nCurrent--;
            if
            :: RECOUNT -> grow()
            :: else -> skip
            fi;
            check();
            goto end_
        :: !isOpen && nWaiting == 0 ->
            nCurrent--;
            check();
            goto end_
        :: nWaiting > 0 ->                                      /* [take] */
            removeFirst(waiting, nWaiting, work);
            grow();
            check();
            run_(work);
            goto next
        :: isOpen && nWaiting == 0 ->                           /* [idle] */
            pushIdle(me);
            grow();
            check()
        fi
    };

look:
    atomic {
        if
        :: slotWork[me] != NONE ->
            work = slotWork[me];
            slotWork[me] = NONE;
            isTimedOut = false;
            run_(work);
            goto next
        :: slotWork[me] == NONE && mustEnd[me] ->
            goto end_
        :: slotWork[me] == NONE && !mustEnd[me] && isTimedOut ->
            isTimedOut = false;
            goto timeout_
        :: else -> skip
        fi
    };

    isAsleep[me] = true;
    if
    :: LOOK_TWICE && (slotWork[me] != NONE || mustEnd[me]) -> goto awake
    :: else -> skip
    fi;
    if
    :: atomic { nPosts[me] > 0 -> nPosts[me]--; goto look }
    :: atomic { timeoutsLeft > 0 -> timeoutsLeft--; isTimedOut = true }
    fi;

awake:  /* By itself: somebody may be about to post, or have done so. */
    atomic {
        if
        :: isAsleep[me] -> isAsleep[me] = false; goto look
        :: else -> skip
        fi
    };
    atomic { nPosts[me] > 0 -> nPosts[me]--; goto look };

timeout_:
    atomic {                            /* With tqueue. */
        if
        :: isIdle[me] && nCurrent > MIN_THREADS ->              /* [timeout] */
            removeIdle(me);
            nCurrent--;
            check()
        :: else -> goto look
        fi
    };

end_:
    atomic {
        assert(slotWork[me] == NONE && !isIdle[me]);
        assert(!isAsleep[me] && nPosts[me] == 0);
        isSlotUsed[me] = false;
        nAlive--
    }
}

/* patience.c: a thread for a request that was late when it was looked at. */
proctype Patience()
{
    byte newSlot, n;

    do
    :: n < LATE ->
        n++;
        nWaiting > 0 || hasStopped;
        atomic {                        /* With tqueue. */
            if
            :: isOpen && nCurrent < MAX_THREADS && nCreating == 0 -> reserve()
            :: else -> skip
            fi;
            check()
        }
    :: else -> break
    od
}

proctype Stopper()
{
    bool isTold[N_SLOTS];
    byte i;

    /* In the middle of things, or when all has been served. */
    if
    :: EARLY_STOP
    :: nDriversDone == N_DRIVERS && nRan == nAccepted
    fi;
    d_step {                            /* [stop], with tqueue. */
        isOpen = false;
        do
        :: nIdle > 0 ->
            nIdle--;
            isTold[stack[nIdle]] = true;
            isIdle[stack[nIdle]] = false;
            stack[nIdle] = 0;
            nCurrent--
        :: else -> break
        od
    };
    do
    :: i < N_SLOTS && isTold[i] ->
        d_step {
            assert(slotWork[i] == NONE);
            mustEnd[i] = true
        };
        wake(i);
        d_step {
            isTold[i] = false;
            i++
        }
    :: i < N_SLOTS && !isTold[i] -> i++
    :: i == N_SLOTS -> break
    od;
    hasStopped = true
}

init
{
    byte newSlot, i;

    atomic {
        do
        :: i < N_SLOTS -> slotWork[i] = NONE; i++
        :: else -> break
        od;
        i = 0;
        reserve();
        do
        :: i < N_DRIVERS -> run Driver(i * PER_DRIVER); i++
        :: else -> break
        od;
        run Patience();
        run Stopper()
    };
    hasStopped && nDriversDone == N_DRIVERS && nAlive == 0;
    d_step {
        assert(nWaiting == 0 && nHeld == 0 && nPlaces <= PLACES);
        assert(nIdle == 0 && nCurrent == 0 && nCreating == 0);
        assert(nRan == nAccepted)
    }
}

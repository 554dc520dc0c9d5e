/* SPDX-License-Identifier: MPL-2.0
 * turns.pml --
 *
 *      How those who log take turns at a sink that no log thread serves, as
 *      nsd/log/sink/sinkwork.c does it.  What the code does under the sink's lock
 *      can be seen by the others at each step.
 *
 *      Each caller puts records into its lane, and comes for a turn after each.
 *      With WAITS it waits for the lock; else it leaves its record to whoever has it.
 *
 *      Shown for every order of events:
 *        - a caller that waits goes on when its record is written;
 *        - when nothing happens any more, all records are.
 */

#ifndef CALLERS
#define CALLERS 3
#endif
#ifndef RECORDS
#define RECORDS 2               /* Of each. */
#endif
#ifndef WAITS
#define WAITS   1
#endif

byte nPut[CALLERS], nWritten[CALLERS];
byte nComers, nServed;
bool isLocked;

proctype Caller(byte me) {
    byte number, n, i;

    do
    :: nPut[me] < RECORDS ->
        nPut[me]++;
        atomic { nComers++; number = nComers };
again:
        if
        :: WAITS -> atomic { !isLocked; isLocked = true }
        :: !WAITS ->
            atomic {            /* [NsSinkTryLock] */
                if
                :: !isLocked -> isLocked = true
                :: else -> goto gone
                fi
            }
        fi;
        if
        :: nServed < number ->  /* [NsSinkPass] */
            n = nComers;
            i = 0;
            do
            :: i < CALLERS -> nWritten[i] = nPut[i]; i++
            :: else -> break
            od;
            nServed = n
        :: else -> skip
        fi;
        isLocked = false;
        number = nComers;
        if
        :: !WAITS && nServed < number -> goto again
        :: else -> skip
        fi;
gone:
        assert(!WAITS || nWritten[me] == nPut[me])
    :: else -> break
    od
}

init {
    byte i;

    atomic {
        for (i : 0 .. CALLERS - 1) { run Caller(i) }
    };
    timeout ->
    for (i : 0 .. CALLERS - 1) { assert(nWritten[i] == RECORDS) }
}

/* SPDX-License-Identifier: MPL-2.0
 * records.pml --
 *
 *      The records of replies, as nsd/log/ring/lane.c and ring.c keep them in the
 *      mapping and nsd/log/sink/flush.c and settle.c write them, when the process
 *      is killed at any moment.
 *
 *      A thread prepares a record before the last bytes of its reply leave, and
 *      then confirms it by the final one, or withdraws it.  What cannot be
 *      prepared is put before the reply.  Records are held in the lane until all
 *      sinks have written them; then their room is used again.  A sink says what
 *      it is about to write, writes line by line, and moves its cursors.  The
 *      process that follows one that was killed commits what was prepared,
 *      compares with each file what is in doubt, and writes the rest; it may be
 *      killed itself.
 *
 *      The memory of the mapping is seen at each step.  What a process has
 *      beside that is lost with it.
 *
 *      Shown for every order of events and each moment of a death:
 *        - a reply that was answered is in each file, once;
 *        - one that was withdrawn is not;
 *        - no line is written twice, or begun within another one.
 */

#ifndef LANES
#define LANES   1               /* Or 2. */
#endif
#ifndef SINKS
#define SINKS   1               /* Or 2. */
#endif
#ifndef REPLIES
#define REPLIES 2               /* Of each lane. */
#endif
#ifndef SLOTS
#define SLOTS   2               /* Of each lane, for records. */
#endif
#ifndef DEATHS
#define DEATHS  2
#endif

#define IDS     (LANES * REPLIES + 1)   /* Reply 0 is none. */
#define TORN    255                     /* A record that is not complete. */

#define IDLE    0
#define WRITING 1
#define WRITTEN 2

/* The mapping. */
byte slots[LANES * SLOTS];
byte committed[LANES];          /* Records, since the lane was made. */
byte first[LANES];              /* Those before it have been freed. */
bool isPrepared[LANES];
byte preparedFor[LANES];        /* It counts while this is committed. */
byte area[LANES];               /* The record that was prepared, */
byte sequence[LANES];           /* and its sequence. */
byte done[LANES * SINKS];
byte ahead[LANES * SINKS];
byte intent[SINKS];

/* The files. */
bool isThere[SINKS * IDS];
byte begun[SINKS];              /* The file ends within that line; 0: it does not. */

/* The clients. */
bool isAnswered[IDS];
bool isWithdrawn[IDS];

byte nAlive, nDeaths;
bool isDead;

#define hasWork(lane, sink) (committed[lane] > done[(lane) * SINKS + sink])
#define SLOT(lane, n) slots[(lane) * SLOTS + (n) % SLOTS]

inline put(lane, id) {          /* [AppendHere] */
    SLOT(lane, committed[lane]) = TORN;
    SLOT(lane, committed[lane]) = id;
    committed[lane]++
}

inline prepare(lane, id) {      /* [NsLanePrepare] */
    isPrepared[lane] = false;
    area[lane] = TORN;
    atomic { area[lane] = id; sequence[lane] = committed[lane] };
    preparedFor[lane] = committed[lane];
    isPrepared[lane] = true
}

proctype Thread(byte lane) {
    byte id = lane * REPLIES + 1;
    bool isAgain = false;

    {
        do
        :: id <= (lane + 1) * REPLIES ->
            committed[lane] - first[lane] < SLOTS;
again:
            if
            :: prepare(lane, id);
                if
                :: isAnswered[id] = true;
                    put(lane, id)
                :: isPrepared[lane] = false;    /* [NsLaneForget] */
                    if
                    :: !isAgain -> isAgain = true; goto again
                    :: isWithdrawn[id] = true
                    fi
                fi
            :: put(lane, id);
                isAnswered[id] = true
            fi;
            id++
        :: else -> break
        od
    } unless { isDead };
    nAlive--
}

/* A line reaches the file in two parts. */
inline begin(sink, id) {
    assert(id != TORN && id != 0);
    assert(begun[sink] == 0 && !isThere[sink * IDS + id]);
    begun[sink] = id
}

inline complete(sink) {
    isThere[sink * IDS + begun[sink]] = true;
    begun[sink] = 0
}

inline write(sink) {            /* [WriteAll] */
    lane = 0;
    n = done[sink];
    do
    :: atomic {
            lane < LANES && n < ahead[lane * SINKS + sink] ->
            if
            :: isThere[sink * IDS + SLOT(lane, n)] -> assert(isSettling)
            :: else -> begin(sink, SLOT(lane, n))
            fi;
            n++
        };
        atomic {
            if
            :: begun[sink] != 0 -> complete(sink)
            :: else -> skip
            fi
        }
    :: atomic {
            lane < LANES && n == ahead[lane * SINKS + sink] ->
            lane++;
            if
            :: lane < LANES -> n = done[lane * SINKS + sink]
            :: else -> break
            fi
        }
    od
}

/* Those before the slowest cursor. */
inline release(lane) {          /* [NsDeliverFreeLane] */
    first[lane] = done[lane * SINKS];
    if
    :: done[lane * SINKS + SINKS - 1] < first[lane] ->
        first[lane] = done[lane * SINKS + SINKS - 1]
    :: else -> skip
    fi
}

inline commit(sink) {           /* [CommitCursors] */
    atomic { intent[sink] = WRITTEN; lane = 0 };
    do
    :: atomic {
            lane < LANES ->
            done[lane * SINKS + sink] = ahead[lane * SINKS + sink];
            release(lane);
            lane++
        }
    :: else -> break
    od;
    intent[sink] = IDLE
}

/* What the file ends with may be the beginning of a line in doubt. */
inline settle(sink) {           /* [Complete] */
    lane = 0;
    do
    :: lane < LANES ->
        n = done[lane * SINKS + sink];
        do
        :: n < ahead[lane * SINKS + sink] ->
            if
            :: begun[sink] == SLOT(lane, n) -> complete(sink)
            :: else -> skip
            fi;
            n++
        :: else -> break
        od;
        lane++
    :: else -> break
    od
}

proctype Sink(byte sink) {
    byte lane, n;
    bool isSettling;

    {
        if
        :: intent[sink] == WRITING ->   /* [NsSettleWrite] */
            atomic { isSettling = true; settle(sink) };
            write(sink);
            isSettling = false;
            commit(sink)
        :: intent[sink] == WRITTEN -> commit(sink)
        :: else -> skip
        fi;

end_idle:
        do                              /* [NsDeliverPass] */
        :: atomic {
                hasWork(0, sink) || hasWork(LANES - 1, sink) ->
                ahead[sink] = committed[0];
                ahead[(LANES - 1) * SINKS + sink] = committed[LANES - 1]
            };
            intent[sink] = WRITING;
            write(sink);
            commit(sink)
        od
    } unless { isDead };
    nAlive--
}

/* A process: the first has threads, the others what it left. */
proctype Process(bool isFirst) {
    byte lane, s;

    {
        for (lane : 0 .. LANES - 1) {   /* [NsRingCommitPrepared] */
            if
            :: isPrepared[lane] && preparedFor[lane] == committed[lane] &&
                area[lane] != TORN && sequence[lane] >= committed[lane] ->
                put(lane, area[lane])
            :: else -> skip
            fi;
            isPrepared[lane] = false
        }
        atomic {
            for (s : 0 .. SINKS - 1) { nAlive++; run Sink(s) }
            for (lane : 0 .. LANES - 1) {
                if
                :: isFirst -> nAlive++; run Thread(lane)
                :: else -> skip
                fi
            }
        }
    } unless { isDead };
    nAlive--
}

init {
    byte i, s;

    nAlive = 1;
    run Process(true);
    do
    :: atomic { nDeaths < DEATHS -> nDeaths++; isDead = true };
        atomic { nAlive == 0 -> isDead = false; nAlive = 1 };
        run Process(false)
    :: timeout -> break
    od;
    for (s : 0 .. SINKS - 1) {
        assert(begun[s] == 0);
        for (i : 1 .. IDS - 1) {
            assert(!isAnswered[i] || isThere[s * IDS + i]);
            assert(!isWithdrawn[i] || !isThere[s * IDS + i])
        }
    }
}

/* SPDX-License-Identifier: MPL-2.0
 * receipt.pml --
 *
 *      Who puts the log records of a reply that another thread sends, as
 *      nsd/log/stream/receipt.c has it: the thread that answers, and the sender,
 *      which is a writer thread.
 *
 *      A reply of some pieces.  The client may break off at any time.
 *
 *      Shown for every order of events, so for a death of the process at any moment:
 *        - there are never two records that count, prepared ones or the final one;
 *        - when the client has all, there is one;
 *        - in the end the final one has been put, once, with the bytes that were not
 *          sent; a client that breaks off in what may be the last portion may count
 *          as one that has all;
 *        - nobody uses the receipt after it was freed.
 */

#ifndef PIECES
#define PIECES 3
#endif

#define ANSWERING 0
#define LAST      1
#define SENT      2
#define LEAVING   3
#define LEFT      4
#define LOGGED    5
#define ENDED     6

byte state;
bool isFollowed, isFreed;
byte missing;                   /* Told by who ended. */

bool hasAnswerer, hasSender;    /* Records prepared in their lanes, */
byte nPut, putMissing;          /* and put. */

byte nAdded, nWaiting, nSent;   /* Pieces. */
bool isFinished, isGone;
bool mayExcuse;                 /* It broke off in what may have been the last portion. */

#define nCounting (hasAnswerer + hasSender + nPut)
#define isRight   (nCounting <= 1 && (nSent < PIECES || nCounting == 1))

inline use() { assert(!isFreed) }

inline move(from, to) {
    atomic {
        use();
        if
        :: state == from -> state = to; hasMoved = true
        :: else -> hasMoved = false
        fi
    }
}

/* The final record replaces the prepared one of its thread. */
inline put(prepared, n) {
    atomic { use(); prepared = false; nPut++; putMissing = n }
}

inline free() { atomic { use(); isFreed = true } }

proctype Answerer() {
    bool hasMoved;

    do
    :: nAdded < PIECES ->
        hasAnswerer = true;     /* [NsReqTraceAnnounce] */
        atomic {                /* [NsReceiptMore] */
            use();
            nAdded++;
            nWaiting++;
            if
            :: state == SENT -> state = ANSWERING
            :: else -> skip
            fi
        }
    :: else -> break
    od;
    use();
    isFollowed = true;
    isFinished = true;

leave:
    move(ANSWERING, LEAVING);
    if
    :: hasMoved ->
        hasAnswerer = false;    /* [Forget] */
        atomic { use(); assert(state == LEAVING); state = LEFT };
        goto gone
    :: else -> skip
    fi;
    move(LAST, LEAVING);
    if
    :: !hasMoved ->
        move(SENT, LEAVING);
        assert(!hasMoved || nSent == PIECES)
    :: else -> skip
    fi;
    if
    :: hasMoved ->
        put(hasAnswerer, 0);
        atomic { use(); assert(state == LEAVING); state = LOGGED };
        goto gone
    :: else -> skip
    fi;
    use();
    if
    :: state == ENDED ->
        put(hasAnswerer, missing);
        free()
    :: else -> goto leave
    fi;
gone:
    skip
}

proctype Sender() {
    byte nTaken, was;
    bool sawEnd, hasMoved;

serve:
    atomic {
        nWaiting > 0 || isFinished || nSent < nTaken;
        nTaken = nTaken + nWaiting;
        nWaiting = 0;
        sawEnd = isFinished
    }
    if
    :: !isGone && nSent < nTaken ->
begin:
        atomic {
            use();
            was = state;
            if
            :: was == ANSWERING -> state = LAST
            :: was == LEAVING -> goto serve
            :: else -> skip
            fi
        }
        if
        :: was == LEFT -> hasSender = true
        :: else -> skip
        fi;
        if
        :: atomic { isGone = true; mayExcuse = true }
        :: nSent++
        :: atomic { nSent + 1 < nTaken -> nSent = nTaken }
        fi;
        if
        :: isGone || nSent < nTaken ->
            move(LAST, ANSWERING);
            use();
            if
            :: !hasMoved && state == LEFT -> hasSender = false
            :: else -> skip
            fi
        :: else -> skip
        fi
    :: else -> skip
    fi;
    if
    :: !isGone && nSent < nTaken -> goto serve
    :: else -> skip
    fi;
    if
    :: !sawEnd ->
        atomic {                /* [NsReceiptSent] */
            if
            :: nWaiting == 0 && !isFinished && !isGone ->
                use();
                if
                :: state == LAST -> state = SENT
                :: else -> skip
                fi
            :: else -> skip
            fi
        }
        goto serve
    :: else -> skip
    fi;

end:
    use();
    was = state;
    if
    :: was == LEAVING -> goto serve
    :: was == LEFT -> put(hasSender, PIECES - nSent); free()
    :: was == LOGGED -> free()
    :: else ->
        if
        :: isFollowed ->
            missing = PIECES - nSent;
            move(was, ENDED);
            if
            :: !hasMoved -> goto end
            :: else -> skip
            fi
        :: else -> free()
        fi
    fi
}

active proctype Observer() {
    assert(isRight);
    (nPut > 0 && isFreed && _nr_pr == 1);
    assert(nPut == 1);
    assert(putMissing == PIECES - nSent || (mayExcuse && putMissing == 0))
}

init {
    atomic { run Answerer(); run Sender() }
}

/* SPDX-License-Identifier: MPL-2.0
 * sinksleep.h --
 *
 *      What a sink waits for while no thread works for it: a part of the sink.
 *      The code is in sinkwake.c and sinkthread.c.
 */

#ifndef NSD_LOG_SINKSLEEP_H
#define NSD_LOG_SINKSLEEP_H

#include "log/sink/sink.h"
#include "log/sink/worker.h"

/*
 * A request to a sink, carried out between two records.  Lives on its caller's
 * stack.
 */
typedef Ns_ReturnCode NsSinkOpProc(Ns_LogSink sink, void *arg);

typedef enum {
    NS_OP_PLAIN,
    NS_OP_FLUSH, /* Done when all before it is written, */
    NS_OP_SYNC   /* and is on disk. */
} NsSinkOpGoal;

typedef struct NsSinkOp {
    struct NsSinkOp *nextPtr;
    int64_t          time;
    NsSinkOpProc    *proc; /* NULL: just the goal. */
    void            *arg;
    NsSinkOpGoal     goal;
    Ns_ReturnCode    status;
    int              reason; /* errno */
    bool             isDone; /* Guarded by sleep.lock. */
} NsSinkOp;

/*
 * What a sink is doing, and what may wake it up.
 */
typedef enum {
    NS_SINK_RUNNING,
    NS_SINK_IDLE,     /* Any record of its streams. */
    NS_SINK_BATCHING, /* A nudge; it has lines to write later. */
    NS_SINK_RESTING,  /* Requests, and a shortage of memory. */
    NS_SINK_CALLERS   /* Any record: its caller serves the sink. */
} NsSinkState;

typedef struct NsSinkSleep {
    NsChore     chore; /* For the workers. */
    atomic_bool mustStop;
    atomic_bool isNudged; /* Since the last pass began. */
    atomic_int  state;    /* NsSinkState; written with the lock held. */

    Ns_Mutex  lock;   /* Guards the fields below. */
    Ns_Cond   opDone; /* Wakes the callers of requests. */
    NsSinkOp *firstOp;
    NsSinkOp *lastOp;
    bool      isServed; /* By workers; they also do requests. */
} NsSinkSleep;

#endif

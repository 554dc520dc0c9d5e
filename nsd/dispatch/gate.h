/* SPDX-License-Identifier: MPL-2.0
 * gate.h --
 *
 *      A limit for requests that belong together, in whichever pools they are.
 *
 *      At most so many of them are in pools at a time, queued ones included.
 *      Further ones wait outside of the pools, first come first served, where
 *      they keep nobody else waiting; beyond the number that may wait, requests
 *      are refused.  NsPoolSubmit asks the gate of a work that has one.
 *
 *      All calls are made with no lock held that ranks behind NS_RANK_GATE.
 */

#ifndef NSD_DISPATCH_GATE_H
#define NSD_DISPATCH_GATE_H

#include "dispatch/pool.h"

typedef struct NsGateLimits {
    int     maxRun;     /* In pools at a time; 0: no limit. */
    int     maxWait;    /* Outside. */
    NsStamp maxRuntime; /* Of each; 0: as its pool says. */
} NsGateLimits;

typedef struct NsGateFigures {
    int      nRunning; /* In pools. */
    int      nWaiting; /* Outside. */
    uint64_t nTimeouts;
    uint64_t nDropped;
} NsGateFigures;

/*
 * A gate that lets everything pass until it has limits.  It is never destroyed.
 */
NsGate *NsGateCreate(const char *name);

/*
 * New limits; those that need wait no longer, for NsPoolAdmit.
 */
NsWork *NsGateSetLimits(NsGate *gatePtr, const NsGateLimits *limitsPtr);

void NsGateRead(NsGate *gatePtr, NsGateFigures *figuresPtr);

/*
 * The calls below are for this room.
 *
 * A work comes.  NS_GATE_WAIT: it waits, and may be gone already.
 */
typedef enum { NS_GATE_PASS, NS_GATE_WAIT, NS_GATE_REFUSE } NsGateFate;

NsGateFate NsGateEnter(NsWork *workPtr);

/*
 * It ends; those that pass for it, as a list.
 */
NsWork *NsGateLeave(NsWork *workPtr);

/*
 * A work has run too long.
 */
void NsGateCountTimeout(NsGate *gatePtr);

/*
 * Off all gates: those of the pool that have waited since the limit or longer,
 * and the stamp is lowered to that of the oldest left; those of a pool that
 * stops, which pass, whatever the limits are.
 */
NsWork *NsGateTakeLate(NsPool *poolPtr, NsStamp limit, NsStamp *oldestPtr);
NsWork *NsGateDrain(NsPool *poolPtr);

#endif

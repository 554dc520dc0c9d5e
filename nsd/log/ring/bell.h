/* SPDX-License-Identifier: MPL-2.0
 * bell.h --
 *
 *      A thread that writes into a lane rings the bell for those that read it.
 *
 *      The procedures belong to rooms on the right, which register them before
 *      other threads start.  Any thread may ring; it holds no lock of the lanes
 *      and does not wait for the readers, unless its record has to be written
 *      before it may continue.
 */

#ifndef NSD_LOG_BELL_H
#define NSD_LOG_BELL_H

#include <stdatomic.h>

#include "nstypes.h"

typedef struct NsBell {
    /* A reader of the stream sleeps until there is a record, and now there is
     * one, of that time. */
    void (*recordProc)(int stream, int64_t time);

    /* The readers of the stream should stop collecting and write: there is a
     * lot, or it is important. */
    void (*nudgeProc)(int stream);

    /* A stream was created. */
    void (*streamProc)(int stream);

    /* Memory is short: the readers should release what they hold. */
    void (*shortageProc)(void);

    /* There is no memory for a record, and the thread that rings may wait: let
     * it make room.  False: it cannot. */
    bool (*roomProc)(void);

    /* So many segments have been taken that somebody should find out which
     * reader keeps them; see NsSegmentsWatch. */
    void (*takenProc)(void);
} NsBell;

extern NsBell nsBell; /* Constant after NsBellHang. */

void NsBellHang(const NsBell *bellPtr);

/*
 * A reader that goes to sleep says so, has all threads pass a barrier, and
 * looks at the lanes once more.  A writer puts a record, passes its half of the
 * barrier, and looks whether somebody sleeps.  Init: once, before there are
 * lanes.
 */
static inline void NsBellBarrier(void);
void               NsBellBarrierInAllThreads(void);
void               NsBellBarrierInit(void);

extern bool        nsBellNeedsFence; /* Constant after NsBellBarrierInit. */
extern atomic_uint nsBellFence;

static inline void
NsBellBarrier(void)
{
    __asm__ __volatile__("" ::: "memory");
    if (unlikely(nsBellNeedsFence)) {
        atomic_fetch_add(&nsBellFence, 0);
    }
}

#endif

/*
 * bell.h --
 *
 *      Rung by those who write into lanes, for those who read them.
 *
 *      The procedures belong to rooms on the right, which hang them up before
 *      there are other threads.  Any thread rings, with no lock held, and none
 *      waits for what follows, unless its record is to be written before it
 *      goes on.
 */

#ifndef NSD_LOG_BELL_H
#define NSD_LOG_BELL_H

#include <stdatomic.h>

#include "nstypes.h"

typedef struct NsBell {
    /* A reader of the stream sleeps until there is a record, and there is: one
     * of that time. */
    void (*recordProc)(int stream, int64_t time);

    /* The readers of the stream should not collect any more: there is much, or
     * what matters. */
    void (*nudgeProc)(int stream);

    /* There is a new stream. */
    void (*streamProc)(int stream);

    /* Memory is short: what readers hold is needed. */
    void (*shortageProc)(void);

    /* There is no memory for a record, and the ringing thread may wait: it
     * makes room.  False: it cannot. */
    bool (*roomProc)(void);

    /* So much is taken that somebody should look who keeps it; see
     * NsSegmentsWatch. */
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

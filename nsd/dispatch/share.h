/* SPDX-License-Identifier: MPL-2.0
 * share.h --
 *
 *      Each client's share of a pool.
 *
 *      With maxrunperpeer, a pool has at most so many requests of one client at
 *      a time, queued ones included.  Further ones are parked outside of the
 *      pool, first come first served, where they keep nobody else waiting.
 *      With maxwaitperpeer, a client that has so many requests waiting, queued
 *      or parked, is refused more.
 *
 *      As long as both are off, nobody is counted.  All calls but NsShareBegin
 *      are made with no lock held.
 */

#ifndef NSD_DISPATCH_SHARE_H
#define NSD_DISPATCH_SHARE_H

#include "dispatch/pool_int.h"

typedef enum { NS_SHARE_ENTER, NS_SHARE_PARK, NS_SHARE_REFUSE } NsShareFate;

/*
 * During configuration.
 */
void NsShareInit(NsPool *poolPtr);

/*
 * A request comes, of the client that its peer names.  NS_SHARE_ENTER: to be
 * submitted.  NS_SHARE_PARK: it waits, and may be gone already.
 */
NsShareFate NsShareEnter(NsPool *poolPtr, NsWork *workPtr);

/*
 * The work has got a thread, so it no longer waits; the thread itself says so,
 * too, if nobody has.  Needs no lock.
 */
void NsShareBegin(NsWork *workPtr);

/*
 * The work ends, if a client has a share in it.  Those that may enter for it,
 * as a list.
 */
NsWork *NsShareLeave(NsWork *workPtr);

/*
 * Those that may enter since a limit has changed, or, from now on and for all,
 * since the pool stops.
 */
NsWork *NsShareFill(NsPool *poolPtr, bool isStopping);

/*
 * Those that were parked before the limit; the stamp is lowered to that of the
 * oldest left.
 */
NsWork *NsShareTakeLate(NsPool *poolPtr, NsStamp limit, NsStamp *oldestPtr);

static inline bool
NsShareIsOn(const NsPool *poolPtr)
{
    return poolPtr->maxRunPerPeer > 0 || poolPtr->maxWaitPerPeer > 0;
}

#endif

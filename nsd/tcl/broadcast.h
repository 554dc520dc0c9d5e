/* SPDX-License-Identifier: MPL-2.0
 * broadcast.h --
 *
 *      What this server flushes, told to others, and what they flush, done
 *      here.
 */

#ifndef NSD_TCL_BROADCAST_H
#define NSD_TCL_BROADCAST_H

#include "nsbroadcast.h"
#include "process/server.h"

/*
 * What can be named on a channel.
 */
typedef enum { NS_BROADCAST_CACHE, NS_BROADCAST_ARRAY } NsBroadcastKind;

/*
 * Which values: without keys, all.
 */
typedef struct NsBroadcastKeys {
    bool               isGlob; /* They are patterns. */
    TCL_SIZE_T         n;
    const char *const *keys;
} NsBroadcastKeys;

/*
 * How a kind does what others ask for; each is set once, when the room starts.
 * Called without a lock held.
 */
typedef void NsBroadcastProc(NsServer *serverPtr, const char *name,
                             const NsBroadcastKeys *keysPtr);

void NsBroadcastSetProc(NsBroadcastKind kind, NsBroadcastProc *proc);

/*
 * Name a channel for a thing, instead of the one that it had; "" is none.  The
 * result is the thing's from then on: the channel, as long as the process
 * lives, or NULL.  The caller holds no lock of the server's.
 */
const char *NsBroadcastJoin(NsServer *serverPtr, NsBroadcastKind kind,
                            const char *name, const char *channel);

/*
 * Tell of a flush of the thing that has the channel (NULL: nothing is done).
 * Does not wait.  The caller holds no lock of the server's.
 */
void NsBroadcastTell(NsServer *serverPtr, const char *channel,
                     NsBroadcastKind kind, const char *name,
                     const NsBroadcastKeys *keysPtr);

#endif

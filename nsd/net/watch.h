/* SPDX-License-Identifier: MPL-2.0
 * watch.h --
 *
 *      A loop for the descriptors of others: of tasks, events, and callbacks.
 *
 *      Their owners may close a descriptor, or put another file in its place,
 *      before the loop hears of it.  So what happens is reported once, until it
 *      is asked for again, and a report that comes late leads nowhere.
 */

#ifndef NSD_NET_WATCH_H
#define NSD_NET_WATCH_H

#include "nstypes.h"
#include "net/loop.h"

/*
 * Owned by the loop's thread.
 */
typedef struct NsWatch {
    NsWheelEntry wheelEntry; /* Must be first. */
    uintptr_t    serial;     /* The data that the poller gives back. */
    int          fd;
    int          addedFd; /* With the poller; -1: none.  Another than
                           * fd if the poller does not take that. */
    int     when;         /* The conditions to wait for. */
    NsStamp due;          /* Until then; 0: no limit. */
    bool    isRefused;    /* The poller takes none for it. */
} NsWatch;

/*
 * Those of the conditions asked for that hold, or NS_SOCK_TIMEOUT.  An error or
 * a hang-up is a condition that was asked for, reading if possible: so the
 * owner finds out.
 */
typedef void NsWatchProc(NsWatch *watchPtr, int what, void *arg);

typedef struct NsWatchProcs {
    NsWatchProc *watchProc;
    void (*nodeProc)(NsInboxNode *nodePtr, void *arg); /* See loop.h. */
} NsWatchProcs;

typedef struct NsWatcher {
    NsLoop              loop;
    const NsWatchProcs *procsPtr; /* Constant. */
    void               *arg;      /* Constant. */
    uintptr_t           lastSerial;
    Tcl_HashTable       watches; /* Serial to NsWatch. */
} NsWatcher;

/*
 * NS_ERROR: errno says why.  Free: no watch is left.
 */
Ns_ReturnCode NsWatcherInit(NsWatcher *watcherPtr, const NsWatchProcs *procsPtr,
                            void *arg);
void          NsWatcherFree(NsWatcher *watcherPtr);

/*
 * Any of its watches; NULL: there is none.
 */
NsWatch *NsWatcherFirst(NsWatcher *watcherPtr);

/*
 * Begin, with a watch of zeros; wait for the given conditions until then, also
 * again after a report; end.
 */
void NsWatchBegin(NsWatcher *watcherPtr, NsWatch *watchPtr, int fd);
void NsWatchSet(NsWatcher *watcherPtr, NsWatch *watchPtr, int when,
                NsStamp due);
void NsWatchEnd(NsWatcher *watcherPtr, NsWatch *watchPtr);

/*
 * Wait for one descriptor, with no loop: what holds, or NS_SOCK_TIMEOUT; 0:
 * interrupted.
 */
int NsWatchAlone(int fd, int when, NsStamp due);

#endif

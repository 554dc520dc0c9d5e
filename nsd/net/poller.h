/* SPDX-License-Identifier: MPL-2.0
 * poller.h --
 *
 *      Waiting for many descriptors at once.
 *
 *      There are two back ends behind one interface: epoll, and poll for
 *      systems without it.  A kqueue one would fit.
 *
 *      A descriptor is watched in one of three ways.  Edge: an arrival is
 *      reported once; the thread reads until nothing is left, and says
 *      NsPollerResume.  Once: a condition is reported, and nothing further
 *      until NsPollerChange asks again; epoll alone can do that.  Level: the
 *      condition is reported as long as it holds.
 */

#ifndef NSD_NET_POLLER_H
#define NSD_NET_POLLER_H

#include "nstypes.h"

typedef struct NsPoller NsPoller;

#define NS_POLL_READ   0x1
#define NS_POLL_WRITE  0x2
#define NS_POLL_HANGUP 0x4  /* The peer sends no more, or is gone. */
#define NS_POLL_EDGE   0x8  /* Only in calls of NsPollerAdd and Change. */
#define NS_POLL_URGENT 0x10 /* Urgent data. */
#define NS_POLL_ONCE   0x20 /* Only in these calls, too. */

typedef struct NsPollEvent {
    void    *data;
    unsigned what; /* All but NS_POLL_EDGE and NS_POLL_ONCE. */
} NsPollEvent;

typedef enum { NS_POLLER_EPOLL, NS_POLLER_POLL } NsPollerKind;

/*
 * The calls below belong to the thread that waits, except NsPollerWake.
 */
NsPoller *NsPollerCreate(NsPollerKind kind);
void      NsPollerDestroy(NsPoller **pollerPtrPtr);

/*
 * Watch fd for what; data comes back with its events.  NS_ERROR when the
 * system refuses; errno says why.
 */
Ns_ReturnCode NsPollerAdd(NsPoller *pollerPtr, int fd, unsigned what,
                          void *data);
Ns_ReturnCode NsPollerChange(NsPoller *pollerPtr, int fd, unsigned what,
                             void *data);
void          NsPollerRemove(NsPoller *pollerPtr, int fd);

/*
 * An edge descriptor was read until nothing was left: report the next arrival.
 */
void NsPollerResume(NsPoller *pollerPtr, int fd);

/*
 * True when arrivals on an edge descriptor are reported without Resume: then a
 * socket can be given back without a word to the thread that waits.
 */
bool NsPollerIsAutomatic(const NsPoller *pollerPtr);

/*
 * Wait at most timeoutMs (-1: forever) for events, or a wake-up; the number of
 * events.
 */
int NsPollerWait(NsPoller *pollerPtr, NsPollEvent *events, int maxEvents,
                 int timeoutMs);

/*
 * End the wait, or the next one.  Any thread.
 */
void NsPollerWake(NsPoller *pollerPtr);

/*
 * The procedures of a back end; `implPtr` is its own.
 */
typedef struct NsPollerOps {
    void *(*createProc)(void);
    void (*destroyProc)(void *implPtr);
    int (*addProc)(void *implPtr, int fd, unsigned what, void *data);
    int (*changeProc)(void *implPtr, int fd, unsigned what, void *data);
    void (*removeProc)(void *implPtr, int fd);
    void (*resumeProc)(void *implPtr, int fd);
    int (*waitProc)(void *implPtr, NsPollEvent *events, int maxEvents,
                    int timeoutMs);
    bool isAutomatic;
} NsPollerOps;

extern const NsPollerOps NsPollerEpollOps;
extern const NsPollerOps NsPollerPollOps;

#endif

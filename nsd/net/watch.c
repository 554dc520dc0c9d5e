/* SPDX-License-Identifier: MPL-2.0
 * watch.c --
 *
 *      Descriptors of others, and a loop.
 *
 *      The poller is asked for one report at a time, and never to forget a
 *      descriptor: its owner may have closed it by then, and its number may be
 *      that of another file.  It knows a watch by its serial number, which no
 *      later one has, so what it still reports leads nowhere.
 *
 *      It takes no plain files, which are ready all the time: something else
 *      that is so stands for them.
 */

#include "net/watch.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/interrupt.h"

#include <sys/eventfd.h>

/*
 * How often to look at a descriptor that cannot be watched.
 */
#define RETRY_NS INT64_C(10000000)
#define MS       INT64_C(1000000)

static void          HandleEvent(const NsPollEvent *eventPtr, void *arg);
static void          TakeNode(NsInboxNode *nodePtr, void *arg);
static void          TimeUp(NsWheelEntry *entryPtr, void *arg);
static void          Ask(NsWatcher *watcherPtr, NsWatch *watchPtr);
static void          LookAgain(NsWatcher *watcherPtr, NsWatch *watchPtr);
static Ns_ReturnCode Add(NsWatcher *watcherPtr, NsWatch *watchPtr);
static int           StandIn(int fd);
static bool          IsWatched(NsWatcher *watcherPtr, int fd);
static void          Forget(NsWatcher *watcherPtr, NsWatch *watchPtr);
static unsigned      PollerBits(int when);
static int           Conditions(int when, unsigned got);

static const NsLoopProcs loopProcs = {
    .eventProc = HandleEvent, .nodeProc = TakeNode, .timeProc = TimeUp};

Ns_ReturnCode
NsWatcherInit(NsWatcher *watcherPtr, const NsWatchProcs *procsPtr, void *arg)
{
    watcherPtr->procsPtr = procsPtr;
    watcherPtr->arg = arg;
    watcherPtr->lastSerial = 0u;
    if (NsLoopInit(&watcherPtr->loop, NS_POLLER_EPOLL, &loopProcs, watcherPtr)
        != NS_OK) {
        return NS_ERROR;
    }
    Tcl_InitHashTable(&watcherPtr->watches, TCL_ONE_WORD_KEYS);
    return NS_OK;
}

void
NsWatcherFree(NsWatcher *watcherPtr)
{
    NsAssert(watcherPtr->watches.numEntries == 0);
    Tcl_DeleteHashTable(&watcherPtr->watches);
    NsLoopFree(&watcherPtr->loop);
}

NsWatch *
NsWatcherFirst(NsWatcher *watcherPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(&watcherPtr->watches, &search);

    return hPtr == NULL ? NULL : Tcl_GetHashValue(hPtr);
}

void
NsWatchBegin(NsWatcher *watcherPtr, NsWatch *watchPtr, int fd)
{
    Tcl_HashEntry *hPtr;
    int            isNew;

    NsAssert(watchPtr->serial == 0u && watchPtr->wheelEntry.nextPtr == NULL);
    watchPtr->fd = fd;
    watchPtr->addedFd = -1;
    watchPtr->serial = ++watcherPtr->lastSerial;
    hPtr = Tcl_CreateHashEntry(&watcherPtr->watches,
                               (const char *) watchPtr->serial, &isNew);
    NsAssert(isNew);
    Tcl_SetHashValue(hPtr, watchPtr);
}

void
NsWatchSet(NsWatcher *watcherPtr, NsWatch *watchPtr, int when, NsStamp due)
{
    NsAssert(watchPtr->serial != 0u);
    watchPtr->when = when & NS_SOCK_ANY;
    watchPtr->due = due;
    Ask(watcherPtr, watchPtr);
    if (watchPtr->isRefused) {
        NsStamp again = NsClockNow() + RETRY_NS;

        due = due == 0 ? again : MIN(due, again);
    }
    if (due == 0) {
        NsWheelCancel(&watcherPtr->loop.wheel, &watchPtr->wheelEntry);
    } else {
        NsWheelSet(&watcherPtr->loop.wheel, &watchPtr->wheelEntry, MAX(due, 1));
    }
}

void
NsWatchEnd(NsWatcher *watcherPtr, NsWatch *watchPtr)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&watcherPtr->watches,
                                            (const char *) watchPtr->serial);

    NsAssert(hPtr != NULL && Tcl_GetHashValue(hPtr) == watchPtr);
    Tcl_DeleteHashEntry(hPtr);
    Forget(watcherPtr, watchPtr);
    NsWheelCancel(&watcherPtr->loop.wheel, &watchPtr->wheelEntry);
    watchPtr->serial = 0u;
}

int
NsWatchAlone(int fd, int when, NsStamp due)
{
    struct pollfd pollFd = {.fd = fd};
    NsStamp       left = due - NsClockNow();
    unsigned      got = 0u;
    int           n;

    pollFd.events = (short) (((when & NS_SOCK_READ) != 0 ? POLLIN : 0)
                             | ((when & NS_SOCK_WRITE) != 0 ? POLLOUT : 0)
                             | ((when & NS_SOCK_EXCEPTION) != 0 ? POLLPRI : 0));
    n = NsPollEndable(&pollFd, 1u,
                      due == 0        ? -1
                          : left <= 0 ? 0
                                      : (int) MIN(left / MS + 1, INT_MAX));
    if (n == 0 && NsInterruptIsSet()) {
        return NS_SOCK_TIMEOUT;
    }
    if (n <= 0) {
        return due != 0 && NsClockNow() >= due ? NS_SOCK_TIMEOUT : 0;
    }
    got |= (pollFd.revents & POLLIN) != 0 ? NS_POLL_READ : 0u;
    got |= (pollFd.revents & POLLOUT) != 0 ? NS_POLL_WRITE : 0u;
    got |= (pollFd.revents & POLLPRI) != 0 ? NS_POLL_URGENT : 0u;
    got |= (pollFd.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0
        ? NS_POLL_HANGUP
        : 0u;
    return Conditions(when, got);
}

static void
HandleEvent(const NsPollEvent *eventPtr, void *arg)
{
    NsWatcher           *watcherPtr = arg;
    const Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&watcherPtr->watches,
                                                  eventPtr->data);
    NsWatch             *watchPtr;
    int                  what;

    if (hPtr == NULL) {
        return;
    }
    watchPtr = Tcl_GetHashValue(hPtr);
    NsAssert(watchPtr->serial == (uintptr_t) eventPtr->data);
    what = Conditions(watchPtr->when, eventPtr->what);
    if (what != 0) {
        watcherPtr->procsPtr->watchProc(watchPtr, what, watcherPtr->arg);
    }
}

static void
TakeNode(NsInboxNode *nodePtr, void *arg)
{
    NsWatcher *watcherPtr = arg;

    watcherPtr->procsPtr->nodeProc(nodePtr, watcherPtr->arg);
}

static void
TimeUp(NsWheelEntry *entryPtr, void *arg)
{
    NsWatcher *watcherPtr = arg;
    NsWatch   *watchPtr = (NsWatch *) entryPtr;
    bool       isOver = watchPtr->due != 0 && watchPtr->due <= NsClockNow();

    NsAssert(watchPtr->serial != 0u && (isOver || watchPtr->isRefused));
    if (isOver) {
        watcherPtr->procsPtr->watchProc(watchPtr, NS_SOCK_TIMEOUT,
                                        watcherPtr->arg);
    } else {
        LookAgain(watcherPtr, watchPtr);
    }
}

static void
LookAgain(NsWatcher *watcherPtr, NsWatch *watchPtr)
{
    int what = NsWatchAlone(watchPtr->fd, watchPtr->when, 1);

    if (what == 0 || what == NS_SOCK_TIMEOUT) {
        NsWatchSet(watcherPtr, watchPtr, watchPtr->when, watchPtr->due);
    } else {
        watcherPtr->procsPtr->watchProc(watchPtr, what, watcherPtr->arg);
    }
}

/*
 * Have the poller report what the watch waits for, also if it is so already.
 */
static void
Ask(NsWatcher *watcherPtr, NsWatch *watchPtr)
{
    Ns_ReturnCode result = NS_ERROR;

    watchPtr->isRefused = false;
    if (watchPtr->when == 0) {
        Forget(watcherPtr, watchPtr);
        return;
    }
    if (watchPtr->addedFd >= 0) {
        result = NsPollerChange(watcherPtr->loop.pollerPtr, watchPtr->addedFd,
                                PollerBits(watchPtr->when),
                                (void *) watchPtr->serial);
    }
    if (result != NS_OK) {
        /* It is new, or a new file is behind it. */
        Forget(watcherPtr, watchPtr);
        watchPtr->isRefused = Add(watcherPtr, watchPtr) != NS_OK;
    }
}

static Ns_ReturnCode
Add(NsWatcher *watcherPtr, NsWatch *watchPtr)
{
    NsPoller *pollerPtr = watcherPtr->loop.pollerPtr;
    unsigned  bits = PollerBits(watchPtr->when);
    void     *data = (void *) watchPtr->serial;
    int       fd = watchPtr->fd;

    if (NsPollerAdd(pollerPtr, fd, bits, data) != NS_OK) {
        if (errno == EEXIST && !IsWatched(watcherPtr, fd)) {
            /* By one that has ended. */
            watchPtr->addedFd = fd;
            return NsPollerChange(pollerPtr, fd, bits, data);
        }
        fd = StandIn(fd);
        if (fd < 0 || NsPollerAdd(pollerPtr, fd, bits, data) != NS_OK) {
            if (fd >= 0) {
                NsClose(fd);
            }
            return NS_ERROR;
        }
    }
    watchPtr->addedFd = fd;
    return NS_OK;
}

/*
 * What to add in the place of a descriptor that the poller has just refused;
 * -1: nothing.
 */
static int
StandIn(int fd)
{
    switch (errno) {
    case EEXIST:
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    case EPERM:
        return eventfd(1u, EFD_CLOEXEC | EFD_NONBLOCK);
    default:
        return -1;
    }
}

/*
 * Rare, so a look at all.
 */
static bool
IsWatched(NsWatcher *watcherPtr, int fd)
{
    Tcl_HashSearch       search;
    const Tcl_HashEntry *hPtr;

    for (hPtr = Tcl_FirstHashEntry(&watcherPtr->watches, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        const NsWatch *watchPtr = Tcl_GetHashValue(hPtr);

        if (watchPtr->addedFd == fd) {
            return true;
        }
    }
    return false;
}

static void
Forget(NsWatcher *watcherPtr, NsWatch *watchPtr)
{
    if (watchPtr->addedFd >= 0 && watchPtr->addedFd != watchPtr->fd) {
        NsPollerRemove(watcherPtr->loop.pollerPtr, watchPtr->addedFd);
        NsClose(watchPtr->addedFd);
    }
    watchPtr->addedFd = -1;
}

static unsigned
PollerBits(int when)
{
    return NS_POLL_ONCE | ((when & NS_SOCK_READ) != 0 ? NS_POLL_READ : 0u)
        | ((when & NS_SOCK_WRITE) != 0 ? NS_POLL_WRITE : 0u)
        | ((when & NS_SOCK_EXCEPTION) != 0 ? NS_POLL_URGENT : 0u);
}

static int
Conditions(int when, unsigned got)
{
    int what = 0;

    what |= (got & NS_POLL_READ) != 0u ? NS_SOCK_READ : 0;
    what |= (got & NS_POLL_WRITE) != 0u ? NS_SOCK_WRITE : 0;
    what |= (got & NS_POLL_URGENT) != 0u ? NS_SOCK_EXCEPTION : 0;
    what &= when;
    if (what == 0 && (got & NS_POLL_HANGUP) != 0u) {
        /* The first of those that were asked for. */
        what = when & -when;
    }
    return what;
}

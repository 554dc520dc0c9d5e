/* SPDX-License-Identifier: MPL-2.0
 * poller_poll.c --
 *
 *      The poll back end: for systems without epoll, and to compare with.
 *
 *      poll knows levels only.  An edge descriptor is left out of the set after
 *      it was reported, until NsPollerResume.
 */

#include "net/poller.h"
#include "nsthread.h"
#include "base/assert.h"

typedef struct PollSlot {
    void    *data;
    unsigned what;
} PollSlot;

/*
 * Entry i of pollFds and slots belong together; indexOf leads from a descriptor
 * to its entry.
 */
typedef struct PollSet {
    struct pollfd *pollFds;
    PollSlot      *slots;
    int            n;
    int            size;
    int           *indexOf; /* By descriptor; -1: not watched. */
    int            nIndexes;
    int            first; /* The start of reporting: fair when more are
                           * ready than the caller takes. */
} PollSet;

static short PollMask(unsigned what);
static void  Grow(PollSet *setPtr, int fd);

static void *
PollCreate(void)
{
    return ns_calloc(1u, sizeof(PollSet));
}

static void
PollDestroy(void *implPtr)
{
    PollSet *setPtr = implPtr;

    ns_free(setPtr->pollFds);
    ns_free(setPtr->slots);
    ns_free(setPtr->indexOf);
    ns_free(setPtr);
}

static int
PollAdd(void *implPtr, int fd, unsigned what, void *data)
{
    PollSet *setPtr = implPtr;
    int      i;

    Grow(setPtr, fd);
    if (setPtr->indexOf[fd] >= 0) {
        errno = EEXIST;
        return -1;
    }
    i = setPtr->n++;
    setPtr->indexOf[fd] = i;
    setPtr->pollFds[i].fd = fd;
    setPtr->pollFds[i].events = PollMask(what);
    setPtr->pollFds[i].revents = 0;
    setPtr->slots[i].data = data;
    setPtr->slots[i].what = what;
    return 0;
}

static int
PollChange(void *implPtr, int fd, unsigned what, void *data)
{
    PollSet *setPtr = implPtr;
    int      i = fd < setPtr->nIndexes ? setPtr->indexOf[fd] : -1;

    if (i < 0) {
        errno = ENOENT;
        return -1;
    }
    setPtr->pollFds[i].fd = fd;
    setPtr->pollFds[i].events = PollMask(what);
    setPtr->slots[i].what = what;
    setPtr->slots[i].data = data;
    return 0;
}

static void
PollRemove(void *implPtr, int fd)
{
    PollSet *setPtr = implPtr;
    int      i = fd < setPtr->nIndexes ? setPtr->indexOf[fd] : -1;
    int      last;

    if (i < 0) {
        return;
    }
    last = --setPtr->n;
    setPtr->indexOf[fd] = -1;
    if (i != last) {
        int lastFd = setPtr->pollFds[last].fd;

        setPtr->pollFds[i] = setPtr->pollFds[last];
        setPtr->slots[i] = setPtr->slots[last];
        setPtr->indexOf[lastFd >= 0 ? lastFd : -1 - lastFd] = i;
    }
}

static void
PollResume(void *implPtr, int fd)
{
    PollSet *setPtr = implPtr;
    int      i = fd < setPtr->nIndexes ? setPtr->indexOf[fd] : -1;

    if (i >= 0) {
        setPtr->pollFds[i].fd = fd;
    }
}

static int
PollWait(void *implPtr, NsPollEvent *events, int maxEvents, int timeoutMs)
{
    PollSet *setPtr = implPtr;
    int      nReady = poll(setPtr->pollFds, (nfds_t) setPtr->n, timeoutMs);
    int      nEvents = 0;

    for (int k = 0; k < setPtr->n && nEvents < MIN(nReady, maxEvents); k++) {
        int            i = (setPtr->first + k) % setPtr->n;
        struct pollfd *pollPtr = &setPtr->pollFds[i];
        unsigned       what = 0u;

        if (pollPtr->fd < 0 || pollPtr->revents == 0) {
            continue;
        }
        if ((pollPtr->revents & POLLIN) != 0) {
            what |= NS_POLL_READ;
        }
        if ((pollPtr->revents & POLLPRI) != 0) {
            what |= NS_POLL_URGENT;
        }
        if ((pollPtr->revents & POLLOUT) != 0) {
            what |= NS_POLL_WRITE;
        }
        if ((pollPtr->revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
            != 0) {
            what |= NS_POLL_HANGUP;
        }
        events[nEvents].data = setPtr->slots[i].data;
        events[nEvents].what = what;
        nEvents++;
        if ((setPtr->slots[i].what & NS_POLL_EDGE) != 0u) {
            /* poll skips negative descriptors; Resume puts it back. */
            pollPtr->fd = -1 - pollPtr->fd;
        }
        if (nEvents == maxEvents) {
            setPtr->first = (i + 1) % setPtr->n;
        }
    }
    return nEvents;
}

static short
PollMask(unsigned what)
{
    int mask = 0;

    if ((what & NS_POLL_READ) != 0u) {
        mask |= POLLIN | POLLRDHUP;
    }
    if ((what & NS_POLL_WRITE) != 0u) {
        mask |= POLLOUT;
    }
    if ((what & NS_POLL_URGENT) != 0u) {
        mask |= POLLPRI;
    }
    return (short) mask;
}

/*
 * Make room for one more entry, and for fd in the index.
 */
static void
Grow(PollSet *setPtr, int fd)
{
    NsAssert(fd >= 0);
    if (setPtr->n == setPtr->size) {
        setPtr->size = setPtr->size == 0 ? 64 : setPtr->size * 2;
        setPtr->pollFds = ns_realloc(setPtr->pollFds,
                                     (size_t) setPtr->size
                                         * sizeof(struct pollfd));
        setPtr->slots = ns_realloc(setPtr->slots,
                                   (size_t) setPtr->size * sizeof(PollSlot));
    }
    if (fd >= setPtr->nIndexes) {
        int n = MAX(fd + 1, setPtr->nIndexes * 2);

        setPtr->indexOf = ns_realloc(setPtr->indexOf, (size_t) n * sizeof(int));
        while (setPtr->nIndexes < n) {
            setPtr->indexOf[setPtr->nIndexes++] = -1;
        }
    }
}

const NsPollerOps NsPollerPollOps = {
    .createProc = PollCreate,
    .destroyProc = PollDestroy,
    .addProc = PollAdd,
    .changeProc = PollChange,
    .removeProc = PollRemove,
    .resumeProc = PollResume,
    .waitProc = PollWait,
    .isAutomatic = false};

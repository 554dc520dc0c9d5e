/* SPDX-License-Identifier: MPL-2.0
 * poller_epoll.c --
 *
 *      The epoll back end.
 */

#include "net/poller.h"
#include "nsthread.h"

#include <sys/epoll.h>

#define MAX_EVENTS 256

typedef struct Epoll {
    int                fd;
    struct epoll_event events[MAX_EVENTS];
} Epoll;

static int Control(Epoll *epollPtr, int operation, int fd, unsigned what,
                   void *data);

static void *
EpollCreate(void)
{
    Epoll *epollPtr = ns_calloc(1u, sizeof(Epoll));

    epollPtr->fd = epoll_create1(EPOLL_CLOEXEC);
    if (epollPtr->fd < 0) {
        ns_free(epollPtr);
        epollPtr = NULL;
    }
    return epollPtr;
}

static void
EpollDestroy(void *implPtr)
{
    Epoll *epollPtr = implPtr;

    close(epollPtr->fd);
    ns_free(epollPtr);
}

static int
EpollAdd(void *implPtr, int fd, unsigned what, void *data)
{
    return Control(implPtr, EPOLL_CTL_ADD, fd, what, data);
}

static int
EpollChange(void *implPtr, int fd, unsigned what, void *data)
{
    return Control(implPtr, EPOLL_CTL_MOD, fd, what, data);
}

static void
EpollRemove(void *implPtr, int fd)
{
    struct epoll_event unused = {0};

    (void) epoll_ctl(((Epoll *) implPtr)->fd, EPOLL_CTL_DEL, fd, &unused);
}

static void
EpollResume(void *implPtr, int fd)
{
}

static int
EpollWait(void *implPtr, NsPollEvent *events, int maxEvents, int timeoutMs)
{
    Epoll *epollPtr = implPtr;
    int    n = epoll_wait(epollPtr->fd, epollPtr->events,
                          MIN(maxEvents, MAX_EVENTS), timeoutMs);

    for (int i = 0; i < n; i++) {
        uint32_t got = epollPtr->events[i].events;
        unsigned what = 0u;

        if ((got & EPOLLIN) != 0u) {
            what |= NS_POLL_READ;
        }
        if ((got & EPOLLPRI) != 0u) {
            what |= NS_POLL_URGENT;
        }
        if ((got & EPOLLOUT) != 0u) {
            what |= NS_POLL_WRITE;
        }
        if ((got & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0u) {
            what |= NS_POLL_HANGUP;
        }
        events[i].data = epollPtr->events[i].data.ptr;
        events[i].what = what;
    }
    return n;
}

static int
Control(Epoll *epollPtr, int operation, int fd, unsigned what, void *data)
{
    struct epoll_event event = {.data.ptr = data};

    if ((what & NS_POLL_READ) != 0u) {
        event.events |= EPOLLIN | EPOLLRDHUP;
    }
    if ((what & NS_POLL_WRITE) != 0u) {
        event.events |= EPOLLOUT;
    }
    if ((what & NS_POLL_URGENT) != 0u) {
        event.events |= EPOLLPRI;
    }
    if ((what & NS_POLL_EDGE) != 0u) {
        event.events |= EPOLLET;
    }
    if ((what & NS_POLL_ONCE) != 0u) {
        event.events |= EPOLLONESHOT;
    }
    return epoll_ctl(epollPtr->fd, operation, fd, &event);
}

const NsPollerOps NsPollerEpollOps = {
    .createProc = EpollCreate,
    .destroyProc = EpollDestroy,
    .addProc = EpollAdd,
    .changeProc = EpollChange,
    .removeProc = EpollRemove,
    .resumeProc = EpollResume,
    .waitProc = EpollWait,
    .isAutomatic = true};

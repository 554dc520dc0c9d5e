/* SPDX-License-Identifier: MPL-2.0
 * poller.c --
 *
 *      Choice of the back end, and the descriptor that ends a wait.
 */

#include "net/poller.h"
#include "nsthread.h"
#include "base/assert.h"

#include <sys/eventfd.h>

struct NsPoller {
    const NsPollerOps *ops;
    void              *implPtr;
    int                wakeFd; /* An eventfd; its events are not shown. */
};

static int HideWakeUps(NsPoller *pollerPtr, NsPollEvent *events, int n);

NsPoller *
NsPollerCreate(NsPollerKind kind)
{
    NsPoller *pollerPtr = ns_calloc(1u, sizeof(NsPoller));

    pollerPtr->ops = kind == NS_POLLER_POLL
        ? &NsPollerPollOps
        : &NsPollerEpollOps;
    pollerPtr->implPtr = pollerPtr->ops->createProc();
    pollerPtr->wakeFd = eventfd(0u, EFD_NONBLOCK | EFD_CLOEXEC);
    if (pollerPtr->implPtr == NULL || pollerPtr->wakeFd < 0
        || NsPollerAdd(pollerPtr, pollerPtr->wakeFd,
                       NS_POLL_READ | NS_POLL_EDGE, pollerPtr)
            != NS_OK) {
        NsPollerDestroy(&pollerPtr);
    }
    return pollerPtr;
}

void
NsPollerDestroy(NsPoller **pollerPtrPtr)
{
    NsPoller *pollerPtr = *pollerPtrPtr;

    if (pollerPtr->implPtr != NULL) {
        pollerPtr->ops->destroyProc(pollerPtr->implPtr);
    }
    if (pollerPtr->wakeFd >= 0) {
        close(pollerPtr->wakeFd);
    }
    ns_free(pollerPtr);
    *pollerPtrPtr = NULL;
}

Ns_ReturnCode
NsPollerAdd(NsPoller *pollerPtr, int fd, unsigned what, void *data)
{
    return pollerPtr->ops->addProc(pollerPtr->implPtr, fd, what, data) == 0
        ? NS_OK
        : NS_ERROR;
}

Ns_ReturnCode
NsPollerChange(NsPoller *pollerPtr, int fd, unsigned what, void *data)
{
    return pollerPtr->ops->changeProc(pollerPtr->implPtr, fd, what, data) == 0
        ? NS_OK
        : NS_ERROR;
}

void
NsPollerRemove(NsPoller *pollerPtr, int fd)
{
    pollerPtr->ops->removeProc(pollerPtr->implPtr, fd);
}

void
NsPollerResume(NsPoller *pollerPtr, int fd)
{
    if (!pollerPtr->ops->isAutomatic) {
        pollerPtr->ops->resumeProc(pollerPtr->implPtr, fd);
    }
}

bool
NsPollerIsAutomatic(const NsPoller *pollerPtr)
{
    return pollerPtr->ops->isAutomatic;
}

int
NsPollerWait(NsPoller *pollerPtr, NsPollEvent *events, int maxEvents,
             int timeoutMs)
{
    int n = pollerPtr->ops->waitProc(pollerPtr->implPtr, events, maxEvents,
                                     timeoutMs);

    return HideWakeUps(pollerPtr, events, n);
}

void
NsPollerWake(NsPoller *pollerPtr)
{
    uint64_t one = 1u;
    ssize_t  n = write(pollerPtr->wakeFd, &one, sizeof(one));

    /* It fails only when the counter is full: then a wake-up is due anyhow. */
    (void) n;
}

/*
 * Take the event of the own descriptor out of the list, whose order of arrival
 * matters to base/filewatch.h.  Being an edge, it need
 * not be read where the back end is automatic: every write is a new arrival.
 */
static int
HideWakeUps(NsPoller *pollerPtr, NsPollEvent *events, int n)
{
    for (int i = 0; i < n; i++) {
        if (events[i].data == pollerPtr) {
            if (!pollerPtr->ops->isAutomatic) {
                uint64_t count;
                ssize_t  nRead = read(pollerPtr->wakeFd, &count, sizeof(count));

                (void) nRead;
                NsPollerResume(pollerPtr, pollerPtr->wakeFd);
            }
            memmove(&events[i], &events[i + 1],
                    (size_t) (n - 1 - i) * sizeof(events[0]));
            return n - 1;
        }
    }
    return n < 0 ? 0 : n;
}

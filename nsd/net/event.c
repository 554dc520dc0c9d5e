/*
 * event.c --
 *
 *      Event queues: like task queues, but the caller runs the loop.
 *
 *      Everything belongs to the thread that runs the queue, except what others
 *      enqueue.
 */

#include "nssocket.h"
#include "nsthread.h"
#include "base/clock.h"
#include "base/lock.h"

#include <sys/eventfd.h>

#define STAMP_MS (NS_STAMP_SECOND / 1000)

typedef struct Event {
    struct Event *nextPtr;
    NS_SOCKET     sock;
    Ns_EventProc *proc;
    void         *arg;
    int           when;             /* 0: over after this call. */
    NsStamp       due;              /* 0: no timeout. */
} Event;

typedef struct EventQueue {
    int            maxEvents;       /* Constant. */
    int            wakeFd;          /* Constant. */

    Ns_Mutex       lock;            /* Guards these two. */
    Event         *incomingPtr;
    int            nEvents;

    Event         *firstPtr;        /* The thread that runs. */
    struct pollfd *fds;
} EventQueue;

static void Begin(EventQueue *queuePtr, Ns_Time *nowPtr);
static int  BuildPoll(EventQueue *queuePtr, int *msPtr);
static void Call(Event *eventPtr, Ns_Time *nowPtr, int why);
static int  WhyOf(const Event *eventPtr, short got, NsStamp now);

Ns_EventQueue *
Ns_CreateEventQueue(int maxEvents)
{
    EventQueue *queuePtr = ns_calloc(1u, sizeof(EventQueue));

    queuePtr->maxEvents = MAX(maxEvents, 1);
    queuePtr->wakeFd = eventfd(0u, EFD_NONBLOCK | EFD_CLOEXEC);
    NsMutexSetup(&queuePtr->lock, NS_RANK_TASK, "ns:event", NULL);
    queuePtr->fds = ns_calloc((size_t) queuePtr->maxEvents + 1u,
                              sizeof(struct pollfd));
    return (Ns_EventQueue *) queuePtr;
}

int
Ns_EventEnqueue(Ns_EventQueue *queue, NS_SOCKET sock, Ns_EventProc *proc,
                void *arg)
{
    EventQueue *queuePtr = (EventQueue *) queue;
    Event      *eventPtr;

    Ns_MutexLock(&queuePtr->lock);
    if (queuePtr->nEvents == queuePtr->maxEvents) {
        Ns_MutexUnlock(&queuePtr->lock);
        return NS_ERROR;
    }
    queuePtr->nEvents++;
    eventPtr = ns_calloc(1u, sizeof(Event));
    eventPtr->sock = sock;
    eventPtr->proc = proc;
    eventPtr->arg = arg;
    eventPtr->nextPtr = queuePtr->incomingPtr;
    queuePtr->incomingPtr = eventPtr;
    Ns_MutexUnlock(&queuePtr->lock);
    return NS_OK;
}

void
Ns_EventCallback(Ns_Event *event, int when, Ns_Time *timeoutPtr)
{
    Event *eventPtr = (Event *) event;

    eventPtr->when = when;
    eventPtr->due = timeoutPtr == NULL ? 0 : NsClockDue(timeoutPtr);
}

int
Ns_RunEventQueue(Ns_EventQueue *queue)
{
    EventQueue *queuePtr = (EventQueue *) queue;
    Event     **linkPtrPtr = &queuePtr->firstPtr;
    Ns_Time     now;
    NsStamp     stamp;
    int         i = 1, n, ms, isLeft;

    Ns_GetTime(&now);
    Begin(queuePtr, &now);
    n = BuildPoll(queuePtr, &ms);
    if (n > 1 && poll(queuePtr->fds, (nfds_t) n, ms) > 0
            && queuePtr->fds[0].revents != 0) {
        uint64_t count;
        ssize_t  nRead = read(queuePtr->wakeFd, &count, sizeof(count));

        (void) nRead;
    }
    Ns_GetTime(&now);
    stamp = NsClockNow();
    while (*linkPtrPtr != NULL) {
        Event *eventPtr = *linkPtrPtr;
        int    why = eventPtr->when == 0
            ? 0 : WhyOf(eventPtr, queuePtr->fds[i++].revents, stamp);

        if (why != 0) {
            Call(eventPtr, &now, why);
        }
        if (eventPtr->when == 0) {
            *linkPtrPtr = eventPtr->nextPtr;
            ns_free(eventPtr);
            Ns_MutexLock(&queuePtr->lock);
            queuePtr->nEvents--;
            Ns_MutexUnlock(&queuePtr->lock);
        } else {
            linkPtrPtr = &eventPtr->nextPtr;
        }
    }
    Ns_MutexLock(&queuePtr->lock);
    isLeft = queuePtr->nEvents > 0;
    Ns_MutexUnlock(&queuePtr->lock);
    return isLeft;
}

void
Ns_TriggerEventQueue(Ns_EventQueue *queue)
{
    uint64_t one = 1u;
    ssize_t  n = write(((EventQueue *) queue)->wakeFd, &one, sizeof(one));

    (void) n;
}

void
Ns_ExitEventQueue(Ns_EventQueue *queue)
{
    EventQueue *queuePtr = (EventQueue *) queue;
    Ns_Time     now;

    Ns_GetTime(&now);
    Begin(queuePtr, &now);
    while (queuePtr->firstPtr != NULL) {
        Event *eventPtr = queuePtr->firstPtr;

        queuePtr->firstPtr = eventPtr->nextPtr;
        Call(eventPtr, &now, NS_SOCK_EXIT);
        ns_free(eventPtr);
    }
    close(queuePtr->wakeFd);
    Ns_MutexDestroy(&queuePtr->lock);
    ns_free(queuePtr->fds);
    ns_free(queuePtr);
}

/*
 * Take over new events, and let each say what it waits for.
 */
static void
Begin(EventQueue *queuePtr, Ns_Time *nowPtr)
{
    Event *eventPtr;

    Ns_MutexLock(&queuePtr->lock);
    eventPtr = queuePtr->incomingPtr;
    queuePtr->incomingPtr = NULL;
    Ns_MutexUnlock(&queuePtr->lock);
    while (eventPtr != NULL) {
        Event *nextPtr = eventPtr->nextPtr;

        eventPtr->nextPtr = queuePtr->firstPtr;
        queuePtr->firstPtr = eventPtr;
        Call(eventPtr, nowPtr, NS_SOCK_INIT);
        eventPtr = nextPtr;
    }
}

/*
 * Fill fds, the first being the one that wakes us; their number.
 */
static int
BuildPoll(EventQueue *queuePtr, int *msPtr)
{
    NsStamp now = NsClockNow();
    int     n = 1;

    *msPtr = -1;
    queuePtr->fds[0] = (struct pollfd) {
        .fd = queuePtr->wakeFd, .events = POLLIN
    };
    for (const Event *eventPtr = queuePtr->firstPtr; eventPtr != NULL;
         eventPtr = eventPtr->nextPtr) {
        int events = 0;

        if (eventPtr->when == 0) {
            continue;
        }
        if ((eventPtr->when & NS_SOCK_READ) != 0) {
            events |= POLLIN;
        }
        if ((eventPtr->when & NS_SOCK_WRITE) != 0) {
            events |= POLLOUT;
        }
        if ((eventPtr->when & NS_SOCK_EXCEPTION) != 0) {
            events |= POLLPRI;
        }
        queuePtr->fds[n++] = (struct pollfd) {
            .fd = eventPtr->sock, .events = (short) events
        };
        if (eventPtr->due != 0) {
            NsStamp ms = (eventPtr->due - now + STAMP_MS - 1) / STAMP_MS;
            int     left = (int) MAX(0, MIN(ms, INT_MAX));

            *msPtr = *msPtr < 0 ? left : MIN(*msPtr, left);
        }
    }
    return n;
}

/*
 * An event that does not ask for another call, by Ns_EventCallback, is over.
 */
static void
Call(Event *eventPtr, Ns_Time *nowPtr, int why)
{
    eventPtr->when = 0;
    eventPtr->due = 0;
    eventPtr->proc((Ns_Event *) eventPtr, eventPtr->sock, eventPtr->arg, nowPtr,
                   why);
}

static int
WhyOf(const Event *eventPtr, short got, NsStamp now)
{
    /* Of what has gone wrong, reading and writing tells more. */
    if ((got & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0
            && (eventPtr->when & NS_SOCK_READ) != 0) {
        return NS_SOCK_READ;
    }
    if ((got & (POLLOUT | POLLHUP | POLLERR | POLLNVAL)) != 0
            && (eventPtr->when & NS_SOCK_WRITE) != 0) {
        return NS_SOCK_WRITE;
    }
    if (got != 0 && (eventPtr->when & NS_SOCK_EXCEPTION) != 0) {
        return NS_SOCK_EXCEPTION;
    }
    return eventPtr->due != 0 && eventPtr->due <= now ? NS_SOCK_TIMEOUT : 0;
}

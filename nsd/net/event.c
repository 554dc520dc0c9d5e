/* SPDX-License-Identifier: MPL-2.0
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
#include "net/watch.h"

typedef struct Event {
    NsWatch       watch; /* Must be first. */
    NsInboxNode   node;  /* On the way to the thread. */
    NS_SOCKET     sock;  /* Constant. */
    Ns_EventProc *proc;  /* Constant. */
    void         *arg;   /* Constant. */
    int           when;  /* 0: over after this call. */
    NsStamp       due;   /* 0: no timeout. */
} Event;

typedef struct EventQueue {
    int        maxEvents; /* Constant. */
    atomic_int nEvents;   /* Those who enqueue count first. */
    NsWatcher  watcher;   /* The thread that runs. */
} EventQueue;

static void        Begin(NsInboxNode *nodePtr, void *arg);
static NsWatchProc Happened;
static void        Call(Event *eventPtr, int why);
static void        End(EventQueue *queuePtr, Event *eventPtr);

static const NsWatchProcs watchProcs = {
    .watchProc = Happened, .nodeProc = Begin};

Ns_EventQueue *
Ns_CreateEventQueue(int maxEvents)
{
    EventQueue *queuePtr = ns_calloc(1u, sizeof(EventQueue));

    queuePtr->maxEvents = MAX(maxEvents, 1);
    if (NsWatcherInit(&queuePtr->watcher, &watchProcs, queuePtr) != NS_OK) {
        ns_free(queuePtr);
        return NULL;
    }
    return (Ns_EventQueue *) queuePtr;
}

int
Ns_EventEnqueue(Ns_EventQueue *queue, NS_SOCKET sock, Ns_EventProc *proc,
                void *arg)
{
    EventQueue *queuePtr = (EventQueue *) queue;
    Event      *eventPtr;

    if (atomic_fetch_add(&queuePtr->nEvents, 1) >= queuePtr->maxEvents) {
        atomic_fetch_sub(&queuePtr->nEvents, 1);
        return NS_ERROR;
    }
    eventPtr = ns_calloc(1u, sizeof(Event));
    eventPtr->sock = sock;
    eventPtr->proc = proc;
    eventPtr->arg = arg;
    NsInboxPut(&queuePtr->watcher.loop.inbox, &eventPtr->node);
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

    NsLoopTakeInbox(&queuePtr->watcher.loop);
    if (NsWatcherFirst(&queuePtr->watcher) != NULL) {
        NsLoopTurn(&queuePtr->watcher.loop, 0);
    }
    return atomic_load(&queuePtr->nEvents) > 0;
}

void
Ns_TriggerEventQueue(Ns_EventQueue *queue)
{
    NsLoopWake(&((EventQueue *) queue)->watcher.loop);
}

void
Ns_ExitEventQueue(Ns_EventQueue *queue)
{
    EventQueue *queuePtr = (EventQueue *) queue;
    NsWatch    *watchPtr;

    NsLoopTakeInbox(&queuePtr->watcher.loop);
    while ((watchPtr = NsWatcherFirst(&queuePtr->watcher)) != NULL) {
        Event *eventPtr = (Event *) watchPtr;

        Call(eventPtr, NS_SOCK_EXIT);
        End(queuePtr, eventPtr);
    }
    NsWatcherFree(&queuePtr->watcher);
    ns_free(queuePtr);
}

/*
 * A new event says what it waits for.
 */
static void
Begin(NsInboxNode *nodePtr, void *arg)
{
    EventQueue *queuePtr = arg;
    Event      *eventPtr = (Event *) ((char *) nodePtr - offsetof(Event, node));

    NsWatchBegin(&queuePtr->watcher, &eventPtr->watch, eventPtr->sock);
    Happened(&eventPtr->watch, NS_SOCK_INIT, queuePtr);
}

/*
 * One condition per round: of several, reading says most.  An event that does
 * not ask for another call, by Ns_EventCallback, is over.
 */
static void
Happened(NsWatch *watchPtr, int what, void *arg)
{
    EventQueue *queuePtr = arg;
    Event      *eventPtr = (Event *) watchPtr;

    Call(eventPtr, what & -what);
    if (eventPtr->when == 0) {
        End(queuePtr, eventPtr);
    } else {
        NsWatchSet(&queuePtr->watcher, watchPtr, eventPtr->when, eventPtr->due);
    }
}

static void
Call(Event *eventPtr, int why)
{
    Ns_Time now;

    Ns_GetTime(&now);
    eventPtr->when = 0;
    eventPtr->due = 0;
    eventPtr->proc((Ns_Event *) eventPtr, eventPtr->sock, eventPtr->arg, &now,
                   why);
}

static void
End(EventQueue *queuePtr, Event *eventPtr)
{
    NsWatchEnd(&queuePtr->watcher, &eventPtr->watch);
    ns_free(eventPtr);
    (void) atomic_fetch_sub(&queuePtr->nEvents, 1);
}

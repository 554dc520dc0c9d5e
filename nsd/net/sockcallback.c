/* SPDX-License-Identifier: MPL-2.0
 * sockcallback.c --
 *
 *      The thread -socks-: procedures that are called when something happens on
 *      a socket.
 *
 *      Other threads register and cancel through the inbox of its loop; the
 *      thread applies that, waits, and calls.  Replacing a callback is the same
 *      as cancelling it silently and registering.
 */

#include "net/sockcallback.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "base/assert.h"
#include "net/watch.h"
#include "process/callbacks.h"

/*
 * Of one generation of modules or the other; a cancel may have none.
 */
typedef struct Proc {
    Ns_SockProc    *first;
    Ns_SockProc_33 *later;
} Proc;

/*
 * Constant but for the watch, the thread's.
 */
typedef struct Callback {
    NsWatch     watch; /* Must be first. */
    NsInboxNode node;  /* On the way to the thread. */
    NS_SOCKET   sock;
    Proc        proc; /* None: cancel without a call. */
    void       *arg;
    int         when;        /* NS_SOCK_CANCEL: cancel. */
    NsStamp     timeout;     /* 0: none. */
    char       *description; /* While active. */
} Callback;

typedef struct PortEntry {
    Proc  proc;
    void *arg;
    char *key;
} PortEntry;

static NsWatcher     watcher; /* The thread; stopped under the lock. */
static Ns_Mutex      lock;    /* Guards all below. */
static Ns_Cond       changed;
static Tcl_HashTable active;    /* Socket -> Callback; the thread's. */
static Tcl_HashTable listening; /* "address:port" -> port. */
static bool          hasThread;
static bool          hasStarted;
static bool          hasEnded;

static int  Enqueue(NS_SOCKET sock, Proc proc, void *arg, int when,
                    NsStamp timeout);
static int  ListenFor(const char *address, int port, Proc proc, void *arg);
static void AppendProc(Ns_DString *dsPtr, Proc proc, void *arg);
static bool CallProc(Proc proc, NS_SOCKET sock, void *arg, int why);
static bool HasThread(void);
static bool IsStopping(void);
static void SockThread(void *arg);
static void Apply(NsInboxNode *nodePtr, void *arg);
static void Activate(Callback *callbackPtr);
static NsWatchProc     Happened;
static void            Wait(Callback *callbackPtr);
static bool            Call(const Callback *callbackPtr, int why);
static char           *Description(const Callback *callbackPtr);
static void            Remove(Callback *callbackPtr);
static void            CallExits(void);
static Callback       *FindActive(NS_SOCKET sock);
static Ns_SockProc     CloseProc, AcceptProc;
static Ns_ShutdownProc Shutdown;
static Ns_Callback     Start;

static const NsWatchProcs watchProcs = {
    .watchProc = Happened, .nodeProc = Apply};

void
NsSockCallbackInit(void)
{
    NsMutexSetup(&lock, NS_RANK_SOCKCALLBACK, "ns:sockcallback", NULL);
    Ns_CondInit(&changed);
    Tcl_InitHashTable(&active, TCL_ONE_WORD_KEYS);
    Tcl_InitHashTable(&listening, TCL_STRING_KEYS);
    if (NsWatcherInit(&watcher, &watchProcs, NULL) != NS_OK) {
        Ns_Fatal("sockcallback: cannot create a poller: %s", strerror(errno));
    }
    (void) NsCallbackAdd(NS_AT_READY, Start, NULL);
    (void) NsCallbackAddShutdown(Shutdown, NULL);
    Ns_RegisterProcInfo((void *) SockThread, "ns:sockcallbacks", NULL);
    Ns_RegisterProcInfo((void *) Start, "ns:sockstart", NULL);
    Ns_RegisterProcInfo((void *) Shutdown, "ns:sockshutdown", NULL);
}

int
Ns_SockCallback(NS_SOCKET sock, Ns_SockProc *proc, void *arg, int when)
{
    return Ns_SockCallbackEx(sock, proc, arg, when, 0);
}

int
Ns_SockCallbackEx(NS_SOCKET sock, Ns_SockProc *proc, void *arg, int when,
                  int timeout)
{
    return NsSockCallback(sock, proc, arg, when, timeout * NS_STAMP_SECOND);
}

int
NsSockCallback(NS_SOCKET sock, Ns_SockProc *proc, void *arg, int when,
               NsStamp timeout)
{
    return Enqueue(sock, (Proc){.first = proc}, arg, when & ~NS_SOCK_CANCEL,
                   timeout);
}

int
Ns_SockCallback_33(NS_SOCKET sock, Ns_SockProc_33 *proc, void *arg,
                   unsigned int when)
{
    return Ns_SockCallbackEx_33(sock, proc, arg, when, NULL);
}

int
Ns_SockCallbackEx_33(NS_SOCKET sock, Ns_SockProc_33 *proc, void *arg,
                     unsigned int when, const Ns_Time *timeoutPtr, ...)
{
    return Enqueue(sock, (Proc){.later = proc}, arg,
                   (int) when & ~NS_SOCK_CANCEL,
                   timeoutPtr == NULL ? 0 : NsClockFromTime(timeoutPtr));
}

void
Ns_SockCancelCallback(NS_SOCKET sock)
{
    (void) Ns_SockCancelCallbackEx(sock, NULL, NULL);
}

int
Ns_SockCancelCallbackEx(NS_SOCKET sock, Ns_SockProc *proc, void *arg)
{
    return Enqueue(sock, (Proc){.first = proc}, arg, NS_SOCK_CANCEL, 0);
}

int
Ns_SockCancelCallbackEx_33(NS_SOCKET sock, Ns_SockProc_33 *proc, void *arg, ...)
{
    return Enqueue(sock, (Proc){.later = proc}, arg, NS_SOCK_CANCEL, 0);
}

int
Ns_SockCloseLater(NS_SOCKET sock)
{
    return Ns_SockCallback(sock, CloseProc, NULL, NS_SOCK_WRITE | NS_SOCK_EXIT);
}

int
Ns_SockListenCallback(const char *address, int port, Ns_SockProc *proc,
                      void *arg)
{
    return ListenFor(address, port, (Proc){.first = proc}, arg);
}

int
Ns_SockListenCallback_33(const char *address, unsigned short port,
                         Ns_SockProc_33 *proc, void *arg, ...)
{
    return ListenFor(address, port, (Proc){.later = proc}, arg);
}

static int
ListenFor(const char *address, int port, Proc proc, void *arg)
{
    Tcl_HashEntry *hPtr = NULL;
    PortEntry     *entryPtr;
    Ns_DString     ds;
    NS_SOCKET      sock;
    int            isNew;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s:%d", address == NULL ? "*" : address, port);
    Ns_MutexLock(&lock);
    hPtr = Tcl_CreateHashEntry(&listening, Ns_DStringValue(&ds), &isNew);
    if (isNew) {
        Tcl_SetHashValue(hPtr, INT2PTR(port));
    }
    Ns_MutexUnlock(&lock);
    if (!isNew) {
        Ns_DStringFree(&ds);
        return NS_ERROR;
    }
    sock = Ns_SockListen(address, port);
    if (sock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetNonBlocking(sock);
        entryPtr = ns_calloc(1u, sizeof(PortEntry));
        entryPtr->proc = proc;
        entryPtr->arg = arg;
        entryPtr->key = ns_strdup(Ns_DStringValue(&ds));
        if (Ns_SockCallback(sock, AcceptProc, entryPtr,
                            NS_SOCK_READ | NS_SOCK_EXIT)
            != NS_OK) {
            close(sock);
            ns_free(entryPtr->key);
            ns_free(entryPtr);
            sock = NS_INVALID_SOCKET;
        }
    }
    if (sock == NS_INVALID_SOCKET) {
        Ns_MutexLock(&lock);
        Tcl_DeleteHashEntry(hPtr);
        Ns_MutexUnlock(&lock);
    }
    Ns_DStringFree(&ds);
    return sock == NS_INVALID_SOCKET ? NS_ERROR : NS_OK;
}

int
Ns_SockPortBound(int port)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;
    bool           isBound = false;

    Ns_MutexLock(&lock);
    hPtr = Tcl_FirstHashEntry(&listening, &search);
    while (hPtr != NULL && !isBound) {
        isBound = PTR2INT(Tcl_GetHashValue(hPtr)) == port;
        hPtr = Tcl_NextHashEntry(&search);
    }
    Ns_MutexUnlock(&lock);
    return isBound;
}

void
NsSockCallbacksList(Ns_DString *dsPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    Ns_MutexLock(&lock);
    hPtr = Tcl_FirstHashEntry(&active, &search);
    while (hPtr != NULL) {
        const Callback *callbackPtr = Tcl_GetHashValue(hPtr);

        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringPrintf(dsPtr, "%d", callbackPtr->sock);
        Tcl_DStringStartSublist(dsPtr);
        if ((callbackPtr->when & NS_SOCK_READ) != 0) {
            Tcl_DStringAppendElement(dsPtr, "read");
        }
        if ((callbackPtr->when & NS_SOCK_WRITE) != 0) {
            Tcl_DStringAppendElement(dsPtr, "write");
        }
        if ((callbackPtr->when & NS_SOCK_EXCEPTION) != 0) {
            Tcl_DStringAppendElement(dsPtr, "exception");
        }
        if ((callbackPtr->when & NS_SOCK_EXIT) != 0) {
            Tcl_DStringAppendElement(dsPtr, "exit");
        }
        Tcl_DStringEndSublist(dsPtr);
        Ns_DStringPrintf(dsPtr, " %s %.15g", callbackPtr->description,
                         (double) callbackPtr->timeout / NS_STAMP_SECOND);
        Tcl_DStringEndSublist(dsPtr);
        hPtr = Tcl_NextHashEntry(&search);
    }
    Ns_MutexUnlock(&lock);
}

static int
Enqueue(NS_SOCKET sock, Proc proc, void *arg, int when, NsStamp timeout)
{
    Callback *callbackPtr;

    if (!HasThread()) {
        return NS_ERROR;
    }
    callbackPtr = ns_calloc(1u, sizeof(Callback));
    callbackPtr->sock = sock;
    callbackPtr->proc = proc;
    callbackPtr->arg = arg;
    callbackPtr->when = when;
    callbackPtr->timeout = timeout;
    Ns_MutexLock(&lock);
    if (IsStopping()) {
        Ns_MutexUnlock(&lock);
        ns_free(callbackPtr);
        return NS_ERROR;
    }
    NsInboxPut(&watcher.loop.inbox, &callbackPtr->node);
    Ns_MutexUnlock(&lock);
    return NS_OK;
}

/*
 * Start the thread when it is not there yet; whether it is now.
 */
static bool
HasThread(void)
{
    bool mustStart, isThere = true;

    Ns_MutexLock(&lock);
    mustStart = !hasThread && !IsStopping();
    hasThread |= mustStart;
    Ns_MutexUnlock(&lock);
    if (mustStart && NsThreadTry(SockThread, NULL, 0, NULL) != 0) {
        Ns_MutexLock(&lock);
        hasThread = false;
        Ns_MutexUnlock(&lock);
        isThere = false;
    }
    return isThere;
}

static bool
IsStopping(void)
{
    return NsLoopIsStopping(&watcher.loop);
}

/*
 * The server has started: callbacks may run.
 */
static void
Start(void *arg)
{
    Ns_MutexLock(&lock);
    hasStarted = true;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

void
NsSockCallbacksStop(const Ns_Time *deadlinePtr)
{
    Ns_Time deadline = *deadlinePtr;

    Shutdown(&deadline, NULL);
}

/*
 * Called to begin (NULL) and to wait, or once for both.
 */
static void
Shutdown(Ns_Time *deadlinePtr, void *arg)
{
    Ns_ReturnCode result = NS_OK;

    Ns_MutexLock(&lock);
    NsLoopStop(&watcher.loop);
    Ns_CondBroadcast(&changed);
    if (deadlinePtr != NULL) {
        Ns_Time deadline = *deadlinePtr;

        while (hasThread && !hasEnded && result == NS_OK) {
            result = Ns_CondTimedWait(&changed, &lock, &deadline);
        }
    }
    Ns_MutexUnlock(&lock);
    if (result != NS_OK) {
        Ns_Log(Warning,
               "sockcallback: timeout waiting for the callbacks to end");
    }
}

static void
SockThread(void *arg)
{
    Ns_ThreadSetName("-socks-");
    Ns_MutexLock(&lock);
    while (!hasStarted && !IsStopping()) {
        Ns_CondWait(&changed, &lock);
    }
    Ns_MutexUnlock(&lock);
    while (!IsStopping()) {
        NsLoopTurn(&watcher.loop, 0);
    }
    NsLoopTakeInbox(&watcher.loop);
    CallExits();
    Ns_MutexLock(&lock);
    hasEnded = true;
    Ns_CondBroadcast(&changed);
    Ns_MutexUnlock(&lock);
}

/*
 * Do what another thread asked for.
 */
static void
Apply(NsInboxNode *nodePtr, void *arg)
{
    Callback *callbackPtr = (Callback *) ((char *) nodePtr
                                          - offsetof(Callback, node));
    Callback *oldPtr = FindActive(callbackPtr->sock);

    if (oldPtr != NULL) {
        Remove(oldPtr);
    }
    if ((callbackPtr->when & NS_SOCK_CANCEL) == 0) {
        Activate(callbackPtr);
        return;
    }
    if (callbackPtr->proc.first != NULL || callbackPtr->proc.later != NULL) {
        (void) Call(callbackPtr, NS_SOCK_CANCEL);
    }
    ns_free(callbackPtr);
}

static void
Activate(Callback *callbackPtr)
{
    Tcl_HashEntry *hPtr;
    int            isNew;

    callbackPtr->description = Description(callbackPtr);
    Ns_MutexLock(&lock);
    hPtr = Tcl_CreateHashEntry(&active, INT2PTR(callbackPtr->sock), &isNew);
    NsAssert(isNew);
    Tcl_SetHashValue(hPtr, callbackPtr);
    Ns_MutexUnlock(&lock);
    NsWatchBegin(&watcher, &callbackPtr->watch, callbackPtr->sock);
    Wait(callbackPtr);
}

/*
 * The text in lists.  Made before the first call, because a procedure frees its
 * argument in the last.
 */
static char *
Description(const Callback *callbackPtr)
{
    const PortEntry *entryPtr = callbackPtr->arg;
    Ns_DString       ds;
    char            *text;

    Ns_DStringInit(&ds);
    if (callbackPtr->proc.first == AcceptProc) {
        AppendProc(&ds, entryPtr->proc, entryPtr->arg);
    } else {
        AppendProc(&ds, callbackPtr->proc, callbackPtr->arg);
    }
    text = ns_strdup(ds.string);
    Ns_DStringFree(&ds);
    return text;
}

static void
AppendProc(Ns_DString *dsPtr, Proc proc, void *arg)
{
    Ns_GetProcInfo(dsPtr,
                   proc.first != NULL ? (void *) proc.first
                                      : (void *) proc.later,
                   arg);
}

/*
 * One condition per call.
 */
static void
Happened(NsWatch *watchPtr, int what, void *arg)
{
    Callback *callbackPtr = (Callback *) watchPtr;
    bool      goesOn = true;

    if (what == NS_SOCK_TIMEOUT) {
        goesOn = Call(callbackPtr, NS_SOCK_TIMEOUT);
    }
    for (int why = NS_SOCK_READ; goesOn && why <= NS_SOCK_EXCEPTION;
         why <<= 1) {
        if ((what & why) != 0) {
            goesOn = Call(callbackPtr, why);
        }
    }
    if (goesOn) {
        Wait(callbackPtr);
    } else {
        Remove(callbackPtr);
    }
}

static void
Wait(Callback *callbackPtr)
{
    NsWatchSet(&watcher, &callbackPtr->watch, callbackPtr->when,
               callbackPtr->timeout == 0 ? 0
                                         : NsClockNow() + callbackPtr->timeout);
}

static bool
Call(const Callback *callbackPtr, int why)
{
    return CallProc(callbackPtr->proc, callbackPtr->sock, callbackPtr->arg,
                    why);
}

static bool
CallProc(Proc proc, NS_SOCKET sock, void *arg, int why)
{
    NsAssert((proc.first == NULL) != (proc.later == NULL));
    return proc.first != NULL ? proc.first(sock, arg, why)
                              : proc.later(sock, arg, (unsigned int) why);
}

static Callback *
FindActive(NS_SOCKET sock)
{
    /* Only this thread changes the table, so it may look without the lock. */
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&active, INT2PTR(sock));

    return hPtr == NULL ? NULL : Tcl_GetHashValue(hPtr);
}

static void
Remove(Callback *callbackPtr)
{
    NsWatchEnd(&watcher, &callbackPtr->watch);
    Ns_MutexLock(&lock);
    Tcl_DeleteHashEntry(Tcl_FindHashEntry(&active, INT2PTR(callbackPtr->sock)));
    Ns_MutexUnlock(&lock);
    ns_free(callbackPtr->description);
    ns_free(callbackPtr);
}

/*
 * Call those that asked for it when the server stops.
 */
static void
CallExits(void)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    hPtr = Tcl_FirstHashEntry(&active, &search);
    while (hPtr != NULL) {
        const Callback *callbackPtr = Tcl_GetHashValue(hPtr);

        if ((callbackPtr->when & NS_SOCK_EXIT) != 0) {
            (void) Call(callbackPtr, NS_SOCK_EXIT);
        }
        hPtr = Tcl_NextHashEntry(&search);
    }
}

static int
CloseProc(NS_SOCKET sock, void *arg, int why)
{
    close(sock);
    return NS_FALSE;
}

static int
AcceptProc(NS_SOCKET sock, void *arg, int why)
{
    PortEntry *entryPtr = arg;
    NS_SOCKET  newSock;

    if (why == NS_SOCK_EXIT) {
        Tcl_HashEntry *hPtr;

        (void) CallProc(entryPtr->proc, sock, entryPtr->arg, NS_SOCK_EXIT);
        close(sock);
        Ns_MutexLock(&lock);
        hPtr = Tcl_FindHashEntry(&listening, entryPtr->key);
        if (hPtr != NULL) {
            Tcl_DeleteHashEntry(hPtr);
        }
        Ns_MutexUnlock(&lock);
        ns_free(entryPtr->key);
        ns_free(entryPtr);
        return NS_FALSE;
    }
    newSock = Ns_SockAccept(sock, NULL, NULL);
    if (newSock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetBlocking(newSock);
        (void) CallProc(entryPtr->proc, newSock, entryPtr->arg, NS_SOCK_READ);
    }
    return NS_TRUE;
}

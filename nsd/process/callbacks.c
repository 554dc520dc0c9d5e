/* SPDX-License-Identifier: MPL-2.0
 * callbacks.c --
 *
 *      Procedures that run at the stages of the process's life.
 *
 *      Entries are never removed, so a stage can walk its list without the
 *      lock; entries registered in the meantime are found because the next
 *      pointer is read under it.
 */

#include "process/callbacks.h"

#include "base/assert.h"
#include "base/lock.h"
#include "base/thread.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/notify.h"

typedef struct Entry {
    struct Entry    *nextPtr;      /* Guarded by the lock. */
    Ns_Callback     *proc;         /* Constant; NULL at shutdown. */
    Ns_ShutdownProc *shutdownProc; /* Constant. */
    void            *arg;          /* Constant. */
} Entry;

typedef struct Stage {
    const char *name;
    bool        isLifo;
    bool        isOnce; /* Passed after it has run. */
} Stage;

static const Stage stages[] = {
    [NS_AT_PRESTARTUP] = {"prestartup", false, true},
    [NS_AT_STARTUP] = {"startup", false, true},
    [NS_AT_SIGNAL] = {"signal", false, false},
    [NS_AT_REOPEN] = {"reopen", false, false},
    [NS_AT_RELOAD] = {"reload", false, false},
    [NS_AT_READY] = {"ready", true, true},
    [NS_AT_SHUTDOWN] = {"shutdown", true, true},
    [NS_AT_EXIT] = {"exit", true, true}};
#define N_STAGES Ns_NrElements(stages)

static struct {
    Ns_Mutex  lock; /* Guards the rest. */
    Ns_Cond   done; /* The shutdown stage has ended. */
    Entry    *firstPtr[N_STAGES];
    bool      hasPassed[N_STAGES];
    bool      isClosed;
    bool      isShutdownDone;
    Entry    *runningPtr; /* At shutdown. */
    Ns_Thread thread;     /* Main thread only. */
    bool      isStarted;  /* Likewise. */
    Ns_Time   deadline;   /* Constant while the thread runs. */

    Ns_Cond   signalled;   /* For the thread of the signal stage. */
    Ns_Cond   signalsDone; /* It has ended. */
    unsigned  signals;     /* A bit for each stage it is to run. */
    bool      mustEndSignals;
    bool      hasSignalThread;
    Ns_Thread signalThread; /* Main thread only. */
} callbacks;

static Ns_ReturnCode Add(NsCallbackStage stage, Entry entry);
static void         *Handle(Ns_ReturnCode result);
static Entry        *First(NsCallbackStage stage);
static Entry        *Next(Entry *entryPtr);
static Ns_ThreadProc RunShutdown;
static void          RunShutdownProcs(void);
static void          RunEach(const Ns_Time *deadlinePtr);
static void          LogRunning(void);
static Ns_ThreadProc RunSignals;
static void          RunSignal(NsCallbackStage stage);

void
NsCallbacksInit(void)
{
    NsMutexSetup(&callbacks.lock, NS_RANK_CALLBACKS, "ns:callbacks", NULL);
    Ns_RegisterProcInfo((void *) RunShutdown, "ns:shutdown", NULL);
    Ns_RegisterProcInfo((void *) RunSignals, "ns:signal", NULL);
}

Ns_ReturnCode
NsCallbackAdd(NsCallbackStage stage, Ns_Callback *proc, void *arg)
{
    return Add(stage, (Entry){.proc = proc, .arg = arg});
}

Ns_ReturnCode
NsCallbackAddShutdown(Ns_ShutdownProc *proc, void *arg)
{
    return Add(NS_AT_SHUTDOWN, (Entry){.shutdownProc = proc, .arg = arg});
}

void
NsCallbacksRun(NsCallbackStage stage)
{
    for (Entry *entryPtr = First(stage); entryPtr != NULL;
         entryPtr = Next(entryPtr)) {
        entryPtr->proc(entryPtr->arg);
    }
    Ns_MutexLock(&callbacks.lock);
    callbacks.hasPassed[stage] = stages[stage].isOnce;
    Ns_MutexUnlock(&callbacks.lock);
}

void
NsCallbacksSignal(NsCallbackStage stage)
{
    bool isNew;

    NsAssert(stage == NS_AT_SIGNAL || stage == NS_AT_REOPEN);
    Ns_MutexLock(&callbacks.lock);
    callbacks.signals |= 1u << stage;
    isNew = !callbacks.hasSignalThread;
    callbacks.hasSignalThread = true;
    Ns_CondSignal(&callbacks.signalled);
    Ns_MutexUnlock(&callbacks.lock);
    if (isNew
        && NsThreadTry(RunSignals, NULL, 0, &callbacks.signalThread) != 0) {
        /* Then the server cannot stop before they have ended. */
        Ns_MutexLock(&callbacks.lock);
        callbacks.hasSignalThread = false;
        callbacks.signals = 0;
        Ns_MutexUnlock(&callbacks.lock);
        RunSignal(stage);
    }
}

Ns_ReturnCode
NsCallbacksWaitSignals(const Ns_Time *deadlinePtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_Time       deadline = *deadlinePtr;
    bool          hadThread, hasThread;

    Ns_MutexLock(&callbacks.lock);
    hadThread = callbacks.hasSignalThread;
    callbacks.mustEndSignals = true;
    Ns_CondSignal(&callbacks.signalled);
    while (callbacks.hasSignalThread && result == NS_OK) {
        result = Ns_CondTimedWait(&callbacks.signalsDone, &callbacks.lock,
                                  &deadline);
    }
    hasThread = callbacks.hasSignalThread;
    Ns_MutexUnlock(&callbacks.lock);
    if (hasThread) {
        Ns_Log(Warning, "shutdown: timeout waiting for signal callbacks");
        return NS_TIMEOUT;
    }
    if (hadThread) {
        Ns_ThreadJoin(&callbacks.signalThread, NULL);
    }
    return NS_OK;
}

void
NsCallbacksStartShutdown(const Ns_Time *deadlinePtr)
{
    Ns_MutexLock(&callbacks.lock);
    callbacks.isClosed = true;
    Ns_MutexUnlock(&callbacks.lock);
    if (First(NS_AT_SHUTDOWN) != NULL) {
        callbacks.deadline = *deadlinePtr;
        callbacks.isStarted = true;
        if (NsThreadTry(RunShutdown, NULL, 0, &callbacks.thread) != 0) {
            callbacks.isStarted = false;
            RunShutdownProcs();
        }
    }
}

Ns_ReturnCode
NsCallbacksWaitShutdown(const Ns_Time *deadlinePtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_Time       deadline = *deadlinePtr;

    if (!callbacks.isStarted) {
        return NS_OK;
    }
    Ns_MutexLock(&callbacks.lock);
    while (!callbacks.isShutdownDone && result == NS_OK) {
        result = Ns_CondTimedWait(&callbacks.done, &callbacks.lock, &deadline);
    }
    if (callbacks.isShutdownDone) {
        result = NS_OK;
    }
    Ns_MutexUnlock(&callbacks.lock);
    if (result == NS_OK) {
        Ns_ThreadJoin(&callbacks.thread, NULL);
    } else {
        LogRunning();
    }
    return result;
}

void
NsCallbacksList(Ns_DString *dsPtr)
{
    static const NsCallbackStage order[] = {
        NS_AT_PRESTARTUP, NS_AT_STARTUP,  NS_AT_SIGNAL,
        NS_AT_READY,      NS_AT_SHUTDOWN, NS_AT_EXIT};

    for (int i = 0; i < Ns_NrElements(order); i++) {
        NsCallbackStage stage = order[i];

        for (Entry *entryPtr = First(stage); entryPtr != NULL;
             entryPtr = Next(entryPtr)) {
            void *proc = stage == NS_AT_SHUTDOWN
                ? (void *) entryPtr->shutdownProc
                : (void *) entryPtr->proc;

            Tcl_DStringStartSublist(dsPtr);
            Tcl_DStringAppendElement(dsPtr, stages[stage].name);
            Ns_GetProcInfo(dsPtr, proc, entryPtr->arg);
            Tcl_DStringEndSublist(dsPtr);
        }
    }
}

void *
Ns_RegisterAtPreStartup(Ns_Callback *proc, void *arg)
{
    return Handle(NsCallbackAdd(NS_AT_PRESTARTUP, proc, arg));
}

void *
Ns_RegisterAtStartup(Ns_Callback *proc, void *arg)
{
    return Handle(NsCallbackAdd(NS_AT_STARTUP, proc, arg));
}

void *
Ns_RegisterAtSignal(Ns_Callback *proc, void *arg)
{
    return Handle(NsCallbackAdd(NS_AT_SIGNAL, proc, arg));
}

void *
Ns_RegisterAtReload(Ns_Callback *proc, void *arg)
{
    return Handle(NsCallbackAdd(NS_AT_RELOAD, proc, arg));
}

void *
Ns_RegisterAtReady(Ns_Callback *proc, void *arg)
{
    return Handle(NsCallbackAdd(NS_AT_READY, proc, arg));
}

void *
Ns_RegisterAtShutdown(Ns_ShutdownProc *proc, void *arg)
{
    return Handle(NsCallbackAddShutdown(proc, arg));
}

void *
Ns_RegisterAtExit(Ns_Callback *proc, void *arg)
{
    return Handle(NsCallbackAdd(NS_AT_EXIT, proc, arg));
}

static Ns_ReturnCode
Add(NsCallbackStage stage, Entry entry)
{
    Entry        *entryPtr;
    Entry       **linkPtr;
    Ns_ReturnCode result = NS_ERROR;

    Ns_MutexLock(&callbacks.lock);
    if (!callbacks.isClosed && !callbacks.hasPassed[stage]) {
        entryPtr = ns_malloc(sizeof(Entry));
        *entryPtr = entry;
        linkPtr = &callbacks.firstPtr[stage];
        if (!stages[stage].isLifo) {
            while (*linkPtr != NULL) {
                linkPtr = &(*linkPtr)->nextPtr;
            }
        }
        entryPtr->nextPtr = *linkPtr;
        *linkPtr = entryPtr;
        result = NS_OK;
    }
    Ns_MutexUnlock(&callbacks.lock);
    return result;
}

/*
 * The result of the public functions: NULL only once shutdown has begun.
 */
static void *
Handle(Ns_ReturnCode result)
{
    bool isClosed;

    Ns_MutexLock(&callbacks.lock);
    isClosed = callbacks.isClosed;
    Ns_MutexUnlock(&callbacks.lock);
    return result == NS_OK || !isClosed ? &callbacks : NULL;
}

static Entry *
First(NsCallbackStage stage)
{
    Entry *entryPtr;

    Ns_MutexLock(&callbacks.lock);
    entryPtr = callbacks.firstPtr[stage];
    Ns_MutexUnlock(&callbacks.lock);
    return entryPtr;
}

static Entry *
Next(Entry *entryPtr)
{
    Ns_MutexLock(&callbacks.lock);
    entryPtr = entryPtr->nextPtr;
    Ns_MutexUnlock(&callbacks.lock);
    return entryPtr;
}

/*
 * First ask all of them to stop, then wait for each.
 */
static void
RunShutdown(void *arg)
{
    Ns_ThreadSetName("-shutdown-");
    RunShutdownProcs();
}

static void
RunShutdownProcs(void)
{
    RunEach(NULL);
    RunEach(&callbacks.deadline);

    Ns_MutexLock(&callbacks.lock);
    callbacks.isShutdownDone = true;
    Ns_CondSignal(&callbacks.done);
    Ns_MutexUnlock(&callbacks.lock);
}

static void
RunEach(const Ns_Time *deadlinePtr)
{
    for (Entry *entryPtr = First(NS_AT_SHUTDOWN); entryPtr != NULL;
         entryPtr = Next(entryPtr)) {
        Ns_MutexLock(&callbacks.lock);
        callbacks.runningPtr = entryPtr;
        Ns_MutexUnlock(&callbacks.lock);

        entryPtr->shutdownProc((Ns_Time *) deadlinePtr, entryPtr->arg);
    }
}

/*
 * Entries live as long as the process.
 */
static void
LogRunning(void)
{
    Entry     *entryPtr;
    Ns_DString ds;

    Ns_MutexLock(&callbacks.lock);
    entryPtr = callbacks.runningPtr;
    Ns_MutexUnlock(&callbacks.lock);

    Ns_DStringInit(&ds);
    if (entryPtr != NULL) {
        Ns_DStringAppend(&ds, ", now at");
        Ns_GetProcInfo(&ds, (void *) entryPtr->shutdownProc, entryPtr->arg);
    }
    Ns_Log(Warning, "shutdown: timeout waiting for shutdown procs%s",
           ds.string);
    Ns_DStringFree(&ds);
}

static void
RunSignals(void *arg)
{
    Ns_ThreadSetName("-signal-");
    Ns_MutexLock(&callbacks.lock);
    while (callbacks.signals != 0 || !callbacks.mustEndSignals) {
        unsigned signals = callbacks.signals;

        if (signals == 0) {
            Ns_CondWait(&callbacks.signalled, &callbacks.lock);
            continue;
        }
        callbacks.signals = 0;
        Ns_MutexUnlock(&callbacks.lock);
        if ((signals & 1u << NS_AT_SIGNAL) != 0) {
            RunSignal(NS_AT_SIGNAL);
        }
        if ((signals & 1u << NS_AT_REOPEN) != 0) {
            RunSignal(NS_AT_REOPEN);
        }
        Ns_MutexLock(&callbacks.lock);
    }
    callbacks.hasSignalThread = false;
    Ns_CondSignal(&callbacks.signalsDone);
    Ns_MutexUnlock(&callbacks.lock);
}

/*
 * SIGHUP is what a service manager sends when it wants a reload, of a unit of
 * Type=notify-reload: it waits for the end.
 */
static void
RunSignal(NsCallbackStage stage)
{
    if (stage == NS_AT_SIGNAL) {
        NsNotifyReloading();
    }
    NsCallbacksRun(stage);
    if (stage == NS_AT_SIGNAL) {
        NsNotifyReloaded();
    }
}

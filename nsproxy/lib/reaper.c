/* SPDX-License-Identifier: MPL-2.0
 * reaper.c --
 *
 *      A thread that ends workers and collects their status.
 *
 *      A worker ends by itself when its socket is closed.  If it does not, it
 *      gets SIGTERM and then SIGKILL, each after the pool's waittimeout.
 */

#include <stdatomic.h>

#include "proxy_int.h"

#define POLL_MS 20

typedef struct Dying {
    struct Dying *nextPtr;
    char         *pool;
    pid_t         pid;
    int64_t       stepMs;
    int64_t       nextMs; /* When the next step is due. */
    int           nSteps;
} Dying;

static struct {
    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  changed;
    Dying   *firstPtr;
    bool     isRunning;
    bool     isStopping;
    bool     isWoken;
} reaper;

static atomic_bool isClosed; /* Ns_ProxyShutdown has begun. */

static void Run(void *arg);
static void Look(Dying **linkPtr, int64_t nowMs);
static bool HasEnded(const Dying *dyingPtr);
static void StartLocked(void);
static void KillLocked(void);

void
ProxyReap(const char *pool, pid_t pid, const Ns_Time *stepPtr)
{
    Dying *dyingPtr = ns_calloc(1u, sizeof(*dyingPtr));

    assert(pid > 1);
    dyingPtr->pool = ns_strdup(pool);
    dyingPtr->pid = pid;
    dyingPtr->stepMs = (int64_t) stepPtr->sec * 1000 + stepPtr->usec / 1000;
    dyingPtr->nextMs = ProxyNowMs() + dyingPtr->stepMs;
    Ns_MutexLock(&reaper.lock);
    dyingPtr->nextPtr = reaper.firstPtr;
    reaper.firstPtr = dyingPtr;
    StartLocked();
    Ns_MutexUnlock(&reaper.lock);
}

void
ProxyReaperWake(void)
{
    Ns_MutexLock(&reaper.lock);
    StartLocked();
    Ns_MutexUnlock(&reaper.lock);
}

static void
StartLocked(void)
{
    reaper.isWoken = true;
    Ns_CondBroadcast(&reaper.changed);
    if (!reaper.isRunning) {
        reaper.isRunning = true;
        Ns_ThreadCreate(Run, NULL, 0, NULL);
    }
}

static void
Run(void *arg)
{
    Ns_ThreadSetName("-nsproxy:reap-");
    Ns_MutexLock(&reaper.lock);
    for (;;) {
        int64_t nowMs = ProxyNowMs(), dueMs;
        Dying **linkPtr = &reaper.firstPtr;

        while (*linkPtr != NULL) {
            Dying *dyingPtr = *linkPtr;

            Look(linkPtr, nowMs);
            linkPtr = *linkPtr == dyingPtr ? &dyingPtr->nextPtr : linkPtr;
        }
        reaper.isWoken = false;
        Ns_CondBroadcast(&reaper.changed);
        Ns_MutexUnlock(&reaper.lock);
        dueMs = ProxyPoolExpire();
        Ns_MutexLock(&reaper.lock);

        if (reaper.firstPtr != NULL) {
            dueMs = MIN(dueMs, nowMs + POLL_MS);
        } else if (reaper.isStopping) {
            /* The last one has ended, and no thread will wake us. */
            break;
        }
        if (!reaper.isWoken && dueMs == INT64_MAX) {
            Ns_CondWait(&reaper.changed, &reaper.lock);
        } else if (!reaper.isWoken) {
            Ns_Time until;
            int64_t spanMs = MAX(dueMs - nowMs, 1);

            Ns_GetTime(&until);
            Ns_IncrTime(&until, (long) (spanMs / 1000),
                        (long) (spanMs % 1000) * 1000);
            (void) Ns_CondTimedWait(&reaper.changed, &reaper.lock, &until);
        }
    }
    reaper.isRunning = false;
    Ns_CondBroadcast(&reaper.changed);
    Ns_MutexUnlock(&reaper.lock);
}

/*
 * Remove the process from the list if it has ended.
 */
static void
Look(Dying **linkPtr, int64_t nowMs)
{
    static const int signals[] = {SIGTERM, SIGKILL};
    Dying           *dyingPtr = *linkPtr;

    if (HasEnded(dyingPtr)) {
        *linkPtr = dyingPtr->nextPtr;
        ns_free(dyingPtr->pool);
        ns_free(dyingPtr);
        return;
    }
    if (nowMs < dyingPtr->nextMs) {
        return;
    }
    if (dyingPtr->nSteps < Ns_NrElements(signals)) {
        int number = signals[dyingPtr->nSteps];

        Ns_Log(Warning, "[%s]: pid %d won't die, send signal %d",
               dyingPtr->pool, (int) dyingPtr->pid, number);
        (void) kill(dyingPtr->pid, number);
    } else if (dyingPtr->nSteps == Ns_NrElements(signals)) {
        Ns_Log(Warning, "nsproxy: zombie: %d", (int) dyingPtr->pid);
    }
    dyingPtr->nSteps++;
    dyingPtr->nextMs = nowMs + dyingPtr->stepMs;
}

static bool
HasEnded(const Dying *dyingPtr)
{
    int   status = 0;
    pid_t pid = waitpid(dyingPtr->pid, &status, WNOHANG);

    if (pid == dyingPtr->pid && WIFSIGNALED(status)) {
        Ns_Log(Warning, "nsproxy process %d killed with signal %d (%s)",
               (int) pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return pid == dyingPtr->pid || (pid < 0 && errno == ECHILD);
}

bool
ProxyIsClosed(void)
{
    return atomic_load(&isClosed);
}

/*
 * Requests that use handles have ended by now, or will not end.
 */
void
Ns_ProxyShutdown(NS_API_CONST Ns_Time *toPtr, void *arg)
{
    int status = NS_OK;

    if (toPtr == NULL) {
        return;
    }
    Ns_Log(Notice, "nsproxy: shutdown started");
    /* Set this before looking at the pools: see Attach in handle.c. */
    atomic_store(&isClosed, true);
    for (Pool *poolPtr = ProxyPoolFirst(); poolPtr != NULL;
         poolPtr = poolPtr->nextPtr) {
        ProxyPoolClear(poolPtr, NULL);
        ProxyPoolStop(poolPtr, NULL);
    }
    Ns_MutexLock(&reaper.lock);
    reaper.isStopping = true;
    Ns_CondBroadcast(&reaper.changed);
    while (reaper.isRunning && status == NS_OK) {
        status = Ns_CondTimedWait(&reaper.changed, &reaper.lock,
                                  (Ns_Time *) toPtr);
    }
    if (reaper.isRunning) {
        Ns_Log(Warning, "nsproxy: timeout waiting for reaper exit");
    }
    KillLocked();
    Ns_MutexUnlock(&reaper.lock);
    Ns_Log(Notice, "nsproxy: shutdown complete");
}

/*
 * No time is left, and a worker in the middle of a script would outlive the
 * server.  The processes on the list are not collected yet, so their ids are
 * still valid.
 */
static void
KillLocked(void)
{
    for (Dying *dyingPtr = reaper.firstPtr; dyingPtr != NULL;
         dyingPtr = dyingPtr->nextPtr) {
        (void) kill(dyingPtr->pid, SIGKILL);
    }
}

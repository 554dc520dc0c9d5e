/* SPDX-License-Identifier: MPL-2.0
 * lock_stress.c --
 *
 *      Locks, threads and lists of them under contention for a few seconds.
 *
 *      Workers update shared numbers under mutexes, one of which is destroyed
 *      and made anew all the time, while short-lived threads come and go and
 *      another thread lists everything.  In the end the numbers and the
 *      statistics must agree.  Under ThreadSanitizer, a race is a failure.
 */

#include "base/lock.h"
#include "base/thread.h"
#include "nsprocess.h"
#include "nsstring.h"

#include <stdatomic.h>

#define N_WORKERS 4
#define N_ROUNDS  300000
#define N_TOKENS  3

typedef struct Shared {
    Ns_Mutex lock; /* Guards count and nTokens. */
    Ns_Cond  hasToken;
    long     count;
    int      nTokens;
} Shared;

static Shared      shared;
static Ns_RWLock   rwLock;
static long        guardedByRw;
static atomic_bool isOver;
static atomic_long nLists, nThreads;

static void Work(void *arg);
static void List(void *arg);
static void Churn(void *arg);
static void Visit(void *arg);
static void PassToken(void);
static bool StatsAgree(long nLocks);

int
main(void)
{
    Ns_Thread workers[N_WORKERS], lister, churner;
    NsStamp   start = NsClockNow();
    Ns_Time   span;
    bool      isRight;

    Ns_MutexSetName2(&shared.lock, "stress", "shared");
    shared.nTokens = N_TOKENS;
    Ns_ThreadCreate(List, NULL, 0, &lister);
    Ns_ThreadCreate(Churn, NULL, 0, &churner);
    for (int i = 0; i < N_WORKERS; i++) {
        Ns_ThreadCreate(Work, INT2PTR(i), 0, &workers[i]);
    }
    for (int i = 0; i < N_WORKERS; i++) {
        Ns_ThreadJoin(&workers[i], NULL);
    }
    atomic_store(&isOver, true);
    Ns_ThreadJoin(&lister, NULL);
    Ns_ThreadJoin(&churner, NULL);

    span = NsClockSpan(start, NsClockNow());
    isRight = shared.count == (long) N_WORKERS * N_ROUNDS
        && guardedByRw == (long) N_WORKERS * N_ROUNDS / 10
        && shared.nTokens == N_TOKENS
        && StatsAgree(shared.count + 2L * N_WORKERS * N_ROUNDS / 100);

    printf("lock_stress: %ld updates, %ld lists, %ld short threads in"
           " %ld.%03ld s\n",
           shared.count, atomic_load(&nLists), atomic_load(&nThreads), span.sec,
           span.usec / 1000);
    printf("%d passed, %d failed\n", isRight, !isRight);
    return isRight ? 0 : 1;
}

static void
Work(void *arg)
{
    Ns_ThreadSetName("-worker%d-", PTR2INT(arg));

    for (int i = 0; i < N_ROUNDS; i++) {
        Ns_MutexLock(&shared.lock);
        shared.count++;
        Ns_MutexUnlock(&shared.lock);

        if (i % 10 == 0) {
            Ns_RWLockWrLock(&rwLock);
            guardedByRw++;
            Ns_RWLockUnlock(&rwLock);
        }
        if (i % 100 == 0) {
            PassToken();
        }
    }
}

/*
 * Take one of few tokens, waiting for it, and give it back.  Locks twice.
 */
static void
PassToken(void)
{
    Ns_MutexLock(&shared.lock);
    while (shared.nTokens == 0) {
        Ns_CondWait(&shared.hasToken, &shared.lock);
    }
    shared.nTokens--;
    Ns_MutexUnlock(&shared.lock);

    Ns_ThreadYield();

    Ns_MutexLock(&shared.lock);
    shared.nTokens++;
    Ns_CondSignal(&shared.hasToken);
    Ns_MutexUnlock(&shared.lock);
}

static void
List(void *arg)
{
    Ns_DString ds;

    Tcl_DStringInit(&ds);
    while (!atomic_load(&isOver)) {
        Tcl_DStringSetLength(&ds, 0);
        Ns_MutexList(&ds);
        Ns_ThreadList(&ds, Ns_GetProcInfo);
        Ns_RWLockRdLock(&rwLock);
        (void) guardedByRw;
        Ns_RWLockUnlock(&rwLock);
        atomic_fetch_add(&nLists, 1);
    }
    Tcl_DStringFree(&ds);
}

static void
Churn(void *arg)
{
    Ns_RegisterProcInfo((void *) Visit, "stress:visit", Ns_StringArgProc);
    while (!atomic_load(&isOver)) {
        Ns_Thread threads[2];
        Ns_Mutex  mutex = NULL;

        for (int i = 0; i < 2; i++) {
            Ns_ThreadCreate(Visit, ns_strdup("some argument"), 0, &threads[i]);
        }
        Ns_MutexLock(&mutex);
        Ns_MutexUnlock(&mutex);
        Ns_MutexDestroy(&mutex);
        for (int i = 0; i < 2; i++) {
            Ns_ThreadJoin(&threads[i], NULL);
            atomic_fetch_add(&nThreads, 1);
        }
    }
}

/*
 * A thread whose argument ends before it does.
 */
static void
Visit(void *arg)
{
    Ns_ThreadSetName("-visit-");
    NsThreadForgetArg();
    memset(arg, '?', strlen(arg));
    ns_free(arg);
}

static bool
StatsAgree(long nLocks)
{
    Ns_DString  ds;
    const char *found;
    long        nCounted = -1, nBusy = -1;

    Tcl_DStringInit(&ds);
    Ns_MutexList(&ds);
    found = strstr(ds.string, "{stress:shared {} ");
    if (found != NULL) {
        sscanf(found, "{stress:shared {} %*d %ld %ld", &nCounted, &nBusy);
    }
    Tcl_DStringFree(&ds);
    return nCounted == nLocks && nBusy >= 0 && nBusy <= nCounted;
}

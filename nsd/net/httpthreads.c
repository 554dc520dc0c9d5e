/* SPDX-License-Identifier: MPL-2.0
 * httpthreads.c --
 *
 *      The threads that work on requests to other servers.
 */

#include "net/httpthreads.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/lock.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/parameters.h"

#define SECTION     "ns/parameters"
#define MAX_THREADS 64

struct NsHttpThread {
    Ns_TaskQueue *queue;    /* Constant once counted in nThreads. */
    atomic_int    nRunning; /* Relaxed, like the next. */
    atomic_long   nRequests;
};

typedef struct Settings {
    int  nThreads;
    bool sendsNames;
} Settings;

static const NsParameter rows[] = {
    NS_INT(Settings, nThreads, "nshttptaskthreads", "1", 1, MAX_THREADS,
           "Threads for queued requests to other servers."),
    NS_BOOL(Settings, sendsNames, "autosni", "true",
            "Requests to https URLs send the name of the host in the TLS "
            "handshake."),
    NS_PARAM_END};

static Ns_Mutex     lock; /* Held to make a thread. */
static NsHttpThread threads[MAX_THREADS];
static atomic_int   nThreads; /* How many exist. */
static atomic_uint  turn;

static const Settings *GetSettings(void);
static void            MakeLocked(int n);

void
NsHttpThreadsInit(void)
{
    NsMutexSetup(&lock, NS_RANK_HTTP_QUEUE, "nsd:httpqueue", NULL);
    NsParametersRegister(SECTION, rows, sizeof(Settings));
}

static const Settings *
GetSettings(void)
{
    static Settings    settings;
    static atomic_bool isFilled;

    if (!atomic_load_explicit(&isFilled, memory_order_acquire)) {
        Ns_MutexLock(&lock);
        if (!atomic_load_explicit(&isFilled, memory_order_relaxed)) {
            NsParametersFill(rows, SECTION, &settings);
            atomic_store_explicit(&isFilled, true, memory_order_release);
        }
        Ns_MutexUnlock(&lock);
    }
    return &settings;
}

NsHttpThread *
NsHttpThreadNext(void)
{
    int n = GetSettings()->nThreads;

    if (atomic_load_explicit(&nThreads, memory_order_acquire) < n) {
        Ns_MutexLock(&lock);
        MakeLocked(n);
        Ns_MutexUnlock(&lock);
        /* Fewer threads will do, if there are any. */
        n = atomic_load_explicit(&nThreads, memory_order_acquire);
    }
    return n == 0
        ? NULL
        : &threads[atomic_fetch_add_explicit(&turn, 1u, memory_order_relaxed)
                   % (unsigned) n];
}

static void
MakeLocked(int n)
{
    int existing = atomic_load_explicit(&nThreads, memory_order_relaxed);

    NsAssertLocked(&lock);
    for (; existing < n; existing++) {
        char name[32];

        snprintf(name, sizeof(name), "tclhttp.%d", existing);
        threads[existing].queue = Ns_CreateTaskQueue(name);
        if (threads[existing].queue == NULL) {
            break;
        }
        atomic_store_explicit(&nThreads, existing + 1, memory_order_release);
    }
}

Ns_TaskQueue *
NsHttpThreadQueue(const NsHttpThread *threadPtr)
{
    return threadPtr->queue;
}

void
NsHttpThreadCount(NsHttpThread *threadPtr, int change)
{
    atomic_fetch_add_explicit(&threadPtr->nRunning, change,
                              memory_order_relaxed);
    if (change > 0) {
        atomic_fetch_add_explicit(&threadPtr->nRequests, 1,
                                  memory_order_relaxed);
    }
}

bool
NsHttpSendsNames(void)
{
    return GetSettings()->sendsNames;
}

void
NsHttpThreadsList(Ns_DString *dsPtr)
{
    int n = atomic_load_explicit(&nThreads, memory_order_acquire);

    for (int i = 0; i < n; i++) {
        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringPrintf(dsPtr, "name tclhttp.%d running %d requests %ld", i,
                         atomic_load_explicit(&threads[i].nRunning,
                                              memory_order_relaxed),
                         atomic_load_explicit(&threads[i].nRequests,
                                              memory_order_relaxed));
        Tcl_DStringEndSublist(dsPtr);
    }
}

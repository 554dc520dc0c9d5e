/* SPDX-License-Identifier: MPL-2.0
 * filter.c --
 *
 *      Procedures that see each entry of the system log before it is written.
 *
 *      A filter runs with no lock held, so it may take any time and log itself.
 *      Running calls are counted in the filter; removal waits for the count.
 */

#include "log/stream/filter.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "nslog.h"

typedef struct Filter {
    struct Filter *nextPtr;       /* Older. */
    Ns_LogFilter  *proc;          /* Constant. */
    void          *arg;           /* Constant. */
    Ns_Callback   *freeProc;      /* Constant. */
    int            nRunning;      /* Calls that have not returned. */
    bool           isRemoved;     /* No new calls. */
    bool           removedInCall; /* The last call frees it. */
} Filter;

static Ns_Mutex   lock; /* Guards the list and its members. */
static Ns_Cond    left; /* A call of a removed filter has returned. */
static Filter    *firstPtr;
static atomic_int nFilters; /* Written under lock; read to skip the walk. */

/* The calls of this thread, innermost first. */
typedef struct Call {
    struct Call  *outerPtr;
    const Filter *filterPtr;
} Call;

static _Thread_local Call *callPtr;

static Filter *LeaveLocked(Filter *filterPtr);
static void    UnlinkLocked(Filter *filterPtr);
static void    CheckLocked(void);
static int     CallsOfThisThread(const Filter *filterPtr);

void
NsFilterInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LOG_FILTERS, "ns:log", "filters");
}

void
Ns_AddLogFilter(Ns_LogFilter *proc, void *arg, Ns_Callback *freeProc)
{
    Filter *filterPtr = ns_calloc(1u, sizeof(*filterPtr));

    filterPtr->proc = proc;
    filterPtr->arg = arg;
    filterPtr->freeProc = freeProc;
    Ns_MutexLock(&lock);
    filterPtr->nextPtr = firstPtr;
    firstPtr = filterPtr;
    atomic_fetch_add(&nFilters, 1);
    CheckLocked();
    Ns_MutexUnlock(&lock);
}

void
Ns_RemoveLogFilter(Ns_LogFilter *proc, void *arg)
{
    Filter *filterPtr;
    int     nOwn;
    bool    isMine = false;

    Ns_MutexLock(&lock);
    for (filterPtr = firstPtr; filterPtr != NULL;
         filterPtr = filterPtr->nextPtr) {
        if (filterPtr->proc == proc && filterPtr->arg == arg
            && !filterPtr->isRemoved) {
            break;
        }
    }
    if (filterPtr != NULL) {
        filterPtr->isRemoved = true;
        atomic_fetch_sub(&nFilters, 1);
        nOwn = CallsOfThisThread(filterPtr);
        while (filterPtr->nRunning > nOwn) {
            Ns_CondWait(&left, &lock);
        }
        NsAssert(filterPtr->nRunning == nOwn);
        filterPtr->removedInCall = nOwn > 0;
        if (nOwn == 0) {
            UnlinkLocked(filterPtr);
            isMine = true;
        }
        CheckLocked();
    }
    Ns_MutexUnlock(&lock);

    if (isMine) {
        NsAssert(filterPtr->nRunning == 0);
        if (filterPtr->freeProc != NULL) {
            filterPtr->freeProc(filterPtr->arg);
        }
        ns_free(filterPtr);
    }
}

void
NsFilterRun(const NsLogEntry *entryPtr)
{
    Filter *filterPtr, *freePtr;
    int     status = NS_OK;

    if (likely(atomic_load_explicit(&nFilters, memory_order_relaxed) == 0)) {
        return;
    }
    Ns_MutexLock(&lock);
    filterPtr = firstPtr;
    while (filterPtr != NULL && status == NS_OK) {
        Filter *nextPtr;

        freePtr = NULL;
        if (filterPtr->isRemoved) {
            nextPtr = filterPtr->nextPtr;
        } else {
            Ns_Time stamp = {(long) (entryPtr->time / NS_STAMP_SECOND),
                             (long) (entryPtr->time % NS_STAMP_SECOND / 1000)};
            Call    call = {callPtr, filterPtr};

            filterPtr->nRunning++;
            callPtr = &call;
            Ns_MutexUnlock(&lock);
            status = filterPtr->proc(filterPtr->arg,
                                     (Ns_LogSeverity) entryPtr->severity,
                                     &stamp, (char *) entryPtr->message,
                                     entryPtr->messageLength);
            Ns_MutexLock(&lock);
            NsAssert(callPtr == &call);
            callPtr = call.outerPtr;
            nextPtr = filterPtr->nextPtr;
            freePtr = LeaveLocked(filterPtr);
        }
        if (freePtr != NULL) {
            /* Rare: the filter removed itself; the list may have changed. */
            Ns_MutexUnlock(&lock);
            if (freePtr->freeProc != NULL) {
                freePtr->freeProc(freePtr->arg);
            }
            ns_free(freePtr);
            return;
        }
        filterPtr = nextPtr;
    }
    Ns_MutexUnlock(&lock);
}

bool
NsFilterIsRunning(void)
{
    return callPtr != NULL;
}

/*
 * A call has returned.  The filter if it is the caller's to free: it was
 * removed by one of its own calls, and this was the last.
 */
static Filter *
LeaveLocked(Filter *filterPtr)
{
    NsAssertLocked(&lock);
    NsAssert(filterPtr->nRunning > 0);
    filterPtr->nRunning--;
    if (!filterPtr->isRemoved) {
        return NULL;
    }
    if (filterPtr->nRunning == 0 && filterPtr->removedInCall) {
        UnlinkLocked(filterPtr);
        return filterPtr;
    }
    Ns_CondBroadcast(&left);
    return NULL;
}

static void
UnlinkLocked(Filter *filterPtr)
{
    Filter **linkPtr = &firstPtr;

    NsAssertLocked(&lock);
    NsAssert(filterPtr->isRemoved && filterPtr->nRunning == 0);
    while (*linkPtr != filterPtr) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = filterPtr->nextPtr;
}

/*
 * The count by which the walk is skipped is that of the list.
 */
static void
CheckLocked(void)
{
    NsAssertLocked(&lock);
    NsAssert(atomic_load(&nFilters) == 0 || firstPtr != NULL);
#ifdef NS_DEBUG
    {
        int n = 0;

        for (const Filter *p = firstPtr; p != NULL; p = p->nextPtr) {
            n += !p->isRemoved;
            NsCheck(p->nRunning >= 0);
            NsCheck(p->isRemoved || !p->removedInCall);
        }
        NsCheck(n == atomic_load(&nFilters));
    }
#endif
}

static int
CallsOfThisThread(const Filter *filterPtr)
{
    int n = 0;

    NsAssertLocked(&lock);
    for (const Call *p = callPtr; p != NULL; p = p->outerPtr) {
        n += p->filterPtr == filterPtr;
    }
    return n;
}

/*
 * mutex.c --
 *
 *      Mutexes that count how often and how long they are waited for and held.
 *
 *      Counters are written by the holder alone, so an uncontended pair of lock
 *      and unlock costs two readings of the tick counter and no atomic
 *      read-modify-write beyond the mutex itself.
 */

#include "base/lock.h"
#include "base/lazy.h"
#include "base/mutex_int.h"
#include "base/ticks.h"
#include "nsstring.h"

#include <pthread.h>
#include <stdatomic.h>

#define MAX_NAME  64

/*
 * Written by the holder, read at any time by whoever lists the locks.  The
 * mutex orders the writers; a reader wants each number whole, not all of them
 * from the same moment: relaxed order is enough.
 */
typedef struct Meter {
    _Atomic uint64_t nLocks;
    _Atomic uint64_t nBusy;
    _Atomic NsTicks  waited;
    _Atomic NsTicks  longestWait;
    _Atomic NsTicks  held;
} Meter;

typedef struct Mutex {
    pthread_mutex_t lock;
    NsTicks         heldSince;  /* The holder's. */
    Meter           meter;

    NsLockRank      rank;       /* Constant after NsMutexSetup. */
    unsigned        id;         /* Constant after creation. */
#ifdef NS_DEBUG
    void *_Atomic   holder;     /* Written by the holder. */
#endif

    char            name[MAX_NAME + 1]; /* These are guarded by listLock. */
    struct Mutex   *nextPtr;
    struct Mutex   *prevPtr;
} Mutex;

/*
 * All mutexes, newest first.
 */
static pthread_mutex_t listLock = PTHREAD_MUTEX_INITIALIZER;
static Mutex          *firstPtr;
static unsigned        lastId;

static Mutex *GetMutex(Ns_Mutex *mutexPtr);
static Mutex *CreateMutex(void);
static void   DestroyMutex(Mutex *mutPtr);
static void   Link(Mutex *mutPtr);
static void   Unlink(Mutex *mutPtr);
static void   Acquired(Mutex *mutPtr, NsTicks now);
static void   StopHolding(Mutex *mutPtr);
static void   Add(_Atomic uint64_t *counterPtr, uint64_t n);
static void   AppendMutex(Ns_DString *dsPtr, const Mutex *mutPtr);
static void   AppendTicks(Ns_DString *dsPtr, const _Atomic NsTicks *ticksPtr);

#ifdef NS_DEBUG
static void CheckOrder(const Mutex *mutPtr);
static void NoteHeld(Mutex *mutPtr);
static void NoteReleased(Mutex *mutPtr);
#else
# define CheckOrder(mutPtr)   ((void) 0)
# define NoteHeld(mutPtr)     ((void) 0)
# define NoteReleased(mutPtr) ((void) 0)
#endif

void
Ns_MutexInit(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = CreateMutex();

    Link(mutPtr);
    NsLazySet(mutexPtr, mutPtr);
}

void
Ns_MutexDestroy(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = NsLazyPeek(mutexPtr);

    if (mutPtr != NULL) {
        NsLazySet(mutexPtr, NULL);
        Unlink(mutPtr);
        DestroyMutex(mutPtr);
    }
}

void
Ns_MutexLock(Ns_Mutex *mutexPtr)
{
    Mutex  *mutPtr = GetMutex(mutexPtr);
    NsTicks now;

    CheckOrder(mutPtr);
    if (likely(pthread_mutex_trylock(&mutPtr->lock) == 0)) {
        now = NsTicksNow();
    } else {
        NsTicks before = NsTicksNow(), wait;

        pthread_mutex_lock(&mutPtr->lock);
        now = NsTicksNow();
        wait = NsTicksSpan(before, now);
        Add(&mutPtr->meter.nBusy, 1);
        Add(&mutPtr->meter.waited, wait);
        if (wait > atomic_load_explicit(&mutPtr->meter.longestWait,
                                        memory_order_relaxed)) {
            atomic_store_explicit(&mutPtr->meter.longestWait, wait,
                                  memory_order_relaxed);
        }
    }
    Acquired(mutPtr, now);
}

int
Ns_MutexTryLock(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    if (pthread_mutex_trylock(&mutPtr->lock) != 0) {
        return NS_TIMEOUT;
    }
    Acquired(mutPtr, NsTicksNow());
    return NS_OK;
}

void
Ns_MutexUnlock(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    StopHolding(mutPtr);
    NoteReleased(mutPtr);
    pthread_mutex_unlock(&mutPtr->lock);
}

void
Ns_MutexSetName(Ns_Mutex *mutexPtr, const char *name)
{
    Ns_MutexSetName2(mutexPtr, name, NULL);
}

void
Ns_MutexSetName2(Ns_Mutex *mutexPtr, const char *prefix, const char *name)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    pthread_mutex_lock(&listLock);
    snprintf(mutPtr->name, sizeof(mutPtr->name), "%s%s%s", prefix,
             name != NULL ? ":" : "", name != NULL ? name : "");
    pthread_mutex_unlock(&listLock);
}

void
Ns_MutexList(Ns_DString *dsPtr)
{
    pthread_mutex_lock(&listLock);
    for (const Mutex *mutPtr = firstPtr; mutPtr != NULL;
         mutPtr = mutPtr->nextPtr) {
        AppendMutex(dsPtr, mutPtr);
    }
    pthread_mutex_unlock(&listLock);
}

void
NsMutexSetup(Ns_Mutex *mutexPtr, NsLockRank rank, const char *a, const char *b)
{
    Ns_MutexSetName2(mutexPtr, a, b);
    GetMutex(mutexPtr)->rank = rank;
}

pthread_mutex_t *
NsMutexBeginWait(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    StopHolding(mutPtr);
    NoteReleased(mutPtr);
    return &mutPtr->lock;
}

void
NsMutexEndWait(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = GetMutex(mutexPtr);

    NoteHeld(mutPtr);
    mutPtr->heldSince = NsTicksNow();
}

static Mutex *
GetMutex(Ns_Mutex *mutexPtr)
{
    Mutex *mutPtr = NsLazyPeek(mutexPtr);

    if (unlikely(mutPtr == NULL)) {
        Mutex *newPtr = CreateMutex();

        mutPtr = NsLazyPublish(mutexPtr, newPtr);
        if (mutPtr == newPtr) {
            Link(newPtr);
        } else {
            DestroyMutex(newPtr);
        }
    }
    return mutPtr;
}

static Mutex *
CreateMutex(void)
{
    Mutex *mutPtr = ns_calloc(1, sizeof(Mutex));

    pthread_mutex_init(&mutPtr->lock, NULL);

    pthread_mutex_lock(&listLock);
    mutPtr->id = ++lastId;
    snprintf(mutPtr->name, sizeof(mutPtr->name), "mu%u", mutPtr->id);
    pthread_mutex_unlock(&listLock);

    return mutPtr;
}

static void
DestroyMutex(Mutex *mutPtr)
{
    pthread_mutex_destroy(&mutPtr->lock);
    ns_free(mutPtr);
}

static void
Link(Mutex *mutPtr)
{
    pthread_mutex_lock(&listLock);
    mutPtr->nextPtr = firstPtr;
    if (firstPtr != NULL) {
        firstPtr->prevPtr = mutPtr;
    }
    firstPtr = mutPtr;
    pthread_mutex_unlock(&listLock);
}

static void
Unlink(Mutex *mutPtr)
{
    pthread_mutex_lock(&listLock);
    if (mutPtr->nextPtr != NULL) {
        mutPtr->nextPtr->prevPtr = mutPtr->prevPtr;
    }
    if (mutPtr->prevPtr != NULL) {
        mutPtr->prevPtr->nextPtr = mutPtr->nextPtr;
    } else {
        firstPtr = mutPtr->nextPtr;
    }
    pthread_mutex_unlock(&listLock);
}

static void
Acquired(Mutex *mutPtr, NsTicks now)
{
    Add(&mutPtr->meter.nLocks, 1);
    mutPtr->heldSince = now;
    NoteHeld(mutPtr);
}

static void
StopHolding(Mutex *mutPtr)
{
    Add(&mutPtr->meter.held, NsTicksSpan(mutPtr->heldSince, NsTicksNow()));
}

static void
Add(_Atomic uint64_t *counterPtr, uint64_t n)
{
    atomic_store_explicit(counterPtr,
        atomic_load_explicit(counterPtr, memory_order_relaxed) + n,
        memory_order_relaxed);
}

static void
AppendMutex(Ns_DString *dsPtr, const Mutex *mutPtr)
{
    Tcl_DStringStartSublist(dsPtr);
    Tcl_DStringAppendElement(dsPtr, mutPtr->name);
    Tcl_DStringAppendElement(dsPtr, "");
    Ns_DStringPrintf(dsPtr, " %u %" PRIu64 " %" PRIu64, mutPtr->id,
        atomic_load_explicit(&mutPtr->meter.nLocks, memory_order_relaxed),
        atomic_load_explicit(&mutPtr->meter.nBusy, memory_order_relaxed));
    AppendTicks(dsPtr, &mutPtr->meter.waited);
    AppendTicks(dsPtr, &mutPtr->meter.longestWait);
    AppendTicks(dsPtr, &mutPtr->meter.held);
    Tcl_DStringEndSublist(dsPtr);
}

static void
AppendTicks(Ns_DString *dsPtr, const _Atomic NsTicks *ticksPtr)
{
    NsTicks ticks = atomic_load_explicit(ticksPtr, memory_order_relaxed);
    Ns_Time span = NsClockSpan(0, NsTicksToStamp(ticks));

    Ns_DStringPrintf(dsPtr, " %ld.%06ld", span.sec, span.usec);
}

#ifdef NS_DEBUG

#define MAX_HELD  32

/*
 * The ranked mutexes that this thread holds, in the order it took them.
 */
typedef struct HeldMutexes {
    int          n;
    const Mutex *mutexes[MAX_HELD];
} HeldMutexes;

static _Thread_local HeldMutexes held;

static void Stop(const char *format, ...) NS_GNUC_PRINTF(1, 2) NS_GNUC_NORETURN;

void
NsMutexAssertHeld(Ns_Mutex *mutexPtr, const char *file, int line)
{
    const Mutex *mutPtr = GetMutex(mutexPtr);

    if (atomic_load_explicit(&mutPtr->holder, memory_order_relaxed) != &held) {
        Stop("%s:%d: lock %s is not held by this thread", file, line,
             mutPtr->name);
    }
}

static void
CheckOrder(const Mutex *mutPtr)
{
    if (atomic_load_explicit(&mutPtr->holder, memory_order_relaxed) == &held) {
        Stop("lock %s: taken twice by the same thread", mutPtr->name);
    }
    for (int i = 0; mutPtr->rank != NS_RANK_NONE && i < held.n; i++) {
        if (held.mutexes[i]->rank >= mutPtr->rank) {
            Stop("lock %s (rank %d): taken while holding %s (rank %d)",
                 mutPtr->name, (int) mutPtr->rank, held.mutexes[i]->name,
                 (int) held.mutexes[i]->rank);
        }
    }
}

static void
NoteHeld(Mutex *mutPtr)
{
    atomic_store_explicit(&mutPtr->holder, &held, memory_order_relaxed);
    if (mutPtr->rank != NS_RANK_NONE) {
        if (held.n == MAX_HELD) {
            Stop("lock %s: this thread holds %d others", mutPtr->name, held.n);
        }
        held.mutexes[held.n++] = mutPtr;
    }
}

static void
NoteReleased(Mutex *mutPtr)
{
    atomic_store_explicit(&mutPtr->holder, NULL, memory_order_relaxed);
    for (int i = held.n - 1; i >= 0; i--) {
        if (held.mutexes[i] == mutPtr) {
            memmove(&held.mutexes[i], &held.mutexes[i + 1],
                    (size_t) (held.n - i - 1) * sizeof(held.mutexes[0]));
            held.n--;
            break;
        }
    }
}

static void
Stop(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}

#endif

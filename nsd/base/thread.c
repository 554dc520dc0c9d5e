/* SPDX-License-Identifier: MPL-2.0
 * thread.c --
 *
 *      Threads: start, end, names, and the list of all of them.
 *
 *      Every thread that uses these functions has a structure in the list,
 *      those too that another library started; those join at their first call.
 *      A joinable thread's structure stays, marked as exited, until it is
 *      joined.
 */

#include "base/thread.h"
#include "base/clock.h"
#include "base/fatal.h"
#include "base/lock.h"
#include "base/thread_int.h"
#include "base/tls.h"
#include "nsprocess.h"
#include "nsstring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#define SIGNAL_STACK_BYTES 32768
#define FIRST_PAUSE_NS     1000000
#define LAST_PAUSE_NS      500000000
#define QUIET              (60 * NS_STAMP_SECOND)

typedef struct Thread {
    Ns_ThreadProc *proc; /* These are constant after creation. */
    Ns_Thread      handle;
    uintptr_t      id;
    time_t         created;
    char           parent[NS_THREAD_NAMESIZE + 1];
    pthread_t      pthread;
    size_t         stackBytes; /* As asked for; 0: not started here. */

    struct Thread *nextPtr; /* These are guarded by lock. */
    struct Thread *prevPtr;
    void          *arg;
    int            flags;     /* NS_THREAD_DETACHED ... */
    int            osId;      /* 0 until it runs. */
    int            nVisitors; /* Ns_ThreadList calls that look at arg. */
    char           name[NS_THREAD_NAMESIZE + 1]; /* Written by its thread. */

    void *signalStack;             /* Its own, as the rest; or NULL. */
    void *result;                  /* Written before it ends. */
    void *slots[NS_THREAD_MAXTLS]; /* Its own. */
} Thread;

/*
 * One line of the list, as it was when the list was asked for.
 */
typedef struct Visit {
    Thread        *thrPtr; /* Kept alive by nVisitors. */
    Ns_ThreadProc *proc;
    void          *arg;
    uintptr_t      id;
    time_t         created;
    int            flags;
    int            osId;
    char           name[NS_THREAD_NAMESIZE + 1];
    char           parent[NS_THREAD_NAMESIZE + 1];
} Visit;

static Ns_Mutex lock; /* Guards these, NS_RANK_THREADS. */
static Ns_Cond  visitEnded;
static Thread  *firstPtr; /* Newest first. */
static int      nThreads;
static intptr_t lastHandle;

static _Atomic long       defaultStackBytes;
static pthread_key_t      endKey;     /* Its destructor ends a thread. */
static NsThreadLimitProc *limitProc;  /* Constant once threads are started. */
static atomic_bool        isPatient;  /* The start is over. */
static _Atomic NsStamp    limitStamp; /* No thread could be made then. */
static _Thread_local NsThreadDoing doing;
static _Thread_local Thread       *selfPtr;
static _Thread_local int           selfOsId; /* 0: not asked yet. */

static void    Setup(void) __attribute__((constructor));
static void    AfterFork(void);
static Thread *Self(void);
static Thread *Adopt(void);
static Thread *NewThread(Ns_ThreadProc *proc, void *arg, int flags);
static void    NoteLimit(int error);
static void   *Run(void *arg);
static void    UseSignalStack(Thread *thrPtr);
static void    LeaveSignalStack(Thread *thrPtr);
static void    Begin(Thread *thrPtr);
static void    End(void *arg);
static void    LinkLocked(Thread *thrPtr);
static void    UnlinkLocked(Thread *thrPtr);
static Thread *FindLocked(Ns_Thread handle);
static void    ForgetArgLocked(Thread *thrPtr);
static void    NameUnnamedLocked(Thread *thrPtr);
static Visit  *StartVisits(int *nVisitsPtr);
static void    AppendVisit(Ns_DString *dsPtr, const Visit *visitPtr,
                           Ns_ThreadArgProc *argProc);
static void    EndVisit(const Visit *visitPtr);
static size_t  UsableStackBytes(long bytes);

void
Nsthreads_LibInit(void)
{
    (void) Self();
}

/*
 * Callers have no way to learn of a failure.  So the start ends with it, and
 * later they wait: what the thread is to do is late, not lost.
 */
void
Ns_ThreadCreate(Ns_ThreadProc *proc, void *arg, long stackBytes,
                Ns_Thread *threadPtr)
{
    struct timespec pause = {0, FIRST_PAUSE_NS};
    int             error;

    while ((error = NsThreadTry(proc, arg, stackBytes, threadPtr)) != 0) {
        if (!atomic_load(&isPatient)) {
            NsFatal("cannot start a thread: %s", strerror(error));
        }
        (void) nanosleep(&pause, NULL);
        pause.tv_nsec = MIN(pause.tv_nsec * 2, LAST_PAUSE_NS);
    }
}

void
NsThreadsBePatient(void)
{
    atomic_store(&isPatient, true);
}

bool
NsThreadIsOurs(void)
{
    return Self()->proc != NULL;
}

void
NsThreadSetLimitProc(NsThreadLimitProc *proc)
{
    limitProc = proc;
}

int
NsThreadTry(Ns_ThreadProc *proc, void *arg, long stackBytes,
            Ns_Thread *threadPtr)
{
    int            flags = threadPtr == NULL ? NS_THREAD_DETACHED : 0;
    Thread        *parentPtr = Self(), *thrPtr = NewThread(proc, arg, flags);
    pthread_attr_t attr;
    size_t         bytes;
    int            error;

    strcpy(thrPtr->parent, parentPtr->name);
    bytes = UsableStackBytes(stackBytes > 0 ? stackBytes
                                            : atomic_load(&defaultStackBytes));
    pthread_attr_init(&attr);
    if (bytes > 0) {
        pthread_attr_setstacksize(&attr, bytes);
    }
    pthread_attr_getstacksize(&attr, &thrPtr->stackBytes);
    if (threadPtr == NULL) {
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    }

    /*
     * Under the lock, so that the thread is in the list with its id when this
     * returns, and before it runs.
     */
    Ns_MutexLock(&lock);
    LinkLocked(thrPtr);
    if (threadPtr != NULL) {
        *threadPtr = thrPtr->handle;
    }
    error = pthread_create(&thrPtr->pthread, &attr, Run, thrPtr);
    if (error == 0) {
        thrPtr->id = (uintptr_t) thrPtr->pthread;
        NameUnnamedLocked(thrPtr);
    } else {
        UnlinkLocked(thrPtr);
    }
    Ns_MutexUnlock(&lock);

    pthread_attr_destroy(&attr);
    if (error != 0) {
        ns_free(thrPtr);
        NoteLimit(error);
    }
    return error;
}

/*
 * One episode is what fails without a break of QUIET between.
 */
static void
NoteLimit(int error)
{
    NsStamp now = NsClockNow(), last = atomic_exchange(&limitStamp, now);

    if (atomic_load(&isPatient) && limitProc != NULL
        && (last == 0 || now - last > QUIET)) {
        limitProc(error);
    }
}

void
Ns_ThreadJoin(Ns_Thread *threadPtr, void **resultPtr)
{
    if (resultPtr != NULL) {
        *resultPtr = NULL;
    }
    (void) NsThreadJoin(threadPtr, resultPtr);
}

Ns_ReturnCode
NsThreadJoin(Ns_Thread *threadPtr, void **resultPtr)
{
    Thread *thrPtr, *callerPtr = Self();
    bool    isJoinable;

    Ns_MutexLock(&lock);
    thrPtr = FindLocked(*threadPtr);
    isJoinable = thrPtr != NULL && thrPtr != callerPtr
        && (thrPtr->flags & (NS_THREAD_DETACHED | NS_THREAD_JOINED)) == 0;
    if (isJoinable) {
        thrPtr->flags |= NS_THREAD_JOINED;
    }
    Ns_MutexUnlock(&lock);

    if (!isJoinable) {
        return NS_ERROR;
    }
    pthread_join(thrPtr->pthread, NULL);
    if (resultPtr != NULL) {
        *resultPtr = thrPtr->result;
    }

    Ns_MutexLock(&lock);
    UnlinkLocked(thrPtr);
    Ns_MutexUnlock(&lock);
    ns_free(thrPtr);
    return NS_OK;
}

void
Ns_ThreadExit(void *arg)
{
    Self()->result = arg;
    pthread_exit(NULL);
}

void
Ns_ThreadYield(void)
{
    sched_yield();
}

void
Ns_ThreadSelf(Ns_Thread *threadPtr)
{
    *threadPtr = Self()->handle;
}

uintptr_t
Ns_ThreadId(void)
{
    return (uintptr_t) pthread_self();
}

void
NsThreadSetDoing(const NsThreadDoing *doingPtr)
{
    doing = *doingPtr;
}

const NsThreadDoing *
NsThreadGetDoing(void)
{
    return &doing;
}

const char *
NsThreadPeekName(void)
{
    return selfPtr == NULL ? NULL : selfPtr->name;
}

int
NsThreadOsId(void)
{
#ifdef SYS_gettid
    if (unlikely(selfOsId == 0)) {
        selfOsId = (int) syscall(SYS_gettid);
    }
#endif
    return selfOsId;
}

void
Ns_ThreadSetName(const char *format, ...)
{
    Thread *thrPtr = Self();
    char    name[NS_THREAD_NAMESIZE + 1];
    va_list ap;

    va_start(ap, format);
    vsnprintf(name, sizeof(name), format, ap);
    va_end(ap);

    Ns_MutexLock(&lock);
    strcpy(thrPtr->name, name);
    Ns_MutexUnlock(&lock);

    /* For debuggers and top; the main thread's name is the program's there. */
    if (NsThreadOsId() != (int) getpid()) {
        name[15] = '\0';
        pthread_setname_np(pthread_self(), name);
    }
}

char *
Ns_ThreadGetName(void)
{
    return Self()->name;
}

char *
Ns_ThreadGetParent(void)
{
    return Self()->parent;
}

long
Ns_ThreadStackSize(long bytes)
{
    return bytes > 0 ? atomic_exchange(&defaultStackBytes, bytes)
                     : atomic_load(&defaultStackBytes);
}

void
Ns_ThreadList(Ns_DString *dsPtr, Ns_ThreadArgProc *argProc)
{
    int    nVisits;
    Visit *visits = StartVisits(&nVisits);

    for (int i = 0; i < nVisits; i++) {
        AppendVisit(dsPtr, &visits[i], argProc);
        EndVisit(&visits[i]);
    }
    ns_free(visits);
}

void
Ns_ThreadGetThreadInfo(size_t *maxBytesPtr, size_t *usedBytesPtr)
{
    NsThreadStack(maxBytesPtr, usedBytesPtr);
}

/*
 * The C library may reuse the larger stack of a thread that ended; what counts
 * is the size asked for.
 */
void
NsThreadStack(size_t *bytesPtr, size_t *usedBytesPtr)
{
    const Thread  *thrPtr = Self();
    pthread_attr_t attr;
    void          *lowest;
    const char    *here = __builtin_frame_address(0);

    *bytesPtr = *usedBytesPtr = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &lowest, bytesPtr);
        *usedBytesPtr = *bytesPtr - (size_t) (here - (char *) lowest);
        pthread_attr_destroy(&attr);
    }
    if (thrPtr->stackBytes > 0) {
        *bytesPtr = thrPtr->stackBytes;
    }
}

void
NsThreadForgetArg(void)
{
    Thread *thrPtr = Self();

    Ns_MutexLock(&lock);
    ForgetArgLocked(thrPtr);
    Ns_MutexUnlock(&lock);
}

void **
NsThreadSlots(void)
{
    return Self()->slots;
}

static void
Setup(void)
{
    NsMutexSetup(&lock, NS_RANK_THREADS, "ns:threads", NULL);
    pthread_key_create(&endKey, End);
    pthread_atfork(NULL, NULL, AfterFork);
    /* Tcl makes the locks of its allocator when that is first used, which two
     * threads may not do at a time. */
    Tcl_Free(Tcl_Alloc(1u));
}

/*
 * A server that goes to the background is the only thread of a new process.
 */
static void
AfterFork(void)
{
    selfOsId = 0;
    if (selfPtr != NULL) {
        selfPtr->osId = NsThreadOsId();
    }
}

static Thread *
Self(void)
{
    return likely(selfPtr != NULL) ? selfPtr : Adopt();
}

/*
 * Make a thread known that something else started; nobody here can join it.
 */
static Thread *
Adopt(void)
{
    Thread *thrPtr = NewThread(NULL, NULL, NS_THREAD_DETACHED);

    thrPtr->pthread = pthread_self();
    thrPtr->id = Ns_ThreadId();

    /* First: locking must not come here again. */
    selfPtr = thrPtr;
    Ns_MutexLock(&lock);
    LinkLocked(thrPtr);
    if (NsThreadOsId() == (int) getpid()) {
        strcpy(thrPtr->name, "-main-");
    } else {
        NameUnnamedLocked(thrPtr);
    }
    Ns_MutexUnlock(&lock);
    Begin(thrPtr);
    return thrPtr;
}

static Thread *
NewThread(Ns_ThreadProc *proc, void *arg, int flags)
{
    Thread *thrPtr = ns_calloc(1, sizeof(Thread));

    thrPtr->proc = proc;
    thrPtr->arg = arg;
    thrPtr->flags = flags;
    thrPtr->created = time(NULL);
    return thrPtr;
}

static void *
Run(void *arg)
{
    Thread *thrPtr = arg;
    void   *threadArg = thrPtr->arg;

    Begin(thrPtr);
    thrPtr->proc(threadArg);
    return NULL;
}

/*
 * The handler of a fatal signal has to run when the stack is what overflowed.
 * Sanitizers bring a stack of their own.
 */
static void
UseSignalStack(Thread *thrPtr)
{
    stack_t stack;

    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0) {
        thrPtr->signalStack = ns_malloc(SIGNAL_STACK_BYTES);
        stack = (stack_t){.ss_sp = thrPtr->signalStack,
                          .ss_size = SIGNAL_STACK_BYTES};
        (void) sigaltstack(&stack, NULL);
    }
}

static void
LeaveSignalStack(Thread *thrPtr)
{
    stack_t none = {.ss_flags = SS_DISABLE};

    if (thrPtr->signalStack != NULL) {
        (void) sigaltstack(&none, NULL);
        ns_free(thrPtr->signalStack);
        thrPtr->signalStack = NULL;
    }
}

static void
Begin(Thread *thrPtr)
{
    selfPtr = thrPtr;
    pthread_setspecific(endKey, thrPtr);
    UseSignalStack(thrPtr);

    Ns_MutexLock(&lock);
    thrPtr->osId = NsThreadOsId();
    Ns_MutexUnlock(&lock);
}

/*
 * Runs when the thread's procedure has returned or called Ns_ThreadExit.  The
 * cleanup functions still find the thread as it was.
 */
static void
End(void *arg)
{
    Thread *thrPtr = arg;
    bool    isDetached;

    NsTlsCleanup(thrPtr->slots);
    LeaveSignalStack(thrPtr);

    Ns_MutexLock(&lock);
    thrPtr->flags |= NS_THREAD_EXITED;
    ForgetArgLocked(thrPtr);
    isDetached = (thrPtr->flags & NS_THREAD_DETACHED) != 0;
    if (isDetached) {
        UnlinkLocked(thrPtr);
    }
    Ns_MutexUnlock(&lock);

    selfPtr = NULL;
    if (isDetached) {
        ns_free(thrPtr);
    }
}

static void
LinkLocked(Thread *thrPtr)
{
    NsAssertLocked(&lock);

    thrPtr->handle = (Ns_Thread) ++lastHandle;
    thrPtr->nextPtr = firstPtr;
    if (firstPtr != NULL) {
        firstPtr->prevPtr = thrPtr;
    }
    firstPtr = thrPtr;
    nThreads++;
}

static void
UnlinkLocked(Thread *thrPtr)
{
    NsAssertLocked(&lock);

    if (thrPtr->nextPtr != NULL) {
        thrPtr->nextPtr->prevPtr = thrPtr->prevPtr;
    }
    if (thrPtr->prevPtr != NULL) {
        thrPtr->prevPtr->nextPtr = thrPtr->nextPtr;
    } else {
        firstPtr = thrPtr->nextPtr;
    }
    nThreads--;
}

static Thread *
FindLocked(Ns_Thread handle)
{
    Thread *thrPtr = firstPtr;

    NsAssertLocked(&lock);

    while (thrPtr != NULL && thrPtr->handle != handle) {
        thrPtr = thrPtr->nextPtr;
    }
    return thrPtr;
}

static void
ForgetArgLocked(Thread *thrPtr)
{
    NsAssertLocked(&lock);

    thrPtr->arg = NULL;
    while (thrPtr->nVisitors > 0) {
        Ns_CondWait(&visitEnded, &lock);
    }
}

static void
NameUnnamedLocked(Thread *thrPtr)
{
    NsAssertLocked(&lock);

    snprintf(thrPtr->name, sizeof(thrPtr->name), "-thread:%" PRIxPTR "-",
             thrPtr->id);
}

/*
 * Copy the list, newest thread first, without those that have ended.  The
 * caller must end each visit.
 */
static Visit *
StartVisits(int *nVisitsPtr)
{
    Visit *visits;
    int    n = 0;

    Ns_MutexLock(&lock);
    visits = ns_malloc((size_t) nThreads * sizeof(Visit));
    for (Thread *thrPtr = firstPtr; thrPtr != NULL; thrPtr = thrPtr->nextPtr) {
        Visit *visitPtr = &visits[n];

        if ((thrPtr->flags & NS_THREAD_EXITED) != 0) {
            continue;
        }
        *visitPtr = (Visit){
            .thrPtr = thrPtr,
            .proc = thrPtr->proc,
            .arg = thrPtr->arg,
            .id = thrPtr->id,
            .created = thrPtr->created,
            .flags = thrPtr->flags & NS_THREAD_DETACHED,
            .osId = thrPtr->osId};
        strcpy(visitPtr->name, thrPtr->name);
        strcpy(visitPtr->parent, thrPtr->parent);
        thrPtr->nVisitors++;
        n++;
    }
    Ns_MutexUnlock(&lock);

    *nVisitsPtr = n;
    return visits;
}

static void
AppendVisit(Ns_DString *dsPtr, const Visit *visitPtr, Ns_ThreadArgProc *argProc)
{
    Tcl_DStringStartSublist(dsPtr);
    Tcl_DStringAppendElement(dsPtr, visitPtr->name);
    Tcl_DStringAppendElement(dsPtr, visitPtr->parent);
    Ns_DStringPrintf(dsPtr, " %" PRIxPTR " %d %" PRId64, visitPtr->id,
                     visitPtr->flags, (int64_t) visitPtr->created);
    if (argProc != NULL) {
        argProc(dsPtr, (void *) visitPtr->proc, visitPtr->arg);
    } else {
        Ns_DStringPrintf(dsPtr, " p:0x%" PRIxPTR " a:0x%" PRIxPTR,
                         (uintptr_t) visitPtr->proc, (uintptr_t) visitPtr->arg);
    }
    Ns_DStringPrintf(dsPtr, " %d", visitPtr->osId);
    Tcl_DStringEndSublist(dsPtr);
}

static void
EndVisit(const Visit *visitPtr)
{
    Ns_MutexLock(&lock);
    if (--visitPtr->thrPtr->nVisitors == 0) {
        Ns_CondBroadcast(&visitEnded);
    }
    Ns_MutexUnlock(&lock);
}

/*
 * A size that the system accepts; 0 stays 0, the system's default.
 */
static size_t
UsableStackBytes(long bytes)
{
    long pageBytes = sysconf(_SC_PAGESIZE);
    long least = sysconf(_SC_THREAD_STACK_MIN);

    if (bytes <= 0) {
        return 0;
    }
    bytes = MAX(bytes, least);
    return (size_t) ((bytes + pageBytes - 1) / pageBytes * pageBytes);
}

/* SPDX-License-Identifier: MPL-2.0
 * lockobj.c --
 *
 *      Named objects for synchronization.
 *
 *      The table's lock guards names and use counts only; it is never held
 *      while a thread waits for an object.
 *
 *      Each thread has a list of what it holds, which is short as a rule: so a
 *      thread that reads is known, and can neither wait for itself nor leave a
 *      lock behind in silence.
 */

#include "tcl/lockobj.h"

#include "ns.h"
#include "base/assert.h"
#include "base/lock.h"
#include "tcl/perserver.h"

typedef struct Table {
    Ns_Mutex      lock; /* Guards all of it, and nUsers of objects. */
    Tcl_HashTable objects[NS_LOCK_KINDS];
    unsigned      nextNumber[NS_LOCK_KINDS];
} Table;

/*
 * A thread that waits for a condition; on its stack.
 */
typedef struct Waiter {
    struct Waiter *nextPtr; /* All guarded by the condition's lock. */
    Ns_Cond        wakeup;
    bool           isSignalled; /* And no longer in the list. */
} Waiter;

/*
 * A condition.  A thread that is asked where it is wakes from its wait, and
 * would miss a signal meanwhile, or have to take the question for one.  So a
 * signal is given to a thread, the one that has waited longest, and the thread
 * waits until it has it.
 */
typedef struct Condition {
    Ns_Mutex lock; /* Guards the rest. */
    Waiter  *firstPtr;
    Waiter **endPtr; /* Where the next one is linked. */
} Condition;

/*
 * What a thread holds; in that thread's list.
 */
typedef struct Holding {
    struct Holding *nextPtr;
    NsLockObj      *objPtr;
    int             n;     /* How often: critical sections, readers. */
    const void     *owner; /* NULL: it has been reported. */
} Holding;

struct NsLockObj {
    Table      *tablePtr; /* These are constant. */
    NsLockKind  kind;
    const char *name;

    int nUsers; /* Guarded by the table's lock. */

    _Atomic uintptr_t holder; /* Thread id, unless it reads; written by the
                               * holder. */
    atomic_bool isReported;   /* Somebody has left it locked. */
    union {
        Ns_Mutex  mutex;
        Ns_Cs     cs;
        Ns_Sema   sema;
        Condition cond;
        Ns_RWLock rwlock;
    } u;
};

static const char *const prefixes[NS_LOCK_KINDS] = {
    [NS_LOCK_MUTEX] = "ns:mutex:tcl",
    [NS_LOCK_CRITSEC] = "ns:critsec:tcl",
    [NS_LOCK_SEMA] = "ns:semaphore:tcl",
    [NS_LOCK_COND] = "ns:condition:tcl",
    [NS_LOCK_RWLOCK] = "ns:rwlock:tcl"};

static const char *const kinds[NS_LOCK_KINDS] = {
    [NS_LOCK_MUTEX] = "mutex",
    [NS_LOCK_CRITSEC] = "critical section",
    [NS_LOCK_SEMA] = "semaphore",
    [NS_LOCK_COND] = "condition",
    [NS_LOCK_RWLOCK] = "read/write lock"};

static NsPerServer tables;
static Ns_Tls      holdings; /* Of each thread: the first one. */

static NsPerServerProc CreateTable;
static NsLockObj      *CreateObject(Table *tablePtr, NsLockKind kind,
                                    const char *name);
static void            DestroyObject(NsLockObj *objPtr);
static bool            IsMine(const NsLockObj *objPtr);
static bool            TryOne(NsLockObj *objPtr, bool isWrite);
static void            WaitForOne(NsLockObj *objPtr, bool isWrite);
static Holding        *FindHolding(const NsLockObj *objPtr);
static void            Hold(NsLockObj *objPtr, const void *owner);
static void            EndHolding(NsLockObj *objPtr);
static Ns_TlsCleanup   FreeHoldings;
static void            SignalLocked(Condition *condPtr);
static Ns_ReturnCode   AwaitSignal(Condition *condPtr, Waiter *waiterPtr,
                                   Ns_Time *deadlinePtr);
static void            RemoveLocked(Condition *condPtr, Waiter *waiterPtr);
static void            CheckCondLocked(const Condition *condPtr);

void
NsLockObjInit(void)
{
    Ns_TlsAlloc(&holdings, FreeHoldings);
}

static void *
CreateTable(NsServer *serverPtr)
{
    Table *tablePtr = ns_calloc(1, sizeof(*tablePtr));

    NsMutexSetup(&tablePtr->lock, NS_RANK_TCL_OBJECTS, "ns:tcllocks",
                 serverPtr->name);
    for (int i = 0; i < NS_LOCK_KINDS; i++) {
        Tcl_InitHashTable(&tablePtr->objects[i], TCL_STRING_KEYS);
    }
    return tablePtr;
}

bool
NsLockObjIsForeign(NsLockKind kind, const char *name)
{
    for (int i = 0; i < NS_LOCK_KINDS; i++) {
        size_t length = strlen(prefixes[i]);

        if (strncmp(name, prefixes[i], length) == 0 && name[length] == ':') {
            return i != (int) kind;
        }
    }
    return false;
}

NsLockObj *
NsLockObjUse(NsServer *serverPtr, NsLockKind kind, const char *name)
{
    Table         *tablePtr = NsPerServerGet(&tables, serverPtr, CreateTable);
    Tcl_HashTable *objectsPtr = &tablePtr->objects[kind];
    Tcl_HashEntry *hPtr;
    NsLockObj     *objPtr;
    char           made[64];
    int            isNew;

    Ns_MutexLock(&tablePtr->lock);
    if (name != NULL) {
        hPtr = Tcl_CreateHashEntry(objectsPtr, name, &isNew);
    } else {
        do {
            snprintf(made, sizeof(made), "%s:%u", prefixes[kind],
                     tablePtr->nextNumber[kind]++);
            hPtr = Tcl_CreateHashEntry(objectsPtr, made, &isNew);
        } while (!isNew);
    }
    if (isNew) {
        objPtr = CreateObject(tablePtr, kind, Tcl_GetHashKey(objectsPtr, hPtr));
        Tcl_SetHashValue(hPtr, objPtr);
    } else {
        objPtr = Tcl_GetHashValue(hPtr);
    }
    objPtr->nUsers++;
    Ns_MutexUnlock(&tablePtr->lock);
    return objPtr;
}

static NsLockObj *
CreateObject(Table *tablePtr, NsLockKind kind, const char *name)
{
    NsLockObj *objPtr = ns_calloc(1, sizeof(*objPtr));

    objPtr->tablePtr = tablePtr;
    objPtr->kind = kind;
    objPtr->name = name;
    switch (kind) {
    case NS_LOCK_MUTEX:
        Ns_MutexInit(&objPtr->u.mutex);
        Ns_MutexSetName(&objPtr->u.mutex, name);
        break;
    case NS_LOCK_CRITSEC:
        Ns_CsInit(&objPtr->u.cs);
        break;
    case NS_LOCK_SEMA:
        Ns_SemaInit(&objPtr->u.sema, 0);
        break;
    case NS_LOCK_COND:
        NsMutexSetup(&objPtr->u.cond.lock, NS_RANK_TCL_OBJECTS, "ns:tclcond",
                     NULL);
        objPtr->u.cond.endPtr = &objPtr->u.cond.firstPtr;
        break;
    case NS_LOCK_RWLOCK:
        Ns_RWLockInit(&objPtr->u.rwlock);
        break;
    case NS_LOCK_KINDS:
        break;
    }
    return objPtr;
}

static void
DestroyObject(NsLockObj *objPtr)
{
    switch (objPtr->kind) {
    case NS_LOCK_MUTEX:
        Ns_MutexDestroy(&objPtr->u.mutex);
        break;
    case NS_LOCK_CRITSEC:
        Ns_CsDestroy(&objPtr->u.cs);
        break;
    case NS_LOCK_SEMA:
        Ns_SemaDestroy(&objPtr->u.sema);
        break;
    case NS_LOCK_COND:
        NsAssert(objPtr->u.cond.firstPtr == NULL);
        Ns_MutexDestroy(&objPtr->u.cond.lock);
        break;
    case NS_LOCK_RWLOCK:
        Ns_RWLockDestroy(&objPtr->u.rwlock);
        break;
    case NS_LOCK_KINDS:
        break;
    }
    ns_free(objPtr);
}

static void
ChangeUsers(NsLockObj *objPtr, int n)
{
    Ns_MutexLock(&objPtr->tablePtr->lock);
    objPtr->nUsers += n;
    NsAssert(objPtr->nUsers >= 0);
    Ns_MutexUnlock(&objPtr->tablePtr->lock);
}

void
NsLockObjRelease(NsLockObj *objPtr)
{
    ChangeUsers(objPtr, -1);
}

const char *
NsLockObjName(const NsLockObj *objPtr)
{
    return objPtr->name;
}

void
NsLockObjDestroy(NsServer *serverPtr, NsLockKind kind, const char *name)
{
    Table         *tablePtr = NsPerServerGet(&tables, serverPtr, CreateTable);
    Tcl_HashEntry *hPtr;
    NsLockObj     *objPtr = NULL;

    Ns_MutexLock(&tablePtr->lock);
    hPtr = Tcl_FindHashEntry(&tablePtr->objects[kind], name);
    if (hPtr != NULL) {
        objPtr = Tcl_GetHashValue(hPtr);
        if (objPtr->nUsers == 0) {
            Tcl_DeleteHashEntry(hPtr);
        } else {
            objPtr = NULL;
        }
    }
    Ns_MutexUnlock(&tablePtr->lock);

    if (objPtr != NULL) {
        DestroyObject(objPtr);
    }
}

Ns_ReturnCode
NsLockObjAcquire(NsLockObj *objPtr, bool isWrite, const void *owner)
{
    Holding *holdingPtr = FindHolding(objPtr);
    bool     isShared = objPtr->kind == NS_LOCK_RWLOCK && !isWrite;

    if (holdingPtr != NULL && objPtr->kind != NS_LOCK_CRITSEC) {
        if (!isShared || IsMine(objPtr)) {
            return NS_ERROR;
        }
        /* Once more: not from the lock, where a writer may be waiting. */
        holdingPtr->n++;
        return NS_OK;
    }
    if (!TryOne(objPtr, isWrite)) {
        WaitForOne(objPtr, isWrite);
    }
    if (!isShared) {
        atomic_store(&objPtr->holder, Ns_ThreadId());
    }
    Hold(objPtr, owner);
    return NS_OK;
}

/*
 * NULL: this thread does not hold it.
 */
static Holding *
FindHolding(const NsLockObj *objPtr)
{
    Holding *holdingPtr = Ns_TlsGet(&holdings);

    while (holdingPtr != NULL && holdingPtr->objPtr != objPtr) {
        holdingPtr = holdingPtr->nextPtr;
    }
    return holdingPtr;
}

static void
Hold(NsLockObj *objPtr, const void *owner)
{
    Holding *holdingPtr = FindHolding(objPtr);

    if (holdingPtr == NULL) {
        holdingPtr = ns_calloc(1, sizeof(*holdingPtr));
        holdingPtr->objPtr = objPtr;
        holdingPtr->owner = owner;
        holdingPtr->nextPtr = Ns_TlsGet(&holdings);
        Ns_TlsSet(&holdings, holdingPtr);
    }
    holdingPtr->n++;
    ChangeUsers(objPtr, 1);
}

/*
 * The object may be gone afterwards.
 */
static void
EndHolding(NsLockObj *objPtr)
{
    Holding *holdingPtr = FindHolding(objPtr);
    Holding *firstPtr = Ns_TlsGet(&holdings);

    NsAssert(holdingPtr != NULL && holdingPtr->n > 0);
    if (--holdingPtr->n == 0) {
        if (firstPtr == holdingPtr) {
            Ns_TlsSet(&holdings, holdingPtr->nextPtr);
        } else {
            while (firstPtr->nextPtr != holdingPtr) {
                firstPtr = firstPtr->nextPtr;
            }
            firstPtr->nextPtr = holdingPtr->nextPtr;
        }
        ns_free(holdingPtr);
    }
    ChangeUsers(objPtr, -1);
}

/*
 * The thread ends; what it holds stays locked.
 */
static void
FreeHoldings(void *arg)
{
    Holding *holdingPtr = arg;

    while (holdingPtr != NULL) {
        Holding *nextPtr = holdingPtr->nextPtr;

        ns_free(holdingPtr);
        holdingPtr = nextPtr;
    }
}

bool
NsLockObjIsRead(const NsLockObj *objPtr)
{
    return objPtr->kind == NS_LOCK_RWLOCK && FindHolding(objPtr) != NULL
        && !IsMine(objPtr);
}

void
NsLockObjReportHeld(const void *owner, NsLockObjHeldProc *proc)
{
    for (Holding *holdingPtr = Ns_TlsGet(&holdings); holdingPtr != NULL;
         holdingPtr = holdingPtr->nextPtr) {
        if (holdingPtr->owner == owner) {
            holdingPtr->owner = NULL;
            if (!atomic_exchange(&holdingPtr->objPtr->isReported, true)) {
                proc(kinds[holdingPtr->objPtr->kind], holdingPtr->objPtr->name,
                     owner);
            }
        }
    }
}

static bool
TryOne(NsLockObj *objPtr, bool isWrite)
{
    switch (objPtr->kind) {
    case NS_LOCK_MUTEX:
        return Ns_MutexTryLock(&objPtr->u.mutex) == NS_OK;
    case NS_LOCK_CRITSEC:
        return NsCsTry(&objPtr->u.cs) == NS_OK;
    default:
        NsAssert(objPtr->kind == NS_LOCK_RWLOCK);
        return NsRWLockTry(&objPtr->u.rwlock, isWrite) == NS_OK;
    }
}

/*
 * Out of which nobody can call the thread: the lock has its own queue.
 */
static void
WaitForOne(NsLockObj *objPtr, bool isWrite)
{
    Ns_TclWaitBegin(NULL);
    if (objPtr->kind == NS_LOCK_MUTEX) {
        Ns_MutexLock(&objPtr->u.mutex);
    } else if (objPtr->kind == NS_LOCK_CRITSEC) {
        Ns_CsEnter(&objPtr->u.cs);
    } else if (isWrite) {
        Ns_RWLockWrLock(&objPtr->u.rwlock);
    } else {
        Ns_RWLockRdLock(&objPtr->u.rwlock);
    }
    Ns_TclWaitEnd();
}

Ns_ReturnCode
NsLockObjTry(NsLockObj *objPtr, const void *owner)
{
    Ns_ReturnCode status = Ns_MutexTryLock(&objPtr->u.mutex);

    if (status == NS_OK) {
        atomic_store(&objPtr->holder, Ns_ThreadId());
        Hold(objPtr, owner);
    }
    return status;
}

Ns_ReturnCode
NsLockObjGiveUp(NsLockObj *objPtr)
{
    Holding *holdingPtr = FindHolding(objPtr);

    if (holdingPtr == NULL) {
        return NS_ERROR;
    }
    switch (objPtr->kind) {
    case NS_LOCK_MUTEX:
        NsAssert(IsMine(objPtr));
        atomic_store(&objPtr->holder, 0);
        Ns_MutexUnlock(&objPtr->u.mutex);
        break;
    case NS_LOCK_CRITSEC:
        NsAssert(IsMine(objPtr));
        if (holdingPtr->n == 1) {
            atomic_store(&objPtr->holder, 0);
        }
        Ns_CsLeave(&objPtr->u.cs);
        break;
    default:
        if (holdingPtr->n > 1) {
            NsAssert(!IsMine(objPtr));
            holdingPtr->n--;
            return NS_OK;
        }
        if (IsMine(objPtr)) {
            atomic_store(&objPtr->holder, 0);
        }
        Ns_RWLockUnlock(&objPtr->u.rwlock);
        break;
    }
    EndHolding(objPtr);
    return NS_OK;
}

static bool
IsMine(const NsLockObj *objPtr)
{
    return atomic_load(&objPtr->holder) == Ns_ThreadId();
}

/*
 * Posts that are in the count keep the semaphore from being destroyed.
 */
void
NsLockObjPost(NsLockObj *objPtr, int count)
{
    if (count > 0) {
        ChangeUsers(objPtr, count);
        Ns_SemaPost(&objPtr->u.sema, count);
    }
}

Ns_ReturnCode
NsLockObjTakeOne(NsLockObj *objPtr)
{
    Ns_ReturnCode status = NsSemaWaitEndable(&objPtr->u.sema);

    if (status == NS_OK) {
        ChangeUsers(objPtr, -1);
    }
    return status;
}

void
NsLockObjSignal(NsLockObj *objPtr, bool isBroadcast)
{
    Condition *condPtr = &objPtr->u.cond;

    Ns_MutexLock(&condPtr->lock);
    CheckCondLocked(condPtr);
    while (condPtr->firstPtr != NULL) {
        SignalLocked(condPtr);
        if (!isBroadcast) {
            break;
        }
    }
    CheckCondLocked(condPtr);
    Ns_MutexUnlock(&condPtr->lock);
}

/*
 * The one that has waited longest.  It is gone once the lock is released.
 */
static void
SignalLocked(Condition *condPtr)
{
    Waiter *waiterPtr = condPtr->firstPtr;

    NsAssertLocked(&condPtr->lock);
    NsAssert(!waiterPtr->isSignalled);
    RemoveLocked(condPtr, waiterPtr);
    waiterPtr->isSignalled = true;
    Ns_CondSignal(&waiterPtr->wakeup);
}

/*
 * In the list before it releases the mutex, the thread misses no signal of
 * those who take that.
 */
Ns_ReturnCode
NsLockObjWait(NsLockObj *objPtr, NsLockObj *mutexPtr, Ns_Time *deadlinePtr)
{
    Condition    *condPtr = &objPtr->u.cond;
    Waiter        waiter = {0};
    Ns_ReturnCode status;

    if (!IsMine(mutexPtr)) {
        return NS_ERROR;
    }
    Ns_MutexLock(&condPtr->lock);
    CheckCondLocked(condPtr);
    *condPtr->endPtr = &waiter;
    condPtr->endPtr = &waiter.nextPtr;
    Ns_MutexUnlock(&condPtr->lock);

    atomic_store(&mutexPtr->holder, 0);
    Ns_MutexUnlock(&mutexPtr->u.mutex);
    status = AwaitSignal(condPtr, &waiter, deadlinePtr);
    if (!TryOne(mutexPtr, true)) {
        WaitForOne(mutexPtr, true);
    }
    atomic_store(&mutexPtr->holder, Ns_ThreadId());
    return status;
}

/*
 * A signal that comes with the end of the time counts.
 */
static Ns_ReturnCode
AwaitSignal(Condition *condPtr, Waiter *waiterPtr, Ns_Time *deadlinePtr)
{
    Ns_ReturnCode status = NS_OK;

    Ns_MutexLock(&condPtr->lock);
    while (!waiterPtr->isSignalled && status == NS_OK) {
        status = NsCondWaitEndable(&waiterPtr->wakeup, &condPtr->lock,
                                   deadlinePtr);
    }
    if (waiterPtr->isSignalled) {
        status = NS_OK;
    } else {
        RemoveLocked(condPtr, waiterPtr);
    }
    CheckCondLocked(condPtr);
    Ns_MutexUnlock(&condPtr->lock);
    Ns_CondDestroy(&waiterPtr->wakeup);
    return status;
}

static void
RemoveLocked(Condition *condPtr, Waiter *waiterPtr)
{
    Waiter **linkPtr = &condPtr->firstPtr;

    NsAssertLocked(&condPtr->lock);
    while (*linkPtr != waiterPtr) {
        NsAssert(*linkPtr != NULL);
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = waiterPtr->nextPtr;
    if (condPtr->endPtr == &waiterPtr->nextPtr) {
        condPtr->endPtr = linkPtr;
    }
    waiterPtr->nextPtr = NULL;
}

static void
CheckCondLocked(const Condition *condPtr)
{
    NsAssertLocked(&condPtr->lock);
    NsAssert(*condPtr->endPtr == NULL);
    NsAssert((condPtr->firstPtr == NULL)
             == (condPtr->endPtr == &condPtr->firstPtr));
}

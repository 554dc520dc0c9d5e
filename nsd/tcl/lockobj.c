/* SPDX-License-Identifier: MPL-2.0
 * lockobj.c --
 *
 *      Named objects for synchronization.
 *
 *      The table's lock guards names and use counts only; it is never held
 *      while a thread waits for an object.
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

struct NsLockObj {
    Table      *tablePtr; /* These are constant. */
    NsLockKind  kind;
    const char *name;

    int nUsers; /* Guarded by the table's lock. */

    _Atomic uintptr_t holder;   /* Thread id; written by the holder. */
    int               depth;    /* The holder's: entries of a critsec. */
    atomic_int        nReaders; /* Of a rwlock. */
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

static NsPerServer tables;

static NsPerServerProc CreateTable;
static NsLockObj      *CreateObject(Table *tablePtr, NsLockKind kind,
                                    const char *name);
static void            DestroyObject(NsLockObj *objPtr);
static bool            IsMine(const NsLockObj *objPtr);
static bool            TryOne(NsLockObj *objPtr, bool isWrite);
static void            WaitForOne(NsLockObj *objPtr, bool isWrite);
static bool            StopsReading(NsLockObj *objPtr);
static void            SignalLocked(Condition *condPtr);
static Ns_ReturnCode   AwaitSignal(Condition *condPtr, Waiter *waiterPtr,
                                   Ns_Time *deadlinePtr);
static void            RemoveLocked(Condition *condPtr, Waiter *waiterPtr);
static void            CheckCondLocked(const Condition *condPtr);

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
NsLockObjAcquire(NsLockObj *objPtr, bool isWrite)
{
    if (objPtr->kind == NS_LOCK_CRITSEC) {
        if (!TryOne(objPtr, isWrite)) {
            WaitForOne(objPtr, isWrite);
        }
        objPtr->depth++;
    } else if (IsMine(objPtr)) {
        return NS_ERROR;
    } else if (!TryOne(objPtr, isWrite)) {
        WaitForOne(objPtr, isWrite);
    }
    if (objPtr->kind == NS_LOCK_RWLOCK && !isWrite) {
        objPtr->nReaders++;
    } else {
        atomic_store(&objPtr->holder, Ns_ThreadId());
    }
    ChangeUsers(objPtr, 1);
    return NS_OK;
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
NsLockObjTry(NsLockObj *objPtr)
{
    Ns_ReturnCode status = Ns_MutexTryLock(&objPtr->u.mutex);

    if (status == NS_OK) {
        atomic_store(&objPtr->holder, Ns_ThreadId());
        ChangeUsers(objPtr, 1);
    }
    return status;
}

Ns_ReturnCode
NsLockObjGiveUp(NsLockObj *objPtr)
{
    switch (objPtr->kind) {
    case NS_LOCK_MUTEX:
        if (!IsMine(objPtr)) {
            return NS_ERROR;
        }
        atomic_store(&objPtr->holder, 0);
        Ns_MutexUnlock(&objPtr->u.mutex);
        break;
    case NS_LOCK_CRITSEC:
        if (!IsMine(objPtr)) {
            return NS_ERROR;
        }
        if (--objPtr->depth == 0) {
            atomic_store(&objPtr->holder, 0);
        }
        Ns_CsLeave(&objPtr->u.cs);
        break;
    default:
        if (IsMine(objPtr)) {
            atomic_store(&objPtr->holder, 0);
        } else if (!StopsReading(objPtr)) {
            return NS_ERROR;
        }
        Ns_RWLockUnlock(&objPtr->u.rwlock);
        break;
    }
    ChangeUsers(objPtr, -1);
    return NS_OK;
}

static bool
IsMine(const NsLockObj *objPtr)
{
    return atomic_load(&objPtr->holder) == Ns_ThreadId();
}

/*
 * Take one reader off the count; false if nobody reads.  Which threads read is
 * not known, and two scripts may err at the same time.
 */
static bool
StopsReading(NsLockObj *objPtr)
{
    int n = atomic_load(&objPtr->nReaders);

    while (n > 0
           && !atomic_compare_exchange_weak(&objPtr->nReaders, &n, n - 1)) {
        /* Changed meanwhile; n is the new one. */
    }
    return n > 0;
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

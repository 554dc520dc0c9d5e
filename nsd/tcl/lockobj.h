/* SPDX-License-Identifier: MPL-2.0
 * lockobj.h --
 *
 *      Mutexes, critical sections, semaphores, conditions and read/write locks
 *      that scripts know by name, per server.
 *
 *      An object is used by the threads that are inside of an operation on it,
 *      or hold it; it is destroyed only when it is not used.
 */

#ifndef NSD_TCL_LOCKOBJ_H
#define NSD_TCL_LOCKOBJ_H

#include <stdatomic.h>

#include "process/server.h"

typedef enum {
    NS_LOCK_MUTEX,
    NS_LOCK_CRITSEC,
    NS_LOCK_SEMA,
    NS_LOCK_COND,
    NS_LOCK_RWLOCK,
    NS_LOCK_KINDS
} NsLockKind;

typedef struct NsLockObj NsLockObj;

void NsLockObjInit(void);

/*
 * Is this a name that was made up for an object of another kind?
 */
bool NsLockObjIsForeign(NsLockKind kind, const char *name);

/*
 * Find or make the object and use it, until NsLockObjRelease.  Name NULL: a new
 * one is made up.
 */
NsLockObj *NsLockObjUse(NsServer *serverPtr, NsLockKind kind, const char *name);
void       NsLockObjRelease(NsLockObj *objPtr);

/*
 * Valid while the object is used.
 */
const char *NsLockObjName(const NsLockObj *objPtr);

/*
 * Destroy the object of that name, unless it does not exist or is used.
 */
void NsLockObjDestroy(NsServer *serverPtr, NsLockKind kind, const char *name);

/*
 * Acquire (mutex, critsec, rwlock; isWrite matters to the last).  Who holds an
 * object uses it.  NS_ERROR: this thread holds it already, and would wait for
 * itself; it may enter a critsec again, and read while it reads.  owner, which
 * is not NULL: for whom NsLockObjReportHeld looks.
 */
Ns_ReturnCode NsLockObjAcquire(NsLockObj *objPtr, bool isWrite,
                               const void *owner);

/*
 * Acquire a mutex if it is free: NS_OK, or NS_TIMEOUT.
 */
Ns_ReturnCode NsLockObjTry(NsLockObj *objPtr, const void *owner);

/*
 * A rwlock that this thread holds for reading.
 */
bool NsLockObjIsRead(const NsLockObj *objPtr);

/*
 * The owner, of this thread, ends.  Call proc for each object that it has
 * acquired and not given up, once in the life of each object; the kind is in
 * words.
 */
typedef void NsLockObjHeldProc(const char *kind, const char *name,
                               const void *owner);
void         NsLockObjReportHeld(const void *owner, NsLockObjHeldProc *proc);

/*
 * Give up what was acquired.  NS_ERROR: it was not the caller's.
 */
Ns_ReturnCode NsLockObjGiveUp(NsLockObj *objPtr);

/*
 * Semaphores: add to the count; wait until it is positive and take one.
 * NS_TIMEOUT: the wait was ended.
 */
void          NsLockObjPost(NsLockObj *objPtr, int count);
Ns_ReturnCode NsLockObjTakeOne(NsLockObj *objPtr);

/*
 * Conditions.  Wait releases the mutex in the meantime: NS_OK, NS_TIMEOUT, or
 * NS_ERROR when the mutex is not the caller's.  deadlinePtr NULL: no limit.
 */
void          NsLockObjSignal(NsLockObj *objPtr, bool isBroadcast);
Ns_ReturnCode NsLockObjWait(NsLockObj *objPtr, NsLockObj *mutexPtr,
                            Ns_Time *deadlinePtr);

#endif

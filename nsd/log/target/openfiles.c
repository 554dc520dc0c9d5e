/* SPDX-License-Identifier: MPL-2.0
 * openfiles.c --
 *
 *      The log files that are open for writing.
 */

#include "log/target/openfiles.h"

#include "base/assert.h"
#include "base/lock.h"
#include "nsthread.h"

typedef struct OpenFile {
    struct OpenFile *nextPtr;
    const void      *owner;
    dev_t            device;
    ino_t            inode;
} OpenFile;

static Ns_Mutex  lock; /* Guards the list. */
static OpenFile *firstPtr;

static OpenFile **FindLocked(const void *owner);

void
NsOpenFilesInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LEAF, "ns:log", "openfiles");
}

void
NsOpenFilesNote(const void *owner, const struct stat *stPtr)
{
    OpenFile *newPtr = NULL, *oldPtr, **linkPtr;

    if (stPtr != NULL) {
        newPtr = ns_calloc(1u, sizeof(*newPtr));
        newPtr->owner = owner;
        newPtr->device = stPtr->st_dev;
        newPtr->inode = stPtr->st_ino;
    }
    Ns_MutexLock(&lock);
    linkPtr = FindLocked(owner);
    oldPtr = *linkPtr;
    if (oldPtr != NULL) {
        *linkPtr = oldPtr->nextPtr;
    }
    NsCheck(*FindLocked(owner) == NULL);
    if (newPtr != NULL) {
        newPtr->nextPtr = firstPtr;
        firstPtr = newPtr;
    }
    Ns_MutexUnlock(&lock);
    ns_free(oldPtr);
}

bool
NsOpenFilesHave(const struct stat *stPtr)
{
    bool isOpen = false;

    Ns_MutexLock(&lock);
    for (OpenFile *p = firstPtr; p != NULL && !isOpen; p = p->nextPtr) {
        isOpen = p->inode == stPtr->st_ino && p->device == stPtr->st_dev;
    }
    Ns_MutexUnlock(&lock);
    return isOpen;
}

/*
 * The link to the owner's file; it is NULL if there is none.
 */
static OpenFile **
FindLocked(const void *owner)
{
    OpenFile **linkPtr = &firstPtr;

    NsAssertLocked(&lock);
    while (*linkPtr != NULL && (*linkPtr)->owner != owner) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    return linkPtr;
}

/* SPDX-License-Identifier: MPL-2.0
 * file.c --
 *
 *      Descriptors: flags, numbers, temporary files.
 */

#include "base/lock.h"
#include "base/tempfile.h"
#include "nsfile.h"

/* Temporary files kept for the next use; more are closed. */
#define MAX_POOLED 16
#define FIRST_HIGH 256 /* stdio and select() work below this only. */

static Ns_Mutex poolLock; /* Guards the pool, NS_RANK_LEAF. */
static int      pool[MAX_POOLED];
static int      nPooled;

static void Setup(void) __attribute__((constructor));
static int  SetCloseOnExec(int fd, bool isSet);
static int  TakePooled(void);
static bool GivePooled(int fd);

int
Ns_CloseOnExec(int fd)
{
    return SetCloseOnExec(fd, true);
}

int
Ns_NoCloseOnExec(int fd)
{
    return SetCloseOnExec(fd, false);
}

int
Ns_DupHigh(int *fdPtr)
{
    int flags = fcntl(*fdPtr, F_GETFD), highFd;

    if (flags >= 0) {
        highFd = fcntl(*fdPtr,
                       (flags & FD_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD,
                       FIRST_HIGH);
        if (highFd >= 0) {
            close(*fdPtr);
            *fdPtr = highFd;
        }
    }
    return *fdPtr;
}

int
Ns_GetTemp(void)
{
    int fd = TakePooled();

    return fd >= 0 ? fd : NsTempFileOpen(NULL);
}

void
Ns_ReleaseTemp(int fd)
{
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0
        || !GivePooled(fd)) {
        close(fd);
    }
}

static void
Setup(void)
{
    NsMutexSetup(&poolLock, NS_RANK_LEAF, "ns:temp", NULL);
}

static int
SetCloseOnExec(int fd, bool isSet)
{
    int flags = fcntl(fd, F_GETFD);

    if (flags < 0) {
        return NS_ERROR;
    }
    flags = isSet ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
    return fcntl(fd, F_SETFD, flags) == 0 ? NS_OK : NS_ERROR;
}

static int
TakePooled(void)
{
    int fd = -1;

    Ns_MutexLock(&poolLock);
    if (nPooled > 0) {
        fd = pool[--nPooled];
    }
    Ns_MutexUnlock(&poolLock);
    return fd;
}

static bool
GivePooled(int fd)
{
    bool hasRoom;

    Ns_MutexLock(&poolLock);
    hasRoom = nPooled < MAX_POOLED;
    if (hasRoom) {
        pool[nPooled++] = fd;
    }
    Ns_MutexUnlock(&poolLock);
    return hasRoom;
}

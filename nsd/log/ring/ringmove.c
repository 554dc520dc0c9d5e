/* SPDX-License-Identifier: MPL-2.0
 * ringmove.c --
 *
 *      A new file for the mapping in use.
 *
 *      Someone may have deleted the file, or there was no room for one at the
 *      start.  Threads put records into the mapping without a lock, and nobody
 *      can ask them to pause.  So the mapping is made read only: a thread that
 *      writes there gets a fault, waits in the handler, and writes again when
 *      the copy has taken the place of the original, at the same addresses.
 */

#include "log/ring/ring_int.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/assert.h"
#include "nsthread.h"

#define PAUSE_NANOS 100000

/* Of the mapping that is moved, the only one in use; written before the handler
 * is there. */
static char *_Atomic    movedBase;
static atomic_size_t    movedBytes;
static atomic_bool      isMoving;
static struct sigaction former;

static bool CopyTo(NsRing *ringPtr, int fd);
static bool WriteAll(int fd, const char *bytes, size_t length);
static void Watch(const NsRing *ringPtr);
static void HandleFault(int number, siginfo_t *infoPtr, void *context);

bool
NsRingIsHomeless(const NsRing *ringPtr)
{
    struct stat st;

    return ringPtr->filePtr == NULL
        || (fstat(ringPtr->filePtr->fd, &st) == 0 && st.st_nlink == 0);
}

const char *
NsRingMove(NsRing *ringPtr, const NsRingKey *keyPtr)
{
    const char *reason;
    Ns_DString  path;
    int         fd;

    Ns_DStringInit(&path);
    fd = NsRingFileCreate(keyPtr, ringPtr->headerPtr->bytes, &path, &reason);
    if (fd >= 0 && !CopyTo(ringPtr, fd)) {
        reason = strerror(errno);
        unlink(Ns_DStringValue(&path));
        close(fd);
        fd = -1;
    }
    if (fd >= 0) {
        if (!NsRingFileName(keyPtr, &path)) {
            reason = strerror(errno);
        }
        if (ringPtr->filePtr == NULL) {
            ringPtr->filePtr = NsRingFileAdd(fd, Ns_DStringValue(&path));
        } else {
            NsRingFileReplace(ringPtr->filePtr, fd,
                              ns_strdup(Ns_DStringValue(&path)));
        }
        atomic_store(&ringPtr->path, ringPtr->filePtr->path);
    }
    Ns_DStringFree(&path);
    return reason;
}

/*
 * False: all is as it was, and errno says why.
 */
static bool
CopyTo(NsRing *ringPtr, int fd)
{
    char  *base = (char *) ringPtr->headerPtr;
    size_t bytes = ringPtr->headerPtr->bytes;
    char  *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_POPULATE, fd, 0);
    bool   isOk;
    int    reason;

    if (copy == MAP_FAILED) {
        return false;
    }
    Watch(ringPtr);
    atomic_store(&isMoving, true);
    isOk = mprotect(base, bytes, PROT_READ) == 0;
    if (isOk) {
        isOk = WriteAll(fd, base, bytes)
            && mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base)
                == base;
    }
    reason = errno;
    if (!isOk) {
        (void) mprotect(base, bytes, PROT_READ | PROT_WRITE);
        munmap(copy, bytes);
    }
    atomic_store(&isMoving, false);
    errno = reason;
    return isOk;
}

/*
 * The kernel copies.  ThreadSanitizer does not know that nobody writes there
 * now, and must not see it.
 */
static bool
WriteAll(int fd, const char *bytes, size_t length)
{
    size_t done = 0;

    while (done < length) {
        long n = syscall(SYS_pwrite64, fd, bytes + done, length - done,
                         (off_t) done);

        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return false;
        }
        done += (size_t) n;
    }
    return true;
}

/*
 * The handler stays: a fault may reach it when the move is over.
 */
static void
Watch(const NsRing *ringPtr)
{
    struct sigaction action, present;

    NsAssert(atomic_load(&movedBase) == NULL
             || atomic_load(&movedBase) == (char *) ringPtr->headerPtr);
    atomic_store(&movedBase, (char *) ringPtr->headerPtr);
    atomic_store(&movedBytes, ringPtr->headerPtr->bytes);
    memset(&action, 0, sizeof(action));
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    action.sa_sigaction = HandleFault;
    (void) sigaction(SIGSEGV, &action, &present);
    if (present.sa_sigaction != HandleFault) {
        former = present;
    }
}

static void
HandleFault(int number, siginfo_t *infoPtr, void *context)
{
    const char     *address = infoPtr->si_addr;
    const char     *base = atomic_load(&movedBase);
    struct timespec pause = {0, PAUSE_NANOS};
    int             reason = errno;

    if (address < base || address >= base + atomic_load(&movedBytes)) {
        /* Not ours: the next attempt goes to the former handler. */
        (void) sigaction(number, &former, NULL);
        return;
    }
    while (atomic_load(&isMoving)) {
        (void) nanosleep(&pause, NULL);
    }
    errno = reason;
}

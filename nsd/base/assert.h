/* SPDX-License-Identifier: MPL-2.0
 * assert.h --
 *
 *      Contracts that run, and the one way to die when one is broken: last
 *      words where the operator looks, then SIGABRT.
 *
 *      NsAssert  every build: a condition of constant cost.
 *      NsMust    every build: a call that gives 0 unless we misuse it, as those
 *                into pthreads do.
 *      NsClose   every build: close of a descriptor of our own.
 *      NsCloseAfter  the same where its use has failed: errno, which says why,
 *                stays, and the value is -1.  There may be none (-1).
 *      NsCheck   debug and sanitizer builds: walks, in the Check functions of
 *                the structures.  Other builds do not evaluate it.
 */

#ifndef NSD_BASE_ASSERT_H
#define NSD_BASE_ASSERT_H

#include <errno.h>
#include <unistd.h>

#include "nstypes.h"

#define NsAssert(condition)       \
    (likely(condition) ? (void) 0 \
                       : NsAssertFailed(#condition, __FILE__, __LINE__))

#define NsMust(call) NsMustBeZero((call), #call, __FILE__, __LINE__)

#define NsClose(fd) NsCloseOwn((fd), __FILE__, __LINE__)

#define NsCloseAfter(fd) NsCloseKeepingErrno((fd), __FILE__, __LINE__)

#ifdef NS_DEBUG
#define NsCheck(condition) NsAssert(condition)
#else
#define NsCheck(condition) ((void) (0 && (condition)))
#endif

void NsAssertFailed(const char *condition, const char *file,
                    int line) NS_GNUC_NORETURN __attribute__((cold));
void NsMustFailed(int result, const char *call, const char *file,
                  int line) NS_GNUC_NORETURN __attribute__((cold));

static inline void
NsMustBeZero(int result, const char *call, const char *file, int line)
{
    if (unlikely(result != 0)) {
        NsMustFailed(result, call, file, line);
    }
}

/*
 * A disk or a network may lose what was written, which is not our mistake; a
 * descriptor that was closed before is, and by now it may be somebody else's.
 */
static inline void
NsCloseOwn(int fd, const char *file, int line)
{
    if (unlikely(close(fd) != 0 && errno == EBADF)) {
        NsMustFailed(-1, "close", file, line);
    }
}

static inline int
NsCloseKeepingErrno(int fd, const char *file, int line)
{
    int reason = errno;

    if (fd >= 0) {
        NsCloseOwn(fd, file, line);
        errno = reason;
    }
    return -1;
}

#endif

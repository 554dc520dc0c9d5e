/* SPDX-License-Identifier: MPL-2.0
 * spool.c --
 *
 *      Disk space of what waits; see spool.h.
 */

#include "net/spool.h"

#include <stdatomic.h>
#include <sys/statvfs.h>

#include "base/assert.h"
#include "base/tempfile.h"
#include "base/writeall.h"
#include "nsstring.h"
#include "nsthread.h"

/*
 * Relaxed: only the sums count, they order nothing else.
 */
static struct {
    const char      *name;     /* Constant. */
    _Atomic int64_t  maxBytes; /* 0: no limit. */
    _Atomic int64_t  usedBytes;
    _Atomic uint64_t nRefused;
} spools[NS_SPOOL_COUNT] = {
    [NS_SPOOL_BODIES] = {.name = "body"},
    [NS_SPOOL_REPLIES] = {.name = "reply", .maxBytes = INT64_C(1) << 30}};

static _Atomic int64_t minFree;
static const char     *directory; /* Constant once started; NULL: each has
                                   * its own. */

static bool Take(NsSpool spool, int fd, int64_t bytes);
static bool HasRoom(int fd, int64_t bytes);

void
NsSpoolSetLimit(NsSpool spool, int64_t bytes)
{
    NsAssert(bytes >= 0);
    spools[spool].maxBytes = bytes;
}

void
NsSpoolSetMinFree(int64_t bytes)
{
    NsAssert(bytes >= 0);
    minFree = bytes;
}

void
NsSpoolSetDirectory(const char *path)
{
    directory = path == NULL || *path == '\0' ? NULL : ns_strdup(path);
}

int
NsSpoolOpen(const char *path)
{
    return NsTempFileOpen(NsSpoolDirectory(path));
}

const char *
NsSpoolDirectory(const char *path)
{
    return directory == NULL ? path : directory;
}

bool
NsSpoolWrite(NsSpool spool, int fd, const char *bytes, size_t length,
             off_t offset)
{
    int reason;

    NsAssert(fd >= 0 && offset >= 0);
    if (Take(spool, fd, (int64_t) length)) {
        if (NsWriteAllAt(fd, bytes, length, offset)) {
            return true;
        }
        reason = errno;
        NsSpoolGive(spool, (int64_t) length);
        errno = reason;
    }
    atomic_fetch_add_explicit(&spools[spool].nRefused, 1, memory_order_relaxed);
    return false;
}

void
NsSpoolGive(NsSpool spool, int64_t bytes)
{
    int64_t before = atomic_fetch_sub_explicit(&spools[spool].usedBytes, bytes,
                                               memory_order_relaxed);

    NsAssert(bytes >= 0 && before >= bytes);
}

static bool
Take(NsSpool spool, int fd, int64_t bytes)
{
    int64_t max = spools[spool].maxBytes;
    int64_t before = atomic_fetch_add_explicit(&spools[spool].usedBytes, bytes,
                                               memory_order_relaxed);

    if (max > 0 && (bytes > max || before > max - bytes)) {
        errno = EDQUOT;
    } else if (minFree > 0 && !HasRoom(fd, bytes)) {
        errno = ENOSPC;
    } else {
        return true;
    }
    atomic_fetch_sub_explicit(&spools[spool].usedBytes, bytes,
                              memory_order_relaxed);
    return false;
}

/*
 * A file system that does not tell has room.
 */
static bool
HasRoom(int fd, int64_t bytes)
{
    struct statvfs st;

    return fstatvfs(fd, &st) != 0
        || (int64_t) (st.f_bavail * st.f_frsize) - bytes >= minFree;
}

const char *
NsSpoolReason(NsSpool spool, int reason)
{
    if (reason == EDQUOT) {
        return spool == NS_SPOOL_BODIES
            ? "more than maxbodyspool allows on disk"
            : "more than maxspool allows on disk";
    }
    if (reason == ENOSPC && minFree > 0) {
        return "less than minfree would be left on disk";
    }
    return strerror(reason);
}

void
NsSpoolAppend(Ns_DString *dsPtr)
{
    for (int i = 0; i < NS_SPOOL_COUNT; i++) {
        Ns_DStringPrintf(dsPtr,
                         "%s%s {bytes %" PRId64 " max %" PRId64
                         " refused %" PRIu64 "}",
                         i == 0 ? "" : " ", spools[i].name,
                         atomic_load(&spools[i].usedBytes), spools[i].maxBytes,
                         atomic_load(&spools[i].nRefused));
    }
    Ns_DStringPrintf(dsPtr, " minfree %" PRId64, minFree);
}

/* SPDX-License-Identifier: MPL-2.0
 * bell.c --
 *
 *      A thread that writes into a lane rings the bell for those that read it.
 */

#include "log/ring/bell.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

static void OfRecord(int stream, int64_t time);
static void OfStream(int stream);
static void OfMemory(void);
static bool OfRoom(void);

/* Until there are readers. */
NsBell nsBell = {OfRecord, OfStream, OfStream, OfMemory, OfRoom, OfMemory};

bool        nsBellNeedsFence;
atomic_uint nsBellFence;

void
NsBellHang(const NsBell *bellPtr)
{
    NsAssert(bellPtr->recordProc != NULL && bellPtr->nudgeProc != NULL
             && bellPtr->streamProc != NULL && bellPtr->shortageProc != NULL
             && bellPtr->roomProc != NULL && bellPtr->takenProc != NULL);
    nsBell = *bellPtr;
}

void
NsBellBarrierInit(void)
{
    nsBellNeedsFence = syscall(SYS_membarrier,
                               MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)
        != 0;
}

void
NsBellBarrierInAllThreads(void)
{
    if (nsBellNeedsFence
        || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)
            != 0) {
        atomic_fetch_add(&nsBellFence, 1);
    }
}

static void
OfRecord(int stream, int64_t time)
{
}

static void
OfStream(int stream)
{
}

static void
OfMemory(void)
{
}

static bool
OfRoom(void)
{
    return false;
}

/* SPDX-License-Identifier: MPL-2.0
 * filestate.c --
 *
 *      What a file was when it was read.
 */

#include "base/filestate.h"

#include "nsthread.h"

/*
 * Kernels stamp files with the time of their last tick, at most 10 ms old.
 * Some file systems store whole or even seconds.
 */
#define STEP_USEC       250000
#define COARSE_STEP_SEC 2

static bool IsSameTime(const struct timespec *a, const struct timespec *b);

void
NsFileStateSet(NsFileState *statePtr, const struct stat *statusPtr)
{
    *statePtr = (NsFileState){
        .device = statusPtr->st_dev,
        .inode = statusPtr->st_ino,
        .bytes = statusPtr->st_size,
        .modified = statusPtr->st_mtim,
        .changed = statusPtr->st_ctim};
}

bool
NsFileStateIs(const NsFileState *statePtr, const struct stat *statusPtr)
{
    return IsSameTime(&statePtr->changed, &statusPtr->st_ctim)
        && IsSameTime(&statePtr->modified, &statusPtr->st_mtim)
        && statePtr->bytes == statusPtr->st_size
        && statePtr->inode == statusPtr->st_ino
        && statePtr->device == statusPtr->st_dev;
}

bool
NsFileStateIsCurrent(const NsFileState *statePtr, const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && NsFileStateIs(statePtr, &status);
}

bool
NsFileIsSettled(const struct stat *statusPtr, const Ns_Time *nowPtr)
{
    Ns_Time now = *nowPtr,
            settled = {statusPtr->st_ctim.tv_sec,
                       statusPtr->st_ctim.tv_nsec / 1000};

    if (statusPtr->st_ctim.tv_nsec == 0) {
        Ns_IncrTime(&settled, COARSE_STEP_SEC, 0);
    } else {
        Ns_IncrTime(&settled, 0, STEP_USEC);
    }
    return Ns_DiffTime(&now, &settled, NULL) >= 0;
}

static bool
IsSameTime(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* SPDX-License-Identifier: MPL-2.0
 * filestate.h --
 *
 *      The state of a file when it was read: with it all caches of files know
 *      whether they still have its content.
 *
 *      A look costs a stat().  What the kernel watches (base/filewatch.h) costs
 *      less.
 */

#ifndef NSD_BASE_FILESTATE_H
#define NSD_BASE_FILESTATE_H

#include <sys/stat.h>

#include "nstypes.h"

/*
 * The time of change is the kernel's own: it also changes with edits that leave
 * size and time of modification as they were.
 */
typedef struct NsFileState {
    dev_t           device;
    ino_t           inode;
    off_t           bytes;
    struct timespec modified;
    struct timespec changed;
} NsFileState;

void NsFileStateSet(NsFileState *statePtr, const struct stat *statusPtr);
bool NsFileStateIs(const NsFileState *statePtr, const struct stat *statusPtr);

/*
 * Look whether the file of that name still is the one of the state.
 */
bool NsFileStateIsCurrent(const NsFileState *statePtr, const char *path);

/*
 * Whether a later change would show: the times of a file advance in steps, so
 * one that was changed a moment before it was read may have been changed again
 * since, without a trace.  Such a content is good for once.  nowPtr is a time
 * before the file was read.
 */
bool NsFileIsSettled(const struct stat *statusPtr, const Ns_Time *nowPtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * treewatch.h --
 *
 *      Directories with all below them, in which files come, change and go:
 *      for one thread that has nothing to do but to wait for that.
 *
 *      The kernel (inotify) says when to look; what has changed is found by a
 *      comparison with the look before, so that no report can be missed, and a
 *      file that an editor puts in the place of the old one has changed.
 *      Caches of single files have base/filewatch.h, which does not hear of new
 *      files.
 *
 *      Left out are names that begin with a dot, and node_modules.
 */

#ifndef NSD_BASE_TREEWATCH_H
#define NSD_BASE_TREEWATCH_H

#include "nsstring.h"

typedef struct NsTreeWatch NsTreeWatch;

/*
 * Whether files of that name matter.
 */
typedef bool(NsTreeWantProc)(const char *name);

/*
 * Without directories at first.  NULL: errno.
 */
NsTreeWatch *NsTreeWatchCreate(NsTreeWantProc *wantProc);
void         NsTreeWatchDestroy(NsTreeWatch **treePtrPtr);

/*
 * Watch that directory, which need not be there yet, from now on.  Not while
 * another thread waits.
 */
void NsTreeWatchAdd(NsTreeWatch *treePtr, const char *directory);

/*
 * Wait until something has changed, and then until it rests for a moment:
 * append the paths of the files that are new, changed or gone, as a list.
 * False: it was stopped.
 */
bool NsTreeWatchWait(NsTreeWatch *treePtr, Ns_DString *filesPtr);

/*
 * End the wait, now or when it begins.  Any thread; a signal handler, too.
 */
void NsTreeWatchStop(NsTreeWatch *treePtr);

/*
 * Why the kernel does not tell of everything, so that all files are looked at
 * every second: ENOSPC, it has no more watches; EXDEV, others than this kernel
 * change a file system; or another errno.  0: it does.
 */
int NsTreeWatchBlindness(const NsTreeWatch *treePtr);

#endif

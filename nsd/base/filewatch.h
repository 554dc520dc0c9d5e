/* SPDX-License-Identifier: MPL-2.0
 * filewatch.h --
 *
 *      Files whose changes the kernel reports (inotify), so that a cache need
 *      not look at a file to know that it is still the same.
 *
 *      A report is in the kernel's queue before the call that changed the file
 *      returns.  So whoever knows that the queue was empty after a change would
 *      have been made knows of it:
 *
 *      - A thread that waits for requests has the queue in its epoll set. epoll
 *        reports in order of arrival: a change comes before a request that was
 *        sent after it, or another thread takes the queue at that moment, and
 *        NsFileWatchIsQuiet says so.
 *      - Others ask, with one cheap call (NsFileWatchKnows).
 *
 *      Not reported: changes by way of a mapping of the file, until the writer
 *      closes it.
 */

#ifndef NSD_BASE_FILEWATCH_H
#define NSD_BASE_FILEWATCH_H

#include <stdatomic.h>

#include "base/clock.h"
#include "base/filestate.h"

/*
 * What a request has to know of files: the changes made before it was sent.
 */
typedef struct NsLook {
    NsStamp stamp;      /* A look after it is good; 0: one now. */
    bool    isInformed; /* The reports of those changes were taken; only if
                         * stamp is not 0. */
} NsLook;

/*
 * One file and the directories and links that its name leads through.
 */
typedef struct NsFileWatch NsFileWatch;

/*
 * Make the queue, once, before any thread uses the rest.  NS_ERROR: errno says
 * why; then there are no watches, and all files are looked at.
 */
Ns_ReturnCode NsFileWatchInit(void);

/*
 * The queue, to be polled for reading; -1: there is none.
 */
int NsFileWatchFd(void);

/*
 * Read the queue.  Any thread, with no lock of a higher rank.
 */
void NsFileWatchTake(void);

/*
 * Each watched file may have changed: what is mounted did.
 */
void NsFileWatchTakeAll(void);

/*
 * Whether what was read from the queue is known to all threads by now.
 */
bool NsFileWatchIsQuiet(void);

/*
 * Make known the changes that matter to the request, or, without a stamp, all
 * so far.  False: that is not possible.
 */
bool NsFileWatchKnows(NsLook look);

/*
 * Watch the file of that absolute name from now on.  NULL: the file is not in
 * that state any longer, or the kernel cannot watch it, for lack of watches
 * (*isShortPtr) or since others may change it behind its back (network file
 * systems).  To be freed by the caller, from whatever thread.
 */
NsFileWatch *NsFileWatchCreate(const char *path, const NsFileState *statePtr,
                               bool *isShortPtr);
void         NsFileWatchFree(NsFileWatch *watchPtr);

/*
 * Whether the name still leads to the same file with the same content, as far
 * as changes are known.  NULL: false.
 */
bool NsFileWatchIsSame(const NsFileWatch *watchPtr);

/*
 * Whether all changes in the file system of that name are made by this kernel,
 * which then reports them.
 */
bool NsFileWatchIsFit(const char *path);

/*
 * Whether there is a watch that has reported, so that it says nothing more.
 */
static inline bool
NsFileWatchIsOver(const NsFileWatch *watchPtr)
{
    return watchPtr != NULL && !NsFileWatchIsSame(watchPtr);
}

#endif

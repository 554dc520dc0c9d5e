/* SPDX-License-Identifier: MPL-2.0
 * thread.h --
 *
 *      What the server needs of threads beyond nsthread.h.
 *
 *      A thread handle is a number in the dress of a pointer and is never used
 *      twice, so the handle of a thread long gone is recognized.
 */

#ifndef NSD_BASE_THREAD_H
#define NSD_BASE_THREAD_H

#include "nsthread.h"

/*
 * Ns_ThreadCreate with a result: 0, or an errno when the system makes no thread
 * now; arg is then still the caller's.  Called with no lock held.
 */
int NsThreadTry(Ns_ThreadProc *proc, void *arg, long stackBytes,
                Ns_Thread *threadPtr);

/*
 * The start is over: Ns_ThreadCreate, which has no result, no longer ends the
 * process but tries again until the thread is there.
 */
void NsThreadsBePatient(void);

/*
 * Called when no thread could be made for the first time, or again after a
 * minute without such a failure; by the thread that tried.  Set
 * once, before threads are started.
 */
typedef void NsThreadLimitProc(int error);
void         NsThreadSetLimitProc(NsThreadLimitProc *proc);

/*
 * Wait for a joinable thread to end and fetch its exit value (resultPtr may be
 * NULL).  NS_ERROR, at once, when the handle belongs to no thread, the thread
 * is detached or the caller's own, or another thread joins it.
 */
Ns_ReturnCode NsThreadJoin(Ns_Thread *threadPtr, void **resultPtr);

/*
 * The argument that the calling thread was started with is about to be freed:
 * Ns_ThreadList passes NULL from now on.  Returns when no other thread is
 * looking at it.  Called with no lock held.
 */
void NsThreadForgetArg(void);

/*
 * The work of the calling thread, for the last words of a crash: texts that
 * stay until it does something else.  url NULL: no request.
 */
typedef struct NsThreadDoing {
    const char *method;
    const char *url;
    uint64_t    id;
    const char *requestId; /* NULL: none. */
} NsThreadDoing;

void NsThreadSetDoing(const NsThreadDoing *doingPtr);

/*
 * For signal handlers.  The name is NULL in threads that are not known here.
 */
const NsThreadDoing *NsThreadGetDoing(void);
const char          *NsThreadPeekName(void);

/*
 * The thread's id in the operating system.
 */
int NsThreadOsId(void);

/*
 * Whether the calling thread was started by Ns_ThreadCreate or NsThreadTry: not
 * by a library, nor with the process.
 */
bool NsThreadIsOurs(void);

/*
 * The calling thread's stack: its size, and how much of it is in use here.
 */
void NsThreadStack(size_t *bytesPtr, size_t *usedBytesPtr);

#endif

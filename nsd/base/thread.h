/*
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
 * Wait for a joinable thread to end and fetch its exit value (resultPtr may be
 * NULL).  NS_ERROR, at once, when the handle is no thread's, the thread is
 * detached or the caller's own, or another thread joins it.
 */
Ns_ReturnCode NsThreadJoin(Ns_Thread *threadPtr, void **resultPtr);

/*
 * The argument that the calling thread was started with is about to be freed:
 * Ns_ThreadList passes NULL from now on.  Returns when no other thread is
 * looking at it.  Called with no lock held.
 */
void NsThreadForgetArg(void);

/*
 * What every thread calls last, after its thread-local values were cleaned up.
 * Set once, before threads are started.
 */
typedef void (NsThreadEndProc)(void);
void NsThreadSetEndProc(NsThreadEndProc *proc);

/*
 * The thread's id in the operating system.
 */
int NsThreadOsId(void);

/*
 * The calling thread's stack: its size, and how much of it is in use here.
 */
void NsThreadStack(size_t *bytesPtr, size_t *usedBytesPtr);

#endif

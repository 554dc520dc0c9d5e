/* SPDX-License-Identifier: MPL-2.0
 * nsthread.h --
 *
 *      Threads, locks, thread-local storage, memory, and time.
 *
 *      Mutexes, conditions, read/write locks, critical sections and semaphores
 *      are made at first use: a static variable needs no Init call.  Init is
 *      for memory with unknown content.  Destroy accepts what was never used.
 */

#ifndef NSTHREAD_H
#define NSTHREAD_H

#include "nstypes.h"

/*
 * ------------------------------------------------------------------ Threads
 */

/*
 * Start proc(arg) with a stack of stackBytes, 0 for the default.  threadPtr
 * NULL starts a detached thread; else the thread must be joined, and arg and
 * handle are valid until then.  When the system makes no thread, this ends the
 * start of a server, and waits in a running one until there can be one.
 */
NS_EXTERN void Ns_ThreadCreate(Ns_ThreadProc *proc, void *arg, long stackBytes,
                               Ns_Thread *threadPtr);

/*
 * Wait for the end of the thread and fetch what it gave to Ns_ThreadExit (NULL
 * if it returned).  resultPtr may be NULL.  Returns at once, with NULL, for a
 * handle whose thread was joined before.
 */
NS_EXTERN void Ns_ThreadJoin(Ns_Thread *threadPtr, void **resultPtr);
NS_EXTERN void Ns_ThreadExit(void *result) NS_GNUC_NORETURN;

/*
 * Let another thread run.
 */
NS_EXTERN void Ns_ThreadYield(void);

/*
 * The calling thread: its handle, and the number that lists show.
 */
NS_EXTERN void      Ns_ThreadSelf(Ns_Thread *threadPtr);
NS_EXTERN uintptr_t Ns_ThreadId(void);

/*
 * Name the calling thread; names end after NS_THREAD_NAMESIZE bytes.  The names
 * returned belong to the thread and end with it.
 */
NS_EXTERN void  Ns_ThreadSetName(const char *format, ...) NS_GNUC_PRINTF(1, 2);
NS_EXTERN char *Ns_ThreadGetName(void);
NS_EXTERN char *Ns_ThreadGetParent(void);

/*
 * The default stack size, changed first when bytes is positive: the previous
 * value.  0 means the system's own default.
 */
NS_EXTERN long Ns_ThreadStackSize(long bytes);

/*
 * Append a list element for each running thread, newest first:
 *
 *      name parent id flags ctime PROC ARG... osid
 *
 * argProc appends the elements PROC and ARG.  It is called with no lock held.
 * An arg that its thread frees must not be followed without knowing that it is
 * still there.  Without argProc, addresses are appended.
 */
NS_EXTERN void Ns_ThreadList(Ns_DString *dsPtr, Ns_ThreadArgProc *argProc);

/*
 * Size of the calling thread's stack, and how much of it is in use.
 */
NS_EXTERN void Ns_ThreadGetThreadInfo(size_t *maxBytesPtr,
                                      size_t *usedBytesPtr);

/*
 * A slot in which each thread has its own value, NULL at first.  cleanupProc
 * (may be NULL) gets the value when a thread ends that has set one.  At most
 * NS_THREAD_MAXTLS slots; they are never given back.
 */
NS_EXTERN void  Ns_TlsAlloc(Ns_Tls *tlsPtr, Ns_TlsCleanup *cleanupProc);
NS_EXTERN void  Ns_TlsSet(Ns_Tls *tlsPtr, void *value);
NS_EXTERN void *Ns_TlsGet(Ns_Tls *tlsPtr);

/*
 * -------------------------------------------------------------------- Locks
 */

/*
 * Not recursive.
 */
NS_EXTERN void Ns_MutexInit(Ns_Mutex *mutexPtr);
NS_EXTERN void Ns_MutexDestroy(Ns_Mutex *mutexPtr);
NS_EXTERN void Ns_MutexLock(Ns_Mutex *mutexPtr);
NS_EXTERN void Ns_MutexUnlock(Ns_Mutex *mutexPtr);

/*
 * NS_OK: locked.  NS_TIMEOUT: busy.
 */
NS_EXTERN int Ns_MutexTryLock(Ns_Mutex *mutexPtr);

/*
 * Name the mutex `name` or `prefix:name`; name may be NULL.  Cut after 64
 * bytes.
 */
NS_EXTERN void Ns_MutexSetName(Ns_Mutex *mutexPtr, const char *name);
NS_EXTERN void Ns_MutexSetName2(Ns_Mutex *mutexPtr, const char *prefix,
                                const char *name);

/*
 * Append a list element for each mutex, newest first:
 *
 *      name {} id locked busy waited longestwait held
 *
 * locked counts acquisitions, busy those that had to wait; the rest is seconds
 * with six decimals.
 */
NS_EXTERN void Ns_MutexList(Ns_DString *dsPtr);

/*
 * Conditions.  One whose bytes are zero needs no Init.  Signal wakes at least
 * one of the threads that wait, Broadcast all of them.
 */
NS_EXTERN void Ns_CondInit(Ns_Cond *condPtr);
NS_EXTERN void Ns_CondDestroy(Ns_Cond *condPtr);
NS_EXTERN void Ns_CondSignal(Ns_Cond *condPtr);
NS_EXTERN void Ns_CondBroadcast(Ns_Cond *condPtr);

/*
 * Release the mutex, wait, and lock it again.  May return for no reason: check
 * what was waited for.  The timed one waits until an absolute time, NULL
 * without limit: NS_OK or NS_TIMEOUT.
 */
NS_EXTERN void Ns_CondWait(Ns_Cond *condPtr, Ns_Mutex *mutexPtr);
NS_EXTERN int  Ns_CondTimedWait(Ns_Cond *condPtr, Ns_Mutex *mutexPtr,
                                Ns_Time *timePtr);

/*
 * Many readers or one writer.  A waiting writer comes before new readers, so a
 * reader must not lock a second time.
 */
NS_EXTERN void Ns_RWLockInit(Ns_RWLock *lockPtr);
NS_EXTERN void Ns_RWLockDestroy(Ns_RWLock *lockPtr);
NS_EXTERN void Ns_RWLockRdLock(Ns_RWLock *lockPtr);
NS_EXTERN void Ns_RWLockWrLock(Ns_RWLock *lockPtr);
NS_EXTERN void Ns_RWLockUnlock(Ns_RWLock *lockPtr);

/*
 * A recursive mutex: its holder may enter again, and has to leave as often.
 */
NS_EXTERN void Ns_CsInit(Ns_Cs *csPtr);
NS_EXTERN void Ns_CsDestroy(Ns_Cs *csPtr);
NS_EXTERN void Ns_CsEnter(Ns_Cs *csPtr);
NS_EXTERN void Ns_CsLeave(Ns_Cs *csPtr);

/*
 * Wait until the count is positive and take one off it; Post adds n.
 */
NS_EXTERN void Ns_SemaInit(Ns_Sema *semaPtr, int count);
NS_EXTERN void Ns_SemaDestroy(Ns_Sema *semaPtr);
NS_EXTERN void Ns_SemaWait(Ns_Sema *semaPtr);
NS_EXTERN void Ns_SemaPost(Ns_Sema *semaPtr, int n);

/*
 * One recursive lock for the whole process.
 */
NS_EXTERN void Ns_MasterLock(void);
NS_EXTERN void Ns_MasterUnlock(void);

/*
 * ------------------------------------------------------------------- Memory
 */

/*
 * Never NULL, whatever the size: without memory the process ends.
 */
NS_EXTERN void *ns_malloc(size_t bytes);
NS_EXTERN void *ns_calloc(size_t count, size_t bytes);
NS_EXTERN void *ns_realloc(void *memory, size_t bytes);

/*
 * Accepts NULL.
 */
NS_EXTERN void ns_free(void *memory);

/*
 * A copy; NULL of NULL.  ns_strncopy copies length bytes, all when length is
 * not positive.
 */
NS_EXTERN char *ns_strdup(const char *string);
NS_EXTERN char *ns_strcopy(const char *string);
NS_EXTERN char *ns_strncopy(const char *string, ssize_t length);

/*
 * ------------------------------------------------------------ The C library
 */

/*
 * As the functions they are named after, but the result is the thread's own,
 * valid until its next call.
 */
NS_EXTERN struct tm *ns_localtime(const time_t *timePtr);
NS_EXTERN struct tm *ns_gmtime(const time_t *timePtr);
#define ns_localtime_r localtime_r
#define ns_gmtime_r    gmtime_r
NS_EXTERN char          *ns_ctime(const time_t *timePtr);
NS_EXTERN char          *ns_asctime(const struct tm *tmPtr);
NS_EXTERN char          *ns_strtok(char *string, const char *separators);
NS_EXTERN char          *ns_inet_ntoa(struct in_addr address);
NS_EXTERN struct dirent *ns_readdir(DIR *dir);

/*
 * As the system calls.  A signal set with ns_signal interrupts system calls.
 */
NS_EXTERN int ns_fork(void);
NS_EXTERN int ns_signal(int signal, void (*proc)(int));
NS_EXTERN int ns_sigmask(int how, sigset_t *setPtr, sigset_t *oldSetPtr);
NS_EXTERN int ns_sigwait(sigset_t *setPtr, int *signalPtr);

/*
 * --------------------------------------------------------------------- Time
 */

NS_EXTERN void Ns_GetTime(Ns_Time *timePtr);

/*
 * Bring usec into 0..999999.
 */
NS_EXTERN void Ns_AdjTime(Ns_Time *timePtr);

/*
 * later - earlier, stored when resultPtr is not NULL.  -1, 0 or 1, as the
 * difference is negative, nothing or positive.
 */
NS_EXTERN int Ns_DiffTime(Ns_Time *laterPtr, Ns_Time *earlierPtr,
                          Ns_Time *resultPtr);

/*
 * Add to a time.  The result is normalized.
 */
NS_EXTERN void Ns_IncrTime(Ns_Time *timePtr, long sec, long usec);

/*
 * A time of less than 1,000,000,000 s counts from now: then the sum is stored
 * in *absPtr and absPtr returned, else timePtr itself.  NULL, no limit, stays
 * NULL.
 */
NS_EXTERN Ns_Time *Ns_AbsoluteTime(Ns_Time *absPtr, Ns_Time *timePtr);

/*
 * Append the time as HTTP writes it, now when timePtr is NULL.
 */
NS_EXTERN char *Ns_HttpTime(Ns_DString *dsPtr, time_t *timePtr);

/*
 * Read any of the three forms of HTTP; 0 if it is none.
 */
NS_EXTERN time_t Ns_ParseHttpTime(const char *string);

#endif

/*
 * nsthread.h --
 *
 *      Threads, locks, thread-local storage, memory, and time.
 */

#ifndef NSTHREAD_H
#define NSTHREAD_H

#include "nstypes.h"


/*
 * Start proc(arg); stack 0 = default; result pointer NULL = detached.
 */
NS_EXTERN void Ns_ThreadCreate(Ns_ThreadProc *, void *, long, Ns_Thread *);

/*
 * Wait, fetch exit value.
 */
NS_EXTERN void Ns_ThreadJoin(Ns_Thread *, void **);

/*
 * As named.
 */
NS_EXTERN void Ns_ThreadExit(void *arg) NS_GNUC_NORETURN;
NS_EXTERN void Ns_ThreadYield(void);
NS_EXTERN void Ns_ThreadSelf(Ns_Thread *);

/*
 * Numeric id.
 */
NS_EXTERN uintptr_t Ns_ThreadId(void);

/*
 * printf-style name (≤64), name, parent's name.
 */
NS_EXTERN void Ns_ThreadSetName(const char *fmt, ...) NS_GNUC_PRINTF(1, 2);
NS_EXTERN char *Ns_ThreadGetName(void);
NS_EXTERN char *Ns_ThreadGetParent(void);

/*
 * Set default stack size if > 0; previous value.
 */
NS_EXTERN long Ns_ThreadStackSize(long);

/*
 * Append one list per thread.
 */
NS_EXTERN void Ns_ThreadList(Ns_DString *, Ns_ThreadArgProc *);

/*
 * Stack limit and estimated use.
 */
NS_EXTERN void Ns_ThreadGetThreadInfo(size_t *, size_t *);

/*
 * Thread-local slot (≤100) with cleanup function.
 */
NS_EXTERN void Ns_TlsAlloc(Ns_Tls *, Ns_TlsCleanup *);
NS_EXTERN void Ns_TlsSet(Ns_Tls *, void *);
NS_EXTERN void *Ns_TlsGet(Ns_Tls *);

/*
 * As named.
 */
NS_EXTERN void Ns_MutexInit(Ns_Mutex *);
NS_EXTERN void Ns_MutexDestroy(Ns_Mutex *);
NS_EXTERN void Ns_MutexLock(Ns_Mutex *);
NS_EXTERN void Ns_MutexUnlock(Ns_Mutex *);

/*
 * NS_OK or NS_TIMEOUT.
 */
NS_EXTERN int Ns_MutexTryLock(Ns_Mutex *);

/*
 * Name `a` / `a:b` for statistics.
 */
NS_EXTERN void Ns_MutexSetName(Ns_Mutex *, const char *);
NS_EXTERN void Ns_MutexSetName2(Ns_Mutex *, const char *, const char *);

/*
 * Append lock statistics.
 */
NS_EXTERN void Ns_MutexList(Ns_DString *);

/*
 * As named.
 */
NS_EXTERN void Ns_CondInit(Ns_Cond *);
NS_EXTERN void Ns_CondDestroy(Ns_Cond *);
NS_EXTERN void Ns_CondSignal(Ns_Cond *);
NS_EXTERN void Ns_CondBroadcast(Ns_Cond *);
NS_EXTERN void Ns_CondWait(Ns_Cond *, Ns_Mutex *);

/*
 * Wait until absolute time; NS_OK/NS_TIMEOUT; NULL = forever.
 */
NS_EXTERN int Ns_CondTimedWait(Ns_Cond *, Ns_Mutex *, Ns_Time *);

/*
 * Read/write lock.
 */
NS_EXTERN void Ns_RWLockInit(Ns_RWLock *);
NS_EXTERN void Ns_RWLockDestroy(Ns_RWLock *);
NS_EXTERN void Ns_RWLockRdLock(Ns_RWLock *);
NS_EXTERN void Ns_RWLockWrLock(Ns_RWLock *);
NS_EXTERN void Ns_RWLockUnlock(Ns_RWLock *);

/*
 * Critical section.
 */
NS_EXTERN void Ns_CsInit(Ns_Cs *);
NS_EXTERN void Ns_CsDestroy(Ns_Cs *);
NS_EXTERN void Ns_CsEnter(Ns_Cs *);
NS_EXTERN void Ns_CsLeave(Ns_Cs *);

/*
 * Counting semaphore; Post adds n.
 */
NS_EXTERN void Ns_SemaInit(Ns_Sema *, int);
NS_EXTERN void Ns_SemaDestroy(Ns_Sema *);
NS_EXTERN void Ns_SemaWait(Ns_Sema *);
NS_EXTERN void Ns_SemaPost(Ns_Sema *, int);

/*
 * Process-wide recursive lock.
 */
NS_EXTERN void Ns_MasterLock(void);
NS_EXTERN void Ns_MasterUnlock(void);

/*
 * Allocator with malloc semantics (free NULL ok); running out of memory
 * should be fatal, callers do not check.
 */
NS_EXTERN void *ns_malloc(size_t);
NS_EXTERN void *ns_calloc(size_t, size_t);
NS_EXTERN void *ns_realloc(void *, size_t);
NS_EXTERN void ns_free(void *);

/*
 * Duplicate; the latter two accept NULL (length ≤ 0 = all).
 */
NS_EXTERN char *ns_strdup(const char *);
NS_EXTERN char *ns_strcopy(const char *);
NS_EXTERN char *ns_strncopy(const char *, ssize_t);

/*
 * Thread-safe versions; result valid until next call in the thread.
 */
NS_EXTERN struct tm *ns_localtime(const time_t *);
NS_EXTERN struct tm *ns_gmtime(const time_t *);
NS_EXTERN char *ns_ctime(const time_t *);
NS_EXTERN char *ns_asctime(const struct tm *);
NS_EXTERN char *ns_strtok(char *, const char *);
NS_EXTERN char *ns_inet_ntoa(struct in_addr);
NS_EXTERN struct dirent *ns_readdir(DIR *);

/*
 * As the system calls.
 */
NS_EXTERN int ns_fork(void);
NS_EXTERN int ns_signal(int, void (*)(int));
NS_EXTERN int ns_sigmask(int, sigset_t *, sigset_t *);
NS_EXTERN int ns_sigwait(sigset_t *, int *);

/*
 * Now / normalise.
 */
NS_EXTERN void Ns_GetTime(Ns_Time *);
NS_EXTERN void Ns_AdjTime(Ns_Time *);

/*
 * t1−t0 into result (NULL ok); −1, 0, 1 by order.
 */
NS_EXTERN int Ns_DiffTime(Ns_Time *, Ns_Time *, Ns_Time *);

/*
 * Add sec and usec, normalise.
 */
NS_EXTERN void Ns_IncrTime(Ns_Time *, long, long);

/*
 * Values below 1,000,000,000 s are relative to now; NULL stays NULL (no
 * limit).
 */
NS_EXTERN Ns_Time *Ns_AbsoluteTime(Ns_Time *, Ns_Time *);

/*
 * RFC 1123 date; NULL = now.
 */
NS_EXTERN char *Ns_HttpTime(Ns_DString *, time_t *);

/*
 * Three HTTP date formats; 0 = error.
 */
NS_EXTERN time_t Ns_ParseHttpTime(const char *);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * nsprocess.h --
 *
 *      The process: callbacks at its stages, scheduled procedures, facts about
 *      it.
 */

#ifndef NSPROCESS_H
#define NSPROCESS_H

#include "nstypes.h"

/*
 * The whole server: parse the command line, start, wait for signals, stop.  The
 * result is the exit status.  initProc (may be NULL) is called for each server
 * while it is initialized; a result other than NS_OK is fatal.
 */
NS_EXTERN int Ns_Main(int argc, char **argv, Ns_ServerInitProc *initProc);

/*
 * Initialize the libraries.  Idempotent; one thread.
 */
NS_EXTERN void Nsd_LibInit(void);
NS_EXTERN void Nsthreads_LibInit(void);

/*
 * Package entry when libnsd is loaded into a plain tclsh: the interpreter gets
 * the commands that need no server.  A Tcl result code.
 */
NS_EXTERN int Nsd_Init(Tcl_Interp *interp);

/*
 * Wait until start-up is complete.  NS_OK.
 */
NS_EXTERN int Ns_WaitForStartup(void);

/*
 * Begin an orderly shutdown of the process.  The argument is only logged.
 */
NS_EXTERN void Ns_StopServer(const char *server);

/*
 * Callbacks at the stages of the process's life.  NULL: shutdown has begun, and
 * the callback is not registered.  One registered for a stage that has passed
 * never runs.
 *
 *   PreStartup  main thread, servers are initialized, nothing listens yet; FIFO
 *   Ready       main thread, all drivers listen; LIFO
 *   Startup     main thread, start-up is complete; FIFO
 *   Signal      main thread, at every SIGHUP; FIFO
 *   Reload      any thread, `nsd ctl reload` has applied a configuration; FIFO
 *   Shutdown    thread -shutdown-; LIFO; twice: first (NULL, arg): begin, and
 *               return quickly; then (deadline, arg): wait at most until then
 *   Exit        main thread, last of all; LIFO; no time limit
 */
NS_EXTERN void *Ns_RegisterAtPreStartup(Ns_Callback *proc, void *arg);
NS_EXTERN void *Ns_RegisterAtStartup(Ns_Callback *proc, void *arg);
NS_EXTERN void *Ns_RegisterAtSignal(Ns_Callback *proc, void *arg);
NS_EXTERN void *Ns_RegisterAtReload(Ns_Callback *proc, void *arg);
NS_EXTERN void *Ns_RegisterAtReady(Ns_Callback *proc, void *arg);
NS_EXTERN void *Ns_RegisterAtShutdown(Ns_ShutdownProc *proc, void *arg);
NS_EXTERN void *Ns_RegisterAtExit(Ns_Callback *proc, void *arg);

/*
 * Register a statically linked module for the server that is being initialized;
 * it is initialized after the loaded ones.  A failure of it is fatal.
 */
NS_EXTERN void Ns_RegisterModule(const char *name, Ns_ModuleInitProc *proc);

/*
 * For a module that a server has to load, of that name in the log: whether one
 * does.  If not, an Error says so.
 */
NS_EXTERN bool Ns_ModuleIsForServer(const char *name, const char *server,
                                    const char *module);

/*
 * Load a shared object and call its function `init`.  A relative file is below
 * home/bin, and its ending .so may be left out.  interp may be NULL.  NS_ERROR:
 * the reason is in the log.  Main thread, during the start.
 */
NS_EXTERN int Ns_ModuleLoad(Tcl_Interp *interp, const char *server,
                            const char *module, const char *file,
                            const char *init);

/*
 * Give the address of a callback a name for listings, and optionally a
 * procedure that describes its argument.  The name is copied.
 */
#if NS_API_LEVEL >= 49933
NS_EXTERN void Ns_RegisterProcInfo(ns_funcptr_t proc, const char *name,
                                   Ns_ArgProc *argProc);
#else
NS_EXTERN void Ns_RegisterProcInfo(void *proc, const char *name,
                                   Ns_ArgProc *argProc);
#endif

/*
 * Append `name argument` of a callback as list elements; of an unknown one,
 * p:0xADDRESS a:0xADDRESS.
 */
#if NS_API_LEVEL >= 49933
NS_EXTERN void Ns_GetProcInfo(Ns_DString *dsPtr, ns_funcptr_t proc,
                              const void *arg);
#else
NS_EXTERN void Ns_GetProcInfo(Ns_DString *dsPtr, void *proc, void *arg);
#endif

/*
 * Describes an argument that is a C string.
 */
NS_EXTERN void Ns_StringArgProc(Ns_DString *dsPtr, void *arg);

/*
 * The name of the server that the calling thread works for; NULL if there is
 * none.  The string must outlive the thread's use of it.
 */
NS_EXTERN void  Ns_SetThreadServer(const char *server);
NS_EXTERN char *Ns_GetThreadServer(void);

/*
 * Facts.  The strings live as long as the process and must not be changed;
 * those that do not apply are NULL.
 */
NS_EXTERN char  *Ns_InfoHomePath(void);
NS_EXTERN char  *Ns_InfoServerName(void);    /* Product and version: together */
NS_EXTERN char  *Ns_InfoServerVersion(void); /* the Server field of a reply.  */
NS_EXTERN char  *Ns_InfoConfigFile(void);    /* As given. */
NS_EXTERN char  *Ns_InfoNameOfExecutable(void);
NS_EXTERN char  *Ns_InfoErrorLog(void); /* The system log. */
NS_EXTERN int    Ns_InfoPid(void);
NS_EXTERN char  *Ns_InfoPlatform(void);
NS_EXTERN char  *Ns_InfoBuildDate(void);
NS_EXTERN char  *Ns_InfoTag(void);
NS_EXTERN int    Ns_InfoUptime(void); /* Seconds. */
NS_EXTERN time_t Ns_InfoBootTime(void);
NS_EXTERN char  *Ns_InfoHostname(void);
NS_EXTERN char  *Ns_InfoAddress(void); /* Of the host name; may take long
                                        * when asked for first. */

/*
 * How far the process got; the last two are the same.
 */
NS_EXTERN int Ns_InfoShutdownPending(void);
NS_EXTERN int Ns_InfoStarted(void);
NS_EXTERN int Ns_InfoServersStarted(void);

/*
 * As Ns_CondTimedWait, for things that other requests give back.  The number
 * changes, under the lock, whenever a waiting thread has got one.  NS_ERROR:
 * the server is stopping, and the number has not changed for a second, so
 * nothing will be given back any more.
 */
NS_EXTERN int Ns_ShutdownCondWait(Ns_Cond *condPtr, Ns_Mutex *mutexPtr,
                                  const Ns_Time *timePtr,
                                  const int64_t *nGotPtr);

/*
 * The version and the type of release (NS_FINAL_RELEASE ...); each may be NULL.
 */
NS_EXTERN void Ns_GetVersion(int *majorPtr, int *minorPtr, int *patchPtr,
                             int *typePtr);

/*
 * Scheduled procedures.  Any thread.  The result is an id, or NS_ERROR for bad
 * values and once shutdown has begun; arg is then still the caller's.  They run
 * in thread -sched-, one after the other, or with NS_SCHED_THREAD
 * (ScheduleProc: with thread not 0) each in a thread of its own.
 * NS_SCHED_ONCE: only one time.  cleanupProc (may be NULL) is called when arg
 * will not be used again.
 *
 * interval is in seconds, 0 or more, from the end of one run to the next.  With
 * NS_SCHED_DAILY it counts from midnight, with NS_SCHED_WEEKLY from the
 * beginning of Sunday, local time; hour is 0 to 23, minute 0 to 59, day 0
 * (Sunday) to 6.
 */
NS_EXTERN int Ns_ScheduleProc(Ns_Callback *proc, void *arg, int thread,
                              int interval);
NS_EXTERN int Ns_ScheduleProcEx(Ns_SchedProc *proc, void *arg, int flags,
                                int interval, Ns_SchedProc *cleanupProc);
NS_EXTERN int Ns_ScheduleDaily(Ns_SchedProc *proc, void *arg, int flags,
                               int hour, int minute, Ns_SchedProc *cleanupProc);
NS_EXTERN int Ns_ScheduleWeekly(Ns_SchedProc *proc, void *arg, int flags,
                                int day, int hour, int minute,
                                Ns_SchedProc *cleanupProc);

/*
 * Once, after this number of seconds.
 */
NS_EXTERN int Ns_After(int delay, Ns_Callback *proc, void *arg,
                       Ns_Callback *cleanupProc);

/*
 * Remove: 1 if it was not running; one that runs ends and is not run again.
 */
NS_EXTERN int  Ns_Cancel(int id);
NS_EXTERN void Ns_UnscheduleProc(int id);

/*
 * Not to be run until resumed; then when its interval has passed.  1 if that
 * changed something.
 */
NS_EXTERN int Ns_Pause(int id);
NS_EXTERN int Ns_Resume(int id);

#endif

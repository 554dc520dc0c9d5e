/*
 * nsprocess.h --
 *
 *      The process: callbacks at its stages, scheduled procedures, facts about it.
 */

#ifndef NSPROCESS_H
#define NSPROCESS_H

#include "nstypes.h"


/*
 * Whole server: parse command line, start, wait for signals, stop; value
 * for `main`.
 */
NS_EXTERN int Ns_Main(int argc, char **argv, Ns_ServerInitProc *initProc);

/*
 * Initialise the libraries; idempotent.
 */
NS_EXTERN void Nsd_LibInit(void);
NS_EXTERN void Nsthreads_LibInit(void);

/*
 * Package entry when libnsd is `load`ed into a plain tclsh.
 */
NS_EXTERN int Nsd_Init(Tcl_Interp *);

/*
 * Block until start-up is complete.
 */
NS_EXTERN int Ns_WaitForStartup(void);

/*
 * Begin orderly shutdown of the process (argument ignored).
 */
NS_EXTERN void Ns_StopServer(const char *);

/*
 * Run after configuration and modules, before servers start; FIFO.
 */
NS_EXTERN void *Ns_RegisterAtPreStartup(Ns_Callback *, void *);

/*
 * Run when servers and drivers are up; FIFO.
 */
NS_EXTERN void *Ns_RegisterAtStartup(Ns_Callback *, void *);

/*
 * Run on SIGHUP; FIFO.
 */
NS_EXTERN void *Ns_RegisterAtSignal(Ns_Callback *, void *);

/*
 * Run when drivers become ready; LIFO.
 */
NS_EXTERN void *Ns_RegisterAtReady(Ns_Callback *, void *);

/*
 * Run at shutdown, LIFO, twice: `(NULL,arg)` = begin, quickly; later
 * `(deadline,arg)` = wait at most until then.
 */
NS_EXTERN void *Ns_RegisterAtShutdown(Ns_ShutdownProc *, void *);

/*
 * Run last before the process ends; LIFO; no time limit.
 */
NS_EXTERN void *Ns_RegisterAtExit(Ns_Callback *, void *);

/*
 * Register a statically linked module for the server being initialised.
 */
NS_EXTERN void Ns_RegisterModule(const char *, Ns_ModuleInitProc *);

/*
 * Load shared object `file` and call its init function `init` (args ip or
 * NULL, server, module, file, init).
 */
NS_EXTERN int Ns_ModuleLoad(Tcl_Interp *, const char *, const char *, const char *, const char *);

/*
 * Name a callback address for introspection; optional function printing
 * its argument.
 */
NS_EXTERN void Ns_RegisterProcInfo(void *, const char *, Ns_ArgProc *);

/*
 * Append `name arg` of a callback to ds; unknown addresses as `p:0x…
 * a:0x…`.
 */
NS_EXTERN void Ns_GetProcInfo(Ns_DString *, void *, void *);

/*
 * Ready-made argument printer for C-string arguments.
 */
NS_EXTERN void Ns_StringArgProc(Ns_DString *, void *);

/*
 * Set/get server name belonging to the thread.
 */
NS_EXTERN void Ns_SetThreadServer(const char *);
NS_EXTERN char *Ns_GetThreadServer(void);

/*
 * Home directory.
 */
NS_EXTERN char *Ns_InfoHomePath(void);

/*
 * Product name (`NaviServer`) / version; together the `Server:` header.
 */
NS_EXTERN char *Ns_InfoServerName(void);
NS_EXTERN char *Ns_InfoServerVersion(void);

/*
 * Paths: configuration, binary, system log.
 */
NS_EXTERN char *Ns_InfoConfigFile(void);
NS_EXTERN char *Ns_InfoNameOfExecutable(void);
NS_EXTERN char *Ns_InfoErrorLog(void);

/*
 * Process id.
 */
NS_EXTERN int Ns_InfoPid(void);

/*
 * Build facts.
 */
NS_EXTERN char *Ns_InfoPlatform(void);
NS_EXTERN char *Ns_InfoBuildDate(void);
NS_EXTERN char *Ns_InfoTag(void);

/*
 * Seconds since start.
 */
NS_EXTERN int Ns_InfoUptime(void);

/*
 * Start time.
 */
NS_EXTERN time_t Ns_InfoBootTime(void);

/*
 * Host name and primary IP address of the machine.
 */
NS_EXTERN char *Ns_InfoHostname(void);
NS_EXTERN char *Ns_InfoAddress(void);

/*
 * State predicates (the last two are the same).
 */
NS_EXTERN int Ns_InfoShutdownPending(void);
NS_EXTERN int Ns_InfoStarted(void);
NS_EXTERN int Ns_InfoServersStarted(void);

/*
 * Fill major, minor, patch, release type; NULL pointers allowed.
 */
NS_EXTERN void Ns_GetVersion(int *, int *, int *, int *);

/*
 * Every n seconds; Ex: flags, cleanup; proc(arg,id).
 */
NS_EXTERN int Ns_ScheduleProc(Ns_Callback *, void *, int, int);
NS_EXTERN int Ns_ScheduleProcEx(Ns_SchedProc *, void *, int, int, Ns_SchedProc *);

/*
 * At hour:minute (and day 0 = Sunday).
 */
NS_EXTERN int Ns_ScheduleDaily(Ns_SchedProc *, void *, int, int, int, Ns_SchedProc *);
NS_EXTERN int Ns_ScheduleWeekly(Ns_SchedProc *, void *, int, int, int, int, Ns_SchedProc *);

/*
 * Once after n seconds.
 */
NS_EXTERN int Ns_After(int, Ns_Callback *, void *, Ns_Callback *);

/*
 * Remove; 1 if it was waiting.
 */
NS_EXTERN int Ns_Cancel(int);
NS_EXTERN void Ns_UnscheduleProc(int);

/*
 * 1 on success.
 */
NS_EXTERN int Ns_Pause(int);
NS_EXTERN int Ns_Resume(int);

#endif

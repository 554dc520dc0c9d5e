/* SPDX-License-Identifier: MPL-2.0
 * restart.h --
 *
 *      A restart that refuses no connection: the process stops as usual, but
 *      its listening sockets stay open, and it executes the program again.
 *      Whoever connects meanwhile waits in their backlogs.  The process keeps
 *      its id, so whoever watches over it notices nothing.
 *
 *      The sockets are handed over as systemd does (LISTEN_FDS, sd_listen_fds
 *      of its manual), so that a service manager can hold them, too.
 */

#ifndef NSD_PROCESS_RESTART_H
#define NSD_PROCESS_RESTART_H

#include "nsstring.h"

/*
 * Take over the sockets that the environment names, for NsPrebindTake.  Before
 * the process forks, opens, or binds anything.
 */
void NsRestartInherit(void);

/*
 * Whether this process is one that has executed itself: it has left the
 * terminal, and given up root's rights, if it was to.
 */
bool NsRestartIsOne(void);

/*
 * How often it has done so by now.
 */
int NsRestartCount(void);

/*
 * It cannot be restarted, for this reason, which lives on.  Main thread, before
 * it serves signals.
 */
void NsRestartForbid(const char *reason);

/*
 * Once it runs: log how long nobody accepted connections.
 */
void NsRestartNote(void);

/*
 * Whether a start as this one was would work now, by `nsd -T`.  NS_ERROR: the
 * reason is appended.  Any thread; takes as long as that, two minutes at most.
 * It is given up when the server is to end, or the thread is interrupted.
 */
Ns_ReturnCode NsRestartCheck(Ns_DString *reasonPtr);

/*
 * The configuration as such a start would have it, in the form of
 * NsReloadPrint.
 */
Ns_ReturnCode NsRestartReadConfig(Ns_DString *textPtr, Ns_DString *reasonPtr);

/*
 * Have the server end, to be started again, by SIGUSR2 to itself; whether that
 * has been asked for.  Any thread.
 */
void NsRestartRequest(void);
void NsRestartWant(void); /* Without the signal: main thread. */
bool NsRestartIsWanted(void);

/*
 * At the end: whether that is still wanted, or a signal has come since to end
 * the server for good.
 */
bool NsRestartIsNext(void);

/*
 * A listening socket that the next one is to have.  Its owner lets go of it
 * without closing it.
 */
void NsRestartKeep(int fd);

/*
 * Execute the program.  Returns only when that fails, which is logged.  The
 * last thing that the process does.
 */
void NsRestartExec(void);

#endif

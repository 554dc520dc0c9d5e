/* SPDX-License-Identifier: MPL-2.0
 * notify.h --
 *
 *      What a service manager is told, as sd_notify of systemd does (its
 *      manual): that the server is ready, that it stops, that it lives.
 *
 *      Without NOTIFY_SOCKET in the environment all this does nothing.
 */

#ifndef NSD_PROCESS_NOTIFY_H
#define NSD_PROCESS_NOTIFY_H

#include "base/clock.h"
#include "nstypes.h"

/*
 * Whether all threads that must not hang have done something since the last
 * call; asks them to.  Called every few seconds, in thread -notify-.
 */
typedef bool NsNotifyAliveProc(void);

/*
 * Before the start.  `what` names the threads, for the line that says that they
 * hang; it is kept.
 */
void NsNotifyAddAliveProc(const char *what, NsNotifyAliveProc *proc);

/*
 * What the server does, for the status that the manager shows.
 */
typedef struct NsNotifyFigures {
    int nRunning; /* Requests. */
    int nWaiting; /* Requests. */
    int nConnections;
} NsNotifyFigures;

typedef void NsNotifyFiguresProc(NsNotifyFigures *figuresPtr);

/*
 * Once, before the start.  The procedure is called with every sign of life, and
 * never without.
 */
void NsNotifySetFiguresProc(NsNotifyFiguresProc *proc);

/*
 * The start goes on: the manager is to wait, for some minutes.  After a restart
 * it is still told that the server lives.  Main thread, when threads may be
 * made.
 */
void NsNotifyStarting(bool isRestart);

/*
 * The server runs: say so, and from now on that it lives, as often as
 * WATCHDOG_USEC wants it.  Main thread.
 */
void NsNotifyReady(void);

/*
 * It takes over another configuration, until the same thread says that it has
 * ended.  Several may do so at a time: the manager hears of the end of the last
 * one.  Any thread, also before the server runs and while it stops, when the
 * manager waits for something else and is told nothing.
 */
void NsNotifyReloading(void);
void NsNotifyReloaded(void);

/*
 * It still serves for so long, and then stops as below.
 */
void NsNotifyDraining(NsStamp wait, NsStamp timeout);

/*
 * It stops, and this may take so long; or it does, to be started again.
 */
void NsNotifyStopping(NsStamp timeout, bool isRestart);

/*
 * The last.
 */
void NsNotifyEnd(void);

#endif

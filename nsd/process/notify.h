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
 * Once, before the start.
 */
void NsNotifySetAliveProc(NsNotifyAliveProc *proc);

/*
 * The server runs: say so, and from now on that it lives, as often as
 * WATCHDOG_USEC wants it.  Main thread.
 */
void NsNotifyReady(void);

/*
 * It stops, and this may take so long; or it does, to be started again.
 */
void NsNotifyStopping(NsStamp timeout, bool isRestart);

/*
 * The last.
 */
void NsNotifyEnd(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * reaper.h --
 *
 *      The server as process number 1, as in a container.
 *
 *      Whatever loses its parent becomes a child of process number 1, which has
 *      to collect it.  The server itself does not: it would take the status of
 *      programs that its scripts wait for.
 */

#ifndef NSD_PROCESS_REAPER_H
#define NSD_PROCESS_REAPER_H

/*
 * In process number 1: make another process, and return in that alone.  This
 * one collects orphans, passes signals on, and ends with the status of the
 * other, or 128 and the signal that ended it.  Before the first thread.
 */
void NsReaperRun(void);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * pidfile.h --
 *
 *      The file that holds the process id.
 */

#ifndef NSD_PROCESS_PIDFILE_H
#define NSD_PROCESS_PIDFILE_H

/*
 * Once, before the configuration is read.
 */
void NsPidfileInit(void);

/*
 * The path that the configuration names, to be freed by ns_free.  The home
 * directory is known.
 */
char *NsPidfilePath(void);

/*
 * Before the start touches anything: end it when the file belongs to a server
 * that runs, unless the two may share their ports.
 */
void NsPidfileCheck(void);

/*
 * Write it to the place that the configuration names.  If it belongs to a
 * server that runs, that is done when the other stops.  A failure is logged,
 * and nothing else.
 */
void NsPidfileWrite(void);

/*
 * The stop begins: another server may take it over.
 */
void NsPidfileYield(void);

/*
 * Remove it, if it still is the one that was written.
 */
void NsPidfileRemove(void);

#endif

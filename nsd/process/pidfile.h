/*
 * pidfile.h --
 *
 *      The file that holds the process id.
 */

#ifndef NSD_PROCESS_PIDFILE_H
#define NSD_PROCESS_PIDFILE_H

/*
 * Write it to the place that the configuration names, unless it belongs to a
 * server that runs.  A failure is logged, and nothing else.
 */
void NsPidfileWrite(void);

/*
 * Remove it, if it still is the one that was written.
 */
void NsPidfileRemove(void);

#endif

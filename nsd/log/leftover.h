/*
 * leftover.h --
 *
 *      What is left in mappings of processes that were killed, for sinks that
 *      no longer exist and whose target this server cannot know: a database, a
 *      syslog server.
 *
 *      Such a mapping stays where it is until the sink is there again at a
 *      start, or until someone gives up what is left.
 */

#ifndef NSD_LOG_LEFTOVER_H
#define NSD_LOG_LEFTOVER_H

#include "log/ring.h"

typedef struct NsLeftover {
    char     sink[NS_RING_NAME];
    char     type[16];
    char    *file;              /* The mapping. */
    int      pid;               /* Of the process that left it. */
    uint64_t nRecords;
} NsLeftover;

/*
 * All of them; for NsLeftoversFree.  Mappings that a process uses are not
 * looked at: what is left there is being written.
 */
int  NsLeftovers(NsLeftover **leftoversPtr);
void NsLeftoversFree(NsLeftover *leftovers, int n);

/*
 * Give up what is left for the sink, and delete mappings in which nothing else
 * is.  How many records these were; -1: nothing is left for it.
 */
int64_t NsLeftoverForget(const char *sink);

#endif

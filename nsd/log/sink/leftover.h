/*
 * leftover.h --
 *
 *      The mappings of processes that were killed.
 *
 *      What is left there for a sink that no longer exists, and whose target
 *      this server cannot know (a database, a syslog server), stays until there
 *      is a sink of that name again, or until someone discards it.  So does a
 *      mapping that cannot be read.
 */

#ifndef NSD_LOG_LEFTOVER_H
#define NSD_LOG_LEFTOVER_H

#include "log/ring/reader.h"

typedef struct NsLeftover {
    char        sink[NS_RING_NAME]; /* "": the mapping cannot be read. */
    char        type[16];
    char       *file; /* The mapping. */
    int         pid;  /* Of the process that left it. */
    uint64_t    nRecords;
    const char *problem; /* Why it cannot be read; else NULL. */
} NsLeftover;

/*
 * Once, before other threads are started.
 */
void NsLeftoverInit(void);

/*
 * The lock guards which mappings are open here, and which of their parts are
 * claimed; a mapping that is open already cannot be opened.  Nothing is logged
 * meanwhile.
 */
void NsLeftoverLock(void);
void NsLeftoverUnlock(void);
void NsLeftoverAssertLocked(void);

/*
 * At the start, before this process has a mapping: open what dead processes of
 * this server left, oldest first; the caller closes each and frees the array.
 * However many files there were, it is one afterwards, without the parts that
 * nobody needs.  Spill files in the directory (NULL: none) whose mapping is
 * lost get a place there, too.
 */
int NsLeftoverOpen(const NsRingKey *keyPtr, const char *spillDirectory,
                   NsRing ***ringsPtr);

/*
 * Later, locked: the same of processes that were alive then and have died
 * since; those of all of them, but for mappings that are open.  Both leave the
 * files as they are.
 */
int NsLeftoverOpenLateLocked(NsRing ***ringsPtr);
int NsLeftoverOpenAgainLocked(NsRing ***ringsPtr);

/*
 * Say what of the mapping is damaged.
 */
void NsLeftoverTellDamage(const NsRing *ringPtr);

/*
 * All of them; for NsLeftoversFree.  Mappings that a process uses are not
 * looked at: what is left there is being written.
 */
int  NsLeftovers(NsLeftover **leftoversPtr);
void NsLeftoversFree(NsLeftover *leftovers, int n);

/*
 * Give up what is left for the sink, and delete mappings in which nothing else
 * is.  How many records these were; -1: nothing is left for it.  The path of a
 * mapping that cannot be read in place of a sink's name: delete it.
 */
int64_t NsLeftoverForget(const char *sink);

/*
 * For recover.c: how many records the slot's sink has not written; and the
 * place of the first of them, by its cursor in a lane.  False: there is none.
 */
uint64_t NsLeftoverCountUnread(NsRing *ringPtr, NsRingSink *slotPtr);
bool     NsLeftoverOpenPlace(NsRing *ringPtr, const NsRingCursor *cursorPtr,
                             NsPlace *placePtr);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * leftover.h --
 *
 *      The mappings of processes that were killed.
 *
 *      Records for a sink that no longer exists, and whose target this server
 *      cannot know (a database, a syslog server), stay until there is a sink
 *      with that name again, or until someone discards them.  A mapping that
 *      cannot be read stays, too.
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
 * Once, before other threads start.
 */
void NsLeftoverInit(void);

/*
 * The lock guards which mappings are open here and which parts are claimed.  A
 * mapping that is open cannot be opened again.  Nothing is logged while it is
 * held.
 */
void NsLeftoverLock(void);
void NsLeftoverUnlock(void);
void NsLeftoverAssertLocked(void);

/*
 * At the start, before this process has a mapping: open what dead processes of
 * this server left, oldest first.  The caller closes each mapping and frees the
 * array.  However many files there were, one remains afterwards, without the
 * parts that nobody needs.  Spill files in the directory (NULL: none) whose
 * mapping is lost get a place there, too.
 */
int NsLeftoverOpen(const NsRingKey *keyPtr, const char *spillDirectory,
                   NsRing ***ringsPtr);

/*
 * Later, with the lock held.  Late: the same for processes that were alive at
 * the start and have died since.  Again: for all dead processes, except for
 * mappings that are open.  Both leave the files as they are.
 */
int NsLeftoverOpenLateLocked(NsRing ***ringsPtr);
int NsLeftoverOpenAgainLocked(NsRing ***ringsPtr);

/*
 * Log what is damaged in the mapping.
 */
void NsLeftoverTellDamage(const NsRing *ringPtr);

/*
 * List all leftovers; free the list with NsLeftoversFree.  Mappings in use by a
 * process are skipped: their leftovers are being written.
 */
int  NsLeftovers(NsLeftover **leftoversPtr);
void NsLeftoversFree(NsLeftover *leftovers, int n);

/*
 * Discard what is left for the sink, and delete mappings that hold nothing
 * else.  Returns the number of records; -1: nothing is left for it.  Given the
 * path of an unreadable mapping instead of a sink's name, delete that; given
 * the directory of the mappings, all of them that are unreadable.
 */
int64_t NsLeftoverForget(const char *sink);

/*
 * The records that the slot's sink has not written.
 */
typedef struct NsLeftoverSize {
    uint64_t nRecords;
    uint64_t bytes;  /* Of what is on disk with its frames. */
    int64_t  oldest; /* Time of the first; 0: there is none.  If some are on
                      * disk, when their process made its mapping. */
} NsLeftoverSize;

NsLeftoverSize NsLeftoverMeasure(NsRing *ringPtr, const NsRingSink *slotPtr);

/*
 * For recover.c: the place of the first of them in a lane, by its cursor.
 * False: there is none.
 */
bool NsLeftoverOpenPlace(NsRing *ringPtr, const NsRingCursor *cursorPtr,
                         NsPlace *placePtr);

#endif

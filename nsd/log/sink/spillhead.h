/* SPDX-License-Identifier: MPL-2.0
 * spillhead.h --
 *
 *      What a spill file says about itself.
 *
 *      A reboot empties a memory file system, so the mapping is lost while
 *      spill files remain.  Therefore each begins with a head that looks like a
 *      mapping of its process: with the streams, the lanes, and the one slot
 *      that the file belongs to, but no records.  Whenever the slot's fields
 *      about the file change, the head is updated.  At the start, the head of a
 *      file that no mapping names is taken for a leftover mapping.
 *
 *      The slot's cursors are not in the head: a database knows its own, and
 *      for other sinks only the records in the file are left.
 */

#ifndef NSD_LOG_SPILLHEAD_H
#define NSD_LOG_SPILLHEAD_H

#include "log/ring/ring.h"

/* Another generation of a spill file; see NsSpillKeep. */
#define NS_SPILL_GENERATION (1u << 24)

typedef struct NsSpillHeader {
    unsigned nLanes; /* That are in the head. */
    unsigned nStreams;
} NsSpillHeader;

/*
 * Once, before any file is made: the server that the files belong to.
 */
void NsSpillHeadInit(const NsRingKey *keyPtr);

/*
 * The length of the head, the same for all files of a mapping.
 */
off_t NsSpillHeadBytes(const NsRing *ringPtr);

/*
 * Begin a file and lock it.  False: errno says why.
 */
bool NsSpillHeadCreate(NsSpillHeader *headPtr, int fd, const NsRing *ringPtr,
                       const NsRingSink *slotPtr);

/*
 * Add lanes and streams that are new.  False: errno says why not.
 */
bool NsSpillHeadNoteLanes(NsSpillHeader *headPtr, int fd,
                          const NsRing *ringPtr);

/*
 * Copy the slot, which has changed.
 */
void NsSpillHeadNoteSlot(int fd, const NsRing *ringPtr,
                         const NsRingSink *slotPtr);

/*
 * The path of the slot's file, which the caller frees.
 */
char *NsSpillPath(const NsRing *ringPtr, const NsRingSink *slotPtr);

/*
 * True: the head of a spill file.  False: a mapping.
 */
bool NsSpillIsHead(const NsRing *ringPtr);

/*
 * Open the head of a file as a read-only mapping with one slot; the caller
 * closes it.  NULL: there is nothing to read, and *reasonPtr says why; NULL
 * there, too, if the file belongs to another server, is in use, or does not
 * count yet.
 */
NsRing *NsSpillHeadOpen(const char *path, const char **reasonPtr);

#endif

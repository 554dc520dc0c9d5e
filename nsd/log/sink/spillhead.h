/*
 * spillhead.h --
 *
 *      What a spill file says of itself.
 *
 *      A restart of the machine empties a memory file system, and the mapping
 *      is lost, while spill files are not.  So each begins with a head that
 *      looks like a mapping of its process, with the streams, the lanes, and
 *      the one slot that the file belongs to, but no records.  Whenever the
 *      slot says something else of the file the head follows.  A start that
 *      finds a file which no mapping names takes its head for a mapping that
 *      was left.
 *
 *      What the slot's cursors say is not in the head: a database knows it, and
 *      other sinks have no records but those in the file.
 */

#ifndef NSD_LOG_SPILLHEAD_H
#define NSD_LOG_SPILLHEAD_H

#include "log/ring/ring.h"

/* Another generation of a spill file; see NsSpillKeep. */
#define NS_SPILL_GENERATION (1u << 24)

typedef struct NsSpillHeader {
    unsigned nLanes; /* That it has. */
    unsigned nStreams;
} NsSpillHeader;

/*
 * Once, before any file is made: which server they belong to.
 */
void NsSpillHeadInit(const NsRingKey *keyPtr);

/*
 * How long the heads are of all files that belong to a mapping.
 */
off_t NsSpillHeadBytes(const NsRing *ringPtr);

/*
 * Begin a file, locked.  False: errno says why.
 */
bool NsSpillHeadCreate(NsSpillHeader *headPtr, int fd, const NsRing *ringPtr,
                       const NsRingSink *slotPtr);

/*
 * There may be more lanes and streams by now.  False: errno says why not.
 */
bool NsSpillHeadNoteLanes(NsSpillHeader *headPtr, int fd,
                          const NsRing *ringPtr);

/*
 * The slot has changed.
 */
void NsSpillHeadNoteSlot(int fd, const NsRing *ringPtr,
                         const NsRingSink *slotPtr);

/*
 * The path of the slot's file, which the caller frees.
 */
char *NsSpillPath(const NsRing *ringPtr, const NsRingSink *slotPtr);

/*
 * The file is the head of a spill file, not a mapping.
 */
bool NsSpillIsHead(const NsRing *ringPtr);

/*
 * The head of a file as a mapping with one slot, read only, which the caller
 * closes.  NULL: there is nothing to read, and *reasonPtr is why; it is NULL,
 * if the file belongs to another server, is in use, or does not count yet.
 */
NsRing *NsSpillHeadOpen(const char *path, const char **reasonPtr);

#endif

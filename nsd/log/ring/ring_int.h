/* SPDX-License-Identifier: MPL-2.0
 * ring_int.h --
 *
 *      A mapping from inside, for the files that make it up: ring.c has its
 *      parts and their properties; ringfile.c the files; ringkeep.c what dead
 *      processes left in them; ringmove.c a new file for the mapping in use.
 */

#ifndef NSD_LOG_RING_INT_H
#define NSD_LOG_RING_INT_H

#include "log/ring/ring.h"
#include "nsstring.h"

/*
 * The beginnings of the parts of a mapping.
 */
typedef struct NsRingLayout {
    size_t streams;
    size_t streamBytes;
    size_t lanes;
    size_t cursors;
    size_t sinks;
    size_t segments;
    size_t bytes;
} NsRingLayout;

NsRingLayout NsRingLayoutOf(const NsRingHeader *headerPtr);

/*
 * A file whose lock this process holds, shared by its mappings.
 */
typedef struct NsRingFile {
    struct NsRingFile *nextPtr;
    int                fd;
    char              *path;
    int                nUsers;
    bool               isKept;
} NsRingFile;

/*
 * Make a file, locked, under a name that nobody looks for but NsRingSweep; or
 * one of the given size, allocated. -1: errno says why, and *reasonPtr.
 */
int NsRingFileBegin(const NsRingKey *keyPtr, Ns_DString *pathPtr);
int NsRingFileCreate(const NsRingKey *keyPtr, size_t bytes, Ns_DString *pathPtr,
                     const char **reasonPtr);

/*
 * It is complete: rename it to the name that others look for.  False: errno
 * says why, and it is deleted.
 */
bool NsRingFileName(const NsRingKey *keyPtr, Ns_DString *pathPtr);

/*
 * A lock of this process.
 */
bool NsRingFileLock(int fd);

/*
 * Which files are open here; the caller of Add is the first user.  With the
 * last one a file is closed, and deleted, if isDone was true for each.
 */
void        NsRingFileInit(void);
bool        NsRingFileIsOpen(const char *path);
NsRingFile *NsRingFileAdd(int fd, const char *path);
void        NsRingFileUse(NsRingFile *filePtr);
void        NsRingFileReplace(NsRingFile *filePtr, int fd, char *path);
void        NsRingFileRelease(NsRingFile *filePtr, bool isDone);

#endif

/* SPDX-License-Identifier: MPL-2.0
 * modulenote.h --
 *
 *      What the file of a module says about the headers that it was built
 *      with.
 */

#ifndef NSD_PROCESS_MODULENOTE_H
#define NSD_PROCESS_MODULENOTE_H

#include <stddef.h>

typedef enum {
    NS_NOTE_FITS,
    NS_NOTE_MISSING, /* Nothing, or not an object for this machine. */
    NS_NOTE_DIFFERS
} NsNoteFit;

#define NS_NOTE_PROBLEM 200 /* Bytes that any difference has room in. */

/*
 * Read the notes of a file (see nstypes.h) without loading it.
 * NS_NOTE_DIFFERS: what is different, and what to do, is written into buffer,
 * unless bytes is 0.
 */
NsNoteFit NsModuleNoteRead(const char *path, char *buffer, size_t bytes);

#endif

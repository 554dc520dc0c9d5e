/* SPDX-License-Identifier: MPL-2.0
 * set.h --
 *
 *      Sets whose fields live in an arena, beside the public ones of nsset.h.
 */

#ifndef NSD_BASE_SET_H
#define NSD_BASE_SET_H

#include "nsset.h"
#include "base/arena.h"

/*
 * A set in the arena.  All functions of nsset.h work on it; what they store is
 * copied to the arena, and Ns_SetFree does nothing.  The set ends with the
 * arena's next reset.
 */
Ns_Set *NsSetCreateInArena(NsArena *arenaPtr, const char *name, int nExpected);

/*
 * Append without copying: name and value must live as long as the arena.  A set
 * that is in none copies all the same.  The new field's index.
 */
int NsSetPutBorrowed(Ns_Set *setPtr, const char *name, const char *value);

/*
 * Whether Ns_SetIgnoreCase was called.
 */
bool NsSetIgnoresCase(const Ns_Set *setPtr);

/*
 * The first field from index on that has the key; -1 if there is none.
 */
int NsSetNext(const Ns_Set *setPtr, int index, const char *key, bool isNoCase);

/*
 * Give the set another name; length as for Ns_SetPutSz.
 */
void NsSetRename(Ns_Set *setPtr, const char *name, int length);

#endif

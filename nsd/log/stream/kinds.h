/* SPDX-License-Identifier: MPL-2.0
 * kinds.h --
 *
 *      Lists of event kinds: what a sink's parameter `ignore` says.
 *
 *      The kind of an audit record is what its writer calls it, that of a
 *      system record is its severity; events in a log unit have one each.
 *      Records of other streams have none, and are in no list.
 */

#ifndef NSD_LOG_KINDS_H
#define NSD_LOG_KINDS_H

#include "nslogstream.h"

/*
 * A list taken apart.  {0, NULL} is the empty one.
 */
typedef struct NsKinds {
    int          n;
    const char **names; /* One block with the strings. */
} NsKinds;

/*
 * Take apart a Tcl list; NULL is the empty one.  False: it is not a list, and
 * there is nothing to free.
 */
bool NsKindsInit(NsKinds *kindsPtr, const char *list);
void NsKindsFree(NsKinds *kindsPtr);

bool NsKindsHave(const NsKinds *kindsPtr, const char *kind, size_t length);

/*
 * The kinds in both lists, for the caller to free; NULL if there are none.
 */
char *NsKindsCommon(const char *left, const char *right);

#endif

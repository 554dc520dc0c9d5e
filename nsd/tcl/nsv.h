/* SPDX-License-Identifier: MPL-2.0
 * nsv.h --
 *
 *      Arrays of strings that all threads of a server share.
 *
 *      Arrays are spread over buckets by their name; each bucket has one lock.
 *      An array is used between NsvLock and NsvUnlock, for a short time.
 */

#ifndef NSD_TCL_NSV_H
#define NSD_TCL_NSV_H

#include "process/server.h"

typedef struct NsvArray NsvArray;

/*
 * Find, or with mustExist false make, an array and lock its bucket.  NULL,
 * nothing locked: there is none.
 */
NsvArray *NsvLock(NsServer *serverPtr, const char *name, bool mustExist);
void      NsvUnlock(NsvArray *arrayPtr);

/*
 * The value, valid until it is changed or unlocked; NULL if there is none.
 */
const char *NsvGet(NsvArray *arrayPtr, const char *key, size_t *lengthPtr);

/*
 * Set to a copy of length bytes; append them.  Both give the new value.
 */
const char *NsvSet(NsvArray *arrayPtr, const char *key, const char *value,
                   size_t length);
const char *NsvAppend(NsvArray *arrayPtr, const char *key, const char *value,
                      size_t length);

/*
 * Add to an integer; a missing one counts as 0.  NS_ERROR: it is none.
 */
Ns_ReturnCode NsvIncr(NsvArray *arrayPtr, const char *key, Tcl_WideInt count,
                      Tcl_WideInt *valuePtr);

/*
 * Remove a key (false: there was none); all keys.
 */
bool NsvUnset(NsvArray *arrayPtr, const char *key);
void NsvClear(NsvArray *arrayPtr);

int NsvSize(const NsvArray *arrayPtr);

/*
 * Where removals are told to other machines; NULL: nowhere.  The text lives as
 * long as the process.
 */
const char *NsvChannel(const NsvArray *arrayPtr);
void        NsvSetChannel(NsvArray *arrayPtr, const char *channel);

/*
 * Append keys, and values too, that match the glob (NULL: all), as list
 * elements.
 */
void NsvList(NsvArray *arrayPtr, const char *pattern, bool withValues,
             Ns_DString *dsPtr);

/*
 * Append the names of all arrays that match the glob (NULL: all).
 */
void NsvNames(NsServer *serverPtr, const char *pattern, Ns_DString *dsPtr);

/*
 * Append, for bucket i, the list of {ARRAY LOCKCOUNT} as one list element.
 */
int  NsvBuckets(NsServer *serverPtr);
void NsvListBucket(NsServer *serverPtr, int i, Ns_DString *dsPtr);

/*
 * Once, before the configuration is read.
 */
void NsvInit(void);

#endif

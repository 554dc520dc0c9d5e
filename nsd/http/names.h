/* SPDX-License-Identifier: MPL-2.0
 * names.h --
 *
 *      A table from short names to texts or pointers.
 *
 *      It only grows: a later value for a name hides the earlier one.  So any
 *      thread can read and add without a lock, and what was returned stays
 *      valid for the life of the process.
 */

#ifndef NSD_HTTP_NAMES_H
#define NSD_HTTP_NAMES_H

#include <stdatomic.h>

#include "nstypes.h"

#define NS_NAME_BUCKETS 256

typedef struct NsNameEntry {
    struct NsNameEntry *nextPtr; /* Constant once published. */
    const char         *name;    /* Lower case unless exact. */
    const void         *value;
    size_t              length;
} NsNameEntry;

/*
 * A static one, all zero, is an empty table whose names have no case.
 */
typedef struct NsNameTable {
    bool                   isExact; /* Constant; names have case. */
    _Atomic(NsNameEntry *) buckets[NS_NAME_BUCKETS];
} NsNameTable;

/*
 * Add a name, which is copied; the value is not.
 */
void NsNamePut(NsNameTable *tablePtr, const char *name, size_t length,
               const void *value);

/*
 * The value last added for a name; NULL if there is none.
 */
const void *NsNameGet(const NsNameTable *tablePtr, const char *name,
                      size_t length);

/*
 * Call proc for every name, once each, in no order.
 */
typedef void NsNameProc(const char *name, const void *value, void *arg);
void NsNameEach(const NsNameTable *tablePtr, NsNameProc *proc, void *arg);

#endif

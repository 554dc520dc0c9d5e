/* SPDX-License-Identifier: MPL-2.0
 * nsset.h --
 *
 *      Ordered lists of keys and values.
 *
 *      A key may occur more than once.  Keys and values are copied; both may be
 *      NULL.  Functions with an I ignore the case of keys.  Indexes start at 0,
 *      and what is not found has the index -1 or the value NULL.  A set has no
 *      lock.
 */

#ifndef NSSET_H
#define NSSET_H

#include "nstypes.h"

#define Ns_SetSize(s)     ((s)->size)
#define Ns_SetName(s)     ((s)->name)
#define Ns_SetKey(s, i)   ((s)->fields[(i)].name)
#define Ns_SetValue(s, i) ((s)->fields[(i)].value)
#define Ns_SetLast(s)     (((s)->size) - 1)

/*
 * name may be NULL; size is how many fields to make room for.  Ns_SetFree
 * accepts NULL; Ns_SetCopy of NULL is NULL.
 */
NS_EXTERN Ns_Set *Ns_SetCreate(const char *name);
NS_EXTERN Ns_Set *Ns_SetCreateSz(const char *name, size_t size);
NS_EXTERN void    Ns_SetFree(Ns_Set *setPtr);
NS_EXTERN Ns_Set *Ns_SetCopy(Ns_Set *setPtr);

/*
 * From now on, functions without an I ignore the case of keys in this set, too,
 * and in its copies.
 */
NS_EXTERN void Ns_SetIgnoreCase(Ns_Set *setPtr);

/*
 * Append a field: its index.  With a positive length, value is length bytes.
 */
NS_EXTERN int Ns_SetPut(Ns_Set *setPtr, const char *key, const char *value);
#if NS_API_LEVEL < 49933
NS_EXTERN int Ns_SetPutSz(Ns_Set *setPtr, const char *key, const char *value,
                          int length);
#else
#define Ns_SetPutSz Ns_SetPutSz_33
#endif

/*
 * The later form: both lengths in bytes, negative for all up to the null byte,
 * 0 for an empty string.
 */
NS_EXTERN size_t Ns_SetPutSz_33(Ns_Set *setPtr, const char *key,
                                TCL_SIZE_T keyLength, const char *value,
                                TCL_SIZE_T valueLength);

/*
 * Give the first field with the key another value, which may be its own, or
 * append one.
 */
NS_EXTERN void Ns_SetUpdate(Ns_Set *setPtr, const char *key, const char *value);
NS_EXTERN void Ns_SetIUpdate(Ns_Set *setPtr, const char *key,
                             const char *value);

/*
 * Likewise, with lengths as for the later Ns_SetPutSz: the field's index.
 */
NS_EXTERN size_t Ns_SetUpdateSz(Ns_Set *setPtr, const char *key,
                                TCL_SIZE_T keyLength, const char *value,
                                TCL_SIZE_T valueLength);
NS_EXTERN size_t Ns_SetIUpdateSz(Ns_Set *setPtr, const char *key,
                                 TCL_SIZE_T keyLength, const char *value,
                                 TCL_SIZE_T valueLength);

/*
 * Replace the value at an index; an index out of range is ignored.  A negative
 * length means all of value.
 */
NS_EXTERN void Ns_SetPutValue(Ns_Set *setPtr, int index, const char *value);
NS_EXTERN void Ns_SetPutValueSz(Ns_Set *setPtr, int index, const char *value,
                                ssize_t length);

/*
 * Make all values empty strings.  Sources for later releases say as a second
 * argument how much memory may be kept for the values, which has no effect.
 */
NS_EXTERN void Ns_SetClearValues(Ns_Set *setPtr);
#define Ns_SetClearValues(...)        NsSetClearValues(__VA_ARGS__, 0)
#define NsSetClearValues(setPtr, ...) (Ns_SetClearValues)(setPtr)

/*
 * The first field with the key.  compare(key, keyOfField) is 0 for a match.
 */
NS_EXTERN int Ns_SetFind(Ns_Set *setPtr, const char *key);
NS_EXTERN int Ns_SetIFind(Ns_Set *setPtr, const char *key);
NS_EXTERN int Ns_SetFindCmp(Ns_Set *setPtr, const char *key,
                            int (*compare)(const char *s1, const char *s2));

/*
 * Its value, which stays the set's.
 */
NS_EXTERN char *Ns_SetGet(Ns_Set *setPtr, const char *key);
NS_EXTERN char *Ns_SetIGet(Ns_Set *setPtr, const char *key);
NS_EXTERN char *Ns_SetGetCmp(Ns_Set *setPtr, const char *key,
                             int (*compare)(const char *s1, const char *s2));

/*
 * Its value, or defaultValue if there is none or it is empty.
 */
NS_EXTERN char *Ns_SetGetValue(Ns_Set *setPtr, const char *key,
                               const char *defaultValue);
NS_EXTERN char *Ns_SetIGetValue(Ns_Set *setPtr, const char *key,
                                const char *defaultValue);

/*
 * True if at most one field has the key.
 */
NS_EXTERN int Ns_SetUnique(Ns_Set *setPtr, const char *key);
NS_EXTERN int Ns_SetIUnique(Ns_Set *setPtr, const char *key);
NS_EXTERN int Ns_SetUniqueCmp(Ns_Set *setPtr, const char *key,
                              int (*compare)(const char *s1, const char *s2));

/*
 * Remove one field: at an index, or the first with the key; nothing if there is
 * none.
 */
NS_EXTERN void Ns_SetDelete(Ns_Set *setPtr, int index);
NS_EXTERN void Ns_SetDeleteKey(Ns_Set *setPtr, const char *key);
NS_EXTERN void Ns_SetIDeleteKey(Ns_Set *setPtr, const char *key);

/*
 * Keep the first size fields.
 */
NS_EXTERN void Ns_SetTrunc(Ns_Set *setPtr, int size);

/*
 * Add copies of those fields of lowPtr whose keys highPtr lacks.
 */
NS_EXTERN void Ns_SetMerge(Ns_Set *highPtr, Ns_Set *lowPtr);
NS_EXTERN void Ns_SetIMerge(Ns_Set *highPtr, Ns_Set *lowPtr);

/*
 * Append all fields of fromPtr, which is empty then.
 */
NS_EXTERN void Ns_SetMove(Ns_Set *toPtr, Ns_Set *fromPtr);

/*
 * A NULL-terminated array of new sets: `a.b` goes as `b` to the set named `a`,
 * for the separator `.`; keys without it go to a set without name.
 */
NS_EXTERN Ns_Set **Ns_SetSplit(Ns_Set *setPtr, char separator);

/*
 * The set of that name (may be NULL) in such an array; free array and sets.
 */
NS_EXTERN Ns_Set *Ns_SetListFind(Ns_Set **sets, const char *name);
NS_EXTERN void    Ns_SetListFree(Ns_Set **sets);

/*
 * Append `NAME:` on a line, and for each field a line of leader, key, separator
 * and value.
 */
NS_EXTERN void Ns_SetFormat(Ns_DString *dsPtr, const Ns_Set *setPtr,
                            bool withName, const char *leader,
                            const char *separator);

/*
 * Write the set to standard error.
 */
NS_EXTERN void Ns_SetPrint(Ns_Set *setPtr);

#endif

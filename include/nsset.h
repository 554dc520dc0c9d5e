/*
 * nsset.h --
 *
 *      Ordered lists of keys and values.
 */

#ifndef NSSET_H
#define NSSET_H

#include "nstypes.h"


#define Ns_SetSize(s)           ((s)->size)
#define Ns_SetName(s)           ((s)->name)
#define Ns_SetKey(s, i)         ((s)->fields[(i)].name)
#define Ns_SetValue(s, i)       ((s)->fields[(i)].value)
#define Ns_SetLast(s)           (((s)->size) - 1)

/*
 * New (name may be NULL) / free (NULL ok) / duplicate.
 */
NS_EXTERN Ns_Set *Ns_SetCreate(const char *);
NS_EXTERN Ns_Set *Ns_SetCreateSz(const char *name, size_t size);
NS_EXTERN void Ns_SetFree(Ns_Set *);
NS_EXTERN Ns_Set *Ns_SetCopy(Ns_Set *);

/*
 * Append; index (second: value length, ≤ 0 = strlen).
 */
NS_EXTERN int Ns_SetPut(Ns_Set *, const char *, const char *);
NS_EXTERN int Ns_SetPutSz(Ns_Set *, const char *, const char *, int);

/*
 * Delete first key match, append.
 */
NS_EXTERN void Ns_SetUpdate(Ns_Set *, const char *, const char *);
NS_EXTERN void Ns_SetIUpdate(Ns_Set *setPtr, const char *key,
                             const char *value);

/*
 * Replace value at index.
 */
NS_EXTERN void Ns_SetPutValue(Ns_Set *, int, const char *);
NS_EXTERN void Ns_SetPutValueSz(Ns_Set *setPtr, int index, const char *value,
                                ssize_t length);
NS_EXTERN void Ns_SetClearValues(Ns_Set *setPtr);

/*
 * Index of first match (own compare).
 */
NS_EXTERN int Ns_SetFind(Ns_Set *, const char *);
NS_EXTERN int Ns_SetIFind(Ns_Set *, const char *);
NS_EXTERN int Ns_SetFindCmp(Ns_Set *, const char *, int (*)(const char *s1, const char *s2));

/*
 * Value of first match.
 */
NS_EXTERN char *Ns_SetGet(Ns_Set *, const char *);
NS_EXTERN char *Ns_SetIGet(Ns_Set *, const char *);
NS_EXTERN char *Ns_SetGetCmp(Ns_Set *, const char *, int (*)(const char *s1, const char *s2));

/*
 * Value, or default if absent or empty.
 */
NS_EXTERN char *Ns_SetGetValue(Ns_Set *, const char *, const char *);
NS_EXTERN char *Ns_SetIGetValue(Ns_Set *, const char *, const char *);

/*
 * True if at most one match.
 */
NS_EXTERN int Ns_SetUnique(Ns_Set *, const char *);
NS_EXTERN int Ns_SetIUnique(Ns_Set *, const char *);
NS_EXTERN int Ns_SetUniqueCmp(Ns_Set *, const char *, int (*)(const char *s1, const char *s2));

/*
 * Remove by index (−1 ignored) / first key match.
 */
NS_EXTERN void Ns_SetDelete(Ns_Set *, int);
NS_EXTERN void Ns_SetDeleteKey(Ns_Set *, const char *);
NS_EXTERN void Ns_SetIDeleteKey(Ns_Set *, const char *);

/*
 * Keep first n.
 */
NS_EXTERN void Ns_SetTrunc(Ns_Set *, int);

/*
 * Add entries of `low` whose keys `high` lacks.
 */
NS_EXTERN void Ns_SetMerge(Ns_Set *, Ns_Set *);

/*
 * Append all of `from`, empty it.
 */
NS_EXTERN void Ns_SetMove(Ns_Set *, Ns_Set *);

/*
 * Partition by prefix before `sep` into named sets.
 */
NS_EXTERN Ns_Set **Ns_SetSplit(Ns_Set *, char);

/*
 * Search / free NULL-terminated set array.
 */
NS_EXTERN Ns_Set *Ns_SetListFind(Ns_Set **, const char *);
NS_EXTERN void Ns_SetListFree(Ns_Set **);

/*
 * Dump to standard error.
 */
NS_EXTERN void Ns_SetPrint(Ns_Set *);

#endif

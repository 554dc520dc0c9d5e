/* SPDX-License-Identifier: MPL-2.0
 * nsindex.h --
 *
 *      Sorted arrays of pointers, and lists as in Lisp.  Neither has a lock.
 */

#ifndef NSINDEX_H
#define NSINDEX_H

#include "nstypes.h"

#define Ns_IndexCount(x)        ((x)->n)
#define Ns_ListPush(elem, list) ((list) = Ns_ListCons((elem), (list)))
#define Ns_ListFirst(list)      ((list)->first)
#define Ns_ListRest(list)       ((list)->rest)

/*
 * ------------------------------------------------------------------ Indexes
 */

/*
 * The array grows by increment.  As with qsort and bsearch, compareElements
 * gets the addresses of two array elements, compareKey a key and the address of
 * one.
 */
NS_EXTERN void Ns_IndexInit(Ns_Index *indexPtr, int increment,
                            int (*compareElements)(const void *, const void *),
                            int (*compareKey)(const void *, const void *));

/*
 * An index of strings, which it copies, with strings as keys; and one of ints,
 * stored by INT2PTR, whose keys are addresses of ints.
 */
NS_EXTERN void Ns_IndexStringInit(Ns_Index *indexPtr, int increment);
NS_EXTERN void Ns_IndexIntInit(Ns_Index *indexPtr, int increment);

/*
 * Insert, after elements that are equal; remove that very element (an index of
 * strings: an equal one); the one at a position.
 */
NS_EXTERN void  Ns_IndexAdd(Ns_Index *indexPtr, void *elem);
NS_EXTERN void  Ns_IndexDel(Ns_Index *indexPtr, void *elem);
NS_EXTERN void *Ns_IndexEl(Ns_Index *indexPtr, int i);

/*
 * The first match; the first match or what follows the place where it would be;
 * a NULL-terminated array of all matches, to be freed with ns_free.  NULL for
 * none.
 */
NS_EXTERN void  *Ns_IndexFind(Ns_Index *indexPtr, void *key);
NS_EXTERN void  *Ns_IndexFindInf(Ns_Index *indexPtr, void *key);
NS_EXTERN void **Ns_IndexFindMultiple(Ns_Index *indexPtr, void *key);

/*
 * Empty the index; free its array.  The String forms free the strings too.
 */
NS_EXTERN void Ns_IndexTrunc(Ns_Index *indexPtr);
NS_EXTERN void Ns_IndexStringTrunc(Ns_Index *indexPtr);
NS_EXTERN void Ns_IndexDestroy(Ns_Index *indexPtr);
NS_EXTERN void Ns_IndexStringDestroy(Ns_Index *indexPtr);

/*
 * A new index with the same elements (with copies of the strings), to be
 * destroyed and then freed with ns_free; add copies of another's strings.
 */
NS_EXTERN Ns_Index *Ns_IndexDup(Ns_Index *indexPtr);
NS_EXTERN Ns_Index *Ns_IndexStringDup(Ns_Index *indexPtr);
NS_EXTERN void      Ns_IndexStringAppend(Ns_Index *toPtr, Ns_Index *fromPtr);

/*
 * -------------------------------------------------------------------- Lists
 *
 * NULL is the empty list.  What sorts, reverses, appends, deletes or maps in
 * place reuses the pairs it is given: use its result, not its argument.
 */

NS_EXTERN Ns_List *Ns_ListCons(void *elem, Ns_List *listPtr);
NS_EXTERN Ns_List *Ns_ListNconc(Ns_List *firstPtr, Ns_List *secondPtr);
NS_EXTERN Ns_List *Ns_ListCopy(Ns_List *listPtr);
NS_EXTERN Ns_List *Ns_ListNreverse(Ns_List *listPtr);
NS_EXTERN Ns_List *Ns_ListLast(Ns_List *listPtr);
NS_EXTERN int      Ns_ListLength(Ns_List *listPtr);

/*
 * freeProc, when not NULL, gets each element.
 */
NS_EXTERN void Ns_ListFree(Ns_List *listPtr, Ns_ElemVoidProc *freeProc);

/*
 * Write to standard output, each element by printProc.
 */
NS_EXTERN void Ns_ListPrint(Ns_List *listPtr, Ns_ElemVoidProc *printProc);
NS_EXTERN void Ns_IntPrint(int value);
NS_EXTERN void Ns_StringPrint(const char *string);

/*
 * Sort, keeping equal elements in order: ascending, where sortProc(a, b) is
 * negative when a comes first; or by descending weight.
 */
NS_EXTERN Ns_List *Ns_ListSort(Ns_List *listPtr, Ns_SortProc *sortProc);
NS_EXTERN Ns_List *Ns_ListWeightSort(Ns_List *listPtr);

/*
 * Delete the elements for which testProc is true; those equal to elem; those
 * equal to an earlier one; those of less than minWeight.
 */
NS_EXTERN Ns_List *Ns_ListDeleteIf(Ns_List *listPtr, Ns_ElemTestProc *testProc);
NS_EXTERN Ns_List *Ns_ListDeleteWithTest(void *elem, Ns_List *listPtr,
                                         Ns_EqualProc *equalProc);
NS_EXTERN Ns_List *Ns_ListDeleteDuplicates(Ns_List      *listPtr,
                                           Ns_EqualProc *equalProc);
NS_EXTERN Ns_List *Ns_ListDeleteLowElements(Ns_List *listPtr, float minWeight);

/*
 * The list of what valProc makes of the elements: new, or in place.
 */
NS_EXTERN Ns_List *Ns_ListMapcar(Ns_List *listPtr, Ns_ElemValProc *valProc);
NS_EXTERN Ns_List *Ns_ListNmapcar(Ns_List *listPtr, Ns_ElemValProc *valProc);

#endif

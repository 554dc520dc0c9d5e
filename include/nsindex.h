/*
 * nsindex.h --
 *
 *      Sorted pointer arrays and Lisp-like lists.
 */

#ifndef NSINDEX_H
#define NSINDEX_H

#include "nstypes.h"


#define Ns_IndexCount(x)        ((x)->n)
#define Ns_ListPush(elem, list) ((list) = Ns_ListCons((elem), (list)))
#define Ns_ListFirst(list)      ((list)->first)
#define Ns_ListRest(list)       ((list)->rest)

/*
 * Growth step, compare elements, compare key with element.
 */
NS_EXTERN void Ns_IndexInit(Ns_Index *, int, int (*)(const void *, const void *), int (*) (const void *, const void *));

/*
 * Ready-made for strings (copied) and integers.
 */
NS_EXTERN void Ns_IndexStringInit(Ns_Index *, int);
NS_EXTERN void Ns_IndexIntInit(Ns_Index *, int);

/*
 * Insert, remove, i-th.
 */
NS_EXTERN void Ns_IndexAdd(Ns_Index *, void *);
NS_EXTERN void Ns_IndexDel(Ns_Index *, void *);
NS_EXTERN void *Ns_IndexEl(Ns_Index *, int);

/*
 * Match / match or successor / array of matches.
 */
NS_EXTERN void *Ns_IndexFind(Ns_Index *, void *);
NS_EXTERN void *Ns_IndexFindInf(Ns_Index *, void *);
NS_EXTERN void **Ns_IndexFindMultiple(Ns_Index *, void *);

/*
 * Empty / free (String: elements too).
 */
NS_EXTERN void Ns_IndexTrunc(Ns_Index *);
NS_EXTERN void Ns_IndexStringTrunc(Ns_Index *);
NS_EXTERN void Ns_IndexDestroy(Ns_Index *);
NS_EXTERN void Ns_IndexStringDestroy(Ns_Index *);

/*
 * Copy, append.
 */
NS_EXTERN Ns_Index *Ns_IndexDup(Ns_Index *);
NS_EXTERN Ns_Index *Ns_IndexStringDup(Ns_Index *);
NS_EXTERN void Ns_IndexStringAppend(Ns_Index *, Ns_Index *);

/*
 * Build, concatenate, copy, reverse.
 */
NS_EXTERN Ns_List *Ns_ListCons(void *, Ns_List *);
NS_EXTERN Ns_List *Ns_ListNconc(Ns_List *, Ns_List *);
NS_EXTERN Ns_List *Ns_ListCopy(Ns_List *);
NS_EXTERN Ns_List *Ns_ListNreverse(Ns_List *);

/*
 * Last, length, free, print to stdout.
 */
NS_EXTERN Ns_List *Ns_ListLast(Ns_List *);
NS_EXTERN int Ns_ListLength(Ns_List *);
NS_EXTERN void Ns_ListFree(Ns_List *, Ns_ElemVoidProc *);
NS_EXTERN void Ns_ListPrint(Ns_List *, Ns_ElemVoidProc *);
NS_EXTERN void Ns_IntPrint(int);
NS_EXTERN void Ns_StringPrint(const char *);

/*
 * Sort by function / weight.
 */
NS_EXTERN Ns_List *Ns_ListSort(Ns_List *, Ns_SortProc *);
NS_EXTERN Ns_List *Ns_ListWeightSort(Ns_List *);

/*
 * Filter.
 */
NS_EXTERN Ns_List *Ns_ListDeleteIf(Ns_List *, Ns_ElemTestProc *);
NS_EXTERN Ns_List *Ns_ListDeleteWithTest(void *, Ns_List *, Ns_EqualProc *);
NS_EXTERN Ns_List *Ns_ListDeleteDuplicates(Ns_List *, Ns_EqualProc *);
NS_EXTERN Ns_List *Ns_ListDeleteLowElements(Ns_List *, float);

/*
 * Map to new list / in place.
 */
NS_EXTERN Ns_List *Ns_ListMapcar(Ns_List *, Ns_ElemValProc *);
NS_EXTERN Ns_List *Ns_ListNmapcar(Ns_List *, Ns_ElemValProc *);

#endif

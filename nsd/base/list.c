/* SPDX-License-Identifier: MPL-2.0
 * list.c --
 *
 *      Lists of pairs, as in Lisp.
 *
 *      Functions that filter or sort reuse or free the pairs of the list they
 *      are given, never the elements.
 */

#include "nsindex.h"
#include "nsthread.h"

/*
 * Why a pair goes: one of several tests, with what it needs.
 */
typedef struct Condition {
    Ns_ElemTestProc *testProc;
    Ns_EqualProc    *equalProc;
    void            *elem;
    float            minWeight;
} Condition;

typedef bool MatchProc(const Condition *condPtr, const Ns_List *pairPtr);
typedef bool PrecedesProc(const Ns_List *aPtr, const Ns_List *bPtr,
                          Ns_SortProc *sortProc);

static Ns_List *DeleteMatching(Ns_List *listPtr, MatchProc *matches,
                               const Condition *condPtr);
static bool     SatisfiesTest(const Condition *condPtr, const Ns_List *pairPtr);
static bool     EqualsElement(const Condition *condPtr, const Ns_List *pairPtr);
static bool     IsLight(const Condition *condPtr, const Ns_List *pairPtr);
static Ns_List *MergeSort(Ns_List *listPtr, PrecedesProc *precedes,
                          Ns_SortProc *sortProc);
static Ns_List *SplitInHalf(Ns_List *listPtr);
static bool     IsLess(const Ns_List *aPtr, const Ns_List *bPtr,
                       Ns_SortProc *sortProc);
static bool     IsHeavier(const Ns_List *aPtr, const Ns_List *bPtr,
                          Ns_SortProc *sortProc);

Ns_List *
Ns_ListCons(void *elem, Ns_List *listPtr)
{
    Ns_List *pairPtr = ns_malloc(sizeof(Ns_List));

    *pairPtr = (Ns_List){.first = elem, .rest = listPtr};
    return pairPtr;
}

Ns_List *
Ns_ListNconc(Ns_List *firstPtr, Ns_List *secondPtr)
{
    if (firstPtr == NULL) {
        return secondPtr;
    }
    Ns_ListLast(firstPtr)->rest = secondPtr;
    return firstPtr;
}

Ns_List *
Ns_ListCopy(Ns_List *listPtr)
{
    Ns_List *copyPtr = NULL, **tailPtr = &copyPtr;

    for (; listPtr != NULL; listPtr = listPtr->rest) {
        *tailPtr = Ns_ListCons(listPtr->first, NULL);
        (*tailPtr)->weight = listPtr->weight;
        tailPtr = &(*tailPtr)->rest;
    }
    return copyPtr;
}

Ns_List *
Ns_ListNreverse(Ns_List *listPtr)
{
    Ns_List *reversedPtr = NULL;

    while (listPtr != NULL) {
        Ns_List *restPtr = listPtr->rest;

        listPtr->rest = reversedPtr;
        reversedPtr = listPtr;
        listPtr = restPtr;
    }
    return reversedPtr;
}

Ns_List *
Ns_ListLast(Ns_List *listPtr)
{
    while (listPtr != NULL && listPtr->rest != NULL) {
        listPtr = listPtr->rest;
    }
    return listPtr;
}

int
Ns_ListLength(Ns_List *listPtr)
{
    int n = 0;

    for (; listPtr != NULL; listPtr = listPtr->rest) {
        n++;
    }
    return n;
}

void
Ns_ListFree(Ns_List *listPtr, Ns_ElemVoidProc *freeProc)
{
    while (listPtr != NULL) {
        Ns_List *restPtr = listPtr->rest;

        if (freeProc != NULL) {
            freeProc(listPtr->first);
        }
        ns_free(listPtr);
        listPtr = restPtr;
    }
}

void
Ns_ListPrint(Ns_List *listPtr, Ns_ElemVoidProc *printProc)
{
    putchar('(');
    for (; listPtr != NULL; listPtr = listPtr->rest) {
        printProc(listPtr->first);
        if (listPtr->rest != NULL) {
            putchar(' ');
        }
    }
    puts(")");
}

void
Ns_IntPrint(int value)
{
    printf("%d", value);
}

void
Ns_StringPrint(const char *string)
{
    fputs(string, stdout);
}

Ns_List *
Ns_ListSort(Ns_List *listPtr, Ns_SortProc *sortProc)
{
    return MergeSort(listPtr, IsLess, sortProc);
}

Ns_List *
Ns_ListWeightSort(Ns_List *listPtr)
{
    return MergeSort(listPtr, IsHeavier, NULL);
}

Ns_List *
Ns_ListDeleteIf(Ns_List *listPtr, Ns_ElemTestProc *testProc)
{
    return DeleteMatching(listPtr, SatisfiesTest,
                          &(Condition){.testProc = testProc});
}

Ns_List *
Ns_ListDeleteWithTest(void *elem, Ns_List *listPtr, Ns_EqualProc *equalProc)
{
    return DeleteMatching(listPtr, EqualsElement,
                          &(Condition){.equalProc = equalProc, .elem = elem});
}

Ns_List *
Ns_ListDeleteDuplicates(Ns_List *listPtr, Ns_EqualProc *equalProc)
{
    for (Ns_List *pairPtr = listPtr; pairPtr != NULL; pairPtr = pairPtr->rest) {
        pairPtr->rest = Ns_ListDeleteWithTest(pairPtr->first, pairPtr->rest,
                                              equalProc);
    }
    return listPtr;
}

Ns_List *
Ns_ListDeleteLowElements(Ns_List *listPtr, float minWeight)
{
    return DeleteMatching(listPtr, IsLight,
                          &(Condition){.minWeight = minWeight});
}

Ns_List *
Ns_ListMapcar(Ns_List *listPtr, Ns_ElemValProc *valProc)
{
    return Ns_ListNmapcar(Ns_ListCopy(listPtr), valProc);
}

Ns_List *
Ns_ListNmapcar(Ns_List *listPtr, Ns_ElemValProc *valProc)
{
    for (Ns_List *pairPtr = listPtr; pairPtr != NULL; pairPtr = pairPtr->rest) {
        pairPtr->first = valProc(pairPtr->first);
    }
    return listPtr;
}

static Ns_List *
DeleteMatching(Ns_List *listPtr, MatchProc *matches, const Condition *condPtr)
{
    Ns_List **linkPtr = &listPtr;

    while (*linkPtr != NULL) {
        Ns_List *pairPtr = *linkPtr;

        if (matches(condPtr, pairPtr)) {
            *linkPtr = pairPtr->rest;
            ns_free(pairPtr);
        } else {
            linkPtr = &pairPtr->rest;
        }
    }
    return listPtr;
}

static bool
SatisfiesTest(const Condition *condPtr, const Ns_List *pairPtr)
{
    return condPtr->testProc(pairPtr->first) != 0;
}

static bool
EqualsElement(const Condition *condPtr, const Ns_List *pairPtr)
{
    return condPtr->equalProc(condPtr->elem, pairPtr->first) != 0;
}

static bool
IsLight(const Condition *condPtr, const Ns_List *pairPtr)
{
    return pairPtr->weight < condPtr->minWeight;
}

/*
 * Stable: of two equal elements the earlier one stays first.
 */
static Ns_List *
MergeSort(Ns_List *listPtr, PrecedesProc *precedes, Ns_SortProc *sortProc)
{
    Ns_List *leftPtr, *rightPtr, *sortedPtr = NULL, **tailPtr = &sortedPtr;

    if (listPtr == NULL || listPtr->rest == NULL) {
        return listPtr;
    }
    rightPtr = MergeSort(SplitInHalf(listPtr), precedes, sortProc);
    leftPtr = MergeSort(listPtr, precedes, sortProc);

    while (leftPtr != NULL && rightPtr != NULL) {
        Ns_List **nextPtr = precedes(rightPtr, leftPtr, sortProc)
            ? &rightPtr
            : &leftPtr;

        *tailPtr = *nextPtr;
        tailPtr = &(*nextPtr)->rest;
        *nextPtr = (*nextPtr)->rest;
    }
    *tailPtr = leftPtr != NULL ? leftPtr : rightPtr;
    return sortedPtr;
}

/*
 * Cut a list of two or more and return the second half.
 */
static Ns_List *
SplitInHalf(Ns_List *listPtr)
{
    Ns_List *secondPtr;

    for (int i = (Ns_ListLength(listPtr) - 1) / 2; i > 0; i--) {
        listPtr = listPtr->rest;
    }
    secondPtr = listPtr->rest;
    listPtr->rest = NULL;
    return secondPtr;
}

static bool
IsLess(const Ns_List *aPtr, const Ns_List *bPtr, Ns_SortProc *sortProc)
{
    return sortProc(aPtr->first, bPtr->first) < 0;
}

static bool
IsHeavier(const Ns_List *aPtr, const Ns_List *bPtr, Ns_SortProc *sortProc)
{
    return aPtr->weight > bPtr->weight;
}

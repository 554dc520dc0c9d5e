/* SPDX-License-Identifier: MPL-2.0
 * index.c --
 *
 *      Sorted arrays of pointers, found by binary search.
 */

#include "nsindex.h"
#include "nsthread.h"

static int  CompareStrings(const void *left, const void *right);
static int  CompareKeyWithString(const void *key, const void *elem);
static int  CompareInts(const void *left, const void *right);
static int  CompareKeyWithInt(const void *key, const void *elem);
static bool IsStringIndex(const Ns_Index *indexPtr);
static int  LowerBound(const Ns_Index *indexPtr, const void *key);
static int  Position(const Ns_Index *indexPtr, const void *elem);
static void InsertAt(Ns_Index *indexPtr, int i, void *elem);

void
Ns_IndexInit(Ns_Index *indexPtr, int increment,
             int (*compareElements)(const void *, const void *),
             int (*compareKey)(const void *, const void *))
{
    *indexPtr = (Ns_Index){.CmpEls = compareElements,
                           .CmpKeyWithEl = compareKey,
                           .inc = MAX(increment, 1)};
}

void
Ns_IndexStringInit(Ns_Index *indexPtr, int increment)
{
    Ns_IndexInit(indexPtr, increment, CompareStrings, CompareKeyWithString);
}

void
Ns_IndexIntInit(Ns_Index *indexPtr, int increment)
{
    Ns_IndexInit(indexPtr, increment, CompareInts, CompareKeyWithInt);
}

/*
 * Behind the elements that are equal, so that those keep their order.
 */
void
Ns_IndexAdd(Ns_Index *indexPtr, void *elem)
{
    int low = 0, high = indexPtr->n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (indexPtr->CmpEls(&indexPtr->el[middle], &elem) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    InsertAt(indexPtr, low, IsStringIndex(indexPtr) ? ns_strdup(elem) : elem);
}

void
Ns_IndexDel(Ns_Index *indexPtr, void *elem)
{
    int i = Position(indexPtr, elem);

    if (i >= 0) {
        void *deleted = indexPtr->el[i];

        indexPtr->n--;
        memmove(&indexPtr->el[i], &indexPtr->el[i + 1],
                (size_t) (indexPtr->n - i) * sizeof(void *));
        if (IsStringIndex(indexPtr)) {
            ns_free(deleted);
        }
    }
}

void *
Ns_IndexEl(Ns_Index *indexPtr, int i)
{
    return indexPtr->el[i];
}

void *
Ns_IndexFind(Ns_Index *indexPtr, void *key)
{
    int i = LowerBound(indexPtr, key);

    return i < indexPtr->n && indexPtr->CmpKeyWithEl(key, &indexPtr->el[i]) == 0
        ? indexPtr->el[i]
        : NULL;
}

void *
Ns_IndexFindInf(Ns_Index *indexPtr, void *key)
{
    int i = LowerBound(indexPtr, key);

    return i < indexPtr->n ? indexPtr->el[i] : NULL;
}

void **
Ns_IndexFindMultiple(Ns_Index *indexPtr, void *key)
{
    int    first = LowerBound(indexPtr, key), n = 0;
    void **matches;

    while (first + n < indexPtr->n
           && indexPtr->CmpKeyWithEl(key, &indexPtr->el[first + n]) == 0) {
        n++;
    }
    if (n == 0) {
        return NULL;
    }
    matches = ns_malloc((size_t) (n + 1) * sizeof(void *));
    memcpy(matches, &indexPtr->el[first], (size_t) n * sizeof(void *));
    matches[n] = NULL;
    return matches;
}

void
Ns_IndexTrunc(Ns_Index *indexPtr)
{
    indexPtr->n = 0;
}

void
Ns_IndexStringTrunc(Ns_Index *indexPtr)
{
    for (int i = 0; i < indexPtr->n; i++) {
        ns_free(indexPtr->el[i]);
    }
    Ns_IndexTrunc(indexPtr);
}

void
Ns_IndexDestroy(Ns_Index *indexPtr)
{
    ns_free(indexPtr->el);
    indexPtr->el = NULL;
    indexPtr->n = indexPtr->max = 0;
}

void
Ns_IndexStringDestroy(Ns_Index *indexPtr)
{
    Ns_IndexStringTrunc(indexPtr);
    Ns_IndexDestroy(indexPtr);
}

Ns_Index *
Ns_IndexDup(Ns_Index *indexPtr)
{
    Ns_Index *copyPtr = ns_malloc(sizeof(Ns_Index));

    *copyPtr = *indexPtr;
    copyPtr->el = ns_calloc((size_t) copyPtr->max, sizeof(void *));
    if (copyPtr->n > 0) {
        memcpy(copyPtr->el, indexPtr->el, (size_t) copyPtr->n * sizeof(void *));
    }
    return copyPtr;
}

Ns_Index *
Ns_IndexStringDup(Ns_Index *indexPtr)
{
    Ns_Index *copyPtr = Ns_IndexDup(indexPtr);

    for (int i = 0; i < copyPtr->n; i++) {
        copyPtr->el[i] = ns_strdup(copyPtr->el[i]);
    }
    return copyPtr;
}

void
Ns_IndexStringAppend(Ns_Index *toPtr, Ns_Index *fromPtr)
{
    int n = fromPtr->n; /* Both may be the same. */

    for (int i = 0; i < n; i++) {
        InsertAt(toPtr, toPtr->n, ns_strdup(fromPtr->el[i]));
    }
    if (toPtr->n > 1) {
        qsort(toPtr->el, (size_t) toPtr->n, sizeof(void *), toPtr->CmpEls);
    }
}

static int
CompareStrings(const void *left, const void *right)
{
    return strcmp(*(const char *const *) left, *(const char *const *) right);
}

static int
CompareKeyWithString(const void *key, const void *elem)
{
    return strcmp(key, *(const char *const *) elem);
}

static int
CompareInts(const void *left, const void *right)
{
    int l = PTR2INT(*(void *const *) left), r = PTR2INT(*(void *const *) right);

    return (l > r) - (l < r);
}

static int
CompareKeyWithInt(const void *key, const void *elem)
{
    int k = *(const int *) key, e = PTR2INT(*(void *const *) elem);

    return (k > e) - (k < e);
}

static bool
IsStringIndex(const Ns_Index *indexPtr)
{
    return indexPtr->CmpEls == CompareStrings;
}

/*
 * The position of the first element that is not less than key.
 */
static int
LowerBound(const Ns_Index *indexPtr, const void *key)
{
    int low = 0, high = indexPtr->n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (indexPtr->CmpKeyWithEl(key, &indexPtr->el[middle]) > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * The position of elem itself; in an index of strings, which holds copies, that
 * of the first equal one.
 */
static int
Position(const Ns_Index *indexPtr, const void *elem)
{
    for (int i = 0; i < indexPtr->n; i++) {
        if (indexPtr->el[i] == elem
            || (IsStringIndex(indexPtr)
                && strcmp(indexPtr->el[i], elem) == 0)) {
            return i;
        }
    }
    return -1;
}

static void
InsertAt(Ns_Index *indexPtr, int i, void *elem)
{
    if (indexPtr->n == indexPtr->max) {
        indexPtr->max += indexPtr->inc;
        indexPtr->el = ns_realloc(indexPtr->el,
                                  (size_t) indexPtr->max * sizeof(void *));
    }
    memmove(&indexPtr->el[i + 1], &indexPtr->el[i],
            (size_t) (indexPtr->n - i) * sizeof(void *));
    indexPtr->el[i] = elem;
    indexPtr->n++;
}

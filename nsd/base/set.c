/* SPDX-License-Identifier: MPL-2.0
 * set.c --
 *
 *      Ordered lists of keys and values, on the heap or in an arena.
 */

#include "base/set.h"
#include "base/assert.h"
#include "nsstring.h"
#include "nsthread.h"

#define FIRST_SIZE 10

/*
 * Users see the public part alone.
 */
typedef struct Set {
    Ns_Set   set;
    NsArena *arenaPtr; /* NULL: on the heap.  Constant. */
    bool     isNoCase; /* No look-up tells cases apart. */
} Set;

typedef int CompareProc(const char *s1, const char *s2);

static Set        *SetOf(const Ns_Set *setPtr);
static void       *AllocFor(const Set *sPtr, size_t bytes);
static char       *DupFor(const Set *sPtr, const char *string, ssize_t length);
static void        FreeFor(const Set *sPtr, void *memory);
static void        Reserve(Set *sPtr, int n);
static int         Append(Set *sPtr, char *key, char *value);
static void        FreeField(Set *sPtr, int index);
static int         FindFrom(const Ns_Set *setPtr, int index, const char *key,
                            CompareProc *compare);
static CompareProc CompareNames;

static CompareProc *CompareProcOf(const Ns_Set *setPtr);
static size_t Update(Ns_Set *setPtr, const char *key, TCL_SIZE_T keyLength,
                     const char *value, TCL_SIZE_T valueLength,
                     CompareProc *compare);
static char  *DupBytes(const Set *sPtr, const char *string, ssize_t length);
static void   Merge(Ns_Set *highPtr, Ns_Set *lowPtr, CompareProc *compare);

Ns_Set *
Ns_SetCreate(const char *name)
{
    return Ns_SetCreateSz(name, FIRST_SIZE);
}

Ns_Set *
Ns_SetCreateSz(const char *name, size_t size)
{
    Set *sPtr = ns_calloc(1, sizeof(Set));

    sPtr->set.name = ns_strcopy(name);
    Reserve(sPtr, (int) MIN(size, INT_MAX / 2));
    return &sPtr->set;
}

Ns_Set *
NsSetCreateInArena(NsArena *arenaPtr, const char *name, int nExpected)
{
    Set *sPtr = NsArenaZalloc(arenaPtr, sizeof(Set));

    sPtr->arenaPtr = arenaPtr;
    sPtr->set.name = DupFor(sPtr, name, -1);
    Reserve(sPtr, nExpected);
    return &sPtr->set;
}

void
Ns_SetIgnoreCase(Ns_Set *setPtr)
{
    SetOf(setPtr)->isNoCase = true;
}

bool
NsSetIgnoresCase(const Ns_Set *setPtr)
{
    return SetOf(setPtr)->isNoCase;
}

void
NsSetRename(Ns_Set *setPtr, const char *name, int length)
{
    Set *sPtr = SetOf(setPtr);

    FreeFor(sPtr, setPtr->name);
    setPtr->name = DupFor(sPtr, name, length);
}

void
Ns_SetFree(Ns_Set *setPtr)
{
    if (setPtr != NULL && SetOf(setPtr)->arenaPtr == NULL) {
        Ns_SetTrunc(setPtr, 0);
        ns_free(setPtr->fields);
        ns_free(setPtr->name);
        ns_free(SetOf(setPtr));
    }
}

Ns_Set *
Ns_SetCopy(Ns_Set *setPtr)
{
    Ns_Set *copyPtr;

    if (setPtr == NULL) {
        return NULL;
    }
    copyPtr = Ns_SetCreateSz(setPtr->name, (size_t) setPtr->size);
    SetOf(copyPtr)->isNoCase = SetOf(setPtr)->isNoCase;
    for (int i = 0; i < setPtr->size; i++) {
        Ns_SetPut(copyPtr, Ns_SetKey(setPtr, i), Ns_SetValue(setPtr, i));
    }
    return copyPtr;
}

int
Ns_SetPut(Ns_Set *setPtr, const char *key, const char *value)
{
    return Ns_SetPutSz(setPtr, key, value, -1);
}

int
Ns_SetPutSz(Ns_Set *setPtr, const char *key, const char *value, int length)
{
    Set *sPtr = SetOf(setPtr);

    return Append(sPtr, DupFor(sPtr, key, -1), DupFor(sPtr, value, length));
}

int
NsSetPutBorrowed(Ns_Set *setPtr, const char *name, const char *value)
{
    if (SetOf(setPtr)->arenaPtr == NULL) {
        return Ns_SetPut(setPtr, name, value);
    }
    return Append(SetOf(setPtr), (char *) name, (char *) value);
}

size_t
Ns_SetPutSz_33(Ns_Set *setPtr, const char *key, TCL_SIZE_T keyLength,
               const char *value, TCL_SIZE_T valueLength)
{
    Set *sPtr = SetOf(setPtr);

    return (size_t) Append(sPtr, DupBytes(sPtr, key, keyLength),
                           DupBytes(sPtr, value, valueLength));
}

void
Ns_SetUpdate(Ns_Set *setPtr, const char *key, const char *value)
{
    (void) Update(setPtr, key, -1, value, -1, CompareProcOf(setPtr));
}

void
Ns_SetIUpdate(Ns_Set *setPtr, const char *key, const char *value)
{
    (void) Update(setPtr, key, -1, value, -1, CompareNames);
}

size_t
Ns_SetUpdateSz(Ns_Set *setPtr, const char *key, TCL_SIZE_T keyLength,
               const char *value, TCL_SIZE_T valueLength)
{
    return Update(setPtr, key, keyLength, value, valueLength,
                  CompareProcOf(setPtr));
}

size_t
Ns_SetIUpdateSz(Ns_Set *setPtr, const char *key, TCL_SIZE_T keyLength,
                const char *value, TCL_SIZE_T valueLength)
{
    return Update(setPtr, key, keyLength, value, valueLength, CompareNames);
}

/*
 * Keys are compared up to their null bytes, so a part of a string is copied
 * first.
 */
static size_t
Update(Ns_Set *setPtr, const char *key, TCL_SIZE_T keyLength, const char *value,
       TCL_SIZE_T valueLength, CompareProc *compare)
{
    Ns_DString ds;
    int        index;

    if (key == NULL || keyLength < 0) {
        index = FindFrom(setPtr, 0, key, compare);
    } else {
        Ns_DStringInit(&ds);
        Ns_DStringNAppend(&ds, key, keyLength);
        index = FindFrom(setPtr, 0, Ns_DStringValue(&ds), compare);
        Ns_DStringFree(&ds);
    }
    if (index < 0) {
        return Ns_SetPutSz_33(setPtr, key, keyLength, value, valueLength);
    }
    Ns_SetPutValueSz(setPtr, index, value, valueLength);
    return (size_t) index;
}

void
Ns_SetPutValue(Ns_Set *setPtr, int index, const char *value)
{
    Ns_SetPutValueSz(setPtr, index, value, -1);
}

void
Ns_SetPutValueSz(Ns_Set *setPtr, int index, const char *value, ssize_t length)
{
    if (index >= 0 && index < setPtr->size) {
        Set  *sPtr = SetOf(setPtr);
        char *old = setPtr->fields[index].value;

        setPtr->fields[index].value = DupBytes(sPtr, value, length);
        FreeFor(sPtr, old);
    }
}

int
Ns_SetFindCmp(Ns_Set *setPtr, const char *key, CompareProc *compare)
{
    return FindFrom(setPtr, 0, key, compare);
}

int
Ns_SetFind(Ns_Set *setPtr, const char *key)
{
    return Ns_SetFindCmp(setPtr, key, CompareProcOf(setPtr));
}

int
Ns_SetIFind(Ns_Set *setPtr, const char *key)
{
    return Ns_SetFindCmp(setPtr, key, CompareNames);
}

char *
Ns_SetGetCmp(Ns_Set *setPtr, const char *key, CompareProc *compare)
{
    int index = Ns_SetFindCmp(setPtr, key, compare);

    return index < 0 ? NULL : setPtr->fields[index].value;
}

char *
Ns_SetGet(Ns_Set *setPtr, const char *key)
{
    return Ns_SetGetCmp(setPtr, key, CompareProcOf(setPtr));
}

char *
Ns_SetIGet(Ns_Set *setPtr, const char *key)
{
    return Ns_SetGetCmp(setPtr, key, CompareNames);
}

char *
Ns_SetGetValue(Ns_Set *setPtr, const char *key, const char *defaultValue)
{
    char *value = Ns_SetGet(setPtr, key);

    return value != NULL && *value != '\0' ? value : (char *) defaultValue;
}

char *
Ns_SetIGetValue(Ns_Set *setPtr, const char *key, const char *defaultValue)
{
    char *value = Ns_SetIGet(setPtr, key);

    return value != NULL && *value != '\0' ? value : (char *) defaultValue;
}

int
NsSetNext(const Ns_Set *setPtr, int index, const char *key, bool isNoCase)
{
    return FindFrom(setPtr, index, key,
                    isNoCase ? CompareNames : CompareProcOf(setPtr));
}

int
Ns_SetUniqueCmp(Ns_Set *setPtr, const char *key, CompareProc *compare)
{
    int first = FindFrom(setPtr, 0, key, compare);

    return first < 0 || FindFrom(setPtr, first + 1, key, compare) < 0;
}

int
Ns_SetUnique(Ns_Set *setPtr, const char *key)
{
    return Ns_SetUniqueCmp(setPtr, key, CompareProcOf(setPtr));
}

int
Ns_SetIUnique(Ns_Set *setPtr, const char *key)
{
    return Ns_SetUniqueCmp(setPtr, key, CompareNames);
}

void
Ns_SetDelete(Ns_Set *setPtr, int index)
{
    if (index >= 0 && index < setPtr->size) {
        FreeField(SetOf(setPtr), index);
        setPtr->size--;
        memmove(&setPtr->fields[index], &setPtr->fields[index + 1],
                (size_t) (setPtr->size - index) * sizeof(Ns_SetField));
    }
}

void
Ns_SetDeleteKey(Ns_Set *setPtr, const char *key)
{
    Ns_SetDelete(setPtr, Ns_SetFind(setPtr, key));
}

void
Ns_SetIDeleteKey(Ns_Set *setPtr, const char *key)
{
    Ns_SetDelete(setPtr, Ns_SetIFind(setPtr, key));
}

void
Ns_SetTrunc(Ns_Set *setPtr, int size)
{
    while (setPtr->size > MAX(size, 0)) {
        setPtr->size--;
        FreeField(SetOf(setPtr), setPtr->size);
    }
}

void(Ns_SetClearValues)(Ns_Set *setPtr)
{
    for (int i = 0; i < setPtr->size; i++) {
        Ns_SetPutValue(setPtr, i, "");
    }
}

void
Ns_SetMerge(Ns_Set *highPtr, Ns_Set *lowPtr)
{
    Merge(highPtr, lowPtr, CompareProcOf(highPtr));
}

void
Ns_SetIMerge(Ns_Set *highPtr, Ns_Set *lowPtr)
{
    Merge(highPtr, lowPtr, CompareNames);
}

static void
Merge(Ns_Set *highPtr, Ns_Set *lowPtr, CompareProc *compare)
{
    for (int i = 0; i < lowPtr->size; i++) {
        if (FindFrom(highPtr, 0, Ns_SetKey(lowPtr, i), compare) < 0) {
            Ns_SetPut(highPtr, Ns_SetKey(lowPtr, i), Ns_SetValue(lowPtr, i));
        }
    }
}

void
Ns_SetMove(Ns_Set *toPtr, Ns_Set *fromPtr)
{
    int n = fromPtr->size;

    if (toPtr == fromPtr) {
        return;
    }
    if (SetOf(toPtr)->arenaPtr == SetOf(fromPtr)->arenaPtr) {
        for (int i = 0; i < n; i++) {
            Append(SetOf(toPtr), Ns_SetKey(fromPtr, i),
                   Ns_SetValue(fromPtr, i));
        }
        fromPtr->size = 0;
    } else {
        for (int i = 0; i < n; i++) {
            Ns_SetPut(toPtr, Ns_SetKey(fromPtr, i), Ns_SetValue(fromPtr, i));
        }
        Ns_SetTrunc(fromPtr, 0);
    }
}

Ns_Set **
Ns_SetSplit(Ns_Set *setPtr, char separator)
{
    Ns_Set **sets = ns_calloc((size_t) setPtr->size + 1, sizeof(Ns_Set *));
    int      nSets = 0;

    for (int i = 0; i < setPtr->size; i++) {
        const char *key = Ns_SetKey(setPtr, i);
        const char *rest = key != NULL ? strchr(key, separator) : NULL;
        char       *prefix = NULL;
        Ns_Set     *partPtr;

        if (rest != NULL) {
            prefix = ns_malloc((size_t) (rest - key) + 1);
            memcpy(prefix, key, (size_t) (rest - key));
            prefix[rest - key] = '\0';
            key = rest + 1;
        }
        partPtr = Ns_SetListFind(sets, prefix);
        if (partPtr == NULL) {
            partPtr = sets[nSets++] = Ns_SetCreate(prefix);
        }
        Ns_SetPut(partPtr, key, Ns_SetValue(setPtr, i));
        ns_free(prefix);
    }
    return sets;
}

Ns_Set *
Ns_SetListFind(Ns_Set **sets, const char *name)
{
    for (; *sets != NULL; sets++) {
        const char *setName = (*sets)->name;

        if (name == NULL || setName == NULL ? name == setName
                                            : STREQ(name, setName)) {
            return *sets;
        }
    }
    return NULL;
}

void
Ns_SetListFree(Ns_Set **sets)
{
    for (Ns_Set **setPtrPtr = sets; *setPtrPtr != NULL; setPtrPtr++) {
        Ns_SetFree(*setPtrPtr);
    }
    ns_free(sets);
}

void
Ns_SetPrint(Ns_Set *setPtr)
{
    fprintf(stderr, "%s:\n", setPtr->name != NULL ? setPtr->name : "(unnamed)");
    for (int i = 0; i < setPtr->size; i++) {
        const char *key = Ns_SetKey(setPtr, i), *value = Ns_SetValue(setPtr, i);

        fprintf(stderr, "\t%s = %s\n", key != NULL ? key : "(null)",
                value != NULL ? value : "(null)");
    }
}

void
Ns_SetFormat(Ns_DString *dsPtr, const Ns_Set *setPtr, bool withName,
             const char *leader, const char *separator)
{
    if (withName && setPtr->name != NULL) {
        Ns_DStringVarAppend(dsPtr, setPtr->name, ":\n", (char *) NULL);
    }
    for (int i = 0; i < setPtr->size; i++) {
        const char *key = Ns_SetKey(setPtr, i), *value = Ns_SetValue(setPtr, i);

        Ns_DStringVarAppend(dsPtr, leader, key != NULL ? key : "", separator,
                            value != NULL ? value : "", "\n", (char *) NULL);
    }
}

static Set *
SetOf(const Ns_Set *setPtr)
{
    return (Set *) setPtr;
}

static void *
AllocFor(const Set *sPtr, size_t bytes)
{
    return sPtr->arenaPtr != NULL ? NsArenaAlloc(sPtr->arenaPtr, bytes)
                                  : ns_malloc(bytes);
}

/*
 * A copy of length bytes (all up to the null byte when not positive).
 */
static char *
DupFor(const Set *sPtr, const char *string, ssize_t length)
{
    if (string == NULL || sPtr->arenaPtr == NULL) {
        return ns_strncopy(string, length);
    }
    return NsArenaDup(sPtr->arenaPtr, string,
                      length > 0 ? (size_t) length : strlen(string));
}

/*
 * Likewise, but 0 is an empty string.
 */
static char *
DupBytes(const Set *sPtr, const char *string, ssize_t length)
{
    return string != NULL && length == 0
        ? DupFor(sPtr, "", -1)
        : DupFor(sPtr, string, length);
}

static void
FreeFor(const Set *sPtr, void *memory)
{
    if (sPtr->arenaPtr == NULL) {
        ns_free(memory);
    }
}

static void
Reserve(Set *sPtr, int n)
{
    Ns_Set      *setPtr = &sPtr->set;
    Ns_SetField *fields;

    if (n > setPtr->maxSize) {
        fields = AllocFor(sPtr, (size_t) n * sizeof(Ns_SetField));
        if (setPtr->size > 0) {
            memcpy(fields, setPtr->fields,
                   (size_t) setPtr->size * sizeof(Ns_SetField));
        }
        FreeFor(sPtr, setPtr->fields);
        setPtr->fields = fields;
        setPtr->maxSize = n;
    }
}

static int
Append(Set *sPtr, char *key, char *value)
{
    Ns_Set *setPtr = &sPtr->set;

    if (setPtr->size == setPtr->maxSize) {
        Reserve(sPtr, MAX(setPtr->maxSize * 2, FIRST_SIZE));
    }
    setPtr->fields[setPtr->size] = (Ns_SetField){.name = key, .value = value};
    return setPtr->size++;
}

static void
FreeField(Set *sPtr, int index)
{
    FreeFor(sPtr, sPtr->set.fields[index].name);
    FreeFor(sPtr, sPtr->set.fields[index].value);
}

/*
 * A NULL key matches only a NULL key.
 */
static int
FindFrom(const Ns_Set *setPtr, int index, const char *key, CompareProc *compare)
{
    for (int i = index; i < setPtr->size; i++) {
        const char *name = setPtr->fields[i].name;

        if (key == NULL || name == NULL ? key == name
                                        : compare(key, name) == 0) {
            return i;
        }
    }
    return -1;
}

static CompareProc *
CompareProcOf(const Ns_Set *setPtr)
{
    return SetOf(setPtr)->isNoCase ? CompareNames : strcmp;
}

/*
 * strcasecmp, but most names differ in their first letter already.
 */
static int
CompareNames(const char *a, const char *b)
{
    unsigned first = UCHAR(*a), other = UCHAR(*b);

    if (((first | other) & 0x80u) == 0u && ((first ^ other) & ~0x20u) != 0u) {
        return 1;
    }
    return strcasecmp(a, b);
}

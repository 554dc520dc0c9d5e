/* SPDX-License-Identifier: MPL-2.0
 * set.c --
 *
 *      Ids of sets: `dN` for those that the script owns, `tN` for those of the
 *      server and copies of them, N counting up.
 */

#include "tcl/set.h"

#include "tcl/result.h"

#include "nsset.h"
#include "nsthread.h"

typedef struct Entry {
    Ns_Set  *setPtr;
    uint64_t serial; /* Order of creation. */
    bool     isOwned;
} Entry;

static Tcl_Obj *Enter(NsInterp *interpPtr, Ns_Set *setPtr, char letter,
                      bool isOwned);
static Entry   *FindEntry(NsInterp *interpPtr, const char *id);
static void     FreeEntry(Tcl_HashEntry *hashPtr);
static size_t   StringBytes(const char *string);
static int      CompareSerials(const void *left, const void *right);

void
NsTclSetInit(NsInterp *interpPtr)
{
    Tcl_InitHashTable(&interpPtr->sets, TCL_STRING_KEYS);
}

void
NsTclSetCleanup(NsInterp *interpPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hashPtr = Tcl_FirstHashEntry(&interpPtr->sets, &search);

    if (hashPtr == NULL) {
        return;
    }
    for (; hashPtr != NULL; hashPtr = Tcl_NextHashEntry(&search)) {
        FreeEntry(hashPtr);
    }
    Tcl_DeleteHashTable(&interpPtr->sets);
    NsTclSetInit(interpPtr);
}

void
NsTclSetFree(NsInterp *interpPtr)
{
    NsTclSetCleanup(interpPtr);
    Tcl_DeleteHashTable(&interpPtr->sets);
}

Tcl_Obj *
NsTclSetEnter(NsInterp *interpPtr, Ns_Set *setPtr, bool isOwned)
{
    return Enter(interpPtr, setPtr, isOwned ? 'd' : 't', isOwned);
}

Tcl_Obj *
NsTclSetEnterCopy(NsInterp *interpPtr, Ns_Set *setPtr)
{
    return Enter(interpPtr, setPtr, 't', true);
}

static Tcl_Obj *
Enter(NsInterp *interpPtr, Ns_Set *setPtr, char letter, bool isOwned)
{
    static _Thread_local uint64_t serial;
    Tcl_HashTable                *tablePtr = &interpPtr->sets;
    Tcl_HashEntry                *hashPtr;
    Entry                        *entryPtr;
    char                          id[2][32];
    int                           n = tablePtr->numEntries, isNew;

    for (;; n++) {
        snprintf(id[0], sizeof(id[0]), "t%d", n);
        snprintf(id[1], sizeof(id[1]), "d%d", n);
        if (Tcl_FindHashEntry(tablePtr, id[0]) == NULL
            && Tcl_FindHashEntry(tablePtr, id[1]) == NULL) {
            break;
        }
    }
    entryPtr = ns_malloc(sizeof(*entryPtr));
    *entryPtr = (Entry){
        .setPtr = setPtr, .serial = ++serial, .isOwned = isOwned};
    hashPtr = Tcl_CreateHashEntry(tablePtr, id[letter == 'd'], &isNew);
    Tcl_SetHashValue(hashPtr, entryPtr);
    return Tcl_NewStringObj(id[letter == 'd'], -1);
}

Tcl_Obj *
NsTclSetEnterKnown(NsInterp *interpPtr, Ns_Set *setPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hashPtr;

    for (hashPtr = Tcl_FirstHashEntry(&interpPtr->sets, &search);
         hashPtr != NULL; hashPtr = Tcl_NextHashEntry(&search)) {
        const Entry *entryPtr = Tcl_GetHashValue(hashPtr);

        if (entryPtr->setPtr == setPtr) {
            return Tcl_NewStringObj(Tcl_GetHashKey(&interpPtr->sets, hashPtr),
                                    -1);
        }
    }
    return NsTclSetEnter(interpPtr, setPtr, false);
}

Ns_Set *
NsTclSetGet(NsInterp *interpPtr, Tcl_Obj *idObj)
{
    Entry *entryPtr = FindEntry(interpPtr, Tcl_GetString(idObj));

    if (entryPtr == NULL) {
        Ns_TclPrintfResult(interpPtr->interp, "no such set: %s",
                           Tcl_GetString(idObj));
        return NULL;
    }
    return entryPtr->setPtr;
}

Tcl_Obj *
NsTclSetList(NsInterp *interpPtr)
{
    Tcl_HashTable  *tablePtr = &interpPtr->sets;
    Tcl_HashEntry **hashPtrs, *hashPtr;
    Tcl_HashSearch  search;
    Tcl_Obj        *listObj = Tcl_NewListObj(0, NULL);
    size_t          n = 0, i;

    hashPtrs = ns_malloc(((size_t) tablePtr->numEntries + 1) * sizeof(hashPtr));
    for (hashPtr = Tcl_FirstHashEntry(tablePtr, &search); hashPtr != NULL;
         hashPtr = Tcl_NextHashEntry(&search)) {
        hashPtrs[n++] = hashPtr;
    }
    qsort(hashPtrs, n, sizeof(hashPtr), CompareSerials);
    for (i = 0; i < n; i++) {
        Tcl_ListObjAppendElement(NULL, listObj,
                                 Tcl_NewStringObj(Tcl_GetHashKey(tablePtr,
                                                                 hashPtrs[i]),
                                                  -1));
    }
    ns_free(hashPtrs);
    return listObj;
}

NsTclSetStats
NsTclSetGetStats(NsInterp *interpPtr, bool isOwned)
{
    NsTclSetStats  stats = {0, 0, 0};
    Tcl_HashSearch search;

    for (Tcl_HashEntry *hashPtr = Tcl_FirstHashEntry(&interpPtr->sets, &search);
         hashPtr != NULL; hashPtr = Tcl_NextHashEntry(&search)) {
        const Entry *entryPtr = Tcl_GetHashValue(hashPtr);

        if (entryPtr->isOwned == isOwned) {
            const Ns_Set *setPtr = entryPtr->setPtr;

            stats.nSets++;
            stats.usedBytes += StringBytes(Ns_SetName(setPtr));
            for (int i = 0; i < Ns_SetSize(setPtr); i++) {
                stats.usedBytes += StringBytes(Ns_SetKey(setPtr, i))
                    + StringBytes(Ns_SetValue(setPtr, i));
            }
            stats.allocatedBytes += (size_t) setPtr->maxSize
                * sizeof(Ns_SetField);
        }
    }
    stats.allocatedBytes += stats.usedBytes;
    return stats;
}

static size_t
StringBytes(const char *string)
{
    return string == NULL ? 0 : strlen(string) + 1;
}

/* ---- The C API. ---- */

int
Ns_TclEnterSet(Tcl_Interp *interp, Ns_Set *setPtr, int flags)
{
    NsInterp *interpPtr = NsInterpOf(interp);
    Tcl_Obj  *idObj;

    if (interpPtr == NULL) {
        return NsTclFail(interp, "ns_set not supported");
    }
    idObj = NsTclSetEnter(interpPtr, setPtr, (flags & NS_TCL_SET_DYNAMIC) != 0);
    Tcl_IncrRefCount(idObj);
    Tcl_AppendElement(interp, Tcl_GetString(idObj));
    Tcl_DecrRefCount(idObj);
    return TCL_OK;
}

Ns_Set *
Ns_TclGetSet(Tcl_Interp *interp, const char *setId)
{
    Ns_Set *setPtr = NULL;

    return (Ns_TclGetSet2(interp, setId, &setPtr) == TCL_OK) ? setPtr : NULL;
}

int
Ns_TclGetSet2(Tcl_Interp *interp, const char *setId, Ns_Set **setPtrPtr)
{
    NsInterp *interpPtr = NsInterpOf(interp);
    Entry    *entryPtr = interpPtr != NULL ? FindEntry(interpPtr, setId) : NULL;

    if (entryPtr == NULL) {
        return NsTclFail(interp, "no such set: %s", setId);
    }
    *setPtrPtr = entryPtr->setPtr;
    return TCL_OK;
}

int
Ns_TclFreeSet(Tcl_Interp *interp, const char *setId)
{
    NsInterp      *interpPtr = NsInterpOf(interp);
    Tcl_HashEntry *hashPtr;

    hashPtr = (interpPtr != NULL) ? Tcl_FindHashEntry(&interpPtr->sets, setId)
                                  : NULL;
    if (hashPtr == NULL) {
        return NsTclFail(interp, "no such set: %s", setId);
    }
    FreeEntry(hashPtr);
    Tcl_DeleteHashEntry(hashPtr);
    return TCL_OK;
}

static Entry *
FindEntry(NsInterp *interpPtr, const char *id)
{
    Tcl_HashEntry *hashPtr = Tcl_FindHashEntry(&interpPtr->sets, id);

    return (hashPtr != NULL) ? Tcl_GetHashValue(hashPtr) : NULL;
}

/*
 * Free the set of a table entry; the table entry itself is the caller's.
 */
static void
FreeEntry(Tcl_HashEntry *hashPtr)
{
    Entry *entryPtr = Tcl_GetHashValue(hashPtr);

    if (entryPtr->isOwned) {
        Ns_SetFree(entryPtr->setPtr);
    }
    ns_free(entryPtr);
}

static int
CompareSerials(const void *left, const void *right)
{
    const Entry *a = Tcl_GetHashValue(*(Tcl_HashEntry *const *) left);
    const Entry *b = Tcl_GetHashValue(*(Tcl_HashEntry *const *) right);

    return (a->serial > b->serial) - (a->serial < b->serial);
}

Ns_Set *
Ns_SetCreateFromDict(Tcl_Interp *interp, const char *name, Tcl_Obj *listObj)
{
    return Ns_SetCreateFromDict_50(interp, name, listObj, 0u);
}

Ns_Set *
Ns_SetCreateFromDict_50(Tcl_Interp *interp, const char *name, Tcl_Obj *listObj,
                        unsigned int flags)
{
    Tcl_Obj **objs;
    Ns_Set   *setPtr;
    int       n;

    if (Tcl_ListObjGetElements(interp, listObj, &n, &objs) != TCL_OK) {
        return NULL;
    }
    if (n % 2 != 0) {
        Ns_TclPrintfResult(interp,
                           "list '%s' has to consist of an even number "
                           "of elements",
                           Tcl_GetString(listObj));
        return NULL;
    }
    setPtr = Ns_SetCreateSz(name, (size_t) n / 2);
    if ((flags & NS_SET_OPTION_NOCASE) != 0u) {
        Ns_SetIgnoreCase(setPtr);
    }
    for (int i = 0; i < n; i += 2) {
        (void) Ns_SetPut(setPtr, Tcl_GetString(objs[i]),
                         Tcl_GetString(objs[i + 1]));
    }
    return setPtr;
}

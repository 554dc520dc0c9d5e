/* SPDX-License-Identifier: MPL-2.0
 * bare.c --
 *
 *      What bare interpreters have, as strings by key.
 */

#include "tcl/bare.h"

#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"

/*
 * Few configurations differ in their packages.  Scripts of ns_eval can make any
 * number of keys.
 */
#define MAX_KEPT 16

static struct {
    Ns_Mutex      lock; /* Guards the rest. */
    Tcl_HashTable facts;
} kept;

static void ForgetLocked(void);

void
NsBareInit(void)
{
    NsMutexSetup(&kept.lock, NS_RANK_TCL_MISC, "nsd:bare", NULL);
    Tcl_InitHashTable(&kept.facts, TCL_STRING_KEYS);
}

Tcl_Obj *
NsBareGet(const char *key)
{
    Tcl_Obj             *factsObj = NULL;
    const Tcl_HashEntry *hPtr;

    Ns_MutexLock(&kept.lock);
    hPtr = Tcl_FindHashEntry(&kept.facts, key);
    if (hPtr != NULL) {
        factsObj = Tcl_NewStringObj(Tcl_GetHashValue(hPtr), -1);
    }
    Ns_MutexUnlock(&kept.lock);
    return factsObj;
}

void
NsBareKeep(const char *key, const char *facts)
{
    Tcl_HashEntry *hPtr;
    int            isNew;

    Ns_MutexLock(&kept.lock);
    if (kept.facts.numEntries >= MAX_KEPT
        && Tcl_FindHashEntry(&kept.facts, key) == NULL) {
        ForgetLocked();
    }
    hPtr = Tcl_CreateHashEntry(&kept.facts, key, &isNew);
    if (!isNew) {
        ns_free(Tcl_GetHashValue(hPtr));
    }
    Tcl_SetHashValue(hPtr, ns_strdup(facts));
    NsAssert(kept.facts.numEntries <= MAX_KEPT);
    Ns_MutexUnlock(&kept.lock);
}

static void
ForgetLocked(void)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    NsAssertLocked(&kept.lock);

    while ((hPtr = Tcl_FirstHashEntry(&kept.facts, &search)) != NULL) {
        ns_free(Tcl_GetHashValue(hPtr));
        Tcl_DeleteHashEntry(hPtr);
    }
}

/* SPDX-License-Identifier: MPL-2.0
 * statetext.c --
 *
 *      The scripts that servers make their interpreters with, in a list.
 */

#include "tcl/statetext.h"

#include "nsstring.h"
#include "base/assert.h"
#include "base/lock.h"

struct NsStateText {
    /* Constant after creation. */
    uint64_t    hash; /* Of the script. */
    size_t      length;
    char       *script;
    const char *circumstances; /* A key of the table; NULL: not to be found. */

    /* Guarded by the lock of the list. */
    struct NsStateText *nextPtr;
    int                 nRefs;
    char               *sum; /* NULL: none is noted. */
    size_t              nSumBytes;
};

static struct {
    Ns_Mutex      lock; /* Guards the rest. */
    NsStateText  *firstPtr;
    Tcl_HashTable circumstances; /* Few, and long; they stay. */
} texts;

static const char *KnownLocked(const char *circumstances);
static void        UnlinkLocked(const NsStateText *textPtr);
static uint64_t    Hash(const char *bytes, size_t length);

void
NsStateTextInit(void)
{
    NsMutexSetup(&texts.lock, NS_RANK_TCL_MISC, "nsd:statetexts", NULL);
    Tcl_InitHashTable(&texts.circumstances, TCL_STRING_KEYS);
}

NsStateText *
NsStateTextFind(const char *script, size_t length, const char *circumstances)
{
    uint64_t     hash = Hash(script, length);
    NsStateText *textPtr;

    Ns_MutexLock(&texts.lock);
    circumstances = KnownLocked(circumstances);
    for (textPtr = texts.firstPtr; textPtr != NULL;
         textPtr = textPtr->nextPtr) {
        if (textPtr->hash == hash && textPtr->length == length
            && textPtr->circumstances == circumstances
            && memcmp(textPtr->script, script, length) == 0) {
            textPtr->nRefs++;
            break;
        }
    }
    Ns_MutexUnlock(&texts.lock);
    return textPtr;
}

NsStateText *
NsStateTextCreate(const char *script, size_t length, const char *circumstances)
{
    NsStateText *textPtr = ns_calloc(1, sizeof(*textPtr));

    textPtr->hash = Hash(script, length);
    textPtr->length = length;
    textPtr->script = ns_malloc(length + 1);
    memcpy(textPtr->script, script, length);
    textPtr->script[length] = '\0';
    textPtr->nRefs = 1;
    Ns_MutexLock(&texts.lock);
    if (circumstances != NULL) {
        textPtr->circumstances = KnownLocked(circumstances);
    }
    textPtr->nextPtr = texts.firstPtr;
    texts.firstPtr = textPtr;
    Ns_MutexUnlock(&texts.lock);
    return textPtr;
}

void
NsStateTextNote(NsStateText *textPtr, const char *sum, size_t nBytes)
{
    NsAssert(nBytes <= textPtr->length);

    Ns_MutexLock(&texts.lock);
    if (textPtr->sum == NULL) {
        textPtr->sum = ns_strdup(sum);
        textPtr->nSumBytes = nBytes;
    }
    Ns_MutexUnlock(&texts.lock);
}

/*
 * The object is made when the lock is released: scripts are long.
 */
Tcl_Obj *
NsStateTextBySum(const char *sum)
{
    NsStateText *textPtr;
    Tcl_Obj     *obj;

    Ns_MutexLock(&texts.lock);
    textPtr = texts.firstPtr;
    while (textPtr != NULL
           && (textPtr->sum == NULL || !STREQ(textPtr->sum, sum))) {
        textPtr = textPtr->nextPtr;
    }
    if (textPtr != NULL) {
        textPtr->nRefs++;
    }
    Ns_MutexUnlock(&texts.lock);
    if (textPtr == NULL) {
        return NULL;
    }
    NsAssert(textPtr->nSumBytes <= INT_MAX);
    obj = Tcl_NewStringObj(textPtr->script, (int) textPtr->nSumBytes);
    NsStateTextUnref(textPtr);
    return obj;
}

NsStateText *
NsStateTextRef(NsStateText *textPtr)
{
    Ns_MutexLock(&texts.lock);
    NsAssert(textPtr->nRefs > 0);
    textPtr->nRefs++;
    Ns_MutexUnlock(&texts.lock);
    return textPtr;
}

void
NsStateTextUnref(NsStateText *textPtr)
{
    bool isLast;

    Ns_MutexLock(&texts.lock);
    NsAssert(textPtr->nRefs > 0);
    isLast = --textPtr->nRefs == 0;
    if (isLast) {
        UnlinkLocked(textPtr);
    }
    Ns_MutexUnlock(&texts.lock);
    if (isLast) {
        ns_free(textPtr->sum);
        ns_free(textPtr->script);
        ns_free(textPtr);
    }
}

Tcl_Obj *
NsStateTextObj(const NsStateText *textPtr)
{
    NsAssert(textPtr->length <= INT_MAX);
    return Tcl_NewStringObj(textPtr->script, (int) textPtr->length);
}

/*
 * The one copy of the circumstances.
 */
static const char *
KnownLocked(const char *circumstances)
{
    Tcl_HashEntry *hPtr;
    int            isNew;

    NsAssertLocked(&texts.lock);

    hPtr = Tcl_CreateHashEntry(&texts.circumstances, circumstances, &isNew);
    return Tcl_GetHashKey(&texts.circumstances, hPtr);
}

static void
UnlinkLocked(const NsStateText *textPtr)
{
    NsStateText **linkPtr = &texts.firstPtr;

    NsAssertLocked(&texts.lock);

    while (*linkPtr != textPtr) {
        NsAssert(*linkPtr != NULL);
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = textPtr->nextPtr;
}

/*
 * Eight bytes at a time: nobody makes scripts collide, and they are long.
 */
static uint64_t
Hash(const char *bytes, size_t length)
{
    uint64_t hash = length, word;

    for (; length >= sizeof(word); length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = (hash ^ word) * 1099511628211u;
        hash ^= hash >> 32;
        bytes += sizeof(word);
    }
    for (; length > 0; length--) {
        hash = (hash ^ UCHAR(*bytes++)) * 1099511628211u;
    }
    return hash;
}

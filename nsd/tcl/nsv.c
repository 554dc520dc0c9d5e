/* SPDX-License-Identifier: MPL-2.0
 * nsv.c --
 *
 *      Arrays of strings that all threads of a server share.
 */

#include "tcl/nsv.h"

#include "ns.h"
#include "base/assert.h"
#include "base/lock.h"
#include "process/parameters.h"
#include "tcl/broadcast.h"
#include "tcl/perserver.h"

typedef struct Bucket {
    Ns_Mutex      lock;   /* Guards the arrays and all in them. */
    Tcl_HashTable arrays; /* By name; they are never removed. */
} Bucket;

struct NsvArray {
    Bucket       *bucketPtr; /* Constant. */
    Tcl_HashTable values;    /* By key. */
    const char   *channel;   /* For ever; NULL: none. */
    uint64_t      nLocks;
};

typedef struct Value {
    size_t length;
    size_t room; /* Bytes allocated for the text. */
    char   text[];
} Value;

typedef struct Buckets {
    int    n;
    Bucket buckets[];
} Buckets;

static const NsParameter rows[] = {
    NS_INT(Buckets, n, "nsvbuckets", "8", 1, NS_PARAM_NO_LIMIT,
           "Locks for shared arrays."),
    NS_PARAM_END};

static NsPerServer allBuckets;

typedef const char *PutProc(NsvArray *arrayPtr, const char *key,
                            const char *value, size_t length);

static NsPerServerProc CreateBuckets;
static Buckets        *BucketsOf(NsServer *serverPtr);
static Bucket         *BucketOf(NsServer *serverPtr, const char *name);
static Value          *Store(Tcl_HashEntry *hPtr, Value *oldPtr, size_t keep,
                             const char *text, size_t length);
static NsBroadcastProc RemoveForOthers;
static int Put(const char *server, const char *array, const char *key,
               const char *value, size_t length, PutProc *put);

void
NsvInit(void)
{
    NsParametersRegister("ns/server/*/tcl", rows, sizeof(Buckets));
    NsBroadcastSetProc(NS_BROADCAST_ARRAY, RemoveForOthers);
}

static void *
CreateBuckets(NsServer *serverPtr)
{
    Ns_DString ds;
    Buckets    read, *bucketsPtr;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, serverPtr->path, "/tcl", NULL);
    NsParametersFill(rows, Ns_DStringValue(&ds), &read);
    Ns_DStringFree(&ds);

    bucketsPtr = ns_calloc(1,
                           sizeof(Buckets) + (size_t) read.n * sizeof(Bucket));
    bucketsPtr->n = read.n;
    for (int i = 0; i < read.n; i++) {
        Bucket *bucketPtr = &bucketsPtr->buckets[i];
        char    prefix[32];

        Tcl_InitHashTable(&bucketPtr->arrays, TCL_STRING_KEYS);
        snprintf(prefix, sizeof(prefix), "nsv:%d", i);
        Ns_MutexInit(&bucketPtr->lock);
        NsMutexSetup(&bucketPtr->lock, NS_RANK_TCL_NSV, prefix,
                     serverPtr->name);
    }
    return bucketsPtr;
}

static Buckets *
BucketsOf(NsServer *serverPtr)
{
    return NsPerServerGet(&allBuckets, serverPtr, CreateBuckets);
}

static Bucket *
BucketOf(NsServer *serverPtr, const char *name)
{
    Buckets *bucketsPtr = BucketsOf(serverPtr);
    unsigned hash = 0;

    while (*name != '\0') {
        hash = hash * 9 + UCHAR(*name++);
    }
    return &bucketsPtr->buckets[hash % (unsigned) bucketsPtr->n];
}

NsvArray *
NsvLock(NsServer *serverPtr, const char *name, bool mustExist)
{
    Bucket        *bucketPtr = BucketOf(serverPtr, name);
    Tcl_HashEntry *hPtr;
    NsvArray      *arrayPtr;
    int            isNew = 0;

    Ns_MutexLock(&bucketPtr->lock);
    if (mustExist) {
        hPtr = Tcl_FindHashEntry(&bucketPtr->arrays, name);
        if (hPtr == NULL) {
            Ns_MutexUnlock(&bucketPtr->lock);
            return NULL;
        }
    } else {
        hPtr = Tcl_CreateHashEntry(&bucketPtr->arrays, name, &isNew);
    }
    if (isNew) {
        arrayPtr = ns_calloc(1, sizeof(*arrayPtr));
        arrayPtr->bucketPtr = bucketPtr;
        Tcl_InitHashTable(&arrayPtr->values, TCL_STRING_KEYS);
        Tcl_SetHashValue(hPtr, arrayPtr);
    } else {
        arrayPtr = Tcl_GetHashValue(hPtr);
    }
    arrayPtr->nLocks++;
    return arrayPtr;
}

void
NsvUnlock(NsvArray *arrayPtr)
{
    Ns_MutexUnlock(&arrayPtr->bucketPtr->lock);
}

const char *
NsvGet(NsvArray *arrayPtr, const char *key, size_t *lengthPtr)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&arrayPtr->values, key);
    Value         *valuePtr;

    NsAssertLocked(&arrayPtr->bucketPtr->lock);
    if (hPtr == NULL) {
        return NULL;
    }
    valuePtr = Tcl_GetHashValue(hPtr);
    *lengthPtr = valuePtr->length;
    return valuePtr->text;
}

const char *
NsvSet(NsvArray *arrayPtr, const char *key, const char *value, size_t length)
{
    int            isNew;
    Tcl_HashEntry *hPtr = Tcl_CreateHashEntry(&arrayPtr->values, key, &isNew);

    NsAssertLocked(&arrayPtr->bucketPtr->lock);
    return Store(hPtr, isNew ? NULL : Tcl_GetHashValue(hPtr), 0, value, length)
        ->text;
}

const char *
NsvAppend(NsvArray *arrayPtr, const char *key, const char *value, size_t length)
{
    int            isNew;
    Tcl_HashEntry *hPtr = Tcl_CreateHashEntry(&arrayPtr->values, key, &isNew);
    Value         *oldPtr = isNew ? NULL : Tcl_GetHashValue(hPtr);

    NsAssertLocked(&arrayPtr->bucketPtr->lock);
    return Store(hPtr, oldPtr, isNew ? 0 : oldPtr->length, value, length)->text;
}

/*
 * Give the entry a value: the first `keep` bytes of the old one, then the text.
 * A value that grows by appending gets room in advance.
 */
static Value *
Store(Tcl_HashEntry *hPtr, Value *oldPtr, size_t keep, const char *text,
      size_t length)
{
    Value *valuePtr = oldPtr;
    size_t total = keep + length, room = keep > 0 ? total + keep : total;

    if (oldPtr == NULL || oldPtr->room < total
        || (keep == 0 && oldPtr->room > 4 * total + 64)) {
        if (keep == 0) {
            ns_free(oldPtr);
            oldPtr = NULL;
        }
        valuePtr = ns_realloc(oldPtr, sizeof(Value) + room + 1);
        valuePtr->room = room;
        Tcl_SetHashValue(hPtr, valuePtr);
    }
    memcpy(valuePtr->text + keep, text, length);
    valuePtr->text[total] = '\0';
    valuePtr->length = total;
    return valuePtr;
}

Ns_ReturnCode
NsvIncr(NsvArray *arrayPtr, const char *key, Tcl_WideInt count,
        Tcl_WideInt *valuePtr)
{
    char        text[32];
    size_t      length;
    const char *old = NsvGet(arrayPtr, key, &length);
    Tcl_WideInt value = 0;

    if (old != NULL && Ns_StrToWideInt(old, &value) != NS_OK) {
        return NS_ERROR;
    }
    value = (Tcl_WideInt) ((Tcl_WideUInt) value + (Tcl_WideUInt) count);
    length = (size_t) snprintf(text, sizeof(text), "%" PRId64, (int64_t) value);
    NsvSet(arrayPtr, key, text, length);
    *valuePtr = value;
    return NS_OK;
}

bool
NsvUnset(NsvArray *arrayPtr, const char *key)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&arrayPtr->values, key);

    NsAssertLocked(&arrayPtr->bucketPtr->lock);
    if (hPtr == NULL) {
        return false;
    }
    ns_free(Tcl_GetHashValue(hPtr));
    Tcl_DeleteHashEntry(hPtr);
    return true;
}

void
NsvClear(NsvArray *arrayPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    NsAssertLocked(&arrayPtr->bucketPtr->lock);
    for (hPtr = Tcl_FirstHashEntry(&arrayPtr->values, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        ns_free(Tcl_GetHashValue(hPtr));
    }
    Tcl_DeleteHashTable(&arrayPtr->values);
    Tcl_InitHashTable(&arrayPtr->values, TCL_STRING_KEYS);
}

const char *
NsvChannel(const NsvArray *arrayPtr)
{
    NsAssertLocked(&arrayPtr->bucketPtr->lock);
    return arrayPtr->channel;
}

void
NsvSetChannel(NsvArray *arrayPtr, const char *channel)
{
    NsAssertLocked(&arrayPtr->bucketPtr->lock);
    arrayPtr->channel = channel;
}

static void
RemoveForOthers(NsServer *serverPtr, const char *name,
                const NsBroadcastKeys *keysPtr)
{
    NsvArray *arrayPtr = NsvLock(serverPtr, name, true);

    if (arrayPtr == NULL) {
        return;
    }
    if (keysPtr->n == 0) {
        NsvClear(arrayPtr);
    }
    for (TCL_SIZE_T i = 0; i < keysPtr->n; i++) {
        (void) NsvUnset(arrayPtr, keysPtr->keys[i]);
    }
    NsvUnlock(arrayPtr);
}

int
NsvSize(const NsvArray *arrayPtr)
{
    return (int) arrayPtr->values.numEntries;
}

void
NsvList(NsvArray *arrayPtr, const char *pattern, bool withValues,
        Ns_DString *dsPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    for (hPtr = Tcl_FirstHashEntry(&arrayPtr->values, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        const char *key = Tcl_GetHashKey(&arrayPtr->values, hPtr);

        if (pattern == NULL || Tcl_StringMatch(key, pattern)) {
            Ns_DStringAppendElement(dsPtr, key);
            if (withValues) {
                Value *valuePtr = Tcl_GetHashValue(hPtr);

                Ns_DStringAppendElement(dsPtr, valuePtr->text);
            }
        }
    }
}

void
NsvNames(NsServer *serverPtr, const char *pattern, Ns_DString *dsPtr)
{
    Buckets *bucketsPtr = BucketsOf(serverPtr);

    for (int i = 0; i < bucketsPtr->n; i++) {
        Bucket        *bucketPtr = &bucketsPtr->buckets[i];
        Tcl_HashSearch search;
        Tcl_HashEntry *hPtr;

        Ns_MutexLock(&bucketPtr->lock);
        for (hPtr = Tcl_FirstHashEntry(&bucketPtr->arrays, &search);
             hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
            const char *name = Tcl_GetHashKey(&bucketPtr->arrays, hPtr);

            if (pattern == NULL || Tcl_StringMatch(name, pattern)) {
                Ns_DStringAppendElement(dsPtr, name);
            }
        }
        Ns_MutexUnlock(&bucketPtr->lock);
    }
}

int
NsvBuckets(NsServer *serverPtr)
{
    return BucketsOf(serverPtr)->n;
}

void
NsvListBucket(NsServer *serverPtr, int i, Ns_DString *dsPtr)
{
    Bucket        *bucketPtr = &BucketsOf(serverPtr)->buckets[i];
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    Tcl_DStringStartSublist(dsPtr);
    Ns_MutexLock(&bucketPtr->lock);
    for (hPtr = Tcl_FirstHashEntry(&bucketPtr->arrays, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        NsvArray *arrayPtr = Tcl_GetHashValue(hPtr);

        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringAppendElement(dsPtr,
                                Tcl_GetHashKey(&bucketPtr->arrays, hPtr));
        Ns_DStringPrintf(dsPtr, " %" PRIu64, arrayPtr->nLocks);
        Tcl_DStringEndSublist(dsPtr);
    }
    Ns_MutexUnlock(&bucketPtr->lock);
    Tcl_DStringEndSublist(dsPtr);
}

/*
 * The C interface of modules: nstcl.h.
 */

int
Ns_VarGet(const char *server, const char *array, const char *key,
          Ns_DString *dsPtr)
{
    NsServer   *serverPtr = NsServerFind(server);
    NsvArray   *arrayPtr;
    const char *value = NULL;
    size_t      length;

    if (serverPtr != NULL
        && (arrayPtr = NsvLock(serverPtr, array, true)) != NULL) {
        value = NsvGet(arrayPtr, key, &length);
        if (value != NULL) {
            Ns_DStringNAppend(dsPtr, value, (int) length);
        }
        NsvUnlock(arrayPtr);
    }
    return value != NULL ? NS_OK : NS_ERROR;
}

int
Ns_VarExists(const char *server, const char *array, const char *key)
{
    NsServer *serverPtr = NsServerFind(server);
    NsvArray *arrayPtr;
    bool      exists = false;
    size_t    length;

    if (serverPtr != NULL
        && (arrayPtr = NsvLock(serverPtr, array, true)) != NULL) {
        exists = NsvGet(arrayPtr, key, &length) != NULL;
        NsvUnlock(arrayPtr);
    }
    return exists ? true : false;
}

int
Ns_VarSet(const char *server, const char *array, const char *key,
          const char *value, size_t length)
{
    return Put(server, array, key, value, length, NsvSet);
}

static int
Put(const char *server, const char *array, const char *key, const char *value,
    size_t length, PutProc *put)
{
    NsServer *serverPtr = NsServerFind(server);
    NsvArray *arrayPtr;

    if (serverPtr == NULL) {
        return NS_ERROR;
    }
    arrayPtr = NsvLock(serverPtr, array, false);
    (void) put(arrayPtr, key, value,
               length != (size_t) -1 ? length : strlen(value));
    NsvUnlock(arrayPtr);
    return NS_OK;
}

int
Ns_VarUnset(const char *server, const char *array, const char *key)
{
    NsServer       *serverPtr = NsServerFind(server);
    NsBroadcastKeys keys = {.n = key != NULL, .keys = &key};
    NsvArray       *arrayPtr;
    const char     *channel;
    bool            wasSet = false;

    if (serverPtr != NULL
        && (arrayPtr = NsvLock(serverPtr, array, true)) != NULL) {
        if (key == NULL) {
            NsvClear(arrayPtr);
            wasSet = true;
        } else {
            wasSet = NsvUnset(arrayPtr, key);
        }
        channel = NsvChannel(arrayPtr);
        NsvUnlock(arrayPtr);
        NsBroadcastTell(serverPtr, channel, NS_BROADCAST_ARRAY, array, &keys);
    }
    return wasSet ? NS_OK : NS_ERROR;
}

Tcl_WideInt
Ns_VarIncr(const char *server, const char *array, const char *key, int incr)
{
    NsServer   *serverPtr = NsServerFind(server);
    NsvArray   *arrayPtr;
    Tcl_WideInt value = -1;

    if (serverPtr != NULL) {
        arrayPtr = NsvLock(serverPtr, array, false);
        (void) NsvIncr(arrayPtr, key, incr, &value);
        NsvUnlock(arrayPtr);
    }
    return value;
}

int
Ns_VarAppend(const char *server, const char *array, const char *key,
             const char *value, size_t length)
{
    return Put(server, array, key, value, length, NsvAppend);
}

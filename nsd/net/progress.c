/* SPDX-License-Identifier: MPL-2.0
 * progress.c --
 *
 *      A table of uploads in progress; see progress.h.
 */

#include "net/progress.h"
#include "http/urlpath.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/arena.h"
#include "base/lazy.h"
#include "base/lock.h"
#include "http/url.h"

#include <stdatomic.h>

struct NsProgress {
    char           *key;      /* Constant. */
    int64_t         total;    /* Constant. */
    _Atomic int64_t received; /* Relaxed: a figure. */
};

static int64_t minimumBytes;

static Ns_Mutex      lock; /* Guards the rest. */
static bool          isInitialized;
static Tcl_HashTable uploads; /* Key -> NsProgress. */

static void AppendKey(Ns_DString *dsPtr, const NsHttpHead *headPtr);
static const NsHttpField *FindProgressField(const NsHttpHead *headPtr);
static bool AppendProgressId(Ns_DString *dsPtr, const char *query);

void
NsProgressSetMinimum(int64_t bytes)
{
    minimumBytes = bytes;
    if (!isInitialized) {
        isInitialized = true;
        NsMutexSetup(&lock, NS_RANK_PROGRESS, "ns:upload", NULL);
        Tcl_InitHashTable(&uploads, TCL_STRING_KEYS);
    }
}

NsProgress *
NsProgressBegin(const NsHttpHead *headPtr)
{
    NsProgress    *progressPtr;
    Tcl_HashEntry *hPtr;
    Ns_DString     key;
    int            isNew;

    if (minimumBytes == 0 || headPtr->contentLength <= minimumBytes) {
        return NULL;
    }
    Ns_DStringInit(&key);
    AppendKey(&key, headPtr);
    progressPtr = ns_calloc(1u, sizeof(NsProgress));
    progressPtr->total = headPtr->contentLength;
    Ns_MutexLock(&lock);
    hPtr = Tcl_CreateHashEntry(&uploads, Ns_DStringValue(&key), &isNew);
    if (isNew) {
        progressPtr->key = Tcl_GetHashKey(&uploads, hPtr);
        Tcl_SetHashValue(hPtr, progressPtr);
    }
    Ns_MutexUnlock(&lock);
    if (!isNew) {
        Ns_Log(Warning, "progress: an upload to %s is tracked already",
               Ns_DStringValue(&key));
        ns_free(progressPtr);
        progressPtr = NULL;
    }
    Ns_DStringFree(&key);
    return progressPtr;
}

void
NsProgressUpdate(NsProgress *progressPtr, int64_t received)
{
    atomic_store_explicit(&progressPtr->received, received,
                          memory_order_relaxed);
}

void
NsProgressEnd(NsProgress **progressPtrPtr)
{
    Ns_MutexLock(&lock);
    Tcl_DeleteHashEntry(Tcl_FindHashEntry(&uploads, (*progressPtrPtr)->key));
    Ns_MutexUnlock(&lock);
    ns_free(*progressPtrPtr);
    *progressPtrPtr = NULL;
}

Ns_ReturnCode
NsUploadStats(const char *url, int64_t *receivedPtr, int64_t *totalPtr)
{
    Ns_ReturnCode  result = NS_ERROR;
    Tcl_HashEntry *hPtr;

    if (minimumBytes == 0) {
        return NS_ERROR;
    }
    Ns_MutexLock(&lock);
    hPtr = Tcl_FindHashEntry(&uploads, url);
    if (hPtr != NULL) {
        const NsProgress *progressPtr = Tcl_GetHashValue(hPtr);

        *receivedPtr = atomic_load_explicit(&progressPtr->received,
                                            memory_order_relaxed);
        *totalPtr = progressPtr->total;
        result = NS_OK;
    }
    Ns_MutexUnlock(&lock);
    return result;
}

/*
 * The value of the query variable X-Progress-ID, else of the header field of
 * that name, else the decoded path and the query as sent.
 */
static void
AppendKey(Ns_DString *dsPtr, const NsHttpHead *headPtr)
{
    NsArena   arena;
    NsUrlPath path;

    NsArenaInit(&arena, 2048u);
    NsUrlDecodePath(&arena, headPtr->target, headPtr->targetLength, &path);
    if (path.query == NULL || !AppendProgressId(dsPtr, path.query)) {
        const NsHttpField *fieldPtr = FindProgressField(headPtr);

        Ns_DStringAppend(dsPtr, fieldPtr != NULL ? fieldPtr->value : path.path);
        if (fieldPtr == NULL && path.query != NULL) {
            Ns_DStringVarAppend(dsPtr, "?", path.query, NULL);
        }
    }
    NsArenaFree(&arena);
}

static const NsHttpField *
FindProgressField(const NsHttpHead *headPtr)
{
    for (int i = 0; i < headPtr->nFields; i++) {
        if (strcasecmp(headPtr->fields[i].name, "X-Progress-ID") == 0
            && headPtr->fields[i].valueLength > 0u) {
            return &headPtr->fields[i];
        }
    }
    return NULL;
}

static bool
AppendProgressId(Ns_DString *dsPtr, const char *query)
{
    static const char name[] = "X-Progress-ID=";
    const size_t      length = sizeof(name) - 1u;

    while (query != NULL && *query != '\0') {
        size_t n = strcspn(query, "&");

        if (n > length && strncmp(query, name, length) == 0) {
            NsUrlDecode(dsPtr, query + length, n - length, NULL, NS_URL_QUERY);
            return true;
        }
        query += n;
        query += *query == '&';
    }
    return false;
}

/* SPDX-License-Identifier: MPL-2.0
 * page.c --
 *
 *      Parsed pages.
 *
 *      A server keeps one parsed form per file and parse flags; it is replaced
 *      when the file changes, and freed when no interpreter holds it.  The
 *      kernel reports changes of the file; where it cannot, the file is looked
 *      at before each run, unless another thread has done so since the request
 *      came.  As long as a change of it might not show, it is read,
 *      and the page kept if the text is the same.  Each interpreter keeps the
 *      pages that it used last, with its own script objects, since compiled
 *      scripts cannot leave their thread.
 */

#include "adp/page.h"

#include <stdatomic.h>

#include "nsfile.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "adp/parse.h"
#include "adp/route.h"
#include "adp/tag.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/filestate.h"
#include "request/filecache.h"
#include "tcl/result.h"

#define READ_ATTEMPTS 10
#define KEY_PREFIX    2 /* Parse flags and a colon before the file. */
#define KEY_PROC      8 /* Of these flags, NS_ADP_PROC. */

struct NsAdpPage {
    char       *key; /* Constant after creation, up to code. */
    NsFileState state;
    NsAdpCode   code;

    _Atomic uint64_t nRuns;     /* Counted by all threads, relaxed: a figure. */
    _Atomic NsStamp  lookStamp; /* The file was this one at a later time.  Set
                                 * by all threads, relaxed: nothing else of the
                                 * page changes with it. */
    atomic_bool isReplaced;     /* Left the table; set under the lock. */
    atomic_bool isSettled;      /* The state reports later changes; the same,
                                 * once, with release. */
    NsFileWatch *watchPtr;      /* Constant when it is settled; NULL: to be
                                 * looked at. */

    int nRefs;      /* Guarded by the server's lock, like the rest:
                     * interpreters that hold it, and the table. */
    char   *text;   /* The file's, until the page is settled. */
    char   *output; /* Kept output, or NULL. */
    Ns_Time outputExpires;
    bool    isMaking; /* A thread makes the output. */
};

static void       MakeKey(Ns_DString *dsPtr, const char *file, int flags);
static NsAdpHeld *Find(NsAdpInterp *adpPtr, const char *key);
static NsAdpHeld *HoldNew(NsAdpInterp *adpPtr, const char *file, int flags,
                          const char *key);
static bool       IsCurrent(NsAdpPage *pagePtr, NsLook look);
static void       Use(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);
static NsAdpPage *GetPage(NsAdpInterp *adpPtr, const char *file, int flags,
                          const char *key, const struct stat *statPtr);
static NsAdpPage *RefSettledLocked(NsAdpServer *serverPtr, const char *key,
                                   const struct stat *statPtr);
static NsAdpPage *RefSameLocked(NsAdpServer *serverPtr, const char *key,
                                const struct stat *statPtr, const char *text,
                                bool isSettled, NsFileWatch *watchPtr);
static NsAdpPage *FindLocked(NsAdpServer *serverPtr, const char *key);
static void       ReplaceLocked(NsAdpServer *serverPtr, NsAdpPage *pagePtr);
static NsAdpPage *CreatePage(NsAdpServer *serverPtr, const char *file,
                             int flags, const char *key,
                             const struct stat *statPtr, char *text,
                             bool isSettled);
static char      *ReadStable(Tcl_Interp *interp, const char *file,
                             struct stat *statPtr);
static bool       ReadWhole(int fd, char *bytes, const struct stat *statPtr);
static void       UnrefLocked(NsAdpServer *serverPtr, NsAdpPage *pagePtr);
static NsAdpHeld *FindHeld(NsAdpInterp *adpPtr, NsAdpPage *pagePtr);
static void       Drop(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);
static void       Unlink(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);
static void       LinkNewest(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);
static void       LimitHeld(NsAdpInterp *adpPtr);

NsAdpHeld *
NsAdpHold(NsAdpInterp *adpPtr, const char *file, int flags, NsLook look)
{
    Ns_DString key;
    NsAdpHeld *heldPtr;

    MakeKey(&key, file, flags);
    heldPtr = Find(adpPtr, Ns_DStringValue(&key));
    if (heldPtr == NULL || !NsAdpHoldAgain(adpPtr, heldPtr, look)) {
        heldPtr = HoldNew(adpPtr, file, flags, Ns_DStringValue(&key));
    }
    Ns_DStringFree(&key);
    return heldPtr;
}

static void
MakeKey(Ns_DString *dsPtr, const char *file, int flags)
{
    char prefix[KEY_PREFIX] = {'0', ':'};

    prefix[0] = (char) (prefix[0] + ((flags & NS_ADP_SAFE) ? 1 : 0)
                        + ((flags & NS_ADP_SINGLE) ? 2 : 0)
                        + ((flags & NS_ADP_TCL) ? 4 : 0)
                        + ((flags & NS_ADP_PROC) ? KEY_PROC : 0));
    Ns_DStringInit(dsPtr);
    Ns_DStringNAppend(dsPtr, prefix, KEY_PREFIX);
    Ns_DStringAppend(dsPtr, file);
}

static NsAdpHeld *
Find(NsAdpInterp *adpPtr, const char *key)
{
    Tcl_HashEntry *entryPtr = Tcl_FindHashEntry(&adpPtr->pages, key);

    return entryPtr == NULL ? NULL : Tcl_GetHashValue(entryPtr);
}

static NsAdpHeld *
HoldNew(NsAdpInterp *adpPtr, const char *file, int flags, const char *key)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    NsAdpPage  *pagePtr;
    NsAdpHeld  *heldPtr;
    struct stat st;

    if (stat(file, &st) != 0) {
        Ns_TclPrintfResult(interp, "could not stat \"%s\": %s", file,
                           Tcl_PosixError(interp));
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) {
        Ns_TclPrintfResult(interp, "not an ordinary file: %s", file);
        Tcl_SetErrno(ENOENT);
        return NULL;
    }
    pagePtr = GetPage(adpPtr, file, flags, key, &st);
    if (pagePtr == NULL) {
        return NULL;
    }
    heldPtr = FindHeld(adpPtr, pagePtr);
    Use(adpPtr, heldPtr);
    return heldPtr;
}

/*
 * The usual case, without a lock.
 */
bool
NsAdpHoldAgain(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr, NsLook look)
{
    if (!IsCurrent(heldPtr->pagePtr, look)) {
        return false;
    }
    Use(adpPtr, heldPtr);
    return true;
}

/*
 * Whether this is still the server's page, and the file's.
 */
static bool
IsCurrent(NsAdpPage *pagePtr, NsLook look)
{
    NsStamp lastStamp;

    if (atomic_load_explicit(&pagePtr->isReplaced, memory_order_relaxed)
        || !atomic_load_explicit(&pagePtr->isSettled, memory_order_acquire)) {
        return false;
    }
    if (pagePtr->watchPtr != NULL && NsFileWatchKnows(look)) {
        return NsFileWatchIsSame(pagePtr->watchPtr);
    }
    lastStamp = atomic_load_explicit(&pagePtr->lookStamp, memory_order_relaxed);
    if (look.stamp != 0 && look.stamp <= lastStamp) {
        return true;
    }
    if (!NsFileStateIsCurrent(&pagePtr->state, pagePtr->key + KEY_PREFIX)) {
        return false;
    }
    if (look.stamp != 0) {
        atomic_store_explicit(&pagePtr->lookStamp, look.stamp,
                              memory_order_relaxed);
    }
    return true;
}

static void
Use(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr)
{
    if (adpPtr->newestPtr != heldPtr) {
        Unlink(adpPtr, heldPtr);
        LinkNewest(adpPtr, heldPtr);
    }
    heldPtr->nUses++;
    atomic_fetch_add_explicit(&heldPtr->pagePtr->nRuns, 1,
                              memory_order_relaxed);
}

void
NsAdpRelease(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr)
{
    if (--heldPtr->nUses == 0 && heldPtr->isStale) {
        Drop(adpPtr, heldPtr);
    }
}

/*
 * As ns_sourceproc makes them: the second word of the one script.  `info frame`
 * has another object of the same text.
 */
Tcl_Obj *
NsAdpFileOfLambda(NsAdpInterp *adpPtr, Tcl_Obj *lambdaObj)
{
    for (const NsAdpHeld *heldPtr = adpPtr->newestPtr; heldPtr != NULL;
         heldPtr = heldPtr->olderPtr) {
        Tcl_Obj *wordObj = NULL;

        /* Scripts of other pages are no lists, and must not become one. */
        if (heldPtr->nUses > 0 && heldPtr->scripts[0] != NULL
            && ((heldPtr->pagePtr->key[0] - '0') & KEY_PROC) != 0
            && Tcl_ListObjIndex(NULL, heldPtr->scripts[0], 1, &wordObj)
                == TCL_OK
            && STREQ(Tcl_GetString(wordObj), Tcl_GetString(lambdaObj))) {
            return heldPtr->fileObj;
        }
    }
    return NULL;
}

const NsAdpCode *
NsAdpPageCode(const NsAdpPage *pagePtr)
{
    return &pagePtr->code;
}

off_t
NsAdpPageBytes(const NsAdpPage *pagePtr)
{
    return pagePtr->state.bytes;
}

time_t
NsAdpPageTime(const NsAdpPage *pagePtr)
{
    return pagePtr->state.modified.tv_sec;
}

/*
 * The current page of a file with one reference for the caller.
 */
static NsAdpPage *
GetPage(NsAdpInterp *adpPtr, const char *file, int flags, const char *key,
        const struct stat *statPtr)
{
    NsAdpServer *serverPtr = adpPtr->adpServerPtr;
    NsAdpPage   *pagePtr;
    NsFileWatch *watchPtr = NULL;
    NsFileState  state;
    struct stat  st;
    Ns_Time      now;
    char        *text;
    bool         isSettled;

    Ns_MutexLock(&serverPtr->lock);
    pagePtr = RefSettledLocked(serverPtr, key, statPtr);
    Ns_MutexUnlock(&serverPtr->lock);
    if (pagePtr != NULL) {
        return pagePtr;
    }

    /*
     * Two threads may read the same page at the same time; the later one wins.
     */
    Ns_GetTime(&now);
    text = ReadStable(adpPtr->interpPtr->interp, file, &st);
    if (text == NULL) {
        return NULL;
    }
    isSettled = NsFileIsSettled(&st, &now);
    if (isSettled) {
        NsFileStateSet(&state, &st);
        watchPtr = NsFileWatchOrTell(file, &state);
    }
    Ns_MutexLock(&serverPtr->lock);
    pagePtr = RefSameLocked(serverPtr, key, &st, text, isSettled, watchPtr);
    Ns_MutexUnlock(&serverPtr->lock);
    if (pagePtr != NULL) {
        ns_free(text);
        return pagePtr;
    }
    pagePtr = CreatePage(serverPtr, file, flags, key, &st, text, isSettled);
    pagePtr->watchPtr = watchPtr;
    Ns_MutexLock(&serverPtr->lock);
    ReplaceLocked(serverPtr, pagePtr);
    Ns_MutexUnlock(&serverPtr->lock);
    return pagePtr;
}

/*
 * The page in the table if it is settled and the one of the file, and its
 * watch, if it has one, is not over, with a reference.
 */
static NsAdpPage *
RefSettledLocked(NsAdpServer *serverPtr, const char *key,
                 const struct stat *statPtr)
{
    NsAdpPage *pagePtr = FindLocked(serverPtr, key);

    NsAssertLocked(&serverPtr->lock);

    if (pagePtr == NULL || pagePtr->text != NULL
        || !NsFileStateIs(&pagePtr->state, statPtr)
        || NsFileWatchIsOver(pagePtr->watchPtr)) {
        return NULL;
    }
    pagePtr->nRefs++;
    return pagePtr;
}

/*
 * The same for a page that is not settled, but of the same text; isSettled
 * says whether it is from now on, with that watch.
 */
static NsAdpPage *
RefSameLocked(NsAdpServer *serverPtr, const char *key,
              const struct stat *statPtr, const char *text, bool isSettled,
              NsFileWatch *watchPtr)
{
    NsAdpPage *pagePtr = FindLocked(serverPtr, key);

    NsAssertLocked(&serverPtr->lock);

    if (pagePtr == NULL || pagePtr->text == NULL
        || !NsFileStateIs(&pagePtr->state, statPtr)
        || memcmp(pagePtr->text, text, (size_t) statPtr->st_size) != 0) {
        return NULL;
    }
    if (isSettled) {
        ns_free(pagePtr->text);
        pagePtr->text = NULL;
        pagePtr->watchPtr = watchPtr;
        atomic_store_explicit(&pagePtr->isSettled, true, memory_order_release);
    }
    pagePtr->nRefs++;
    return pagePtr;
}

static NsAdpPage *
FindLocked(NsAdpServer *serverPtr, const char *key)
{
    Tcl_HashEntry *entryPtr;

    NsAssertLocked(&serverPtr->lock);
    entryPtr = Tcl_FindHashEntry(&serverPtr->pages, key);
    return entryPtr == NULL ? NULL : Tcl_GetHashValue(entryPtr);
}

/*
 * Put a new page into the table, with references for that and for the caller.
 */
static void
ReplaceLocked(NsAdpServer *serverPtr, NsAdpPage *pagePtr)
{
    Tcl_HashEntry *entryPtr;
    int            isNew;

    NsAssertLocked(&serverPtr->lock);
    entryPtr = Tcl_CreateHashEntry(&serverPtr->pages, pagePtr->key, &isNew);
    if (!isNew) {
        NsAdpPage *oldPtr = Tcl_GetHashValue(entryPtr);

        atomic_store_explicit(&oldPtr->isReplaced, true, memory_order_relaxed);
        UnrefLocked(serverPtr, oldPtr);
    }
    Tcl_SetHashValue(entryPtr, pagePtr);
    pagePtr->nRefs = 2;
}

/*
 * Parse; the text is the page's, or freed.
 */
static NsAdpPage *
CreatePage(NsAdpServer *serverPtr, const char *file, int flags, const char *key,
           const struct stat *statPtr, char *text, bool isSettled)
{
    Tcl_Encoding encoding = Ns_GetFileEncoding(file);
    NsAdpPage   *pagePtr = ns_calloc(1, sizeof(*pagePtr));
    Ns_DString   decoded;

    pagePtr->key = ns_strdup(key);
    NsFileStateSet(&pagePtr->state, statPtr);
    NsAdpCodeInit(&pagePtr->code);
    if (encoding == NULL) {
        NsAdpParseFor(serverPtr, &pagePtr->code, text, flags);
    } else {
        Tcl_ExternalToUtfDString(encoding, text, (int) statPtr->st_size,
                                 &decoded);
        NsAdpParseFor(serverPtr, &pagePtr->code, Ns_DStringValue(&decoded),
                      flags);
        Ns_DStringFree(&decoded);
    }
    atomic_init(&pagePtr->isSettled, isSettled);
    if (isSettled) {
        ns_free(text);
    } else {
        pagePtr->text = text;
    }
    return pagePtr;
}

/*
 * The content with a null byte behind it, and the state of the file at that
 * time; to be freed.  A file that changes meanwhile is read again.
 */
static char *
ReadStable(Tcl_Interp *interp, const char *file, struct stat *statPtr)
{
    char *bytes = NULL;
    int   attempt;

    for (attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        int  fd = open(file, O_RDONLY | O_CLOEXEC);
        bool isWhole;

        if (fd < 0 || fstat(fd, statPtr) != 0) {
            int reason = errno;

            Ns_TclPrintfResult(interp, "could not open \"%s\": %s", file,
                               Tcl_PosixError(interp));
            if (fd >= 0) {
                close(fd);
            }
            ns_free(bytes);
            Tcl_SetErrno(reason);
            return NULL;
        }
        bytes = ns_realloc(bytes, (size_t) statPtr->st_size + 1);
        isWhole = ReadWhole(fd, bytes, statPtr);
        close(fd);
        if (isWhole) {
            bytes[statPtr->st_size] = '\0';
            return bytes;
        }
    }
    Ns_TclPrintfResult(interp, "inconsistant file: %s", file);
    ns_free(bytes);
    return NULL;
}

/*
 * False when the file is not, or no longer, what statPtr says.
 */
static bool
ReadWhole(int fd, char *bytes, const struct stat *statPtr)
{
    size_t      want = (size_t) statPtr->st_size, n = 0;
    NsFileState before;
    struct stat after;

    while (n < want) {
        ssize_t got = read(fd, bytes + n, want - n);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        n += (size_t) got;
    }
    NsFileStateSet(&before, statPtr);
    return fstat(fd, &after) == 0 && NsFileStateIs(&before, &after);
}

static void
UnrefLocked(NsAdpServer *serverPtr, NsAdpPage *pagePtr)
{
    NsAssertLocked(&serverPtr->lock);
    NsAssert(pagePtr->nRefs > 0);
    if (--pagePtr->nRefs == 0) {
        NsFileWatchFree(pagePtr->watchPtr);
        NsAdpCodeFree(&pagePtr->code);
        ns_free(pagePtr->text);
        ns_free(pagePtr->output);
        ns_free(pagePtr->key);
        ns_free(pagePtr);
    }
}

/*
 * The interpreter's hold on a page; takes over the caller's reference.
 */
static NsAdpHeld *
FindHeld(NsAdpInterp *adpPtr, NsAdpPage *pagePtr)
{
    Tcl_HashEntry *entryPtr;
    NsAdpHeld     *heldPtr;
    int            isNew;

    entryPtr = Tcl_CreateHashEntry(&adpPtr->pages, pagePtr->key, &isNew);
    if (!isNew) {
        heldPtr = Tcl_GetHashValue(entryPtr);
        if (heldPtr->pagePtr == pagePtr) {
            Ns_MutexLock(&adpPtr->adpServerPtr->lock);
            UnrefLocked(adpPtr->adpServerPtr, pagePtr);
            Ns_MutexUnlock(&adpPtr->adpServerPtr->lock);
            return heldPtr;
        }
        /* The file has changed; frames may still run the old page. */
        heldPtr->isStale = true;
        if (heldPtr->nUses == 0) {
            Drop(adpPtr, heldPtr);
            entryPtr = Tcl_CreateHashEntry(&adpPtr->pages, pagePtr->key,
                                           &isNew);
        }
    }
    heldPtr = ns_calloc(1, sizeof(*heldPtr));
    heldPtr->pagePtr = pagePtr;
    heldPtr->fileObj = Tcl_NewStringObj(pagePtr->key + KEY_PREFIX, -1);
    Tcl_IncrRefCount(heldPtr->fileObj);
    heldPtr->scripts = ns_calloc((size_t) pagePtr->code.nBlocks + 1,
                                 sizeof(Tcl_Obj *));
    Tcl_SetHashValue(entryPtr, heldPtr);
    LinkNewest(adpPtr, heldPtr);
    heldPtr->nUses++;
    LimitHeld(adpPtr);
    heldPtr->nUses--;
    return heldPtr;
}

/*
 * Let go of the pages that were not used for longest.
 */
static void
LimitHeld(NsAdpInterp *adpPtr)
{
    NsAdpHeld *heldPtr = adpPtr->oldestPtr;

    while (heldPtr != NULL
           && adpPtr->heldBytes > adpPtr->adpServerPtr->cacheBytes) {
        NsAdpHeld *newerPtr = heldPtr->newerPtr;

        if (heldPtr->nUses == 0) {
            Drop(adpPtr, heldPtr);
        }
        heldPtr = newerPtr;
    }
}

static void
Drop(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr)
{
    NsAdpPage     *pagePtr = heldPtr->pagePtr;
    Tcl_HashEntry *entryPtr = Tcl_FindHashEntry(&adpPtr->pages, pagePtr->key);

    if (entryPtr != NULL && Tcl_GetHashValue(entryPtr) == heldPtr) {
        Tcl_DeleteHashEntry(entryPtr);
    }
    NsAdpRouteForget(adpPtr, heldPtr);
    Unlink(adpPtr, heldPtr);
    for (int i = 0; i < pagePtr->code.nBlocks; i++) {
        if (heldPtr->scripts[i] != NULL) {
            Tcl_DecrRefCount(heldPtr->scripts[i]);
        }
    }
    Tcl_DecrRefCount(heldPtr->fileObj);
    ns_free(heldPtr->scripts);
    ns_free(heldPtr);
    Ns_MutexLock(&adpPtr->adpServerPtr->lock);
    UnrefLocked(adpPtr->adpServerPtr, pagePtr);
    Ns_MutexUnlock(&adpPtr->adpServerPtr->lock);
}

void
NsAdpPagesFree(NsAdpInterp *adpPtr)
{
    while (adpPtr->newestPtr != NULL) {
        Drop(adpPtr, adpPtr->newestPtr);
    }
}

static void
Unlink(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr)
{
    if (heldPtr->newerPtr != NULL) {
        heldPtr->newerPtr->olderPtr = heldPtr->olderPtr;
    } else {
        adpPtr->newestPtr = heldPtr->olderPtr;
    }
    if (heldPtr->olderPtr != NULL) {
        heldPtr->olderPtr->newerPtr = heldPtr->newerPtr;
    } else {
        adpPtr->oldestPtr = heldPtr->newerPtr;
    }
    adpPtr->heldBytes -= (size_t) heldPtr->pagePtr->state.bytes;
}

static void
LinkNewest(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr)
{
    heldPtr->newerPtr = NULL;
    heldPtr->olderPtr = adpPtr->newestPtr;
    if (adpPtr->newestPtr != NULL) {
        adpPtr->newestPtr->newerPtr = heldPtr;
    } else {
        adpPtr->oldestPtr = heldPtr;
    }
    adpPtr->newestPtr = heldPtr;
    adpPtr->heldBytes += (size_t) heldPtr->pagePtr->state.bytes;
}

/*
 * One thread makes the output; meanwhile others get the expired one, or wait
 * while there is none.
 */
Ns_ReturnCode
NsAdpGetOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr, bool mayWait,
               Ns_DString *dsPtr)
{
    Ns_ReturnCode status = NS_ERROR;
    Ns_Time       now;

    Ns_GetTime(&now);
    Ns_MutexLock(&adpServerPtr->lock);
    while (pagePtr->output == NULL && pagePtr->isMaking && mayWait) {
        Ns_CondWait(&adpServerPtr->cond, &adpServerPtr->lock);
    }
    if (pagePtr->output != NULL
        && (pagePtr->isMaking
            || Ns_DiffTime(&pagePtr->outputExpires, &now, NULL) > 0)) {
        Ns_DStringAppend(dsPtr, pagePtr->output);
        status = NS_OK;
    } else if (pagePtr->isMaking) {
        status = NS_TIMEOUT;
    } else {
        pagePtr->isMaking = true;
    }
    Ns_MutexUnlock(&adpServerPtr->lock);
    return status;
}

void
NsAdpPutOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr, const char *text,
               const Ns_Time *ttlPtr)
{
    Ns_MutexLock(&adpServerPtr->lock);
    ns_free(pagePtr->output);
    pagePtr->output = (text != NULL) ? ns_strdup(text) : NULL;
    Ns_GetTime(&pagePtr->outputExpires);
    Ns_IncrTime(&pagePtr->outputExpires, ttlPtr->sec, ttlPtr->usec);
    pagePtr->isMaking = false;
    Ns_CondBroadcast(&adpServerPtr->cond);
    Ns_MutexUnlock(&adpServerPtr->lock);
}

void
NsAdpStats(NsAdpServer *adpServerPtr, Ns_DString *dsPtr)
{
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    Ns_MutexLock(&adpServerPtr->lock);
    for (entryPtr = Tcl_FirstHashEntry(&adpServerPtr->pages, &search);
         entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        const NsAdpPage *pagePtr = Tcl_GetHashValue(entryPtr);

        Ns_DStringAppendElement(dsPtr, pagePtr->key + KEY_PREFIX);
        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringPrintf(dsPtr,
                         "dev %" PRIu64 " ino %" PRIu64 " mtime %" PRId64
                         " refcnt %d evals %" PRIu64 " size %" PRId64
                         " blocks %d scripts %d",
                         (uint64_t) pagePtr->state.device,
                         (uint64_t) pagePtr->state.inode,
                         (int64_t) pagePtr->state.modified.tv_sec,
                         pagePtr->nRefs - 1,
                         atomic_load_explicit(&pagePtr->nRuns,
                                              memory_order_relaxed),
                         (int64_t) pagePtr->state.bytes, pagePtr->code.nBlocks,
                         pagePtr->code.nScripts);
        Tcl_DStringEndSublist(dsPtr);
    }
    Ns_MutexUnlock(&adpServerPtr->lock);
}

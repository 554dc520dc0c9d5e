/* SPDX-License-Identifier: MPL-2.0
 * slowest.c --
 *
 *      The slowest requests, and those that failed.
 */

#include "request/slowest.h"

#include "base/assert.h"
#include "base/lock.h"
#include "dispatch/pool_config.h"
#include "http/parse.h"
#include "nsconn.h"
#include "nsstring.h"
#include "nsthread.h"
#include "request/conn_int.h"
#include "request/describe.h"
#include "request/requestid.h"

#define MAX_KEPT 100
#define HOUR     (3600 * NS_STAMP_SECOND)
#define FAILED   500

/*
 * The texts of a request, in the order in which they are kept.
 */
enum {
    TEXT_METHOD,
    TEXT_TARGET, /* As sent, but at most NS_SHOWN_URL_BYTES + 1 bytes. */
    TEXT_PEER,
    TEXT_THREAD,
    TEXT_REQUEST_ID,
    TEXT_TRACE_ID,
    TEXT_COUNT
};

/*
 * What is noted of a request that has ended; it is put into words when somebody
 * asks.
 */
typedef struct Kept {
    NsStamp     queueStamp;
    NsStamp     dequeueStamp;
    NsStamp     filterStamp;
    NsStamp     endStamp;
    NsStamp     duration;
    int64_t     bytesSent;
    uint64_t    id;
    const char *pool; /* Outlives the request. */
    int         status;
    char       *texts;  /* One after the other, each with its null byte. */
    size_t      nBytes; /* Of the texts. */
    size_t      room;   /* A place is used again and again. */
} Kept;

typedef struct List {
    Kept *kept;
    int   room; /* Grows to MAX_KEPT. */
    int   n;
    int   firstEnd; /* When full: the one that ended first, ... */
    int   quickest; /* ... and the one that was quickest. */
} List;

typedef struct NsSlowest {
    Ns_Mutex lock; /* Guards the lists. */
    List     slow;
    List     failed; /* Its firstEnd goes round. */

    /* Written with the lock, read without: what they let pass by mistake is
     * looked at again with it, what they hold back was noted a moment ago. */
    _Atomic NsStamp threshold; /* All kept ones took as long; 0: there is
                                * room. */
    _Atomic NsStamp expiry;    /* The first of them is too old then. */
} NsSlowest;

static Kept  *PlaceFor(List *listPtr, NsStamp now, NsStamp duration);
static Kept  *NewPlace(List *listPtr);
static Kept  *NextPlace(List *listPtr);
static void   Rank(List *listPtr);
static void   NoteLocked(NsSlowest *slowestPtr, NsConn *connPtr,
                         NsStamp duration);
static void   Keep(Kept *keptPtr, NsConn *connPtr, NsStamp duration);
static size_t KeepTexts(Kept *keptPtr, const char *const *texts,
                        const size_t *lengths);
static bool   EndedSince(const Kept *keptPtr, const Ns_Time *sincePtr);
static void   Copy(const List *listPtr, Kept *copies);
static void   Describe(Ns_DString *dsPtr, const NsRequestServer *requestPtr,
                       const Kept *keptPtr);
static void   AppendPair(Ns_DString *dsPtr, const char *key, const char *value);
static void   AppendSpan(Ns_DString *dsPtr, const char *key, NsStamp from,
                         NsStamp to);
static int    CompareKept(const void *a, const void *b);
static int    CompareEnds(const void *a, const void *b);

void
NsSlowestServerInit(NsServer *serverPtr)
{
    NsSlowest *slowestPtr = ns_calloc(1, sizeof(*slowestPtr));

    NsMutexSetup(&slowestPtr->lock, NS_RANK_SLOWEST, "nsd:slowest",
                 serverPtr->name);
    serverPtr->requestPtr->slowestPtr = slowestPtr;
}

void
NsSlowestNote(NsConn *connPtr)
{
    NsSlowest    *slowestPtr = connPtr->serverPtr->requestPtr->slowestPtr;
    const NsWork *workPtr = &connPtr->work;
    NsStamp       duration = workPtr->endStamp - workPtr->queueStamp;

    if (likely(duration <= atomic_load_explicit(&slowestPtr->threshold,
                                                memory_order_relaxed)
               && workPtr->endStamp < atomic_load_explicit(&slowestPtr->expiry,
                                                           memory_order_relaxed)
               && connPtr->status < FAILED)) {
        return;
    }
    Ns_MutexLock(&slowestPtr->lock);
    NoteLocked(slowestPtr, connPtr, duration);
    Ns_MutexUnlock(&slowestPtr->lock);
}

static void
NoteLocked(NsSlowest *slowestPtr, NsConn *connPtr, NsStamp duration)
{
    List *slowPtr = &slowestPtr->slow;
    Kept *placePtr = PlaceFor(slowPtr, connPtr->work.endStamp, duration);

    NsAssertLocked(&slowestPtr->lock);
    if (placePtr != NULL) {
        Keep(placePtr, connPtr, duration);
    }
    if (connPtr->status >= FAILED) {
        Keep(NextPlace(&slowestPtr->failed), connPtr, duration);
    }
    NsAssert(slowPtr->n > 0 && slowPtr->n <= MAX_KEPT);
    if (placePtr != NULL && slowPtr->n == MAX_KEPT) {
        Rank(slowPtr);
        atomic_store_explicit(&slowestPtr->threshold,
                              slowPtr->kept[slowPtr->quickest].duration,
                              memory_order_relaxed);
        atomic_store_explicit(&slowestPtr->expiry,
                              slowPtr->kept[slowPtr->firstEnd].endStamp + HOUR,
                              memory_order_relaxed);
    }
}

/*
 * Where a request goes: a free place, that of one that is too old, or that of
 * the quickest one.  NULL: all of them took longer.
 */
static Kept *
PlaceFor(List *listPtr, NsStamp now, NsStamp duration)
{
    Kept *firstPtr, *quickestPtr;

    if (listPtr->n < MAX_KEPT) {
        return NewPlace(listPtr);
    }
    firstPtr = &listPtr->kept[listPtr->firstEnd];
    if (now - firstPtr->endStamp >= HOUR) {
        return firstPtr;
    }
    quickestPtr = &listPtr->kept[listPtr->quickest];
    return quickestPtr->duration < duration ? quickestPtr : NULL;
}

static Kept *
NewPlace(List *listPtr)
{
    NsAssert(listPtr->n < MAX_KEPT && listPtr->n <= listPtr->room);
    if (listPtr->n == listPtr->room) {
        listPtr->room = MIN(MAX_KEPT, MAX(10, listPtr->room * 2));
        listPtr->kept = ns_realloc(listPtr->kept,
                                   (size_t) listPtr->room * sizeof(Kept));
    }
    listPtr->kept[listPtr->n] = (Kept){.texts = NULL};
    return &listPtr->kept[listPtr->n++];
}

/*
 * A free place, or that of the one noted first.
 */
static Kept *
NextPlace(List *listPtr)
{
    Kept *firstPtr;

    if (listPtr->n < MAX_KEPT) {
        return NewPlace(listPtr);
    }
    firstPtr = &listPtr->kept[listPtr->firstEnd];
    listPtr->firstEnd = (listPtr->firstEnd + 1) % MAX_KEPT;
    return firstPtr;
}

static void
Rank(List *listPtr)
{
    const Kept *kept = listPtr->kept;
    int         firstEnd = 0, quickest = 0;

    for (int i = 1; i < listPtr->n; i++) {
        if (kept[i].endStamp < kept[firstEnd].endStamp) {
            firstEnd = i;
        }
        if (kept[i].duration < kept[quickest].duration) {
            quickest = i;
        }
    }
    listPtr->firstEnd = firstEnd;
    listPtr->quickest = quickest;
}

static void
Keep(Kept *keptPtr, NsConn *connPtr, NsStamp duration)
{
    const NsWork        *workPtr = &connPtr->work;
    const NsHttpHead    *headPtr = &connPtr->messagePtr->head;
    const NsLogIdentity *identityPtr = NsConnIdentity(connPtr);
    const char          *texts[TEXT_COUNT] = {
                 [TEXT_METHOD] = connPtr->firstMethod,
                 [TEXT_TARGET] = headPtr->target,
                 [TEXT_PEER] = Ns_ConnPeer(&connPtr->pub),
                 [TEXT_THREAD] = Ns_ThreadGetName()};
    size_t lengths[TEXT_COUNT];

    if (identityPtr != NULL) {
        texts[TEXT_REQUEST_ID] = identityPtr->requestId;
        texts[TEXT_TRACE_ID] = identityPtr->traceId;
    }
    for (int i = 0; i < TEXT_COUNT; i++) {
        lengths[i] = texts[i] == NULL ? 0u
            : i == TEXT_TARGET
            ? MIN(headPtr->targetLength, NS_SHOWN_URL_BYTES + 1)
            : strlen(texts[i]);
    }
    keptPtr->nBytes = KeepTexts(keptPtr, texts, lengths);
    keptPtr->queueStamp = workPtr->queueStamp;
    keptPtr->dequeueStamp = workPtr->dequeueStamp;
    keptPtr->filterStamp = workPtr->filterStamp;
    keptPtr->endStamp = workPtr->endStamp;
    keptPtr->duration = duration;
    keptPtr->bytesSent = atomic_load_explicit(&connPtr->bytesSent,
                                              memory_order_relaxed);
    keptPtr->id = workPtr->id;
    keptPtr->pool = workPtr->poolPtr == NULL
        ? ""
        : NsPoolName(workPtr->poolPtr);
    keptPtr->status = connPtr->status;
}

/*
 * The bytes that they take.
 */
static size_t
KeepTexts(Kept *keptPtr, const char *const *texts, const size_t *lengths)
{
    size_t nBytes = TEXT_COUNT;
    char  *next;

    for (int i = 0; i < TEXT_COUNT; i++) {
        nBytes += lengths[i];
    }
    if (nBytes > keptPtr->room) {
        keptPtr->room = nBytes + nBytes / 2;
        keptPtr->texts = ns_realloc(keptPtr->texts, keptPtr->room);
    }
    next = keptPtr->texts;
    for (int i = 0; i < TEXT_COUNT; i++) {
        if (lengths[i] > 0) {
            memcpy(next, texts[i], lengths[i]);
        }
        next += lengths[i];
        *next++ = '\0';
    }
    NsAssert(next == keptPtr->texts + nBytes);
    return nBytes;
}

static void
Describe(Ns_DString *dsPtr, const NsRequestServer *requestPtr,
         const Kept *keptPtr)
{
    Ns_Time     start = NsClockWall(keptPtr->queueStamp);
    const char *texts[TEXT_COUNT];
    const char *next = keptPtr->texts;
    char        text[40];

    for (int i = 0; i < TEXT_COUNT; i++) {
        texts[i] = next;
        next += strlen(next) + 1;
    }
    NsAssert(next == keptPtr->texts + keptPtr->nBytes);
    snprintf(text, sizeof(text), "%" PRId64 ".%06ld", (int64_t) start.sec,
             start.usec);
    AppendPair(dsPtr, "time", text);
    AppendSpan(dsPtr, "duration", 0, keptPtr->duration);
    AppendSpan(dsPtr, "queue", keptPtr->queueStamp, keptPtr->dequeueStamp);
    AppendSpan(dsPtr, "filter", keptPtr->dequeueStamp, keptPtr->filterStamp);
    AppendSpan(dsPtr, "run", keptPtr->filterStamp, keptPtr->endStamp);
    snprintf(text, sizeof(text), "%d", keptPtr->status);
    AppendPair(dsPtr, "status", text);
    snprintf(text, sizeof(text), "%" PRId64, keptPtr->bytesSent);
    AppendPair(dsPtr, "bytes", text);
    AppendPair(dsPtr, "method", texts[TEXT_METHOD]);
    Tcl_DStringAppendElement(dsPtr, "url");
    NsRequestAppendUrl(dsPtr, requestPtr, texts[TEXT_TARGET]);
    AppendPair(dsPtr, "peer", texts[TEXT_PEER]);
    AppendPair(dsPtr, "pool", keptPtr->pool);
    AppendPair(dsPtr, "thread", texts[TEXT_THREAD]);
    snprintf(text, sizeof(text), "cns%" PRIu64, keptPtr->id);
    AppendPair(dsPtr, "id", text);
    if (*texts[TEXT_REQUEST_ID] != '\0') {
        AppendPair(dsPtr, "request_id", texts[TEXT_REQUEST_ID]);
    }
    if (*texts[TEXT_TRACE_ID] != '\0') {
        AppendPair(dsPtr, "trace_id", texts[TEXT_TRACE_ID]);
    }
}

static void
AppendPair(Ns_DString *dsPtr, const char *key, const char *value)
{
    Tcl_DStringAppendElement(dsPtr, key);
    Tcl_DStringAppendElement(dsPtr, value);
}

static void
AppendSpan(Ns_DString *dsPtr, const char *key, NsStamp from, NsStamp to)
{
    Ns_Time span = NsClockSpan(from, MAX(from, to));
    char    text[40];

    snprintf(text, sizeof(text), "%" PRId64 ".%06ld", (int64_t) span.sec,
             span.usec);
    AppendPair(dsPtr, key, text);
}

void
NsSlowestList(Ns_DString *dsPtr, NsServer *serverPtr, bool wantsFailed,
              const Ns_Time *sincePtr)
{
    NsSlowest *slowestPtr = serverPtr->requestPtr->slowestPtr;
    Kept       copies[MAX_KEPT];
    List      *listPtr = wantsFailed ? &slowestPtr->failed : &slowestPtr->slow;
    NsStamp    now = NsClockNow();
    int        n;

    /* Requests do not wait for the lock, so the copies may take their time. */
    Ns_MutexLock(&slowestPtr->lock);
    n = listPtr->n;
    NsAssert(n >= 0 && n <= MAX_KEPT);
    Copy(listPtr, copies);
    Ns_MutexUnlock(&slowestPtr->lock);

    qsort(copies, (size_t) n, sizeof(Kept),
          wantsFailed ? CompareEnds : CompareKept);
    for (int i = 0; i < n; i++) {
        if ((wantsFailed || now - copies[i].endStamp < HOUR)
            && EndedSince(&copies[i], sincePtr)) {
            Tcl_DStringStartSublist(dsPtr);
            Describe(dsPtr, serverPtr->requestPtr, &copies[i]);
            Tcl_DStringEndSublist(dsPtr);
        }
        ns_free(copies[i].texts);
    }
}

static bool
EndedSince(const Kept *keptPtr, const Ns_Time *sincePtr)
{
    Ns_Time end = NsClockWall(keptPtr->endStamp), span;

    return sincePtr == NULL
        || Ns_DiffTime(&end, (Ns_Time *) sincePtr, &span) >= 0;
}

static void
Copy(const List *listPtr, Kept *copies)
{
    for (int i = 0; i < listPtr->n; i++) {
        copies[i] = listPtr->kept[i];
        copies[i].texts = ns_malloc(copies[i].nBytes);
        memcpy(copies[i].texts, listPtr->kept[i].texts, copies[i].nBytes);
    }
}

static int
CompareKept(const void *a, const void *b)
{
    NsStamp left = ((const Kept *) a)->duration;
    NsStamp right = ((const Kept *) b)->duration;

    return (left < right) - (left > right);
}

static int
CompareEnds(const void *a, const void *b)
{
    NsStamp left = ((const Kept *) a)->endStamp;
    NsStamp right = ((const Kept *) b)->endStamp;

    return (left < right) - (left > right);
}

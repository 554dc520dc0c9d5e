/* SPDX-License-Identifier: MPL-2.0
 * limits.c --
 *
 *      Named bundles of limits, mapped to URLs.
 */

#include "request/limits.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/episode.h"
#include "base/lock.h"
#include "dispatch/gate.h"
#include "http/request_line.h"
#include "net/handover.h"
#include "process/parameters.h"
#include "request/reqserver.h"
#include "request/urlspace.h"

struct NsLimits {
    const char *name; /* Constant, both. */
    NsGate     *gatePtr;

    struct NsLimits *nextPtr; /* Guarded by the lock, as the rest. */
    NsLimitsValues   values;
    uint64_t         nOverflows;
    NsStamp          logStamp; /* The log has told of one; 0: never. */
};

atomic_bool nsLimitsEnforced;

static Ns_Mutex  lock;     /* Guards the list and all values. */
static NsLimits *firstPtr; /* Sorted by nothing: in order of creation. */
static int       limitsId; /* Constant after NsLimitsInit. */

static const NsParameter rows[] = {
    NS_INT(
        NsLimitsValues, maxRun, "maxrun", "100", 0, NS_PARAM_NO_LIMIT,
        "Requests that run at a time, including those queued by a pool; 0 = no "
        "limit."),
    NS_INT(NsLimitsValues, maxWait, "maxwait", "100", 0, NS_PARAM_NO_LIMIT,
           "Further requests that wait until one of these ends; others get "
           "503."),
    NS_SIZE(NsLimitsValues, maxUpload, "maxupload", "10240000", 0,
            NS_PARAM_NO_LIMIT,
            "Bytes of a request body; larger ones get 413; 0 = no limit."),
    NS_TIME(NsLimitsValues, timeout, "timeout", "60", 0, NS_PARAM_NO_LIMIT,
            "A request that has run this long is cancelled and gets 503; 0 = "
            "the maxruntime of its pool."),
    NS_BOOL(NsLimitsValues, isEnforced, "enforce", "false",
            "The limits have an effect; else scripts can ask for them."),
    NS_PARAM_END};

static NsLimits       *FindLocked(const char *name, NsLimits ***linkPtrPtr);
static NsWork         *EnforceLocked(NsLimits *limitsPtr);
static NsBodyLimitProc MaxUpload;
static NsLimits       *FindFor(const NsMessage  *messagePtr,
                               const Ns_Request *requestPtr);
static void            CountOverflow(NsLimits *limitsPtr, int64_t limit);
static void            ReadBundles(void);

void
NsLimitsInit(void)
{
    NsParametersRegister("ns/limit/*", rows, sizeof(NsLimitsValues));
    NsMutexSetup(&lock, NS_RANK_LIMITS, "nsd:limits", NULL);
    limitsId = Ns_UrlSpecificAlloc();
}

void
NsLimitsServerInit(NsServer *serverPtr)
{
    Ns_DString   path;
    Ns_Set      *setPtr;
    NsLimits    *limitsPtr;
    const char **words;
    int          n;

    ReadBundles();
    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&path, serverPtr->path, "/limits", NULL);
    setPtr = Ns_ConfigGetSection(Ns_DStringValue(&path));
    for (int i = 0; setPtr != NULL && i < Ns_SetSize(setPtr); i++) {
        limitsPtr = NsLimitsFind(Ns_SetKey(setPtr, i));
        if (limitsPtr == NULL) {
            Ns_Log(Error, "limits: no such limits: %s", Ns_SetKey(setPtr, i));
            continue;
        }
        if (Tcl_SplitList(NULL, Ns_SetValue(setPtr, i), &n, &words) != TCL_OK) {
            Ns_Log(Error, "limits: not a method and a URL: %s",
                   Ns_SetValue(setPtr, i));
            continue;
        }
        if (n == 2) {
            NsLimitsRegister(serverPtr, limitsPtr, words[0], words[1], 0);
        } else {
            Ns_Log(Error, "limits: not a method and a URL: %s",
                   Ns_SetValue(setPtr, i));
        }
        Tcl_Free((char *) words);
    }
    Ns_DStringFree(&path);
}

NsLimits *
NsLimitsFind(const char *name)
{
    NsLimits *limitsPtr;

    Ns_MutexLock(&lock);
    limitsPtr = FindLocked(name, NULL);
    Ns_MutexUnlock(&lock);
    return limitsPtr;
}

NsLimits *
NsLimitsSet(const char *name, const NsLimitsValues *valuesPtr)
{
    NsLimits *limitsPtr, **linkPtr;
    NsWork   *freedPtr;

    Ns_MutexLock(&lock);
    limitsPtr = FindLocked(name, &linkPtr);
    if (limitsPtr == NULL) {
        limitsPtr = ns_calloc(1, sizeof(NsLimits));
        limitsPtr->name = ns_strdup(name);
        limitsPtr->gatePtr = NsGateCreate(name);
        limitsPtr->values = (NsLimitsValues){
            .maxRun = 100,
            .maxWait = 100,
            .maxUpload = 10240000,
            .timeout = 60 * NS_STAMP_SECOND};
        NsAssert(*linkPtr == NULL);
        *linkPtr = limitsPtr;
    }
    if (valuesPtr->maxRun >= 0) {
        limitsPtr->values.maxRun = valuesPtr->maxRun;
    }
    if (valuesPtr->maxWait >= 0) {
        limitsPtr->values.maxWait = valuesPtr->maxWait;
    }
    if (valuesPtr->maxUpload >= 0) {
        limitsPtr->values.maxUpload = valuesPtr->maxUpload;
    }
    if (valuesPtr->timeout >= 0) {
        limitsPtr->values.timeout = valuesPtr->timeout;
    }
    if (valuesPtr->setsEnforced) {
        limitsPtr->values.isEnforced = valuesPtr->isEnforced;
    }
    freedPtr = EnforceLocked(limitsPtr);
    Ns_MutexUnlock(&lock);
    NsPoolAdmit(freedPtr);
    return limitsPtr;
}

/*
 * Have the values an effect, or none; works that need wait no longer.
 */
static NsWork *
EnforceLocked(NsLimits *limitsPtr)
{
    const NsLimitsValues *valuesPtr = &limitsPtr->values;
    NsGateLimits          limits = {0, 0, 0};

    NsAssertLocked(&lock);
    if (valuesPtr->isEnforced) {
        limits = (NsGateLimits){
            valuesPtr->maxRun, valuesPtr->maxWait, valuesPtr->timeout};
        atomic_store(&nsLimitsEnforced, true);
        NsDriverSetBodyLimitProc(MaxUpload);
    }
    return NsGateSetLimits(limitsPtr->gatePtr, &limits);
}

void
NsLimitsAppend(Ns_DString *dsPtr, NsLimits *limitsPtr)
{
    NsLimitsValues values;
    NsGateFigures  figures;
    uint64_t       nOverflows;

    Ns_MutexLock(&lock);
    values = limitsPtr->values;
    nOverflows = limitsPtr->nOverflows;
    Ns_MutexUnlock(&lock);
    NsGateRead(limitsPtr->gatePtr, &figures);
    Ns_DStringPrintf(dsPtr,
                     "nrunning %d nwaiting %d ntimeout %" PRIu64
                     " ndropped %" PRIu64 " noverflow %" PRIu64
                     " maxrun %d maxwait %d maxupload %" PRId64
                     " timeout %.15g%s",
                     figures.nRunning, figures.nWaiting, figures.nTimeouts,
                     figures.nDropped, nOverflows, values.maxRun,
                     values.maxWait, values.maxUpload,
                     (double) values.timeout / NS_STAMP_SECOND,
                     values.isEnforced ? " enforce 1" : "");
}

void
NsLimitsNames(Ns_DString *dsPtr, const char *pattern)
{
    const NsLimits *limitsPtr;

    Ns_MutexLock(&lock);
    for (limitsPtr = firstPtr; limitsPtr != NULL;
         limitsPtr = limitsPtr->nextPtr) {
        if (pattern == NULL || Tcl_StringMatch(limitsPtr->name, pattern)) {
            Ns_DStringAppendElement(dsPtr, limitsPtr->name);
        }
    }
    Ns_MutexUnlock(&lock);
}

void
NsLimitsRegister(NsServer *serverPtr, NsLimits *limitsPtr, const char *method,
                 const char *url, int flags)
{
    Ns_UrlSpecificSet(serverPtr->name, method, url, limitsId, limitsPtr, flags,
                      NULL);
}

NsGate *
NsLimitsGate(const NsMessage *messagePtr, const Ns_Request *requestPtr)
{
    NsLimits *limitsPtr = FindFor(messagePtr, requestPtr);

    if (limitsPtr == NULL) {
        return NULL;
    }
    if (messagePtr->bodyLimit > 0) {
        CountOverflow(limitsPtr, messagePtr->bodyLimit);
    }
    return messagePtr->refusal == 0 ? limitsPtr->gatePtr : NULL;
}

/*
 * How long the body of a message may be; see NsDriverSetBodyLimitProc.
 */
static int64_t
MaxUpload(NsMessage *messagePtr)
{
    Ns_Request request = {0};
    NsLimits  *limitsPtr;
    int64_t    limit = 0;

    NsRequestFromHead(&messagePtr->arena, &messagePtr->head, &request);
    limitsPtr = FindFor(messagePtr, &request);
    if (limitsPtr != NULL) {
        Ns_MutexLock(&lock);
        limit = limitsPtr->values.maxUpload;
        Ns_MutexUnlock(&lock);
    }
    return limit == 0 ? INT64_MAX : limit;
}

/*
 * The bundle that is enforced for a request: the nearest to its URL, or none.
 */
static NsLimits *
FindFor(const NsMessage *messagePtr, const Ns_Request *requestPtr)
{
    NsLimits *limitsPtr;
    bool      isEnforced;

    if (requestPtr->method == NULL || requestPtr->url == NULL) {
        return NULL;
    }
    limitsPtr = NsUrlSpaceFind(messagePtr->serverPtr, limitsId,
                               requestPtr->method, requestPtr->url, NULL, NULL);
    if (limitsPtr == NULL) {
        return NULL;
    }
    Ns_MutexLock(&lock);
    isEnforced = limitsPtr->values.isEnforced;
    Ns_MutexUnlock(&lock);
    return isEnforced ? limitsPtr : NULL;
}

static void
CountOverflow(NsLimits *limitsPtr, int64_t limit)
{
    bool isNews;

    Ns_MutexLock(&lock);
    limitsPtr->nOverflows++;
    isNews = NsLineIsDue(&limitsPtr->logStamp, NsClockNow(), NS_LINE_REST);
    Ns_MutexUnlock(&lock);

    if (isNews) {
        Ns_Log(Warning,
               "limits[%s]: bodies of more than %" PRId64
               " bytes are refused with 413; see maxupload",
               limitsPtr->name, limit);
    }
}

/*
 * With linkPtrPtr, also where a new one is to be linked in.
 */
static NsLimits *
FindLocked(const char *name, NsLimits ***linkPtrPtr)
{
    NsLimits **linkPtr = &firstPtr;

    NsAssertLocked(&lock);

    while (*linkPtr != NULL && !STREQ((*linkPtr)->name, name)) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    if (linkPtrPtr != NULL) {
        *linkPtrPtr = linkPtr;
    }
    return *linkPtr;
}

/*
 * Section ns/limits; once.
 */
static void
ReadBundles(void)
{
    static bool isDone;
    Ns_Set     *setPtr;
    Ns_DString  path;

    if (isDone) {
        return;
    }
    isDone = true;
    (void) NsLimitsSet("default",
                       &(NsLimitsValues){-1, -1, -1, -1, false, false});
    setPtr = Ns_ConfigGetSection("ns/limits");
    for (int i = 0; setPtr != NULL && i < Ns_SetSize(setPtr); i++) {
        NsLimitsValues values = {.setsEnforced = true};

        Ns_DStringInit(&path);
        Ns_DStringVarAppend(&path, "ns/limit/", Ns_SetKey(setPtr, i), NULL);
        NsParametersFill(rows, Ns_DStringValue(&path), &values);
        (void) NsLimitsSet(Ns_SetKey(setPtr, i), &values);
        Ns_DStringFree(&path);
    }
}

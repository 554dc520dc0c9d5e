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
#include "base/lock.h"
#include "process/parameters.h"
#include "request/reqserver.h"
#include "request/urlspace.h"

struct NsLimits {
    struct NsLimits *nextPtr; /* Guarded by the lock, as the values. */
    const char      *name;    /* Constant. */
    NsLimitsValues   values;
};

static Ns_Mutex  lock;     /* Guards the list and all values. */
static NsLimits *firstPtr; /* Sorted by nothing: in order of creation. */
static int       limitsId; /* Constant after NsLimitsInit. */

static const NsParameter rows[] = {
    NS_INT(NsLimitsValues, maxRun, "maxrun", "100", 0, NS_PARAM_NO_LIMIT,
           "Requests that run at a time."),
    NS_INT(NsLimitsValues, maxWait, "maxwait", "100", 0, NS_PARAM_NO_LIMIT,
           "Requests that wait for a thread."),
    NS_SIZE(NsLimitsValues, maxUpload, "maxupload", "10240000", 0,
            NS_PARAM_NO_LIMIT, "Bytes of a request body."),
    NS_TIME(NsLimitsValues, timeout, "timeout", "60", 0, NS_PARAM_NO_LIMIT,
            "Time to complete a request."),
    NS_PARAM_END};

static NsLimits *FindLocked(const char *name, NsLimits ***linkPtrPtr);
static void      ReadBundles(void);

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

    Ns_MutexLock(&lock);
    limitsPtr = FindLocked(name, &linkPtr);
    if (limitsPtr == NULL) {
        limitsPtr = ns_calloc(1, sizeof(NsLimits));
        limitsPtr->name = ns_strdup(name);
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
    Ns_MutexUnlock(&lock);
    return limitsPtr;
}

void
NsLimitsAppend(Ns_DString *dsPtr, NsLimits *limitsPtr)
{
    NsLimitsValues values;

    Ns_MutexLock(&lock);
    values = limitsPtr->values;
    Ns_MutexUnlock(&lock);
    Ns_DStringPrintf(dsPtr,
                     "nrunning 0 nwaiting 0 ntimeout 0 ndropped 0"
                     " noverflow 0 maxrun %d maxwait %d maxupload %" PRId64
                     " timeout %.15g",
                     values.maxRun, values.maxWait, values.maxUpload,
                     (double) values.timeout / NS_STAMP_SECOND);
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
    (void) NsLimitsSet("default", &(NsLimitsValues){-1, -1, -1, -1});
    setPtr = Ns_ConfigGetSection("ns/limits");
    for (int i = 0; setPtr != NULL && i < Ns_SetSize(setPtr); i++) {
        NsLimitsValues values;

        Ns_DStringInit(&path);
        Ns_DStringVarAppend(&path, "ns/limit/", Ns_SetKey(setPtr, i), NULL);
        NsParametersFill(rows, Ns_DStringValue(&path), &values);
        (void) NsLimitsSet(Ns_SetKey(setPtr, i), &values);
        Ns_DStringFree(&path);
    }
}

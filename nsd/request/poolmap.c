/* SPDX-License-Identifier: MPL-2.0
 * poolmap.c --
 *
 *      Which pool serves a request.
 *
 *      A pattern can lead to several pools: mappings with conditions on header
 *      fields or on the client's address are tried from the narrowest on, the
 *      one without comes last.
 */

#include "request/poolmap.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "dispatch/pool_config.h"
#include "process/parameters.h"
#include "process/setting.h"
#include "request/constraints.h"
#include "request/reqserver.h"
#include "request/urlspace.h"

/*
 * One mapping of a pattern.
 */
typedef struct Target {
    struct Target *nextPtr;
    NsPool        *poolPtr;
    NsConstraints *constraintsPtr; /* NULL: no condition. */
} Target;

/*
 * An entry of the URL space; replaced as a whole by every change.
 */
typedef struct PoolMap {
    Target *targets;
} PoolMap;

/*
 * `METHOD URL ?{KEY VALUE ...}?` taken apart.
 */
typedef struct Spec {
    int            argc;
    const char   **argv;
    const char    *method, *url;
    NsConstraints *constraintsPtr; /* Or NULL. */
} Spec;

static NsSettingProc AccessMap;

#define MAP(key_, sentence_)                                     \
    {                                                            \
        .key = key_, .type = NS_PARAM_STRING, .defaultText = "", \
        .sentence = sentence_, .settingProc = AccessMap          \
    }

static const NsParameter rows[] = {
    MAP("map",
        "METHOD URLPATTERN ?{KEY VALUE ...}? of requests that this pool "
        "serves; may be repeated."),
    MAP("map-noinherit", "The same, for exactly this URL."), NS_PARAM_END};

typedef struct Choice {
    const NsMessage *messagePtr; /* NULL: no condition holds. */
    NsPool          *poolPtr;
    bool             isConditional; /* A condition has been asked. */
} Choice;

typedef struct List {
    Ns_DString *dsPtr;
    NsPool     *poolPtr;
} List;

static int poolMapId; /* Constant after NsPoolMapInit. */

typedef Ns_ReturnCode MapProc(NsServer *serverPtr, NsPool *poolPtr,
                              const char *text, bool inherits);

static void ChangeMaps(NsPool *poolPtr, const char *list, const char *otherList,
                       bool inherits, MapProc *proc);
static bool ParseSpec(Spec *specPtr, const char *text);
static void FreeSpec(Spec *specPtr);
static bool Accept(void *data, void *arg);
static bool CopyTargets(void *data, void *arg);
static Target  *CreateTarget(NsPool              *poolPtr,
                             const NsConstraints *constraintsPtr);
static bool     IsSameTarget(const Target *targetPtr, const Spec *specPtr);
static PoolMap *CopyMap(NsServer *serverPtr, const Spec *specPtr, int flags,
                        NsPool **leftOutPtr);
static void     FreeTarget(Target *targetPtr);
static void     FreeMap(void *data);
static void     AppendMap(const NsUrlEntry *entryPtr, void *arg);

void
NsPoolMapInit(void)
{
    NsParametersRegister("ns/server/*/pool/*", rows, 0);
    poolMapId = Ns_UrlSpecificAlloc();
}

void
NsPoolMapServerInit(NsServer *serverPtr)
{
    Ns_DString ds;
    Ns_Set    *setPtr;
    NsPool    *poolPtr;
    int        j;

    Ns_DStringInit(&ds);
    for (int i = 0; (poolPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
        const char *name = NsPoolName(poolPtr);

        if (*name == '\0') {
            continue;
        }
        Ns_DStringTrunc(&ds, 0);
        Ns_DStringVarAppend(&ds, serverPtr->path, "/pool/", name, NULL);
        setPtr = Ns_ConfigGetSection(Ns_DStringValue(&ds));
        for (j = 0; setPtr != NULL && j < Ns_SetSize(setPtr); j++) {
            bool isMap = STRIEQ(Ns_SetKey(setPtr, j), "map");
            bool isNoInherit = STRIEQ(Ns_SetKey(setPtr, j), "map-noinherit");

            if ((isMap || isNoInherit)
                && NsPoolMapAdd(serverPtr, poolPtr, Ns_SetValue(setPtr, j),
                                isMap)
                    == NS_OK) {
                Ns_Log(Notice, "pool[%s]: mapped %s -> %s", serverPtr->name,
                       Ns_SetValue(setPtr, j), name);
            }
        }
        /* The listing shows what was read, and a misspelt key stands out. */
        (void) Ns_ConfigGetValue(Ns_DStringValue(&ds), "map");
    }
    Ns_DStringFree(&ds);
}

/*
 * A script may have removed a mapping of the file.
 */
static Ns_ReturnCode
AccessMap(const char *section, NsSettingAccess *accessPtr)
{
    NsPool *poolPtr = NsPoolFindBySection(section);

    NsAssert(poolPtr != NULL && accessPtr->rowPtr == NULL);
    for (int i = 0; i < accessPtr->nChanges && !accessPtr->isTrial; i++) {
        const NsSettingChange *changePtr = &accessPtr->changes[i];
        bool                   inherits = STREQ(changePtr->rowPtr->key, "map");

        ChangeMaps(poolPtr, changePtr->oldText, changePtr->text, inherits,
                   NsPoolMapRemove);
        ChangeMaps(poolPtr, changePtr->text, changePtr->oldText, inherits,
                   NsPoolMapAdd);
    }
    return NS_OK;
}

/*
 * Those of one list that are not in the other.
 */
static void
ChangeMaps(NsPool *poolPtr, const char *list, const char *otherList,
           bool inherits, MapProc *proc)
{
    const char **maps, **others;
    int          nMaps, nOthers;

    if (Tcl_SplitList(NULL, list, &nMaps, &maps) != TCL_OK) {
        return;
    }
    if (Tcl_SplitList(NULL, otherList, &nOthers, &others) == TCL_OK) {
        for (int i = 0; i < nMaps; i++) {
            bool isCommon = false;

            for (int j = 0; j < nOthers && !isCommon; j++) {
                isCommon = STREQ(maps[i], others[j]);
            }
            if (!isCommon) {
                (void) proc(NsPoolServerOf(poolPtr), poolPtr, maps[i],
                            inherits);
            }
        }
        Tcl_Free((char *) others);
    }
    Tcl_Free((char *) maps);
}

NsPool *
NsPoolMapFind(NsServer *serverPtr, const char *method, const char *url,
              const NsMessage *messagePtr)
{
    Choice choice = {messagePtr, NULL, false};

    if (method != NULL && url != NULL) {
        (void) NsUrlSpaceFind(serverPtr, poolMapId, method, url, Accept,
                              &choice);
    }
    return choice.poolPtr != NULL ? choice.poolPtr : NsPoolFind(serverPtr, "");
}

NsPool *
NsPoolMapFindFixed(NsServer *serverPtr, const char *method, const char *url)
{
    Choice choice = {NULL, NULL, false};

    (void) NsUrlSpaceFind(serverPtr, poolMapId, method, url, Accept, &choice);
    if (choice.isConditional) {
        return NULL;
    }
    return choice.poolPtr != NULL ? choice.poolPtr : NsPoolFind(serverPtr, "");
}

NsPool *
NsPoolMapFindExact(NsServer *serverPtr, const char *method, const char *url,
                   bool inherits)
{
    Choice choice = {NULL, NULL, false};

    (void) NsUrlSpaceFindExact(serverPtr, poolMapId, method, url,
                               inherits ? 0 : NS_OP_NOINHERIT, Accept, &choice);
    return choice.poolPtr;
}

Ns_ReturnCode
NsPoolMapAdd(NsServer *serverPtr, NsPool *poolPtr, const char *text,
             bool inherits)
{
    int      flags = inherits ? 0 : NS_OP_NOINHERIT;
    Spec     spec;
    PoolMap *mapPtr;
    NsPool  *oldPtr;
    Target **linkPtr, *newPtr;

    if (!ParseSpec(&spec, text)) {
        return NS_ERROR;
    }
    mapPtr = CopyMap(serverPtr, &spec, flags, &oldPtr);
    newPtr = CreateTarget(poolPtr, spec.constraintsPtr);
    linkPtr = &mapPtr->targets;
    while (*linkPtr != NULL
           && (spec.constraintsPtr == NULL
               || ((*linkPtr)->constraintsPtr != NULL
                   && !NsConstraintsPrecede(spec.constraintsPtr,
                                            (*linkPtr)->constraintsPtr)))) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    NsAssert(newPtr->constraintsPtr != NULL || *linkPtr == NULL);
    newPtr->nextPtr = *linkPtr;
    *linkPtr = newPtr;
    Ns_UrlSpecificSet(serverPtr->name, spec.method, spec.url, poolMapId, mapPtr,
                      flags, FreeMap);
    FreeSpec(&spec);
    return NS_OK;
}

Ns_ReturnCode
NsPoolMapRemove(NsServer *serverPtr, NsPool *poolPtr, const char *text,
                bool inherits)
{
    int      flags = inherits ? 0 : NS_OP_NOINHERIT;
    Spec     spec;
    PoolMap *mapPtr;
    NsPool  *oldPtr;
    bool     isThere;

    if (!ParseSpec(&spec, text)) {
        return NS_ERROR;
    }
    mapPtr = CopyMap(serverPtr, &spec, flags, &oldPtr);
    isThere = oldPtr == poolPtr;
    if (!isThere) {
        FreeMap(mapPtr);
    } else if (mapPtr->targets == NULL) {
        FreeMap(mapPtr);
        (void) Ns_UrlSpecificDestroy(serverPtr->name, spec.method, spec.url,
                                     poolMapId, flags);
    } else {
        Ns_UrlSpecificSet(serverPtr->name, spec.method, spec.url, poolMapId,
                          mapPtr, flags, FreeMap);
    }
    FreeSpec(&spec);
    return isThere ? NS_OK : NS_ERROR;
}

void
NsPoolMapList(Ns_DString *dsPtr, NsServer *serverPtr, NsPool *poolPtr)
{
    List list = {dsPtr, poolPtr};

    NsUrlSpaceVisit(serverPtr, poolMapId, AppendMap, &list);
}

static bool
ParseSpec(Spec *specPtr, const char *text)
{
    *specPtr = (Spec){0};
    if (text == NULL
        || Tcl_SplitList(NULL, text, &specPtr->argc, &specPtr->argv)
            != TCL_OK) {
        return false;
    }
    if ((specPtr->argc != 2 && specPtr->argc != 3)
        || !NsUrlIsPlain(specPtr->argv[1])
        || (specPtr->argc == 3
            && NsConstraintsParse(specPtr->argv[2], &specPtr->constraintsPtr)
                != NS_OK)) {
        FreeSpec(specPtr);
        return false;
    }
    specPtr->method = specPtr->argv[0];
    specPtr->url = specPtr->argv[1];
    return true;
}

static void
FreeSpec(Spec *specPtr)
{
    if (specPtr->argv != NULL) {
        Tcl_Free((char *) specPtr->argv);
    }
    NsConstraintsFree(&specPtr->constraintsPtr);
}

/*
 * The first target whose condition holds; if there is none the search continues
 * with less specific patterns.
 */
static bool
Accept(void *data, void *arg)
{
    const Target *targetPtr = ((PoolMap *) data)->targets;
    Choice       *choicePtr = arg;
    NsContext     context = {.messagePtr = choicePtr->messagePtr};

    for (; targetPtr != NULL; targetPtr = targetPtr->nextPtr) {
        if (targetPtr->constraintsPtr != NULL) {
            choicePtr->isConditional = true;
            if (choicePtr->messagePtr == NULL
                || !NsConstraintsHold(targetPtr->constraintsPtr, &context)) {
                continue;
            }
        }
        choicePtr->poolPtr = targetPtr->poolPtr;
        return true;
    }
    return false;
}

static Target *
CreateTarget(NsPool *poolPtr, const NsConstraints *constraintsPtr)
{
    Target *targetPtr = ns_calloc(1, sizeof(Target));

    NsAssert(poolPtr != NULL);
    targetPtr->poolPtr = poolPtr;
    if (constraintsPtr != NULL) {
        (void) NsConstraintsParse(NsConstraintsText(constraintsPtr),
                                  &targetPtr->constraintsPtr);
    }
    return targetPtr;
}

static bool
IsSameTarget(const Target *targetPtr, const Spec *specPtr)
{
    if (targetPtr->constraintsPtr == NULL || specPtr->constraintsPtr == NULL) {
        return targetPtr->constraintsPtr == specPtr->constraintsPtr;
    }
    return NsConstraintsAreSame(targetPtr->constraintsPtr,
                                specPtr->constraintsPtr);
}

typedef struct CopyArg {
    PoolMap    *mapPtr;
    const Spec *specPtr;
    NsPool     *leftOutPtr;
} CopyArg;

/*
 * The targets of a pattern without the one of the same condition, and to which
 * pool that one led; NULL if there is none.
 */
static PoolMap *
CopyMap(NsServer *serverPtr, const Spec *specPtr, int flags,
        NsPool **leftOutPtr)
{
    CopyArg copy = {ns_calloc(1, sizeof(PoolMap)), specPtr, NULL};

    (void) NsUrlSpaceFindExact(serverPtr, poolMapId, specPtr->method,
                               specPtr->url, flags, CopyTargets, &copy);
    *leftOutPtr = copy.leftOutPtr;
    return copy.mapPtr;
}

static bool
CopyTargets(void *data, void *arg)
{
    const Target *targetPtr = ((PoolMap *) data)->targets;
    CopyArg      *copyPtr = arg;
    Target      **linkPtr = &copyPtr->mapPtr->targets;

    for (; targetPtr != NULL; targetPtr = targetPtr->nextPtr) {
        if (!IsSameTarget(targetPtr, copyPtr->specPtr)) {
            *linkPtr = CreateTarget(targetPtr->poolPtr,
                                    targetPtr->constraintsPtr);
            linkPtr = &(*linkPtr)->nextPtr;
        } else {
            copyPtr->leftOutPtr = targetPtr->poolPtr;
        }
    }
    return true;
}

static void
FreeTarget(Target *targetPtr)
{
    NsConstraintsFree(&targetPtr->constraintsPtr);
    ns_free(targetPtr);
}

static void
FreeMap(void *data)
{
    PoolMap *mapPtr = data;

    while (mapPtr->targets != NULL) {
        Target *targetPtr = mapPtr->targets;

        mapPtr->targets = targetPtr->nextPtr;
        FreeTarget(targetPtr);
    }
    ns_free(mapPtr);
}

static void
AppendMap(const NsUrlEntry *entryPtr, void *arg)
{
    const List   *listPtr = arg;
    const Target *targetPtr = ((PoolMap *) entryPtr->data)->targets;

    for (; targetPtr != NULL; targetPtr = targetPtr->nextPtr) {
        if (targetPtr->poolPtr != listPtr->poolPtr) {
            continue;
        }
        NsUrlEntryStart(listPtr->dsPtr, entryPtr);
        if (targetPtr->constraintsPtr != NULL) {
            Tcl_DStringAppendElement(listPtr->dsPtr,
                                     NsConstraintsText(targetPtr
                                                           ->constraintsPtr));
        }
        Tcl_DStringEndSublist(listPtr->dsPtr);
    }
}

/* SPDX-License-Identifier: MPL-2.0
 * cache_cmd.c --
 *
 *      Caches as a whole, and looking into them: ns_cache_create, get, keys,
 *      flush, names, exists, stats, configure, size.
 */

#include "ns.h"
#include "base/cache.h"
#include "process/units.h"
#include "tcl/cacheflush.h"
#include "tcl/cachetxn.h"
#include "tcl/cacheupdate_cmd.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"
#include "tcl/tclcache.h"

static Tcl_ObjCmdProc CreateCmd, GetCmd, KeysCmd, FlushCmd, NamesCmd, ExistsCmd,
    StatsCmd, ConfigureCmd, SizeCmd, MemoizeFlushCmd, MemoizeStatsCmd;

static int  AddCache(NsServer *serverPtr, Tcl_Interp *interp, Tcl_Obj *nameObj,
                     const NsTclCacheSettings *createPtr, const char *channel);
static void SetChannel(NsServer *serverPtr, NsTclCache *cachePtr,
                       const char *channel);
static int  GetSize(Tcl_Interp *interp, Tcl_Obj *sizeObj, size_t *sizePtr);
static int  Flush(ClientData clientData, Tcl_Interp *interp,
                  NsTclCache *cachePtr, bool isGlob, int nKeys,
                  Tcl_Obj *const *keyObjs);
static void AppendContents(NsTclCache *cachePtr, Ns_DString *dsPtr);
static void AppendTime(Ns_DString *dsPtr, const Ns_Time *timePtr);
static int  ReturnSettings(Tcl_Interp               *interp,
                           const NsTclCacheSettings *settingsPtr);
static void AppendLimit(Ns_DString *dsPtr, const Ns_Time *timePtr);
static bool IsLiteral(const char *pattern);

static const NsTclCommand commands[] = {
    {"ns_cache_create", CreateCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_get", GetCmd, 2, 3, "cache key ?varName?", 0},
    {"ns_cache_keys", KeysCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_flush", FlushCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_names", NamesCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_exists", ExistsCmd, 1, 1, "cache", 0},
    {"ns_cache_stats", StatsCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_configure", ConfigureCmd, 1, NS_TCL_ANY,
     "cache ?-timeout timeout? ?-expires expires? ?-maxentry maxentry? "
     "?-maxsize maxsize? ?-invalidate channel?",
     0},
    {"ns_cache_size", SizeCmd, 1, 1, "cache", 0},
    {"ns_memoize_flush", MemoizeFlushCmd, 0, 1, "?pattern?", 0},
    {"ns_memoize_stats", MemoizeStatsCmd, 0, 0, NULL, 0},
    NS_TCL_END};

NS_TCL_FAMILY(Cache, commands)

static NsServer *
ServerOf(ClientData clientData)
{
    return ((NsInterp *) clientData)->serverPtr;
}

/*
 * ns_cache_create ?-timeout timeout? ?-expires expires? ?-maxentry maxentry?
 *     ?-invalidate channel? ?--? cache size
 */
static int
CreateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsTclCacheSettings settings = {0};
    Ns_Time           *timeoutPtr = NULL, *expiresPtr = NULL;
    Tcl_Obj           *nameObj, *sizeObj, *maxEntryObj = NULL;
    const char        *channel = "";
    Ns_ObjvSpec        options[] = {
               {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
               {"-expires", Ns_ObjvTime, &expiresPtr, NULL},
               {"-maxentry", Ns_ObjvObj, &maxEntryObj, NULL},
               {"--", Ns_ObjvBreak, NULL, NULL},
               {"", NULL, NULL, NULL},
               {"-invalidate", Ns_ObjvString, &channel, NULL},
               {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"cache", Ns_ObjvObj, &nameObj, NULL},
                          {"size", Ns_ObjvObj, &sizeObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || GetSize(interp, sizeObj, &settings.maxSize) != TCL_OK
        || (maxEntryObj != NULL
            && GetSize(interp, maxEntryObj, &settings.maxEntry) != TCL_OK)) {
        return TCL_ERROR;
    }
    if (timeoutPtr != NULL) {
        settings.timeout = *timeoutPtr;
    }
    if (expiresPtr != NULL) {
        settings.expires = *expiresPtr;
    }
    return AddCache(ServerOf(clientData), interp, nameObj, &settings, channel);
}

static int
AddCache(NsServer *serverPtr, Tcl_Interp *interp, Tcl_Obj *nameObj,
         const NsTclCacheSettings *createPtr, const char *channel)
{
    NsTclCache *cachePtr = NsTclCacheCreate(serverPtr, Tcl_GetString(nameObj),
                                            createPtr);

    if (cachePtr != NULL && *channel != '\0') {
        SetChannel(serverPtr, cachePtr, channel);
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(cachePtr != NULL));
}

static void
SetChannel(NsServer *serverPtr, NsTclCache *cachePtr, const char *channel)
{
    channel = NsBroadcastJoin(serverPtr, NS_BROADCAST_CACHE, cachePtr->name,
                              channel);
    Ns_CacheLock(cachePtr->cache);
    cachePtr->settings.channel = channel;
    Ns_CacheUnlock(cachePtr->cache);
}

/*
 * ns_cache_get cache key ?varName?
 */
static int
GetCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr;
    Tcl_Obj    *valueObj;

    cachePtr = NsTclCacheLookup(ServerOf(clientData), interp, objv[1]);
    if (cachePtr == NULL) {
        return TCL_ERROR;
    }
    valueObj = NsCacheGetValueObj(cachePtr, Tcl_GetString(objv[2]));
    if (objc == 3 && valueObj == NULL) {
        return NsTclFail(interp, "no such key: %s", Tcl_GetString(objv[2]));
    }
    if (objc == 3) {
        return NsTclReturn(interp, valueObj);
    }
    if (valueObj != NULL
        && Tcl_ObjSetVar2(interp, objv[3], NULL, valueObj, TCL_LEAVE_ERR_MSG)
            == NULL) {
        return TCL_ERROR;
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(valueObj != NULL));
}

/*
 * ns_cache_keys ?-exact? ?--? cache ?pattern?
 */
static int
KeysCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsTclCache    *cachePtr;
    Ns_CacheSearch search;
    Ns_DString     ds;
    Tcl_Obj       *nameObj;
    const char    *pattern = NULL;
    int            isExact = 0;
    Ns_ObjvSpec options[] = {{"-exact", Ns_ObjvBool, &isExact, INT2PTR(true)},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"cache", Ns_ObjvObj, &nameObj, NULL},
                          {"?pattern", Ns_ObjvString, &pattern, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || (cachePtr = NsTclCacheLookup(ServerOf(clientData), interp, nameObj))
            == NULL) {
        return TCL_ERROR;
    }
    isExact = pattern != NULL && (isExact || IsLiteral(pattern));
    Ns_DStringInit(&ds);
    NsCacheTxnKeys(cachePtr, pattern, !isExact, &ds);
    Ns_CacheLock(cachePtr->cache);
    if (isExact) {
        if (Ns_DStringLength(&ds) == 0
            && Ns_CacheFindEntry(cachePtr->cache, pattern) != NULL) {
            Ns_DStringAppendElement(&ds, pattern);
        }
    } else {
        for (Ns_Entry *entry = Ns_CacheFirstEntry(cachePtr->cache, &search);
             entry != NULL; entry = Ns_CacheNextEntry(&search)) {
            const char *key = Ns_CacheKey(entry);

            if ((pattern == NULL || Tcl_StringMatch(key, pattern))
                && NsCacheTxnFind(cachePtr, key) == NULL) {
                Ns_DStringAppendElement(&ds, key);
            }
        }
    }
    Ns_CacheUnlock(cachePtr->cache);
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_cache_flush ?-glob? ?--? cache ?args?
 */
static int
FlushCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr;
    Tcl_Obj    *nameObj;
    int         isGlob = 0, nKeys = 0;
    Ns_ObjvSpec options[] = {{"-glob", Ns_ObjvBool, &isGlob, INT2PTR(true)},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"cache", Ns_ObjvObj, &nameObj, NULL},
                          {"?args", Ns_ObjvArgs, &nKeys, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
        || (cachePtr = NsTclCacheLookup(ServerOf(clientData), interp, nameObj))
            == NULL) {
        return TCL_ERROR;
    }
    return Flush(clientData, interp, cachePtr, isGlob, nKeys,
                 objv + objc - nKeys);
}

static int
Flush(ClientData clientData, Tcl_Interp *interp, NsTclCache *cachePtr,
      bool isGlob, int nKeys, Tcl_Obj *const *keyObjs)
{
    const char    **keys = ns_malloc((size_t) (nKeys + 1) * sizeof(*keys));
    NsBroadcastKeys flush = {.isGlob = isGlob, .n = nKeys, .keys = keys};
    int             nFlushed;

    for (int i = 0; i < nKeys; i++) {
        keys[i] = Tcl_GetString(keyObjs[i]);
    }
    nFlushed = NsCacheFlush(ServerOf(clientData), cachePtr, &flush);
    ns_free(keys);
    return NsTclReturn(interp, Tcl_NewIntObj(nFlushed));
}

/*
 * ns_cache_names
 */
static int
NamesCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsServerArg serverArg;
    Ns_DString  ds;
    int         result = TCL_ERROR;

    if (NsServerArgTake(&serverArg, clientData, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    if (serverArg.objc != 1) {
        Tcl_WrongNumArgs(interp, 1, objv, NULL);
    } else {
        Ns_DStringInit(&ds);
        NsTclCacheNames(serverArg.serverPtr, &ds);
        Tcl_DStringResult(interp, &ds);
        result = TCL_OK;
    }
    NsServerArgFree(&serverArg);
    return result;
}

/*
 * ns_cache_exists cache
 */
static int
ExistsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    return NsTclReturn(interp,
                       Tcl_NewBooleanObj(NsTclCacheFind(ServerOf(clientData),
                                                        Tcl_GetString(objv[1]))
                                         != NULL));
}

/*
 * ns_cache_stats ?-contents? ?-reset? ?--? cache
 */
static int
StatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsServerArg serverArg;
    NsTclCache *cachePtr = NULL;
    Tcl_Obj    *nameObj;
    Ns_DString  ds;
    int         isContents = 0, isReset = 0;
    Ns_ObjvSpec options[] = {
        {"-contents", Ns_ObjvBool, &isContents, INT2PTR(true)},
        {"-reset", Ns_ObjvBool, &isReset, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"cache", Ns_ObjvObj, &nameObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (NsServerArgTake(&serverArg, clientData, objc, objv) != TCL_OK) {
        return TCL_ERROR;
    }
    if (Ns_ParseObjv(options, args, interp, 1, serverArg.objc, serverArg.objv)
        == NS_OK) {
        cachePtr = NsTclCacheLookup(serverArg.serverPtr, interp, nameObj);
    }
    NsServerArgFree(&serverArg);
    if (cachePtr == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    Ns_CacheLock(cachePtr->cache);
    if (isContents) {
        AppendContents(cachePtr, &ds);
    } else {
        Ns_CacheStats(cachePtr->cache, &ds);
    }
    if (isReset) {
        Ns_CacheResetStats(cachePtr->cache);
    }
    Ns_CacheUnlock(cachePtr->cache);
    return NsTclReturnText(interp, &ds);
}

/*
 * {KEY SIZE HITS EXPIRY} for each entry.
 */
static void
AppendContents(NsTclCache *cachePtr, Ns_DString *dsPtr)
{
    Ns_CacheSearch search;

    for (Ns_Entry *entry = Ns_CacheFirstEntry(cachePtr->cache, &search);
         entry != NULL; entry = Ns_CacheNextEntry(&search)) {
        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringAppendElement(dsPtr, Ns_CacheKey(entry));
        Ns_DStringPrintf(dsPtr, " %zu %d", Ns_CacheGetSize(entry),
                         NsCacheGetUses(entry));
        AppendTime(dsPtr, Ns_CacheGetExpirey(entry));
        Tcl_DStringEndSublist(dsPtr);
    }
}

static void
AppendTime(Ns_DString *dsPtr, const Ns_Time *timePtr)
{
    if (timePtr->usec == 0) {
        Ns_DStringPrintf(dsPtr, " %ld", timePtr->sec);
    } else {
        Ns_DStringPrintf(dsPtr, " %ld:%ld", timePtr->sec, timePtr->usec);
    }
}

/*
 * ns_cache_configure cache ?-timeout timeout? ?-expires expires?
 *     ?-maxentry maxentry? ?-maxsize maxsize? ?-invalidate channel?
 */
static int
ConfigureCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsTclCache         *cachePtr;
    NsTclCacheSettings *settingsPtr, settings;
    Ns_Time            *timeoutPtr = NULL, *expiresPtr = NULL;
    Tcl_Obj            *maxEntryObj = NULL, *maxSizeObj = NULL;
    const char         *channel = NULL;
    Ns_ObjvSpec         options[] = {
                {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
                {"-expires", Ns_ObjvTime, &expiresPtr, NULL},
                {"-maxentry", Ns_ObjvObj, &maxEntryObj, NULL},
                {"-maxsize", Ns_ObjvObj, &maxSizeObj, NULL},
                {"-invalidate", Ns_ObjvString, &channel, NULL},
                {NULL, NULL, NULL, NULL}};

    cachePtr = NsTclCacheLookup(ServerOf(clientData), interp, objv[1]);
    if (cachePtr == NULL
        || Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK
        || (maxEntryObj != NULL
            && GetSize(interp, maxEntryObj, &settings.maxEntry) != TCL_OK)
        || (maxSizeObj != NULL
            && GetSize(interp, maxSizeObj, &settings.maxSize) != TCL_OK)) {
        return TCL_ERROR;
    }
    if (channel != NULL) {
        SetChannel(ServerOf(clientData), cachePtr, channel);
    }
    settingsPtr = &cachePtr->settings;
    Ns_CacheLock(cachePtr->cache);
    if (timeoutPtr != NULL) {
        settingsPtr->timeout = *timeoutPtr;
    }
    if (expiresPtr != NULL) {
        settingsPtr->expires = *expiresPtr;
    }
    if (maxEntryObj != NULL) {
        settingsPtr->maxEntry = settings.maxEntry;
    }
    if (maxSizeObj != NULL) {
        settingsPtr->maxSize = settings.maxSize;
        NsCacheSetMaxSize(cachePtr->cache, settings.maxSize);
    }
    settings = *settingsPtr;
    Ns_CacheUnlock(cachePtr->cache);
    return objc > 2 ? TCL_OK : ReturnSettings(interp, &settings);
}

static int
ReturnSettings(Tcl_Interp *interp, const NsTclCacheSettings *settingsPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "maxsize %zu maxentry %zu expires",
                     settingsPtr->maxSize, settingsPtr->maxEntry);
    AppendLimit(&ds, &settingsPtr->expires);
    Ns_DStringAppend(&ds, " timeout");
    AppendLimit(&ds, &settingsPtr->timeout);
    if (settingsPtr->channel != NULL) {
        Ns_DStringAppendElement(&ds, "invalidate");
        Ns_DStringAppendElement(&ds, settingsPtr->channel);
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * No time: an empty word.
 */
static void
AppendLimit(Ns_DString *dsPtr, const Ns_Time *timePtr)
{
    if (timePtr->sec != 0 || timePtr->usec != 0) {
        AppendTime(dsPtr, timePtr);
    } else {
        Ns_DStringAppend(dsPtr, " {}");
    }
}

/*
 * ns_cache_size cache: {maxsize size}.
 */
static int
SizeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr;
    size_t      maxSize, size;

    cachePtr = NsTclCacheLookup(ServerOf(clientData), interp, objv[1]);
    if (cachePtr == NULL) {
        return TCL_ERROR;
    }
    Ns_CacheLock(cachePtr->cache);
    maxSize = NsCacheGetMaxSize(cachePtr->cache);
    size = NsCacheGetSize(cachePtr->cache);
    Ns_CacheUnlock(cachePtr->cache);
    Ns_TclPrintfResult(interp, "%zu %zu", maxSize, size);
    return TCL_OK;
}

/*
 * ns_memoize_flush ?pattern?
 */
static int
MemoizeFlushCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    return Flush(clientData, interp, NsTclCacheMemoize(ServerOf(clientData)),
                 true, objc - 1, objv + 1);
}

/*
 * ns_memoize_stats
 */
static int
MemoizeStatsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr = NsTclCacheMemoize(ServerOf(clientData));
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    Ns_CacheLock(cachePtr->cache);
    Ns_CacheStats(cachePtr->cache, &ds);
    Ns_CacheUnlock(cachePtr->cache);
    return NsTclReturnText(interp, &ds);
}

/*
 * A size in bytes, or with a unit.
 */
static int
GetSize(Tcl_Interp *interp, Tcl_Obj *sizeObj, size_t *sizePtr)
{
    const char *text = Tcl_GetString(sizeObj);
    Tcl_WideInt size;

    if ((Tcl_GetWideIntFromObj(NULL, sizeObj, &size) != TCL_OK
         && !NsUnitsSize(text, &size))
        || size < 0) {
        return NsTclFailValue(interp, "SIZE", "expected integer but got \"%s\"",
                              text);
    }
    *sizePtr = (size_t) size;
    return TCL_OK;
}

static bool
IsLiteral(const char *pattern)
{
    return strpbrk(pattern, "*?[\\") == NULL;
}

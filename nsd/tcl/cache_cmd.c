/*
 * cache_cmd.c --
 *
 *      ns_cache_*, ns_memoize, and the older ns_cache.
 *
 *      While a thread computes a value, its entry stands in the cache without
 *      one, and others who ask for the key wait.
 */

#include "ns.h"
#include "base/cache.h"
#include "base/clock.h"
#include "process/units.h"
#include "tcl/commands.h"
#include "tcl/interp.h"
#include "tcl/tclcache.h"

/*
 * The command line of those commands that make or change a value.
 */
typedef struct Update {
    NsTclCache *cachePtr;
    Ns_Entry   *entry;          /* After LockEntry. */
    bool        isNew;
    const char *key;
    Ns_Time    *timeoutPtr;     /* NULL: not given. */
    Ns_Time    *expiresPtr;
    int         isForced;
    int         nArgs;          /* Words behind the key. */
    Tcl_Obj    *const *args;
} Update;

static Tcl_ObjCmdProc CreateObjCmd;
static Tcl_ObjCmdProc EvalObjCmd;
static Tcl_ObjCmdProc IncrObjCmd;
static Tcl_ObjCmdProc AppendObjCmd;
static Tcl_ObjCmdProc LappendObjCmd;
static Tcl_ObjCmdProc GetObjCmd;
static Tcl_ObjCmdProc KeysObjCmd;
static Tcl_ObjCmdProc FlushObjCmd;
static Tcl_ObjCmdProc NamesObjCmd;
static Tcl_ObjCmdProc ExistsObjCmd;
static Tcl_ObjCmdProc StatsObjCmd;
static Tcl_ObjCmdProc ConfigureObjCmd;
static Tcl_ObjCmdProc SizeObjCmd;
static Tcl_ObjCmdProc MemoizeObjCmd;
static Tcl_ObjCmdProc MemoizeFlushObjCmd;
static Tcl_ObjCmdProc MemoizeStatsObjCmd;
static Tcl_ObjCmdProc CacheObjCmd;

static int CreateOld(NsServer *serverPtr, Tcl_Interp *interp, int objc,
                     Tcl_Obj *const *objv);
static int SetOld(NsServer *serverPtr, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv);
static int ParseUpdate(ClientData clientData, Tcl_Interp *interp, int objc,
                       Tcl_Obj *const *objv, Update *updatePtr);
static int LockEntry(Tcl_Interp *interp, Update *updatePtr);
static int Eval(Tcl_Interp *interp, Update *updatePtr);
static int AppendWords(ClientData clientData, Tcl_Interp *interp, int objc,
                       Tcl_Obj *const *objv, bool isList);
static NsTclCache *FindCache(NsServer *serverPtr, Tcl_Interp *interp,
                             Tcl_Obj *nameObj);
static int AddCache(NsServer *serverPtr, Tcl_Interp *interp, Tcl_Obj *nameObj,
                    const NsTclCacheSettings *settingsPtr);
static int GetSize(Tcl_Interp *interp, Tcl_Obj *sizeObj, size_t *sizePtr);
static int FlushMatching(NsTclCache *cachePtr, const char *pattern);
static int FlushKey(NsTclCache *cachePtr, const char *key);
static void AppendContents(NsTclCache *cachePtr, Ns_DString *dsPtr);
static void AppendTime(Ns_DString *dsPtr, const Ns_Time *timePtr);
static bool IsLiteral(const char *pattern);
static Tcl_Obj *ValueObj(Ns_Entry *entry);

static const NsTclCommand commands[] = {
    {"ns_cache_create",    CreateObjCmd, false},
    {"ns_cache_eval",      EvalObjCmd, false},
    {"ns_cache_incr",      IncrObjCmd, false},
    {"ns_cache_append",    AppendObjCmd, false},
    {"ns_cache_lappend",   LappendObjCmd, false},
    {"ns_cache_get",       GetObjCmd, false},
    {"ns_cache_keys",      KeysObjCmd, false},
    {"ns_cache_flush",     FlushObjCmd, false},
    {"ns_cache_names",     NamesObjCmd, false},
    {"ns_cache_exists",    ExistsObjCmd, false},
    {"ns_cache_stats",     StatsObjCmd, false},
    {"ns_cache_configure", ConfigureObjCmd, false},
    {"ns_cache_size",      SizeObjCmd, false},
    {"ns_memoize",         MemoizeObjCmd, false},
    {"ns_memoize_flush",   MemoizeFlushObjCmd, false},
    {"ns_memoize_stats",   MemoizeStatsObjCmd, false},
    {"ns_cache",           CacheObjCmd, false},
    {NULL, NULL, false}
};


void
NsCacheCmdInit(void)
{
    NsTclAddCommands(commands);
}

static NsServer *
ServerOf(ClientData clientData)
{
    return ((NsInterp *) clientData)->serverPtr;
}

/*
 * ns_cache_create ?-timeout timeout? ?-expires expires? ?-maxentry maxentry?
 *     ?--? cache size
 */
static int
CreateObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsTclCacheSettings settings = {0};
    Ns_Time    *timeoutPtr = NULL, *expiresPtr = NULL;
    Tcl_Obj    *nameObj, *sizeObj, *maxEntryObj = NULL;
    Ns_ObjvSpec options[] = {
        {"-timeout",  Ns_ObjvTime,  &timeoutPtr,  NULL},
        {"-expires",  Ns_ObjvTime,  &expiresPtr,  NULL},
        {"-maxentry", Ns_ObjvObj,   &maxEntryObj, NULL},
        {"--",        Ns_ObjvBreak, NULL,         NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"cache", Ns_ObjvObj, &nameObj, NULL},
        {"size",  Ns_ObjvObj, &sizeObj, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
            || GetSize(interp, sizeObj, &settings.maxSize) != TCL_OK
            || (maxEntryObj != NULL
                && GetSize(interp, maxEntryObj, &settings.maxEntry)
                   != TCL_OK)) {
        return TCL_ERROR;
    }
    if (timeoutPtr != NULL) {
        settings.timeout = *timeoutPtr;
    }
    if (expiresPtr != NULL) {
        settings.expires = *expiresPtr;
    }
    return AddCache(ServerOf(clientData), interp, nameObj, &settings);
}

static int
AddCache(NsServer *serverPtr, Tcl_Interp *interp, Tcl_Obj *nameObj,
         const NsTclCacheSettings *settingsPtr)
{
    const char *name = Tcl_GetString(nameObj);

    if (NsTclCacheCreate(serverPtr, name, settingsPtr) == NULL) {
        Ns_TclPrintfResult(interp, "duplicate cache name: %s", name);
        return TCL_ERROR;
    }
    return TCL_OK;
}

/*
 * ns_cache_eval ?-timeout timeout? ?-expires expires? ?-force? ?--? cache key
 *     args
 */
static int
EvalObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Update      update = {0};
    Tcl_Obj    *nameObj;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime,  &update.timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime,  &update.expiresPtr, NULL},
        {"-force",   Ns_ObjvBool,  &update.isForced,   INT2PTR(NS_TRUE)},
        {"--",       Ns_ObjvBreak, NULL,               NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"cache", Ns_ObjvObj,    &nameObj,      NULL},
        {"key",   Ns_ObjvString, &update.key,   NULL},
        {"args",  Ns_ObjvArgs,   &update.nArgs, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    update.args = objv + objc - update.nArgs;
    update.cachePtr = FindCache(ServerOf(clientData), interp, nameObj);
    return update.cachePtr == NULL ? TCL_ERROR : Eval(interp, &update);
}

/*
 * The value in the cache, or else that of the script (one word) or command
 * (several), which is stored.
 */
static int
Eval(Tcl_Interp *interp, Update *updatePtr)
{
    Ns_Cache *cache = updatePtr->cachePtr->cache;
    NsStamp   startStamp;
    int       result;

    if (LockEntry(interp, updatePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (!updatePtr->isNew && !updatePtr->isForced) {
        Tcl_Obj *valueObj = ValueObj(updatePtr->entry);

        Ns_CacheUnlock(cache);
        Tcl_SetObjResult(interp, valueObj);
        return TCL_OK;
    }
    if (!updatePtr->isNew) {
        Ns_CacheUnsetValue(updatePtr->entry);
    }
    Ns_CacheUnlock(cache);

    startStamp = NsClockNow();
    result = updatePtr->nArgs == 1
        ? Tcl_EvalObjEx(interp, updatePtr->args[0], 0)
        : Tcl_EvalObjv(interp, updatePtr->nArgs, updatePtr->args, 0);

    Ns_CacheLock(cache);
    if (result == TCL_OK || result == TCL_RETURN) {
        int         length;
        NsStamp     cost = (NsClockNow() - startStamp) / 1000;
        const char *text = Tcl_GetStringFromObj(Tcl_GetObjResult(interp),
                                                &length);

        NsTclCacheStore(updatePtr->cachePtr, updatePtr->entry, text,
                        (size_t) length, updatePtr->expiresPtr,
                        (int) MIN(cost, INT_MAX));
        result = TCL_OK;
    } else {
        Ns_CacheDeleteEntry(updatePtr->entry);
    }
    Ns_CacheUnlock(cache);
    return result;
}

/*
 * ns_cache_incr ?-timeout timeout? ?-expires expires? ?--? cache key ?incr?
 */
static int
IncrObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Update      update = {0};
    Tcl_Obj    *nameObj, *valueObj;
    int         incr = 1, result = TCL_OK;
    Tcl_WideInt number = 0;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime,  &update.timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime,  &update.expiresPtr, NULL},
        {"--",       Ns_ObjvBreak, NULL,               NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"cache", Ns_ObjvObj,    &nameObj,    NULL},
        {"key",   Ns_ObjvString, &update.key, NULL},
        {"?incr", Ns_ObjvInt,    &incr,       NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    update.cachePtr = FindCache(ServerOf(clientData), interp, nameObj);
    if (update.cachePtr == NULL || LockEntry(interp, &update) != TCL_OK) {
        return TCL_ERROR;
    }
    if (!update.isNew) {
        valueObj = ValueObj(update.entry);
        Tcl_IncrRefCount(valueObj);
        result = Tcl_GetWideIntFromObj(interp, valueObj, &number);
        Tcl_DecrRefCount(valueObj);
    }
    if (result == TCL_OK) {
        char text[32];

        number = (Tcl_WideInt) ((Tcl_WideUInt) number + (Tcl_WideUInt) incr);
        snprintf(text, sizeof(text), "%" PRId64, (int64_t) number);
        NsTclCacheStore(update.cachePtr, update.entry, text, strlen(text),
                        update.expiresPtr, 0);
        Tcl_SetObjResult(interp, Tcl_NewWideIntObj(number));
    }
    Ns_CacheUnlock(update.cachePtr->cache);
    return result;
}

/*
 * ns_cache_append ?-timeout timeout? ?-expires expires? ?--? cache key args
 */
static int
AppendObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return AppendWords(clientData, interp, objc, objv, false);
}

/*
 * ns_cache_lappend ?-timeout timeout? ?-expires expires? ?--? cache key args
 */
static int
LappendObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return AppendWords(clientData, interp, objc, objv, true);
}

static int
AppendWords(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv, bool isList)
{
    Update     update;
    Ns_DString ds;

    if (ParseUpdate(clientData, interp, objc, objv, &update) != TCL_OK
            || LockEntry(interp, &update) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    if (!update.isNew) {
        NsTclCacheValue *valuePtr = Ns_CacheGetValue(update.entry);

        Ns_DStringNAppend(&ds, valuePtr->text, (int) valuePtr->length);
    }
    for (int i = 0; i < update.nArgs; i++) {
        if (isList) {
            Ns_DStringAppendElement(&ds, Tcl_GetString(update.args[i]));
        } else {
            Ns_DStringAppend(&ds, Tcl_GetString(update.args[i]));
        }
    }
    NsTclCacheStore(update.cachePtr, update.entry, ds.string,
                    (size_t) ds.length, update.expiresPtr, 0);
    Ns_CacheUnlock(update.cachePtr->cache);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

static int
ParseUpdate(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv, Update *updatePtr)
{
    Tcl_Obj    *nameObj;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime,  &updatePtr->timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime,  &updatePtr->expiresPtr, NULL},
        {"--",       Ns_ObjvBreak, NULL,                   NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"cache", Ns_ObjvObj,    &nameObj,          NULL},
        {"key",   Ns_ObjvString, &updatePtr->key,   NULL},
        {"args",  Ns_ObjvArgs,   &updatePtr->nArgs, NULL},
        {NULL, NULL, NULL, NULL}
    };

    *updatePtr = (Update) {0};
    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    updatePtr->args = objv + objc - updatePtr->nArgs;
    updatePtr->cachePtr = FindCache(ServerOf(clientData), interp, nameObj);
    return updatePtr->cachePtr != NULL ? TCL_OK : TCL_ERROR;
}

/*
 * Lock the cache and find the entry, or make it: then it is ours to fill.  On
 * failure nothing is locked.
 */
static int
LockEntry(Tcl_Interp *interp, Update *updatePtr)
{
    NsTclCache *cachePtr = updatePtr->cachePtr;
    Ns_Time     timeout;
    int         isNew;

    Ns_CacheLock(cachePtr->cache);
    timeout = updatePtr->timeoutPtr != NULL ? *updatePtr->timeoutPtr
        : cachePtr->settings.timeout;
    updatePtr->entry = Ns_CacheWaitCreateEntry(cachePtr->cache, updatePtr->key,
        &isNew, timeout.sec != 0 || timeout.usec != 0 ? &timeout : NULL);
    if (updatePtr->entry == NULL) {
        Ns_CacheUnlock(cachePtr->cache);
        Ns_TclPrintfResult(interp, "timeout waiting for concurrent update: %s",
                           updatePtr->key);
        Tcl_SetErrorCode(interp, "NS_TIMEOUT", NULL);
        return TCL_ERROR;
    }
    updatePtr->isNew = isNew != 0;
    return TCL_OK;
}

/*
 * ns_cache_get cache key ?varName?
 */
static int
GetObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr;
    Ns_Entry   *entry;
    Tcl_Obj    *valueObj = NULL;

    if (objc != 3 && objc != 4) {
        Tcl_WrongNumArgs(interp, 1, objv, "cache key ?varName?");
        return TCL_ERROR;
    }
    cachePtr = FindCache(ServerOf(clientData), interp, objv[1]);
    if (cachePtr == NULL) {
        return TCL_ERROR;
    }
    Ns_CacheLock(cachePtr->cache);
    entry = Ns_CacheFindEntry(cachePtr->cache, Tcl_GetString(objv[2]));
    if (entry != NULL) {
        valueObj = ValueObj(entry);
    }
    Ns_CacheUnlock(cachePtr->cache);

    if (objc == 3 && valueObj == NULL) {
        Ns_TclPrintfResult(interp, "no such key: %s", Tcl_GetString(objv[2]));
        return TCL_ERROR;
    }
    if (objc == 3) {
        Tcl_SetObjResult(interp, valueObj);
        return TCL_OK;
    }
    if (valueObj != NULL
            && Tcl_ObjSetVar2(interp, objv[3], NULL, valueObj,
                              TCL_LEAVE_ERR_MSG) == NULL) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(valueObj != NULL));
    return TCL_OK;
}

/*
 * ns_cache_keys ?-exact? ?--? cache ?pattern?
 */
static int
KeysObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsTclCache    *cachePtr;
    Ns_CacheSearch search;
    Ns_DString     ds;
    Tcl_Obj       *nameObj;
    const char    *pattern = NULL;
    int            isExact = 0;
    Ns_ObjvSpec    options[] = {
        {"-exact", Ns_ObjvBool,  &isExact, INT2PTR(NS_TRUE)},
        {"--",     Ns_ObjvBreak, NULL,     NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec    args[] = {
        {"cache",    Ns_ObjvObj,    &nameObj, NULL},
        {"?pattern", Ns_ObjvString, &pattern, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
            || (cachePtr = FindCache(ServerOf(clientData), interp, nameObj))
               == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    Ns_CacheLock(cachePtr->cache);
    if (pattern != NULL && (isExact || IsLiteral(pattern))) {
        if (Ns_CacheFindEntry(cachePtr->cache, pattern) != NULL) {
            Ns_DStringAppendElement(&ds, pattern);
        }
    } else {
        for (Ns_Entry *entry = Ns_CacheFirstEntry(cachePtr->cache, &search);
             entry != NULL; entry = Ns_CacheNextEntry(&search)) {
            const char *key = Ns_CacheKey(entry);

            if (pattern == NULL || Tcl_StringMatch(key, pattern)) {
                Ns_DStringAppendElement(&ds, key);
            }
        }
    }
    Ns_CacheUnlock(cachePtr->cache);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * ns_cache_flush ?-glob? ?--? cache ?args?
 */
static int
FlushObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr;
    Tcl_Obj    *nameObj;
    int         isGlob = 0, nKeys = 0, nFlushed = 0;
    Ns_ObjvSpec options[] = {
        {"-glob", Ns_ObjvBool,  &isGlob, INT2PTR(NS_TRUE)},
        {"--",    Ns_ObjvBreak, NULL,    NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"cache", Ns_ObjvObj,  &nameObj, NULL},
        {"?args", Ns_ObjvArgs, &nKeys,   NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
            || (cachePtr = FindCache(ServerOf(clientData), interp, nameObj))
               == NULL) {
        return TCL_ERROR;
    }
    Ns_CacheLock(cachePtr->cache);
    if (nKeys == 0) {
        nFlushed = Ns_CacheFlush(cachePtr->cache);
    }
    for (int i = objc - nKeys; i < objc; i++) {
        const char *key = Tcl_GetString(objv[i]);

        nFlushed += isGlob ? FlushMatching(cachePtr, key)
            : FlushKey(cachePtr, key);
    }
    Ns_CacheUnlock(cachePtr->cache);
    Tcl_SetObjResult(interp, Tcl_NewIntObj(nFlushed));
    return TCL_OK;
}

/*
 * With the cache locked.
 */
static int
FlushKey(NsTclCache *cachePtr, const char *key)
{
    Ns_Entry *entry = Ns_CacheFindEntry(cachePtr->cache, key);

    if (entry == NULL) {
        return 0;
    }
    Ns_CacheFlushEntry(entry);
    return 1;
}

static int
FlushMatching(NsTclCache *cachePtr, const char *pattern)
{
    Ns_CacheSearch search;
    int            nFlushed = 0;

    for (Ns_Entry *entry = Ns_CacheFirstEntry(cachePtr->cache, &search);
         entry != NULL; entry = Ns_CacheNextEntry(&search)) {
        if (Tcl_StringMatch(Ns_CacheKey(entry), pattern)) {
            Ns_CacheFlushEntry(entry);
            nFlushed++;
        }
    }
    return nFlushed;
}

/*
 * ns_cache_names
 */
static int
NamesObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    Ns_DString ds;

    if (objc != 1) {
        Tcl_WrongNumArgs(interp, 1, objv, NULL);
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    NsTclCacheNames(ServerOf(clientData), &ds);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * ns_cache_exists cache
 */
static int
ExistsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "cache");
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(
        NsTclCacheFind(ServerOf(clientData), Tcl_GetString(objv[1])) != NULL));
    return TCL_OK;
}

/*
 * ns_cache_stats ?-contents? ?-reset? ?--? cache
 */
static int
StatsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr;
    Tcl_Obj    *nameObj;
    Ns_DString  ds;
    int         isContents = 0, isReset = 0;
    Ns_ObjvSpec options[] = {
        {"-contents", Ns_ObjvBool,  &isContents, INT2PTR(NS_TRUE)},
        {"-reset",    Ns_ObjvBool,  &isReset,    INT2PTR(NS_TRUE)},
        {"--",        Ns_ObjvBreak, NULL,        NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"cache", Ns_ObjvObj, &nameObj, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK
            || (cachePtr = FindCache(ServerOf(clientData), interp, nameObj))
               == NULL) {
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
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
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
 *     ?-maxentry maxentry? ?-maxsize maxsize?
 */
static int
ConfigureObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    NsTclCache         *cachePtr;
    NsTclCacheSettings *settingsPtr, settings;
    Ns_DString          ds;
    Ns_Time    *timeoutPtr = NULL, *expiresPtr = NULL;
    Tcl_Obj    *maxEntryObj = NULL, *maxSizeObj = NULL;
    Ns_ObjvSpec options[] = {
        {"-timeout",  Ns_ObjvTime, &timeoutPtr,  NULL},
        {"-expires",  Ns_ObjvTime, &expiresPtr,  NULL},
        {"-maxentry", Ns_ObjvObj,  &maxEntryObj, NULL},
        {"-maxsize",  Ns_ObjvObj,  &maxSizeObj,  NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "cache ?-timeout timeout?"
                         " ?-expires expires? ?-maxentry maxentry?"
                         " ?-maxsize maxsize?");
        return TCL_ERROR;
    }
    cachePtr = FindCache(ServerOf(clientData), interp, objv[1]);
    if (cachePtr == NULL
            || Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK
            || (maxEntryObj != NULL
                && GetSize(interp, maxEntryObj, &settings.maxEntry) != TCL_OK)
            || (maxSizeObj != NULL
                && GetSize(interp, maxSizeObj, &settings.maxSize) != TCL_OK)) {
        return TCL_ERROR;
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

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "maxsize %zu maxentry %zu expires", settings.maxSize,
                     settings.maxEntry);
    if (settings.expires.sec != 0 || settings.expires.usec != 0) {
        AppendTime(&ds, &settings.expires);
    } else {
        Ns_DStringAppend(&ds, " {}");
    }
    Ns_DStringAppend(&ds, " timeout");
    if (settings.timeout.sec != 0 || settings.timeout.usec != 0) {
        AppendTime(&ds, &settings.timeout);
    } else {
        Ns_DStringAppend(&ds, " {}");
    }
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * ns_cache_size cache: {maxsize size}.
 */
static int
SizeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr;
    size_t      maxSize, size;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "cache");
        return TCL_ERROR;
    }
    cachePtr = FindCache(ServerOf(clientData), interp, objv[1]);
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
 * ns_memoize ?-timeout timeout? ?-expires expires? ?--? script ?args?
 */
static int
MemoizeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Update      update = {0};
    Tcl_Obj    *keyObj;
    int         result;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime,  &update.timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime,  &update.expiresPtr, NULL},
        {"--",       Ns_ObjvBreak, NULL,               NULL},
        {NULL, NULL, NULL, NULL}
    };
    Ns_ObjvSpec args[] = {
        {"?args", Ns_ObjvArgs, &update.nArgs, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (update.nArgs == 0) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(
            "wrong # args: should be \"?-timeout timeout? ?-expires expires?"
            " ?--? script ?args?\"", -1));
        return TCL_ERROR;
    }
    update.args = objv + objc - update.nArgs;
    update.cachePtr = NsTclCacheMemoize(ServerOf(clientData));
    keyObj = Tcl_ConcatObj(update.nArgs, update.args);
    Tcl_IncrRefCount(keyObj);
    update.key = Tcl_GetString(keyObj);
    result = Eval(interp, &update);
    Tcl_DecrRefCount(keyObj);
    return result;
}

/*
 * ns_memoize_flush ?pattern?
 */
static int
MemoizeFlushObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                   Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr = NsTclCacheMemoize(ServerOf(clientData));
    int         nFlushed;

    if (objc > 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "?pattern?");
        return TCL_ERROR;
    }
    Ns_CacheLock(cachePtr->cache);
    nFlushed = objc == 1 ? Ns_CacheFlush(cachePtr->cache)
        : FlushMatching(cachePtr, Tcl_GetString(objv[1]));
    Ns_CacheUnlock(cachePtr->cache);
    Tcl_SetObjResult(interp, Tcl_NewIntObj(nFlushed));
    return TCL_OK;
}

/*
 * ns_memoize_stats
 */
static int
MemoizeStatsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                   Tcl_Obj *const *objv)
{
    NsTclCache *cachePtr = NsTclCacheMemoize(ServerOf(clientData));
    Ns_DString  ds;

    if (objc != 1) {
        Tcl_WrongNumArgs(interp, 1, objv, NULL);
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    Ns_CacheLock(cachePtr->cache);
    Ns_CacheStats(cachePtr->cache, &ds);
    Ns_CacheUnlock(cachePtr->cache);
    Tcl_DStringResult(interp, &ds);
    return TCL_OK;
}

/*
 * ns_cache create|eval|flush|get|set|names cache ...
 *
 * As AOLserver had it.
 */
static int
CacheObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    static const char *const names[] = {
        "create", "eval", "flush", "get", "set", "names", NULL
    };
    enum {CREATE, EVAL, FLUSH, GET, SET, NAMES} subcmd;
    static Tcl_ObjCmdProc *const procs[] = {
        [EVAL] = EvalObjCmd, [FLUSH] = FlushObjCmd, [GET] = GetObjCmd,
        [NAMES] = KeysObjCmd
    };
    NsServer *serverPtr = ServerOf(clientData);
    int       index;

    if (objc < 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "option cache ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], names, "option", 0, &index)
            != TCL_OK) {
        return TCL_ERROR;
    }
    subcmd = index;
    switch (subcmd) {
    case CREATE:
        return CreateOld(serverPtr, interp, objc, objv);
    case SET:
        return SetOld(serverPtr, interp, objc, objv);
    default:
        return procs[subcmd](clientData, interp, objc - 1, objv + 1);
    }
}

/*
 * ns_cache create cache ?-size size? ?-timeout timeout?: the timeout is the
 * time that entries live.
 */
static int
CreateOld(NsServer *serverPtr, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsTclCacheSettings settings = {0};
    Ns_Time    *expiresPtr = NULL;
    Tcl_Obj    *sizeObj = NULL;
    Ns_ObjvSpec options[] = {
        {"-size",    Ns_ObjvObj,  &sizeObj,    NULL},
        {"-timeout", Ns_ObjvTime, &expiresPtr, NULL},
        {NULL, NULL, NULL, NULL}
    };

    if (Ns_ParseObjv(options, NULL, interp, 3, objc, objv) != NS_OK
            || (sizeObj != NULL
                && GetSize(interp, sizeObj, &settings.maxSize) != TCL_OK)) {
        return TCL_ERROR;
    }
    if (expiresPtr != NULL) {
        settings.expires = *expiresPtr;
    }
    return AddCache(serverPtr, interp, objv[2], &settings);
}

/*
 * ns_cache set cache key value
 */
static int
SetOld(NsServer *serverPtr, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Update      update = {0};
    const char *text;
    int         length;

    if (objc != 5) {
        Tcl_WrongNumArgs(interp, 2, objv, "cache key value");
        return TCL_ERROR;
    }
    update.key = Tcl_GetString(objv[3]);
    update.cachePtr = FindCache(serverPtr, interp, objv[2]);
    if (update.cachePtr == NULL || LockEntry(interp, &update) != TCL_OK) {
        return TCL_ERROR;
    }
    text = Tcl_GetStringFromObj(objv[4], &length);
    NsTclCacheStore(update.cachePtr, update.entry, text, (size_t) length, NULL,
                    0);
    Ns_CacheUnlock(update.cachePtr->cache);
    Tcl_SetObjResult(interp, objv[4]);
    return TCL_OK;
}

static NsTclCache *
FindCache(NsServer *serverPtr, Tcl_Interp *interp, Tcl_Obj *nameObj)
{
    const char *name = Tcl_GetString(nameObj);
    NsTclCache *cachePtr = NsTclCacheFind(serverPtr, name);

    if (cachePtr == NULL) {
        Ns_TclPrintfResult(interp, "no such cache: %s", name);
    }
    return cachePtr;
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
         && !NsUnitsSize(text, &size)) || size < 0) {
        Ns_TclPrintfResult(interp, "expected integer but got \"%s\"", text);
        return TCL_ERROR;
    }
    *sizePtr = (size_t) size;
    return TCL_OK;
}

static bool
IsLiteral(const char *pattern)
{
    return strpbrk(pattern, "*?[\\") == NULL;
}

/*
 * With the cache locked.
 */
static Tcl_Obj *
ValueObj(Ns_Entry *entry)
{
    NsTclCacheValue *valuePtr = Ns_CacheGetValue(entry);

    return Tcl_NewStringObj(valuePtr->text, (int) valuePtr->length);
}

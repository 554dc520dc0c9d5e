/* SPDX-License-Identifier: MPL-2.0
 * cacheupdate_cmd.c --
 *
 *      Values of caches: ns_cache_eval, incr, append, lappend, ns_memoize; and
 *      transactions on them: ns_cache_transaction_begin, commit, rollback.
 *
 *      While a thread computes a value, its entry is in the cache without
 *      one, and others who ask for the key wait.  What is to replace a value
 *      (-force) is computed beside it: others find the one that is there.  In a
 *      transaction the thread works on values of its own, and nobody waits.
 */

#include "tcl/cacheupdate_cmd.h"
#include "ns.h"
#include "base/cache.h"
#include "base/clock.h"
#include "tcl/cachetxn.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

/*
 * The command line of those commands that make or change a value.
 */
typedef struct Update {
    NsTclCache *cachePtr;
    Ns_Entry   *entry; /* Ours to fill, the cache being locked; NULL in
                        * a transaction. */
    bool        isNew;
    Tcl_Obj    *oldObj; /* Begin .. End: the value; NULL if none. */
    const char *key;
    Ns_Time    *timeoutPtr; /* NULL: not given. */
    Ns_Time    *expiresPtr;
    int         isForced;
    size_t      length, limit; /* What was too long to be stored. */
    uint64_t   *nFlushesPtr;   /* In a transaction, of a computed value:
                                * flushes of the cache before. */
    uint64_t        number;    /* Of a value begun beside the old one. */
    int             nArgs;     /* Words behind the key. */
    Tcl_Obj *const *args;
} Update;

static Tcl_ObjCmdProc CacheEvalCmd, IncrCmd, AppendCmd, LappendCmd, MemoizeCmd,
    BeginCmd, CommitCmd, RollbackCmd;

static int  ParseUpdate(ClientData clientData, Tcl_Interp *interp, int objc,
                        Tcl_Obj *const *objv, Update *updatePtr);
static int  Eval(Tcl_Interp *interp, Update *updatePtr);
static int  Replace(Tcl_Interp *interp, Update *updatePtr);
static bool FindOlder(Update *updatePtr, uint64_t nFlushes);
static int  EvalInTransaction(Tcl_Interp *interp, Update *updatePtr);
static int  Compute(Tcl_Interp *interp, const Update *updatePtr,
                    int *microsecondsPtr);
static int  AppendWords(ClientData clientData, Tcl_Interp *interp, int objc,
                        Tcl_Obj *const *objv, bool isList);
static int  Begin(Tcl_Interp *interp, Update *updatePtr);
static void Store(Update *updatePtr, const char *text, size_t length, int cost);
static void End(Update *updatePtr);
static int  LockEntry(Tcl_Interp *interp, Update *updatePtr);
static int  EndTransaction(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                           int (*endProc)(bool isAll));

static NsCleanupProc Abandon;

static const NsTclCommand commands[] = {
    {"ns_cache_eval", CacheEvalCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_incr", IncrCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_append", AppendCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_lappend", LappendCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_memoize", MemoizeCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_transaction_begin", BeginCmd, 0, 0, NULL, 0},
    {"ns_cache_transaction_commit", CommitCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_cache_transaction_rollback", RollbackCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

void
NsCacheUpdateCmdInit(void)
{
    NsTclAddCommands(commands);
    NsInterpAddCleanup(NS_CLEANUP_RELEASE, Abandon);
}

static void
Abandon(NsInterp *itPtr)
{
    NsCacheTxnAbandon();
}

static NsServer *
ServerOf(ClientData clientData)
{
    return ((NsInterp *) clientData)->serverPtr;
}

/*
 * ns_cache_eval ?-timeout timeout? ?-expires expires? ?-force? ?--? cache key
 *     args
 */
static int
CacheEvalCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Update      update = {0};
    Tcl_Obj    *nameObj;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime, &update.timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime, &update.expiresPtr, NULL},
        {"-force", Ns_ObjvBool, &update.isForced, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"cache", Ns_ObjvObj, &nameObj, NULL},
                          {"key", Ns_ObjvString, &update.key, NULL},
                          {"args", Ns_ObjvArgs, &update.nArgs, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    update.args = objv + objc - update.nArgs;
    update.cachePtr = NsTclCacheLookup(ServerOf(clientData), interp, nameObj);
    return update.cachePtr == NULL ? TCL_ERROR : Eval(interp, &update);
}

/*
 * The value in the cache, or else that of the script (one word) or command
 * (several), which is stored.
 */
static int
Eval(Tcl_Interp *interp, Update *updatePtr)
{
    Ns_Cache      *cache = updatePtr->cachePtr->cache;
    NsTclCacheWork work;
    int            result, microseconds;

    if (NsTclCacheIsOff()) {
        return Compute(interp, updatePtr, &microseconds);
    }
    if (NsCacheTxnIsActive()) {
        return EvalInTransaction(interp, updatePtr);
    }
    if (LockEntry(interp, updatePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (!updatePtr->isNew && !updatePtr->isForced) {
        Tcl_Obj *valueObj =
            NsTclCacheValueObj(Ns_CacheGetValue(updatePtr->entry));

        Ns_CacheUnlock(cache);
        return NsTclReturn(interp, valueObj);
    }
    if (!updatePtr->isNew) {
        return Replace(interp, updatePtr);
    }
    Ns_CacheUnlock(cache);

    NsTclCacheWorkBegin(&work, updatePtr->cachePtr, updatePtr->key);
    result = Compute(interp, updatePtr, &microseconds);
    NsTclCacheWorkEnd(&work);

    Ns_CacheLock(cache);
    if (result == TCL_OK && !NsCacheIsDisowned(updatePtr->entry)) {
        int         length;
        const char *text = Tcl_GetStringFromObj(Tcl_GetObjResult(interp),
                                                &length);

        Store(updatePtr, text, (size_t) length, microseconds);
    } else {
        Ns_CacheDeleteEntry(updatePtr->entry);
    }
    End(updatePtr);
    return result;
}

/*
 * Compute a value while the old one stays, and store it unless the key has got
 * one meanwhile that was begun later.  Called with the cache locked.
 */
static int
Replace(Tcl_Interp *interp, Update *updatePtr)
{
    NsTclCache    *cachePtr = updatePtr->cachePtr;
    uint64_t       nFlushes = cachePtr->nFlushes;
    NsTclCacheWork work;
    int            result, microseconds;

    updatePtr->number = ++cachePtr->nValues;
    Ns_CacheUnlock(cachePtr->cache);
    updatePtr->entry = NULL;

    NsTclCacheWorkBegin(&work, cachePtr, updatePtr->key);
    result = Compute(interp, updatePtr, &microseconds);
    NsTclCacheWorkEnd(&work);
    if (result != TCL_OK) {
        return result;
    }

    Ns_CacheLock(cachePtr->cache);
    if (FindOlder(updatePtr, nFlushes)) {
        int         length;
        const char *text = Tcl_GetStringFromObj(Tcl_GetObjResult(interp),
                                                &length);

        Store(updatePtr, text, (size_t) length, microseconds);
        End(updatePtr);
    } else {
        Ns_CacheUnlock(cachePtr->cache);
    }
    return TCL_OK;
}

/*
 * Find the entry again, or make it, if the value may be stored: not when the
 * entry has a later value or is being filled, nor when it is gone and may have
 * been flushed.
 */
static bool
FindOlder(Update *updatePtr, uint64_t nFlushes)
{
    NsTclCache            *cachePtr = updatePtr->cachePtr;
    const NsTclCacheValue *valuePtr;
    Ns_Entry              *entry;
    int                    isNew;

    entry = NsCacheEnterAgain(cachePtr->cache, updatePtr->key, &isNew);
    valuePtr = Ns_CacheGetValue(entry);
    if (isNew != 0 && cachePtr->nFlushes != nFlushes) {
        Ns_CacheDeleteEntry(entry);
        return false;
    }
    updatePtr->entry = entry;
    return isNew != 0
        || (valuePtr != NULL && valuePtr->number < updatePtr->number);
}

static int
EvalInTransaction(Tcl_Interp *interp, Update *updatePtr)
{
    Tcl_Obj    *valueObj = updatePtr->isForced
           ? NULL
           : NsCacheGetValueObj(updatePtr->cachePtr, updatePtr->key);
    uint64_t    nFlushes;
    const char *text;
    int         result, length, microseconds;

    if (valueObj != NULL) {
        return NsTclReturn(interp, valueObj);
    }
    if (!updatePtr->isForced) {
        Ns_CacheLock(updatePtr->cachePtr->cache);
        nFlushes = updatePtr->cachePtr->nFlushes;
        updatePtr->nFlushesPtr = &nFlushes;
        Ns_CacheUnlock(updatePtr->cachePtr->cache);
    }
    result = Compute(interp, updatePtr, &microseconds);
    if (result == TCL_OK) {
        /* The transaction may have ended meanwhile. */
        result = Begin(interp, updatePtr);
    }
    if (result == TCL_OK) {
        text = Tcl_GetStringFromObj(Tcl_GetObjResult(interp), &length);
        Store(updatePtr, text, (size_t) length, microseconds);
        End(updatePtr);
    }
    return result;
}

/*
 * Run the words.  A `return` is a success.
 */
static int
Compute(Tcl_Interp *interp, const Update *updatePtr, int *microsecondsPtr)
{
    NsStamp startStamp = NsClockNow();
    int     result = updatePtr->nArgs == 1
            ? Tcl_EvalObjEx(interp, updatePtr->args[0], 0)
            : Tcl_EvalObjv(interp, updatePtr->nArgs, updatePtr->args, 0);
    NsStamp cost = (NsClockNow() - startStamp) / 1000;

    *microsecondsPtr = (int) MIN(cost, INT_MAX);
    return result == TCL_RETURN ? TCL_OK : result;
}

/*
 * ns_cache_incr ?-timeout timeout? ?-expires expires? ?--? cache key ?incr?
 */
static int
IncrCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Update      update = {0};
    Tcl_Obj    *nameObj;
    int         incr = 1, result = TCL_OK;
    Tcl_WideInt number = 0;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime, &update.timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime, &update.expiresPtr, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"cache", Ns_ObjvObj, &nameObj, NULL},
                          {"key", Ns_ObjvString, &update.key, NULL},
                          {"?incr", Ns_ObjvInt, &incr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    update.cachePtr = NsTclCacheLookup(ServerOf(clientData), interp, nameObj);
    if (update.cachePtr == NULL || Begin(interp, &update) != TCL_OK) {
        return TCL_ERROR;
    }
    if (update.oldObj != NULL) {
        result = Tcl_GetWideIntFromObj(interp, update.oldObj, &number);
    }
    if (result == TCL_OK) {
        char text[32];

        number = (Tcl_WideInt) ((Tcl_WideUInt) number + (Tcl_WideUInt) incr);
        snprintf(text, sizeof(text), "%" PRId64, (int64_t) number);
        Store(&update, text, strlen(text), 0);
        Tcl_SetObjResult(interp, Tcl_NewWideIntObj(number));
    }
    End(&update);
    return result;
}

/*
 * ns_cache_append ?-timeout timeout? ?-expires expires? ?--? cache key args
 */
static int
AppendCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    return AppendWords(clientData, interp, objc, objv, false);
}

/*
 * ns_cache_lappend ?-timeout timeout? ?-expires expires? ?--? cache key args
 */
static int
LappendCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    return AppendWords(clientData, interp, objc, objv, true);
}

static int
AppendWords(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv, bool isList)
{
    Update      update = {0};
    Ns_DString  ds;
    const char *text;
    int         length;

    if (ParseUpdate(clientData, interp, objc, objv, &update) != TCL_OK
        || Begin(interp, &update) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    if (update.oldObj != NULL) {
        text = Tcl_GetStringFromObj(update.oldObj, &length);
        Ns_DStringNAppend(&ds, text, length);
    }
    for (int i = 0; i < update.nArgs; i++) {
        if (isList) {
            Ns_DStringAppendElement(&ds, Tcl_GetString(update.args[i]));
        } else {
            Ns_DStringAppend(&ds, Tcl_GetString(update.args[i]));
        }
    }
    Store(&update, Ns_DStringValue(&ds), (size_t) Ns_DStringLength(&ds), 0);
    End(&update);
    return NsTclReturnText(interp, &ds);
}

static int
ParseUpdate(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv, Update *updatePtr)
{
    Tcl_Obj    *nameObj;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime, &updatePtr->timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime, &updatePtr->expiresPtr, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"cache", Ns_ObjvObj, &nameObj, NULL},
                          {"key", Ns_ObjvString, &updatePtr->key, NULL},
                          {"args", Ns_ObjvArgs, &updatePtr->nArgs, NULL},
                          {NULL, NULL, NULL, NULL}};

    *updatePtr = (Update){0};
    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    updatePtr->args = objv + objc - updatePtr->nArgs;
    updatePtr->cachePtr = NsTclCacheLookup(ServerOf(clientData), interp,
                                           nameObj);
    return updatePtr->cachePtr != NULL ? TCL_OK : TCL_ERROR;
}

/*
 * Get hold of a value that is to be changed.  TCL_OK: End is due.
 */
static int
Begin(Tcl_Interp *interp, Update *updatePtr)
{
    if (NsCacheTxnIsActive()) {
        updatePtr->oldObj = NsCacheGetValueObj(updatePtr->cachePtr,
                                               updatePtr->key);
    } else if (LockEntry(interp, updatePtr) != TCL_OK) {
        return TCL_ERROR;
    } else if (!updatePtr->isNew) {
        updatePtr->oldObj =
            NsTclCacheValueObj(Ns_CacheGetValue(updatePtr->entry));
    }
    if (updatePtr->oldObj != NULL) {
        Tcl_IncrRefCount(updatePtr->oldObj);
    }
    return TCL_OK;
}

static void
Store(Update *updatePtr, const char *text, size_t length, int cost)
{
    if (NsTclCacheIsOff()) {
        if (updatePtr->entry != NULL) {
            Ns_CacheDeleteEntry(updatePtr->entry);
        }
    } else if (updatePtr->entry == NULL) {
        NsCacheTxnStore(updatePtr->cachePtr, updatePtr->key, text, length,
                        updatePtr->expiresPtr, cost, updatePtr->nFlushesPtr);
    } else {
        updatePtr->limit = NsTclCacheStore(updatePtr->cachePtr,
                                           updatePtr->entry, text, length,
                                           updatePtr->expiresPtr, cost);
        updatePtr->length = length;
        if (updatePtr->number != 0 && updatePtr->limit == 0) {
            ((NsTclCacheValue *) Ns_CacheGetValue(updatePtr->entry))->number =
                updatePtr->number;
        }
    }
}

static void
End(Update *updatePtr)
{
    if (updatePtr->entry != NULL) {
        Ns_CacheUnlock(updatePtr->cachePtr->cache);
        NsTclCacheNoteTooLong(updatePtr->cachePtr, updatePtr->key,
                              updatePtr->length, updatePtr->limit);
    }
    if (updatePtr->oldObj != NULL) {
        Tcl_DecrRefCount(updatePtr->oldObj);
    }
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

    if (NsTclCacheWorkHas(cachePtr, updatePtr->key)) {
        return NsTclFail(interp,
                         "the value is needed for its own computation: %s",
                         updatePtr->key);
    }
    Ns_CacheLock(cachePtr->cache);
    timeout = updatePtr->timeoutPtr != NULL
        ? *updatePtr->timeoutPtr
        : cachePtr->settings.timeout;
    updatePtr->entry =
        Ns_CacheWaitCreateEntry(cachePtr->cache, updatePtr->key, &isNew,
                                timeout.sec != 0 || timeout.usec != 0 ? &timeout
                                                                      : NULL);
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
 * ns_memoize ?-timeout timeout? ?-expires expires? ?--? script ?args?
 */
static int
MemoizeCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Update      update = {0};
    Tcl_Obj    *keyObj;
    int         result;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime, &update.timeoutPtr, NULL},
        {"-expires", Ns_ObjvTime, &update.expiresPtr, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"?args", Ns_ObjvArgs, &update.nArgs, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (update.nArgs == 0) {
        return NsTclFailArgs(interp,
                             "wrong # args: should be \"?-timeout timeout?"
                             " ?-expires expires? ?--? script ?args?\"");
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

Tcl_Obj *
NsCacheGetValueObj(NsTclCache *cachePtr, const char *key)
{
    const NsTclCacheValue *valuePtr = NsCacheTxnFind(cachePtr, key);
    Tcl_Obj               *valueObj = NULL;
    Ns_Entry              *entry;

    if (valuePtr != NULL) {
        return NsTclCacheValueObj(valuePtr);
    }
    Ns_CacheLock(cachePtr->cache);
    entry = Ns_CacheFindEntry(cachePtr->cache, key);
    if (entry != NULL) {
        valueObj = NsTclCacheValueObj(Ns_CacheGetValue(entry));
    }
    Ns_CacheUnlock(cachePtr->cache);
    return valueObj;
}

/*
 * ns_cache_transaction_begin
 */
static int
BeginCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    uint64_t number = NsCacheTxnBegin();

    return number > 0
        ? NsTclReturn(interp, Tcl_NewWideIntObj((Tcl_WideInt) number))
        : NsTclFail(interp, "max cache transaction depth exceeded");
}

/*
 * ns_cache_transaction_commit ?-all?
 */
static int
CommitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    return EndTransaction(interp, objc, objv, NsCacheTxnCommit);
}

/*
 * ns_cache_transaction_rollback ?-all?
 */
static int
RollbackCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return EndTransaction(interp, objc, objv, NsCacheTxnRollback);
}

static int
EndTransaction(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
               int (*endProc)(bool isAll))
{
    bool isAll = objc == 2 && STREQ(Tcl_GetString(objv[1]), "-all");

    if (objc != 1 && !isAll) {
        Tcl_WrongNumArgs(interp, 1, objv, "?-all?");
        return TCL_ERROR;
    }
    if (!NsCacheTxnIsActive()) {
        return NsTclFail(interp, "no cache transaction active");
    }
    return NsTclReturn(interp, Tcl_NewIntObj(endProc(isAll)));
}

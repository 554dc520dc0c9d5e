/* SPDX-License-Identifier: MPL-2.0
 * redis_cmd.c --
 *
 *      ns_redis.
 */

#include <assert.h>

#include "redis.h"

/*
 * How a script wants commands to be run.
 */
typedef struct Wish {
    Pool    *poolPtr;
    int64_t  deadline;
    Tcl_Obj *nilObj;   /* What stands for no value; NULL: an empty string. */
    int      isBinary; /* Words and values are bytes; else text. */
    int      isAtomic; /* In one transaction. */
    int      isTried;  /* An error is a result. */
} Wish;

/*
 * A subscription of a script.
 */
typedef struct Listening {
    Ns_TclCallback *callbackPtr;
    Ns_TclCallback *gapPtr; /* NULL: none. */
} Listening;

/*
 * What would leave the link in another state than it was taken, or ends it.
 */
static const char *const refused[] = {
    "auth",         "client",     "discard",
    "exec",         "hello",      "monitor",
    "multi",        "psubscribe", "punsubscribe",
    "psync",        "quit",       "reset",
    "select",       "ssubscribe", "subscribe",
    "sunsubscribe", "sync",       "unsubscribe",
    "unwatch",      "watch",      NULL};

static Tcl_Encoding utf8; /* Constant. */

static Tcl_ObjCmdProc DoObjCmd, PipelineObjCmd, SubscribeObjCmd,
    UnsubscribeObjCmd, SubscriptionsObjCmd, PoolsObjCmd, StatsObjCmd;

static int   MakeWish(Server *serverPtr, Tcl_Interp *interp, const char *pool,
                      const Ns_Time *timeoutPtr, Wish *wishPtr);
static Pool *FindPool(Server *serverPtr, Tcl_Interp *interp, const char *name);
static int   Check(Tcl_Interp *interp, TCL_SIZE_T n, Tcl_Obj *const *words);
static Link *TakeLink(Tcl_Interp *interp, const Wish *wishPtr);
static void  Put(Link *linkPtr, const Wish *wishPtr, TCL_SIZE_T n,
                 Tcl_Obj *const *words);
static int   RunAll(Tcl_Interp *interp, const Wish *wishPtr, TCL_SIZE_T n,
                    Tcl_Obj *const *commands);
static LinkResult  ReceiveAll(Link *linkPtr, const Wish *wishPtr, size_t n,
                              redisReply **replies, Ns_DString *errorPtr);
static int         ReturnAll(Tcl_Interp *interp, const Wish *wishPtr, size_t n,
                             redisReply *const *replies);
static int         ReplyError(Tcl_Interp *interp, const redisReply *replyPtr,
                              size_t number);
static int         LinkError(Tcl_Interp *interp, LinkResult result,
                             Ns_DString *errorPtr);
static Tcl_Obj    *ValueOf(const redisReply *replyPtr, const Wish *wishPtr);
static ListenProc  CallScript;
static Ns_Callback FreeListening;

void
RedisCmdInit(void)
{
    if (utf8 == NULL) {
        utf8 = Tcl_GetEncoding(NULL, "utf-8");
    }
}

int
RedisCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    static const Ns_SubCmdSpec subcmds[] = {
        {"do", DoObjCmd},
        {"pipeline", PipelineObjCmd},
        {"pools", PoolsObjCmd},
        {"stats", StatsObjCmd},
        {"subscribe", SubscribeObjCmd},
        {"subscriptions", SubscriptionsObjCmd},
        {"unsubscribe", UnsubscribeObjCmd},
        {NULL, NULL}};

    return Ns_SubcmdObjv(subcmds, clientData, interp, objc, objv);
}

/*
 * ns_redis do ?-pool pool? ?-timeout time? ?-binary? ?-nil value? ?--? command
 *     ?arg ...?
 */
static int
DoObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Wish        wish = {0};
    const char *pool = NULL;
    Ns_Time    *timeoutPtr = NULL;
    Tcl_Obj    *commandObj;
    int         nWords = 0, result;
    Ns_ObjvSpec options[] = {
        {"-pool", Ns_ObjvString, &pool, NULL},
        {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
        {"-binary", Ns_ObjvBool, &wish.isBinary, INT2PTR(true)},
        {"-nil", Ns_ObjvObj, &wish.nilObj, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"command", Ns_ObjvObj, &commandObj, NULL},
                          {"?arg", Ns_ObjvArgs, &nWords, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || MakeWish(clientData, interp, pool, timeoutPtr, &wish) != TCL_OK) {
        return TCL_ERROR;
    }
    nWords++;
    commandObj = Tcl_NewListObj(nWords, objv + objc - nWords);
    Tcl_IncrRefCount(commandObj);
    result = RunAll(interp, &wish, 1, &commandObj);
    Tcl_DecrRefCount(commandObj);
    if (result == TCL_OK) {
        Tcl_Obj *firstObj;

        (void) Tcl_ListObjIndex(NULL, Tcl_GetObjResult(interp), 0, &firstObj);
        Tcl_SetObjResult(interp, firstObj);
    }
    return result;
}

/*
 * ns_redis pipeline ?-pool pool? ?-timeout time? ?-binary? ?-nil value?
 *     ?-atomic? ?-try? ?--? commands
 */
static int
PipelineObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Wish        wish = {0};
    const char *pool = NULL;
    Ns_Time    *timeoutPtr = NULL;
    Tcl_Obj    *commandsObj, **commands;
    TCL_SIZE_T  nCommands;
    int         result;
    Ns_ObjvSpec options[] = {
        {"-pool", Ns_ObjvString, &pool, NULL},
        {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
        {"-binary", Ns_ObjvBool, &wish.isBinary, INT2PTR(true)},
        {"-nil", Ns_ObjvObj, &wish.nilObj, NULL},
        {"-atomic", Ns_ObjvBool, &wish.isAtomic, INT2PTR(true)},
        {"-try", Ns_ObjvBool, &wish.isTried, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"commands", Ns_ObjvObj, &commandsObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || MakeWish(clientData, interp, pool, timeoutPtr, &wish) != TCL_OK) {
        return TCL_ERROR;
    }
    /* A copy: nothing that happens to the list meanwhile matters. */
    commandsObj = Tcl_DuplicateObj(commandsObj);
    Tcl_IncrRefCount(commandsObj);
    result = Tcl_ListObjGetElements(interp, commandsObj, &nCommands, &commands);
    if (result == TCL_OK && nCommands > 0) {
        result = RunAll(interp, &wish, nCommands, commands);
    }
    Tcl_DecrRefCount(commandsObj);
    return result;
}

static int
MakeWish(Server *serverPtr, Tcl_Interp *interp, const char *pool,
         const Ns_Time *timeoutPtr, Wish *wishPtr)
{
    wishPtr->poolPtr = FindPool(serverPtr, interp, pool);
    if (wishPtr->poolPtr == NULL) {
        return TCL_ERROR;
    }
    wishPtr->deadline = Now()
        + (timeoutPtr != NULL ? timeoutPtr->sec * SECOND + timeoutPtr->usec
                              : wishPtr->poolPtr->timeout);
    return TCL_OK;
}

/*
 * NULL is the name of the first.
 */
static Pool *
FindPool(Server *serverPtr, Tcl_Interp *interp, const char *name)
{
    Pool *poolPtr = serverPtr->firstPoolPtr;

    while (poolPtr != NULL && name != NULL && !STREQ(poolPtr->name, name)) {
        poolPtr = poolPtr->nextPtr;
    }
    if (poolPtr == NULL) {
        Ns_TclPrintfResult(interp, "no such pool: %s", name);
        Tcl_SetErrorCode(interp, "NS_REDIS", "POOL", name, NULL);
    }
    return poolPtr;
}

/*
 * Send all, then receive all replies.
 */
static int
RunAll(Tcl_Interp *interp, const Wish *wishPtr, TCL_SIZE_T n,
       Tcl_Obj *const *commands)
{
    size_t       nReplies = (size_t) n + (wishPtr->isAtomic ? 2u : 0u);
    redisReply **replies;
    Link        *linkPtr;
    LinkResult   linkResult;
    Ns_DString   error;
    int          result;

    for (TCL_SIZE_T i = 0; i < n; i++) {
        Tcl_Obj  **words;
        TCL_SIZE_T nWords;

        if (Tcl_ListObjGetElements(interp, commands[i], &nWords, &words)
                != TCL_OK
            || Check(interp, nWords, words) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    linkPtr = TakeLink(interp, wishPtr);
    if (linkPtr == NULL) {
        return TCL_ERROR;
    }
    if (wishPtr->isAtomic) {
        LinkPut(linkPtr, 1, (const char *[]){"MULTI"}, NULL);
    }
    for (TCL_SIZE_T i = 0; i < n; i++) {
        Tcl_Obj  **words;
        TCL_SIZE_T nWords;

        (void) Tcl_ListObjGetElements(NULL, commands[i], &nWords, &words);
        Put(linkPtr, wishPtr, nWords, words);
    }
    if (wishPtr->isAtomic) {
        LinkPut(linkPtr, 1, (const char *[]){"EXEC"}, NULL);
    }

    Ns_DStringInit(&error);
    replies = ns_calloc(nReplies, sizeof(*replies));
    linkResult = ReceiveAll(linkPtr, wishPtr, nReplies, replies, &error);
    PoolPut(wishPtr->poolPtr, linkPtr, linkResult, (int) n);
    result = linkResult == LINK_OK
        ? ReturnAll(interp, wishPtr, nReplies, replies)
        : LinkError(interp, linkResult, &error);
    for (size_t i = 0; i < nReplies && replies[i] != NULL; i++) {
        freeReplyObject(replies[i]);
    }
    ns_free(replies);
    Ns_DStringFree(&error);
    return result;
}

/*
 * A command that others of the link would suffer from is an error.
 */
static int
Check(Tcl_Interp *interp, TCL_SIZE_T n, Tcl_Obj *const *words)
{
    const char *name = n > 0 ? Tcl_GetString(words[0]) : "";

    if (*name == '\0') {
        Ns_TclPrintfResult(interp, "a command of Redis has no name");
        return TCL_ERROR;
    }
    for (int i = 0; refused[i] != NULL; i++) {
        if (STRIEQ(refused[i], name)) {
            Ns_TclPrintfResult(interp,
                               "%s would change the connection, which others "
                               "use afterwards",
                               name);
            Tcl_SetErrorCode(interp, "NS_REDIS", "REFUSED", name, NULL);
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

static Link *
TakeLink(Tcl_Interp *interp, const Wish *wishPtr)
{
    Ns_DString error;
    Link      *linkPtr;

    Ns_DStringInit(&error);
    linkPtr = PoolTake(wishPtr->poolPtr, wishPtr->deadline, &error);
    if (linkPtr == NULL) {
        (void) LinkError(interp,
                         Now() >= wishPtr->deadline ? LINK_TIMEOUT
                                                    : LINK_FAILED,
                         &error);
    }
    Ns_DStringFree(&error);
    return linkPtr;
}

static void
Put(Link *linkPtr, const Wish *wishPtr, TCL_SIZE_T n, Tcl_Obj *const *words)
{
    const char **argv = ns_malloc((size_t) n * sizeof(*argv));
    size_t      *lengths = ns_malloc((size_t) n * sizeof(*lengths));
    Tcl_DString *texts = ns_malloc((size_t) n * sizeof(*texts));

    for (TCL_SIZE_T i = 0; i < n; i++) {
        TCL_SIZE_T length;

        Tcl_DStringInit(&texts[i]);
        if (wishPtr->isBinary) {
            argv[i] = (char *) Tcl_GetByteArrayFromObj(words[i], &length);
        } else {
            const char *text = Tcl_GetStringFromObj(words[i], &length);

            argv[i] = Tcl_UtfToExternalDString(utf8, text, length, &texts[i]);
            length = Tcl_DStringLength(&texts[i]);
        }
        lengths[i] = (size_t) length;
    }
    LinkPut(linkPtr, (int) n, argv, lengths);
    for (TCL_SIZE_T i = 0; i < n; i++) {
        Tcl_DStringFree(&texts[i]);
    }
    ns_free(texts);
    ns_free(lengths);
    ns_free(argv);
}

static LinkResult
ReceiveAll(Link *linkPtr, const Wish *wishPtr, size_t n, redisReply **replies,
           Ns_DString *errorPtr)
{
    LinkResult result = LinkSend(linkPtr, wishPtr->deadline, errorPtr);

    for (size_t i = 0; i < n && result == LINK_OK; i++) {
        result = LinkReceive(linkPtr, wishPtr->deadline, &replies[i], errorPtr);
    }
    return result;
}

/*
 * A list with a value for each command, or, if tried, with {ok VALUE} or
 * {error TEXT}.  Of a transaction, the values are all in the last reply.
 */
static int
ReturnAll(Tcl_Interp *interp, const Wish *wishPtr, size_t n,
          redisReply *const *replies)
{
    Tcl_Obj *resultObj;

    if (wishPtr->isAtomic) {
        const redisReply *lastPtr = replies[n - 1];

        for (size_t i = 0; lastPtr->type == REDIS_REPLY_ERROR && i < n; i++) {
            if (replies[i]->type == REDIS_REPLY_ERROR) {
                return ReplyError(interp, replies[i], i);
            }
        }
        assert(lastPtr->type == REDIS_REPLY_ARRAY);
        n = lastPtr->elements;
        replies = lastPtr->element;
    }
    resultObj = Tcl_NewObj();
    for (size_t i = 0; i < n; i++) {
        bool     isError = replies[i]->type == REDIS_REPLY_ERROR;
        Tcl_Obj *valueObj;

        if (isError && !wishPtr->isTried) {
            Tcl_DecrRefCount(resultObj);
            return ReplyError(interp, replies[i], n > 1 ? i + 1 : 0);
        }
        valueObj = isError
            ? Tcl_NewStringObj(replies[i]->str, (TCL_SIZE_T) replies[i]->len)
            : ValueOf(replies[i], wishPtr);
        if (wishPtr->isTried) {
            Tcl_Obj *pair[] = {Tcl_NewStringObj(isError ? "error" : "ok", -1),
                               valueObj};

            valueObj = Tcl_NewListObj(2, pair);
        }
        (void) Tcl_ListObjAppendElement(NULL, resultObj, valueObj);
    }
    Tcl_SetObjResult(interp, resultObj);
    return TCL_OK;
}

/*
 * number counts from 1; 0: there is only one command.
 */
static int
ReplyError(Tcl_Interp *interp, const redisReply *replyPtr, size_t number)
{
    char   code[64];
    size_t length = strcspn(replyPtr->str, " ");

    snprintf(code, sizeof(code), "%.*s", (int) length, replyPtr->str);
    if (number > 0) {
        Ns_TclPrintfResult(interp, "command %zu: %s", number, replyPtr->str);
    } else {
        Ns_TclPrintfResult(interp, "%s", replyPtr->str);
    }
    Tcl_SetErrorCode(interp, "NS_REDIS", "REPLY", code, NULL);
    return TCL_ERROR;
}

static int
LinkError(Tcl_Interp *interp, LinkResult result, Ns_DString *errorPtr)
{
    assert(result != LINK_OK);
    Tcl_SetObjResult(interp,
                     Tcl_NewStringObj(errorPtr->string, errorPtr->length));
    if (result == LINK_TIMEOUT) {
        Tcl_SetErrorCode(interp, "NS_TIMEOUT", errorPtr->string, NULL);
    } else {
        Tcl_SetErrorCode(interp, "NS_REDIS", "CONNECTION", NULL);
    }
    return TCL_ERROR;
}

static Tcl_Obj *
ValueOf(const redisReply *replyPtr, const Wish *wishPtr)
{
    Tcl_Obj    *valueObj;
    Tcl_DString text;

    switch (replyPtr->type) {
    case REDIS_REPLY_INTEGER:
        return Tcl_NewWideIntObj(replyPtr->integer);
    case REDIS_REPLY_NIL:
        return wishPtr->nilObj != NULL ? wishPtr->nilObj : Tcl_NewObj();
    case REDIS_REPLY_ARRAY:
        valueObj = Tcl_NewObj();
        for (size_t i = 0; i < replyPtr->elements; i++) {
            (void) Tcl_ListObjAppendElement(NULL, valueObj,
                                            ValueOf(replyPtr->element[i],
                                                    wishPtr));
        }
        return valueObj;
    default:
        break;
    }
    if (wishPtr->isBinary && replyPtr->type == REDIS_REPLY_STRING) {
        return Tcl_NewByteArrayObj((unsigned char *) replyPtr->str,
                                   (TCL_SIZE_T) replyPtr->len);
    }
    (void) Tcl_ExternalToUtfDString(utf8, replyPtr->str,
                                    (TCL_SIZE_T) replyPtr->len, &text);
    valueObj = Tcl_NewStringObj(text.string, text.length);
    Tcl_DStringFree(&text);
    return valueObj;
}

/*
 * ns_redis subscribe ?-pool pool? ?-pattern? ?-gap script? ?--? channel script
 */
static int
SubscribeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    const char *pool = NULL, *channel;
    Tcl_Obj    *scriptObj, *gapObj = NULL;
    int         isPattern = 0;
    Pool       *poolPtr;
    Listening  *listeningPtr;
    Ns_ObjvSpec options[] = {
        {"-pool", Ns_ObjvString, &pool, NULL},
        {"-pattern", Ns_ObjvBool, &isPattern, INT2PTR(true)},
        {"-gap", Ns_ObjvObj, &gapObj, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"channel", Ns_ObjvString, &channel, NULL},
                          {"script", Ns_ObjvObj, &scriptObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (poolPtr = FindPool(clientData, interp, pool)) == NULL) {
        return TCL_ERROR;
    }
    listeningPtr = ns_calloc(1u, sizeof(*listeningPtr));
    listeningPtr->callbackPtr = Ns_TclNewCallback(interp, NULL, scriptObj, 0,
                                                  NULL);
    if (gapObj != NULL) {
        listeningPtr->gapPtr = Ns_TclNewCallback(interp, NULL, gapObj, 0, NULL);
    }
    Tcl_SetObjResult(interp,
                     Tcl_NewIntObj(ListenerAdd(poolPtr->listenerPtr, channel,
                                               isPattern, CallScript,
                                               FreeListening, listeningPtr)));
    return TCL_OK;
}

static void
CallScript(const char *channel, const char *message, size_t length, void *arg)
{
    const Listening *listeningPtr = arg;
    Tcl_DString      text, name;

    (void) Tcl_ExternalToUtfDString(utf8, channel, -1, &name);
    if (message == NULL && listeningPtr->gapPtr != NULL) {
        (void) Ns_TclEvalCallback(NULL, listeningPtr->gapPtr, NULL, name.string,
                                  NULL);
    } else if (message != NULL) {
        (void) Tcl_ExternalToUtfDString(utf8, message, (TCL_SIZE_T) length,
                                        &text);
        (void) Ns_TclEvalCallback(NULL, listeningPtr->callbackPtr, NULL,
                                  name.string, text.string, NULL);
        Tcl_DStringFree(&text);
    }
    Tcl_DStringFree(&name);
}

static void
FreeListening(void *arg)
{
    Listening *listeningPtr = arg;

    Ns_TclFreeCallback(listeningPtr->callbackPtr);
    if (listeningPtr->gapPtr != NULL) {
        Ns_TclFreeCallback(listeningPtr->gapPtr);
    }
    ns_free(listeningPtr);
}

/*
 * ns_redis unsubscribe ?-pool pool? ?--? id: whether there was one.
 */
static int
UnsubscribeObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                  Tcl_Obj *const *objv)
{
    const char *pool = NULL;
    int         id;
    Pool       *poolPtr;
    Ns_ObjvSpec options[] = {{"-pool", Ns_ObjvString, &pool, NULL},
                             {"--", Ns_ObjvBreak, NULL, NULL},
                             {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"id", Ns_ObjvInt, &id, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK
        || (poolPtr = FindPool(clientData, interp, pool)) == NULL) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp,
                     Tcl_NewBooleanObj(ListenerRemove(poolPtr->listenerPtr,
                                                      id)));
    return TCL_OK;
}

/*
 * ns_redis subscriptions ?-pool pool?: a list of dictionaries.
 */
static int
SubscriptionsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                    Tcl_Obj *const *objv)
{
    const char *pool = NULL;
    Pool       *poolPtr;
    Ns_DString  list;
    Ns_ObjvSpec options[] = {
        {"-pool", Ns_ObjvString, &pool, NULL}, {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK
        || (poolPtr = FindPool(clientData, interp, pool)) == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&list);
    ListenerList(poolPtr->listenerPtr, &list);
    Tcl_DStringResult(interp, &list);
    return TCL_OK;
}

/*
 * ns_redis pools
 */
static int
PoolsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const Server *serverPtr = clientData;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 2, objv, NULL);
        return TCL_ERROR;
    }
    for (const Pool *poolPtr = serverPtr->firstPoolPtr; poolPtr != NULL;
         poolPtr = poolPtr->nextPtr) {
        Tcl_AppendElement(interp, poolPtr->name);
    }
    return TCL_OK;
}

/*
 * ns_redis stats ?pool?: a dictionary.
 */
static int
StatsObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    const char *pool = NULL;
    Pool       *poolPtr;
    Ns_DString  text;
    Ns_ObjvSpec args[] = {{"?pool", Ns_ObjvString, &pool, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(NULL, args, interp, 2, objc, objv) != NS_OK
        || (poolPtr = FindPool(clientData, interp, pool)) == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&text);
    PoolStats(poolPtr, &text);
    Tcl_DStringResult(interp, &text);
    return TCL_OK;
}

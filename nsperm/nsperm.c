/* SPDX-License-Identifier: MPL-2.0
 * nsperm.c --
 *
 *      Access control: users with passwords, groups, and permissions for
 *      methods and URLs.
 *
 *      A request reads the server's table under a lock for a moment; it checks
 *      password and host name without the lock.  A script that reads the files
 *      fills its own table, which replaces the server's when it is complete.
 *      So no page is unprotected meanwhile.
 */

#include "table.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleCheck;

#define AUTHORITY "nsperm"

typedef struct Server {
    const char *name; /* Constant after creation. */

    Ns_RWLock   lock; /* Guards the rest, and what is in the tables. */
    Table      *tablePtr;
    Table      *draftPtr; /* NULL: none. */
    Tcl_Interp *drafter;  /* The interpreter whose commands fill the draft. */
    bool        isLoaded; /* The files were read at least once. */
} Server;

static Tcl_HashTable servers; /* Constant after the start. */

static Ns_AuthorizeRequestProc AuthorizeRequest;
static Ns_AuthorizeUserProc    AuthorizeUser;
static bool                    HasOtherScheme(const char *user);
static int             Decide(const Verdict *verdictPtr, const char *user,
                              const char *password, const char *peer);
static Ns_Callback     CheckLoaded;
static Ns_TclTraceProc AddCommands;
static Tcl_ObjCmdProc  PermCmd, LoadCmd;
static Table          *TableOfLocked(Server *serverPtr, Tcl_Interp *interp);

/*
 * A call of a subcommand of ns_perm.
 */
typedef struct Call {
    Server           *serverPtr;
    Tcl_Interp       *interp;
    int               objc;
    Tcl_Obj *const   *objv;
    const struct Sub *subPtr; /* Run: the table. */
} Call;

typedef int    SubProc(const Call *callPtr);
static SubProc AddUser, AddGroup, List, AddToRecord, CheckPass, SetPass, Delete,
    DeletePerm, Begin, End, SetRecord, UnsetRecord;

static int    Run(const Call *callPtr);
static Table *LockTable(const Call *callPtr);
static int    ParsePlace(const Call *callPtr, int *isAlonePtr, char **methodPtr,
                         char **urlPtr, Ns_ObjvSpec rest);

/*
 * The words behind the name are counted for rows with a usage; the others parse
 * them.
 */
static const struct Sub {
    const char *name;
    SubProc    *proc;
    int         minArgs;
    int         maxArgs;
    const char *usage;
    ListKind    kind;                                      /* Of AddToRecord. */
    Tcl_Obj *(*listProc)(const Table *tablePtr);           /* Of List. */
    void (*deleteProc)(Table *tablePtr, const char *name); /* Of Delete. */
} subs[] = {
    {"adduser", AddUser, 0, INT_MAX, .usage = NULL},
    {"addgroup", AddGroup, 2, INT_MAX, .usage = "name user ?user ...?"},
    {"listusers", List, 0, 0, .listProc = TableListUsers},
    {"listgroups", List, 0, 0, .listProc = TableListGroups},
    {"listperms", List, 0, 0, .listProc = TableListRecords},
    {"allowuser", AddToRecord, 0, INT_MAX, .kind = ALLOW_USER},
    {"allowgroup", AddToRecord, 0, INT_MAX, .kind = ALLOW_GROUP},
    {"denyuser", AddToRecord, 0, INT_MAX, .kind = DENY_USER},
    {"denygroup", AddToRecord, 0, INT_MAX, .kind = DENY_GROUP},
    {"checkpass", CheckPass, 2, 2, .usage = "user pwd"},
    {"setpass", SetPass, 2, 3, .usage = "user encpass ?salt?"},
    {"deluser", Delete, 1, 1, .usage = "name", .deleteProc = TableDeleteUser},
    {"delgroup", Delete, 1, 1, .usage = "name", .deleteProc = TableDeleteGroup},
    {"delperm", DeletePerm, 0, INT_MAX, .usage = NULL},
    {.name = NULL}};

/*
 * Of _ns_perm, with which the library reads the files.
 */
static const struct Sub loadSubs[] = {
    {"begin", Begin, 0, 0, .usage = NULL},
    {"commit", End, 0, 0, .usage = NULL},
    {"abort", End, 0, 0, .usage = NULL},
    {"set", SetRecord, 4, 4, .usage = "method url allowUsers denyUsers"},
    {"unset", UnsetRecord, 2, 2, .usage = "method url"},
    {.name = NULL}};

/*
 * For nsd -T.
 */
int
Ns_ModuleCheck(const char *server, const char *module)
{
    return Ns_ModuleIsForServer("nsperm", server, module) ? NS_OK : NS_ERROR;
}

int
Ns_ModuleInit(const char *server, const char *module)
{
    static bool    isInitialized;
    Server        *serverPtr;
    Tcl_HashEntry *hPtr;
    int            isNew;

    if (!Ns_ModuleIsForServer("nsperm", server, module)) {
        return NS_ERROR;
    }
    if (!isInitialized) {
        Tcl_InitHashTable(&servers, TCL_STRING_KEYS);
        isInitialized = true;
    }
    hPtr = Tcl_CreateHashEntry(&servers, server, &isNew);
    if (!isNew) {
        Ns_Log(Error, "nsperm[%s]: is loaded twice, the second time as '%s'",
               server, module);
        return NS_ERROR;
    }
    serverPtr = ns_calloc(1u, sizeof(*serverPtr));
    serverPtr->name = server;
    serverPtr->tablePtr = TableCreate();
    Ns_RWLockInit(&serverPtr->lock);
    Tcl_SetHashValue(hPtr, serverPtr);

    (void) Ns_RegisterAuthorizeRequest(server, AuthorizeRequest, serverPtr,
                                       AUTHORITY, false);
    (void) Ns_RegisterAuthorizeUser(server, AuthorizeUser, serverPtr, AUTHORITY,
                                    false);
    (void) Ns_RegisterAtStartup(CheckLoaded, serverPtr);
    return Ns_TclRegisterTrace(server, AddCommands, serverPtr,
                               NS_TCL_TRACE_CREATE);
}

/*
 * If the files could not be read, all requests are refused: report that.
 */
static void
CheckLoaded(void *arg)
{
    Server *serverPtr = arg;
    bool    isLoaded;

    Ns_RWLockRdLock(&serverPtr->lock);
    isLoaded = serverPtr->isLoaded;
    Ns_RWLockUnlock(&serverPtr->lock);
    if (!isLoaded) {
        Ns_Log(Error,
               "nsperm[%s]: the permissions were not read, so all requests "
               "are refused: see the error above, or the parameter tcllibrary",
               serverPtr->name);
    }
}

static int
AuthorizeRequest(void *arg, const char *method, const char *url,
                 const char *user, const char *password, const char *peer,
                 int *codePtr)
{
    Server *serverPtr = arg;
    Verdict verdict;
    bool    isLoaded, hasOtherScheme = HasOtherScheme(user);
    int     status;

    user = user == NULL ? "" : user;
    Ns_RWLockRdLock(&serverPtr->lock);
    isLoaded = serverPtr->isLoaded;
    TableJudge(serverPtr->tablePtr, method, url, user, &verdict);
    Ns_RWLockUnlock(&serverPtr->lock);

    if (!isLoaded) {
        status = NS_FORBIDDEN;
    } else if (!verdict.isProtected) {
        status = NS_OK;
    } else if (hasOtherScheme) {
        status = NS_UNAUTHORIZED;
    } else {
        status = Decide(&verdict, user, password == NULL ? "" : password, peer);
    }
    UserUnref(verdict.userPtr);
    return status;
}

/*
 * Whether the user is that of the current request and its client uses another
 * scheme than Basic.  Then nobody has checked the user, or there is none.
 */
static bool
HasOtherScheme(const char *user)
{
    Ns_Conn    *conn = Ns_GetConn();
    Ns_Set     *auth;
    const char *method;

    if (conn == NULL || user != Ns_ConnAuthUser(conn)) {
        return false;
    }
    auth = Ns_ConnAuth(conn);
    method = auth == NULL ? NULL : Ns_SetIGet(auth, "AuthMethod");
    if (method != NULL) {
        return !STRIEQ(method, "Basic") || user == NULL;
    }
    return Ns_SetIGet(Ns_ConnHeaders(conn), "Authorization") != NULL;
}

static int
Decide(const Verdict *verdictPtr, const char *user, const char *password,
       const char *peer)
{
    const User *userPtr = verdictPtr->userPtr;

    if (!UserHasPassword(userPtr, password) || userPtr == NULL) {
        return NS_UNAUTHORIZED;
    }
    if (verdictPtr->isDenied || !UserMayComeFrom(userPtr, peer)) {
        /* An anonymous client may identify itself now. */
        return *user == '\0' ? NS_UNAUTHORIZED : NS_FORBIDDEN;
    }
    return verdictPtr->isAllowed ? NS_OK : NS_UNAUTHORIZED;
}

static int
AuthorizeUser(void *arg, const char *user, const char *password, int *codePtr)
{
    Server *serverPtr = arg;
    User   *userPtr;
    bool    isRight;

    Ns_RWLockRdLock(&serverPtr->lock);
    userPtr = TableGetUser(serverPtr->tablePtr, user);
    Ns_RWLockUnlock(&serverPtr->lock);
    isRight = UserHasPassword(userPtr, password) && *user != '\0';
    UserUnref(userPtr);
    return isRight ? NS_OK : NS_UNAUTHORIZED;
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    (void) Tcl_CreateObjCommand(interp, "ns_perm", PermCmd, arg, NULL);
    (void) Tcl_CreateObjCommand(interp, "_ns_perm", LoadCmd, arg, NULL);
    return TCL_OK;
}

static int
PermCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return Run(&(Call){clientData, interp, objc, objv, subs});
}

static int
LoadCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return Run(&(Call){clientData, interp, objc, objv, loadSubs});
}

/*
 * The call comes with the table of its command.
 */
static int
Run(const Call *callPtr)
{
    Call call = *callPtr;
    int  index;

    if (call.objc < 2) {
        Tcl_WrongNumArgs(call.interp, 1, call.objv, "option ?args ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(call.interp, call.objv[1], call.subPtr,
                                  sizeof(*call.subPtr), "option", 0, &index)
        != TCL_OK) {
        return TCL_ERROR;
    }
    call.subPtr += index;
    if (call.objc - 2 < call.subPtr->minArgs
        || call.objc - 2 > call.subPtr->maxArgs) {
        Tcl_WrongNumArgs(call.interp, 2, call.objv, call.subPtr->usage);
        return TCL_ERROR;
    }
    return call.subPtr->proc(&call);
}

/*
 * ns_perm adduser ?-allow? ?-deny? ?-clear? ?-salt s? ?--? name pwd field
 * ?hosts ...?
 */
static int
AddUser(const Call *callPtr)
{
    int         isAllowing = 0, isDenying = 0, isClear = 0, nHosts = 0;
    char       *name, *password, *field, *salt = NULL;
    char        buffer[NS_ENCRYPT_BUFSIZE];
    User       *userPtr;
    bool        isNew;
    Ns_ObjvSpec options[] = {
        {"-allow", Ns_ObjvBool, &isAllowing, INT2PTR(NS_TRUE)},
        {"-deny", Ns_ObjvBool, &isDenying, INT2PTR(NS_TRUE)},
        {"-clear", Ns_ObjvBool, &isClear, INT2PTR(NS_TRUE)},
        {"-salt", Ns_ObjvString, &salt, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"name", Ns_ObjvString, &name, NULL},
                          {"pwd", Ns_ObjvString, &password, NULL},
                          {"field", Ns_ObjvString, &field, NULL},
                          {"?hosts", Ns_ObjvArgs, &nHosts, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, callPtr->interp, 2, callPtr->objc,
                     callPtr->objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    if (salt != NULL) {
        password = Ns_Encrypt(password, salt, buffer);
    }
    userPtr = UserCreate(name, password, isClear != 0 && salt == NULL);
    userPtr->isAllowing = isAllowing && !isDenying;
    for (int i = callPtr->objc - nHosts; i < callPtr->objc; i++) {
        if (UserAddRule(userPtr, callPtr->interp,
                        Tcl_GetString(callPtr->objv[i]))
            != TCL_OK) {
            UserUnref(userPtr);
            return TCL_ERROR;
        }
    }
    isNew = TableAddUser(LockTable(callPtr), userPtr);
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    if (!isNew) {
        Ns_TclPrintfResult(callPtr->interp, "duplicate user: %s", name);
        UserUnref(userPtr);
        return TCL_ERROR;
    }
    return TCL_OK;
}

/*
 * The table that the call changes, locked.
 */
static Table *
LockTable(const Call *callPtr)
{
    Ns_RWLockWrLock(&callPtr->serverPtr->lock);
    return TableOfLocked(callPtr->serverPtr, callPtr->interp);
}

static Table *
TableOfLocked(Server *serverPtr, Tcl_Interp *interp)
{
    return serverPtr->draftPtr != NULL && serverPtr->drafter == interp
        ? serverPtr->draftPtr
        : serverPtr->tablePtr;
}

static int
AddGroup(const Call *callPtr)
{
    int status = TableAddGroup(LockTable(callPtr), callPtr->interp,
                               Tcl_GetString(callPtr->objv[2]),
                               callPtr->objc - 3, callPtr->objv + 3);

    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    return status;
}

/*
 * ns_perm deluser name, delgroup name
 */
static int
Delete(const Call *callPtr)
{
    callPtr->subPtr->deleteProc(LockTable(callPtr),
                                Tcl_GetString(callPtr->objv[2]));
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    return TCL_OK;
}

/*
 * ns_perm allowuser ... ?-noinherit? ?--? method url users...
 */
static int
AddToRecord(const Call *callPtr)
{
    int         isAlone, nNames = 0;
    char       *method, *url;
    Record     *recordPtr;
    Ns_ObjvSpec users = {"users", Ns_ObjvArgs, &nNames, NULL};

    if (ParsePlace(callPtr, &isAlone, &method, &url, users) != TCL_OK) {
        return TCL_ERROR;
    }
    recordPtr = TableRecord(LockTable(callPtr), method, url, !isAlone);
    for (int i = callPtr->objc - nNames; i < callPtr->objc; i++) {
        RecordAdd(recordPtr, callPtr->subPtr->kind,
                  Tcl_GetString(callPtr->objv[i]));
    }
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    return TCL_OK;
}

/*
 * Parse ?-noinherit? ?--? method url, and what may follow.
 */
static int
ParsePlace(const Call *callPtr, int *isAlonePtr, char **methodPtr,
           char **urlPtr, Ns_ObjvSpec rest)
{
    Ns_ObjvSpec options[] = {
        {"-noinherit", Ns_ObjvBool, isAlonePtr, INT2PTR(NS_TRUE)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"method", Ns_ObjvString, methodPtr, NULL},
                          {"url", Ns_ObjvString, urlPtr, NULL},
                          rest,
                          {NULL, NULL, NULL, NULL}};

    *isAlonePtr = 0;
    return Ns_ParseObjv(options, args, callPtr->interp, 2, callPtr->objc,
                        callPtr->objv)
            == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

/*
 * ns_perm delperm ?-noinherit? ?--? method url
 */
static int
DeletePerm(const Call *callPtr)
{
    int         isAlone;
    char       *method, *url;
    Table      *tablePtr;
    Ns_ObjvSpec none = {NULL, NULL, NULL, NULL};

    if (ParsePlace(callPtr, &isAlone, &method, &url, none) != TCL_OK) {
        return TCL_ERROR;
    }
    tablePtr = LockTable(callPtr);
    if (isAlone) {
        TableDeleteRecord(tablePtr, method, url, false);
    } else {
        TableDeleteBelow(tablePtr, method, url);
    }
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    return TCL_OK;
}

static int
CheckPass(const Call *callPtr)
{
    const char *password = Tcl_GetString(callPtr->objv[3]), *reason = NULL;
    User       *userPtr;

    Ns_RWLockRdLock(&callPtr->serverPtr->lock);
    userPtr = TableGetUser(TableOfLocked(callPtr->serverPtr, callPtr->interp),
                           Tcl_GetString(callPtr->objv[2]));
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    if (userPtr == NULL) {
        reason = "user not found";
    } else if (*password == '\0' && *userPtr->password != '\0') {
        reason = "empty password given";
    } else if (!UserHasPassword(userPtr, password)) {
        reason = "incorrect password";
    }
    UserUnref(userPtr);
    if (reason != NULL) {
        Tcl_SetObjResult(callPtr->interp, Tcl_NewStringObj(reason, -1));
        return TCL_ERROR;
    }
    return TCL_OK;
}

/*
 * ns_perm setpass user encpass ?salt?
 */
static int
SetPass(const Call *callPtr)
{
    const char *password = Tcl_GetString(callPtr->objv[3]);
    char        buffer[NS_ENCRYPT_BUFSIZE];
    User       *userPtr;
    Table      *tablePtr;

    if (callPtr->objc == 5) {
        password = Ns_Encrypt(password, Tcl_GetString(callPtr->objv[4]),
                              buffer);
    }
    tablePtr = LockTable(callPtr);
    userPtr = TableGetUser(tablePtr, Tcl_GetString(callPtr->objv[2]));
    if (userPtr != NULL) {
        TableReplaceUser(tablePtr, UserDup(userPtr, password));
    }
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);

    Tcl_SetObjResult(callPtr->interp, Tcl_NewIntObj(userPtr != NULL));
    UserUnref(userPtr);
    return TCL_OK;
}

static int
List(const Call *callPtr)
{
    Tcl_Obj *listPtr;

    Ns_RWLockRdLock(&callPtr->serverPtr->lock);
    listPtr = callPtr->subPtr->listProc(TableOfLocked(callPtr->serverPtr,
                                                      callPtr->interp));
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    Tcl_SetObjResult(callPtr->interp, listPtr);
    return TCL_OK;
}

/*
 * ------------------------------------------------ What fills a table anew
 */

/*
 * _ns_perm begin: commands of this interpreter fill an empty table.
 */
static int
Begin(const Call *callPtr)
{
    Server *serverPtr = callPtr->serverPtr;
    Table  *oldPtr = NULL;
    bool    isTaken;

    Ns_RWLockWrLock(&serverPtr->lock);
    isTaken = serverPtr->draftPtr != NULL
        && serverPtr->drafter != callPtr->interp;
    if (!isTaken) {
        oldPtr = serverPtr->draftPtr;
        serverPtr->draftPtr = TableCreate();
        serverPtr->drafter = callPtr->interp;
    }
    Ns_RWLockUnlock(&serverPtr->lock);
    TableFree(oldPtr);
    if (isTaken) {
        Ns_TclPrintfResult(callPtr->interp,
                           "the permissions are being read already");
    }
    return isTaken ? TCL_ERROR : TCL_OK;
}

/*
 * _ns_perm commit: it replaces the server's table.
 * _ns_perm abort: it is discarded.
 */
static int
End(const Call *callPtr)
{
    Server *serverPtr = callPtr->serverPtr;
    Table  *oldPtr = NULL;

    Ns_RWLockWrLock(&serverPtr->lock);
    if (serverPtr->draftPtr != NULL && serverPtr->drafter == callPtr->interp) {
        oldPtr = serverPtr->draftPtr;
        if (STREQ(callPtr->subPtr->name, "commit")) {
            oldPtr = serverPtr->tablePtr;
            TableKeep(serverPtr->draftPtr, oldPtr);
            serverPtr->tablePtr = serverPtr->draftPtr;
            serverPtr->isLoaded = true;
        }
        serverPtr->draftPtr = NULL;
        serverPtr->drafter = NULL;
    }
    Ns_RWLockUnlock(&serverPtr->lock);
    TableFree(oldPtr);
    return TCL_OK;
}

/*
 * _ns_perm set method url allowUsers denyUsers: replace the record at once.
 */
static int
SetRecord(const Call *callPtr)
{
    Tcl_Obj *const *words = callPtr->objv + 2;
    Tcl_Obj       **allowed, **denied;
    Record         *recordPtr;
    int             nAllowed, nDenied;

    if (Tcl_ListObjGetElements(callPtr->interp, words[2], &nAllowed, &allowed)
            != TCL_OK
        || Tcl_ListObjGetElements(callPtr->interp, words[3], &nDenied, &denied)
            != TCL_OK) {
        return TCL_ERROR;
    }
    recordPtr = TableRecord(LockTable(callPtr), Tcl_GetString(words[0]),
                            Tcl_GetString(words[1]), true);
    RecordClear(recordPtr);
    recordPtr->isKept = true;
    for (int i = 0; i < nAllowed; i++) {
        RecordAdd(recordPtr, ALLOW_USER, Tcl_GetString(allowed[i]));
    }
    for (int i = 0; i < nDenied; i++) {
        RecordAdd(recordPtr, DENY_USER, Tcl_GetString(denied[i]));
    }
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    return TCL_OK;
}

/*
 * _ns_perm unset method url: delete it.
 */
static int
UnsetRecord(const Call *callPtr)
{
    TableDeleteRecord(LockTable(callPtr), Tcl_GetString(callPtr->objv[2]),
                      Tcl_GetString(callPtr->objv[3]), true);
    Ns_RWLockUnlock(&callPtr->serverPtr->lock);
    return TCL_OK;
}

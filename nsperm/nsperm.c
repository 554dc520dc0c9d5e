/*
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

typedef int    SubProc(Server *serverPtr, Tcl_Interp *interp, int objc,
                       Tcl_Obj *const *objv);
static SubProc AddUserCmd, AddGroupCmd, ListUsersCmd, ListGroupsCmd,
    ListPermsCmd, AllowUserCmd, AllowGroupCmd, DenyUserCmd, DenyGroupCmd,
    CheckPassCmd, SetPassCmd, DelUserCmd, DelGroupCmd, DelPermCmd;

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
    static const struct {
        const char *name;
        SubProc    *proc;
    } subcommands[] = {
        {"adduser", AddUserCmd},
        {"addgroup", AddGroupCmd},
        {"listusers", ListUsersCmd},
        {"listgroups", ListGroupsCmd},
        {"listperms", ListPermsCmd},
        {"allowuser", AllowUserCmd},
        {"allowgroup", AllowGroupCmd},
        {"denyuser", DenyUserCmd},
        {"denygroup", DenyGroupCmd},
        {"checkpass", CheckPassCmd},
        {"setpass", SetPassCmd},
        {"deluser", DelUserCmd},
        {"delgroup", DelGroupCmd},
        {"delperm", DelPermCmd},
        {NULL, NULL}};
    int index;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?args ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], subcommands,
                                  sizeof(subcommands[0]), "option", 0, &index)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return subcommands[index].proc(clientData, interp, objc, objv);
}

/*
 * _ns_perm begin: commands of this interpreter fill an empty table.
 * _ns_perm commit, abort: it replaces the server's table, or is discarded.
 * _ns_perm set method url allowUsers denyUsers: replace the record at once.
 * _ns_perm unset method url: delete it.
 */
static int
LoadCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    static const char *const subcommands[] = {
        "begin", "commit", "abort", "set", "unset", NULL};
    enum { BEGIN, COMMIT, ABORT, SET, UNSET };
    Server   *serverPtr = clientData;
    Table    *oldPtr = NULL;
    Tcl_Obj **allowed, **denied;
    int       index, nAllowed, nDenied, status = TCL_OK;

    if (objc < 2
        || Tcl_GetIndexFromObj(interp, objv[1], subcommands, "option", 0,
                               &index)
            != TCL_OK
        || (index == SET
            && (objc != 6
                || Tcl_ListObjGetElements(interp, objv[4], &nAllowed, &allowed)
                    != TCL_OK
                || Tcl_ListObjGetElements(interp, objv[5], &nDenied, &denied)
                    != TCL_OK))
        || (index == UNSET && objc != 4)) {
        return TCL_ERROR;
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    if (index == SET) {
        Record *recordPtr = TableRecord(TableOfLocked(serverPtr, interp),
                                        Tcl_GetString(objv[2]),
                                        Tcl_GetString(objv[3]), true);

        RecordClear(recordPtr);
        recordPtr->isKept = true;
        for (int i = 0; i < nAllowed; i++) {
            RecordAdd(recordPtr, ALLOW_USER, Tcl_GetString(allowed[i]));
        }
        for (int i = 0; i < nDenied; i++) {
            RecordAdd(recordPtr, DENY_USER, Tcl_GetString(denied[i]));
        }
    } else if (index == UNSET) {
        TableDeleteRecord(TableOfLocked(serverPtr, interp),
                          Tcl_GetString(objv[2]), Tcl_GetString(objv[3]), true);
    } else if (index == BEGIN) {
        if (serverPtr->draftPtr != NULL && serverPtr->drafter != interp) {
            status = TCL_ERROR;
        } else {
            oldPtr = serverPtr->draftPtr;
            serverPtr->draftPtr = TableCreate();
            serverPtr->drafter = interp;
        }
    } else if (serverPtr->draftPtr != NULL && serverPtr->drafter == interp) {
        if (index == COMMIT) {
            oldPtr = serverPtr->tablePtr;
            TableKeep(serverPtr->draftPtr, oldPtr);
            serverPtr->tablePtr = serverPtr->draftPtr;
            serverPtr->isLoaded = true;
        } else {
            oldPtr = serverPtr->draftPtr;
        }
        serverPtr->draftPtr = NULL;
        serverPtr->drafter = NULL;
    }
    Ns_RWLockUnlock(&serverPtr->lock);

    TableFree(oldPtr);
    if (status != TCL_OK) {
        Ns_TclPrintfResult(interp, "the permissions are being read already");
    }
    return status;
}

static Table *
TableOfLocked(Server *serverPtr, Tcl_Interp *interp)
{
    return serverPtr->draftPtr != NULL && serverPtr->drafter == interp
        ? serverPtr->draftPtr
        : serverPtr->tablePtr;
}

/*
 * ns_perm adduser ?-allow? ?-deny? ?-clear? ?-salt s? ?--? name pwd field
 * ?hosts ...?
 */
static int
AddUserCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
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

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (salt != NULL) {
        password = Ns_Encrypt(password, salt, buffer);
    }
    userPtr = UserCreate(name, password, isClear != 0 && salt == NULL);
    userPtr->isAllowing = isAllowing && !isDenying;
    for (int i = objc - nHosts; i < objc; i++) {
        if (UserAddRule(userPtr, interp, Tcl_GetString(objv[i])) != TCL_OK) {
            UserUnref(userPtr);
            return TCL_ERROR;
        }
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    isNew = TableAddUser(TableOfLocked(serverPtr, interp), userPtr);
    Ns_RWLockUnlock(&serverPtr->lock);
    if (!isNew) {
        Ns_TclPrintfResult(interp, "duplicate user: %s", name);
        UserUnref(userPtr);
        return TCL_ERROR;
    }
    return TCL_OK;
}

static int
DelUserCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "name");
        return TCL_ERROR;
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    TableDeleteUser(TableOfLocked(serverPtr, interp), Tcl_GetString(objv[2]));
    Ns_RWLockUnlock(&serverPtr->lock);
    return TCL_OK;
}

static int
AddGroupCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    int status;

    if (objc < 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "name user ?user ...?");
        return TCL_ERROR;
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    status = TableAddGroup(TableOfLocked(serverPtr, interp), interp,
                           Tcl_GetString(objv[2]), objc - 3, objv + 3);
    Ns_RWLockUnlock(&serverPtr->lock);
    return status;
}

static int
DelGroupCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 2, objv, "name");
        return TCL_ERROR;
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    TableDeleteGroup(TableOfLocked(serverPtr, interp), Tcl_GetString(objv[2]));
    Ns_RWLockUnlock(&serverPtr->lock);
    return TCL_OK;
}

/*
 * ns_perm allowuser ... ?-noinherit? ?--? method url users...
 */
static int
AddToRecord(Server *serverPtr, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv, ListKind kind)
{
    int         isAlone = 0, nNames = 0;
    char       *method, *url;
    Record     *recordPtr;
    Ns_ObjvSpec options[] = {
        {"-noinherit", Ns_ObjvBool, &isAlone, INT2PTR(NS_TRUE)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"method", Ns_ObjvString, &method, NULL},
                          {"url", Ns_ObjvString, &url, NULL},
                          {"users", Ns_ObjvArgs, &nNames, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    recordPtr = TableRecord(TableOfLocked(serverPtr, interp), method, url,
                            !isAlone);
    for (int i = objc - nNames; i < objc; i++) {
        RecordAdd(recordPtr, kind, Tcl_GetString(objv[i]));
    }
    Ns_RWLockUnlock(&serverPtr->lock);
    return TCL_OK;
}

static int
AllowUserCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return AddToRecord(serverPtr, interp, objc, objv, ALLOW_USER);
}

static int
AllowGroupCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return AddToRecord(serverPtr, interp, objc, objv, ALLOW_GROUP);
}

static int
DenyUserCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
            Tcl_Obj *const *objv)
{
    return AddToRecord(serverPtr, interp, objc, objv, DENY_USER);
}

static int
DenyGroupCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return AddToRecord(serverPtr, interp, objc, objv, DENY_GROUP);
}

/*
 * ns_perm delperm ?-noinherit? ?--? method url
 */
static int
DelPermCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    int         isAlone = 0;
    char       *method, *url;
    Table      *tablePtr;
    Ns_ObjvSpec options[] = {
        {"-noinherit", Ns_ObjvBool, &isAlone, INT2PTR(NS_TRUE)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"method", Ns_ObjvString, &method, NULL},
                          {"url", Ns_ObjvString, &url, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    tablePtr = TableOfLocked(serverPtr, interp);
    if (isAlone) {
        TableDeleteRecord(tablePtr, method, url, false);
    } else {
        TableDeleteBelow(tablePtr, method, url);
    }
    Ns_RWLockUnlock(&serverPtr->lock);
    return TCL_OK;
}

static User *
GetUser(Server *serverPtr, Tcl_Interp *interp, const char *name)
{
    User *userPtr;

    Ns_RWLockRdLock(&serverPtr->lock);
    userPtr = TableGetUser(TableOfLocked(serverPtr, interp), name);
    Ns_RWLockUnlock(&serverPtr->lock);
    return userPtr;
}

static int
CheckPassCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    const char *password, *reason = NULL;
    User       *userPtr;

    if (objc != 4) {
        Tcl_WrongNumArgs(interp, 2, objv, "user pwd");
        return TCL_ERROR;
    }
    password = Tcl_GetString(objv[3]);
    userPtr = GetUser(serverPtr, interp, Tcl_GetString(objv[2]));
    if (userPtr == NULL) {
        reason = "user not found";
    } else if (*password == '\0' && *userPtr->password != '\0') {
        reason = "empty password given";
    } else if (!UserHasPassword(userPtr, password)) {
        reason = "incorrect password";
    }
    UserUnref(userPtr);
    if (reason != NULL) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(reason, -1));
        return TCL_ERROR;
    }
    return TCL_OK;
}

/*
 * ns_perm setpass user encpass ?salt?
 */
static int
SetPassCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const char *password;
    char        buffer[NS_ENCRYPT_BUFSIZE];
    User       *userPtr;
    Table      *tablePtr;

    if (objc != 4 && objc != 5) {
        Tcl_WrongNumArgs(interp, 2, objv, "user encpass ?salt?");
        return TCL_ERROR;
    }
    password = Tcl_GetString(objv[3]);
    if (objc == 5) {
        password = Ns_Encrypt(password, Tcl_GetString(objv[4]), buffer);
    }
    Ns_RWLockWrLock(&serverPtr->lock);
    tablePtr = TableOfLocked(serverPtr, interp);
    userPtr = TableGetUser(tablePtr, Tcl_GetString(objv[2]));
    if (userPtr != NULL) {
        TableReplaceUser(tablePtr, UserDup(userPtr, password));
    }
    Ns_RWLockUnlock(&serverPtr->lock);

    Tcl_SetObjResult(interp, Tcl_NewIntObj(userPtr != NULL));
    UserUnref(userPtr);
    return TCL_OK;
}

static int
List(Server *serverPtr, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
     Tcl_Obj *(*proc)(const Table *) )
{
    Tcl_Obj *listPtr;

    if (objc != 2) {
        Tcl_WrongNumArgs(interp, 2, objv, NULL);
        return TCL_ERROR;
    }
    Ns_RWLockRdLock(&serverPtr->lock);
    listPtr = proc(TableOfLocked(serverPtr, interp));
    Ns_RWLockUnlock(&serverPtr->lock);
    Tcl_SetObjResult(interp, listPtr);
    return TCL_OK;
}

static int
ListUsersCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return List(serverPtr, interp, objc, objv, TableListUsers);
}

static int
ListGroupsCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    return List(serverPtr, interp, objc, objv, TableListGroups);
}

static int
ListPermsCmd(Server *serverPtr, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    return List(serverPtr, interp, objc, objv, TableListRecords);
}

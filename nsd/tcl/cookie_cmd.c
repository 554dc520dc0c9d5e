/*
 * cookie_cmd.c --
 *
 *      ns_setcookie, ns_deletecookie, ns_getcookie.
 */

#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "http/cookie.h"

static Tcl_ObjCmdProc SetCookieCmd, DeleteCookieCmd, GetCookieCmd;

static NsConn *CookieConn(NsInterp *interpPtr);
static void    AddCookie(NsConn *connPtr, const NsCookie *cookiePtr);

static const NsTclCommand commands[] = {
    {"ns_setcookie", SetCookieCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_deletecookie", DeleteCookieCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_getcookie", GetCookieCmd, 1, 2, "name ?default?", 0},
    NS_TCL_END};

NS_TCL_FAMILY(Cookie, commands)

static int
SetCookieCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsConn     *connPtr = CookieConn(clientData);
    const char *name, *data, *domain = NULL, *path = NULL;
    Ns_Time    *expiresPtr = NULL;
    int         isSecure = 0, isScriptable = 0;
    NsCookie    cookie = {0};
    Ns_ObjvSpec options[] = {
        {"-secure", Ns_ObjvBool, &isSecure, NULL},
        {"-scriptable", Ns_ObjvBool, &isScriptable, NULL},
        {"-domain", Ns_ObjvString, &domain, NULL},
        {"-path", Ns_ObjvString, &path, NULL},
        {"-expires", Ns_ObjvTime, &expiresPtr, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"name", Ns_ObjvString, &name, NULL},
                          {"data", Ns_ObjvString, &data, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (connPtr == NULL
        || Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    cookie = (NsCookie){
        .name = name,
        .data = data,
        .domain = domain,
        .path = path,
        .isSecure = isSecure,
        .isHttpOnly = !isScriptable};
    if (expiresPtr != NULL && expiresPtr->sec < 0) {
        cookie.life = NS_COOKIE_NEVER_ENDS;
    } else if (expiresPtr != NULL && expiresPtr->sec > 0) {
        time_t now = time(NULL);

        cookie.life = NS_COOKIE_MAX_AGE;
        cookie.maxAge = (expiresPtr->sec > now)
            ? expiresPtr->sec - now
            : expiresPtr->sec;
    }
    AddCookie(connPtr, &cookie);
    return TCL_OK;
}

static int
DeleteCookieCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    NsConn     *connPtr = CookieConn(clientData);
    const char *name, *domain = NULL, *path = NULL;
    int         isSecure = 0;
    Ns_ObjvSpec options[] = {
        {"-secure", Ns_ObjvBool, &isSecure, NULL},
        {"-domain", Ns_ObjvString, &domain, NULL},
        {"-path", Ns_ObjvString, &path, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"name", Ns_ObjvString, &name, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (connPtr == NULL
        || Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    AddCookie(connPtr,
              &(NsCookie){.name = name,
                          .data = "",
                          .domain = domain,
                          .path = path,
                          .life = NS_COOKIE_DELETED,
                          .isSecure = isSecure,
                          .isHttpOnly = isSecure});
    return TCL_OK;
}

static void
AddCookie(NsConn *connPtr, const NsCookie *cookiePtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsCookieAppend(&ds, cookiePtr);
    Ns_ConnSetHeaders(&connPtr->pub, "Set-Cookie", Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

static int
GetCookieCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsConn    *connPtr;
    Ns_DString ds;

    connPtr = CookieConn(clientData);
    if (connPtr == NULL) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    if (Ns_ConnGetCookie(&ds, &connPtr->pub, Tcl_GetString(objv[1])) != NULL) {
        Tcl_DStringResult(interp, &ds);
    } else if (objc == 3) {
        Tcl_SetObjResult(interp, objv[2]);
    } else {
        Ns_TclPrintfResult(interp, "no matching cookie");
        Ns_DStringFree(&ds);
        return TCL_ERROR;
    }
    Ns_DStringFree(&ds);
    return TCL_OK;
}

static NsConn *
CookieConn(NsInterp *interpPtr)
{
    if (interpPtr->connPtr == NULL) {
        Ns_TclPrintfResult(interpPtr->interp, "No connection available.");
    }
    return interpPtr->connPtr;
}
